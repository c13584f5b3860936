"""The base class of sources in memory; sparse matrices and 2-D NumPy arrays, read without copying."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.errors import DataError, LabelError
from weigh.source.base import CHUNK_ROWS, ChunkReader, ColumnKinds, Source, check_chunk_size
from weigh.source.chunk import Chunk, Column, MatrixColumns
from weigh.source.memory.columns import LazyColumn, base_type_names
from weigh.source.memory.conversion import check_array_shape
from weigh.source.missing import Marker, MarkerReplacer
from weigh.source.sparse_rows import SparseRows
from weigh.source.values import exceeds_int64

MAX_COLUMNS = 2**31 - 1  # column indices are 32-bit integers


def is_sparse(data: object) -> bool:
    """Whether data is a scipy.sparse matrix or array, without importing scipy."""
    return hasattr(data, "tocsr") and any(name.startswith("scipy.") for name in base_type_names(data))


class MemorySource(Source):
    """Rows in memory, so their number is known; subclasses convert any range of them."""

    n_rows: int

    @abstractmethod
    def read_rows(self, start: int, stop: int, kinds: ColumnKinds | None) -> Chunk:
        """Return rows start to stop; may be called in any thread."""

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Yield readers of all rows from the start, at most `size` rows each."""
        return ChunkReader.split(self.n_rows, check_chunk_size(size), self.read_rows, kinds)


class SparseMatrixSource(MemorySource):
    """A scipy.sparse matrix of any format, read as canonical CSR with float64 or int64 values."""

    names: tuple[str, ...] = ()
    named = False
    label = None

    def __init__(
        self, data: Any, labels: LazyColumn | None = None, weights: NDArray[np.float64] | None = None
    ) -> None:
        self._rows = to_sparse_rows(data)
        self._labels = labels
        self._weights = weights
        self.n_rows: int = self._rows.n_rows
        self.n_entries = len(self._rows.indices)
        self.width: int = self._rows.width

    def read_rows(self, start: int, stop: int, kinds: ColumnKinds | None) -> Chunk:
        """Return rows start to stop; `kinds` refer to named columns."""
        return Chunk(
            {},
            stop - start,
            sparse=self._rows.slice(start, stop),
            labels=None if self._labels is None else self._labels.read(start, stop),
            weights=None if self._weights is None else self._weights[start:stop],
            first_row=start,
        )

    def with_label(self, name: str) -> Source:
        """Raise LabelError: a sparse matrix has no named columns."""
        raise no_column_names_error(name)


def to_sparse_rows(data: Any) -> SparseRows:
    """Return rows of float64 or int64, sorted and with duplicates summed; the input is not modified."""
    check_array_shape(data.shape)
    if data.shape[1] > MAX_COLUMNS:
        raise DataError(
            f"The sparse matrix has {data.shape[1]:,} columns; at most {MAX_COLUMNS:,} are supported. "
            f"Hash them into fewer."
        )
    # Imported here because most data are not sparse.
    from weigh.source.memory.sparse_layout import to_csr

    matrix = to_csr(data)
    kind = matrix.dtype.kind
    if kind == "c":
        raise DataError("Complex data not supported: the matrix holds complex numbers.")
    if kind not in "biuf":
        raise DataError(f"The sparse matrix holds values of type {matrix.dtype}. Convert them to numbers.")
    dtype = np.float64 if kind == "f" or exceeds_int64(matrix.data) else np.int64
    if matrix.dtype != dtype:
        matrix = matrix.astype(dtype)
    if not matrix.has_canonical_format:
        matrix = matrix.copy() if matrix is data else matrix
        matrix.sum_duplicates()
    return SparseRows.from_scipy(matrix)


def no_column_names_error(name: str) -> LabelError:
    """Return the error for a label given by name in data without column names."""
    return LabelError(
        f"The label was given as the column name {name!r}, but a bare array has no column names. "
        f"Give the labels themselves, or a table with named columns."
    )


def is_numeric_matrix(data: Any) -> bool:
    """Whether data is a 2-D array of numbers that can be read in place."""
    return (
        type(data) is np.ndarray
        and data.ndim == 2
        and data.dtype.kind in "biuf"
        and data.dtype.isnative
        and data.dtype.itemsize <= 8
        and data.flags.aligned
        and all(stride % data.itemsize == 0 for stride in data.strides)
    )


class DenseMatrixSource(MemorySource):
    """A 2-D array, read as views; its columns are called x0, x1, ..."""

    named = False
    label = None

    def __init__(
        self, data: NDArray[Any], labels: LazyColumn | None = None, weights: NDArray[np.float64] | None = None
    ) -> None:
        self._matrix, self._labels, self._weights = data, labels, weights
        self.n_rows: int = data.shape[0]
        self.width: int = data.shape[1]
        self.names = tuple(f"x{j}" for j in range(self.width))

    def read_rows(self, start: int, stop: int, kinds: ColumnKinds | None) -> Chunk:
        """Return rows start to stop; `kinds` refer to named columns."""
        return Chunk(
            self._columns(start, stop),
            stop - start,
            labels=None if self._labels is None else self._labels.read(start, stop),
            weights=None if self._weights is None else self._weights[start:stop],
            first_row=start,
        )

    def _columns(self, start: int, stop: int) -> Mapping[str, Column]:
        columns = MatrixColumns(self._matrix[start:stop], self.names)
        if not self.missing:
            return columns
        markers = MarkerReplacer(self.missing)
        return {name: markers.apply(column) for name, column in columns.items()}

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        source = copy.copy(self)
        source.missing = missing
        return source

    def with_label(self, name: str) -> Source:
        """Raise LabelError: a bare array has no named columns."""
        raise no_column_names_error(name)
