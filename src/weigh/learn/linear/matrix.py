"""Design matrices in memory: one contract over dense and sparse rows, and dense blocks of them.

X is [n_rows, width]; row weights s are non-negative.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Protocol

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Ints, Longs, Mask
from weigh.model.parallel import available_cores
from weigh.source.sparse_rows import SparseRows

EPS = float(np.finfo(np.float64).eps)
# Rows scaled at once: few enough to stay in the cache until they are multiplied.
BLOCK_ROWS = 2048
MAX_BINARY_SAMPLE = 100  # rows that exclude most features before all rows are compared
# Measured: new pages are expensive, and products need long blocks to run at full speed.
MAX_BLOCK_ROWS = 4096
_MAX_BLOCK_CELLS = 1 << 23
# Columns of a product Xᵀ R from which a copy of X by columns pays off: it is three times as fast for twenty.
_MIN_TRANSPOSED_COLUMNS = 4


class Matrix(Protocol):
    """Products and selections that solvers need, independent of storage."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def width(self) -> int:
        """Number of features."""

    @property
    def density(self) -> float:
        """Fraction of the cells that are stored."""

    def times(self, w: Floats) -> Floats:
        """Return X w for w [width] or [width, k]."""

    def transposed_times(self, r: Floats) -> Floats:
        """Return Xᵀ r for r [n_rows] or [n_rows, k]."""

    def squared_times(self, s: Floats) -> Floats:
        """Return Σ sᵢ xᵢⱼ² for each feature j."""

    def weighted_gram(self, s: Floats | None) -> Floats:
        """Return Xᵀ diag(s) X for s ≥ 0; None means unit weights."""

    def dense_columns(self, indices: Longs) -> Floats:
        """Return columns as a dense array in Fortran order."""

    def select_features(self, mask: Mask) -> Matrix:
        """Return the features where the mask is True."""

    def select_rows(self, mask: Mask) -> Matrix:
        """Return the rows where the mask is True."""

    def slice_rows(self, start: int, stop: int) -> Matrix:
        """Return rows start to stop without copying them."""

    def absolute_transposed_times(self, r: Floats) -> Floats:
        """Return |X|ᵀ r for r [n_rows, k]."""

    def max_abs(self) -> float:
        """Return the largest absolute value."""

    def rescale(self, factor: float) -> Matrix:
        """Return factor · X."""


class DenseMatrix:
    """Design matrix stored as one array of any memory order."""

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
        """Return Σ sᵢ xᵢⱼ² for each feature j."""
        return np.asarray(np.einsum("i,ij,ij->j", s, self.array, self.array))

    def dense_columns(self, indices: Longs) -> Floats:
        """Return columns as a dense array in Fortran order."""
        return np.asarray(self.array.T[indices], order="C").T

    def weighted_gram(self, s: Floats | None) -> Floats:
        """Return Xᵀ diag(s) X for s ≥ 0; None means unit weights."""
        if s is None:
            return np.asarray(self.array.T @ self.array)
        gram = np.zeros((self.width, self.width))
        for start in range(0, self.n_rows, BLOCK_ROWS):
            block = self.array[start : start + BLOCK_ROWS]
            scaled = block * np.sqrt(s[start : start + BLOCK_ROWS, None])
            gram += scaled.T @ scaled
        return np.asarray(gram)

    def select_features(self, mask: Mask) -> DenseMatrix:
        """Return the features where the mask is True."""
        return DenseMatrix(self.array[:, mask])

    def select_rows(self, mask: Mask) -> DenseMatrix:
        """Return the rows where the mask is True."""
        return DenseMatrix(self.array[mask])

    def slice_rows(self, start: int, stop: int) -> DenseMatrix:
        """Return rows start to stop without copying them."""
        return DenseMatrix(self.array[start:stop])

    def absolute_transposed_times(self, r: Floats) -> Floats:
        """Return |X|ᵀ r for r [n_rows, k]."""
        return np.asarray(np.abs(self.array).T @ r)

    def max_abs(self) -> float:
        """Return the largest absolute value."""
        return float(max(self.array.max(initial=0.0), -self.array.min(initial=0.0)))

    def rescale(self, factor: float) -> DenseMatrix:
        """Return factor · X."""
        return DenseMatrix(self.array * factor)


