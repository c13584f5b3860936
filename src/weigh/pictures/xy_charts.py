"""Charts of y over x: lines with bands, regularisation paths, reliability diagrams and scatter plots."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from weigh import errors
from weigh.pictures.chart_data import (
    ChartRows,
    ChartTable,
    check_count,
    check_rows,
    check_unit_interval,
    round_to_digits,
    rows_with_interval,
    shorten_titles,
    unique_names,
)
from weigh.pictures.style import (
    CHART_WIDTH,
    COLOURS,
    GREY,
    LINE_LEGEND,
    POINT_LEGEND,
    SQUARE_SIZE,
    apply_style,
    chart_from_rows,
    check_series_count,
    colour_channel,
    dash_channel,
    describe_chart,
    import_altair,
    shape_channel,
    tooltip_channels,
    vertical_rules,
)

MIN_LABELLED_DECADES, MAX_LABELLED_DECADES = 1.5, 4  # decades
MAX_DOTS = 120  # with more rows, lines have no dots


def line_chart(
    table: ChartTable,
    x: str = "",
    y: str = "",
    title: str = "",
    log: bool = False,
    marks: Iterable[tuple[float, str]] = (),
    description: str = "",
    more: str = "",
    points: ChartTable = (),
) -> Any:
    """Draw one line per series over x, with a band from low to high.

    Parameters
    ----------
    table : rows with "series", "x" and "y", optionally "low" and "high" (a band); rows with "fitted" true
        form a thin dashed line in the colour of their series
    x, y, title : the titles of the axes and of the chart
    log : whether the x axis is logarithmic
    marks : pairs of x and label, drawn as dashed vertical lines
    description : text for screen readers
    more : the subtitle
    points : rows with "series", "x" and "y", drawn as points in the colours of their series
    """
    x, y, title, more = shorten_titles(x, y, title, more)
    rows = check_rows("Curves", table, ("series",), ("x", "y"), ("fitted",))
    records = list(points)
    dots = check_rows("Points", records, ("series",), ("x", "y")) if records else []
    names = unique_names([*rows, *dots], "series")
    check_series_count("Curves", names)
    marks = list(marks)
    _check_log_axis([*(row["x"] for row in rows), *(x for x, _ in marks)], log)
    alt = import_altair()
    across = _x_axis(alt, rows, x, log)
    up = alt.Y("y:Q", title=y or None, scale=alt.Scale(zero=_includes_zero(rows)))
    colour = colour_channel(alt, names, **LINE_LEGEND)
    measured = [row for row in rows if not row["fitted"]]
    fitted = [row for row in rows if row["fitted"]]
    layers = []
    if banded := rows_with_interval(rows):
        band = chart_from_rows(alt, banded).mark_area(opacity=0.18)
        layers.append(band.encode(x=across, y=alt.Y("low:Q"), y2="high:Q", color=colour))
    if fitted:
        thin = chart_from_rows(alt, fitted).mark_line(strokeWidth=1.5, strokeDash=[3, 3], opacity=0.9)
        layers.append(thin.encode(x=across, y=up, color=colour))
    if measured:
        line = chart_from_rows(alt, measured).mark_line(strokeWidth=2.5, point=len(measured) <= MAX_DOTS)
        tooltip = tooltip_channels(alt, measured, ("series",), x=x, y=y, low="from", high="to")
        layers.append(
            line.encode(
                x=across,
                y=up,
                color=colour,
                strokeDash=dash_channel(alt, names, **LINE_LEGEND),
                tooltip=tooltip,
            )
        )
    if dots:
        point = chart_from_rows(alt, dots).mark_point(filled=True, size=45, opacity=0.85)
        layers.append(point.encode(x=across, y=up, color=colour))
    chart = alt.layer(*layers, *vertical_rules(alt, marks, across, _axis_middle(rows, log))).properties(
        width=CHART_WIDTH, height=300
    )
    return apply_style(chart, describe_chart("Curves", title, x, y, description), title, more)


def _check_log_axis(numbers: list[float], log: bool) -> None:
    if log and min(numbers) <= 0:
        raise errors.DataError(f"A logarithmic axis shows numbers above zero, got {min(numbers)!r} for 'x'.")


def _x_axis(alt: Any, rows: ChartRows, title: str, log: bool) -> Any:
    """Return the x axis; integer data get integer ticks."""
    is_integer = all(float(row["x"]).is_integer() for row in rows)
    ticks: dict[str, Any] = {} if log else {"tickMinStep": 1.0 if is_integer else 0.0}
    if not log and not is_integer and {0.0, 1.0} == {end(row["x"] for row in rows) for end in (min, max)}:
        # An axis of shares labels both ends.
        ticks = {"values": [tenth / 10 for tenth in range(0, 11, 2)], "labelOverlap": False}
    # SI prefixes are familiar for thousands (k), but not for thousandths (m).
    if log:
        ticks = {"format": "~s" if min(row["x"] for row in rows) >= 1 else "~g", **_log_ticks(rows)}
    scale = alt.Scale(type="log", nice=False) if log else alt.Undefined
    return alt.X("x:Q", title=title or None, scale=scale, axis=alt.Axis(grid=False, **ticks))


def _log_ticks(rows: ChartRows) -> dict[str, Any]:
    """Return ticks at 1, 2 and 5 times each power of ten for axes of medium length.

    Shorter axes need more ticks, and for longer ones the powers of ten suffice.
    """
    low, high = (math.log10(end(row["x"] for row in rows)) for end in (min, max))
    if not MIN_LABELLED_DECADES <= high - low <= MAX_LABELLED_DECADES:
        return {}
    powers = range(math.floor(low), math.ceil(high))
    steps = [times * 10.0**power for power in powers for times in (1, 2, 5)]
    return {"values": [step for step in [*steps, 10.0 ** math.ceil(high)] if low <= math.log10(step) <= high]}


def _axis_middle(rows: ChartRows, log: bool) -> float:
    """Return the x in the middle of the axis."""
    low, high = (end(row["x"] for row in rows) for end in (min, max))
    return math.sqrt(low * high) if log else (low + high) / 2


def _includes_zero(rows: ChartRows) -> bool:
    """Whether the y axis starts at zero: not if all values are far from it and close together."""
    values = [row[name] for row in rows for name in ("y", "low", "high") if row.get(name) is not None]
    return min(values) < max(values) / 4 if min(values) > 0 else True


def path_chart(
    table: ChartTable,
    x: str = "",
    y: str = "",
    title: str = "",
    mark: float | None = None,
    description: str = "",
) -> Any:
    """Draw one line per series over log x; named series have colours and a legend, others are grey.

    Parameters
    ----------
    table : rows with "series", "x" above zero, "y" and "named"
    x, y, title : the titles of the axes and of the chart
    mark : where to draw a vertical line, such as at the best x
    description : text for screen readers
    """
    x, y, title = shorten_titles(x, y, title)
    checked = check_rows("Lines", table, ("series",), ("x", "y"), ("named",))
    rows = [
        {**row, "x": round_to_digits(row["x"]), "y": round_to_digits(row["y"])}
        for row in checked
        if row["x"] > 0
    ]
    named = [row for row in rows if row["named"]]
    names = unique_names(named, "series")
    alt = import_altair()
    encoding = {
        "x": alt.X(
            "x:Q", title=x or None, scale=alt.Scale(type="log", nice=False), axis=alt.Axis(grid=False)
        ),
        "y": alt.Y("y:Q", title=y or None),
        "tooltip": tooltip_channels(alt, rows, ("series",), x=x, y=y),
    }
    palette = [COLOURS[at % len(COLOURS)] for at in range(len(names))]
    dashes = [[1, 0] if at < len(COLOURS) else [6, 3] for at in range(len(names))]
    legend = alt.Legend(title=None, orient="right", symbolType="stroke", symbolStrokeWidth=3, labelLimit=170)
    colour = alt.Color("series:N", scale=alt.Scale(domain=names, range=palette), sort=names, legend=legend)
    strokes = alt.StrokeDash(
        "series:N", scale=alt.Scale(domain=names, range=dashes), sort=names, legend=legend
    )
    unnamed = chart_from_rows(alt, [row for row in rows if not row["named"]])
    layers = [
        unnamed.mark_line(strokeWidth=1, opacity=0.45, color=GREY).encode(**encoding, detail="series:N"),
        chart_from_rows(alt, named)
        .mark_line(strokeWidth=2.5)
        .encode(**encoding, color=colour, strokeDash=strokes),
        *vertical_rules(alt, [] if mark is None else [(mark, "")], encoding["x"]),
    ]
    chart = alt.layer(*layers).properties(width=CHART_WIDTH, height=340)
    return apply_style(chart, describe_chart("Lines", title, x, y, description), title)


RELIABILITY_SIZE = 360
RELIABILITY_AXES = ("probability predicted", "share observed")
RELIABILITY_TOOLTIPS = {
    "predicted": "predicted",
    "observed": "observed",
    "low": "from",
    "high": "to",
    "rows": "rows",
}


def reliability_diagram(table: ChartTable, title: str = "", description: str = "") -> Any:
    """Draw observed frequency over predicted probability, with the diagonal of perfect calibration.

    Parameters
    ----------
    table : rows with "series", "predicted", "observed" and "rows" (the count), optionally "low" and "high"
        of the observed frequency
    title : the title of the chart
    description : text for screen readers
    """
    (title,) = shorten_titles(title)
    rows = check_rows("Reliability curves", table, ("series",), ("predicted", "observed", "rows"))
    check_unit_interval("Reliability curves", rows, "predicted", "observed")
    names = unique_names(rows, "series")
    check_series_count("Reliability curves", names)
    alt = import_altair()
    unit = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format="~g")
    encoding = {
        "x": alt.X("predicted:Q", title=RELIABILITY_AXES[0], scale=unit, axis=axis),
        "y": alt.Y("observed:Q", title=RELIABILITY_AXES[1], scale=unit, axis=axis),
    }
    tooltip = tooltip_channels(alt, rows, ("series",), **RELIABILITY_TOOLTIPS)
    coloured = {**encoding, "color": colour_channel(alt, names, **POINT_LEGEND)}
    ideal = chart_from_rows(alt, [{"predicted": end, "observed": end} for end in (0, 1)])
    intervals = chart_from_rows(alt, rows_with_interval(rows))
    whisker = {**coloured, "y": alt.Y("low:Q"), "y2": alt.Y2("high:Q"), "tooltip": tooltip}
    size = alt.Size("rows:Q", scale=alt.Scale(type="sqrt", range=[30, 240], zero=True), legend=None)
    dots = {**coloured, "size": size, "shape": shape_channel(alt, names, **POINT_LEGEND), "tooltip": tooltip}
    layers = [
        ideal.mark_line(stroke=GREY, strokeDash=[4, 3], strokeWidth=1.5, aria=False).encode(**encoding),
        intervals.mark_rule(strokeWidth=2, opacity=0.6).encode(**whisker),
        chart_from_rows(alt, rows)
        .mark_line(strokeWidth=2.5)
        .encode(**coloured, strokeDash=dash_channel(alt, names, **POINT_LEGEND)),
        chart_from_rows(alt, rows).mark_point(filled=True, opacity=1).encode(**dots),
    ]
    chart = alt.layer(*layers).properties(width=RELIABILITY_SIZE, height=RELIABILITY_SIZE)
    return apply_style(chart, describe_chart("Reliability", title, *RELIABILITY_AXES, description), title)


MAX_SCATTER_POINTS = 5_000


def scatter_plot(
    table: ChartTable,
    x: str = "",
    y: str = "",
    title: str = "",
    diagonal: bool = False,
    level: float | None = None,
    description: str = "",
) -> Any:
    """Draw one point per row.

    Parameters
    ----------
    table : rows with "x" and "y", optionally "series" and "text" (shown in the tooltip)
    x, y, title : the titles of the axes and of the chart
    diagonal : whether to draw the line y = x
    level : where to draw a horizontal line, such as at residual zero
    description : text for screen readers
    """
    x, y, title = shorten_titles(x, y, title)
    records = [{"series": "", "text": "", **row} for row in table]
    rows = check_rows("Points", records, ("series", "text"), ("x", "y"))
    check_count("points", len(rows), MAX_SCATTER_POINTS, "Give a sample of them.")
    names = unique_names(rows, "series")
    check_series_count("Points", names)
    alt = import_altair()
    scale = alt.Scale(zero=False, nice=True, padding=8)
    axis = alt.Axis(tickCount=6)
    across = alt.X("x:Q", title=x or None, scale=scale, axis=axis)
    up = alt.Y("y:Q", title=y or None, scale=scale, axis=axis)
    crowded = len(rows) > 400
    dots = chart_from_rows(alt, rows).mark_point(
        filled=True, size=24 if crowded else 60, opacity=0.55 if crowded else 0.85
    )
    points = dots.encode(
        x=across,
        y=up,
        color=colour_channel(alt, names, **POINT_LEGEND),
        shape=shape_channel(alt, names, **POINT_LEGEND),
        tooltip=tooltip_channels(alt, rows, ("text", "series"), x=x, y=y),
    )
    guides = [
        *([_diagonal_ends(rows)] if diagonal else []),
        *([] if level is None else [_horizontal_line_ends(rows, level)]),
    ]
    lines = [
        chart_from_rows(alt, ends)
        .mark_line(aria=False, stroke=GREY, strokeDash=[4, 3], strokeWidth=1.5)
        .encode(x=across, y=up)
        for ends in guides
    ]
    chart = alt.layer(*lines, points).properties(width=SQUARE_SIZE, height=SQUARE_SIZE - 80)
    return apply_style(chart, describe_chart("Points", title, x, y, description), title)


def _diagonal_ends(rows: ChartRows) -> ChartRows:
    """Return the ends of the line y = x."""
    return [{"x": end, "y": end} for end in _extent(rows, "xy")]


def _horizontal_line_ends(rows: ChartRows, height: float) -> ChartRows:
    """Return the ends of a horizontal line as wide as the points."""
    return [{"x": end, "y": height} for end in _extent(rows, "x")]


def _extent(rows: ChartRows, axes: str) -> list[float]:
    return [end(row[axis] for row in rows for axis in axes) for end in (min, max)]
