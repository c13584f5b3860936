"""Rows of features in memory, dense or sparse, behind one contract."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Ints, Longs, Mask
from weigh.model.parallel import available_cores

# Rows that are scaled at once: they stay in the cache until they are multiplied.
BLOCK_ROWS = 2048


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

    def dense_columns(self, which: Longs) -> Floats:
        """Return some features with all their zeros, each contiguous: an array in Fortran's order."""

    def select_features(self, kept: Mask) -> Matrix:
        """Return the same rows with some of the features."""

    def select_rows(self, kept: Mask) -> Matrix:
        """Return some of the rows."""

    def slice_rows(self, start: int, stop: int) -> Matrix:
        """Return some consecutive rows, without copying them."""

    def absolute_transposed_times(self, r: Floats) -> Floats:
        """Return |X|ᵀ r for r [n_rows, k]."""

    def max_abs(self) -> float:
        """Return the size of the largest entry."""

    def rescale(self, factor: float) -> Matrix:
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

    def dense_columns(self, which: Longs) -> Floats:
        """Return some features, each contiguous."""
        return np.asarray(self.array.T[which], order="C").T

    def weighted_gram(self, s: Floats | None) -> Floats:
        """Return Σ sᵢ xᵢ xᵢᵀ for s ≥ 0; None means one each."""
        if s is None:
            return np.asarray(self.array.T @ self.array)
        gram = np.zeros((self.width, self.width))
        for begin in range(0, self.n_rows, BLOCK_ROWS):
            block = self.array[begin : begin + BLOCK_ROWS]
            scaled = block * np.sqrt(s[begin : begin + BLOCK_ROWS, None])
            gram += scaled.T @ scaled
        return np.asarray(gram)

    def select_features(self, kept: Mask) -> DenseMatrix:
        """Return the same rows with some of the features."""
        return DenseMatrix(self.array[:, kept])

    def select_rows(self, kept: Mask) -> DenseMatrix:
        """Return some of the rows."""
        return DenseMatrix(self.array[kept])

    def slice_rows(self, start: int, stop: int) -> DenseMatrix:
        """Return some consecutive rows, without copying them."""
        return DenseMatrix(self.array[start:stop])

    def absolute_transposed_times(self, r: Floats) -> Floats:
        """Return |X|ᵀ r for r [n_rows, k]."""
        return np.asarray(np.abs(self.array).T @ r)

    def max_abs(self) -> float:
        """Return the size of the largest entry."""
        return float(max(self.array.max(initial=0.0), -self.array.min(initial=0.0)))

    def rescale(self, factor: float) -> DenseMatrix:
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
        _core.sparse_times(*self._csr, table, available_cores(), out)
        return out.reshape(self.n_rows, *w.shape[1:])

    def transposed_times(self, r: Floats) -> Floats:
        """Return Xᵀ r for r [n_rows] or [n_rows, k]."""
        table = np.ascontiguousarray(r.reshape(self.n_rows, math.prod(r.shape[1:])))
        out = np.empty((self.width, table.shape[1]))
        _core.sparse_transposed_times(*self._csr, table, available_cores(), out)
        return out.reshape(self.width, *r.shape[1:])

    def squared_times(self, s: Floats) -> Floats:
        """Return Σ sᵢ xᵢⱼ² for every feature."""
        out = np.empty(self.width)
        _core.sparse_squared_times(*self._csr, s, available_cores(), out)
        return out

    def weighted_gram(self, s: Floats | None) -> Floats:
        """Return Σ sᵢ xᵢ xᵢᵀ for s ≥ 0; None means one each."""
        out = np.empty((self.width, self.width))
        _core.sparse_weighted_gram(
            *self._csr, np.arange(self.width, dtype=np.int32), s, available_cores(), out
        )
        return out

    def select_columns(self, which: Longs) -> tuple[Longs, Ints, Floats]:
        """Return some features in compressed form: the beginning of each, rows, values."""
        places = np.full(self.width, -1, np.int32)
        places[which] = np.arange(len(which), dtype=np.int32)
        return _core.sparse_select_columns(*self._csr, places, len(which), available_cores())

    def dense_columns(self, which: Longs) -> Floats:
        """Return some features with all their zeros, each contiguous."""
        indptr, rows, values = self.select_columns(which)
        out = np.zeros((len(which), self.n_rows))
        out[np.repeat(np.arange(len(which)), np.diff(indptr)), rows] = values
        return out.T

    def select_features(self, kept: Mask) -> SparseMatrix:
        """Return the same rows with some of the features."""
        if not kept.any():
            return SparseMatrix(np.zeros(self.n_rows + 1, np.int64), np.empty(0, np.int32), None, 0)
        indptr, rows, values = self.select_columns(np.flatnonzero(kept))
        order = np.argsort(rows, kind="stable")
        counts = np.bincount(rows, minlength=self.n_rows)
        columns = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))
        return SparseMatrix(
            np.concatenate([[0], np.cumsum(counts)]), columns[order], values[order], len(indptr) - 1
        )

    def select_rows(self, kept: Mask) -> SparseMatrix:
        """Return some of the rows."""
        entries = np.repeat(kept, np.diff(self.indptr))
        indptr = np.concatenate([[0], np.cumsum(np.diff(self.indptr)[kept])])
        values = None if self.values is None else self.values[self._entries][entries]
        return SparseMatrix(indptr, self.indices[self._entries][entries], values, self.width)

    def slice_rows(self, start: int, stop: int) -> SparseMatrix:
        """Return some consecutive rows, without copying them."""
        return SparseMatrix(self.indptr[start : stop + 1], self.indices, self.values, self.width)

    def absolute_transposed_times(self, r: Floats) -> Floats:
        """Return |X|ᵀ r for r [n_rows, k]."""
        values = None if self.values is None else np.abs(self.values)
        return SparseMatrix(self.indptr, self.indices, values, self.width).transposed_times(r)

    def max_abs(self) -> float:
        """Return the size of the largest entry."""
        if self.values is None:
            return 1.0
        held = self.values[self._entries]
        return float(max(held.max(initial=0.0), -held.min(initial=0.0)))

    def rescale(self, factor: float) -> SparseMatrix:
        """Return the same rows with all entries multiplied."""
        values = np.ones(len(self.indices)) if self.values is None else self.values
        return SparseMatrix(self.indptr, self.indices, values * factor, self.width)

    @property
    def _csr(self) -> tuple[Longs, Ints, Floats | None]:
        return self.indptr, self.indices, self.values

    @property
    def _entries(self) -> slice:
        return slice(int(self.indptr[0]), int(self.indptr[-1]))


