"""How numbers are written in text, and the cells of number columns that are not numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_EXAMPLES = 3


class NumberFormat(NamedTuple):
    """How the numbers of a column are written, in the order in which the native parser expects it.

    `thousands` is "" without a separator; " " stands for all kinds of blanks. `units` are the spellings of a
    unit, such as "€" and "EUR"; a number without it fits unless `requires_unit`. `forms` are further forms of
    numbers, see `weigh.features.cells.FORMS`, and `missing_words` are cells that mean missing, in lower case.
    """

    decimal: str = "."
    thousands: str = ""
    units: Sequence[str] = ()
    requires_unit: bool = False
    forms: Sequence[str] = ()
    missing_words: Sequence[str] = ()


PLAIN_NUMBERS = NumberFormat()


@dataclass(frozen=True)
class OddCell:
    """A cell of a number column that is not a number; `locate` returns its place in a file, for messages."""

    row: int
    value: object
    locate: Callable[[], str] | None = None

    @property
    def place(self) -> str:
        """The line of a file, or the row."""
        return f"row {self.row:,}" if self.locate is None else self.locate()

    def in_file(self, name: str, n_rows_before: int) -> OddCell:
        """Return the cell of one of several files, as one of a table with the rows of all."""
        return replace(self, row=n_rows_before + self.row, locate=partial(_format_place, name, self))


def _format_place(file: str, cell: OddCell) -> str:
    return f"{file} {cell.place}"


@dataclass(frozen=True, eq=False)
class OddRows:
    """The numbers of the rows whose cell is odd, in ascending order, and how to read the cell of one."""

    numbers: NDArray[np.int64]
    read_cell: Callable[[int], OddCell]

    def select(self, numbers: NDArray[np.int64]) -> OddRows:
        """Return those that are among the numbers of some rows."""
        return replace(self, numbers=self.numbers[np.isin(self.numbers, numbers)])

    def in_file(self, name: str, n_rows_before: int) -> OddRows:
        """Return the rows of one of several files, as those of a table with the rows of all."""
        read_cell = partial(_read_cell_of_file, self.read_cell, name, n_rows_before)
        return OddRows(n_rows_before + self.numbers, read_cell)


def _read_cell_of_file(
    read_cell: Callable[[int], OddCell], name: str, n_rows_before: int, row: int
) -> OddCell:
    return read_cell(row - n_rows_before).in_file(name, n_rows_before)


@dataclass(frozen=True, eq=False)
class CellCounts:
    """How many cells of a number column in some rows are missing and odd, with the first odd ones.

    `odd_rows` are those of all odd cells of a chunk, from which the counts of some of its rows follow.
    """

    n_missing: int
    n_odd: int = 0
    examples: tuple[OddCell, ...] = ()
    odd_rows: OddRows | None = None

    @classmethod
    def of_rows(cls, n_missing: int, odd_rows: OddRows) -> CellCounts:
        """Count the odd cells and read the first ones."""
        examples = map(odd_rows.read_cell, odd_rows.numbers[:MAX_EXAMPLES].tolist())
        return cls(n_missing, len(odd_rows.numbers), tuple(examples), odd_rows)

    def select(self, numbers: NDArray[np.int64], cells: NDArray[np.float64]) -> CellCounts:
        """Return the counts of some rows of the chunk, given their numbers and their cells."""
        n_unknown = int(np.isnan(cells).sum())
        if self.odd_rows is None:
            return CellCounts(n_unknown)
        odd_rows = self.odd_rows.select(numbers)
        return self.of_rows(n_unknown - len(odd_rows.numbers), odd_rows)

    def in_file(self, name: str, n_rows_before: int) -> CellCounts:
        """Return the counts in one of several files, as those of a table with the rows of all."""
        examples = tuple(cell.in_file(name, n_rows_before) for cell in self.examples)
        odd_rows = None if self.odd_rows is None else self.odd_rows.in_file(name, n_rows_before)
        return replace(self, examples=examples, odd_rows=odd_rows)

    def __add__(self, other: CellCounts) -> CellCounts:
        examples = sorted([*self.examples, *other.examples], key=lambda cell: cell.row)
        return CellCounts(
            self.n_missing + other.n_missing, self.n_odd + other.n_odd, tuple(examples[:MAX_EXAMPLES])
        )
