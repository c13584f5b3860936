"""Rows and columns unlike those of training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weigh.explain import Unfamiliar, unfamiliar
from weigh.report.wording import FROM_ZERO, share
from weigh.text import counted, cut

MOST = 20
NAME = 120


@dataclass(frozen=True)
class StrangeRow:
    """A flagged row with its reasons."""

    row: int
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class ShiftedColumn:
    """A column that is distributed otherwise than in training."""

    column: str
    before: str
    now: str
    effect: float
    p: float


@dataclass(frozen=True)
class FamiliarFacts:
    """How many rows are strange, the first of them, and the columns that have shifted."""

    n: int
    strange: int
    tested: int
    sentence: str
    rows: tuple[StrangeRow, ...]
    columns: tuple[ShiftedColumn, ...]

    @property
    def listed(self) -> str:
        """What the list of rows is called."""
        if self.strange == 1:
            return "The row that is odd"
        which = "All" if len(self.rows) == self.strange else "The first"
        return f"{which} {len(self.rows)} rows that are odd"


def familiar_facts(model: Any, data: Any) -> FamiliarFacts:
    """Compare rows with what the model has seen in training."""
    found = unfamiliar(model, data)
    rows = tuple(
        StrangeRow(each.row, tuple(cut(reason, 2 * NAME) for reason in each.reasons[:5]))
        for each in found.rows[:MOST]
    )
    columns = tuple(
        ShiftedColumn(cut(c.column, NAME), cut(c.before, NAME), cut(c.now, NAME), c.effect, c.p)
        for c in found.shifted
    )
    part = share(len(found.rows) / found.n_rows)
    flagged = f"{counted(len(found.rows), 'row')} of {found.n_rows:,} ({part})"
    if not found.columns:
        columns_told = "there are too few rows to test the columns"
    elif not columns:
        columns_told = f"no column of {len(found.columns):,} is distributed notably otherwise"
    else:
        columns_told = f"{counted(len(columns), 'column')} of {len(found.columns):,} notably shifted"
    sentence = f"{flagged} unlike the training rows{_kinds(found)}; {columns_told}."
    sentence += f" {FROM_ZERO}" if rows else ""
    return FamiliarFacts(found.n_rows, len(found.rows), len(found.columns), sentence, rows, columns)


def _kinds(found: Unfamiliar) -> str:
    told = " and ".join(f"{n:,} with {what}" for what, n in found.kinds.items())
    return f", {told}" if told else ""
