"""A chunk of consecutive rows in columnar form, and the column types it may hold."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weigh.advice import set_kind
from weigh.errors import ColumnError, DataError
from weigh.source.cells import CellCounts
from weigh.source.sparse_rows import SparseRows

# A NumPy array (any strides; objects are plain Python values), a `DictionaryColumn`, `TextColumn` or
# `ListColumn`, or a pyarrow.Array. Narrowing a union would require importing pyarrow; use `is_arrow`.
Column: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class DictionaryColumn:
    """A dictionary-encoded column: row i is values[codes[i]], and code -1 is missing.

    The values are distinct; some may be unused unless `uses_all_values`. `integers` are the same values as an
    array, if the source has one.
    """

    codes: NDArray[np.int32]
    values: list[Any]
    integers: NDArray[np.int64] | None = None
    uses_all_values: bool = False

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: slice | NDArray[np.bool_]) -> DictionaryColumn:
        return DictionaryColumn(self.codes[rows], self.values, self.integers)

    @cached_property
    def types(self) -> frozenset[type]:
        """The types of the values."""
        return frozenset(map(type, self.values) if self.integers is None else {int})

    def to_pylist(self) -> list[Any]:
        """Return the value of every row, None if missing."""
        values = self.values
        return [None if code < 0 else values[code] for code in self.codes.tolist()]


@dataclass(frozen=True, eq=False)
class TextColumn:
    """A column of UTF-8 texts as spans of the buffer they were read into.

    Row i is data[starts[i] : starts[i] + sizes[i]]; a size of -1 is missing. A text that differs from the
    buffer, for example because its quotes were doubled, is in `overflow` at offset ~starts[i].
    """

    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    data: NDArray[np.uint8]
    overflow: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, dtype=np.uint8))

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, rows: slice | NDArray[Any]) -> TextColumn:
        return TextColumn(self.starts[rows], self.sizes[rows], self.data, self.overflow)

    @property
    def nbytes(self) -> int:
        """The size of the spans and their texts."""
        return self.starts.nbytes + self.sizes.nbytes + int(self.sizes.clip(0).sum())

    def to_pylist(self) -> list[Any]:
        """Return the text of every row, None if missing."""
        return [self._text(*span) for span in zip(self.starts.tolist(), self.sizes.tolist(), strict=True)]

    def _text(self, start: int, size: int) -> str | None:
        if size < 0:
            return None
        span = self.data[start : start + size] if start >= 0 else self.overflow[~start : ~start + size]
        # Text from other encodings may contain lone surrogates, which UTF-8 does not allow.
        return span.tobytes().decode("utf-8", "surrogatepass")


@dataclass(frozen=True, eq=False)
class ListColumn:
    """A column of lists of names: row i is names[indptr[i] : indptr[i + 1]], optionally with `values`.

    Rows where `known` is False are missing; None means that no row is missing.
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

    def select(self, keep: NDArray[np.bool_]) -> ListColumn:
        """Return the rows where `keep` is True."""
        sizes = np.diff(self.indptr)
        is_kept = np.repeat(keep, sizes)
        entries = np.flatnonzero(is_kept) + int(self.indptr[0])
        return ListColumn(
            np.concatenate([[0], np.cumsum(sizes[keep])]).astype(np.int64),
            self.names[entries],
            None if self.values is None else self.values[entries],
            None if self.known is None else self.known[keep],
        )

    def to_pylist(self) -> list[Any]:
        """Return each row as a list of names, or as a dict of names to values; None if missing."""
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
    """Whether a column is an Arrow array, without importing pyarrow."""
    return hasattr(column, "dictionary_encode")


def is_text(column: Column) -> bool:
    """Whether a column of a file was read as text."""
    if isinstance(column, DictionaryColumn):
        return isinstance(next(iter(column.values), None), str)
    return isinstance(column, TextColumn) or (is_arrow(column) and "string" in str(column.type))


