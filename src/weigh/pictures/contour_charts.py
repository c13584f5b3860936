"""Charts over a plane: decision regions of a classifier, and filled contours of a function."""

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

CONFIDENCE_LEVELS = 6  # shades per label
MIN_MARGIN = 0.01  # added to every confidence, so that boundaries between equal ones lie half-way
MAX_REGION_POINTS = 5_000


def decision_regions(
    cells: ChartTable,
    points: ChartTable = (),
    lines: ChartTable = (),
    x: str = "",
    y: str = "",
    title: str = "",
    description: str = "",
) -> Any:
    """Draw the region of each label, darker where confidence is higher, with points and lines.

    Parameters
    ----------
    cells : rows with "x", "y", "label" and "share" (confidence from 0 to 1) on a full grid
    points : rows with "x", "y" and "label", optionally "wrong"
    lines : rows with "series", "x" and "y", such as a boundary; the second series and later ones are dashed
    x, y, title : the titles of the axes and of the chart
    description : text for screen readers
    """
    x, y, title = shorten_titles(x, y, title)
    rows = check_rows("Decision regions", cells, ("label",), ("x", "y", "share"))
    check_unit_interval("Decision regions", rows, "share")
    grid = RowGrid.of("Decision regions", rows)
    records = list(points)
    point_rows = check_rows("Region points", records, ("label",), ("x", "y"), ("wrong",)) if records else []
    check_count("points", len(point_rows), MAX_REGION_POINTS, "Give a sample of them.")
    names = sorted(unique_names([*point_rows, *rows], "label"))
    check_series_count("Decision regions", names)
    alt = import_altair()
    across, up = plane_axes(alt, (x, y), grid.spans)
    encoding = {"x": across, "y": up}
    key = POINT_LEGEND if point_rows else {**POINT_LEGEND, "symbolType": "square"}
    tooltip = tooltip_channels(alt, point_rows, ("label",), x=x, y=y)
    layers = [
        _region_layer(alt, grid, names, fill_channel(alt, names, "label", **key), encoding),
        *_boundary_layers(alt, lines, encoding),
        *_point_layers(alt, point_rows, names, {**encoding, "tooltip": tooltip}),
    ]
    chart = alt.layer(*layers).properties(width=SQUARE_SIZE - 40, height=SQUARE_SIZE - 80)
    return apply_style(chart, describe_chart("Regions", title, x, y, description), title)


def _region_layer(alt: Any, grid: RowGrid, names: list[str], fill: Any, encoding: dict[str, Any]) -> Any:
    """Return the regions of all labels: one translucent contour per confidence level."""
    min_share = min(row["share"] for line in grid.rows for row in line)
    levels = [
        min_share + k * (1 - min_share) / CONFIDENCE_LEVELS
        for k in range(CONFIDENCE_LEVELS if min_share < 1 else 1)
    ]
    margins = {name: _label_margin(grid, name, min_share) for name in names}
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
            grid.xs,
            grid.ys,
            margins[name],
            level - min_share + (MIN_MARGIN if k else 0.0),
        )
    ]
    tooltip = tooltip_channels(alt, rows, ("label",), sure="at least as sure as")
    area = chart_from_rows(alt, rows).mark_line(
        interpolate="linear-closed",
        strokeWidth=0,
        fillOpacity=0.11 if len(levels) > 1 else 0.35,
        order=False,
        aria=False,
    )
    return area.encode(**encoding, fill=fill, detail="k:N", tooltip=tooltip)


def _label_margin(grid: RowGrid, name: str, min_share: float) -> list[list[float]]:
    """Return the confidence margin of a label at every grid point, negative where another label wins."""
    return [
        [(row["share"] - min_share + MIN_MARGIN) * (1 if row["label"] == name else -1) for row in line]
        for line in grid.rows
    ]


def _boundary_layers(alt: Any, lines: ChartTable, encoding: dict[str, Any]) -> Iterator[Any]:
    """Yield the first series as a solid line, the others dashed."""
    records = list(lines)
    rows = check_rows("Region lines", records, ("series",), ("x", "y")) if records else []
    for at, name in enumerate(unique_names(rows, "series")):
        style = {"strokeWidth": 1.5, "strokeDash": [5, 4]} if at else {"strokeWidth": 2.5}
        line = chart_from_rows(alt, [row for row in rows if row["series"] == name])
        yield line.mark_line(stroke=GREY, clip=True, order=False, **style).encode(
            **encoding, tooltip="series:N"
        )


def _point_layers(alt: Any, rows: ChartRows, names: list[str], encoding: dict[str, Any]) -> Iterator[Any]:
    """Yield the points, and rings around misclassified ones."""
    if not rows:
        return
    size = 26 if len(rows) > 400 else 64
    dots = chart_from_rows(alt, rows).mark_point(
        filled=True, size=size, opacity=1, stroke=WHITE, strokeWidth=0.7, clip=True
    )
    yield dots.encode(
        **encoding,
        fill=fill_channel(alt, names, "label", **POINT_LEGEND),
        shape=shape_channel(alt, names, "label", **POINT_LEGEND),
    )
    ring = chart_from_rows(alt, [row for row in rows if row["wrong"]]).mark_point(
        shape="circle", filled=False, size=4 * size, stroke=ERROR_COLOUR, strokeWidth=2, opacity=1, clip=True
    )
    yield ring.encode(**encoding)


