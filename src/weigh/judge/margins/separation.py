"""Separating planes with certified margins, and proofs that two classes are inseparable."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from weigh.features.blocks import Floats, Longs
from weigh.immutable import ImmutablePart
from weigh.judge.margins.convex_hulls import FLOAT64_EPSILON, HullVertices, product_lower_bounds
from weigh.judge.margins.exact_margin import ExactPlane, exact_common_point, exact_vertices
from weigh.judge.margins.minimum_norm_point import MinimumNormPoint
from weigh.learn.design_matrix import DesignMatrix
from weigh.linear_program import solve_nearest_means
from weigh.result import Facts

WEIGHT_TOLERANCE = 1e-9  # the linear program's tolerance
COINCIDENCE_TOLERANCE = 1e-12  # relative to each column's largest value
# Larger systems keep the weights of the linear program, which are close to rounding error anyway.
MAX_REFINEMENT_CELLS = 2_000_000


@dataclass(frozen=True, eq=False)
class InseparabilityProof(Facts, ImmutablePart):
    """A common point of the convex hulls of both classes, which proves that no plane separates them.

    `first` and `second` map row indices of the two classes to convex weights. A separating plane would have
    the point, the weighted mean of rows of either class, on both sides. `residual` is the largest difference
    of a coordinate between the two means: 0 if `exact`, otherwise a rounding error. Exact weights are
    fractions, which become text in JSON.
    """

    first: Mapping[int, Fraction | float]
    second: Mapping[int, Fraction | float]
    residual: float
    exact: bool


def find_shared_row(design: DesignMatrix, group: Longs) -> InseparabilityProof | None:
    """Return the simplest proof, two equal rows of different classes, or None if there are none."""
    seen: dict[bytes, tuple[int, int]] = {}
    for row in range(design.n_rows):
        part = design.X.slice(row, row + 1)
        values = part.entry_values()
        nonzero = values != 0.0
        key = part.indices[nonzero].tobytes() + values[nonzero].tobytes()
        other, other_group = seen.setdefault(key, (row, int(group[row])))
        if other_group != group[row]:
            first, second = (other, row) if other_group == 0 else (row, other)
            return InseparabilityProof({first: Fraction(1)}, {second: Fraction(1)}, 0.0, True)
    return None


def find_common_point(
    design: DesignMatrix, vertices: HullVertices, rows: Longs
) -> tuple[InseparabilityProof | None, Floats]:
    """Search for a common point of the hulls of these rows by a linear program.

    Minimises ‖Σ weights_i v_i‖₁ over convex combinations of both classes, each feature in units of its
    largest value. Returns the proof, or None if the optimum is not zero, and the direction given by the
    dual prices, which separates the classes best.
    """
    units = np.zeros(vertices.width)
    np.maximum.at(units, vertices.rows.indices, np.abs(vertices.rows.entry_values()))
    units[units == 0.0] = 1.0
    points = vertices.rows.select(rows)
    scaled = points.entry_values() / units[points.indices]
    optimum = solve_nearest_means(scaled, points.indices, points.indptr, vertices.width, vertices.group[rows])
    if optimum is None:
        return None, np.zeros(vertices.width)
    active = optimum.weights > WEIGHT_TOLERANCE
    proof = _build_proof(design, vertices, rows[active], optimum.weights[active], units)
    return proof, -optimum.dual_prices / units


def _build_proof(
    design: DesignMatrix, vertices: HullVertices, rows: Longs, weights: Floats, units: Floats
) -> InseparabilityProof | None:
    signs = np.where(vertices.group > 0, 1, -1).tolist()
    exact_rows = exact_vertices(design, signs, constant=False)
    exact = exact_rows and exact_common_point(exact_rows, vertices.group.tolist(), rows.tolist())
    if exact:
        first = {row: weight for row, weight in exact.items() if not vertices.group[row]}
        return InseparabilityProof(first, {row: exact[row] for row in exact if row not in first}, 0.0, True)
    refined = _refine_weights(vertices, rows, weights, units)
    residual = np.abs(vertices.combine_rows(rows, refined))
    if float((residual / units).max(initial=0.0)) > COINCIDENCE_TOLERANCE:
        return None
    pairs = list(zip(rows.tolist(), refined.tolist(), strict=True))
    first, second = ({row: w for row, w in pairs if vertices.group[row] == g} for g in (0, 1))
    return InseparabilityProof(first, second, float(residual.max(initial=0.0) * vertices.scale), False)


def _refine_weights(vertices: HullVertices, rows: Longs, weights: Floats, units: Floats) -> Floats:
    """Refine the weights to rounding error by least squares, clipped at zero."""
    if len(rows) * vertices.width > MAX_REFINEMENT_CELLS:
        return weights
    groups = np.eye(2)[vertices.group[rows]]
    columns = np.unique(vertices.rows.select(rows).indices)
    A = np.concatenate([(vertices.dense_rows(rows)[:, columns] / units[columns]), groups], axis=1).T
    b = np.append(np.zeros(len(columns)), [1.0, 1.0])
    for _ in range(3):
        weights = weights + np.linalg.lstsq(A, b - A @ weights, rcond=None)[0]
    weights = np.where(weights > -FLOAT64_EPSILON, np.maximum(weights, 0.0), 0.0)
    return weights / (groups @ (groups.T @ weights))


@dataclass(frozen=True, eq=False)
class SeparatingPlane(Facts, ImmutablePart):
    """The best plane found, score = w·x + b, with a certified interval of the maximum margin.

    No plane has a margin above `upper`; this one has at least `lower`, checked against all rows. `w` maps
    features to their non-zero weights, scaled so that scores are in units of the margin: ‖w‖ = 1 for the
    distance margin, ‖(w, b)‖ = 1 for the augmented one. `support` maps the indices of the support vectors to
    their weights in the nearest points of the hulls.
    """

    lower: float
    upper: float
    w: Mapping[str, float]
    b: float
    support: Mapping[int, float]

    @property
    def gap(self) -> float:
        """The relative width (upper − lower)/upper of the interval."""
        return (self.upper - self.lower) / self.upper if self.upper else 0.0


def distance_plane(
    vertices: HullVertices, nearest: MinimumNormPoint, names: Sequence[str]
) -> SeparatingPlane:
    """Return the plane midway between the two hulls; its margin is half of their distance."""
    lower, upper = max(nearest.lower, 0.0) * vertices.scale / 2, nearest.upper * vertices.scale / 2
    if not nearest.direction.any():
        return SeparatingPlane(lower, upper, {}, 0.0, _support_weights(nearest))
    unit = nearest.direction / np.linalg.norm(nearest.direction)
    first_min, second_min = vertices.group_minima(vertices.dot(unit))
    b = (first_min - second_min) / 2 * vertices.scale - math.fsum((unit * vertices.shift).tolist())
    return SeparatingPlane(lower, upper, _weights_by_name(unit, names), b, _support_weights(nearest))


def augmented_plane(
    vertices: HullVertices,
    nearest: MinimumNormPoint,
    names: Sequence[str],
    distance: SeparatingPlane | None,
) -> SeparatingPlane:
    """Return the plane of the largest augmented margin, or the distance plane if its bound is better."""
    upper = nearest.upper * vertices.scale
    lower, direction = nearest.lower, nearest.direction
    if distance is not None and distance.w:
        index = {name: j for j, name in enumerate(names)}
        candidate = np.zeros(vertices.width)
        candidate[[index[name] for name in distance.w]] = list(distance.w.values())
        candidate[-1] = distance.b
        candidate /= np.abs(candidate).max()
        candidate_lower = min(vertices.group_minima(product_lower_bounds(vertices, candidate)))
        if candidate_lower > lower:
            lower, direction = candidate_lower, candidate
    unit = direction / np.linalg.norm(direction) if direction.any() else direction
    lower = min(max(lower, 0.0) * vertices.scale, upper)
    w, b = _weights_by_name(unit[:-1], names), float(unit[-1])
    return SeparatingPlane(lower, upper, w, b, _support_weights(nearest))


def plane_from_exact(exact: ExactPlane, *, constant: bool) -> SeparatingPlane:
    """Convert an exact plane to floats, with the narrowest interval around its margin."""
    margin = fraction_sqrt(exact.square)
    norm = fraction_sqrt(
        sum((value**2 for value in exact.w.values()), exact.b**2 if constant else Fraction(0))
    )
    return SeparatingPlane(
        math.nextafter(margin, 0.0),
        math.nextafter(margin, math.inf),
        {name: float(value / Fraction(norm)) for name, value in exact.w.items()},
        float(exact.b / Fraction(norm)),
        {row: float(weight) for row, weight in sorted(exact.support.items())},
    )


def fraction_sqrt(square: Fraction) -> float:
    """Return the square root of a fraction, accurate to the last digit even if the square is no float."""
    # 128 bits of the square give 64 bits of its root.
    bits = 64 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    scaled = square * Fraction(4) ** bits
    return math.ldexp(math.isqrt(scaled.numerator // scaled.denominator), -bits)


def _weights_by_name(w: Floats, names: Sequence[str]) -> dict[str, float]:
    return {names[j]: float(w[j]) for j in np.flatnonzero(w).tolist()}


def _support_weights(nearest: MinimumNormPoint) -> dict[int, float]:
    rows = np.flatnonzero(nearest.weights)
    return dict(zip(rows.tolist(), nearest.weights[rows].tolist(), strict=True))
