"""Contours: the outline of where a surface is at least so high, exact between the places of its grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from weigh.pictures.geometry import Spot

Heights = Sequence[Sequence[float]]
Edge = tuple[int, int, int, int]
FINE = 1e-3  # of the picture's sides: how far an outline may pass beside a spot that is left out


def outline(xs: Sequence[float], ys: Sequence[float], heights: Heights, level: float) -> list[Spot]:
    """Return one closed walk around all places where heights[j][i], at xs[i] and ys[j], are at least `level`.

    What is high lies on the left of the walk. It goes from one loop to the next and back the same way,
    so that filled by winding numbers it has holes where they belong and the ways between fill nothing.
    """
    loops = [_thinned(loop, xs[-1] - xs[0], ys[-1] - ys[0]) for loop in _loops(xs, ys, heights, level)]
    return [spot for loop in loops for spot in loop] + [loop[0] for loop in loops[-2::-1]]


def _loops(xs: Sequence[float], ys: Sequence[float], heights: Heights, level: float) -> Iterator[list[Spot]]:
    """Yield the closed outlines; the rim of the grid is one where the surface is high there."""
    # A rim of low places at the very edge closes what the edge would leave open.
    wide, tall = [xs[0], *xs, xs[-1]], [ys[0], *ys, ys[-1]]
    low = [level - 1.0] * len(wide)
    padded = [low, *([level - 1.0, *line, level - 1.0] for line in heights), low]
    follows = dict(_steps(padded, level))
    while follows:
        edge, after = follows.popitem()
        loop = [edge]
        while after != loop[0]:
            loop.append(after)
            after = follows.pop(after)
        spots = [_crossing(wide, tall, padded, each, level) for each in loop]
        yield [*spots, spots[0]]


def _steps(heights: Heights, level: float) -> Iterator[tuple[Edge, Edge]]:
    """Yield for every cell the edges between which an outline passes, from where it leaves what is high."""
    for j in range(len(heights) - 1):
        below, above = heights[j], heights[j + 1]
        for i in range(len(below) - 1):
            around = (below[i], below[i + 1], above[i + 1], above[i])
            high = [height >= level for height in around]
            if all(high) or not any(high):
                continue
            corners = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
            out = [k for k in range(4) if high[k] and not high[k - 3]]
            back = [k for k in range(4) if not high[k] and high[k - 3]]
            if len(out) == 2:
                # Of two high corners across, the middle decides whether they hang together.
                turn = 1 if sum(around) / 4 >= level else -1
                back = [(k + turn) % 4 for k in out]
            for here, there in zip(out, back, strict=True):
                yield _edge(corners, here), _edge(corners, there)


def _edge(corners: Sequence[tuple[int, int]], k: int) -> Edge:
    """The side of a cell after its corner k, named alike by both cells that share it."""
    return (*min(corners[k], corners[k - 3]), *max(corners[k], corners[k - 3]))


def _crossing(xs: Sequence[float], ys: Sequence[float], heights: Heights, edge: Edge, level: float) -> Spot:
    i, j, k, m = edge
    here, there = heights[j][i], heights[m][k]
    share = (level - here) / (there - here)
    return xs[i] + share * (xs[k] - xs[i]), ys[j] + share * (ys[m] - ys[j])


def _thinned(loop: list[Spot], width: float, height: float) -> list[Spot]:
    """Leave out spots that lie on the straight way from the last one kept to the next."""
    kept: list[Spot] = [loop[0]]
    passed: list[Spot] = []
    for here, after in pairwise(loop[1:]):
        passed.append(here)
        (ax, ay), (bx, by) = kept[-1], after
        along, up = (bx - ax) / width, (by - ay) / height
        near = FINE * max(abs(along), abs(up))
        beside = [abs(along * (y - ay) / height - up * (x - ax) / width) for x, y in passed]
        if max(beside) > near or near == 0.0:
            kept.append(here)
            passed = []
    return [*kept, loop[-1]]