N_BANDS = 12


def filled_contours(
    table: ChartTable,
    x: str = "",
    y: str = "",
    title: str = "",
    points: ChartTable = (),
    value: str = "",
    description: str = "",
) -> Any:
    """Draw a function of x and y as filled contours in equal bands, with marked points.

    Parameters
    ----------
    table : rows with "x", "y" and "value" on a full grid
    x, y, title : the titles of the axes and of the chart
    points : rows with "x", "y" and "name", such as the maximum
    value : the title of the colour scale
    description : text for screen readers
    """
    x, y, title, value = shorten_titles(x, y, title, value)
    grid = RowGrid.of("Surfaces", check_rows("Surfaces", table, (), ("x", "y", "value")))
    point_rows = (
        check_rows("Points of a surface", points, ("name",), ("x", "y")) if (points := list(points)) else []
    )
    alt = import_altair()
    across, up = plane_axes(alt, (x, y), grid.spans)
    layers = [_band_layer(alt, grid, value, across, up)]
    if point_rows:
        encoding = {"x": across, "y": up, "tooltip": tooltip_channels(alt, point_rows, ("name",), x=x, y=y)}
        layers += _named_point_layers(alt, point_rows, grid, encoding)
    chart = alt.layer(*layers).properties(width=SQUARE_SIZE - 60, height=SQUARE_SIZE - 80)
    return apply_style(chart, describe_chart("A surface", title, x, y, description), title)


def _band_layer(alt: Any, grid: RowGrid, value: str, across: Any, up: Any) -> Any:
    """Return the superlevel sets of all levels, filled on top of each other."""
    heights = [[float(row["value"]) for row in line] for line in grid.rows]
    low, high = min(map(min, heights)), max(map(max, heights))
    step = (high - low) / N_BANDS
    rows = [
        {"k": k, "x": round_to_digits(px), "y": round_to_digits(py)}
        for k in range(N_BANDS if step else 1)
        for px, py in contour_outline(grid.xs, grid.ys, heights, low + k * step)
    ]
    number_format = fixed_decimals_format([low, high, low + step])
    tooltip = [
        alt.Tooltip(f"{name}:Q", title=title, format=number_format)
        for name, title in (("from", f"{value or 'value'} from"), ("to", "to"))
    ]
    fill = alt.Fill(
        "middle:Q",
        scale=alt.Scale(scheme="viridis", domain=[round_to_digits(low), round_to_digits(high)]),
        legend=alt.Legend(title=value or None, type="gradient", gradientLength=180, tickCount=5),
    )
    area = chart_from_rows(alt, rows).mark_line(
        interpolate="linear-closed", strokeWidth=0, order=False, aria=False
    )
    for name, offset in (("from", 0.0), ("middle", 0.5), ("to", 1.0)):
        area = area.transform_calculate(**{name: f"{low} + (datum.k + {offset}) * {step}"})
    return area.encode(x=across, y=up, detail="k:O", fill=fill, tooltip=tooltip)


def _named_point_layers(alt: Any, rows: ChartRows, grid: RowGrid, encoding: dict[str, Any]) -> list[Any]:
    """Return the points and their names, white with a dark outline, on the side that has room."""
    middle = (grid.xs[0] + grid.xs[-1]) / 2
    marker = {
        "shape": "diamond",
        "size": 110,
        "filled": True,
        "fill": WHITE,
        "stroke": BLACK,
        "strokeWidth": 1.5,
    }
    layers = [chart_from_rows(alt, rows).mark_point(**marker, opacity=1).encode(**encoding)]
    label_style = {"baseline": "middle", "fontSize": 13, "fontWeight": "bold", "limit": 170}
    for align, shift in (("left", 9), ("right", -9)):
        side_rows = [row for row in rows if (row["x"] > middle) == (align == "right")]
        for colours in (
            {"stroke": BLACK, "strokeWidth": 3, "strokeOpacity": 0.85, "color": BLACK},
            {"color": WHITE},
        ):
            label = chart_from_rows(alt, side_rows).mark_text(
                **label_style, **colours, align=align, dx=shift, strokeJoin="round"
            )
            layers.append(label.encode(**encoding, text="name:N"))
    return layers


@dataclass(frozen=True)
class RowGrid:
    """Rows on a full grid: rows[j][i] is at (xs[i], ys[j])."""

    xs: list[float]
    ys: list[float]
    rows: list[list[dict[str, Any]]]

    @classmethod
    def of(cls, what: str, rows: ChartRows) -> RowGrid:
        """Arrange rows as a grid; raise DataError for missing or duplicate grid points."""
        xs, ys = (sorted({row[axis] for row in rows}) for axis in "xy")
        by_xy = {(row["x"], row["y"]): row for row in rows}
        if len(by_xy) != len(rows) or len(rows) != len(xs) * len(ys) or min(len(xs), len(ys)) < 2:
            raise errors.DataError(
                f"{what} are drawn from a full grid (every x with every y once, at least two of each), "
                f"got {len(rows):,} rows for {len(xs):,} x and {len(ys):,} y."
            )
        return cls(xs, ys, [[by_xy[x, y] for x in xs] for y in ys])

    @property
    def spans(self) -> tuple[list[float], list[float]]:
        """The range of each axis."""
        return [self.xs[0], self.xs[-1]], [self.ys[0], self.ys[-1]]