class InterceptMatrix:
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

    def dense_columns(self, which: Longs) -> Floats:
        """Return some features with all their zeros, each contiguous."""
        out = np.ones((len(which), self.n_rows))
        given = which < self.X.width
        out[given] = self.X.dense_columns(which[given]).T
        return out.T

    def select_features(self, kept: Mask) -> Matrix:
        """Return the same rows with some of the features."""
        some = self.X.select_features(kept[:-1])
        return InterceptMatrix(some) if kept[-1] else some

    def select_rows(self, kept: Mask) -> InterceptMatrix:
        """Return some of the rows."""
        return InterceptMatrix(self.X.select_rows(kept))

    def slice_rows(self, start: int, stop: int) -> InterceptMatrix:
        """Return some consecutive rows, without copying them."""
        return InterceptMatrix(self.X.slice_rows(start, stop))

    def absolute_transposed_times(self, r: Floats) -> Floats:
        """Return |X|ᵀ r for r [n_rows, k]."""
        return np.concatenate([self.X.absolute_transposed_times(r), r.sum(axis=0)[None]])

    def max_abs(self) -> float:
        """Return the size of the largest entry."""
        return max(1.0, self.X.max_abs())

    def rescale(self, factor: float) -> InterceptMatrix:
        """Return the same rows with all entries multiplied, but not the ones."""
        return InterceptMatrix(self.X.rescale(factor))


# Fresh pages are dear, and a block must be long for the products to run at full speed: measured.
_MAX_BLOCK_ROWS = 4096
_MAX_BLOCK_CELLS = 1 << 23


