"""Blocks: encoded columns, each with the names of its own values.

A block knows only its own rows: level 3 of one block may be level 0 of the next. Code that joins
blocks (counting, scoring) matches levels by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from weigh.source.sparse_rows import SparseRows

Level = str | int | float
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
T = TypeVar("T")


_NUMBERED_NAME = re.compile("x(0|[1-9][0-9]{0,18})", re.ASCII)


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

    def __iter__(self) -> Iterator[T]:
        return repeat(self.item, self.times)

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

    def __iter__(self) -> Iterator[str]:
        return (f"x{j}" for j in range(self.start, self.start + self.width))

    def __contains__(self, name: object) -> bool:
        return self._position(name) is not None

    def index(self, name: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the position of a name, without a search."""
        position = self._position(name)
        if position is None or position not in range(self.width)[start:stop]:
            raise ValueError(f"{name!r} is not one of the names")
        return position

    def _position(self, name: object) -> int | None:
        if not isinstance(name, str) or not _NUMBERED_NAME.fullmatch(name):
            return None
        position = int(name[1:]) - self.start
        return position if 0 <= position < self.width else None

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
    """Many sparse columns: flags, counts, words.

    `missing` marks single missing cells (of flags); `known` marks the rows that have a value (a text may be
    missing as a whole).
    """

    rows: SparseRows
    names: Sequence[str]
    missing: SparseBlock | None = None
    known: npt.NDArray[np.bool_] | None = None

    @property
    def n_rows(self) -> int:
        return self.rows.n_rows

    def where(self, mask: Mask) -> SparseBlock:
        """Return the selected rows."""
        return SparseBlock(self.rows.select(mask), self.names)

    def row(self, i: int) -> SparseBlock:
        """Return one row as a block, with only its names unless they are numbered."""
        rows, names = self.rows.slice(i, i + 1), self.names
        if not isinstance(names, NumberedNames):
            names = [names[at] for at in rows.indices.tolist()]
            rows = replace(rows, indices=np.arange(len(names), dtype=np.int32), width=len(names))
        missing = None if self.missing is None else self.missing.row(i)
        known = None if self.known is None else self.known[i : i + 1]
        return SparseBlock(rows, names, missing, known)


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
        return SparseBlock(SparseRows.from_dense(matrix != 0, matrix), self.names)


def sparse_from_dense(matrix: npt.NDArray[np.float64], names: Sequence[str], *, flags: bool) -> SparseBlock:
    """Compress a dense matrix; flags have no values but keep their missing cells."""
    if flags:
        is_missing = np.isnan(matrix)
        missing = SparseBlock(SparseRows.from_dense(is_missing), names) if is_missing.any() else None
        return SparseBlock(SparseRows.from_dense(matrix > 0), names, missing)
    filled = np.nan_to_num(matrix, nan=0.0)
    return SparseBlock(SparseRows.from_dense(filled != 0, filled), names)
