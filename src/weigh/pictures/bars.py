"""Bars: signed numbers with names, one under the other, such as weights and contributions."""

from __future__ import annotations

from typing import Any

from weigh.pictures.channels import described, tooltip
from weigh.pictures.facts import Rows, Table, checked, distinct, few, form, names_of
from weigh.pictures.style import COLOURS, GREY, WIDTH, altair, styled

MOST = 40
THICK = 22  # pixels of a bar with its gap
ROOM = 170  # pixels of the names


def bars(table: Table, x: str = "", title: str = "", told: str = "") -> Any:
    """Draw a horizontal bar per row, in the order given, to the right for numbers above zero.

    Parameters
    ----------
    table : rows with "name" and "value" and, where they are known, "low" and "high"; rows of
        different "group" have a panel each
    x, title : the titles of the axis and of the picture
    told : what a screen reader says
    """
    words = (
        ("name", "group") if (table := list(table)) and any("group" in row for row in table) else ("name",)
    )
    rows, more = few("bars", checked("Bars", table, words, ("value",)), MOST)
    distinct(rows, "name", "group")
    alt = altair()
    parts = _layers(alt, rows, x)
    said = described("Bars", title, x, "", told)
    if len(words) == 1:
        chart = alt.layer(*parts, data=alt.InlineData(values=rows))
        return styled(chart.properties(width=WIDTH, height=alt.Step(THICK)), said, title, more)
    groups = names_of(rows, "group")
    panel = alt.layer(*parts).properties(width=WIDTH - ROOM, height=alt.Step(THICK))
    head = alt.Header(title=None, orient="top", labelAnchor="start", labelLimit=400)
    chart = panel.facet(
        row=alt.Row("group:N", sort=groups, header=head), data=alt.InlineData(values=rows), spacing=10
    ).resolve_scale(y="independent")
    return styled(chart, said, title, more)


def _layers(alt: Any, rows: Rows, x: str) -> list[Any]:
    """The bars, their whiskers, and the numbers at their ends."""
    across = alt.X("value:Q", title=x or None, axis=alt.Axis(tickCount=5), scale=alt.Scale(padding=36))
    down = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=ROOM, ticks=False, domain=False))
    sign = alt.condition(alt.datum.value >= 0, alt.value(COLOURS[0]), alt.value(COLOURS[1]))
    said = tooltip(alt, rows, ("name", "group"), value=x or "value", low="from", high="to")
    base = alt.Chart().encode(y=down)
    parts = [
        base.mark_bar(cornerRadiusEnd=2, height=alt.RelativeBandSize(0.72)).encode(
            x=across, color=sign, tooltip=said
        )
    ]
    told = alt.Text("value:Q", format=form(row["value"] for row in rows).replace(".4", ".3"))
    ends = {"baseline": "middle", "fontSize": 12, "color": GREY}
    if any(row.get("low") is not None and row.get("high") is not None for row in rows):
        return [
            *parts,
            base.mark_rule(color=GREY, strokeWidth=2).encode(x="low:Q", x2="high:Q", tooltip=said),
        ]
    for side, align, shift in (("datum.value >= 0", "left", 4), ("datum.value < 0", "right", -4)):
        mark = base.transform_filter(side).mark_text(align=align, dx=shift, **ends)
        parts.append(mark.encode(x=across, text=told))
    return parts
