"""Rows of features in memory, dense or sparse, behind one contract."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Ints, Longs, Mask
from weigh.model.pipeline import cores

# Rows that are scaled at once: they stay in the cache until they are multiplied.
BLOCK = 2048


class Matrix(Protocol):
    """What solvers need of rows, however they are stored."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""

    @property
    def width(self) -> int:
        """How many features there are."""

    @property
    def density(self) -> float:
        """Which share of the cells is held."""

    def times(self, w: Floats) -> Floats:
        """Return X w for w [width] or [width, k]."""

    def transposed_times(self, r: Floats) -> Floats:
        """Return Xᵀ r for r [n_rows] or [n_rows, k]."""

    def squared_times(self, s: Floats) -> Floats:
        """Return Σ sᵢ xᵢⱼ² for every feature."""

    def weighted_gram(self, s: Floats | None) -> Floats:
        """Return Σ sᵢ xᵢ xᵢᵀ for s ≥ 0; None means one each."""

    def columns(self, which: Longs) -> Floats:
        """Return some features with all their zeros, each contiguous: an array in Fortran's order."""

    def features(self, kept: Mask) -> Matrix:
        """Return the same rows with some of the features."""

    def rows(self, kept: Mask) -> Matrix:
        """Return some of the rows."""

    def cut(self, start: int, stop: int) -> Matrix:
        """Return some consecutive rows, without copying them."""

    def absolute_times(self, r: Floats) -> Floats:
        """Return |X|ᵀ r for r [n_rows, k]."""

    def largest(self) -> float:
        """Return the size of the largest entry."""

    def scaled(self, factor: float) -> Matrix:
        """Return the same rows with all entries multiplied."""


class DenseMatrix:
    """Rows as one array in any order; blocks of rows are views of it."""

    def __init__(self, array: Floats) -> None:
        self.array = array
        self.n_rows, self.width = array.shape
        self.density = 1.0

    def times(self, w: Floats) -> Floats:
        """Return X w for w [width] or [width, k]."""
        return np.asarray(self.array @ w)

    def transposed_times(self, r: Floats) -> Floats:
        """Return Xᵀ r for r [n_rows] or [n_rows, k]."""
        return np.asarray(self.array.T @ r)

    def squared_times(self, s: Floats) -> Floats:
        """Return Σ sᵢ xᵢⱼ² for every feature."""
        return np.asarray(np.einsum("i,ij,ij->j", s, self.array, self.array))

    def columns(self, which: Longs) -> Floats:
        """Return some features, each contiguous."""
        return np.asarray(self.array.T[which], order="C").T

    def weighted_gram(self, s: Floats | None) -> Floats:
        """Return Σ sᵢ xᵢ xᵢᵀ for s ≥ 0; None means one each."""
        if s is None:
            return np.asarray(self.array.T @ self.array)
        gram = np.zeros((self.width, self.width))
        for begin in range(0, self.n_rows, BLOCK):
            block = self.array[begin : begin + BLOCK]
            scaled = block * np.sqrt(s[begin : begin + BLOCK, None])
            gram += scaled.T @ scaled
        return np.asarray(gram)

    def features(self, kept: Mask) -> DenseMatrix:
        """Return the same rows with some of the features."""
        return DenseMatrix(self.array[:, kept])

    def rows(self, kept: Mask) -> DenseMatrix:
        """Return some of the rows."""
        return DenseMatrix(self.array[kept])

    def cut(self, start: int, stop: int) -> DenseMatrix:
        """Return some consecutive rows, without copying them."""
        return DenseMatrix(self.array[start:stop])

    def absolute_times(self, r: Floats) -> Floats:
        """Return |X|ᵀ r for r [n_rows, k]."""
        return np.asarray(np.abs(self.array).T @ r)

    def largest(self) -> float:
        """Return the size of the largest entry."""
        return float(max(self.array.max(initial=0.0), -self.array.min(initial=0.0)))

    def scaled(self, factor: float) -> DenseMatrix:
        """Return the same rows with all entries multiplied."""
        return DenseMatrix(self.array * factor)


