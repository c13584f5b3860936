"""Stacked bars: the parts of which numbers are made, such as bias, variance and noise of an error."""

from __future__ import annotations

from typing import Any

from weigh.pictures.channels import colour, described, tell_apart, tooltip
from weigh.pictures.facts import Rows, Table, checked, few, form, names_of
from weigh.pictures.style import PAPER, WIDTH, altair, rows_of, styled

MOST = 240
ROOM = 190  # pixels of the names
WORD = 42  # pixels that a number needs


def stacked(table: Table, x: str = "", y: str = "", title: str = "", told: str = "") -> Any:
    """Draw a horizontal bar per name, made of its parts; parts below zero go to the left.

    Parameters
    ----------
    table : rows with "name", "part" and "value"
    x, y, title : the titles of the numbers, of the names and of the picture
    told : what a screen reader says
    """
    rows, more = few("parts", checked("Stacked bars", table, ("name", "part"), ("value",)), MOST)
    parts = names_of(rows, "part")
    tell_apart("Stacked bars", parts)
    _stack(rows)
    alt = altair()
    width = WIDTH - 120
    span = max(row["to"] for row in rows) - min(row["from"] for row in rows) or 1.0
    told_in = [row for row in rows if (row["to"] - row["from"]) / span * width >= WORD]
    place = {
        "y": alt.Y(
            "name:N", sort=None, title=y or None, axis=alt.Axis(labelLimit=ROOM, ticks=False, domain=False)
        ),
        "tooltip": tooltip(alt, rows, ("name", "part"), value=x or "value"),
    }
    bar = rows_of(alt, rows).mark_bar(height=alt.RelativeBandSize(0.72))
    words = rows_of(alt, told_in).mark_text(color=PAPER, fontSize=12, fontWeight="bold")
    layers = [
        bar.encode(
            **place,
            x=alt.X("from:Q", title=x or None),
            x2="to:Q",
            color=colour(alt, parts, "part", symbolType="square"),
        ),
        words.encode(
            **place,
            x=alt.X("middle:Q"),
            text=alt.Text("value:Q", format=form(r["value"] for r in rows).replace(".4", ".3")),
        ),
    ]
    chart = alt.layer(*layers).properties(width=width, height=alt.Step(30))
    return styled(chart, described("Stacked bars", title, x, "", told), title, more)


def _stack(rows: Rows) -> None:
    """Give every part its place after those of its name before it, on its side of zero."""
    ends: dict[tuple[str, bool], float] = {}
    for row in rows:
        key = (row["name"], row["value"] < 0)
        start = ends.get(key, 0.0)
        ends[key] = end = start + row["value"]
        row["from"], row["to"], row["middle"] = min(start, end), max(start, end), (start + end) / 2
