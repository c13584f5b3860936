"""What all charts share: the drawing library, colours for light and dark pages, sizes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from weigh import errors
from weigh.pictures.chart_data import ChartRows, check_rows, number_format
from weigh.text import truncate

# Told apart by people of every colour vision, and readable on white as on nearly black.
COLOURS = ("#3b82c4", "#d9690a", "#1a9e77", "#b35bb0", "#8a7a00", "#757575", "#d6336c")
SHAPES = ("circle", "triangle-up", "square", "diamond", "cross", "stroke", "triangle-down")
DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3), (4, 1), (1, 4), (12, 2, 2, 2))
GREY = "#757575"  # the only greys with 4.5 : 1 both on white and on black are this and the next
ERROR_COLOUR = COLOURS[-1]
# From little to much, on a ground of its own. Only black and white leave no shade between them on which
# neither is read (4.5 : 1).
HEATMAP_COLOURS = ("#b9d0e7", "#12406f")
BLACK, WHITE = "#000000", "#ffffff"
SQUARE_SIZE = 440
CHART_WIDTH = 520
MAX_TITLE_LINE = 66  # signs of a title that stand in one line
MAX_DESCRIPTION_LENGTH = 600  # signs of what a screen reader says


def import_altair() -> Any:
    """The drawing library, imported when something is drawn."""
    try:
        import altair as alt
        import vl_convert
    except ImportError as cause:
        raise errors.Unsupported(
            "Pictures are drawn with Altair and vl-convert, which are not installed. "
            "In the folder of weigh: pip install '.[report]'."
        ) from cause
    return alt


def apply_style(chart: Any, told: str = "", title: str = "", more: str = "") -> Any:
    """Return a chart without a ground of its own, its words in a grey that light and dark pages bear.

    `told` is what a screen reader says of it, `more` stands small under the title.
    """
    lines = textwrap.wrap(title, MAX_TITLE_LINE) if len(title) > MAX_TITLE_LINE else title
    named = {"text": lines, "subtitle": more} if title and more else lines or more
    words = {"labelColor": GREY, "titleColor": GREY, "labelFontSize": 12, "titleFontWeight": "normal"}
    chart = chart.properties(
        **({"description": truncate(told, MAX_DESCRIPTION_LENGTH)} if told else {}),
        **({"title": named} if named else {}),
    )
    return chart.configure(
        background="transparent",
        font="system-ui, sans-serif",
        view={"stroke": None},
        axis=words
        | {
            "titleFontSize": 13,
            "domainColor": GREY,
            "tickColor": GREY,
            "gridColor": GREY,
            "gridOpacity": 0.15,
        },
        # Whoever shows the picture may have wider letters than those it was laid out with.
        axisX={"labelOverlap": "greedy", "labelSeparation": 10},
        legend=words | {"titleFontSize": 12, "columnPadding": 28},
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
    """Return rows as the data of a chart."""
    return alt.Chart(alt.InlineData(values=rows))


NAME_AXIS_WIDTH = 170  # pixels of names beside a chart
# Legends that show lines, and points.
LINE_LEGEND: dict[str, Any] = {"symbolType": "stroke", "symbolStrokeWidth": 3, "symbolSize": 400}
POINT_LEGEND: dict[str, Any] = {"symbolSize": 100, "symbolStrokeWidth": 0}


def check_series_count(what: str, names: Sequence[str]) -> None:
    """Refuse more series than colours and shapes tell apart."""
    if len(names) > len(COLOURS):
        raise errors.DataError(
            f"{what} tell {len(COLOURS)} series apart, got {len(names)}: {errors.quote_names(names)}. Draw fewer."
        )


def top_legend(alt: Any, names: Sequence[str], **settings: Any) -> Any:
    """The legend above a chart, in as many columns as there is room for; none for a nameless series."""
    if not any(names):
        return None
    column = 60 + 7 * min(max(map(len, names)), 28)
    # In a page that shrinks, the chart's own width is known only after the legend has been laid out.
    room = f"min(width, (containerSize()[0] || 9999) - {NAME_AXIS_WIDTH + 30})"
    columns = alt.ExprRef(f"max(1, floor({room} / {column}))")
    return alt.Legend(
        title=None, orient="top", offset=8, columns=columns, labelLimit=200, symbolOpacity=1, **settings
    )


def colour_channel(alt: Any, names: Sequence[str], of: str = "series", **settings: Any) -> Any:
    """The colour of a series."""
    return alt.Color(f"{of}:N", **_colour_settings(alt, names, **settings))


def fill_channel(alt: Any, names: Sequence[str], of: str, **settings: Any) -> Any:
    """The colour of what is filled and has no stroke of that colour."""
    return alt.Fill(f"{of}:N", **_colour_settings(alt, names, **settings))


def _colour_settings(alt: Any, names: Sequence[str], **settings: Any) -> dict[str, Any]:
    scale = alt.Scale(domain=list(names), range=list(COLOURS[: len(names)]))
    return {"scale": scale, "legend": top_legend(alt, names, **settings)}


def shape_channel(alt: Any, names: Sequence[str], of: str = "series", **settings: Any) -> Any:
    """The shape of the points of a series."""
    scale = alt.Scale(domain=list(names), range=list(SHAPES[: len(names)]))
    return alt.Shape(f"{of}:N", scale=scale, legend=top_legend(alt, names, **settings))


def dash_channel(alt: Any, names: Sequence[str], **settings: Any) -> Any:
    """The dashes of the line of a series."""
    scale = alt.Scale(domain=list(names), range=[list(each) for each in DASHES[: len(names)]])
    return alt.StrokeDash("series:N", scale=scale, legend=top_legend(alt, names, **settings))


def tooltip_channels(alt: Any, rows: ChartRows, words: Iterable[str] = (), /, **numbers: str) -> list[Any]:
    """What a pointer is told: words as they are, numbers by the titles given, where any row has them."""
    held = {name: [row[name] for row in rows if row.get(name) is not None] for name in numbers}
    return [
        *(alt.Tooltip(f"{word}:N") for word in words if any(row.get(word) for row in rows)),
        *(
            alt.Tooltip(f"{name}:Q", title=truncate(title or name, 60), format=number_format(held[name]))
            for name, title in numbers.items()
            if held[name]
        ),
    ]


def plane_axes(alt: Any, titles: Sequence[str], spans: Sequence[Sequence[float]]) -> Iterator[Any]:
    """Yield both axes of a plane that shows what the spans say and nothing beside."""
    for channel, name, title, span in zip((alt.X, alt.Y), "xy", titles, spans, strict=True):
        scale = alt.Scale(domain=list(span), nice=False, zero=False)
        axis = alt.Axis(grid=False, tickCount=6)
        yield channel(f"{name}:Q", title=title or None, axis=axis, scale=scale)


def name_axis(alt: Any, names: Sequence[str], title: str = "", of: str = "name") -> Any:
    """The places of names one under the other."""
    axis = alt.Axis(labelLimit=NAME_AXIS_WIDTH, ticks=False, domain=False, labelPadding=6)
    return alt.Y(f"{of}:N", title=title or None, axis=axis, scale=alt.Scale(domain=list(names)))


def vertical_rules(
    alt: Any, marks: Iterable[tuple[float, str]], across: Any, middle: float = math.inf
) -> list[Any]:
    """Dashed lines over the whole height, with words on the side that has room: left beyond the middle."""
    given = [{"x": x, "text": text} for x, text in marks]
    if not given:
        return []
    found = check_rows("Upright lines", given, ("text",), ("x",))
    rows = [
        {"x": row["x"], "text": truncate(row["text"], 60), "line": 2 + 16 * at}
        for at, row in enumerate(found)
    ]
    rule = chart_from_rows(alt, rows).mark_rule(strokeDash=[4, 3], color=GREY, strokeWidth=1.5)
    layers = [rule.encode(x=across)]
    for align, shift in (("left", 5), ("right", -5)):
        own = [row for row in rows if row["text"] and (row["x"] > middle) == (align == "right")]
        words = chart_from_rows(alt, own).mark_text(
            align=align, baseline="top", dx=shift, fontSize=12, color=GREY
        )
        if own:
            layers.append(words.encode(x=across, y=alt.Y("line:Q", scale=None, title=None), text="text:N"))
    return layers


def describe_chart(kind: str, title: str, x: str, y: str, told: str) -> str:
    """What a screen reader says of a chart: as told, or its kind, title and axes."""
    shown = f"{y} over {x}" if x and y else x or y
    return told or f"{kind}{f' of {shown}' if shown else ''}{f': {title}' if title else ''}."
