"""Shared style of all charts: colours for light and dark pages, sizes, axes, legends and tooltips."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from weigh import errors
from weigh.pictures.chart_data import ChartRows, check_rows, number_format, shorten_titles
from weigh.text import truncate

# Distinguishable with any colour vision, and legible on white and on near-black.
COLOURS = ("#3b82c4", "#d9690a", "#1a9e77", "#b35bb0", "#8a7a00", "#757575", "#d6336c")
SHAPES = ("circle", "triangle-up", "square", "diamond", "cross", "stroke", "triangle-down")
DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3), (4, 1), (1, 4), (12, 2, 2, 2))
GREY = "#757575"  # one of the only two greys with a contrast of 4.5:1 on both white and black
ERROR_COLOUR = COLOURS[-1]
# From low to high. With black and white text, one of them is legible (4.5:1) on every shade between.
HEATMAP_COLOURS = ("#b9d0e7", "#12406f")
BLACK, WHITE = "#000000", "#ffffff"
SQUARE_SIZE = 440
CHART_WIDTH = 520
MAX_TITLE_LINE = 66  # characters
MAX_DESCRIPTION_LENGTH = 600  # characters of the text for screen readers


def import_altair() -> Any:
    """Import Altair on first use; it is an optional dependency."""
    try:
        import altair as alt
        import vl_convert  # noqa: F401
    except ImportError as cause:
        raise errors.Unsupported(
            "Pictures are drawn with Altair and vl-convert, which are not installed. "
            "In the folder of weigh: pip install '.[report]'."
        ) from cause
    return alt


def apply_style(chart: Any, description: str = "", title: str = "", subtitle: str = "") -> Any:
    """Give a chart a transparent background and grey text that is legible on light and dark pages.

    `description` is the text for screen readers.
    """
    lines = textwrap.wrap(title, MAX_TITLE_LINE) if len(title) > MAX_TITLE_LINE else title
    title_spec = {"text": lines, "subtitle": subtitle} if title and subtitle else lines or subtitle
    text_style = {"labelColor": GREY, "titleColor": GREY, "labelFontSize": 12, "titleFontWeight": "normal"}
    chart = chart.properties(
        **({"description": truncate(description, MAX_DESCRIPTION_LENGTH)} if description else {}),
        **({"title": title_spec} if title_spec else {}),
    )
    return chart.configure(
        background="transparent",
        font="system-ui, sans-serif",
        view={"stroke": None},
        axis=text_style
        | {
            "titleFontSize": 13,
            "domainColor": GREY,
            "tickColor": GREY,
            "gridColor": GREY,
            "gridOpacity": 0.15,
        },
        # The font that displays the chart may be wider than the one it was laid out with.
        axisX={"labelOverlap": "greedy", "labelSeparation": 10},
        legend=text_style | {"titleFontSize": 12, "columnPadding": 28},
        title={
            "color": GREY,
            "fontSize": 14,
            "fontWeight": "normal",
            "anchor": "start",
            "offset": 8,
            "subtitleColor": GREY,
            "subtitleFontSize": 12,
        },
    )


def chart_from_rows(alt: Any, rows: list[dict[str, Any]]) -> Any:
    """Return an empty chart over inline data."""
    return alt.Chart(alt.InlineData(values=rows))


NAME_AXIS_WIDTH = 170  # pixels
LINE_LEGEND: dict[str, Any] = {"symbolType": "stroke", "symbolStrokeWidth": 3, "symbolSize": 400}
POINT_LEGEND: dict[str, Any] = {"symbolSize": 100, "symbolStrokeWidth": 0}


def check_series_count(what: str, names: Sequence[str]) -> None:
    """Raise DataError if there are more series than distinguishable colours and shapes."""
    if len(names) > len(COLOURS):
        raise errors.DataError(
            f"{what} show at most {len(COLOURS)} series, got {len(names)}: "
            f"{errors.quote_names(names)}. Draw fewer."
        )


def top_legend(alt: Any, names: Sequence[str], **settings: Any) -> Any:
    """Return a legend above the chart with as many columns as fit; None for a single unnamed series."""
    if not any(names):
        return None
    column_width = 60 + 7 * min(max(map(len, names)), 28)
    # In a responsive page, the width of the chart is known only after the legend has been laid out.
    room = f"min(width, (containerSize()[0] || 9999) - {NAME_AXIS_WIDTH + 30})"
    columns = alt.ExprRef(f"max(1, floor({room} / {column_width}))")
    return alt.Legend(
        title=None, orient="top", offset=8, columns=columns, labelLimit=200, symbolOpacity=1, **settings
    )


def colour_channel(alt: Any, names: Sequence[str], of: str = "series", **settings: Any) -> Any:
    """Return the colour channel of a series."""
    return alt.Color(f"{of}:N", **_colour_settings(alt, names, **settings))


def fill_channel(alt: Any, names: Sequence[str], of: str, **settings: Any) -> Any:
    """Return the colour channel of filled marks without a stroke of the same colour."""
    return alt.Fill(f"{of}:N", **_colour_settings(alt, names, **settings))


def _colour_settings(alt: Any, names: Sequence[str], **settings: Any) -> dict[str, Any]:
    scale = alt.Scale(domain=list(names), range=list(COLOURS[: len(names)]))
    return {"scale": scale, "legend": top_legend(alt, names, **settings)}


def shape_channel(alt: Any, names: Sequence[str], of: str = "series", **settings: Any) -> Any:
    """Return the point shape channel of a series."""
    scale = alt.Scale(domain=list(names), range=list(SHAPES[: len(names)]))
    return alt.Shape(f"{of}:N", scale=scale, legend=top_legend(alt, names, **settings))


def dash_channel(alt: Any, names: Sequence[str], **settings: Any) -> Any:
    """Return the dash channel of a series."""
    scale = alt.Scale(domain=list(names), range=[list(dash) for dash in DASHES[: len(names)]])
    return alt.StrokeDash("series:N", scale=scale, legend=top_legend(alt, names, **settings))


def tooltip_channels(
    alt: Any, rows: ChartRows, text_fields: Iterable[str] = (), /, **numbers: str
) -> list[Any]:
    """Return tooltips for text fields, and for number fields under the given titles, if any row has them."""
    titles = shorten_titles(*(title or name for name, title in numbers.items()), width=60)
    values = {name: [row[name] for row in rows if row.get(name) is not None] for name in numbers}
    return [
        *(alt.Tooltip(f"{field}:N") for field in text_fields if any(row.get(field) for row in rows)),
        *(
            alt.Tooltip(f"{name}:Q", title=title, format=number_format(values[name]))
            for name, title in zip(numbers, titles, strict=True)
            if values[name]
        ),
    ]


def plane_axes(alt: Any, titles: Sequence[str], spans: Sequence[Sequence[float]]) -> Iterator[Any]:
    """Yield the x and y axes of a plane, limited exactly to the given ranges."""
    for channel, name, title, span in zip((alt.X, alt.Y), "xy", titles, spans, strict=True):
        scale = alt.Scale(domain=list(span), nice=False, zero=False)
        axis = alt.Axis(grid=False, tickCount=6)
        yield channel(f"{name}:Q", title=title or None, axis=axis, scale=scale)


def name_axis(alt: Any, names: Sequence[str], title: str = "", of: str = "name") -> Any:
    """Return the y axis of names, in the given order."""
    axis = alt.Axis(labelLimit=NAME_AXIS_WIDTH, ticks=False, domain=False, labelPadding=6)
    return alt.Y(f"{of}:N", title=title or None, axis=axis, scale=alt.Scale(domain=list(names)))


def vertical_rules(
    alt: Any, marks: Iterable[tuple[float, str]], across: Any, middle: float = math.inf
) -> list[Any]:
    """Return dashed vertical lines, labelled on the right up to x = `middle` and on the left beyond."""
    records = [{"x": x, "text": text} for x, text in marks]
    if not records:
        return []
    checked = check_rows("Vertical lines", records, ("text",), ("x",))
    rows = [
        {"x": row["x"], "text": truncate(row["text"], 60), "line": 2 + 16 * at}
        for at, row in enumerate(checked)
    ]
    rule = chart_from_rows(alt, rows).mark_rule(strokeDash=[4, 3], color=GREY, strokeWidth=1.5)
    layers = [rule.encode(x=across)]
    for align, shift in (("left", 5), ("right", -5)):
        side_rows = [row for row in rows if row["text"] and (row["x"] > middle) == (align == "right")]
        labels = chart_from_rows(alt, side_rows).mark_text(
            align=align, baseline="top", dx=shift, fontSize=12, color=GREY
        )
        if side_rows:
            layers.append(labels.encode(x=across, y=alt.Y("line:Q", scale=None, title=None), text="text:N"))
    return layers


def describe_chart(kind: str, title: str, x: str, y: str, description: str) -> str:
    """Return the text for screen readers: the description, or by default kind, axes and title."""
    axes = f"{y} over {x}" if x and y else x or y
    return description or f"{kind}{f' of {axes}' if axes else ''}{f': {title}' if title else ''}."
