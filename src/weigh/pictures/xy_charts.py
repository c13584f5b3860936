"""Curves: one line per series, with a band where its uncertainty is known."""

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

MIN_LABELLED_DECADES, MAX_LABELLED_DECADES = 1.5, 4  # decades of a logarithmic axis
MAX_DOTS = 120  # rows of which each has a dot on its line


def line_chart(
    table: ChartTable,
    x: str = "",
    y: str = "",
    title: str = "",
    log: bool = False,
    marks: Iterable[tuple[float, str]] = (),
    told: str = "",
    more: str = "",
) -> Any:
    """Draw a line per series over x, with a band from low to high.

    Parameters
    ----------
    table : rows with "series", "x" and "y" and, where there is a band, "low" and "high"; rows with
        "fitted" true are a thin dashed line in the colour of their series
    x, y : the titles of the axes
    title : what the picture shows
    log : whether the axis of x is logarithmic
    marks : pairs of x and words, drawn as upright dashed lines
    told : what a screen reader says
    more : what stands small under the title
    """
    x, y, title, more = shorten_titles(x, y, title, more)
    rows = check_rows("Curves", table, ("series",), ("x", "y"), ("fitted",))
    names = unique_names(rows, "series")
    check_series_count("Curves", names)
    marks = list(marks)
    _check_log_axis([*(row["x"] for row in rows), *(x for x, _ in marks)], log)
    alt = import_altair()
    across = _x_axis(alt, rows, x, log)
    height = alt.Y("y:Q", title=y or None, scale=alt.Scale(zero=_includes_zero(rows)))
    paint = colour_channel(alt, names, **LINE_LEGEND)
    measured = [row for row in rows if not row["fitted"]]
    fitted = [row for row in rows if row["fitted"]]
    layers = []
    if banded := rows_with_interval(rows):
        band = chart_from_rows(alt, banded).mark_area(opacity=0.18)
        layers.append(band.encode(x=across, y=alt.Y("low:Q"), y2="high:Q", color=paint))
    if fitted:
        thin = chart_from_rows(alt, fitted).mark_line(strokeWidth=1.5, strokeDash=[3, 3], opacity=0.9)
        layers.append(thin.encode(x=across, y=height, color=paint))
    if measured:
        line = chart_from_rows(alt, measured).mark_line(strokeWidth=2.5, point=len(measured) <= MAX_DOTS)
        said = tooltip_channels(alt, measured, ("series",), x=x, y=y, low="from", high="to")
        layers.append(
            line.encode(
                x=across,
                y=height,
                color=paint,
                strokeDash=dash_channel(alt, names, **LINE_LEGEND),
                tooltip=said,
            )
        )
    chart = alt.layer(*layers, *vertical_rules(alt, marks, across, _axis_middle(rows, log))).properties(
        width=CHART_WIDTH, height=300
    )
    return apply_style(chart, describe_chart("Curves", title, x, y, told), title, more)


def _check_log_axis(numbers: list[float], log: bool) -> None:
    if log and min(numbers) <= 0:
        raise errors.DataError(f"A logarithmic axis shows numbers above zero, got {min(numbers)!r} for 'x'.")


def _x_axis(alt: Any, rows: ChartRows, title: str, log: bool) -> Any:
    """The axis of x; passes and rows come whole, and so do the ticks of their axis."""
    whole = all(float(row["x"]).is_integer() for row in rows)
    least: dict[str, Any] = {} if log else {"tickMinStep": 1.0 if whole else 0.0}
    if not log and not whole and {0.0, 1.0} == {end(row["x"] for row in rows) for end in (min, max)}:
        # Of shares both ends are told.
        least = {"values": [tenth / 10 for tenth in range(0, 11, 2)], "labelOverlap": False}
    # Thousands are told by a k, but thousandths by an m that nobody reads.
    form = {"format": "~s" if min(row["x"] for row in rows) >= 1 else "~g", **_log_ticks(rows)} if log else {}
    scale = alt.Scale(type="log", nice=False) if log else alt.Undefined
    return alt.X("x:Q", title=title or None, scale=scale, axis=alt.Axis(grid=False, **least, **form))


