"""Stacked bars: the parts of which numbers are made, such as bias, variance and noise of an error."""

from __future__ import annotations

from typing import Any

from weigh.pictures.channels import colour, described, down, tell_apart, tooltip
from weigh.pictures.facts import Rows, Table, checked, even, few, names_of, words_of
from weigh.pictures.style import PAPER, WIDTH, altair, rows_of, styled

MOST = 40
WORD = 42  # pixels that a number needs


def stacked(table: Table, x: str = "", y: str = "", title: str = "", told: str = "") -> Any:
    """Draw a horizontal bar per name, made of its parts; parts below zero go to the left.

    Parameters
    ----------
    table : rows with "name", "part" and "value"
    x, y, title : the titles of the numbers, of the names and of the picture
    told : what a screen reader says
    """
    x, y, title = words_of(x, y, title)
    rows = checked("Stacked bars", table, ("name", "part"), ("value",))
    rows, more = few("bars", rows, MOST, "name")
    names, parts = names_of(rows, "name"), names_of(rows, "part")
    tell_apart("Stacked bars", parts)
    alt = altair()
    base = rows_of(alt, _placed(rows)).encode(
        y=down(alt, names, y),
        tooltip=tooltip(alt, rows, ("name", "part"), value=x or "value"),
    )
    has_room = alt.condition(f"datum.share * width >= {WORD}", alt.value(1), alt.value(0))
    number = alt.Text("value:Q", format=even(row["value"] for row in rows))
    layers = [
        base.mark_bar(height=alt.RelativeBandSize(0.72), stroke=PAPER, strokeWidth=0.5).encode(
            x=alt.X("from:Q", title=x or None, axis=alt.Axis(tickCount=6)),
            x2="to:Q",
            color=colour(alt, parts, "part", symbolType="square", symbolStrokeWidth=0),
        ),
        base.mark_text(color=PAPER, fontSize=12, fontWeight="bold", aria=False).encode(
            x="middle:Q", text=number, opacity=has_room
        ),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH - 100, height=30 * len(names))
    return styled(chart, described("Stacked bars", title, x, y, told), title, more)


def _placed(rows: Rows) -> Rows:
    """Rows with the place of every part: after those of its name before it, on its side of zero."""
    ends: dict[tuple[str, bool], float] = {}
    found = []
    for row in rows:
        side = (row["name"], row["value"] < 0)
        start = ends.get(side, 0.0)
        ends[side] = end = start + row["value"]
        found.append({**row, "from": min(start, end), "to": max(start, end), "middle": (start + end) / 2})
    span = max(ends.values()) - min(0.0, *ends.values()) or 1.0
    return [{**row, "share": abs(row["value"]) / span} for row in found]
