"""Signed rows as the corners of convex hulls: all products that margins need, on compressed rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats, Longs
from weigh.learn.design import Design

EPS = float(np.finfo(np.float64).eps)
# Tables whose largest value is less have margins that floats cannot hold.
SMALLEST = 1e-290
# The share of stored values from which on all zeros may be stored, too.
FILLED = 0.25
# How many cells may be written out for one product of corners.
MOST_CELLS = 10_000_000


@dataclass(frozen=True, eq=False)
class Vertices:
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
    def n(self) -> int:
        """How many corners there are."""
        return len(self.indptr) - 1

    @cached_property
    def row_of(self) -> Longs:
        """The corner to which each stored value belongs."""
        return np.repeat(np.arange(self.n), np.diff(self.indptr))

    @cached_property
    def table(self) -> Floats | None:
        """The corners with all their zeros, where these are few: then plain products are faster."""
        filled = len(self.values) >= FILLED * self.n * self.width
        return self.corners(np.arange(self.n)) if filled else None

    @cached_property
    def lengths(self) -> Floats:
        """The norm of each corner."""
        return np.sqrt(_sums(self.row_of, self.values**2, self.n))

    @cached_property
    def sides(self) -> list[Longs]:
        """The corners of each group."""
        return [np.flatnonzero(self.group == g) for g in range(int(self.group.max()) + 1)]

    def dot(self, z: Floats) -> Floats:
        """Return v_i·z for every corner."""
        if self.table is not None:
            return self.table @ z
        return _sums(self.row_of, self.values * z[self.indices], self.n)

    def combine(self, weights: Floats) -> Floats:
        """Return Σ weights_i v_i."""
        if self.table is not None:
            return weights @ self.table
        return _sums(self.indices, self.values * weights[self.row_of], self.width)

    def point(self, rows: Longs, weights: Floats) -> Floats:
        """Return Σ weights_i v_i over a few corners."""
        every = np.zeros(self.n)
        every[rows] = weights
        return self.combine(every)

    def corners(self, rows: Longs) -> Floats:
        """Return a few corners with all their zeros."""
        stored = self.stored(rows)
        table = np.zeros((len(rows), self.width))
        down = np.repeat(np.arange(len(rows)), np.diff(self.indptr)[rows])
        table[down, self.indices[stored]] = self.values[stored]
        return table

    def stored(self, rows: Longs) -> Longs:
        """Return the places of the values of a few corners."""
        sizes = np.diff(self.indptr)[rows]
        starts = self.indptr[rows] - np.cumsum(sizes) + sizes
        places: Longs = np.arange(sizes.sum()) + np.repeat(starts, sizes)
        return places

    def gram(self, rows: Longs, others: Longs) -> Floats:
        """Return v_i·v_j for i of `rows` (down) and j of `others` (across)."""
        if (len(rows) + len(others)) * self.width <= MOST_CELLS:
            products: Floats = self.corners(rows) @ self.corners(others).T
            return products
        return np.array([self.dot(self.corners(rows[at : at + 1])[0])[others] for at in range(len(rows))])

    def least(self, scores: Floats) -> list[float]:
        """Return the smallest score of each group."""
        return [float(scores[side].min()) for side in self.sides]


def plain(design: Design, signs: Floats) -> Vertices:
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
    return _scaled(
        design.indptr, design.indices.astype(np.int64), values, signs, (signs > 0).astype(np.int64), shift
    )


def augmented(design: Design, signs: Floats) -> Vertices:
    """The corners y_i·(x_i, 1), all of one group."""
    ends = design.indptr[1:]
    indices = np.insert(design.indices.astype(np.int64), ends, design.width)
    values = np.insert(design.values.astype(np.float64), ends, 1.0)
    indptr = design.indptr + np.arange(design.n_rows + 1)
    group = np.zeros(design.n_rows, dtype=np.int64)
    return _scaled(indptr, indices, values, signs, group, np.zeros(design.width + 1))


def _scaled(
    indptr: Longs, indices: Longs, values: Floats, signs: Floats, group: Longs, shift: Floats
) -> Vertices:
    """Bring the largest value near 1 by a power of two, so that no square overflows or underflows."""
    largest = float(np.abs(values).max(initial=0.0))
    if 0.0 < largest < SMALLEST:
        raise errors.DataError(
            f"The largest value is {largest:.6g}; below {SMALLEST:g} squares and quotients vanish. Multiply "
            f"the columns by a power of ten."
        )
    scale = 2.0 ** math.frexp(largest)[1] if largest > 0.0 else 1.0
    signed = values * np.repeat(signs, np.diff(indptr)) / scale
    kept = signed != 0.0
    starts = np.concatenate([[0], np.cumsum(kept)])[indptr]
    return Vertices(starts, indices[kept], signed[kept], group, len(shift), scale, shift)


def _sums(places: Longs, values: Floats, n: int) -> Floats:
    """Sum values by their places."""
    sums: Floats = np.bincount(places, values, n).astype(np.float64, copy=False)
    return sums
