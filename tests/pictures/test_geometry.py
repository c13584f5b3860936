"""Contours: the outline of what is high, judged by areas and by which places lie inside."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weigh.pictures.geometry import XY, contour_outline


def area(walk: list[XY]) -> float:
    """Return the area on the left of a closed walk."""
    return sum(x * v - u * y for (x, y), (u, v) in zip(walk, walk[1:] + walk[:1], strict=True)) / 2


def winding(walk: list[XY], spot: XY) -> int:
    """Return how often a closed walk goes around a spot."""
    turns = 0
    for (x, y), (u, v) in zip(walk, walk[1:] + walk[:1], strict=True):
        left = (u - x) * (spot[1] - y) - (spot[0] - x) * (v - y)
        turns += (y <= spot[1] < v and left > 0) - (v <= spot[1] < y and left < 0)
    return turns


def test_the_contour_of_a_slope_is_where_it_reaches_the_level() -> None:
    xs, ys = [0.0, 1.0, 2.0, 3.0], [0.0, 5.0]
    walk = contour_outline(xs, ys, [xs, xs], 1.25)
    assert {x for x, _ in walk} == {1.25, 3.0}
    assert area(walk) == pytest.approx((3 - 1.25) * 5)


def test_a_round_hill_has_the_area_of_its_circle() -> None:
    at = [k / 40 for k in range(-60, 61)]
    heights = [[-math.hypot(x, y) for x in at] for y in at]
    assert area(contour_outline(at, at, heights, -1.0)) == pytest.approx(math.pi, rel=5e-3)


def test_a_crater_is_a_hole() -> None:
    at = [k / 40 for k in range(-60, 61)]
    heights = [[-abs(math.hypot(x, y) - 1) for x in at] for y in at]
    walk = contour_outline(at, at, heights, -0.25)
    assert area(walk) == pytest.approx(math.pi * (1.25**2 - 0.75**2), rel=5e-3)
    assert (winding(walk, (0.0, 0.01)), winding(walk, (1.0, 0.01)), winding(walk, (1.4, 1.4))) == (0, 1, 0)


def test_high_grids_are_filled_and_low_grids_are_empty() -> None:
    xs, ys = [0.0, 1.0, 3.0], [0.0, 2.0]
    flat = [[1.0] * 3] * 2
    assert area(contour_outline(xs, ys, flat, 1.0)) == pytest.approx(6.0)
    assert contour_outline(xs, ys, flat, 1.5) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 9), min_size=5, max_size=5), min_size=2, max_size=6))
def test_the_winding_number_is_one_at_high_points_and_zero_at_low_ones(heights: list[list[int]]) -> None:
    xs, ys = [0.0, 1.0, 2.0, 3.0, 4.0], [float(j) for j in range(len(heights))]
    walk = contour_outline(xs, ys, heights, 4.5)
    for j, line in enumerate(heights):
        for i, height in enumerate(line):
            inside = (min(max(xs[i], 1e-3), 4 - 1e-3), min(max(ys[j], 1e-3), ys[-1] - 1e-3))
            assert winding(walk, inside) == int(height >= 4.5)