def to_pylist(column: Column, name: str = "") -> list[Any]:
    """Return the rows of any column as Python values; the name is for messages."""
    with utf8_errors(name):
        values: list[Any] = column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()
    return values


def arrow_to_numpy(column: Any, name: str = "") -> NDArray[Any]:
    """Return the rows of an Arrow array as a NumPy array, strings as Python objects."""
    import pyarrow as pa

    try:
        return np.asarray(column.to_numpy(zero_copy_only=False))
    except pa.ArrowException:
        # Text that is not UTF-8, or a type that Arrow does not convert as a whole.
        return np.fromiter(to_pylist(column, name), dtype=object, count=len(column))


@contextmanager
def utf8_errors(name: str) -> Iterator[None]:
    """Raise ColumnError, or DataError if there is no name, for Arrow strings that are not valid UTF-8."""
    try:
        yield
    except UnicodeDecodeError as cause:
        problem = f"bytes that are not valid UTF-8: {cause.object[:40]!r}."
        if not name:
            raise DataError(f"The data contain {problem}", hint="Decode them with their encoding.") from None
        raise ColumnError(
            f"Column {name!r} contains {problem}",
            hint=(
                "Decode them with their encoding, or use ",
                set_kind(name, "text"),
                ", where invalid bytes separate words.",
            ),
        ) from None


def slice_column(column: Column, start: int, stop: int) -> Column:
    """Return rows start to stop of a column without copying."""
    if is_arrow(column):
        return column.slice(start, stop - start)
    return column[start:stop]


