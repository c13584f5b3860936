"""Signed rows as the corners of convex hulls: all products that margins need, on compressed rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.features.blocks import Floats, Longs
from weigh.learn.design_matrix import DesignMatrix

FLOAT64_EPSILON = float(np.finfo(np.float64).eps)
# Tables whose largest value is less have margins that floats cannot hold.
MIN_LARGEST_VALUE = 1e-290
# The share of stored values from which on all zeros may be stored, too.
MIN_DENSE_SHARE = 0.25
# How many cells may be written out for one product of corners.
MAX_DENSE_CELLS = 10_000_000


@dataclass(frozen=True, eq=False)
class HullVertices:
    """The corners y_i·x_i, or y_i·(x_i, 1), of rows of two classes, in units of `scale`.

    `group` says of which convex combination a corner is a part: for the augmented margin all rows
    belong to one, for the distance margin each class has its own. `shift` was taken off columns that
    are far from zero in every row: hulls of two classes keep their distance when both are moved.
    """

    indptr: Longs
    indices: Longs
    values: Floats
    group: Longs
    width: int
    scale: float
    shift: Floats

    @property
    def n_vertices(self) -> int:
        """How many corners there are."""
        return len(self.indptr) - 1

    @cached_property
    def vertex_of_value(self) -> Longs:
        """The corner to which each stored value belongs."""
        return np.repeat(np.arange(self.n_vertices), np.diff(self.indptr))

    @cached_property
    def dense(self) -> Floats | None:
        """The corners with all their zeros, where these are few: then plain products are faster."""
        filled = len(self.values) >= MIN_DENSE_SHARE * self.n_vertices * self.width
        return self.dense_rows(np.arange(self.n_vertices)) if filled else None

    @cached_property
    def norms(self) -> Floats:
        """The norm of each corner."""
        return np.sqrt(_sum_by_index(self.vertex_of_value, self.values**2, self.n_vertices))

    @cached_property
    def group_members(self) -> list[Longs]:
        """The corners of each group."""
        return [np.flatnonzero(self.group == g) for g in range(int(self.group.max()) + 1)]

    def dot(self, z: Floats) -> Floats:
        """Return v_i·z for every corner."""
        if self.dense is not None:
            return self.dense @ z
        return _sum_by_index(self.vertex_of_value, self.values * z[self.indices], self.n_vertices)

    def combine(self, weights: Floats) -> Floats:
        """Return Σ weights_i v_i."""
        if self.dense is not None:
            return weights @ self.dense
        return _sum_by_index(self.indices, self.values * weights[self.vertex_of_value], self.width)

    def combine_rows(self, rows: Longs, weights: Floats) -> Floats:
        """Return Σ weights_i v_i over a few corners."""
        every = np.zeros(self.n_vertices)
        every[rows] = weights
        return self.combine(every)

    def dense_rows(self, rows: Longs) -> Floats:
        """Return a few corners with all their zeros."""
        stored = self.value_indices(rows)
        table = np.zeros((len(rows), self.width))
        down = np.repeat(np.arange(len(rows)), np.diff(self.indptr)[rows])
        table[down, self.indices[stored]] = self.values[stored]
        return table

    def value_indices(self, rows: Longs) -> Longs:
        """Return the places of the values of a few corners."""
        sizes = np.diff(self.indptr)[rows]
        starts = self.indptr[rows] - np.cumsum(sizes) + sizes
        places: Longs = np.arange(sizes.sum()) + np.repeat(starts, sizes)
        return places

    def gram(self, rows: Longs, others: Longs) -> Floats:
        """Return v_i·v_j for i of `rows` (down) and j of `others` (across)."""
        if (len(rows) + len(others)) * self.width <= MAX_DENSE_CELLS:
            products: Floats = self.dense_rows(rows) @ self.dense_rows(others).T
            return products
        return np.array([self.dot(self.dense_rows(rows[at : at + 1])[0])[others] for at in range(len(rows))])

    def group_minima(self, scores: Floats) -> list[float]:
        """Return the smallest score of each group."""
        return [float(scores[side].min()) for side in self.group_members]


def distance_vertices(design: DesignMatrix, signs: Floats) -> HullVertices:
    """The corners y_i·x_i, one group for each class."""
    values = design.values.astype(np.float64)
    full = np.bincount(design.indices, minlength=design.width) == design.n_rows
    low, high = np.full(design.width, np.inf), np.full(design.width, -np.inf)
    np.minimum.at(low, design.indices, values)
    np.maximum.at(high, design.indices, values)
    low, high = np.where(full, low, 0.0), np.where(full, high, 0.0)
    middle = low / 2 + high / 2
    # Numbers that far from zero differ from their middle by a number that needs no rounding.
    shift = np.where(np.abs(middle) >= high - low, middle, 0.0)
    values = values - shift[design.indices]
    return _scale_vertices(
        design.indptr, design.indices.astype(np.int64), values, signs, (signs > 0).astype(np.int64), shift
    )


def augmented_vertices(design: DesignMatrix, signs: Floats) -> HullVertices:
    """The corners y_i·(x_i, 1), all of one group."""
    ends = design.indptr[1:]
    indices = np.insert(design.indices.astype(np.int64), ends, design.width)
    values = np.insert(design.values.astype(np.float64), ends, 1.0)
    indptr = design.indptr + np.arange(design.n_rows + 1)
    group = np.zeros(design.n_rows, dtype=np.int64)
    return _scale_vertices(indptr, indices, values, signs, group, np.zeros(design.width + 1))


def _scale_vertices(
    indptr: Longs, indices: Longs, values: Floats, signs: Floats, group: Longs, shift: Floats
) -> HullVertices:
    """Bring the largest value near 1 by a power of two, so that no square overflows or underflows."""
    largest = float(np.abs(values).max(initial=0.0))
    if 0.0 < largest < MIN_LARGEST_VALUE:
        raise errors.DataError(
            f"The largest value is {largest:.6g}; below {MIN_LARGEST_VALUE:g} squares and quotients vanish. Multiply "
            f"the columns by a power of ten."
        )
    scale = 2.0 ** math.frexp(largest)[1] if largest > 0.0 else 1.0
    signed = values * np.repeat(signs, np.diff(indptr)) / scale
    kept = signed != 0.0
    starts = np.concatenate([[0], np.cumsum(kept)])[indptr]
    return HullVertices(starts, indices[kept], signed[kept], group, len(shift), scale, shift)


def _sum_by_index(places: Longs, values: Floats, n: int) -> Floats:
    """Sum values by their places."""
    sums: Floats = np.bincount(places, values, n).astype(np.float64, copy=False)
    return sums


LongDoubles = npt.NDArray[np.longdouble]

# Wider than double where the machine has it; the bounds hold for either.
LONGDOUBLE_EPSILON = float(np.finfo(np.longdouble).eps)


def product_lower_bounds(vertices: HullVertices, w: Floats) -> Floats:
    """Numbers that v_i·w / ‖w‖ cannot lie below."""
    wide: LongDoubles = w.astype(np.longdouble)
    wide = wide / np.abs(wide).max()
    wide = wide / np.sqrt((wide * wide).sum())
    terms = vertices.values * wide[vertices.indices]
    products, sizes = _sum_by_row(vertices, terms), _sum_by_row(vertices, np.abs(terms))
    # A sum of products errs by its length times the sizes of its terms, a norm by its own length.
    errs = (np.diff(vertices.indptr) + 4) * sizes + (vertices.width + 4) * np.abs(products)
    least: Floats = np.nextafter((products - LONGDOUBLE_EPSILON * errs).astype(np.float64), -np.inf)
    return least


def norm_upper_bound(vertices: HullVertices, weights: Floats) -> float:
    """A number that the norm of a convex combination of corners, made of these weights, cannot exceed."""
    rows = np.flatnonzero(weights)
    shares: LongDoubles = weights[rows].astype(np.longdouble)
    group = vertices.group[rows]
    for g in range(len(vertices.group_members)):
        shares[group == g] /= shares[group == g].sum()
    sizes = np.diff(vertices.indptr)[rows]
    stored = vertices.value_indices(rows)
    z = np.zeros(vertices.width, dtype=np.longdouble)
    np.add.at(z, vertices.indices[stored], vertices.values[stored] * np.repeat(shares, sizes))
    norm = np.sqrt((z * z).sum()) * (1.0 + LONGDOUBLE_EPSILON * (vertices.width + 4))
    longest = float(vertices.norms.max(initial=0.0))
    return math.nextafter(float(norm + LONGDOUBLE_EPSILON * 2 * (len(rows) + 4) * longest), math.inf)


def _sum_by_row(vertices: HullVertices, terms: LongDoubles) -> LongDoubles:
    """Sum terms by row; rows without any have zero."""
    sums = np.zeros(vertices.n_vertices, dtype=np.longdouble)
    filled = np.diff(vertices.indptr) > 0
    if filled.any():
        sums[filled] = np.add.reduceat(terms, vertices.indptr[:-1][filled])
    return sums
