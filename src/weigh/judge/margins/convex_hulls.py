"""Signed rows as vertices of convex hulls, with certified bounds of products and norms."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.features.blocks import Floats, Longs
from weigh.learn.design_matrix import DesignMatrix
from weigh.source.sparse_rows import SparseRows

FLOAT64_EPSILON = float(np.finfo(np.float64).eps)
MIN_LARGEST_VALUE = 1e-290  # the margins of smaller tables underflow
MIN_DENSE_SHARE = 0.25  # share of non-zero values from which vertices are stored densely
MAX_DENSE_CELLS = 10_000_000  # cells of the dense factors of one Gram matrix


@dataclass(frozen=True, eq=False)
class HullVertices:
    """The vertices y_i·x_i, or y_i·(x_i, 1), of rows of two classes, in units of `scale`.

    `group` says to which convex hull a vertex belongs: for the augmented margin all rows belong to one, for
    the distance margin each class has its own. `shift` was subtracted from columns that are far from zero in
    every row; the distance between two hulls is invariant under a common translation.
    """

    rows: SparseRows
    group: Longs
    scale: float
    shift: Floats

    @property
    def n_vertices(self) -> int:
        """The number of vertices."""
        return self.rows.n_rows

    @property
    def width(self) -> int:
        """The number of coordinates."""
        return self.rows.width

    @cached_property
    def _entries(self) -> tuple[Longs, Longs, Floats]:
        """The vertex, the column and the value of each entry, in the types in which sums are fast."""
        return self.rows.entry_rows(), self.rows.indices.astype(np.int64), self.rows.entry_values()

    @cached_property
    def dense(self) -> Floats | None:
        """The dense vertices [n, d] if few values are zero, else None; dense products are then faster."""
        is_dense = len(self.rows.indices) >= MIN_DENSE_SHARE * self.n_vertices * self.width
        return self.rows.to_dense() if is_dense else None

    @cached_property
    def norms(self) -> Floats:
        """The norm of each vertex."""
        return np.sqrt(self.rows.sum_by_row(self.rows.entry_values() ** 2))

    @cached_property
    def group_members(self) -> list[Longs]:
        """The vertices of each group."""
        return [np.flatnonzero(self.group == g) for g in range(int(self.group.max()) + 1)]

    def dot(self, z: Floats) -> Floats:
        """Return v_i·z for every vertex."""
        if self.dense is not None:
            return self.dense @ z
        vertex, column, value = self._entries
        return np.bincount(vertex, value * z[column], self.n_vertices).astype(np.float64, copy=False)

    def combine(self, weights: Floats) -> Floats:
        """Return Σ weights_i v_i."""
        if self.dense is not None:
            return weights @ self.dense
        vertex, column, value = self._entries
        return np.bincount(column, value * weights[vertex], self.width).astype(np.float64, copy=False)

    def combine_rows(self, rows: Longs, weights: Floats) -> Floats:
        """Return Σ weights_i v_i over the given vertices."""
        all_weights = np.zeros(self.n_vertices)
        all_weights[rows] = weights
        return self.combine(all_weights)

    def dense_rows(self, rows: Longs) -> Floats:
        """Return the given vertices as a dense matrix."""
        return self.rows.select(rows).to_dense()

    def gram(self, rows: Longs, others: Longs) -> Floats:
        """Return the Gram matrix v_i·v_j for i in `rows` and j in `others`."""
        if (len(rows) + len(others)) * self.width <= MAX_DENSE_CELLS:
            products: Floats = self.dense_rows(rows) @ self.dense_rows(others).T
            return products
        return np.array([self.dot(self.dense_rows(rows[i : i + 1])[0])[others] for i in range(len(rows))])

    def group_minima(self, scores: Floats) -> list[float]:
        """Return the smallest score of each group."""
        return [float(scores[members].min()) for members in self.group_members]


def distance_vertices(design: DesignMatrix, signs: Floats) -> HullVertices:
    """Return the vertices y_i·x_i, one group for each class."""
    X, values = design.X, design.X.entry_values().astype(np.float64)
    has_no_zeros = np.bincount(X.indices, minlength=X.width) == X.n_rows
    low, high = np.full(X.width, np.inf), np.full(X.width, -np.inf)
    np.minimum.at(low, X.indices, values)
    np.maximum.at(high, X.indices, values)
    low, high = np.where(has_no_zeros, low, 0.0), np.where(has_no_zeros, high, 0.0)
    middle = low / 2 + high / 2
    # In such columns subtracting the midpoint is exact (Sterbenz lemma).
    shift = np.where(np.abs(middle) >= high - low, middle, 0.0)
    shifted = replace(X, values=values - shift[X.indices])
    return _scale_vertices(shifted, signs, (signs > 0).astype(np.int64), shift)


def augmented_vertices(design: DesignMatrix, signs: Floats) -> HullVertices:
    """Return the vertices y_i·(x_i, 1), all in one group."""
    X, ends = design.X, design.X.indptr[1:]
    indices = np.insert(X.indices, ends, X.width)
    values = np.insert(X.entry_values().astype(np.float64), ends, 1.0)
    augmented = SparseRows(X.indptr + np.arange(X.n_rows + 1), indices, values, X.width + 1)
    return _scale_vertices(augmented, signs, np.zeros(X.n_rows, dtype=np.int64), np.zeros(X.width + 1))


def _scale_vertices(rows: SparseRows, signs: Floats, group: Longs, shift: Floats) -> HullVertices:
    """Scale the largest value close to 1 by a power of two, to avoid overflow and underflow of squares."""
    values = rows.entry_values()
    largest = float(np.abs(values).max(initial=0.0))
    if 0.0 < largest < MIN_LARGEST_VALUE:
        raise errors.DataError(
            f"The largest value is {largest:.6g}; below {MIN_LARGEST_VALUE:g} the arithmetic underflows. "
            f"Multiply the columns by a power of ten."
        )
    scale = 2.0 ** math.frexp(largest)[1] if largest > 0.0 else 1.0
    signed = values * np.repeat(signs, np.diff(rows.indptr)) / scale
    vertices = replace(rows, values=signed).select_entries(signed != 0.0)
    return HullVertices(vertices, group, scale, shift)


LongDoubles = npt.NDArray[np.longdouble]

# The bounds hold whether or not the platform's long double is wider than double.
LONGDOUBLE_EPSILON = float(np.finfo(np.longdouble).eps)


def product_lower_bounds(vertices: HullVertices, w: Floats) -> Floats:
    """Return certified lower bounds of v_i·w / ‖w‖, with rounding errors included."""
    unit: LongDoubles = w.astype(np.longdouble)
    unit = unit / np.abs(unit).max()
    unit = unit / np.sqrt((unit * unit).sum())
    terms = vertices.rows.entry_values() * unit[vertices.rows.indices]
    products, sizes = _sum_by_row(vertices, terms), _sum_by_row(vertices, np.abs(terms))
    # The error of a dot product is bounded by n ε Σ|terms|, the relative error of the norm by d ε.
    error = (np.diff(vertices.rows.indptr) + 4) * sizes + (vertices.width + 4) * np.abs(products)
    lower: Floats = np.nextafter((products - LONGDOUBLE_EPSILON * error).astype(np.float64), -np.inf)
    return lower


def norm_upper_bound(vertices: HullVertices, weights: Floats) -> float:
    """Return a certified upper bound of ‖Σ weights_i v_i‖, the weights normalised to sum to 1 per group."""
    rows = np.flatnonzero(weights)
    normalised: LongDoubles = weights[rows].astype(np.longdouble)
    group = vertices.group[rows]
    for g in range(len(vertices.group_members)):
        normalised[group == g] /= normalised[group == g].sum()
    used = vertices.rows.select(rows)
    z = np.zeros(vertices.width, dtype=np.longdouble)
    np.add.at(z, used.indices, used.entry_values() * normalised[used.entry_rows()])
    norm = np.sqrt((z * z).sum()) * (1.0 + LONGDOUBLE_EPSILON * (vertices.width + 4))
    max_norm = float(vertices.norms.max(initial=0.0))
    return math.nextafter(float(norm + LONGDOUBLE_EPSILON * 2 * (len(rows) + 4) * max_norm), math.inf)


def _sum_by_row(vertices: HullVertices, terms: LongDoubles) -> LongDoubles:
    """Sum the terms of each row; empty rows have the sum zero, which reduceat alone would not give."""
    sums = np.zeros(vertices.n_vertices, dtype=np.longdouble)
    filled = np.diff(vertices.rows.indptr) > 0
    if filled.any():
        sums[filled] = np.add.reduceat(terms, vertices.rows.indptr[:-1][filled])
    return sums
