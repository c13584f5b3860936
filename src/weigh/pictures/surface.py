"""A surface seen from above: bands of equal height, such as a likelihood of two parameters."""

from __future__ import annotations

from typing import Any

from weigh.pictures.channels import axes, described, tooltip
from weigh.pictures.contours import outline
from weigh.pictures.facts import Rows, Table, brief, checked, even, words_of
from weigh.pictures.grid import Grid
from weigh.pictures.style import INK, PAPER, SIDE, altair, rows_of, styled

BANDS = 12


def surface(
    table: Table,
    x: str = "",
    y: str = "",
    title: str = "",
    points: Table = (),
    value: str = "",
    told: str = "",
) -> Any:
    """Draw numbers over a plane in bands of equal height, and points marked on it.

    Parameters
    ----------
    table : rows with "x", "y" and "value" for every x with every y
    x, y, title : the titles of the axes and of the picture
    points : rows with "x", "y" and "name", such as where the top is
    value : what the numbers are
    told : what a screen reader says
    """
    x, y, title, value = words_of(x, y, title, value)
    grid = Grid.of("Surfaces", checked("Surfaces", table, (), ("x", "y", "value")))
    spots = checked("Points of a surface", points, ("name",), ("x", "y")) if (points := list(points)) else []
    alt = altair()
    across, up = axes(alt, (x, y), grid.spans)
    layers = [_bands(alt, grid, value, across, up)]
    if spots:
        place = {"x": across, "y": up, "tooltip": tooltip(alt, spots, ("name",), x=x, y=y)}
        layers += _spots(alt, spots, grid, place)
    chart = alt.layer(*layers).properties(width=SIDE - 60, height=SIDE - 80)
    return styled(chart, described("A surface", title, x, y, told), title)


def _bands(alt: Any, grid: Grid, value: str, across: Any, up: Any) -> Any:
    """The outlines of all heights, filled one over the other."""
    heights = [[float(row["value"]) for row in line] for line in grid.lines]
    low, high = min(map(min, heights)), max(map(max, heights))
    step = (high - low) / BANDS
    rows = [
        {"k": k, "x": brief(spot[0]), "y": brief(spot[1])}
        for k in range(BANDS if step else 1)
        for spot in outline(grid.xs, grid.ys, heights, low + k * step)
    ]
    form = even([low, high, low + step])
    told = [
        alt.Tooltip(f"{name}:Q", title=word, format=form)
        for name, word in (("from", f"{value or 'value'} from"), ("to", "to"))
    ]
    heat = alt.Fill(
        "middle:Q",
        scale=alt.Scale(scheme="viridis", domain=[brief(low), brief(high)]),
        legend=alt.Legend(title=value or None, type="gradient", gradientLength=180, tickCount=5),
    )
    area = rows_of(alt, rows).mark_line(interpolate="linear-closed", strokeWidth=0, order=False, aria=False)
    for name, part in (("from", 0.0), ("middle", 0.5), ("to", 1.0)):
        area = area.transform_calculate(**{name: f"{low} + (datum.k + {part}) * {step}"})
    return area.encode(x=across, y=up, detail="k:O", fill=heat, tooltip=told)


def _spots(alt: Any, rows: Rows, grid: Grid, place: dict[str, Any]) -> list[Any]:
    """The points with their names, which are light with a dark rim, on the side that has room."""
    middle = (grid.xs[0] + grid.xs[-1]) / 2
    rim = {"shape": "diamond", "size": 110, "filled": True, "fill": PAPER, "stroke": INK, "strokeWidth": 1.5}
    layers = [rows_of(alt, rows).mark_point(**rim, opacity=1).encode(**place)]
    words = {"baseline": "middle", "fontSize": 13, "fontWeight": "bold", "limit": 170}
    for align, shift in (("left", 9), ("right", -9)):
        own = [row for row in rows if (row["x"] > middle) == (align == "right")]
        for ink in ({"stroke": INK, "strokeWidth": 3, "strokeOpacity": 0.85, "color": INK}, {"color": PAPER}):
            word = rows_of(alt, own).mark_text(**words, **ink, align=align, dx=shift, strokeJoin="round")
            layers.append(word.encode(**place, text="name:N"))
    return layers
