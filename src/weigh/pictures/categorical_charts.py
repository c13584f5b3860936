"""Bars: signed numbers with names, one under the other, such as weights and contributions."""

from __future__ import annotations

import math
from typing import Any

from weigh.pictures.chart_data import (
    ChartRows,
    ChartTable,
    check_count,
    check_rows,
    check_unit_interval,
    fixed_decimals_format,
    limit_rows,
    make_names_unique,
    number_format,
    rows_with_interval,
    shorten_titles,
    unique_names,
)
from weigh.pictures.style import (
    BLACK,
    CHART_WIDTH,
    COLOURS,
    GREY,
    HEATMAP_COLOURS,
    NAME_AXIS_WIDTH,
    POINT_LEGEND,
    WHITE,
    apply_style,
    chart_from_rows,
    check_series_count,
    colour_channel,
    describe_chart,
    import_altair,
    name_axis,
    shape_channel,
    tooltip_channels,
    vertical_rules,
)

MAX_BARS = 40
BAR_STEP = 22  # pixels of a bar with its gap
PANEL_WIDTH = CHART_WIDTH - NAME_AXIS_WIDTH
NARROW_PANEL_WIDTH = 190  # pixels of a panel on a phone
BAR_NUMBER_WIDTH = 44  # pixels of a number at the end of a bar


