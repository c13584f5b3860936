"""A chunk: some consecutive rows, held by column."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

# A NumPy array (any strides; objects are plain Python values), a `Coded`, `Texts` or `Lists` column,
# or a pyarrow.Array. A union would oblige every reader to import pyarrow in order to narrow it;
# `is_arrow` tells.
Column: TypeAlias = Any

# A scipy.sparse matrix or array in canonical CSR form; scipy may be absent.
CSR: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class DictionaryColumn:
    """A column of repeated values: row i holds values[codes[i]], and -1 is missing.

    The values are distinct; some may occur in none of the rows.
    """

    codes: NDArray[np.int32]
    values: list[Any]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: slice) -> DictionaryColumn:
        return DictionaryColumn(self.codes[rows], self.values)

    def to_pylist(self) -> list[Any]:
        """The value of every row, None where it is missing."""
        values = [*self.values, None]
        return [values[code] for code in self.codes.tolist()]


@dataclass(frozen=True, eq=False)
class TextColumn:
    """A column of texts as bytes of UTF-8 that lie where they were read.

    Row i is data[begins[i] : begins[i] + sizes[i]]; a size of -1 is missing. A text that could not
    stay where it was (its quotes were doubled, say) is in `spilled`, at the place ~begins[i].
    """

    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    data: NDArray[np.uint8]
    overflow: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, dtype=np.uint8))

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, rows: slice) -> TextColumn:
        return TextColumn(self.starts[rows], self.sizes[rows], self.data, self.overflow)

    def to_pylist(self) -> list[Any]:
        """The text of every row, None where it is missing."""
        return [self._text(*place) for place in zip(self.starts.tolist(), self.sizes.tolist(), strict=True)]

    def _text(self, begin: int, size: int) -> str | None:
        if size < 0:
            return None
        held = self.data[begin : begin + size] if begin >= 0 else self.overflow[~begin : ~begin + size]
        # Half a surrogate pair is no UTF-8, but text that was read elsewhere may hold one.
        return held.tobytes().decode("utf-8", "surrogatepass")


@dataclass(frozen=True, eq=False)
class ListColumn:
    """A column of lists of names: row i holds names indptr[i] to indptr[i + 1], each once or `values` times.

    Rows that `known` denies are missing; None knows them all.
    """

    indptr: NDArray[np.int64]
    names: TextColumn
    values: NDArray[np.float64] | None = None
    known: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, rows: slice) -> ListColumn:
        start, stop, _ = rows.indices(len(self))
        known = None if self.known is None else self.known[start:stop]
        return ListColumn(self.indptr[start : max(start, stop) + 1], self.names, self.values, known)

    def to_pylist(self) -> list[Any]:
        """Every row's names as a list, or as a dict to their values where they have some; None is missing."""
        names = self.names.to_pylist()
        rows: list[Any] = []
        for i, (start, stop) in enumerate(itertools.pairwise(self.indptr.tolist())):
            if self.known is not None and not self.known[i]:
                rows.append(None)
            elif self.values is None:
                rows.append(names[start:stop])
            else:
                rows.append(_sum_by_name(names[start:stop], self.values[start:stop].tolist()))
        return rows


def _sum_by_name(names: list[str], values: list[float]) -> dict[str, float]:
    total: dict[str, float] = {}
    for name, value in zip(names, values, strict=True):
        total[name] = total.get(name, 0.0) + value
    return total


def is_arrow(column: Column) -> bool:
    """Tell an Arrow array from a NumPy array without importing pyarrow."""
    return hasattr(column, "dictionary_encode")


def to_pylist(column: Column) -> list[Any]:
    """The rows of any column as Python values."""
    values: list[Any] = column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()
    return values


def slice_column(column: Column, start: int, stop: int) -> Column:
    """Rows start to stop of a column, without copying."""
    if is_arrow(column):
        return column.slice(start, stop - start)
    return column[start:stop]


