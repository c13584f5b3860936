"""Blocks: encoded columns, each with the names of its own values.

A block knows only its own rows: level 3 of one block may be level 0 of the next. Code that joins
blocks (counting, scoring) matches levels by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar, overload

import numpy as np
import numpy.typing as npt

Level = str | int | float
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
T = TypeVar("T")


class ConstantSequence(Sequence[T]):
    """A sequence that repeats one item and stores it once."""

    def __init__(self, item: T, times: int) -> None:
        self.item = item
        self.times = times

    def __len__(self) -> int:
        return self.times

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> ConstantSequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | ConstantSequence[T]:
        numbers = range(self.times)[at]
        return ConstantSequence(self.item, len(numbers)) if isinstance(numbers, range) else self.item

    def count(self, value: object) -> int:
        """Return how often a value occurs: in all places or in none."""
        return self.times if value == self.item else 0


class NumberedNames(Sequence[str]):
    """The names x0, x1, ... of the columns of a bare matrix, without storing them.

    The first number is `start`: files that number their columns may begin at 1.
    """

    def __init__(self, width: int, start: int = 0) -> None:
        self.width = width
        self.start = start

    def __len__(self) -> int:
        return self.width

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        numbers = range(self.width)[at]
        if isinstance(numbers, range):
            return [f"x{j + self.start}" for j in numbers]
        return f"x{numbers + self.start}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumberedNames):
            return (self.width, self.start) == (other.width, other.start)
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


@dataclass(frozen=True)
class CategoryBlock:
    """One categorical column: `levels[codes[i]]` is the value of row i, -1 is missing."""

    codes: Ints
    levels: list[Level]

    @property
    def n_rows(self) -> int:
        return len(self.codes)

    def where(self, mask: Mask) -> CategoryBlock:
        """Return the selected rows, with only their levels."""
        used, codes = np.unique(self.codes[mask], return_inverse=True)
        n_missing = int(np.searchsorted(used, 0))  # 1 if the code -1 occurs
        levels = [self.levels[code] for code in used[n_missing:].tolist()]
        return CategoryBlock((codes - n_missing).astype(np.int32), levels)

    def row(self, i: int) -> CategoryBlock:
        """Return one row as a block, with only its level."""
        code = int(self.codes[i])
        return CategoryBlock(
            np.array([min(code, 0)], dtype=np.int32), [self.levels[code]] if code >= 0 else []
        )


@dataclass(frozen=True)
class NumberBlock:
    """One numeric column; NaN is missing."""

    values: Floats

    @property
    def n_rows(self) -> int:
        return len(self.values)

    def where(self, mask: Mask) -> NumberBlock:
        """Return the selected rows."""
        return NumberBlock(self.values[mask])

    def row(self, i: int) -> NumberBlock:
        """Return one row as a block."""
        return NumberBlock(self.values[i : i + 1].copy())


@dataclass(frozen=True)
class SparseBlock:
    """Many sparse columns in compressed sparse rows: flags, counts, words.

    `values` None means that every entry is 1. `missing` marks single missing cells (of flags); `known` marks
    the rows that have a value (a text may be missing as a whole).
    """

    indptr: Longs
    indices: Ints
    values: Floats | None
    names: Sequence[str]
    missing: SparseBlock | None = None
    known: npt.NDArray[np.bool_] | None = None

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    def where(self, mask: Mask) -> SparseBlock:
        """Return the selected rows."""
        sizes = np.diff(self.indptr)
        entries = np.repeat(mask, sizes)
        indptr = np.concatenate([[0], np.cumsum(sizes[mask])]).astype(np.int64)
        start, stop = int(self.indptr[0]), int(self.indptr[-1])
        indices = self.indices[start:stop][entries]
        values = None if self.values is None else self.values[start:stop][entries]
        return SparseBlock(indptr, indices, values, self.names)

    def row(self, i: int) -> SparseBlock:
        """Return one row as a block, with only its names unless they are numbered."""
        start, stop = int(self.indptr[i]), int(self.indptr[i + 1])
        indices, names = self.indices[start:stop], self.names
        if not isinstance(names, NumberedNames):
            names = [names[at] for at in indices.tolist()]
            indices = np.arange(len(names), dtype=np.int32)
        indptr: Longs = np.array([0, stop - start], dtype=np.int64)
        values = None if self.values is None else self.values[start:stop]
        missing = None if self.missing is None else self.missing.row(i)
        known = None if self.known is None else self.known[i : i + 1]
        return SparseBlock(indptr, indices, values, names, missing, known)


@dataclass(frozen=True)
class DenseBlock:
    """Number columns side by side [rows, columns]; missing values are zero.

    `missing` is the number of missing values of each row; None means that there are none.
    """

    matrix: Floats
    names: Sequence[str]
    missing: Longs | None = None

    @property
    def n_rows(self) -> int:
        return len(self.matrix)

    def where(self, mask: Mask) -> DenseBlock:
        """Return the selected rows."""
        return DenseBlock(self.matrix[mask], self.names, None if self.missing is None else self.missing[mask])

    def row(self, i: int) -> DenseBlock:
        """Return one row as a block."""
        missing = None if self.missing is None else self.missing[i : i + 1]
        return DenseBlock(self.matrix[i : i + 1], self.names, missing)

    def count_missing(self, mask: Mask | None = None) -> int:
        """Return how many values are missing, in all rows or in the selected ones."""
        if self.missing is None:
            return 0
        return int(self.missing.sum() if mask is None else self.missing[mask].sum())

    def to_sparse(self) -> SparseBlock:
        """Return the non-zero values in compressed sparse rows."""
        matrix = np.ascontiguousarray(self.matrix)
        return _compress_rows(matrix != 0, matrix, self.names)


def sparse_from_dense(matrix: npt.NDArray[np.float64], names: Sequence[str], *, flags: bool) -> SparseBlock:
    """Compress a dense matrix; flags have no values but keep their missing cells."""
    if flags:
        is_missing = np.isnan(matrix)
        missing = _compress_rows(is_missing, None, names) if is_missing.any() else None
        entries = _compress_rows(matrix > 0, None, names)
        return SparseBlock(entries.indptr, entries.indices, None, names, missing)
    filled = np.nan_to_num(matrix, nan=0.0)
    return _compress_rows(filled != 0, filled, names)


def _compress_rows(mask: npt.NDArray[np.bool_], values: Floats | None, names: Sequence[str]) -> SparseBlock:
    indptr = np.zeros(len(mask) + 1, dtype=np.int64)
    np.cumsum(mask.sum(axis=1), out=indptr[1:])
    indices = np.nonzero(mask)[1].astype(np.int32)
    return SparseBlock(indptr, indices, None if values is None else values[mask], names)