def bar_chart(
    table: ChartTable,
    x: str = "",
    title: str = "",
    told: str = "",
    longest: float = math.inf,
    what: str = "bars",
    most: int = MAX_BARS,
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
    x, title = shorten_titles(x, title)
    given = list(table)
    words = ("name", "group") if any("group" in row for row in given) else ("name",)
    rows = check_rows("Bars", given, words, ("value",))
    make_names_unique(rows, "name", "group")
    if any(abs(row["value"]) > longest for row in rows):
        rows = [{**row, "drawn": max(-longest, min(row["value"], longest))} for row in rows]
    rows, more = limit_rows(what, rows, most, *words)
    alt = import_altair()
    said = describe_chart("Bars", title, x, "", told)
    if len(words) == 1:
        return apply_style(_bar_panel(alt, rows, _bar_axis(alt, rows, x, "width"), x), said, title, more)
    groups, panels = unique_names(rows, "group"), []
    for group in groups:
        across = _bar_axis(alt, rows, x if group == groups[-1] else "", str(NARROW_PANEL_WIDTH))
        panel = _bar_panel(alt, [row for row in rows if row["group"] == group], across, x)
        head = {"text": group, "fontWeight": "bold", "limit": CHART_WIDTH}
        panels.append(panel.properties(width=PANEL_WIDTH, title=head))
    return apply_style(alt.vconcat(*panels, spacing=10).resolve_scale(x="shared"), said, title, more)


def _length_field(rows: ChartRows) -> str:
    """The number that a bar is as long as: where some are cut, another one than its value."""
    return "drawn" if "drawn" in rows[0] else "value"


def _bar_axis(alt: Any, rows: ChartRows, x: str, width: str) -> Any:
    """The axis of the numbers, with room beyond the longest bars for what stands at their ends."""
    length = _length_field(rows)
    ends = [row[name] for row in rows for name in (length, "low", "high") if row.get(name) is not None]
    low, high = min(0.0, *ends), max(0.0, *ends)
    room = 8 if rows_with_interval(rows) else BAR_NUMBER_WIDTH
    unit = f"{(high - low) or 1.0} / ({width} - {room * ((low < 0) + (high > 0))})"
    scale = alt.Scale(
        domainMin=alt.ExprRef(f"{low} - {room if low < 0 else 0} * {unit}"),
        domainMax=alt.ExprRef(f"{high or 1.0 * (low == 0)} + {room if high > 0 else 0} * {unit}"),
        nice=False,
    )
    return alt.X(f"{length}:Q", title=x or None, stack=None, axis=alt.Axis(tickCount=5), scale=scale)


def _bar_panel(alt: Any, rows: ChartRows, across: Any, x: str) -> Any:
    """The bars, and their whiskers or else the numbers at their ends."""
    said = tooltip_channels(alt, rows, ("name", "group"), value=x or "value", low="from", high="to")
    sign = alt.condition(alt.datum.value >= 0, alt.value(COLOURS[0]), alt.value(COLOURS[1]))
    base = chart_from_rows(alt, rows).encode(y=name_axis(alt, unique_names(rows, "name")), tooltip=said)
    bar = base.mark_bar(cornerRadiusEnd=2, height=alt.RelativeBandSize(0.72)).encode(x=across, color=sign)
    ends = [base.mark_rule(color=GREY, strokeWidth=2).encode(x="low:Q", x2="high:Q")]
    if not rows_with_interval(rows):
        ends = [*_number_layers(alt, base, rows, across), *_cut_mark_layers(alt, rows, across)]
    return alt.layer(bar, *ends).properties(width=CHART_WIDTH, height=BAR_STEP * len(rows))


def _number_layers(alt: Any, base: Any, rows: ChartRows, across: Any) -> list[Any]:
    number = alt.Text("value:Q", format=fixed_decimals_format(row[_length_field(rows)] for row in rows))
    layers = []
    for side, align, shift in ((alt.datum.value >= 0, "left", 4), (alt.datum.value < 0, "right", -4)):
        word = base.mark_text(align=align, dx=shift, baseline="middle", fontSize=12, color=GREY, aria=False)
        layers.append(word.encode(x=across, text=alt.condition(side, number, alt.value(""))))
    return layers


def _cut_mark_layers(alt: Any, rows: ChartRows, across: Any) -> list[Any]:
    """Two strokes near the ends of bars that are cut."""
    layers = []
    for sign, align in ((1, "right"), (-1, "left")):
        cut_off = [
            row for row in rows if row[_length_field(rows)] != row["value"] and sign * row["value"] > 0
        ]
        word = alt.MarkDef("text", align=align, dx=-6 * sign, fontWeight="bold", color=WHITE, aria=False)
        if cut_off:
            drawn = chart_from_rows(alt, cut_off).encode(y=alt.Y("name:N"), x=across, text=alt.value("//"))
            drawn.mark = word
            layers.append(drawn)
    return layers


PART_NUMBER_WIDTH = 42  # pixels that a number needs


def stacked_bar_chart(table: ChartTable, x: str = "", y: str = "", title: str = "", told: str = "") -> Any:
    """Draw a horizontal bar per name, made of its parts; parts below zero go to the left.

    Parameters
    ----------
    table : rows with "name", "part" and "value"
    x, y, title : the titles of the numbers, of the names and of the picture
    told : what a screen reader says
    """
    x, y, title = shorten_titles(x, y, title)
    rows = check_rows("Stacked bars", table, ("name", "part"), ("value",))
    rows, more = limit_rows("bars", rows, MAX_BARS, "name")
    names, parts = unique_names(rows, "name"), unique_names(rows, "part")
    check_series_count("Stacked bars", parts)
    alt = import_altair()
    base = chart_from_rows(alt, _stack_parts(rows)).encode(
        y=name_axis(alt, names, y),
        tooltip=tooltip_channels(alt, rows, ("name", "part"), value=x or "value"),
    )
    has_room = alt.condition(f"datum.share * width >= {PART_NUMBER_WIDTH}", alt.value(1), alt.value(0))
    number = alt.Text("value:Q", format=fixed_decimals_format(row["value"] for row in rows))
    layers = [
        base.mark_bar(height=alt.RelativeBandSize(0.72), stroke=WHITE, strokeWidth=0.5).encode(
            x=alt.X("from:Q", title=x or None, axis=alt.Axis(tickCount=6)),
            x2="to:Q",
            color=colour_channel(alt, parts, "part", symbolType="square", symbolStrokeWidth=0),
        ),
        base.mark_text(color=WHITE, fontSize=12, fontWeight="bold", aria=False).encode(
            x="middle:Q", text=number, opacity=has_room
        ),
    ]
    chart = alt.layer(*layers).properties(width=CHART_WIDTH - 100, height=30 * len(names))
    return apply_style(chart, describe_chart("Stacked bars", title, x, y, told), title, more)


def _stack_parts(rows: ChartRows) -> ChartRows:
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


MAX_INTERVALS = 40


def interval_chart(
    table: ChartTable,
    x: str = "",
    title: str = "",
    mark: float | None = None,
    told: str = "",
    what: str = "intervals",
    most: int = MAX_INTERVALS,
) -> Any:
    """Draw a dot per row with a whisker from low to high, in the order given.

    Parameters
    ----------
    table : rows with "name" and "value", "low" and "high" where they are known, and "series" where
        names have several dots
    x, title : the titles of the axis and of the picture
    mark : where to draw an upright line, such as at no difference
    told : what a screen reader says
    what : what the names are those of, in the plural
    most : how many names are drawn
    """
    x, title = shorten_titles(x, title)
    rows = check_rows("Intervals", ({"series": "", **row} for row in table), ("name", "series"), ("value",))
    make_names_unique(rows, "name", "series")
    rows, more = limit_rows(what, rows, most, "name")
    names, series = unique_names(rows, "name"), unique_names(rows, "series")
    check_series_count("Intervals", series)
    alt = import_altair()
    place = {
        "y": name_axis(alt, names),
        "color": colour_channel(alt, series, **POINT_LEGEND),
        "tooltip": tooltip_channels(alt, rows, ("name", "series"), value=x or "value", low="from", high="to"),
    }
    step = 28 if len(series) == 1 else 16 * len(series) + 8
    if len(series) > 1:
        place["yOffset"] = alt.YOffset("series:N", scale=alt.Scale(domain=series))
    around = alt.Scale(zero=False, padding=12)
    across = alt.X("value:Q", title=x or None, scale=around, axis=alt.Axis(tickCount=6))
    line = chart_from_rows(alt, rows_with_interval(rows)).mark_rule(strokeWidth=2.5)
    dots = chart_from_rows(alt, rows).mark_point(filled=True, size=90, opacity=1)
    layers = [
        *vertical_rules(
            alt, [] if mark is None else [(mark, "")], alt.X("x:Q", title=x or None, scale=around)
        ),
        line.encode(**place, x=alt.X("low:Q", scale=around), x2="high:Q"),
        dots.encode(**place, x=across, shape=shape_channel(alt, series, **POINT_LEGEND)),
    ]
    chart = alt.layer(*layers).properties(width=CHART_WIDTH - 100, height=step * len(names))
    return apply_style(chart, describe_chart("Intervals", title, x, "", told), title, more)


MAX_HEATMAP_SIDE = 40
MAX_NUMBERED_COLUMNS = 16  # columns whose numbers stand in the cells
LIGHT_TEXT_SHADE = 0.61  # the shade from which words are light
CHARACTER_WIDTH = 7  # pixels


def heatmap(table: ChartTable, x: str = "", y: str = "", title: str = "", told: str = "") -> Any:
    """Draw a table of shaded cells with their numbers; a cell of shade 0 is left clear.

    Parameters
    ----------
    table : rows with "row", "column", "value" (a number) and "shade" from 0 to 1
    x, y, title : the titles of the columns, of the rows and of the picture
    told : what a screen reader says
    """
    x, y, title = shorten_titles(x, y, title)
    rows = check_rows("Cells", table, ("row", "column"), ("value", "shade"))
    check_unit_interval("Cells", rows, "shade")
    lines, columns = unique_names(rows, "row"), unique_names(rows, "column")
    for names, what in ((lines, "rows"), (columns, "columns")):
        check_count(what, len(names), MAX_HEATMAP_SIDE, "Join the rare ones.")
    alt = import_altair()
    wide = _column_width(columns)
    figure = number_format(row["value"] for row in rows)
    base = chart_from_rows(alt, [{**row, "ink": _text_colour(row["shade"])} for row in rows]).encode(
        x=_column_axis(alt, columns, x, wide),
        y=name_axis(alt, lines, y, "row"),
        tooltip=[
            alt.Tooltip("row:N", title=y or "row"),
            alt.Tooltip("column:N", title=x or "column"),
            alt.Tooltip("value:Q", format=figure),
        ],
    )
    heat = alt.Fill("shade:Q", scale=alt.Scale(domain=[0, 1], range=list(HEATMAP_COLOURS)), legend=None)
    clear = alt.condition(alt.datum.shade > 0, alt.value(1), alt.value(0))
    rect = base.mark_rect(stroke=GREY, strokeOpacity=0.35, strokeWidth=1)
    layers = [rect.encode(fill=heat, fillOpacity=clear)]
    if len(columns) <= MAX_NUMBERED_COLUMNS:
        # On a narrow page the numbers would run into each other, and only a pointer is told.
        seen = alt.ExprRef(f"width < {28 * len(columns)} ? 0 : 1")
        word = base.mark_text(fontSize=13, fontWeight="bold", opacity=seen, aria=False)
        layers.append(
            word.encode(text=alt.Text("value:Q", format=figure), color=alt.Color("ink:N", scale=None))
        )
    chart = alt.layer(*layers).properties(width=wide * len(columns), height=min(wide, 36) * len(lines))
    return apply_style(chart, describe_chart("A table", title, x, y, told), title)


def _column_width(columns: list[str]) -> int:
    """The pixels of a column: where there are few, enough for their names."""
    if len(columns) > MAX_NUMBERED_COLUMNS:
        return 16
    return min(max(40, CHARACTER_WIDTH * max(map(len, columns)) + 12), max(40, 520 // len(columns)), 110)


def _column_axis(alt: Any, columns: list[str], title: str, wide: int) -> Any:
    is_many = len(columns) > MAX_NUMBERED_COLUMNS
    angle = -90 if is_many else -45 if CHARACTER_WIDTH * max(map(len, columns)) > wide else 0
    axis = alt.Axis(
        orient="top",
        labelAngle=angle,
        labelLimit=110,
        labelOverlap="greedy" if is_many else False,
        ticks=False,
        domain=False,
    )
    return alt.X("column:N", scale=alt.Scale(domain=columns), title=title or None, axis=axis)


def _text_colour(shade: float) -> str:
    """The colour of words that is read on a shade."""
    return WHITE if shade >= LIGHT_TEXT_SHADE else BLACK if shade > 0 else GREY