def slice_csr(wide: CSR, start: int, stop: int) -> CSR:
    """Rows start to stop of a CSR matrix; values and column numbers are views."""
    first, last = int(wide.indptr[start]), int(wide.indptr[stop])
    piece = type(wide)((stop - start, wide.shape[1]), dtype=wide.dtype)
    # Set one by one: the constructor would copy views of a larger array.
    piece.data = wide.data[first:last]
    piece.indices = wide.indices[first:last]
    piece.indptr = wide.indptr[start : stop + 1] - first
    # Rows of a canonical matrix are canonical; saying so spares a pass over them.
    piece.has_canonical_format = True
    return piece


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive rows: named columns or one wide sparse matrix, with labels and weights.

    Every column, `labels` and `weights` have `n_rows` entries. A wide chunk has no `columns`: the
    columns of `wide` are called x0, x1, ... by whoever needs their names. `first_row` is the number
    of rows before this chunk in its source, for messages.
    """

    columns: Mapping[str, Column]
    n_rows: int
    sparse: CSR | None = field(default=None, kw_only=True)
    labels: Column | None = field(default=None, kw_only=True)
    weights: NDArray[np.float64] | None = field(default=None, kw_only=True)
    first_row: int = field(default=0, kw_only=True)

    def slice(self, start: int, stop: int) -> Chunk:
        """Rows start to stop of this chunk, as views; bounds are cut to the chunk's own."""
        start = min(max(start, 0), self.n_rows)
        stop = min(max(stop, start), self.n_rows)
        labels, weights, wide = self.labels, self.weights, self.sparse
        return Chunk(
            self._slice_columns(start, stop),
            stop - start,
            sparse=None if wide is None else slice_csr(wide, start, stop),
            labels=None if labels is None else slice_column(labels, start, stop),
            weights=None if weights is None else weights[start:stop],
            first_row=self.first_row + start,
        )

    def _slice_columns(self, start: int, stop: int) -> Mapping[str, Column]:
        if isinstance(self.columns, MatrixColumns):
            return self.columns.slice_rows(start, stop)
        return {name: slice_column(column, start, stop) for name, column in self.columns.items()}


class MatrixColumns(Mapping[str, Any]):
    """Views of a matrix's columns, under names in their order."""

    def __init__(self, matrix: NDArray[Any], names: Sequence[str]) -> None:
        self.matrix, self.names = matrix, names

    @cached_property
    def _indices(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.names)}

    def __getitem__(self, name: str) -> Any:
        return self.matrix[:, self._indices[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def rename(self, names: Sequence[str]) -> MatrixColumns:
        """Return the same columns under other names."""
        return MatrixColumns(self.matrix, names)

    def slice_rows(self, start: int, stop: int) -> MatrixColumns:
        """Return some consecutive rows."""
        return MatrixColumns(self.matrix[start:stop], self.names)


def rename_columns(columns: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any]:
    """Return columns under other names, in their order."""
    if isinstance(columns, MatrixColumns):
        return columns.rename(names)
    return dict(zip(names, columns.values(), strict=True))


class SparseRows:
    """Rows in canonical CSR form, with the attributes that scipy's matrices have."""

    has_canonical_format = True

    def __init__(self, shape: tuple[int, int], dtype: DTypeLike = np.float64) -> None:
        self.shape = shape
        self.data: NDArray[Any] = np.empty(0, dtype=dtype)
        self.indices: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self.indptr: NDArray[np.int64] = np.zeros(shape[0] + 1, dtype=np.int64)

    @classmethod
    def from_arrays(
        cls,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        data: NDArray[np.float64],
        width: int,
    ) -> SparseRows:
        """Take over the parts; indices rise within each row."""
        rows = cls((len(indptr) - 1, width), dtype=data.dtype)
        rows.data, rows.indices, rows.indptr = data, indices, indptr
        return rows

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self.data.dtype

    def toarray(self) -> NDArray[Any]:
        """The rows with all their zeros."""
        dense = np.zeros(self.shape, dtype=self.dtype)
        dense[np.repeat(np.arange(self.shape[0]), np.diff(self.indptr)), self.indices] = self.data
        return dense

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("Sparse rows become an array by a copy only.")
        return self.toarray().astype(dtype or self.dtype, copy=False)
