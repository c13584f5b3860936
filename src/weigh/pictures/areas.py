"""Areas of decision: which label a learner gives to every place of a plane, and how surely."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weigh.pictures.channels import colour, described, shape, tell_apart, tooltip
from weigh.pictures.facts import Rows, Table, brief, checked, names_of, refuse_many
from weigh.pictures.grid import Grid
from weigh.pictures.style import GREY, SIDE, WRONG, altair, rows_of, styled

LEVELS = 6  # of how sure a label is
MOST = 5_000


def areas(
    cells: Table,
    points: Table = (),
    lines: Table = (),
    x: str = "",
    y: str = "",
    title: str = "",
    told: str = "",
) -> Any:
    """Draw the areas of labels in their colours, stronger where they are surer, with points and lines.

    Parameters
    ----------
    cells : rows with "x", "y", "label" and "share" (how sure, from 0 to 1) for every x with every y
    points : rows with "x", "y" and "label" and, where it is known, "wrong"
    lines : rows with "series", "x" and "y", such as a boundary; the second series and later ones are dashed
    x, y, title : the titles of the axes and of the picture
    told : what a screen reader says
    """
    rows = checked("Areas", cells, ("label",), ("x", "y", "share"))
    grid = Grid.of("Areas", rows)
    spots = checked("Points of areas", points, ("label",), ("x", "y")) if (points := list(points)) else []
    refuse_many("points", len(spots), MOST, "Give a sample of them.")
    names = names_of([*spots, *rows], "label")
    tell_apart("Areas", names)
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
    layers = [
        _ground(alt, grid, names, across, up),
        *_lines(alt, lines, across, up),
        *_spots(alt, spots, names, x, y, across, up),
    ]
    chart = alt.layer(*layers).properties(width=SIDE - 40, height=SIDE - 80)
    return styled(chart, described("Areas", title, x, y, told), title)


def _ground(alt: Any, grid: Grid, names: list[str], across: Any, up: Any) -> Any:
    """The areas, joined where label and level of sureness are the same."""
    least = min(row["share"] for line in grid.lines for row in line)
    step = (1 - least) / LEVELS or 1.0
    runs = [
        {**corners, "label": label, "sure": brief(least + (level + 0.5) * step, 3)}
        for (label, level), corners in grid.runs(
            lambda row: (row["label"], min(int((row["share"] - least) / step), LEVELS - 1))
        )
    ]
    strength = alt.FillOpacity("sure:Q", scale=alt.Scale(domain=[least, 1], range=[0.08, 0.5]), legend=None)
    said = tooltip(alt, runs, ("label",), sure="about as sure as")
    rect = rows_of(alt, runs).mark_rect(aria=False, strokeWidth=0)
    return rect.encode(
        x=across,
        x2="x2",
        y=up,
        y2="y2",
        color=colour(alt, names, "label"),
        fillOpacity=strength,
        tooltip=said,
    )


def _lines(alt: Any, lines: Table, across: Any, up: Any) -> Iterator[Any]:
    """Yield the first series as a full line, the others dashed."""
    if not (lines := list(lines)):
        return
    rows = checked("Lines of areas", lines, ("series",), ("x", "y"))
    for at, name in enumerate(names_of(rows, "series")):
        own = [{**row, "o": o} for o, row in enumerate(rows) if row["series"] == name]
        line = rows_of(alt, own).mark_line(
            stroke=GREY, strokeWidth=1.5 if at else 2.5, strokeDash=[5, 4] if at else [1, 0], clip=True
        )
        yield line.encode(x=across, y=up, order="o:Q", tooltip=["series:N"])


def _spots(alt: Any, rows: Rows, names: list[str], x: str, y: str, across: Any, up: Any) -> Iterator[Any]:
    """Yield the points, and rings around those that are wrong."""
    if not rows:
        return
    size = 26 if len(rows) > 400 else 60
    place = {"x": across, "y": up, "tooltip": tooltip(alt, rows, ("label",), x=x, y=y)}
    dots = rows_of(alt, rows).mark_point(filled=True, size=size, opacity=0.95, clip=True)
    yield dots.encode(**place, color=colour(alt, names, "label"), shape=shape(alt, names, "label"))
    wrong = [row for row in rows if row.get("wrong")]
    if wrong:
        ring = rows_of(alt, wrong).mark_point(
            filled=False, size=4 * size, stroke=WRONG, strokeWidth=2, clip=True
        )
        yield ring.encode(**place)
