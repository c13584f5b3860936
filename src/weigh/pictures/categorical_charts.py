"""Charts over names: bars, stacked bars, intervals and heatmaps."""

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
BAR_STEP = 22  # pixels per bar, including the gap
PANEL_WIDTH = CHART_WIDTH - NAME_AXIS_WIDTH
NARROW_PANEL_WIDTH = 190  # pixels; a panel on a phone
BAR_NUMBER_WIDTH = 44  # pixels; a number at the end of a bar


def bar_chart(
    table: ChartTable,
    x: str = "",
    title: str = "",
    description: str = "",
    longest: float = math.inf,
    what: str = "bars",
    most: int = MAX_BARS,
) -> Any:
    """Draw one horizontal bar per row, in the given order; positive values extend to the right.

    Parameters
    ----------
    table : rows with "name" and "value", optionally "low" and "high" (drawn as whiskers) and "group" (one
        panel per group)
    x, title : the titles of the axis and of the chart
    description : text for screen readers
    longest : bars are truncated at this length and marked with //; the printed numbers are not
    what : plural noun for the bars, used in the note about omitted ones
    most : the maximum number of bars
    """
    x, title = shorten_titles(x, title)
    records = list(table)
    text_fields = ("name", "group") if any("group" in row for row in records) else ("name",)
    rows = check_rows("Bars", records, text_fields, ("value",))
    make_names_unique(rows, "name", "group")
    if any(abs(row["value"]) > longest for row in rows):
        rows = [{**row, "drawn": max(-longest, min(row["value"], longest))} for row in rows]
    rows, note = limit_rows(what, rows, most, *text_fields)
    alt = import_altair()
    alt_text = describe_chart("Bars", title, x, "", description)
    if len(text_fields) == 1:
        return apply_style(_bar_panel(alt, rows, _bar_axis(alt, rows, x, "width"), x), alt_text, title, note)
    groups, panels = unique_names(rows, "group"), []
    for group in groups:
        across = _bar_axis(alt, rows, x if group == groups[-1] else "", str(NARROW_PANEL_WIDTH))
        panel = _bar_panel(alt, [row for row in rows if row["group"] == group], across, x)
        head = {"text": group, "fontWeight": "bold", "limit": CHART_WIDTH}
        panels.append(panel.properties(width=PANEL_WIDTH, title=head))
    return apply_style(alt.vconcat(*panels, spacing=10).resolve_scale(x="shared"), alt_text, title, note)


def _length_field(rows: ChartRows) -> str:
    """Return the field that holds the bar lengths: "drawn" if any bar is truncated, else "value"."""
    return "drawn" if "drawn" in rows[0] else "value"


def _bar_axis(alt: Any, rows: ChartRows, x: str, width: str) -> Any:
    """Return the value axis, with room beyond the longest bars for the numbers at their ends."""
    length = _length_field(rows)
    ends = [row[name] for row in rows for name in (length, "low", "high") if row.get(name) is not None]
    low, high = min(0.0, *ends), max(0.0, *ends)
    padding = 8 if rows_with_interval(rows) else BAR_NUMBER_WIDTH
    unit = f"{(high - low) or 1.0} / ({width} - {padding * ((low < 0) + (high > 0))})"
    scale = alt.Scale(
        domainMin=alt.ExprRef(f"{low} - {padding if low < 0 else 0} * {unit}"),
        domainMax=alt.ExprRef(f"{high or 1.0 * (low == 0)} + {padding if high > 0 else 0} * {unit}"),
        nice=False,
    )
    return alt.X(f"{length}:Q", title=x or None, stack=None, axis=alt.Axis(tickCount=5), scale=scale)


def _bar_panel(alt: Any, rows: ChartRows, across: Any, x: str) -> Any:
    """Return the bars with either whiskers or numbers at their ends."""
    tooltip = tooltip_channels(alt, rows, ("name", "group"), value=x or "value", low="from", high="to")
    colour = alt.condition(alt.datum.value >= 0, alt.value(COLOURS[0]), alt.value(COLOURS[1]))
    base = chart_from_rows(alt, rows).encode(y=name_axis(alt, unique_names(rows, "name")), tooltip=tooltip)
    bar = base.mark_bar(cornerRadiusEnd=2, height=alt.RelativeBandSize(0.72)).encode(x=across, color=colour)
    ends = [base.mark_rule(color=GREY, strokeWidth=2).encode(x="low:Q", x2="high:Q")]
    if not rows_with_interval(rows):
        ends = [*_number_layers(alt, base, rows, across), *_truncation_mark_layers(alt, rows, across)]
    return alt.layer(bar, *ends).properties(width=CHART_WIDTH, height=BAR_STEP * len(rows))


