"""The linear program that decides whether two classes can be separated, and its proof that they cannot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh.features.blocks import Floats, Longs
from weigh.judge.margins.exact_margin import exact_corners, exact_meeting
from weigh.judge.margins.vertices import EPS, Vertices
from weigh.learn.design import Design
from weigh.linear_program import nearest_means

# Weights below this come from the program's own tolerance.
NEGLIGIBLE = 1e-9
# Points that differ by less than this, in units of each column's largest value, are one.
SAME = 1e-12
# Larger systems keep the program's own weights, which simplex steps leave near rounding anyway.
MOST_CELLS = 2_000_000


@dataclass(frozen=True, eq=False)
class Proof:
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


def same_row(design: Design, group: Longs) -> Proof | None:
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
            return Proof({pair[0]: Fraction(1)}, {pair[1]: Fraction(1)}, 0.0, True)
    return None


def meeting_point(design: Design, vertices: Vertices, rows: Longs) -> tuple[Proof | None, Floats]:
    """Search a common point of the hulls of some rows; without one, the direction that parts them best.

    Minimises Σ|Σ weights_i v_i| over convex combinations of both classes, each feature in units of
    its largest value; the program's prices are the direction.
    """
    units = np.zeros(vertices.width)
    np.maximum.at(units, vertices.indices, np.abs(vertices.values))
    units[units == 0.0] = 1.0
    scaled = vertices.values / units[vertices.indices]
    found = nearest_means(
        scaled, vertices.indices, vertices.indptr, vertices.width, rows, vertices.group[rows]
    )
    if found is None:
        return None, np.zeros(vertices.width)
    used = found.weights > NEGLIGIBLE
    return _proof(design, vertices, rows[used], found.weights[used], units), -found.prices / units


def _proof(design: Design, vertices: Vertices, rows: Longs, weights: Floats, units: Floats) -> Proof | None:
    signs = np.where(vertices.group > 0, 1, -1).tolist()
    corners = exact_corners(design, signs, constant=False)
    exact = corners and exact_meeting(corners, vertices.group.tolist(), rows.tolist())
    if exact:
        first = {row: weight for row, weight in exact.items() if not vertices.group[row]}
        return Proof(first, {row: exact[row] for row in exact if row not in first}, 0.0, True)
    polished = _polished(vertices, rows, weights, units)
    apart = np.abs(vertices.point(rows, polished))
    if float((apart / units).max(initial=0.0)) > SAME:
        return None
    pairs = list(zip(rows.tolist(), polished.tolist(), strict=True))
    first, second = ({row: w for row, w in pairs if vertices.group[row] == g} for g in (0, 1))
    return Proof(first, second, float(apart.max(initial=0.0) * vertices.scale), False)


def _polished(vertices: Vertices, rows: Longs, weights: Floats, units: Floats) -> Floats:
    """The weights without the program's tolerance, as long as none becomes negative."""
    if len(rows) * vertices.width > MOST_CELLS:
        return weights
    groups = np.eye(2)[vertices.group[rows]]
    touched = np.unique(vertices.indices[np.isin(vertices.row_of, rows)])
    table = np.concatenate([(vertices.corners(rows)[:, touched] / units[touched]), groups], axis=1).T
    wanted = np.append(np.zeros(len(touched)), [1.0, 1.0])
    for _ in range(3):
        weights = weights + np.linalg.lstsq(table, wanted - table @ weights, rcond=None)[0]
    weights = np.where(weights > -EPS, np.maximum(weights, 0.0), 0.0)
    return weights / (groups @ (groups.T @ weights))
