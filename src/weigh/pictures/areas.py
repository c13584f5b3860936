"""Areas of decision: which label a learner gives to every place of a plane, and how surely."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weigh.pictures.channels import DOTS, axes, described, fill, shape, tell_apart, tooltip
from weigh.pictures.contours import outline
from weigh.pictures.facts import Rows, Table, brief, checked, in_unit, names_of, refuse_many, words_of
from weigh.pictures.grid import Grid
from weigh.pictures.style import GREY, PAPER, SIDE, WRONG, altair, rows_of, styled

LEVELS = 6  # of how sure a label is
EVEN = 0.01  # the lead of the least sure, so that areas which are equally sure part half way
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
    key = DOTS if spots else {**DOTS, "symbolType": "square"}
    layers = [
        _ground(alt, grid, names, fill(alt, names, "label", **key), place),
        *_lines(alt, lines, place),
        *_spots(alt, spots, names, {**place, "tooltip": tooltip(alt, spots, ("label",), x=x, y=y)}),
    ]
    chart = alt.layer(*layers).properties(width=SIDE - 40, height=SIDE - 80)
    return styled(chart, described("Areas", title, x, y, told), title)


def _ground(alt: Any, grid: Grid, names: list[str], paint: Any, place: dict[str, Any]) -> Any:
    """The areas of all labels, laid over each other where they are surer."""
    least = min(row["share"] for line in grid.lines for row in line)
    levels = [least + k * (1 - least) / LEVELS for k in range(LEVELS if least < 1 else 1)]
    rows = [
        {"k": f"{code} {k}", "label": name, "sure": brief(level, 3), "x": brief(x), "y": brief(y)}
        for code, name in enumerate(names)
        for k, level in enumerate(levels)
        for x, y in outline(grid.xs, grid.ys, _lead(grid, name, least), level - least + (EVEN if k else 0.0))
    ]
    said = tooltip(alt, rows, ("label",), sure="at least as sure as")
    area = rows_of(alt, rows).mark_line(
        interpolate="linear-closed",
        strokeWidth=0,
        fillOpacity=0.11 if len(levels) > 1 else 0.35,
        order=False,
        aria=False,
    )
    return area.encode(**place, fill=paint, detail="k:N", tooltip=said)


def _lead(grid: Grid, name: str, least: float) -> list[list[float]]:
    """How far a label is ahead of the others at every place, below zero where another is."""
    return [
        [(row["share"] - least + EVEN) * (1 if row["label"] == name else -1) for row in line]
        for line in grid.lines
    ]


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
        fill=fill(alt, names, "label", **DOTS),
        shape=shape(alt, names, "label", **DOTS),
    )
    ring = rows_of(alt, [row for row in rows if row["wrong"]]).mark_point(
        shape="circle", filled=False, size=4 * size, stroke=WRONG, strokeWidth=2, opacity=1, clip=True
    )
    yield ring.encode(**place)