def _number_layers(alt: Any, base: Any, rows: ChartRows, across: Any) -> list[Any]:
    number = alt.Text("value:Q", format=fixed_decimals_format(row[_length_field(rows)] for row in rows))
    layers = []
    for side, align, shift in ((alt.datum.value >= 0, "left", 4), (alt.datum.value < 0, "right", -4)):
        text = base.mark_text(align=align, dx=shift, baseline="middle", fontSize=12, color=GREY, aria=False)
        layers.append(text.encode(x=across, text=alt.condition(side, number, alt.value(""))))
    return layers


def _truncation_mark_layers(alt: Any, rows: ChartRows, across: Any) -> list[Any]:
    """Return the // marks near the ends of truncated bars."""
    layers = []
    for sign, align in ((1, "right"), (-1, "left")):
        truncated = [
            row for row in rows if row[_length_field(rows)] != row["value"] and sign * row["value"] > 0
        ]
        mark = alt.MarkDef("text", align=align, dx=-6 * sign, fontWeight="bold", color=WHITE, aria=False)
        if truncated:
            layer = chart_from_rows(alt, truncated).encode(y=alt.Y("name:N"), x=across, text=alt.value("//"))
            layer.mark = mark
            layers.append(layer)
    return layers


PART_NUMBER_WIDTH = 42  # pixels; narrower parts show no number


def stacked_bar_chart(
    table: ChartTable, x: str = "", y: str = "", title: str = "", description: str = ""
) -> Any:
    """Draw one horizontal stacked bar per name; negative parts extend to the left.

    Parameters
    ----------
    table : rows with "name", "part" and "value"
    x, y, title : the titles of the value axis, of the name axis and of the chart
    description : text for screen readers
    """
    x, y, title = shorten_titles(x, y, title)
    rows = check_rows("Stacked bars", table, ("name", "part"), ("value",))
    rows, note = limit_rows("bars", rows, MAX_BARS, "name")
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
    return apply_style(chart, describe_chart("Stacked bars", title, x, y, description), title, note)


def _stack_parts(rows: ChartRows) -> ChartRows:
    """Add the extent of each part: stacked in order, negative and positive parts separately."""
    ends: dict[tuple[str, bool], float] = {}
    stacked = []
    for row in rows:
        side = (row["name"], row["value"] < 0)
        start = ends.get(side, 0.0)
        ends[side] = end = start + row["value"]
        stacked.append({**row, "from": min(start, end), "to": max(start, end), "middle": (start + end) / 2})
    span = max(ends.values()) - min(0.0, *ends.values()) or 1.0
    return [{**row, "share": abs(row["value"]) / span} for row in stacked]


MAX_INTERVALS = 40


def interval_chart(
    table: ChartTable,
    x: str = "",
    title: str = "",
    mark: float | None = None,
    description: str = "",
    what: str = "intervals",
    most: int = MAX_INTERVALS,
) -> Any:
    """Draw one dot per row with a whisker from low to high, in the given order.

    Parameters
    ----------
    table : rows with "name" and "value", optionally "low" and "high", and "series" if a name has several
        dots
    x, title : the titles of the axis and of the chart
    mark : where to draw a vertical line, such as at no difference
    description : text for screen readers
    what : plural noun for the names, used in the note about omitted ones
    most : the maximum number of names
    """
    x, title = shorten_titles(x, title)
    rows = check_rows("Intervals", ({"series": "", **row} for row in table), ("name", "series"), ("value",))
    make_names_unique(rows, "name", "series")
    rows, note = limit_rows(what, rows, most, "name")
    names, series = unique_names(rows, "name"), unique_names(rows, "series")
    check_series_count("Intervals", series)
    alt = import_altair()
    encoding = {
        "y": name_axis(alt, names),
        "color": colour_channel(alt, series, **POINT_LEGEND),
        "tooltip": tooltip_channels(alt, rows, ("name", "series"), value=x or "value", low="from", high="to"),
    }
    step = 28 if len(series) == 1 else 16 * len(series) + 8
    if len(series) > 1:
        encoding["yOffset"] = alt.YOffset("series:N", scale=alt.Scale(domain=series))
    x_scale = alt.Scale(zero=False, padding=12)
    across = alt.X("value:Q", title=x or None, scale=x_scale, axis=alt.Axis(tickCount=6))
    line = chart_from_rows(alt, rows_with_interval(rows)).mark_rule(strokeWidth=2.5)
    dots = chart_from_rows(alt, rows).mark_point(filled=True, size=90, opacity=1)
    layers = [
        *vertical_rules(
            alt, [] if mark is None else [(mark, "")], alt.X("x:Q", title=x or None, scale=x_scale)
        ),
        line.encode(**encoding, x=alt.X("low:Q", scale=x_scale), x2="high:Q"),
        dots.encode(**encoding, x=across, shape=shape_channel(alt, series, **POINT_LEGEND)),
    ]
    chart = alt.layer(*layers).properties(width=CHART_WIDTH - 100, height=step * len(names))
    return apply_style(chart, describe_chart("Intervals", title, x, "", description), title, note)