def select_rows(column: Column, keep: NDArray[np.bool_]) -> Column:
    """Return the rows of a column where `keep` is True."""
    if is_arrow(column):
        import pyarrow as pa

        return column.filter(pa.array(keep))
    return column.select(keep) if isinstance(column, ListColumn) else column[keep]


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive rows: named columns or one sparse matrix, with labels and weights.

    Every column, `labels` and `weights` have `n_rows` entries. A sparse chunk has no `columns`; the columns
    of its matrix are called x0, x1, ... where names are needed. `first_row` is the number of rows before
    this chunk in its source, for messages; `row_numbers` are those of all rows if some were left out.
    `cell_counts` are those of number columns that a file parsed, if any of their cells are missing or odd.
    `file` is the name of one of several files and the number of rows before it.
    `encoded` is a schema with its blocks of these rows, for rows that are used more than once.
    `unreadable` are columns that the first rows of a source leave out, with the reasons: they may be skipped.
    """

    columns: Mapping[str, Column]
    n_rows: int
    sparse: SparseRows | None = field(default=None, kw_only=True)
    labels: Column | None = field(default=None, kw_only=True)
    weights: NDArray[np.float64] | None = field(default=None, kw_only=True)
    first_row: int = field(default=0, kw_only=True)
    row_numbers: NDArray[np.int64] | None = field(default=None, kw_only=True)
    cell_counts: Mapping[str, CellCounts] = field(default_factory=dict, kw_only=True)
    file: tuple[str, int] | None = field(default=None, kw_only=True)
    encoded: tuple[Any, Any] | None = field(default=None, kw_only=True)
    unreadable: Mapping[str, Exception] = field(default_factory=dict, kw_only=True)

    def row_number(self, i: int) -> int:
        """Return the number of row i in the source."""
        return self.first_row + i if self.row_numbers is None else int(self.row_numbers[i])

    def list_row_numbers(self) -> NDArray[np.int64]:
        """Return the numbers of all rows in the source."""
        return np.arange(self.n_rows) + self.first_row if self.row_numbers is None else self.row_numbers

    def in_file(self, name: str, n_rows_before: int) -> Chunk:
        """Return the rows of one of several files, as those of a table with the rows of all."""
        return replace(
            self,
            first_row=n_rows_before + self.first_row,
            row_numbers=None if self.row_numbers is None else n_rows_before + self.row_numbers,
            cell_counts={
                column: counts.in_file(name, n_rows_before) for column, counts in self.cell_counts.items()
            },
            file=(name, n_rows_before),
        )

    def select(self, keep: NDArray[np.bool_]) -> Chunk:
        """Return the rows where `keep` is True, which keep their numbers."""
        numbers, columns = self.list_row_numbers()[keep], self._select_columns(keep)
        labels, weights, sparse = self.labels, self.weights, self.sparse
        return replace(
            self,
            columns=columns,
            n_rows=int(keep.sum()),
            sparse=None if sparse is None else sparse.select(keep),
            labels=None if labels is None else select_rows(labels, keep),
            weights=None if weights is None else weights[keep],
            row_numbers=numbers,
            cell_counts=self._select_counts(numbers, columns),
            encoded=None,
        )

    def slice(self, start: int, stop: int) -> Chunk:
        """Return rows start to stop as views; bounds are clipped to the chunk, and all rows are itself."""
        start = min(max(start, 0), self.n_rows)
        stop = min(max(stop, start), self.n_rows)
        if stop - start == self.n_rows:
            return self
        labels, weights, sparse = self.labels, self.weights, self.sparse
        columns, counts = self._slice_columns(start, stop), {}
        if self.cell_counts:
            counts = self._select_counts(self.list_row_numbers()[start:stop], columns)
        return Chunk(
            columns,
            stop - start,
            sparse=None if sparse is None else sparse.slice(start, stop),
            labels=None if labels is None else slice_column(labels, start, stop),
            weights=None if weights is None else weights[start:stop],
            first_row=self.first_row + start,
            row_numbers=None if self.row_numbers is None else self.row_numbers[start:stop],
            cell_counts=counts,
            file=self.file,
            unreadable=self.unreadable,
        )

    def with_names(self, names: Sequence[str]) -> Chunk:
        """Return the columns under these names, by position; a sparse matrix becomes dense columns."""
        if self.sparse is None:
            new_names = dict(zip(self.columns, names, strict=False)) if self.cell_counts else {}
            counts = {new_names[name]: each for name, each in self.cell_counts.items()}
            return replace(self, columns=rename_columns(self.columns, names), cell_counts=counts)
        dense = self.sparse.to_dense()
        return replace(self, columns={name: dense[:, j] for j, name in enumerate(names)}, sparse=None)

    def _select_counts(
        self, numbers: NDArray[np.int64], columns: Mapping[str, Column]
    ) -> dict[str, CellCounts]:
        """Return the counts of cells in some of the rows, given their numbers and their columns."""
        selected = {
            name: counts.select(numbers, columns[name])
            for name, counts in self.cell_counts.items()
            if name in columns
        }
        return {name: counts for name, counts in selected.items() if counts.n_missing or counts.n_odd}

    def _select_columns(self, keep: NDArray[np.bool_]) -> Mapping[str, Column]:
        if isinstance(self.columns, MatrixColumns):
            return MatrixColumns(self.columns.matrix[keep], self.columns.names)
        return {name: select_rows(column, keep) for name, column in self.columns.items()}

    def _slice_columns(self, start: int, stop: int) -> Mapping[str, Column]:
        if isinstance(self.columns, MatrixColumns):
            return self.columns.slice_rows(start, stop)
        return {name: slice_column(column, start, stop) for name, column in self.columns.items()}


class MatrixColumns(Mapping[str, Any]):
    """The columns of a matrix as named views."""

    def __init__(self, matrix: NDArray[Any], names: Sequence[str]) -> None:
        self.matrix, self.names = matrix, names

    @cached_property
    def _indices(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.names)}

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
        """Return rows start to stop."""
        return MatrixColumns(self.matrix[start:stop], self.names)


def rename_columns(columns: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any]:
    """Return columns under other names, in their order."""
    if isinstance(columns, MatrixColumns):
        return columns.rename(names)
    return dict(zip(names, columns.values(), strict=True))
