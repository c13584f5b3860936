"""Charts of heights over the cells of two columns, as heat maps with a diverging colour scale."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from weigh import errors
from weigh.pictures.chart_data import (
    ChartRows,
    ChartTable,
    check_rows,
    format_name,
    make_names_unique,
    shorten_titles,
)
from weigh.pictures.date_axes import format_dates
from weigh.pictures.effect_style import MARK_COLOUR, PanelSize
from weigh.pictures.number_axes import format_ticks, labelled_axis
from weigh.pictures.style import (
    BLACK,
    GREY,
    SQUARE_SIZE,
    WHITE,
    apply_style,
    chart_from_rows,
    describe_chart,
    import_altair,
)

# From negative to positive: the colours of evidence against and for, with a light grey between them.
DIVERGING_COLOURS = ("#8f4200", "#e9a063", "#f1f1f1", "#7fb0dd", "#12406f")
MAX_DARK_LUMINANCE = 0.179  # black and white text have the same contrast here
MIN_NUMBER_WIDTH, MIN_NUMBER_HEIGHT = 38, 15  # pixels of a cell that shows its height
EMPTY_OPACITY = 0.3  # of cells without rows
MAX_CELL_NAME = 14  # characters
TITLE_PADDING = {"x": 4, "y": 16}  # pixels; the reader's font may be wider than the renderer's
CELL_HEIGHT, MIN_SURFACE_HEIGHT = 60, 150  # pixels
LEGEND_LENGTH = 110  # pixels
MAX_LEGEND_TITLE = 18  # characters


@dataclass(frozen=True)
class CellAxis:
    """The cells of one column: between the `cuts` of a number, or the `names` of the groups of a category.

    With `is_date`, the cuts are days since 1970.
    """

    title: str
    cuts: Sequence[float] | None = None
    names: Sequence[str] = ()
    is_date: bool = False

    @property
    def cut_names(self) -> list[str]:
        """The cuts as text."""
        return (format_dates if self.is_date else format_ticks)(self.cuts or ())

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return len(self.names) if self.cuts is None else len(self.cuts) + 1

    @property
    def cell_names(self) -> list[str]:
        """The cells as text."""
        if self.cuts is None:
            rows = [{"name": format_name(name)} for name in self.names]
            make_names_unique(rows, "name")
            return [row["name"] for row in rows]
        ends = self.cut_names
        if not ends:
            return ["any"]
        inner = [f"{low} to {high}" for low, high in pairwise(ends)]
        return [f"≤ {ends[0]}", *inner, f"> {ends[-1]}"]


def surface_chart(
    table: ChartTable,
    across: CellAxis,
    up: CellAxis,
    value: str = "",
    title: str = "",
    marks: Sequence[tuple[int, int]] = (),
    description: str = "",
    more: str = "",
) -> Any:
    """Draw a heat map of the heights of all cells, which are equally large; those without rows are pale.

    Parameters
    ----------
    table : rows with "x" and "y" (the numbers of the cells from 0 on) and "height", optionally "rows"
    across, up : the cells of the two columns
    value, title : the titles of the heights and of the chart
    marks : the cells of marked rows
    description : text for screen readers
    more : the subtitle
    """
    panel = SurfacePanel(title, table, across, up, value, marks)
    alt = import_altair()
    titles = shorten_titles(title, more, across.title, up.title)
    text = describe_chart("A heat map", titles[0], titles[2], titles[3], description)
    height = min(SQUARE_SIZE - 120, max(MIN_SURFACE_HEIGHT, CELL_HEIGHT * up.n_cells))
    return apply_style(panel.draw(alt, PanelSize(SQUARE_SIZE, height)), text, *titles[:2])


@dataclass(frozen=True, eq=False)
class SurfacePanel:
    """The surface of one pair of columns as a panel; its fields are those of `surface_chart`."""

    title: str
    table: ChartTable
    across: CellAxis
    up: CellAxis
    value: str = ""
    marks: Sequence[tuple[int, int]] = ()
    subtitle: str = ""

    @cached_property
    def rows(self) -> ChartRows:
        """The checked cells, with the names of their places."""
        records = ({"rows": -1, **row} for row in self.table)
        rows = check_rows("Cells of a surface", records, (), ("x", "y", "height", "rows"))
        expected = {(i, j) for i in range(self.across.n_cells) for j in range(self.up.n_cells)}
        if len(rows) != len(expected) or {(row["x"], row["y"]) for row in rows} != expected:
            raise errors.DataError(
                f"A surface of {self.across.n_cells} by {self.up.n_cells} cells is drawn from one row for "
                f"each, got {len(rows):,} rows."
            )
        names = self.across.cell_names, self.up.cell_names
        return [{**row, "across": names[0][row["x"]], "up": names[1][row["y"]]} for row in rows]

    @property
    def largest(self) -> float:
        """The largest height in absolute value."""
        return max(abs(row["height"]) for row in self.rows) or 1.0

    def draw(self, alt: Any, size: PanelSize) -> Any:
        """Return the layers of the chart."""
        sides = ((self.across, "x", size.width), (self.up, "y", size.height))
        axes = [_cell_channel(alt, cells, channel, room) for cells, channel, room in sides]
        areas = {name: value for axis in axes for name, value in axis.area.items()}
        middles = {name: value for axis in axes for name, value in axis.middle.items()}
        layers = [self._cells(alt, areas, size), *self._numbers(alt, middles, size), *self._mark(alt, areas)]
        return alt.layer(*layers).properties(width=size.width, height=size.height)

    def _has_numbers(self, size: PanelSize) -> bool:
        """Whether the cells have room for their heights."""
        width, height = size.width / self.across.n_cells, size.height / self.up.n_cells
        return width >= MIN_NUMBER_WIDTH and height >= MIN_NUMBER_HEIGHT

    @cached_property
    def _placed_rows(self) -> ChartRows:
        """The cells with their edges and middles."""
        return [
            {**row, **{f"{c}2": row[c] + 1 for c in "xy"}, **{f"{c}m": row[c] + 0.5 for c in "xy"}}
            for row in self.rows
        ]

    def _cells(self, alt: Any, encoding: dict[str, Any], size: PanelSize) -> Any:
        rows = self._placed_rows
        scale = alt.Scale(
            domain=[-self.largest, -self.largest / 2, 0, self.largest / 2, self.largest],
            range=list(DIVERGING_COLOURS),
        )
        legend = None if size.is_in_grid and self._has_numbers(size) else self._legend(alt)
        tooltips = [
            *(
                alt.Tooltip(f"{name}:N", title=shorten_titles(axis.title)[0] or name)
                for name, axis in (("across", self.across), ("up", self.up))
            ),
            alt.Tooltip("height:Q", title=shorten_titles(self.value)[0] or "height", format="+.3~r"),
            *([] if rows[0]["rows"] < 0 else [alt.Tooltip("rows:Q", format=",.4~r")]),
        ]
        opacity = alt.condition(alt.datum.rows == 0, alt.value(EMPTY_OPACITY), alt.value(1))
        rect = chart_from_rows(alt, rows).mark_rect(stroke=WHITE, strokeWidth=0.5)
        fill = alt.Fill("height:Q", scale=scale, legend=legend)
        return rect.encode(**encoding, fill=fill, fillOpacity=opacity, tooltip=tooltips)

    def _legend(self, alt: Any) -> Any:
        title = shorten_titles(self.value, width=MAX_LEGEND_TITLE)[0] or None
        settings = {"type": "gradient", "gradientLength": LEGEND_LENGTH, "gradientThickness": 10}
        return alt.Legend(title=title, tickCount=3, offset=8, **settings)

    def _numbers(self, alt: Any, encoding: dict[str, Any], size: PanelSize) -> Iterator[Any]:
        """Yield the heights as text, if the cells have room."""
        if not self._has_numbers(size):
            return
        rows = [
            {
                **row,
                "text": format_height(row["height"], self.largest),
                "ink": _text_colour(row, self.largest),
            }
            for row in self._placed_rows
        ]
        # On a narrow page the numbers would overlap; in a grid, the expression does not know the width.
        is_wide = alt.ExprRef(f"width < {MIN_NUMBER_WIDTH * self.across.n_cells} ? 0 : 1")
        opacity = 1 if size.is_in_grid else is_wide
        text = chart_from_rows(alt, rows).mark_text(fontSize=12, opacity=opacity, aria=False)
        yield text.encode(**encoding, text="text:N", color=alt.Color("ink:N", scale=None))

    def _mark(self, alt: Any, encoding: dict[str, Any]) -> Iterator[Any]:
        marked = [row for row in self._placed_rows if (row["x"], row["y"]) in set(self.marks)]
        if marked:
            frame = chart_from_rows(alt, marked).mark_rect(
                filled=False, stroke=MARK_COLOUR, strokeWidth=3, aria=False
            )
            yield frame.encode(**encoding)


@dataclass(frozen=True)
class _CellChannel:
    """The channels that place the area of a cell, and those that place its middle."""

    area: dict[str, Any]
    middle: dict[str, Any]


def _cell_channel(alt: Any, cells: CellAxis, channel: str, room: int) -> _CellChannel:
    """Return an axis of equal cells: cuts are labelled between them, groups in their middles."""
    make = alt.X if channel == "x" else alt.Y
    title = shorten_titles(cells.title)[0] or None
    if cells.cuts is None:
        axis = _group_axis(alt, cells.cell_names, channel, room)
        scale = alt.Scale(domain=cells.cell_names, padding=0)
        band = make(f"{'across' if channel == 'x' else 'up'}:N", title=title, scale=scale, axis=axis)
        return _CellChannel({channel: band}, {channel: band})
    places = [float(k + 1) for k in range(len(cells.cuts))]
    look = {"grid": False, "labelOverlap": "greedy", "labelFlush": False}
    axis = labelled_axis(alt, places, cells.cut_names, **look, titlePadding=TITLE_PADDING[channel])
    settings = {"title": title, "axis": axis}
    settings["scale"] = alt.Scale(domain=[0, cells.n_cells], nice=False, zero=False)
    area = {channel: make(f"{channel}:Q", **settings), f"{channel}2": f"{channel}2:Q"}
    return _CellChannel(area, {channel: make(f"{channel}m:Q", **settings)})


def _group_axis(alt: Any, names: Sequence[str], channel: str, room: int) -> Any:
    is_tight = channel == "x" and len(names) * (7 * min(max(map(len, names)), MAX_CELL_NAME) + 8) > room
    return alt.Axis(
        grid=False,
        ticks=False,
        domain=False,
        titlePadding=TITLE_PADDING[channel],
        labelAngle=-40 if is_tight else 0,
        labelLimit=7 * MAX_CELL_NAME,
        labelOverlap="greedy" if len(names) * MIN_NUMBER_HEIGHT > room else False,
    )


def format_height(height: float, largest: float) -> str:
    """Format a height with two decimals, fewer for large heights and more for small ones."""
    power = math.floor(math.log10(largest))
    decimals = max(0, 2 - max(power, 0) - min(power + 1, 0))
    text = f"{height:+.{decimals}f}" if decimals <= 4 else f"{height:+.0e}"
    return "0" if not float(text) else text.replace("-", "−")


def _text_colour(row: dict[str, Any], largest: float) -> str:
    """Return the text colour that is legible on the cell."""
    if row["rows"] == 0:
        return GREY
    return WHITE if relative_luminance(shade(row["height"] / largest)) < MAX_DARK_LUMINANCE else BLACK


def shade(height: float) -> tuple[float, float, float]:
    """Return the colour of a height from −1 to 1, as red, green and blue from 0 to 1."""
    position = (height + 1) / 2 * (len(DIVERGING_COLOURS) - 1)
    k = min(int(position), len(DIVERGING_COLOURS) - 2)
    low, high = ([int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in DIVERGING_COLOURS[k : k + 2])
    red, green, blue = (a + (position - k) * (b - a) for a, b in zip(low, high, strict=True))
    return red, green, blue


def relative_luminance(colour: tuple[float, float, float]) -> float:
    """Return the relative luminance of a colour, as WCAG 2 defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