MAX_HEATMAP_SIDE = 40
MAX_NUMBERED_COLUMNS = 16  # with more columns, cells show no numbers
LIGHT_TEXT_SHADE = 0.61  # text is light on this shade and above
CHARACTER_WIDTH = 7  # pixels


def heatmap(table: ChartTable, x: str = "", y: str = "", title: str = "", description: str = "") -> Any:
    """Draw a table of shaded cells with their numbers; cells of shade 0 have no fill.

    Parameters
    ----------
    table : rows with "row", "column", "value" (a number) and "shade" from 0 to 1
    x, y, title : the titles of the columns, of the rows and of the chart
    description : text for screen readers
    """
    x, y, title = shorten_titles(x, y, title)
    rows = check_rows("Cells", table, ("row", "column"), ("value", "shade"))
    check_unit_interval("Cells", rows, "shade")
    row_names, columns = unique_names(rows, "row"), unique_names(rows, "column")
    for names, what in ((row_names, "rows"), (columns, "columns")):
        check_count(what, len(names), MAX_HEATMAP_SIDE, "Join the rare ones.")
    alt = import_altair()
    width = _column_width(columns)
    number = number_format(row["value"] for row in rows)
    base = chart_from_rows(alt, [{**row, "ink": _text_colour(row["shade"])} for row in rows]).encode(
        x=_column_axis(alt, columns, x, width),
        y=name_axis(alt, row_names, y, "row"),
        tooltip=[
            alt.Tooltip("row:N", title=y or "row"),
            alt.Tooltip("column:N", title=x or "column"),
            alt.Tooltip("value:Q", format=number),
        ],
    )
    fill = alt.Fill("shade:Q", scale=alt.Scale(domain=[0, 1], range=list(HEATMAP_COLOURS)), legend=None)
    fill_opacity = alt.condition(alt.datum.shade > 0, alt.value(1), alt.value(0))
    rect = base.mark_rect(stroke=GREY, strokeOpacity=0.35, strokeWidth=1)
    layers = [rect.encode(fill=fill, fillOpacity=fill_opacity)]
    if len(columns) <= MAX_NUMBERED_COLUMNS:
        # On a narrow page the numbers would overlap; only the tooltip shows them there.
        opacity = alt.ExprRef(f"width < {28 * len(columns)} ? 0 : 1")
        numbers = base.mark_text(fontSize=13, fontWeight="bold", opacity=opacity, aria=False)
        layers.append(
            numbers.encode(text=alt.Text("value:Q", format=number), color=alt.Color("ink:N", scale=None))
        )
    chart = alt.layer(*layers).properties(width=width * len(columns), height=min(width, 36) * len(row_names))
    return apply_style(chart, describe_chart("A table", title, x, y, description), title)


def _column_width(columns: list[str]) -> int:
    """Return the width of a column in pixels: wide enough for the names if there are few columns."""
    if len(columns) > MAX_NUMBERED_COLUMNS:
        return 16
    return min(max(40, CHARACTER_WIDTH * max(map(len, columns)) + 12), max(40, 520 // len(columns)), 110)


def _column_axis(alt: Any, columns: list[str], title: str, width: int) -> Any:
    is_many = len(columns) > MAX_NUMBERED_COLUMNS
    angle = -90 if is_many else -45 if CHARACTER_WIDTH * max(map(len, columns)) > width else 0
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
    """Return the text colour that is legible on a shade."""
    return WHITE if shade >= LIGHT_TEXT_SHADE else BLACK if shade > 0 else GREY
