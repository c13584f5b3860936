"""How numbers are written in text, and the cells of number columns that are not numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MAX_EXAMPLES = 3


class NumberFormat(NamedTuple):
    """How the numbers of a column are written, in the order in which the native parser expects it.

    `thousands` is "" without a separator; " " stands for all kinds of blanks. `units` are the spellings of a
    unit, such as "€" and "EUR"; a number without it fits unless `requires_unit`.
    """

    decimal: str = "."
    thousands: str = ""
    units: Sequence[str] = ()
    requires_unit: bool = False


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


@dataclass(frozen=True)
class CellCounts:
    """How many cells of a number column in some rows are missing and odd, with the first odd ones."""

    n_missing: int
    n_odd: int = 0
    examples: tuple[OddCell, ...] = ()

    def __add__(self, other: CellCounts) -> CellCounts:
        examples = sorted([*self.examples, *other.examples], key=lambda cell: cell.row)
        return CellCounts(
            self.n_missing + other.n_missing, self.n_odd + other.n_odd, tuple(examples[:MAX_EXAMPLES])
        )
