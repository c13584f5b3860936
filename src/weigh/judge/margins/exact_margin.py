"""Margins and inseparability proofs in exact rational arithmetic, for small tables of decimal numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from weigh.learn.design_matrix import DesignMatrix

ExactVertex = dict[int, Fraction]

# Above these limits exact fractions become too slow and too long.
MAX_EXACT_VALUES = 20_000
MAX_EXACT_SUPPORT = 24
MAX_SUPPORT_CHANGES = 40


@dataclass(frozen=True, eq=False)
class ExactPlane:
    """The maximum-margin plane in fractions; `square` is its squared margin.

    `w` and `b` are scaled so that the nearest rows have the scores +1 and −1 (for the augmented plane,
    so that the smallest signed score is 1). `support` maps rows to their weights in the minimum-norm point.
    """

    square: Fraction
    w: Mapping[str, Fraction]
    b: Fraction
    support: Mapping[int, Fraction]


def exact_vertices(design: DesignMatrix, signs: Sequence[int], *, constant: bool) -> list[ExactVertex] | None:
    """Return the vertices y_i·x_i, or y_i·(x_i, 1), as the decimals they print as; None if too many."""
    if len(design.X.indices) + design.n_rows > MAX_EXACT_VALUES:
        return None
    fractions = {value: decimal_fraction(value) for value in set(design.X.entry_values().tolist())}
    vertices = []
    for row, sign in enumerate(signs):
        part = design.X.slice(row, row + 1)
        pairs = zip(part.indices.tolist(), part.entry_values().tolist(), strict=True)
        vertex = {j: sign * fractions[value] for j, value in pairs if value}
        vertices.append(vertex | {design.width: Fraction(sign)} if constant else vertex)
    return vertices


def decimal_fraction(value: float) -> Fraction:
    """Return the decimal number that a value prints as."""
    return Fraction(repr(value))


def exact_minimum_norm_point(
    vertices: Sequence[ExactVertex], group: Sequence[int], start: Sequence[int]
) -> tuple[dict[int, Fraction], list[Fraction], ExactVertex] | None:
    """Return weights, levels and coordinates of the minimum-norm point, from a guess of its support.

    `levels` are the products v·z of the support vertices of each group. The optimality conditions are checked
    exactly: no weight is negative, and no vertex lies below the level of its group. A guess that is wrong by
    a few vertices is corrected; otherwise the result is None.
    """
    active = list(start)
    for _ in range(MAX_SUPPORT_CHANGES):
        if len(active) > MAX_EXACT_SUPPORT:
            return None
        solution = _affine_minimum_norm([vertices[row] for row in active], [group[row] for row in active])
        if solution is None:
            return None
        weights, levels = solution
        if min(weights) < 0:
            active.pop(weights.index(min(weights)))
            continue
        z = _combine([vertices[row] for row in active], weights)
        slack = [sparse_dot(vertex, z) - levels[g] for vertex, g in zip(vertices, group, strict=True)]
        if min(slack) >= 0:
            support = {row: weight for row, weight in zip(active, weights, strict=True) if weight}
            return support, levels, z
        active = [row for row, weight in zip(active, weights, strict=True) if weight]
        active.append(slack.index(min(slack)))
    return None


def exact_common_point(
    vertices: Sequence[ExactVertex], group: Sequence[int], rows: Sequence[int]
) -> dict[int, Fraction] | None:
    """Return convex weights per group under which the vertices of these rows sum to zero, or None."""
    if not 0 < len(rows) <= 2 * MAX_EXACT_SUPPORT:
        return None
    features = sorted({j for row in rows for j in vertices[row]})
    equations = [[vertices[row].get(j, Fraction(0)) for row in rows] + [Fraction(0)] for j in features]
    equations += [[Fraction(group[row] == g) for row in rows] + [Fraction(1)] for g in sorted(set(group))]
    weights = solve_exactly(equations)
    if weights is None or min(weights) < 0:
        return None
    return {row: weight for row, weight in zip(rows, weights, strict=True) if weight}


def sparse_dot(a: ExactVertex, b: ExactVertex) -> Fraction:
    """Return the dot product of two sparse vectors."""
    if len(b) < len(a):
        a, b = b, a
    return sum((value * b[j] for j, value in a.items() if j in b), Fraction(0))


def solve_exactly(equations: list[list[Fraction]]) -> list[Fraction] | None:
    """Solve an augmented linear system [A | b] by Gauss–Jordan elimination.

    Free unknowns are zero. Returns None if the system is inconsistent.
    """
    table = [row[:] for row in equations]
    pivots: list[int] = []
    for column in range(len(table[0]) - 1):
        candidate = next((i for i in range(len(pivots), len(table)) if table[i][column]), None)
        if candidate is None:
            continue
        top = len(pivots)
        table[top], table[candidate] = table[candidate], table[top]
        pivot = table[top][column]
        table[top] = [value / pivot for value in table[top]]
        for i, row in enumerate(table):
            if i != top and row[column]:
                factor = row[column]
                table[i] = [value - factor * above for value, above in zip(row, table[top], strict=True)]
        pivots.append(column)
    if any(row[-1] for row in table[len(pivots) :]):
        return None
    solution = [Fraction(0)] * (len(table[0]) - 1)
    for row, column in zip(table, pivots, strict=False):
        solution[column] = row[-1]
    return solution


def _affine_minimum_norm(
    vertices: Sequence[ExactVertex], group: Sequence[int]
) -> tuple[list[Fraction], list[Fraction]] | None:
    """Return the weights of the minimum-norm point of the affine hull, and each group's level v·z."""
    groups = sorted(set(group))
    equations = [
        [sparse_dot(a, b) for b in vertices] + [Fraction(-(g == a_group)) for g in groups] + [Fraction(0)]
        for a, a_group in zip(vertices, group, strict=True)
    ]
    zeros = [Fraction(0)] * len(groups)
    equations += [[Fraction(a_group == g) for a_group in group] + zeros + [Fraction(1)] for g in groups]
    solution = solve_exactly(equations)
    return None if solution is None else (solution[: len(vertices)], solution[len(vertices) :])


