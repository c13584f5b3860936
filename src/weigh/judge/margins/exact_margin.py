"""Margins and proofs of inseparability in exact fractions, for small tables of decimal numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from weigh.learn.design_matrix import DesignMatrix

ExactVertex = dict[int, Fraction]

# Beyond these, exact numbers grow too long to be waited for, or to be read.
MAX_EXACT_VALUES = 20_000
MAX_EXACT_SUPPORT = 24
MAX_SUPPORT_CHANGES = 40


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


def exact_vertices(design: DesignMatrix, signs: Sequence[int], *, constant: bool) -> list[ExactVertex] | None:
    """The corners y_i·x_i, or y_i·(x_i, 1), each value as the decimal number that it prints as."""
    if len(design.values) + design.n_rows > MAX_EXACT_VALUES:
        return None
    known: dict[float, Fraction] = {}
    for value in design.values.tolist():
        known.setdefault(value, decimal_fraction(value))
    corners = []
    for row, sign in enumerate(signs):
        part = slice(int(design.indptr[row]), int(design.indptr[row + 1]))
        pairs = zip(design.indices[part].tolist(), design.values[part].tolist(), strict=True)
        corner = {at: sign * known[value] for at, value in pairs if value}
        corners.append(corner | {design.width: Fraction(sign)} if constant else corner)
    return corners


def decimal_fraction(value: float) -> Fraction:
    """The decimal number that a value prints as."""
    return Fraction(repr(value))


def exact_minimum_norm_point(
    corners: Sequence[ExactVertex], group: Sequence[int], start: Sequence[int]
) -> tuple[dict[int, Fraction], list[Fraction], ExactVertex] | None:
    """The nearest point, from a guess of the corners that carry it: weights, levels, and itself.

    Exact by proof: no weight is negative, and no corner lies beyond the plane of its group. Where
    the guess was wrong by a few corners it is mended; otherwise there is no answer.
    """
    chosen = list(start)
    for _ in range(MAX_SUPPORT_CHANGES):
        if len(chosen) > MAX_EXACT_SUPPORT:
            return None
        solved = _affine_minimum_norm([corners[row] for row in chosen], [group[row] for row in chosen])
        if solved is None:
            return None
        weights, levels = solved
        if min(weights) < 0:
            chosen.pop(weights.index(min(weights)))
            continue
        z = _combine([corners[row] for row in chosen], weights)
        room = [sparse_dot(corner, z) - levels[g] for corner, g in zip(corners, group, strict=True)]
        if min(room) >= 0:
            support = {row: weight for row, weight in zip(chosen, weights, strict=True) if weight}
            return support, levels, z
        chosen = [row for row, weight in zip(chosen, weights, strict=True) if weight]
        chosen.append(room.index(min(room)))
    return None


def exact_common_point(
    corners: Sequence[ExactVertex], group: Sequence[int], rows: Sequence[int]
) -> dict[int, Fraction] | None:
    """Weights of rows, summing to one in each group, whose combination of corners is zero."""
    if not 0 < len(rows) <= 2 * MAX_EXACT_SUPPORT:
        return None
    features = sorted({at for row in rows for at in corners[row]})
    equations = [[corners[row].get(at, Fraction(0)) for row in rows] + [Fraction(0)] for at in features]
    equations += [[Fraction(group[row] == g) for row in rows] + [Fraction(1)] for g in sorted(set(group))]
    weights = solve_exactly(equations)
    if weights is None or min(weights) < 0:
        return None
    return {row: weight for row, weight in zip(rows, weights, strict=True) if weight}


def sparse_dot(a: ExactVertex, b: ExactVertex) -> Fraction:
    """The product of two sparse vectors."""
    if len(b) < len(a):
        a, b = b, a
    return sum((value * b[at] for at, value in a.items() if at in b), Fraction(0))


def solve_exactly(equations: list[list[Fraction]]) -> list[Fraction] | None:
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


def _affine_minimum_norm(
    corners: Sequence[ExactVertex], group: Sequence[int]
) -> tuple[list[Fraction], list[Fraction]] | None:
    """Weights of the affine hull's nearest point, and the product of each group's corners with it."""
    groups = sorted(set(group))
    equations = [
        [sparse_dot(a, b) for b in corners] + [Fraction(-(g == mine)) for g in groups] + [Fraction(0)]
        for a, mine in zip(corners, group, strict=True)
    ]
    blank = [Fraction(0)] * len(groups)
    equations += [[Fraction(mine == g) for mine in group] + blank + [Fraction(1)] for g in groups]
    solved = solve_exactly(equations)
    return None if solved is None else (solved[: len(corners)], solved[len(corners) :])


def _combine(corners: Sequence[ExactVertex], weights: Sequence[Fraction]) -> ExactVertex:
    z: ExactVertex = {}
    for corner, weight in zip(corners, weights, strict=True):
        for at, value in corner.items():
            z[at] = z.get(at, Fraction(0)) + weight * value
    return {at: value for at, value in z.items() if value}


def exact_distance_margin(
    design: DesignMatrix, signs: Sequence[int], start: Sequence[int]
) -> ExactPlane | None:
    """The distance margin: half the distance of the two convex hulls."""
    corners = exact_vertices(design, signs, constant=False)
    found = corners and exact_minimum_norm_point(corners, [int(sign > 0) for sign in signs], start)
    if not found:
        return None
    support, levels, z = found
    square = sum(levels, Fraction(0))
    if square == 0:
        return None
    w = {design.names[at]: 2 * value / square for at, value in sorted(z.items())}
    return ExactPlane(square / 4, w, 1 - 2 * levels[1] / square, support)


def exact_augmented_margin(
    design: DesignMatrix, signs: Sequence[int], start: Sequence[int]
) -> ExactPlane | None:
    """The augmented margin: the norm of the nearest point of the hull of all y_i·(x_i, 1)."""
    corners = exact_vertices(design, signs, constant=True)
    found = corners and exact_minimum_norm_point(corners, [0] * len(signs), start)
    if not found:
        return None
    support, (square,), z = found
    if square == 0:
        return None
    w = {design.names[at]: value / square for at, value in sorted(z.items()) if at < design.width}
    return ExactPlane(square, w, z.get(design.width, Fraction(0)) / square, support)


def exact_squared_radius(design: DesignMatrix) -> Fraction | None:
    """The largest ‖x_i‖², or None where there are too many values."""
    corners = exact_vertices(design, np.ones(design.n_rows, dtype=int).tolist(), constant=False)
    return None if corners is None else max(sparse_dot(corner, corner) for corner in corners)