class SparseMatrix:
    """Design matrix of sparse rows."""

    def __init__(self, rows: SparseRows) -> None:
        self.rows = rows
        self.n_rows, self.width = rows.shape
        self.density = len(rows.indices) / max(1, self.n_rows * self.width)

    def times(self, w: Floats) -> Floats:
        """Return X w for w [width] or [width, k]."""
        W = np.ascontiguousarray(w.reshape(self.width, math.prod(w.shape[1:])))
        out = np.empty((self.n_rows, W.shape[1]))
        _core.sparse_times(*self.rows.csr, W, available_cores(), out)
        return out.reshape(self.n_rows, *w.shape[1:])

    def transposed_times(self, r: Floats) -> Floats:
        """Return Xᵀ r for r [n_rows] or [n_rows, k]."""
        R = np.ascontiguousarray(r.reshape(self.n_rows, math.prod(r.shape[1:])))
        out = np.empty((self.width, R.shape[1]))
        if R.shape[1] >= _MIN_TRANSPOSED_COLUMNS:
            _core.sparse_times(*self._columns.csr, R, available_cores(), out)
            return out.reshape(self.width, *r.shape[1:])
        _core.sparse_transposed_times(*self.rows.csr, R, available_cores(), out)
        return out.reshape(self.width, *r.shape[1:])

    @cached_property
    def _columns(self) -> SparseRows:
        """The columns as rows. A product with them writes each row of the result once, in order."""
        return self.select_columns(np.arange(self.width))

    def squared_times(self, s: Floats) -> Floats:
        """Return Σ sᵢ xᵢⱼ² for each feature j."""
        out = np.empty(self.width)
        _core.sparse_squared_times(*self.rows.csr, s, available_cores(), out)
        return out

    def weighted_gram(self, s: Floats | None) -> Floats:
        """Return Xᵀ diag(s) X for s ≥ 0; None means unit weights."""
        out = np.empty((self.width, self.width))
        every = np.arange(self.width, dtype=np.int32)
        _core.sparse_weighted_gram(*self.rows.csr, every, s, available_cores(), out)
        return out

    def select_columns(self, indices: Longs) -> SparseRows:
        """Return columns as the rows of a matrix [columns, n_rows]."""
        positions = position_lookup(indices, self.width)
        csr = _core.sparse_select_columns(*self.rows.csr, positions, len(indices), available_cores())
        return SparseRows(*csr, self.n_rows)

    def dense_columns(self, indices: Longs) -> Floats:
        """Return columns as a dense array in Fortran order."""
        return self.select_columns(indices).to_dense().T

    def select_features(self, mask: Mask) -> SparseMatrix:
        """Return the features where the mask is True."""
        if not mask.any():
            return SparseMatrix(
                SparseRows(np.zeros(self.n_rows + 1, np.int64), np.empty(0, np.int32), None, 0)
            )
        return SparseMatrix(self.select_columns(np.flatnonzero(mask)).transpose())

    def select_rows(self, mask: Mask) -> SparseMatrix:
        """Return the rows where the mask is True."""
        return SparseMatrix(self.rows.select(mask))

    def slice_rows(self, start: int, stop: int) -> SparseMatrix:
        """Return rows start to stop without copying them."""
        return SparseMatrix(self.rows.slice(start, stop))

    def absolute_transposed_times(self, r: Floats) -> Floats:
        """Return |X|ᵀ r for r [n_rows, k]."""
        values = None if self.rows.values is None else np.abs(self.rows.values)
        return SparseMatrix(replace(self.rows, values=values)).transposed_times(r)

    def max_abs(self) -> float:
        """Return the largest absolute value."""
        values = self.rows.values
        return 1.0 if values is None else float(max(values.max(initial=0.0), -values.min(initial=0.0)))

    def rescale(self, factor: float) -> SparseMatrix:
        """Return factor · X."""
        return SparseMatrix(replace(self.rows, values=self.rows.entry_values() * factor))


