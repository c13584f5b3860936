"""The linear program that decides whether two classes can be separated, and its proof that they cannot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh.features.blocks import Floats, Longs
from weigh.judge.margins.convex_hulls import FLOAT64_EPSILON, HullVertices, product_lower_bounds
from weigh.judge.margins.exact_margin import ExactPlane, exact_common_point, exact_vertices
from weigh.judge.margins.minimum_norm_point import MinimumNormPoint
from weigh.learn.design_matrix import DesignMatrix
from weigh.linear_program import solve_nearest_means

# Weights below this come from the program's own tolerance.
WEIGHT_TOLERANCE = 1e-9
# Points that differ by less than this, in units of each column's largest value, are one.
COINCIDENCE_TOLERANCE = 1e-12
# Larger systems keep the program's own weights, which simplex steps leave near rounding anyway.
MAX_REFINEMENT_CELLS = 2_000_000


@dataclass(frozen=True, eq=False)
class InseparabilityProof:
    """Why no plane separates: a mean of rows of one class is also a mean of rows of the other.

    `first` and `second` map the numbers of rows (from 0) of the two classes to their weights, which
    sum to one. A plane with all of one class on one side has their mean there too, so that no plane
    can have the one point on both sides. `residual` is the largest difference of a coordinate
    between the two means: 0 where `exact`, else what rounding left.
    """

    first: Mapping[int, Fraction | float]
    second: Mapping[int, Fraction | float]
    residual: float
    exact: bool

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON; exact weights as text."""
        write = str if self.exact else float
        return {
            "first": {str(row): write(weight) for row, weight in self.first.items()},
            "second": {str(row): write(weight) for row, weight in self.second.items()},
            "residual": self.residual,
            "exact": self.exact,
        }


def find_shared_row(design: DesignMatrix, group: Longs) -> InseparabilityProof | None:
    """The simplest proof: two equal rows of different classes."""
    seen: dict[bytes, tuple[int, int]] = {}
    for row in range(design.n_rows):
        part = slice(int(design.indptr[row]), int(design.indptr[row + 1]))
        values = design.values[part]
        kept = values != 0.0
        key = design.indices[part][kept].tobytes() + values[kept].tobytes()
        other, mine = seen.setdefault(key, (row, int(group[row])))
        if mine != group[row]:
            pair = (other, row) if mine == 0 else (row, other)
            return InseparabilityProof({pair[0]: Fraction(1)}, {pair[1]: Fraction(1)}, 0.0, True)
    return None


def find_common_point(
    design: DesignMatrix, vertices: HullVertices, rows: Longs
) -> tuple[InseparabilityProof | None, Floats]:
    """Search a common point of the hulls of some rows; without one, the direction that parts them best.

    Minimises Σ|Σ weights_i v_i| over convex combinations of both classes, each feature in units of
    its largest value; the program's prices are the direction.
    """
    units = np.zeros(vertices.width)
    np.maximum.at(units, vertices.indices, np.abs(vertices.values))
    units[units == 0.0] = 1.0
    scaled = vertices.values / units[vertices.indices]
    found = solve_nearest_means(
        scaled, vertices.indices, vertices.indptr, vertices.width, rows, vertices.group[rows]
    )
    if found is None:
        return None, np.zeros(vertices.width)
    used = found.weights > WEIGHT_TOLERANCE
    return _build_proof(design, vertices, rows[used], found.weights[used], units), -found.dual_prices / units


def _build_proof(
    design: DesignMatrix, vertices: HullVertices, rows: Longs, weights: Floats, units: Floats
) -> InseparabilityProof | None:
    signs = np.where(vertices.group > 0, 1, -1).tolist()
    corners = exact_vertices(design, signs, constant=False)
    exact = corners and exact_common_point(corners, vertices.group.tolist(), rows.tolist())
    if exact:
        first = {row: weight for row, weight in exact.items() if not vertices.group[row]}
        return InseparabilityProof(first, {row: exact[row] for row in exact if row not in first}, 0.0, True)
    polished = _refine_weights(vertices, rows, weights, units)
    apart = np.abs(vertices.combine_rows(rows, polished))
    if float((apart / units).max(initial=0.0)) > COINCIDENCE_TOLERANCE:
        return None
    pairs = list(zip(rows.tolist(), polished.tolist(), strict=True))
    first, second = ({row: w for row, w in pairs if vertices.group[row] == g} for g in (0, 1))
    return InseparabilityProof(first, second, float(apart.max(initial=0.0) * vertices.scale), False)


