"""Scattered points, such as truths over predictions."""

from __future__ import annotations

from typing import Any

from weigh.pictures.channels import DOTS, colour, described, shape, tell_apart, tooltip
from weigh.pictures.facts import Rows, Table, checked, names_of, refuse_many, words_of
from weigh.pictures.style import GREY, SIDE, altair, rows_of, styled

MOST = 5_000


def scatter(
    table: Table, x: str = "", y: str = "", title: str = "", diagonal: bool = False, told: str = ""
) -> Any:
    """Draw a point per row.

    Parameters
    ----------
    table : rows with "x" and "y" and, where wanted, "series" and the "text" that a pointer is told
    x, y, title : the titles of the axes and of the picture
    diagonal : whether to draw where x equals y
    told : what a screen reader says
    """
    x, y, title = words_of(x, y, title)
    given = [{"series": "", "text": "", **row} for row in table]
    rows = checked("Points", given, ("series", "text"), ("x", "y"))
    refuse_many("points", len(rows), MOST, "Give a sample of them.")
    names = names_of(rows, "series")
    tell_apart("Points", names)
    alt = altair()
    wide = alt.Scale(zero=False, nice=True, padding=8)
    axis = alt.Axis(tickCount=6)
    across = alt.X("x:Q", title=x or None, scale=wide, axis=axis)
    up = alt.Y("y:Q", title=y or None, scale=wide, axis=axis)
    crowded = len(rows) > 400
    dots = rows_of(alt, rows).mark_point(
        filled=True, size=24 if crowded else 60, opacity=0.55 if crowded else 0.85
    )
    drawn = dots.encode(
        x=across,
        y=up,
        color=colour(alt, names, **DOTS),
        shape=shape(alt, names, **DOTS),
        tooltip=tooltip(alt, rows, ("text", "series"), x=x, y=y),
    )
    layers = [*_diagonal(alt, rows, across, up), drawn] if diagonal else [drawn]
    chart = alt.layer(*layers).properties(width=SIDE, height=SIDE - 80)
    return styled(chart, described("Points", title, x, y, told), title)


def _diagonal(alt: Any, rows: Rows, across: Any, up: Any) -> list[Any]:
    ends = [end(row[axis] for row in rows for axis in "xy") for end in (min, max)]
    line = rows_of(alt, [{"x": end, "y": end} for end in ends])
    return [
        line.mark_line(aria=False, stroke=GREY, strokeDash=[4, 3], strokeWidth=1.5).encode(x=across, y=up)
    ]