class SparseMatrix:
    """Rows in compressed form, features rising within a row; values None means one each."""

    def __init__(self, indptr: Longs, indices: Ints, values: Floats | None, width: int) -> None:
        self.indptr, self.indices, self.values = indptr, indices, values
        self.n_rows, self.width = len(indptr) - 1, width
        self.density = int(indptr[-1] - indptr[0]) / max(1, self.n_rows * width)

    def times(self, w: Floats) -> Floats:
        """Return X w for w [width] or [width, k]."""
        table = np.ascontiguousarray(w.reshape(self.width, math.prod(w.shape[1:])))
        out = np.empty((self.n_rows, table.shape[1]))
        _core.sparse_times(*self._held, table, cores(), out)
        return out.reshape(self.n_rows, *w.shape[1:])

    def transposed_times(self, r: Floats) -> Floats:
        """Return Xᵀ r for r [n_rows] or [n_rows, k]."""
        table = np.ascontiguousarray(r.reshape(self.n_rows, math.prod(r.shape[1:])))
        out = np.empty((self.width, table.shape[1]))
        _core.sparse_transposed_times(*self._held, table, cores(), out)
        return out.reshape(self.width, *r.shape[1:])

    def squared_times(self, s: Floats) -> Floats:
        """Return Σ sᵢ xᵢⱼ² for every feature."""
        out = np.empty(self.width)
        _core.sparse_squared_times(*self._held, s, cores(), out)
        return out

    def weighted_gram(self, s: Floats | None) -> Floats:
        """Return Σ sᵢ xᵢ xᵢᵀ for s ≥ 0; None means one each."""
        out = np.empty((self.width, self.width))
        _core.sparse_weighted_gram(*self._held, np.arange(self.width, dtype=np.int32), s, cores(), out)
        return out

    def selected(self, which: Longs) -> tuple[Longs, Ints, Floats]:
        """Return some features in compressed form: the beginning of each, rows, values."""
        places = np.full(self.width, -1, np.int32)
        places[which] = np.arange(len(which), dtype=np.int32)
        return _core.sparse_select_columns(*self._held, places, len(which), cores())

    def columns(self, which: Longs) -> Floats:
        """Return some features with all their zeros, each contiguous."""
        indptr, rows, values = self.selected(which)
        out = np.zeros((len(which), self.n_rows))
        out[np.repeat(np.arange(len(which)), np.diff(indptr)), rows] = values
        return out.T

    def features(self, kept: Mask) -> SparseMatrix:
        """Return the same rows with some of the features."""
        if not kept.any():
            return SparseMatrix(np.zeros(self.n_rows + 1, np.int64), np.empty(0, np.int32), None, 0)
        indptr, rows, values = self.selected(np.flatnonzero(kept))
        order = np.argsort(rows, kind="stable")
        counts = np.bincount(rows, minlength=self.n_rows)
        columns = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))
        return SparseMatrix(
            np.concatenate([[0], np.cumsum(counts)]), columns[order], values[order], len(indptr) - 1
        )

    def rows(self, kept: Mask) -> SparseMatrix:
        """Return some of the rows."""
        entries = np.repeat(kept, np.diff(self.indptr))
        indptr = np.concatenate([[0], np.cumsum(np.diff(self.indptr)[kept])])
        values = None if self.values is None else self.values[self._span][entries]
        return SparseMatrix(indptr, self.indices[self._span][entries], values, self.width)

    def cut(self, start: int, stop: int) -> SparseMatrix:
        """Return some consecutive rows, without copying them."""
        return SparseMatrix(self.indptr[start : stop + 1], self.indices, self.values, self.width)

    def absolute_times(self, r: Floats) -> Floats:
        """Return |X|ᵀ r for r [n_rows, k]."""
        values = None if self.values is None else np.abs(self.values)
        return SparseMatrix(self.indptr, self.indices, values, self.width).transposed_times(r)

    def largest(self) -> float:
        """Return the size of the largest entry."""
        if self.values is None:
            return 1.0
        held = self.values[self._span]
        return float(max(held.max(initial=0.0), -held.min(initial=0.0)))

    def scaled(self, factor: float) -> SparseMatrix:
        """Return the same rows with all entries multiplied."""
        values = np.ones(len(self.indices)) if self.values is None else self.values
        return SparseMatrix(self.indptr, self.indices, values * factor, self.width)

    @property
    def _held(self) -> tuple[Longs, Ints, Floats | None]:
        return self.indptr, self.indices, self.values

    @property
    def _span(self) -> slice:
        return slice(int(self.indptr[0]), int(self.indptr[-1]))


class WithOnes:
    """Rows with one more feature, the last one, that is always one: its weight is the bias."""

    def __init__(self, X: Matrix) -> None:
        self.X = X
        self.n_rows, self.width = X.n_rows, X.width + 1
        self.density = (X.density * X.width + 1) / self.width

    def times(self, w: Floats) -> Floats:
        """Return X w for w [width] or [width, k]."""
        return np.asarray(self.X.times(w[:-1]) + w[-1])

    def transposed_times(self, r: Floats) -> Floats:
        """Return Xᵀ r for r [n_rows] or [n_rows, k]."""
        return np.concatenate([self.X.transposed_times(r), r.sum(axis=0)[None]])

    def squared_times(self, s: Floats) -> Floats:
        """Return Σ sᵢ xᵢⱼ² for every feature."""
        return np.append(self.X.squared_times(s), s.sum())

    def weighted_gram(self, s: Floats | None) -> Floats:
        """Return Σ sᵢ xᵢ xᵢᵀ for s ≥ 0; None means one each."""
        weights = np.ones(self.n_rows) if s is None else s
        gram = np.empty((self.width, self.width))
        gram[:-1, :-1] = self.X.weighted_gram(s)
        gram[-1] = gram[:, -1] = self.transposed_times(weights)
        return gram

    def columns(self, which: Longs) -> Floats:
        """Return some features with all their zeros, each contiguous."""
        out = np.ones((len(which), self.n_rows))
        given = which < self.X.width
        out[given] = self.X.columns(which[given]).T
        return out.T

    def features(self, kept: Mask) -> Matrix:
        """Return the same rows with some of the features."""
        some = self.X.features(kept[:-1])
        return WithOnes(some) if kept[-1] else some

    def rows(self, kept: Mask) -> WithOnes:
        """Return some of the rows."""
        return WithOnes(self.X.rows(kept))

    def cut(self, start: int, stop: int) -> WithOnes:
        """Return some consecutive rows, without copying them."""
        return WithOnes(self.X.cut(start, stop))

    def absolute_times(self, r: Floats) -> Floats:
        """Return |X|ᵀ r for r [n_rows, k]."""
        return np.concatenate([self.X.absolute_times(r), r.sum(axis=0)[None]])

    def largest(self) -> float:
        """Return the size of the largest entry."""
        return max(1.0, self.X.largest())

    def scaled(self, factor: float) -> WithOnes:
        """Return the same rows with all entries multiplied, but not the ones."""
        return WithOnes(self.X.scaled(factor))
