"""A confusion table as text of at most 80 columns, and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weigh.judge.measures.losses import UNSEEN
from weigh.text import aligned, amount, cut, html_note, html_table

if TYPE_CHECKING:
    from weigh.judge.measures.confusion import Confusion

WIDTH = 80
MOST = 10
STRANGE = "(never seen)"


def text(confusion: Confusion, names: Sequence[str]) -> str:
    """The whole table where it fits, else the most frequent mistakes."""
    if len(names) <= MOST:
        drawn = aligned(_cells(confusion, names))
        if max(map(len, drawn.splitlines())) <= WIDTH:
            return drawn
    rows = _mistakes(confusion, names)
    if len(rows) == 1:
        return "No mistakes."
    title = f"{_title(rows)}:\n" if len(rows) > 2 else ""
    return title + aligned(rows, left=2)


def markup(confusion: Confusion, names: Sequence[str]) -> str:
    """The whole table of few classes, else the most frequent mistakes, as HTML."""
    if len(names) <= MOST:
        return html_table("Who is taken for whom", _cells(confusion, names))
    rows = _mistakes(confusion, names)
    return html_table(_title(rows), rows, 2) if len(rows) > 1 else html_note("No mistakes.")


def _cells(confusion: Confusion, names: Sequence[str]) -> list[list[str]]:
    head = ["true \\ predicted", *(cut(name, 12) for name in names)]
    pairs = zip(names, confusion.table().tolist(), strict=True)
    rows = [[cut(name, 20), *map(amount, row)] for name, row in pairs]
    if UNSEEN in confusion.true:
        rows.append([STRANGE, *map(amount, confusion.unseen().tolist())])
    return [head, *rows]


def _mistakes(confusion: Confusion, names: Sequence[str]) -> list[list[str]]:
    rows = [
        [cut(STRANGE if true == UNSEEN else names[true], 28), cut(names[said], 28), amount(weight)]
        for true, said, weight in confusion.mistakes(MOST)
    ]
    return [["true", "predicted", "rows"], *rows]


def _title(rows: Sequence[Sequence[str]]) -> str:
    many = len(rows) - 1
    return f"The {many} most frequent mistakes" if many > 1 else "The only mistake"