def _refine_weights(vertices: HullVertices, rows: Longs, weights: Floats, units: Floats) -> Floats:
    """The weights without the program's tolerance, as long as none becomes negative."""
    if len(rows) * vertices.width > MAX_REFINEMENT_CELLS:
        return weights
    groups = np.eye(2)[vertices.group[rows]]
    touched = np.unique(vertices.indices[np.isin(vertices.vertex_of_value, rows)])
    table = np.concatenate([(vertices.dense_rows(rows)[:, touched] / units[touched]), groups], axis=1).T
    wanted = np.append(np.zeros(len(touched)), [1.0, 1.0])
    for _ in range(3):
        weights = weights + np.linalg.lstsq(table, wanted - table @ weights, rcond=None)[0]
    weights = np.where(weights > -FLOAT64_EPSILON, np.maximum(weights, 0.0), 0.0)
    return weights / (groups @ (groups.T @ weights))


@dataclass(frozen=True, eq=False)
class SeparatingPlane:
    """The widest plane found, score = w·x + b, and what is proved about it.

    No plane has a margin above `upper`; this one has at least `lower`, which was checked against all
    rows. `w` maps features to their weights (zeros left out), scaled to norm one: of w alone for the
    distance margin, of (w, b) for the augmented one, so that scores are in units of the margin.
    `support` maps the rows that hold the plane in place (from 0) to their weights in the two nearest
    points.
    """

    lower: float
    upper: float
    w: Mapping[str, float]
    b: float
    support: Mapping[int, float]

    @property
    def gap(self) -> float:
        """How far the interval is open, as a share of its upper end."""
        return (self.upper - self.lower) / self.upper if self.upper else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "lower": self.lower,
            "upper": self.upper,
            "w": dict(self.w),
            "b": self.b,
            "support": {str(row): weight for row, weight in self.support.items()},
        }


def distance_plane(vertices: HullVertices, found: MinimumNormPoint, names: Sequence[str]) -> SeparatingPlane:
    """The plane midway between the two hulls; its margin is half of their distance."""
    lower, upper = max(found.lower, 0.0) * vertices.scale / 2, found.upper * vertices.scale / 2
    if not found.direction.any():
        return SeparatingPlane(lower, upper, {}, 0.0, _support_weights(found))
    unit = found.direction / np.linalg.norm(found.direction)
    below, above = vertices.group_minima(vertices.dot(unit))
    b = (below - above) / 2 * vertices.scale - math.fsum((unit * vertices.shift).tolist())
    return SeparatingPlane(lower, upper, _weights_by_name(unit, names), b, _support_weights(found))


def augmented_plane(
    vertices: HullVertices, found: MinimumNormPoint, names: Sequence[str], other: SeparatingPlane | None
) -> SeparatingPlane:
    """The plane of the largest augmented margin, or the other one if it is found to be wider."""
    upper = found.upper * vertices.scale
    lower, plane = found.lower, found.direction
    if other is not None and other.w:
        at = {name: place for place, name in enumerate(names)}
        also = np.zeros(vertices.width)
        also[[at[name] for name in other.w]] = list(other.w.values())
        also[-1] = other.b
        also /= np.abs(also).max()
        wide = min(vertices.group_minima(product_lower_bounds(vertices, also)))
        lower, plane = (wide, also) if wide > lower else (lower, plane)
    unit = plane / np.linalg.norm(plane) if plane.any() else plane
    kept = max(lower, 0.0) * vertices.scale
    return SeparatingPlane(
        min(kept, upper), upper, _weights_by_name(unit[:-1], names), float(unit[-1]), _support_weights(found)
    )


def plane_from_exact(exact: ExactPlane, *, constant: bool) -> SeparatingPlane:
    """The plane that was found in fractions, and the narrowest interval of floats around its margin."""
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
    """The square root of a fraction, right to the last digit even where the square has no float."""
    # Twice 64 binary places in the square leave 64 in its root.
    places = 64 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    scaled = square * Fraction(4) ** places
    return math.ldexp(math.isqrt(scaled.numerator // scaled.denominator), -places)


def _weights_by_name(w: Floats, names: Sequence[str]) -> dict[str, float]:
    return {names[at]: float(w[at]) for at in np.flatnonzero(w).tolist()}


def _support_weights(found: MinimumNormPoint) -> dict[int, float]:
    rows = np.flatnonzero(found.weights)
    return dict(zip(rows.tolist(), found.weights[rows].tolist(), strict=True))