def _combine(vertices: Sequence[ExactVertex], weights: Sequence[Fraction]) -> ExactVertex:
    z: ExactVertex = {}
    for vertex, weight in zip(vertices, weights, strict=True):
        for j, value in vertex.items():
            z[j] = z.get(j, Fraction(0)) + weight * value
    return {j: value for j, value in z.items() if value}


def exact_distance_margin(
    design: DesignMatrix, signs: Sequence[int], start: Sequence[int]
) -> ExactPlane | None:
    """Return the plane of the distance margin, which is half the distance between the two convex hulls."""
    vertices = exact_vertices(design, signs, constant=False)
    nearest = vertices and exact_minimum_norm_point(vertices, [int(sign > 0) for sign in signs], start)
    if not nearest:
        return None
    support, levels, z = nearest
    square = sum(levels, Fraction(0))
    if square == 0:
        return None
    w = {design.names[j]: 2 * value / square for j, value in sorted(z.items())}
    return ExactPlane(square / 4, w, 1 - 2 * levels[1] / square, support)


def exact_augmented_margin(
    design: DesignMatrix, signs: Sequence[int], start: Sequence[int]
) -> ExactPlane | None:
    """Return the plane of the augmented margin, the minimum norm in the convex hull of all y_i·(x_i, 1)."""
    vertices = exact_vertices(design, signs, constant=True)
    nearest = vertices and exact_minimum_norm_point(vertices, [0] * len(signs), start)
    if not nearest:
        return None
    support, (square,), z = nearest
    if square == 0:
        return None
    w = {design.names[j]: value / square for j, value in sorted(z.items()) if j < design.width}
    return ExactPlane(square, w, z.get(design.width, Fraction(0)) / square, support)


def exact_squared_radius(design: DesignMatrix) -> Fraction | None:
    """Return the largest ‖x_i‖², or None if there are too many values."""
    vertices = exact_vertices(design, np.ones(design.n_rows, dtype=int).tolist(), constant=False)
    return None if vertices is None else max(sparse_dot(vertex, vertex) for vertex in vertices)
