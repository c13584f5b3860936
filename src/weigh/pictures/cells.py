"""Cells: a table whose cells are shaded by what they hold, such as a confusion table."""

from __future__ import annotations

from typing import Any

from weigh import errors
from weigh.pictures.channels import described
from weigh.pictures.facts import Rows, Table, checked, form, names_of, refuse_many
from weigh.pictures.style import GREY, HEAT, INK, PAPER, altair, rows_of, styled

MOST = 40
MOST_TOLD = 16  # columns whose numbers stand in the cells
TURN = 0.55  # the shade from which words are light


def cells(table: Table, x: str = "", y: str = "", title: str = "", told: str = "") -> Any:
    """Draw a table of shaded cells with their numbers; a cell of shade 0 is left clear.

    Parameters
    ----------
    table : rows with "row", "column", "value" (a number) and "shade" from 0 to 1
    x, y, title : the titles of the columns, of the rows and of the picture
    told : what a screen reader says
    """
    rows = checked("Cells", table, ("row", "column"), ("value", "shade"))
    down, across = names_of(rows, "row"), names_of(rows, "column")
    for names, what in ((down, "rows"), (across, "columns")):
        refuse_many(what, len(names), MOST, "Join the rare ones.")
    _refuse_shades(rows)
    alt = altair()
    step = 52 if len(across) <= 10 else 40 if len(across) <= MOST_TOLD else 16
    tall = min(step, 36)
    steep = len(across) > MOST_TOLD or max(map(len, across)) * 7 > step
    place = {
        "x": alt.X(
            "column:N",
            sort=across,
            title=x or None,
            axis=alt.Axis(
                orient="top", labelAngle=-40 if steep else 0, labelLimit=110, ticks=False, domain=False
            ),
        ),
        "y": alt.Y(
            "row:N", sort=down, title=y or None, axis=alt.Axis(labelLimit=150, ticks=False, domain=False)
        ),
    }
    figure = form(row["value"] for row in rows)
    said = [
        alt.Tooltip("row:N", title=y or "row"),
        alt.Tooltip("column:N", title=x or "column"),
        alt.Tooltip("value:Q", format=figure),
    ]
    heat = alt.Fill("shade:Q", scale=alt.Scale(domain=[0, 1], range=list(HEAT)), legend=None)
    clear = alt.condition(alt.datum.shade > 0, alt.value(1), alt.value(0))
    rect = rows_of(alt, rows).mark_rect(stroke=GREY, strokeOpacity=0.35, strokeWidth=1)
    layers = [rect.encode(**place, fill=heat, fillOpacity=clear, tooltip=said)]
    if len(across) <= MOST_TOLD:
        words = rows_of(alt, [{**row, "ink": _ink(row["shade"])} for row in rows]).mark_text(fontSize=12)
        layers.append(
            words.encode(
                **place,
                text=alt.Text("value:Q", format=figure),
                color=alt.Color("ink:N", scale=None),
                tooltip=said,
            )
        )
    chart = alt.layer(*layers).properties(width=alt.Step(step), height=alt.Step(tall))
    return styled(chart, described("A table", title, x, y, told), title)


def _refuse_shades(rows: Rows) -> None:
    wrong = [row["shade"] for row in rows if not 0 <= row["shade"] <= 1]
    if wrong:
        raise errors.DataError(f"The shade of a cell is from 0 to 1, got {wrong[0]!r}.")


def _ink(shade: float) -> str:
    """The colour of words that is read on a shade."""
    return PAPER if shade >= TURN else INK if shade > 0 else GREY