def _log_ticks(rows: ChartRows) -> dict[str, Any]:
    """The ticks of a logarithmic axis: 1, 2 and 5 of each power of ten, where there are two to four of these.

    A shorter axis needs more of them, and on a longer one the powers are enough.
    """
    low, high = (math.log10(end(row["x"] for row in rows)) for end in (min, max))
    if not MIN_LABELLED_DECADES <= high - low <= MAX_LABELLED_DECADES:
        return {}
    powers = range(math.floor(low), math.ceil(high))
    steps = [times * 10.0**power for power in powers for times in (1, 2, 5)]
    return {"values": [step for step in [*steps, 10.0 ** math.ceil(high)] if low <= math.log10(step) <= high]}


def _axis_middle(rows: ChartRows, log: bool) -> float:
    """The x that stands in the middle of the axis."""
    low, high = (end(row["x"] for row in rows) for end in (min, max))
    return math.sqrt(low * high) if log else (low + high) / 2


def _includes_zero(rows: ChartRows) -> bool:
    """Whether zero is shown: not where all numbers are far from it and near each other."""
    shown = [row[name] for row in rows for name in ("y", "low", "high") if row.get(name) is not None]
    return min(shown) < max(shown) / 4 if min(shown) > 0 else True


def path_chart(
    table: ChartTable, x: str = "", y: str = "", title: str = "", mark: float | None = None, told: str = ""
) -> Any:
    """Draw a line per series over log x; those named have colours and words, the others are grey.

    Parameters
    ----------
    table : rows with "series", "x" above zero, "y" and "named"
    x, y, title : the titles of the axes and of the picture
    mark : where to draw an upright line, such as at the best x
    told : what a screen reader says
    """
    x, y, title = shorten_titles(x, y, title)
    found = check_rows("Lines", table, ("series",), ("x", "y"), ("named",))
    rows = [
        {**row, "x": round_to_digits(row["x"]), "y": round_to_digits(row["y"])}
        for row in found
        if row["x"] > 0
    ]
    named = [row for row in rows if row["named"]]
    names = unique_names(named, "series")
    alt = import_altair()
    place = {
        "x": alt.X(
            "x:Q", title=x or None, scale=alt.Scale(type="log", nice=False), axis=alt.Axis(grid=False)
        ),
        "y": alt.Y("y:Q", title=y or None),
        "tooltip": tooltip_channels(alt, rows, ("series",), x=x, y=y),
    }
    palette = [COLOURS[at % len(COLOURS)] for at in range(len(names))]
    dashes = [[1, 0] if at < len(COLOURS) else [6, 3] for at in range(len(names))]
    key = alt.Legend(title=None, orient="right", symbolType="stroke", symbolStrokeWidth=3, labelLimit=170)
    colour = alt.Color("series:N", scale=alt.Scale(domain=names, range=palette), sort=names, legend=key)
    strokes = alt.StrokeDash("series:N", scale=alt.Scale(domain=names, range=dashes), sort=names, legend=key)
    rest = chart_from_rows(alt, [row for row in rows if not row["named"]])
    layers = [
        rest.mark_line(strokeWidth=1, opacity=0.45, color=GREY).encode(**place, detail="series:N"),
        chart_from_rows(alt, named)
        .mark_line(strokeWidth=2.5)
        .encode(**place, color=colour, strokeDash=strokes),
        *vertical_rules(alt, [] if mark is None else [(mark, "")], place["x"]),
    ]
    chart = alt.layer(*layers).properties(width=CHART_WIDTH, height=340)
    return apply_style(chart, describe_chart("Lines", title, x, y, told), title)


RELIABILITY_SIZE = 360
RELIABILITY_AXES = ("probability predicted", "share observed")
TOOLTIP_FIELDS = ("predicted", "observed", "low", "high", "rows")
TOOLTIP_TITLES = ("predicted", "observed", "from", "to", "rows")


