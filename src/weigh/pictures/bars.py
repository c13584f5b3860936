"""Bars: signed numbers with names, one under the other, such as weights and contributions."""

from __future__ import annotations

import math
from typing import Any

from weigh.pictures.channels import ROOM, described, down, tooltip
from weigh.pictures.facts import Rows, Table, checked, distinct, even, few, names_of, whiskers, words_of
from weigh.pictures.style import COLOURS, GREY, PAPER, WIDTH, altair, rows_of, styled

MOST = 40
THICK = 22  # pixels of a bar with its gap
PANEL = WIDTH - ROOM
NARROW = 190  # pixels of a panel on a phone
WORD = 44  # pixels of a number at the end of a bar


def bars(
    table: Table,
    x: str = "",
    title: str = "",
    told: str = "",
    longest: float = math.inf,
    what: str = "bars",
    most: int = MOST,
) -> Any:
    """Draw a horizontal bar per row, in the order given, to the right for numbers above zero.

    Parameters
    ----------
    table : rows with "name" and "value" and, where they are known, "low" and "high"; rows of
        different "group" have a panel each
    x, title : the titles of the axis and of the picture
    told : what a screen reader says
    longest : where longer bars are cut, which two strokes at their ends show; their numbers stay
    what : what the bars stand for, in the plural
    most : how many of them are drawn
    """
    x, title = words_of(x, title)
    given = list(table)
    words = ("name", "group") if any("group" in row for row in given) else ("name",)
    rows = checked("Bars", given, words, ("value",))
    distinct(rows, "name", "group")
    if any(abs(row["value"]) > longest for row in rows):
        rows = [{**row, "drawn": max(-longest, min(row["value"], longest))} for row in rows]
    rows, more = few(what, rows, most, *words)
    alt = altair()
    said = described("Bars", title, x, "", told)
    if len(words) == 1:
        return styled(_panel(alt, rows, _across(alt, rows, x, "width"), x), said, title, more)
    groups, panels = names_of(rows, "group"), []
    for group in groups:
        across = _across(alt, rows, x if group == groups[-1] else "", str(NARROW))
        panel = _panel(alt, [row for row in rows if row["group"] == group], across, x)
        head = {"text": group, "fontWeight": "bold", "limit": WIDTH}
        panels.append(panel.properties(width=PANEL, title=head))
    return styled(alt.vconcat(*panels, spacing=10).resolve_scale(x="shared"), said, title, more)


def _length(rows: Rows) -> str:
    """The number that a bar is as long as: where some are cut, another one than its value."""
    return "drawn" if "drawn" in rows[0] else "value"


def _across(alt: Any, rows: Rows, x: str, width: str) -> Any:
    """The axis of the numbers, with room beyond the longest bars for what stands at their ends."""
    length = _length(rows)
    ends = [row[name] for row in rows for name in (length, "low", "high") if row.get(name) is not None]
    low, high = min(0.0, *ends), max(0.0, *ends)
    room = 8 if whiskers(rows) else WORD
    unit = f"{(high - low) or 1.0} / ({width} - {room * ((low < 0) + (high > 0))})"
    scale = alt.Scale(
        domainMin=alt.ExprRef(f"{low} - {room if low < 0 else 0} * {unit}"),
        domainMax=alt.ExprRef(f"{high or 1.0 * (low == 0)} + {room if high > 0 else 0} * {unit}"),
        nice=False,
    )
    return alt.X(f"{length}:Q", title=x or None, stack=None, axis=alt.Axis(tickCount=5), scale=scale)


def _panel(alt: Any, rows: Rows, across: Any, x: str) -> Any:
    """The bars, and their whiskers or else the numbers at their ends."""
    said = tooltip(alt, rows, ("name", "group"), value=x or "value", low="from", high="to")
    sign = alt.condition(alt.datum.value >= 0, alt.value(COLOURS[0]), alt.value(COLOURS[1]))
    base = rows_of(alt, rows).encode(y=down(alt, names_of(rows, "name")), tooltip=said)
    bar = base.mark_bar(cornerRadiusEnd=2, height=alt.RelativeBandSize(0.72)).encode(x=across, color=sign)
    ends = [base.mark_rule(color=GREY, strokeWidth=2).encode(x="low:Q", x2="high:Q")]
    if not whiskers(rows):
        ends = [*_numbers(alt, base, rows, across), *_strokes(alt, rows, across)]
    return alt.layer(bar, *ends).properties(width=WIDTH, height=THICK * len(rows))


def _numbers(alt: Any, base: Any, rows: Rows, across: Any) -> list[Any]:
    number = alt.Text("value:Q", format=even(row[_length(rows)] for row in rows))
    layers = []
    for side, align, shift in ((alt.datum.value >= 0, "left", 4), (alt.datum.value < 0, "right", -4)):
        word = base.mark_text(align=align, dx=shift, baseline="middle", fontSize=12, color=GREY, aria=False)
        layers.append(word.encode(x=across, text=alt.condition(side, number, alt.value(""))))
    return layers


def _strokes(alt: Any, rows: Rows, across: Any) -> list[Any]:
    """Two strokes near the ends of bars that are cut."""
    layers = []
    for sign, align in ((1, "right"), (-1, "left")):
        cut_off = [row for row in rows if row[_length(rows)] != row["value"] and sign * row["value"] > 0]
        word = alt.MarkDef("text", align=align, dx=-6 * sign, fontWeight="bold", color=PAPER, aria=False)
        if cut_off:
            drawn = rows_of(alt, cut_off).encode(y=alt.Y("name:N"), x=across, text=alt.value("//"))
            drawn.mark = word
            layers.append(drawn)
    return layers
