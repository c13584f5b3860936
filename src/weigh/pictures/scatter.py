"""Scattered points, such as truths over predictions."""

from __future__ import annotations

from typing import Any

from weigh.pictures.channels import DOTS, colour, described, shape, tell_apart, tooltip
from weigh.pictures.facts import Rows, Table, checked, names_of, refuse_many, words_of
from weigh.pictures.style import GREY, SIDE, altair, rows_of, styled

MOST = 5_000


def scatter(
    table: Table,
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
    guides = [*([_diagonal(rows)] if diagonal else []), *([] if level is None else [_level(rows, level)])]
    lines = [
        rows_of(alt, ends)
        .mark_line(aria=False, stroke=GREY, strokeDash=[4, 3], strokeWidth=1.5)
        .encode(x=across, y=up)
        for ends in guides
    ]
    chart = alt.layer(*lines, drawn).properties(width=SIDE, height=SIDE - 80)
    return styled(chart, described("Points", title, x, y, told), title)


def _diagonal(rows: Rows) -> Rows:
    """The ends of the line where x equals y."""
    return [{"x": end, "y": end} for end in _ends(rows, "xy")]


def _level(rows: Rows, height: float) -> Rows:
    """The ends of a level line as wide as the points."""
    return [{"x": end, "y": height} for end in _ends(rows, "x")]


def _ends(rows: Rows, axes: str) -> list[float]:
    return [end(row[axis] for row in rows for axis in axes) for end in (min, max)]
