"""Rows of a sparse matrix, from the chunks of a source to the matrix of a solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh import _core


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of a matrix [n_rows, width] in compressed sparse row form (CSR).

    Row i has the values `values[indptr[i]:indptr[i + 1]]` in the columns `indices[indptr[i]:indptr[i + 1]]`;
    all others are zero. `values` None means that every entry is 1. `indptr` begins
    with 0 and ends with the number of entries. Indices and values may be views of the arrays of other rows.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[Any] | None
    width: int

    @classmethod
    def from_scipy(cls, matrix: Any) -> SparseRows:
        """Wrap a scipy.sparse matrix in canonical CSR form; its values are not copied."""
        indptr = matrix.indptr.astype(np.int64, copy=False)
        n_entries = int(indptr[-1])
        indices = matrix.indices[:n_entries].astype(np.int32, copy=False)
        return cls(indptr, indices, matrix.data[:n_entries], matrix.shape[1])

    @classmethod
    def from_dense(cls, mask: NDArray[np.bool_], values: NDArray[Any] | None = None) -> SparseRows:
        """Return the cells of a dense matrix where the mask is True, with their values or as ones."""
        indices = np.nonzero(mask)[1].astype(np.int32)
        values = None if values is None else values[mask]
        return cls(_starts(mask.sum(axis=1)), indices, values, mask.shape[1])

    @classmethod
    def concatenate(cls, parts: Sequence[SparseRows], width: int) -> SparseRows:
        """Return the rows of all parts; views of consecutive rows of one matrix are not copied."""
        indptr = _starts(np.concatenate([np.diff(part.indptr) for part in parts]))
        values = None
        if any(part.values is not None for part in parts):
            values = concatenate_views([part.entry_values() for part in parts])
        return cls(indptr, concatenate_views([part.indices for part in parts]), values, width)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.indptr) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and the width."""
        return self.n_rows, self.width

    @property
    def csr(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any] | None]:
        """The three arrays, in the order in which native routines take them."""
        return self.indptr, self.indices, self.values

    def entry_rows(self) -> NDArray[np.int64]:
        """Return the row of each entry."""
        return np.repeat(np.arange(self.n_rows), np.diff(self.indptr))

    def entry_values(self) -> NDArray[Any]:
        """Return the value of each entry, also where only ones are implied."""
        return np.ones(len(self.indices)) if self.values is None else self.values

    def sum_by_row(self, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums over the entries of each row; there is one amount per entry."""
        return np.bincount(self.entry_rows(), amounts, minlength=self.n_rows).astype(np.float64, copy=False)

    def sum_by_column(self, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums over the entries of each column; there is one amount per entry."""
        return np.bincount(self.indices, amounts, minlength=self.width).astype(np.float64, copy=False)

    def slice(self, start: int, stop: int) -> SparseRows:
        """Return rows start to stop; indices and values are views."""
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        return self._take(self.indptr[start : stop + 1] - first, slice(first, last))

    def select(self, rows: NDArray[np.bool_] | NDArray[np.integer[Any]]) -> SparseRows:
        """Return the rows where a mask is True, or those with the given indices, in their order."""
        sizes = np.diff(self.indptr)
        indptr = _starts(sizes[rows])
        if rows.dtype == np.bool_:  # a mask of the entries is faster than their indices
            return self._take(indptr, np.repeat(rows, sizes))
        # An entry keeps its offset from the start of its row.
        entries = np.repeat(self.indptr[rows] - indptr[:-1], sizes[rows]) + np.arange(indptr[-1])
        return self._take(indptr, entries)

    def select_entries(self, mask: NDArray[np.bool_]) -> SparseRows:
        """Return all rows with only those entries where the mask is True."""
        return self._take(np.searchsorted(np.flatnonzero(mask), self.indptr), mask)

    def _take(self, indptr: NDArray[np.int64], entries: Any) -> SparseRows:
        values = None if self.values is None else self.values[entries]
        return SparseRows(indptr, self.indices[entries], values, self.width)

    def renumber(self, columns: NDArray[np.int32], width: int) -> SparseRows:
        """Return the rows with column j as `columns[j]`; entries of columns numbered -1 are dropped."""
        indices = columns[self.indices] if len(columns) else self.indices
        renumbered = SparseRows(self.indptr, indices, self.values, width)
        return renumbered.select_entries(indices >= 0)

    def transpose(self) -> SparseRows:
        """Return the columns as rows."""
        order = np.argsort(self.indices, kind="stable")
        indptr = _starts(np.bincount(self.indices, minlength=self.width))
        values = None if self.values is None else self.values[order]
        return SparseRows(indptr, self.entry_rows()[order].astype(np.int32), values, self.n_rows)

    def to_dense(self) -> NDArray[Any]:
        """Return the matrix [n_rows, width] including zeros; a row must not repeat a column."""
        dense = np.zeros(self.shape, dtype=np.float64 if self.values is None else self.values.dtype)
        dense[self.entry_rows(), self.indices] = 1 if self.values is None else self.values
        return dense

    def add_product(self, table: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Add the product with a table [width, k] to `out` [n_rows, k], entry by entry in their order."""
        _core.score_sparse(*self.csr, np.ascontiguousarray(table), out)


def _starts(sizes: NDArray[Any]) -> NDArray[np.int64]:
    """Return 0 and the cumulative sums."""
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def concatenate_views(pieces: Sequence[Any]) -> Any:
    """Return the pieces as one array, without a copy if they are consecutive rows of one array."""
    pieces = [piece for piece in pieces if len(piece)] or pieces[:1]  # an empty view may have any address
    first = pieces[0]
    if len(pieces) == 1:
        return first
    address = _data_address(first)
    for piece in pieces:
        has_same_layout = piece.dtype == first.dtype and piece.strides == first.strides
        # Without a common owner nothing would keep the memory of the later pieces alive.
        has_same_owner = _memory_owner(piece) is _memory_owner(first)
        if not (has_same_layout and _data_address(piece) == address and has_same_owner):
            return np.concatenate(pieces)
        address += len(piece) * piece.strides[0]
    shape = (sum(map(len, pieces)), *first.shape[1:])
    return np.lib.stride_tricks.as_strided(first, shape, first.strides, writeable=False)


def _memory_owner(array: Any) -> Any:
    """Return the object that owns the memory of an array."""
    while getattr(array, "base", None) is not None:
        array = array.base
    return array


def _data_address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])
