"""The effects of additive models: centring, penalties, and what the prior prefers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weigh.learn.additive.effects import (
    MAX_CENTRED_LEVELS,
    Effect,
    curve_effect,
    curve_penalties,
    level_effect,
    pair_effect,
)

COUNTS = np.array([5.0, 1.0, 4.0, 2.0, 3.0, 2.0])  # of five cells and of missing values
POSITIONS = np.array([-3.0, -1.0, 0.5, 1.0, 6.0])


def random_heights(effect: Effect, seed: int = 0) -> Any:
    U = np.random.default_rng(seed).normal(size=(effect.n_coordinates, 2))
    return effect.expand(U)


@pytest.mark.parametrize("monotone", [None, "up", "down"])
def test_the_heights_of_a_curve_sum_to_zero_over_the_rows(monotone: str | None) -> None:
    heights = random_heights(curve_effect("x", 0, COUNTS, POSITIONS, None, monotone))
    np.testing.assert_allclose(COUNTS @ heights, 0, atol=1e-12)


def test_the_heights_of_levels_sum_to_zero_over_the_rows() -> None:
    np.testing.assert_allclose(COUNTS @ random_heights(level_effect("x", 0, COUNTS)), 0, atol=1e-12)


def test_many_levels_are_not_centred() -> None:
    effect = level_effect("x", 0, np.ones(MAX_CENTRED_LEVELS + 1))
    assert effect.is_wide
    assert effect.n_coordinates == MAX_CENTRED_LEVELS + 1


@pytest.mark.parametrize("are_numbers", [(True, True), (True, False), (False, False)])
def test_the_heights_of_a_surface_sum_to_zero_over_the_rows_of_each_cell(are_numbers: Any) -> None:
    counts = np.array([[3.0, 0.0, 2.0], [1.0, 4.0, 0.0], [2.0, 2.0, 2.0], [0.0, 1.0, 5.0]])
    heights = random_heights(pair_effect("x", 0, counts, are_numbers)).reshape(4, 3, 2)
    np.testing.assert_allclose((counts[:, :, None] * heights).sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose((counts[:, :, None] * heights).sum(axis=1), 0, atol=1e-12)


def test_a_cell_without_rows_is_allowed_in_a_surface() -> None:
    counts = np.array([[3.0, 0.0], [1.0, 0.0]])
    effect = pair_effect("x", 0, counts, (True, True))
    heights = random_heights(effect).reshape(2, 2, 2)
    np.testing.assert_allclose((counts[:, :, None] * heights).sum(axis=(0, 1)), 0, atol=1e-12)


def test_a_straight_line_has_no_walk_penalty_and_its_squared_slope_as_line_penalty() -> None:
    walk, line = curve_penalties(POSITIONS, COUNTS[:-1])
    mean = np.average(POSITIONS, weights=COUNTS[:-1])
    spread = np.sqrt(np.average((POSITIONS - mean) ** 2, weights=COUNTS[:-1]))
    heights = 0.7 * (POSITIONS - mean) / spread + 2.0
    assert heights @ walk @ heights == pytest.approx(0, abs=1e-12)
    assert heights @ line @ heights == pytest.approx(0.7**2)


def test_walk_and_line_divide_the_squared_differences() -> None:
    walk, line = curve_penalties(POSITIONS, COUNTS[:-1])
    heights = np.random.default_rng(0).normal(size=5)
    mean = np.average(POSITIONS, weights=COUNTS[:-1])
    spread = np.sqrt(np.average((POSITIONS - mean) ** 2, weights=COUNTS[:-1]))
    steps = np.diff(POSITIONS) / spread
    total = heights @ walk @ heights + (steps @ steps) * (heights @ line @ heights)
    assert total == pytest.approx(np.square(np.diff(heights)).sum())


@pytest.mark.parametrize("factor", [1e-310, 1e-160, 1e-3, 1e6, 1e160, 1e300])
def test_the_unit_of_a_number_does_not_change_its_penalties(factor: float) -> None:
    for expected, found in zip(
        curve_penalties(POSITIONS, COUNTS[:-1]), curve_penalties(factor * POSITIONS, COUNTS[:-1]), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("counts", [COUNTS, np.array([5.0, 0.0, 4.0, 2.0, 3.0, 0.0]), 1e-6 * COUNTS])
def test_the_prior_of_a_curve_is_proper(counts: Any) -> None:
    effect = curve_effect("x", 0, counts, POSITIONS, None, None)
    precision = effect.precision({component.key: 1.0 for component in effect.components})
    assert np.linalg.eigvalsh(precision)[0] > 1e-6
    assert sum(component.rank for component in effect.components) == effect.n_coordinates


@pytest.mark.parametrize(
    "counts",
    [np.array([0.0, 7.0]), np.array([7.0, 0.0]), np.array([4.0, 3.0])],
    ids=["missing", "known", "both"],
)
def test_the_prior_of_a_column_with_one_cell_is_proper(counts: Any) -> None:
    effect = curve_effect("x", 0, counts, np.array([1.5]), None, None)
    precision = effect.precision({component.key: 1.0 for component in effect.components})
    assert np.linalg.eigvalsh(precision)[0] > 1e-6


@pytest.mark.parametrize(("monotone", "sign"), [("up", 1), ("down", -1)])
def test_bounded_coordinates_are_the_increments(monotone: str, sign: int) -> None:
    effect = curve_effect("x", 0, COUNTS, POSITIONS, None, monotone)
    assert effect.bounded is not None
    assert effect.bounded.tolist() == [True] * 4 + [False]
    U = np.array([[1.0], [0.0], [2.0], [0.5], [-3.0]])
    np.testing.assert_allclose(sign * np.diff(effect.expand(U)[:-1, 0]), U[:-1, 0], atol=1e-12)


def test_curves_share_the_strength_of_missing_values_and_the_centre_of_those_of_lines() -> None:
    one, two = (curve_effect(name, 0, COUNTS, POSITIONS, None, None) for name in ("x", "z"))
    shared = {c.key for c in one.components} & {c.key for c in two.components}
    assert shared == {"missing"}
    assert [c.centre for c in one.components] == [c.centre for c in two.components] == [None, "line", None]


@pytest.mark.parametrize("name", ["line", "missing", "flags", "a: walk", "a: levels", "a × b", "a × b: walk"])
def test_no_name_of_a_column_gives_it_the_strength_of_another(name: str) -> None:
    others = [
        curve_effect("a", 0, COUNTS, POSITIONS, None, None),
        level_effect("a", 0, COUNTS),
        pair_effect("a × b", 0, np.array([[3.0, 1.0], [1.0, 4.0]]), (True, True)),
    ]
    own = {component.key for component in level_effect(name, 0, COUNTS).components}
    for other in others:
        assert not own & {component.key for component in other.components}