def position_lookup(indices: Longs, width: int) -> Ints:
    """Return the position of each feature in `indices`, −1 if it is absent."""
    positions = np.full(width, -1, np.int32)
    positions[indices] = np.arange(len(indices), dtype=np.int32)
    return positions


class InterceptMatrix:
    """Design matrix [X, 1]: the weight of the last column is the intercept."""

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
        """Return Σ sᵢ xᵢⱼ² for each feature j."""
        return np.append(self.X.squared_times(s), s.sum())

    def weighted_gram(self, s: Floats | None) -> Floats:
        """Return Xᵀ diag(s) X for s ≥ 0; None means unit weights."""
        weights = np.ones(self.n_rows) if s is None else s
        gram = np.empty((self.width, self.width))
        gram[:-1, :-1] = self.X.weighted_gram(s)
        gram[-1, :-1] = gram[:-1, -1] = transposed_times_in_blocks(self.X, weights)
        gram[-1, -1] = weights.sum()
        return gram

    def dense_columns(self, indices: Longs) -> Floats:
        """Return columns as a dense array in Fortran order."""
        out = np.ones((len(indices), self.n_rows))
        is_feature = indices < self.X.width
        out[is_feature] = self.X.dense_columns(indices[is_feature]).T
        return out.T

    def select_features(self, mask: Mask) -> Matrix:
        """Return the features where the mask is True."""
        features = self.X.select_features(mask[:-1])
        return InterceptMatrix(features) if mask[-1] else features

    def select_rows(self, mask: Mask) -> InterceptMatrix:
        """Return the rows where the mask is True."""
        return InterceptMatrix(self.X.select_rows(mask))

    def slice_rows(self, start: int, stop: int) -> InterceptMatrix:
        """Return rows start to stop without copying them."""
        return InterceptMatrix(self.X.slice_rows(start, stop))

    def absolute_transposed_times(self, r: Floats) -> Floats:
        """Return |X|ᵀ r for r [n_rows, k]."""
        return np.concatenate([self.X.absolute_transposed_times(r), r.sum(axis=0)[None]])

    def max_abs(self) -> float:
        """Return the largest absolute value."""
        return max(1.0, self.X.max_abs())

    def rescale(self, factor: float) -> InterceptMatrix:
        """Return the matrix with all columns but the ones multiplied by the factor."""
        return InterceptMatrix(self.X.rescale(factor))


def transposed_times_in_blocks(X: Matrix, r: Floats) -> Floats:
    """Return Xᵀ r; dense rows in blocks, so that sums of many rows have small bounds on their errors."""
    if not isinstance(X, DenseMatrix):
        return X.transposed_times(r)
    blocks = range(0, X.n_rows, BLOCK_ROWS)
    products = (X.array[i : i + BLOCK_ROWS].T @ r[i : i + BLOCK_ROWS] for i in blocks)
    return np.asarray(sum(products, np.zeros((X.width, *r.shape[1:]))))


