"""Cells: a table whose cells are shaded by what they hold, such as a confusion table."""

from __future__ import annotations

from typing import Any

from weigh.pictures.channels import described, down
from weigh.pictures.facts import Table, checked, form, in_unit, names_of, refuse_many, words_of
from weigh.pictures.style import GREY, HEAT, INK, PAPER, altair, rows_of, styled

MOST = 40
MOST_TOLD = 16  # columns whose numbers stand in the cells
TURN = 0.61  # the shade from which words are light
SIGN = 7  # pixels


def cells(table: Table, x: str = "", y: str = "", title: str = "", told: str = "") -> Any:
    """Draw a table of shaded cells with their numbers; a cell of shade 0 is left clear.

    Parameters
    ----------
    table : rows with "row", "column", "value" (a number) and "shade" from 0 to 1
    x, y, title : the titles of the columns, of the rows and of the picture
    told : what a screen reader says
    """
    x, y, title = words_of(x, y, title)
    rows = checked("Cells", table, ("row", "column"), ("value", "shade"))
    in_unit("Cells", rows, "shade")
    lines, columns = names_of(rows, "row"), names_of(rows, "column")
    for names, what in ((lines, "rows"), (columns, "columns")):
        refuse_many(what, len(names), MOST, "Join the rare ones.")
    alt = altair()
    wide = _wide(columns)
    figure = form(row["value"] for row in rows)
    base = rows_of(alt, [{**row, "ink": _ink(row["shade"])} for row in rows]).encode(
        x=_across(alt, columns, x, wide),
        y=down(alt, lines, y, "row"),
        tooltip=[
            alt.Tooltip("row:N", title=y or "row"),
            alt.Tooltip("column:N", title=x or "column"),
            alt.Tooltip("value:Q", format=figure),
        ],
    )
    heat = alt.Fill("shade:Q", scale=alt.Scale(domain=[0, 1], range=list(HEAT)), legend=None)
    clear = alt.condition(alt.datum.shade > 0, alt.value(1), alt.value(0))
    rect = base.mark_rect(stroke=GREY, strokeOpacity=0.35, strokeWidth=1)
    layers = [rect.encode(fill=heat, fillOpacity=clear)]
    if len(columns) <= MOST_TOLD:
        # On a narrow page the numbers would run into each other, and only a pointer is told.
        seen = alt.ExprRef(f"width < {28 * len(columns)} ? 0 : 1")
        word = base.mark_text(fontSize=13, fontWeight="bold", opacity=seen, aria=False)
        layers.append(
            word.encode(text=alt.Text("value:Q", format=figure), color=alt.Color("ink:N", scale=None))
        )
    chart = alt.layer(*layers).properties(width=wide * len(columns), height=min(wide, 36) * len(lines))
    return styled(chart, described("A table", title, x, y, told), title)


def _wide(columns: list[str]) -> int:
    """The pixels of a column: where there are few, enough for their names."""
    if len(columns) > MOST_TOLD:
        return 16
    return min(max(40, SIGN * max(map(len, columns)) + 12), max(40, 520 // len(columns)), 110)


def _across(alt: Any, columns: list[str], title: str, wide: int) -> Any:
    is_many = len(columns) > MOST_TOLD
    angle = -90 if is_many else -45 if SIGN * max(map(len, columns)) > wide else 0
    axis = alt.Axis(
        orient="top",
        labelAngle=angle,
        labelLimit=110,
        labelOverlap="greedy" if is_many else False,
        ticks=False,
        domain=False,
    )
    return alt.X("column:N", scale=alt.Scale(domain=columns), title=title or None, axis=axis)


def _ink(shade: float) -> str:
    """The colour of words that is read on a shade."""
    return PAPER if shade >= TURN else INK if shade > 0 else GREY
