"""A surface seen from above: bands of equal height, such as a likelihood of two parameters."""

from __future__ import annotations

from typing import Any

from weigh.pictures.channels import described, tooltip
from weigh.pictures.facts import Table, brief, checked
from weigh.pictures.grid import Grid
from weigh.pictures.style import INK, PAPER, SIDE, altair, rows_of, styled

BANDS = 14


def surface(
    table: Table,
    x: str = "",
    y: str = "",
    title: str = "",
    points: Table = (),
    value: str = "",
    told: str = "",
) -> Any:
    """Draw numbers over a plane in bands, and points marked on it.

    Parameters
    ----------
    table : rows with "x", "y" and "value" for every x with every y
    x, y, title : the titles of the axes and of the picture
    points : rows with "x", "y" and "name", such as where the top is
    value : what the numbers are
    told : what a screen reader says
    """
    rows = checked("Surfaces", table, (), ("x", "y", "value"))
    grid = Grid.of("Surfaces", rows)
    low, high = (end(row["value"] for row in rows) for end in (min, max))
    band = (high - low) / BANDS or 1.0
    runs = [
        {
            **corners,
            "from": brief(low + k * band),
            "to": brief(low + (k + 1) * band),
            "v": brief(low + (k + 0.5) * band),
        }
        for k, corners in grid.runs(lambda row: min(int((row["value"] - low) / band), BANDS - 1))
    ]
    alt = altair()
    across, up = (
        channel(
            f"{name}:Q",
            title=word or None,
            axis=alt.Axis(grid=False, tickCount=6),
            scale=alt.Scale(domain=span, nice=False),
        )
        for channel, name, word, span in zip((alt.X, alt.Y), "xy", (x, y), grid.spans, strict=True)
    )
    scale = alt.Scale(scheme="viridis", domain=[brief(low), brief(high)])
    heat = alt.Color(
        "v:Q",
        scale=scale,
        legend=alt.Legend(title=value or None, gradientLength=160, tickCount=4),
    )
    shade = (
        rows_of(alt, runs)
        .mark_rect(aria=False, strokeWidth=0.7)
        .encode(
            x=across,
            x2="x2",
            y=up,
            y2="y2",
            color=heat,
            stroke=alt.Stroke("v:Q", scale=scale, legend=None),
            tooltip=tooltip(alt, runs, (), **{"from": f"{value or 'value'} from", "to": "to"}),
        )
    )
    chart = alt.layer(shade, *_points(alt, points, x, y, across, up)).properties(
        width=SIDE - 60, height=SIDE - 80
    )
    return styled(chart, described("A surface", title, x, y, told), title)


def _points(alt: Any, points: Table, x: str, y: str, across: Any, up: Any) -> list[Any]:
    """The points with their names, which are light with a dark rim."""
    if not (points := list(points)):
        return []
    rows = checked("Points of a surface", points, ("name",), ("x", "y"))
    base = rows_of(alt, rows).encode(x=across, y=up, tooltip=tooltip(alt, rows, ("name",), x=x, y=y))
    words = {
        "align": "left",
        "baseline": "middle",
        "dx": 9,
        "fontSize": 13,
        "fontWeight": "bold",
        "limit": 180,
    }
    return [
        base.mark_point(
            shape="diamond", size=110, filled=True, fill=PAPER, stroke=INK, strokeWidth=1.5, opacity=1
        ),
        base.mark_text(**words, stroke=INK, strokeWidth=3, strokeOpacity=0.8, color=INK).encode(
            text="name:N"
        ),
        base.mark_text(**words, color=PAPER).encode(text="name:N"),
    ]
