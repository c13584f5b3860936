"""Margins and proofs of inseparability in exact fractions, for small tables of decimal numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from weigh.learn.design import Design

Corner = dict[int, Fraction]

# Beyond these, exact numbers grow too long to be waited for, or to be read.
MOST_VALUES = 20_000
MOST_SUPPORT = 24
ROUNDS = 40


@dataclass(frozen=True, eq=False)
class ExactPlane:
    """The widest plane in fractions: `square` is its squared margin.

    `w` and `b` are scaled so that the nearest rows have the scores +1 and −1 (of the augmented plane:
    so that the smallest signed score is 1). `support` maps rows to their weights in the nearest point.
    """

    square: Fraction
    w: Mapping[str, Fraction]
    b: Fraction
    support: Mapping[int, Fraction]


def exact_corners(design: Design, signs: Sequence[int], *, constant: bool) -> list[Corner] | None:
    """The corners y_i·x_i, or y_i·(x_i, 1), each value as the decimal number that it prints as."""
    if len(design.values) + design.n_rows > MOST_VALUES:
        return None
    known: dict[float, Fraction] = {}
    for value in design.values.tolist():
        known.setdefault(value, decimal(value))
    corners = []
    for row, sign in enumerate(signs):
        part = slice(int(design.indptr[row]), int(design.indptr[row + 1]))
        pairs = zip(design.indices[part].tolist(), design.values[part].tolist(), strict=True)
        corner = {at: sign * known[value] for at, value in pairs if value}
        corners.append(corner | {design.width: Fraction(sign)} if constant else corner)
    return corners


def decimal(value: float) -> Fraction:
    """The decimal number that a value prints as."""
    return Fraction(repr(value))


def exact_point(
    corners: Sequence[Corner], group: Sequence[int], start: Sequence[int]
) -> tuple[dict[int, Fraction], list[Fraction], Corner] | None:
    """The nearest point, from a guess of the corners that carry it: weights, levels, and itself.

    Exact by proof: no weight is negative, and no corner lies beyond the plane of its group. Where
    the guess was wrong by a few corners it is mended; otherwise there is no answer.
    """
    chosen = list(start)
    for _ in range(ROUNDS):
        if len(chosen) > MOST_SUPPORT:
            return None
        solved = _affine([corners[row] for row in chosen], [group[row] for row in chosen])
        if solved is None:
            return None
        weights, levels = solved
        if min(weights) < 0:
            chosen.pop(weights.index(min(weights)))
            continue
        z = _combined([corners[row] for row in chosen], weights)
        room = [dot(corner, z) - levels[g] for corner, g in zip(corners, group, strict=True)]
        if min(room) >= 0:
            support = {row: weight for row, weight in zip(chosen, weights, strict=True) if weight}
            return support, levels, z
        chosen = [row for row, weight in zip(chosen, weights, strict=True) if weight]
        chosen.append(room.index(min(room)))
    return None


def exact_meeting(
    corners: Sequence[Corner], group: Sequence[int], rows: Sequence[int]
) -> dict[int, Fraction] | None:
    """Weights of rows, summing to one in each group, whose combination of corners is zero."""
    if not 0 < len(rows) <= 2 * MOST_SUPPORT:
        return None
    features = sorted({at for row in rows for at in corners[row]})
    equations = [[corners[row].get(at, Fraction(0)) for row in rows] + [Fraction(0)] for at in features]
    equations += [[Fraction(group[row] == g) for row in rows] + [Fraction(1)] for g in sorted(set(group))]
    weights = solve(equations)
    if weights is None or min(weights) < 0:
        return None
    return {row: weight for row, weight in zip(rows, weights, strict=True) if weight}


def dot(a: Corner, b: Corner) -> Fraction:
    """The product of two sparse vectors."""
    if len(b) < len(a):
        a, b = b, a
    return sum((value * b[at] for at, value in a.items() if at in b), Fraction(0))


def solve(equations: list[list[Fraction]]) -> list[Fraction] | None:
    """Solve linear equations, each with its right side last; free unknowns are zero, None if none fits."""
    table = [row[:] for row in equations]
    pivots: list[int] = []
    for column in range(len(table[0]) - 1):
        at = next((i for i in range(len(pivots), len(table)) if table[i][column]), None)
        if at is None:
            continue
        top = len(pivots)
        table[top], table[at] = table[at], table[top]
        first = table[top][column]
        table[top] = [value / first for value in table[top]]
        for i, row in enumerate(table):
            if i != top and row[column]:
                factor = row[column]
                table[i] = [value - factor * above for value, above in zip(row, table[top], strict=True)]
        pivots.append(column)
    if any(row[-1] for row in table[len(pivots) :]):
        return None
    found = [Fraction(0)] * (len(table[0]) - 1)
    for solved, column in zip(table, pivots, strict=False):
        found[column] = solved[-1]
    return found


def _affine(corners: Sequence[Corner], group: Sequence[int]) -> tuple[list[Fraction], list[Fraction]] | None:
    """Weights of the affine hull's nearest point, and the product of each group's corners with it."""
    groups = sorted(set(group))
    equations = [
        [dot(a, b) for b in corners] + [Fraction(-(g == mine)) for g in groups] + [Fraction(0)]
        for a, mine in zip(corners, group, strict=True)
    ]
    blank = [Fraction(0)] * len(groups)
    equations += [[Fraction(mine == g) for mine in group] + blank + [Fraction(1)] for g in groups]
    solved = solve(equations)
    return None if solved is None else (solved[: len(corners)], solved[len(corners) :])


def _combined(corners: Sequence[Corner], weights: Sequence[Fraction]) -> Corner:
    z: Corner = {}
    for corner, weight in zip(corners, weights, strict=True):
        for at, value in corner.items():
            z[at] = z.get(at, Fraction(0)) + weight * value
    return {at: value for at, value in z.items() if value}


def exact_distance(design: Design, signs: Sequence[int], start: Sequence[int]) -> ExactPlane | None:
    """The distance margin: half the distance of the two convex hulls."""
    corners = exact_corners(design, signs, constant=False)
    found = corners and exact_point(corners, [int(sign > 0) for sign in signs], start)
    if not found:
        return None
    support, levels, z = found
    square = sum(levels, Fraction(0))
    if square == 0:
        return None
    w = {design.names[at]: 2 * value / square for at, value in sorted(z.items())}
    return ExactPlane(square / 4, w, 1 - 2 * levels[1] / square, support)


def exact_augmented(design: Design, signs: Sequence[int], start: Sequence[int]) -> ExactPlane | None:
    """The augmented margin: the norm of the nearest point of the hull of all y_i·(x_i, 1)."""
    corners = exact_corners(design, signs, constant=True)
    found = corners and exact_point(corners, [0] * len(signs), start)
    if not found:
        return None
    support, (square,), z = found
    if square == 0:
        return None
    w = {design.names[at]: value / square for at, value in sorted(z.items()) if at < design.width}
    return ExactPlane(square, w, z.get(design.width, Fraction(0)) / square, support)


def exact_radius(design: Design) -> Fraction | None:
    """The largest ‖x_i‖², or None where there are too many values."""
    corners = exact_corners(design, np.ones(design.n_rows, dtype=int).tolist(), constant=False)
    return None if corners is None else max(dot(corner, corner) for corner in corners)
