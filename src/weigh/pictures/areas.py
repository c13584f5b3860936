"""Areas of decision: which label a learner gives to every place of a plane, and how surely."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weigh.pictures.channels import DOTS, axes, colour, described, shape, tell_apart, tooltip
from weigh.pictures.facts import Rows, Table, brief, checked, in_unit, names_of, refuse_many, words_of
from weigh.pictures.grid import Grid
from weigh.pictures.style import GREY, PAPER, SIDE, WRONG, altair, rows_of, styled

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
    x, y, title = words_of(x, y, title)
    rows = checked("Areas", cells, ("label",), ("x", "y", "share"))
    in_unit("Areas", rows, "share")
    grid = Grid.of("Areas", rows)
    given = list(points)
    spots = checked("Points of areas", given, ("label",), ("x", "y"), ("wrong",)) if given else []
    refuse_many("points", len(spots), MOST, "Give a sample of them.")
    names = sorted(names_of([*spots, *rows], "label"))
    tell_apart("Areas", names)
    alt = altair()
    across, up = axes(alt, (x, y), grid.spans)
    place = {"x": across, "y": up}
    layers = [
        _ground(alt, grid, names, place),
        *_lines(alt, lines, place),
        *_spots(alt, spots, names, {**place, "tooltip": tooltip(alt, spots, ("label",), x=x, y=y)}),
    ]
    # Lines of cells whose edges fall between pixels would show as stripes.
    height = len(grid.ys) * max(1, round((SIDE - 70) / len(grid.ys)))
    chart = alt.layer(*layers).properties(width=SIDE - 40, height=height)
    return styled(chart, described("Areas", title, x, y, told), title)


def _ground(alt: Any, grid: Grid, names: list[str], place: dict[str, Any]) -> Any:
    """The areas, joined where label and level of sureness are the same."""
    least = min(row["share"] for line in grid.lines for row in line)
    step = (1 - least) / LEVELS or 1.0
    runs = [
        {**corners, "label": label, "sure": brief(least + (level + 0.5) * step, 3)}
        for (label, level), corners in grid.runs(
            lambda row: (row["label"], min(int((row["share"] - least) / step), LEVELS - 1))
        )
    ]
    strength = alt.FillOpacity("sure:Q", scale=alt.Scale(domain=[least, 1], range=[0.1, 0.5]), legend=None)
    rect = rows_of(alt, runs).mark_rect(aria=False, strokeWidth=0)
    paint = {"color": colour(alt, names, "label", **DOTS), "fillOpacity": strength}
    said = tooltip(alt, runs, ("label",), sure="about as sure as")
    return rect.encode(**place, **paint, x2="x2", y2="y2", tooltip=said)


def _lines(alt: Any, lines: Table, place: dict[str, Any]) -> Iterator[Any]:
    """Yield the first series as a full line, the others dashed."""
    given = list(lines)
    rows = checked("Lines of areas", given, ("series",), ("x", "y")) if given else []
    for at, name in enumerate(names_of(rows, "series")):
        form = {"strokeWidth": 1.5, "strokeDash": [5, 4]} if at else {"strokeWidth": 2.5}
        line = rows_of(alt, [row for row in rows if row["series"] == name])
        yield line.mark_line(stroke=GREY, clip=True, order=False, **form).encode(**place, tooltip="series:N")


def _spots(alt: Any, rows: Rows, names: list[str], place: dict[str, Any]) -> Iterator[Any]:
    """Yield the points, and rings around those that are wrong."""
    if not rows:
        return
    size = 26 if len(rows) > 400 else 64
    dots = rows_of(alt, rows).mark_point(
        filled=True, size=size, opacity=1, stroke=PAPER, strokeWidth=0.7, clip=True
    )
    yield dots.encode(
        **place,
        color=colour(alt, names, "label", **DOTS),
        shape=shape(alt, names, "label", **DOTS),
    )
    ring = rows_of(alt, [row for row in rows if row["wrong"]]).mark_point(
        shape="circle", filled=False, size=4 * size, stroke=WRONG, strokeWidth=2, opacity=1, clip=True
    )
    yield ring.encode(**place)
