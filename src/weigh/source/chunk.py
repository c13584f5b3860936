"""A chunk: some consecutive rows, held by column."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weigh.source.matrix_columns import MatrixColumns

# A NumPy array (any strides; objects are plain Python values), a `Coded`, `Texts` or `Lists` column,
# or a pyarrow.Array. A union would oblige every reader to import pyarrow in order to narrow it;
# `is_arrow` tells.
Column: TypeAlias = Any

# A scipy.sparse matrix or array in canonical CSR form; scipy may be absent.
CSR: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of repeated values: row i holds values[codes[i]], and -1 is missing.

    The values are distinct; some may occur in none of the rows.
    """

    codes: NDArray[np.int32]
    values: list[Any]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: slice) -> Coded:
        return Coded(self.codes[rows], self.values)

    def to_pylist(self) -> list[Any]:
        """The value of every row, None where it is missing."""
        values = [*self.values, None]
        return [values[code] for code in self.codes.tolist()]


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of texts as bytes of UTF-8 that lie where they were read.

    Row i is data[begins[i] : begins[i] + sizes[i]]; a size of -1 is missing. A text that could not
    stay where it was (its quotes were doubled, say) is in `spilled`, at the place ~begins[i].
    """

    begins: NDArray[np.int64]
    sizes: NDArray[np.int64]
    data: NDArray[np.uint8]
    spilled: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, dtype=np.uint8))

    def __len__(self) -> int:
        return len(self.begins)

    def __getitem__(self, rows: slice) -> Texts:
        return Texts(self.begins[rows], self.sizes[rows], self.data, self.spilled)

    def to_pylist(self) -> list[Any]:
        """The text of every row, None where it is missing."""
        return [self._text(*place) for place in zip(self.begins.tolist(), self.sizes.tolist(), strict=True)]

    def _text(self, begin: int, size: int) -> str | None:
        if size < 0:
            return None
        held = self.data[begin : begin + size] if begin >= 0 else self.spilled[~begin : ~begin + size]
        # Half a surrogate pair is no UTF-8, but text that was read elsewhere may hold one.
        return held.tobytes().decode("utf-8", "surrogatepass")


@dataclass(frozen=True, eq=False)
class Lists:
    """A column of lists of names: row i holds names indptr[i] to indptr[i + 1], each once or `values` times.

    Rows that `known` denies are missing; None knows them all.
    """

    indptr: NDArray[np.int64]
    names: Texts
    values: NDArray[np.float64] | None = None
    known: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, rows: slice) -> Lists:
        start, stop, _ = rows.indices(len(self))
        known = None if self.known is None else self.known[start:stop]
        return Lists(self.indptr[start : max(start, stop) + 1], self.names, self.values, known)

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
                rows.append(_summed(names[start:stop], self.values[start:stop].tolist()))
        return rows


def _summed(names: list[str], values: list[float]) -> dict[str, float]:
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


def cut_column(column: Column, start: int, stop: int) -> Column:
    """Rows start to stop of a column, without copying."""
    if is_arrow(column):
        return column.slice(start, stop - start)
    return column[start:stop]


def cut_wide(wide: CSR, start: int, stop: int) -> CSR:
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
    wide: CSR | None = field(default=None, kw_only=True)
    labels: Column | None = field(default=None, kw_only=True)
    weights: NDArray[np.float64] | None = field(default=None, kw_only=True)
    first_row: int = field(default=0, kw_only=True)

    def slice(self, start: int, stop: int) -> Chunk:
        """Rows start to stop of this chunk, as views; bounds are cut to the chunk's own."""
        start = min(max(start, 0), self.n_rows)
        stop = min(max(stop, start), self.n_rows)
        labels, weights, wide = self.labels, self.weights, self.wide
        return Chunk(
            self._cut(start, stop),
            stop - start,
            wide=None if wide is None else cut_wide(wide, start, stop),
            labels=None if labels is None else cut_column(labels, start, stop),
            weights=None if weights is None else weights[start:stop],
            first_row=self.first_row + start,
        )

    def _cut(self, start: int, stop: int) -> Mapping[str, Column]:
        if isinstance(self.columns, MatrixColumns):
            return self.columns.cut(start, stop)
        return {name: cut_column(column, start, stop) for name, column in self.columns.items()}
