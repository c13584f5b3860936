"""Rows of features in memory, dense or sparse, behind one contract."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Ints, Longs, Mask


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

    def columns(self, which: Longs) -> Floats:
        """Return some features with all their zeros, each contiguous: an array in Fortran's order."""

    def rows(self, kept: Mask) -> Matrix:
        """Return some of the rows."""


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

    def rows(self, kept: Mask) -> DenseMatrix:
        """Return some of the rows."""
        return DenseMatrix(self.array[kept])


class SparseMatrix:
    """Rows in compressed form, features rising within a row; values None means one each."""

    def __init__(self, indptr: Longs, indices: Ints, values: Floats | None, width: int) -> None:
        self.indptr, self.indices, self.values = indptr, indices, values
        self.n_rows, self.width = len(indptr) - 1, width
        self.density = len(indices) / max(1, self.n_rows * width)

    def times(self, w: Floats) -> Floats:
        """Return X w for w [width] or [width, k]."""
        table = np.ascontiguousarray(w.reshape(self.width, -1))
        out = np.zeros((self.n_rows, table.shape[1]))
        _core.score_sparse(self.indptr, self.indices, self.values, table, out)
        return out.reshape(self.n_rows, *w.shape[1:])
