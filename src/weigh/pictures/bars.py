"""Bars: signed numbers with names, one under the other, such as weights and contributions."""

from __future__ import annotations

from typing import Any

from weigh.pictures.channels import ROOM, described, down, tooltip
from weigh.pictures.facts import Rows, Table, checked, distinct, even, few, names_of, whiskers, words_of
from weigh.pictures.style import COLOURS, GREY, WIDTH, altair, styled

MOST = 40
THICK = 22  # pixels of a bar with its gap


def bars(table: Table, x: str = "", title: str = "", told: str = "") -> Any:
    """Draw a horizontal bar per row, in the order given, to the right for numbers above zero.

    Parameters
    ----------
    table : rows with "name" and "value" and, where they are known, "low" and "high"; rows of
        different "group" have a panel each
    x, title : the titles of the axis and of the picture
    told : what a screen reader says
    """
    x, title = words_of(x, title)
    given = list(table)
    words = ("name", "group") if any("group" in row for row in given) else ("name",)
    rows = checked("Bars", given, words, ("value",))
    distinct(rows, "name", "group")
    rows, more = few("bars", rows, MOST, *words)
    alt = altair()
    data, layers = alt.InlineData(values=rows), _layers(alt, rows, x)
    said = described("Bars", title, x, "", told)
    if len(words) == 1:
        chart = alt.layer(*layers, data=data).properties(width=WIDTH, height=alt.Step(THICK))
        return styled(chart, said, title, more)
    head = alt.Header(title=None, orient="top", labelAnchor="start", labelLimit=WIDTH - ROOM)
    panels = alt.Row("group:N", sort=names_of(rows, "group"), header=head)
    panel = alt.layer(*layers).properties(width=WIDTH - ROOM, height=alt.Step(THICK))
    chart = panel.facet(row=panels, data=data, spacing=10).resolve_scale(y="independent")
    return styled(chart, said, title, more)


def _layers(alt: Any, rows: Rows, x: str) -> list[Any]:
    """The bars, and their whiskers or else the numbers at their ends."""
    across = alt.X("value:Q", title=x or None, axis=alt.Axis(tickCount=5), scale=alt.Scale(padding=44))
    said = tooltip(alt, rows, ("name", "group"), value=x or "value", low="from", high="to")
    sign = alt.condition(alt.datum.value >= 0, alt.value(COLOURS[0]), alt.value(COLOURS[1]))
    base = alt.Chart().encode(y=down(alt, ()), tooltip=said)
    bar = base.mark_bar(cornerRadiusEnd=2, height=alt.RelativeBandSize(0.72)).encode(x=across, color=sign)
    if whiskers(rows):
        return [bar, base.mark_rule(color=GREY, strokeWidth=2).encode(x="low:Q", x2="high:Q")]
    number = alt.Text("value:Q", format=even(row["value"] for row in rows))
    layers = [bar]
    for side, align, shift in (("datum.value >= 0", "left", 4), ("datum.value < 0", "right", -4)):
        word = base.transform_filter(side).mark_text(
            align=align, dx=shift, baseline="middle", fontSize=12, color=GREY, aria=False
        )
        layers.append(word.encode(x=across, text=number))
    return layers