def row_blocks(
    X: Matrix, shift: Floats | None = None, root: Floats | None = None
) -> Iterator[tuple[slice, Floats]]:
    """Yield slices of rows with dense blocks rootᵢ (xᵢ − shift), in one buffer that is overwritten.

    A dense matrix that is neither shifted nor weighted comes as one view, without a copy.
    """
    if isinstance(X, DenseMatrix) and shift is None and root is None:
        yield slice(0, X.n_rows), X.array
        return
    size = max(1, min(MAX_BLOCK_ROWS, X.n_rows, _MAX_BLOCK_CELLS // max(1, X.width)))
    # The buffer has the memory order of X: copying across the order costs more than the product.
    is_fortran = isinstance(X, DenseMatrix) and X.array.flags.f_contiguous
    buffer = np.empty((size, X.width), order="F" if is_fortran else "C")
    for start in range(0, X.n_rows, size):
        rows = slice(start, min(start + size, X.n_rows))
        block = buffer[: rows.stop - start]
        _fill_dense(X, rows, shift, block)
        if root is not None:
            block *= root[rows, None]
        yield rows, block


def sample_rows(X: Matrix, n_pieces: int = 16, size: int = 32) -> Floats:
    """Return short runs of consecutive rows from all over the matrix, dense, for rough estimates."""
    starts = range(0, X.n_rows, max(size, X.n_rows // n_pieces))
    pieces = [slice(start, min(start + size, X.n_rows)) for start in starts]
    out = np.empty((sum(piece.stop - piece.start for piece in pieces), X.width))
    filled = 0
    for piece in pieces:
        length = piece.stop - piece.start
        _fill_dense(X, piece, None, out[filled : filled + length])
        filled += length
    return out


def to_dense(X: Matrix, shift: Floats | None = None, root: Floats | None = None) -> Floats:
    """Return rootᵢ (xᵢ − shift) for all rows as a new array."""
    out = np.empty((X.n_rows, X.width))
    _fill_dense(X, slice(0, X.n_rows), shift, out)
    if root is not None:
        out *= root[:, None]
    return out


def _fill_dense(X: Matrix, rows: slice, shift: Floats | None, out: Floats) -> None:
    if isinstance(X, DenseMatrix):
        if shift is None:
            out[:] = X.array[rows]
        else:
            np.subtract(X.array[rows], shift, out=out)
        return
    if not isinstance(X, SparseMatrix):
        raise TypeError(f"{type(X).__name__} cannot be converted to dense rows")
    part = X.rows.slice(rows.start, rows.stop)
    out[:] = 0.0 if shift is None else -shift
    out[part.entry_rows(), part.indices] += 1.0 if part.values is None else part.values


def column_means_and_stds(X: Matrix, weights: Floats | None) -> tuple[Floats, Floats]:
    """Return the mean and standard deviation of each feature; the latter is zero if only rounding varies."""
    s = np.ones(X.n_rows) if weights is None else weights
    total = float(s.sum())
    mean = X.transposed_times(s) / total
    if isinstance(X, SparseMatrix):
        squares = _sparse_squared_deviations(X, s, mean)
    else:
        squares = np.zeros(X.width)
        for rows, block in row_blocks(X, mean):
            squares += s[rows] @ np.square(block)
    std = np.sqrt(np.maximum(squares, 0.0) / total)
    return mean, np.where(std > 8 * EPS * np.abs(mean), std, 0.0)


def binary_features(X: Matrix) -> Mask:
    """Return which features are 0 or 1 in all rows."""
    if isinstance(X, SparseMatrix):
        values = X.rows.entry_values()
        is_other = (values != 0) & (values != 1)
        return np.asarray(np.bincount(X.rows.indices, is_other, minlength=X.width) == 0)
    sample = X.slice_rows(0, MAX_BINARY_SAMPLE).dense_columns(np.arange(X.width))
    is_binary = ((sample == 0) | (sample == 1)).all(axis=0)
    for j in np.flatnonzero(is_binary).tolist():
        column = X.dense_columns(np.array([j]))
        is_binary[j] = ((column == 0) | (column == 1)).all()
    return np.asarray(is_binary)


def _sparse_squared_deviations(X: SparseMatrix, s: Floats, mean: Floats) -> Floats:
    """Return Σ sᵢ (xᵢⱼ − mⱼ)²; each entry that is not stored is zero and adds sᵢ mⱼ²."""
    deviations = X.rows.entry_values() - mean[X.rows.indices]
    stored = SparseMatrix(replace(X.rows, values=deviations)).squared_times(s)
    stored_weight = SparseMatrix(replace(X.rows, values=None)).transposed_times(s)
    return np.asarray(stored + (s.sum() - stored_weight) * np.square(mean))
