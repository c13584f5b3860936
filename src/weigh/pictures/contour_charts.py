"""Areas of decision: which label a learner gives to every place of a plane, and how surely."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.pictures.chart_data import (
    ChartRows,
    ChartTable,
    check_count,
    check_rows,
    check_unit_interval,
    fixed_decimals_format,
    round_to_digits,
    shorten_titles,
    unique_names,
)
from weigh.pictures.geometry import contour_outline
from weigh.pictures.style import (
    BLACK,
    ERROR_COLOUR,
    GREY,
    POINT_LEGEND,
    SQUARE_SIZE,
    WHITE,
    apply_style,
    chart_from_rows,
    check_series_count,
    describe_chart,
    fill_channel,
    import_altair,
    plane_axes,
    shape_channel,
    tooltip_channels,
)

CONFIDENCE_LEVELS = 6  # of how sure a label is
MIN_LEAD = 0.01  # the lead of the least sure, so that areas which are equally sure part half way
MAX_REGION_POINTS = 5_000


def decision_regions(
    cells: ChartTable,
    points: ChartTable = (),
    lines: ChartTable = (),
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
    x, y, title = shorten_titles(x, y, title)
    rows = check_rows("Areas", cells, ("label",), ("x", "y", "share"))
    check_unit_interval("Areas", rows, "share")
    grid = RowGrid.of("Areas", rows)
    given = list(points)
    spots = check_rows("Points of areas", given, ("label",), ("x", "y"), ("wrong",)) if given else []
    check_count("points", len(spots), MAX_REGION_POINTS, "Give a sample of them.")
    names = sorted(unique_names([*spots, *rows], "label"))
    check_series_count("Areas", names)
    alt = import_altair()
    across, up = plane_axes(alt, (x, y), grid.spans)
    place = {"x": across, "y": up}
    key = POINT_LEGEND if spots else {**POINT_LEGEND, "symbolType": "square"}
    layers = [
        _region_layer(alt, grid, names, fill_channel(alt, names, "label", **key), place),
        *_boundary_layers(alt, lines, place),
        *_point_layers(
            alt, spots, names, {**place, "tooltip": tooltip_channels(alt, spots, ("label",), x=x, y=y)}
        ),
    ]
    chart = alt.layer(*layers).properties(width=SQUARE_SIZE - 40, height=SQUARE_SIZE - 80)
    return apply_style(chart, describe_chart("Areas", title, x, y, told), title)


def _region_layer(alt: Any, grid: RowGrid, names: list[str], paint: Any, place: dict[str, Any]) -> Any:
    """The areas of all labels, laid over each other where they are surer."""
    least = min(row["share"] for line in grid.rows for row in line)
    levels = [
        least + k * (1 - least) / CONFIDENCE_LEVELS for k in range(CONFIDENCE_LEVELS if least < 1 else 1)
    ]
    rows = [
        {
            "k": f"{code} {k}",
            "label": name,
            "sure": round_to_digits(level, 3),
            "x": round_to_digits(x),
            "y": round_to_digits(y),
        }
        for code, name in enumerate(names)
        for k, level in enumerate(levels)
        for x, y in contour_outline(
            grid.xs, grid.ys, _label_lead(grid, name, least), level - least + (MIN_LEAD if k else 0.0)
        )
    ]
    said = tooltip_channels(alt, rows, ("label",), sure="at least as sure as")
    area = chart_from_rows(alt, rows).mark_line(
        interpolate="linear-closed",
        strokeWidth=0,
        fillOpacity=0.11 if len(levels) > 1 else 0.35,
        order=False,
        aria=False,
    )
    return area.encode(**place, fill=paint, detail="k:N", tooltip=said)


def _label_lead(grid: RowGrid, name: str, least: float) -> list[list[float]]:
    """How far a label is ahead of the others at every place, below zero where another is."""
    return [
        [(row["share"] - least + MIN_LEAD) * (1 if row["label"] == name else -1) for row in line]
        for line in grid.rows
    ]


def _boundary_layers(alt: Any, lines: ChartTable, place: dict[str, Any]) -> Iterator[Any]:
    """Yield the first series as a full line, the others dashed."""
    given = list(lines)
    rows = check_rows("Lines of areas", given, ("series",), ("x", "y")) if given else []
    for at, name in enumerate(unique_names(rows, "series")):
        form = {"strokeWidth": 1.5, "strokeDash": [5, 4]} if at else {"strokeWidth": 2.5}
        line = chart_from_rows(alt, [row for row in rows if row["series"] == name])
        yield line.mark_line(stroke=GREY, clip=True, order=False, **form).encode(**place, tooltip="series:N")


def _point_layers(alt: Any, rows: ChartRows, names: list[str], place: dict[str, Any]) -> Iterator[Any]:
    """Yield the points, and rings around those that are wrong."""
    if not rows:
        return
    size = 26 if len(rows) > 400 else 64
    dots = chart_from_rows(alt, rows).mark_point(
        filled=True, size=size, opacity=1, stroke=WHITE, strokeWidth=0.7, clip=True
    )
    yield dots.encode(
        **place,
        fill=fill_channel(alt, names, "label", **POINT_LEGEND),
        shape=shape_channel(alt, names, "label", **POINT_LEGEND),
    )
    ring = chart_from_rows(alt, [row for row in rows if row["wrong"]]).mark_point(
        shape="circle", filled=False, size=4 * size, stroke=ERROR_COLOUR, strokeWidth=2, opacity=1, clip=True
    )
    yield ring.encode(**place)


N_BANDS = 12


def filled_contours(
    table: ChartTable,
    x: str = "",
    y: str = "",
    title: str = "",
    points: ChartTable = (),
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
    x, y, title, value = shorten_titles(x, y, title, value)
    grid = RowGrid.of("Surfaces", check_rows("Surfaces", table, (), ("x", "y", "value")))
    spots = (
        check_rows("Points of a surface", points, ("name",), ("x", "y")) if (points := list(points)) else []
    )
    alt = import_altair()
    across, up = plane_axes(alt, (x, y), grid.spans)
    layers = [_band_layer(alt, grid, value, across, up)]
    if spots:
        place = {"x": across, "y": up, "tooltip": tooltip_channels(alt, spots, ("name",), x=x, y=y)}
        layers += _named_point_layers(alt, spots, grid, place)
    chart = alt.layer(*layers).properties(width=SQUARE_SIZE - 60, height=SQUARE_SIZE - 80)
    return apply_style(chart, describe_chart("A surface", title, x, y, told), title)


def _band_layer(alt: Any, grid: RowGrid, value: str, across: Any, up: Any) -> Any:
    """The outlines of all heights, filled one over the other."""
    heights = [[float(row["value"]) for row in line] for line in grid.rows]
    low, high = min(map(min, heights)), max(map(max, heights))
    step = (high - low) / N_BANDS
    rows = [
        {"k": k, "x": round_to_digits(spot[0]), "y": round_to_digits(spot[1])}
        for k in range(N_BANDS if step else 1)
        for spot in contour_outline(grid.xs, grid.ys, heights, low + k * step)
    ]
    form = fixed_decimals_format([low, high, low + step])
    told = [
        alt.Tooltip(f"{name}:Q", title=word, format=form)
        for name, word in (("from", f"{value or 'value'} from"), ("to", "to"))
    ]
    heat = alt.Fill(
        "middle:Q",
        scale=alt.Scale(scheme="viridis", domain=[round_to_digits(low), round_to_digits(high)]),
        legend=alt.Legend(title=value or None, type="gradient", gradientLength=180, tickCount=5),
    )
    area = chart_from_rows(alt, rows).mark_line(
        interpolate="linear-closed", strokeWidth=0, order=False, aria=False
    )
    for name, part in (("from", 0.0), ("middle", 0.5), ("to", 1.0)):
        area = area.transform_calculate(**{name: f"{low} + (datum.k + {part}) * {step}"})
    return area.encode(x=across, y=up, detail="k:O", fill=heat, tooltip=told)


def _named_point_layers(alt: Any, rows: ChartRows, grid: RowGrid, place: dict[str, Any]) -> list[Any]:
    """The points with their names, which are light with a dark rim, on the side that has room."""
    middle = (grid.xs[0] + grid.xs[-1]) / 2
    rim = {
        "shape": "diamond",
        "size": 110,
        "filled": True,
        "fill": WHITE,
        "stroke": BLACK,
        "strokeWidth": 1.5,
    }
    layers = [chart_from_rows(alt, rows).mark_point(**rim, opacity=1).encode(**place)]
    words = {"baseline": "middle", "fontSize": 13, "fontWeight": "bold", "limit": 170}
    for align, shift in (("left", 9), ("right", -9)):
        own = [row for row in rows if (row["x"] > middle) == (align == "right")]
        for ink in (
            {"stroke": BLACK, "strokeWidth": 3, "strokeOpacity": 0.85, "color": BLACK},
            {"color": WHITE},
        ):
            word = chart_from_rows(alt, own).mark_text(
                **words, **ink, align=align, dx=shift, strokeJoin="round"
            )
            layers.append(word.encode(**place, text="name:N"))
    return layers


@dataclass(frozen=True)
class RowGrid:
    """Rows on all pairs of their x and y: lines[j][i] is at ys[j] and xs[i]."""

    xs: list[float]
    ys: list[float]
    rows: list[list[dict[str, Any]]]

    @classmethod
    def of(cls, what: str, rows: ChartRows) -> RowGrid:
        """Return rows as a grid; refuse those that have a hole or a place twice."""
        xs, ys = (sorted({row[axis] for row in rows}) for axis in "xy")
        places = {(row["x"], row["y"]): row for row in rows}
        if len(places) != len(rows) or len(rows) != len(xs) * len(ys) or min(len(xs), len(ys)) < 2:
            raise errors.DataError(
                f"{what} are drawn from a full grid, every x with every y once and two of each at least, "
                f"got {len(rows):,} rows for {len(xs):,} x and {len(ys):,} y."
            )
        return cls(xs, ys, [[places[x, y] for x in xs] for y in ys])

    @property
    def spans(self) -> tuple[list[float], list[float]]:
        """What each axis shows, from and to."""
        return [self.xs[0], self.xs[-1]], [self.ys[0], self.ys[-1]]