def reliability_diagram(table: ChartTable, title: str = "", told: str = "") -> Any:
    """Draw the share observed over the probability predicted, beside the diagonal of the calibrated.

    Parameters
    ----------
    table : rows with "series", "predicted", "observed" and "rows" (how many there are) and, where they
        are known, "low" and "high" of what was observed
    title : what the picture shows
    told : what a screen reader says
    """
    (title,) = shorten_titles(title)
    rows = check_rows("Reliability curves", table, ("series",), ("predicted", "observed", "rows"))
    check_unit_interval("Reliability curves", rows, "predicted", "observed")
    names = unique_names(rows, "series")
    check_series_count("Reliability curves", names)
    alt = import_altair()
    unit = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format="~g")
    place = {
        "x": alt.X("predicted:Q", title=RELIABILITY_AXES[0], scale=unit, axis=axis),
        "y": alt.Y("observed:Q", title=RELIABILITY_AXES[1], scale=unit, axis=axis),
    }
    said = tooltip_channels(alt, rows, ("series",), **dict(zip(TOOLTIP_FIELDS, TOOLTIP_TITLES, strict=True)))
    paint = {**place, "color": colour_channel(alt, names, **POINT_LEGEND)}
    ideal = chart_from_rows(alt, [{"predicted": end, "observed": end} for end in (0, 1)])
    known = chart_from_rows(alt, rows_with_interval(rows))
    whisker = {**paint, "y": alt.Y("low:Q"), "y2": alt.Y2("high:Q"), "tooltip": said}
    held = alt.Size("rows:Q", scale=alt.Scale(type="sqrt", range=[30, 240], zero=True), legend=None)
    dots = {**paint, "size": held, "shape": shape_channel(alt, names, **POINT_LEGEND), "tooltip": said}
    layers = [
        ideal.mark_line(stroke=GREY, strokeDash=[4, 3], strokeWidth=1.5, aria=False).encode(**place),
        known.mark_rule(strokeWidth=2, opacity=0.6).encode(**whisker),
        chart_from_rows(alt, rows)
        .mark_line(strokeWidth=2.5)
        .encode(**paint, strokeDash=dash_channel(alt, names, **POINT_LEGEND)),
        chart_from_rows(alt, rows).mark_point(filled=True, opacity=1).encode(**dots),
    ]
    chart = alt.layer(*layers).properties(width=RELIABILITY_SIZE, height=RELIABILITY_SIZE)
    return apply_style(chart, describe_chart("Reliability", title, *RELIABILITY_AXES, told), title)


MAX_SCATTER_POINTS = 5_000


def scatter_plot(
    table: ChartTable,
    x: str = "",
    y: str = "",
    title: str = "",
    diagonal: bool = False,
    level: float | None = None,
    told: str = "",
) -> Any:
    """Draw a point per row.

    Parameters
    ----------
    table : rows with "x" and "y" and, where wanted, "series" and the "text" that a pointer is told
    x, y, title : the titles of the axes and of the picture
    diagonal : whether to draw where x equals y
    level : where to draw a level line, such as at the zero of errors
    told : what a screen reader says
    """
    x, y, title = shorten_titles(x, y, title)
    given = [{"series": "", "text": "", **row} for row in table]
    rows = check_rows("Points", given, ("series", "text"), ("x", "y"))
    check_count("points", len(rows), MAX_SCATTER_POINTS, "Give a sample of them.")
    names = unique_names(rows, "series")
    check_series_count("Points", names)
    alt = import_altair()
    wide = alt.Scale(zero=False, nice=True, padding=8)
    axis = alt.Axis(tickCount=6)
    across = alt.X("x:Q", title=x or None, scale=wide, axis=axis)
    up = alt.Y("y:Q", title=y or None, scale=wide, axis=axis)
    crowded = len(rows) > 400
    dots = chart_from_rows(alt, rows).mark_point(
        filled=True, size=24 if crowded else 60, opacity=0.55 if crowded else 0.85
    )
    drawn = dots.encode(
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
    chart = alt.layer(*lines, drawn).properties(width=SQUARE_SIZE, height=SQUARE_SIZE - 80)
    return apply_style(chart, describe_chart("Points", title, x, y, told), title)


def _diagonal_ends(rows: ChartRows) -> ChartRows:
    """The ends of the line where x equals y."""
    return [{"x": end, "y": end} for end in _extent(rows, "xy")]


def _horizontal_line_ends(rows: ChartRows, height: float) -> ChartRows:
    """The ends of a level line as wide as the points."""
    return [{"x": end, "y": height} for end in _extent(rows, "x")]


def _extent(rows: ChartRows, axes: str) -> list[float]:
    return [end(row[axis] for row in rows for axis in axes) for end in (min, max)]