def row_blocks(
    X: Matrix, shift: Floats | None = None, root: Floats | None = None
) -> Iterator[tuple[slice, Floats]]:
    """Yield which rows, and rootᵢ (xᵢ − shift) of them in an array that the next block overwrites.

    Dense rows that are neither shifted nor weighted come as one view, without a copy.
    """
    if isinstance(X, DenseMatrix) and shift is None and root is None:
        yield slice(0, X.n_rows), X.array
        return
    size = max(1, min(_MAX_BLOCK_ROWS, X.n_rows, _MAX_BLOCK_CELLS // max(1, X.width)))
    # A block in the order of the rows: copying against the order costs more than the product.
    across = isinstance(X, DenseMatrix) and X.array.flags.f_contiguous
    buffer = np.empty((size, X.width), order="F" if across else "C")
    for start in range(0, X.n_rows, size):
        which = slice(start, min(start + size, X.n_rows))
        block = buffer[: which.stop - start]
        _fill_dense(X, which, shift, block)
        if root is not None:
            block *= root[which, None]
        yield which, block


def sample_rows(X: Matrix, pieces: int = 16, size: int = 32) -> Floats:
    """Return dense rows from pieces all over the matrix, for rough figures."""
    starts = range(0, X.n_rows, max(size, X.n_rows // pieces))
    parts = [slice(start, min(start + size, X.n_rows)) for start in starts]
    found = np.empty((sum(each.stop - each.start for each in parts), X.width))
    at = 0
    for each in parts:
        length = each.stop - each.start
        _fill_dense(X, each, None, found[at : at + length])
        at += length
    return found


def to_dense(X: Matrix, shift: Floats | None = None, root: Floats | None = None) -> Floats:
    """Return rootᵢ (xᵢ − shift) of all rows as a new array."""
    found = np.empty((X.n_rows, X.width))
    _fill_dense(X, slice(0, X.n_rows), shift, found)
    if root is not None:
        found *= root[:, None]
    return found


def _fill_dense(X: Matrix, which: slice, shift: Floats | None, out: Floats) -> None:
    if isinstance(X, DenseMatrix):
        if shift is None:
            out[:] = X.array[which]
        else:
            np.subtract(X.array[which], shift, out=out)
        return
    if not isinstance(X, SparseMatrix):
        raise TypeError(f"rows of {type(X).__name__} have no dense form")
    indptr = X.indptr[which.start : which.stop + 1]
    held = slice(int(indptr[0]), int(indptr[-1]))
    out[:] = 0.0 if shift is None else -shift
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    out[rows, X.indices[held]] += 1.0 if X.values is None else X.values[held]


EPS = float(np.finfo(np.float64).eps)


def column_means_and_stds(X: Matrix, weights: Floats | None) -> tuple[Floats, Floats]:
    """Return the mean and the standard deviation of every feature, zero where only rounding varies."""
    s = np.ones(X.n_rows) if weights is None else weights
    total = float(s.sum())
    mean = X.transposed_times(s) / total
    if isinstance(X, SparseMatrix):
        squares = _sparse_squared_deviations(X, s, mean)
    else:
        squares = np.zeros(X.width)
        for which, block in row_blocks(X, mean):
            squares += s[which] @ np.square(block)
    spread = np.sqrt(np.maximum(squares, 0.0) / total)
    return mean, np.where(spread > 8 * EPS * np.abs(mean), spread, 0.0)


def _sparse_squared_deviations(X: SparseMatrix, s: Floats, mean: Floats) -> Floats:
    """Return sums of squares from the means; what is not stored is zero, and as far from them as they are."""
    held = slice(int(X.indptr[0]), int(X.indptr[-1]))
    indices, begin = X.indices[held], X.indptr - X.indptr[0]
    values = np.ones(len(indices)) if X.values is None else X.values[held]
    away = SparseMatrix(begin, indices, values - mean[indices], X.width).squared_times(s)
    seen = SparseMatrix(begin, indices, None, X.width).transposed_times(s)
    return np.asarray(away + (s.sum() - seen) * np.square(mean))
