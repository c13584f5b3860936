"""What all charts share: the drawing library, colours for light and dark pages, sizes."""

from __future__ import annotations

import textwrap
from typing import Any

from weigh import errors
from weigh.text import cut

# Told apart by people of every colour vision, and readable on white as on nearly black.
COLOURS = ("#3b82c4", "#d9690a", "#1a9e77", "#b35bb0", "#8a7a00", "#757575", "#d6336c")
SHAPES = ("circle", "triangle-up", "square", "diamond", "cross", "stroke", "triangle-down")
DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3), (4, 1), (1, 4), (12, 2, 2, 2))
GREY = "#757575"  # the only greys with 4.5 : 1 both on white and on black are this and the next
WRONG = COLOURS[-1]
# From little to much, on a ground of its own. Only black and white leave no shade between them on which
# neither is read (4.5 : 1).
HEAT = ("#b9d0e7", "#12406f")
INK, PAPER = "#000000", "#ffffff"
SIDE = 440
WIDTH = 520
LINE = 66  # signs of a title that stand in one line
SPOKEN = 600  # signs of what a screen reader says


def altair() -> Any:
    """The drawing library, imported when something is drawn."""
    try:
        import altair as alt
        import vl_convert  # noqa: F401
    except ImportError as cause:
        raise errors.Unsupported(
            "Pictures are drawn with Altair and vl-convert, which are not installed. "
            "In the folder of weigh: pip install '.[report]'."
        ) from cause
    return alt


def styled(chart: Any, told: str = "", title: str = "", more: str = "") -> Any:
    """Return a chart without a ground of its own, its words in a grey that light and dark pages bear.

    `told` is what a screen reader says of it, `more` stands small under the title.
    """
    lines = textwrap.wrap(title, LINE) if len(title) > LINE else title
    named = {"text": lines, "subtitle": more} if title and more else lines or more
    words = {"labelColor": GREY, "titleColor": GREY, "labelFontSize": 12, "titleFontWeight": "normal"}
    chart = chart.properties(
        **({"description": cut(told, SPOKEN)} if told else {}), **({"title": named} if named else {})
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


def rows_of(alt: Any, rows: list[dict[str, Any]]) -> Any:
    """Return rows as the data of a chart."""
    return alt.Chart(alt.InlineData(values=rows))
