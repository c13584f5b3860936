"""Charts of curves over the cells of a number, with bands, a histogram of the rows and marked values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from weigh.pictures.chart_data import (
    ChartRows,
    ChartTable,
    check_rows,
    format_name,
    round_to_digits,
    rows_with_interval,
    shorten_titles,
    unique_names,
)
from weigh.pictures.date_axes import DateAxis
from weigh.pictures.effect_style import MARK_COLOUR, ROWS_STYLE, HeightRange, PanelSize, height_axis
from weigh.pictures.number_axes import CellCount, NumberAxis, labelled_axis
from weigh.pictures.style import (
    CHART_WIDTH,
    GREY,
    LINE_LEGEND,
    apply_style,
    chart_from_rows,
    check_series_count,
    colour_channel,
    dash_channel,
    describe_chart,
    import_altair,
)

Marks = Sequence[tuple[float | None, str]]
MIN_BINS, MAX_BINS = 8, 40
MAX_TARGETS = 48  # areas with a tooltip
MISSING_PLACE, MISSING_WIDTH = 1.075, 0.07  # beside the axis, as shares of its length
MISSING_LABEL_ROOM = 0.12  # of the axis, without another label
BAND_OPACITY, MIXED_BAND_OPACITY = 0.2, 0.09  # of one band, and of bands that overlap
PLACE_DIGITS = 4  # decimals of places on the axis
DEFAULT_SIZE = PanelSize(CHART_WIDTH, 280)


def curve_chart(
    cells: ChartTable,
    missing: ChartTable = (),
    x: str = "",
    y: str = "",
    title: str = "",
    marks: Iterable[tuple[float | None, str]] = (),
    smooth: bool = False,
    description: str = "",
    more: str = "",
    is_date: bool = False,
) -> Any:
    """Draw heights over the cells of a number as steps, with bands and a histogram of the rows.

    If a few rows lie far from all others, the axis is logarithmic or ends before them, and its title says so.

    Parameters
    ----------
    cells : rows with "from", "to" and "height" in ascending order, optionally "series" (one line each),
        "low" and "high" (a band) and "rows" (their number)
    missing : the same of missing values, without "from" and "to"; drawn as points on the right
    x, y, title : the titles of the axes and of the chart
    marks : pairs of a value (None if it is missing) and a text: one is a line with a dot, several are ticks
    smooth : whether to draw a straight line through the middles of the cells, instead of steps
    description : text for screen readers
    more : the subtitle
    is_date : whether the numbers are days since 1970, which are labelled as dates
    """
    panel = CurvePanel(title, cells, missing, x, y, tuple(marks), smooth, is_date=is_date)
    alt = import_altair()
    titles = shorten_titles(title, more, x, y)
    text = describe_chart("A curve", titles[0], titles[2], titles[3], description)
    return apply_style(panel.draw(alt, DEFAULT_SIZE), text, *titles[:2])


@dataclass(frozen=True, eq=False)
class CurvePanel:
    """One curve as a panel; its fields are those of `curve_chart`."""

    title: str
    cells: ChartTable
    missing: ChartTable = ()
    x: str = ""
    y: str = ""
    marks: Marks = ()
    smooth: bool = False
    subtitle: str = ""
    is_date: bool = False

    @cached_property
    def rows(self) -> ChartRows:
        """The checked cells."""
        records = ({"series": "", "rows": 0, **row} for row in self.cells)
        return check_rows("Curves over cells", records, ("series",), ("from", "to", "height", "rows"))

    @cached_property
    def missing_rows(self) -> ChartRows:
        """The checked heights of missing values."""
        records = [{"series": "", "rows": 0, **row} for row in self.missing]
        return check_rows("Missing values", records, ("series",), ("height", "rows")) if records else []

    @cached_property
    def axis(self) -> NumberAxis:
        """The axis of the number."""
        first = self._of_series(self.rows, self.rows[0]["series"])
        kind = DateAxis if self.is_date else NumberAxis
        return kind.of([CellCount(row["from"], row["to"], row["rows"]) for row in first])

    def _of_series(self, rows: ChartRows, name: str) -> ChartRows:
        return [row for row in rows if row["series"] == name]

    @cached_property
    def heights(self) -> HeightRange:
        """The range of the heights, with room for the histogram."""
        has_rows = any(row["rows"] for row in self.rows)
        return HeightRange.of([*self.rows, *self.missing_rows], has_rows)

    def place(self, value: float | None) -> float:
        """Return where a value is drawn: from 0 to 1 on the axis, and beside it if the value is missing."""
        return MISSING_PLACE if value is None else round(self.axis.share(value), PLACE_DIGITS)

    def draw(self, alt: Any, size: PanelSize) -> Any:
        """Return the layers of the chart."""
        names = unique_names(self.rows, "series")
        check_series_count("Curves over cells", names)
        across, up = self._x_channel(alt, size), height_axis(alt, self.heights, self.y, size)
        colour = size.fit_legend(colour_channel(alt, names, **LINE_LEGEND))
        dash = size.fit_legend(dash_channel(alt, names, **LINE_LEGEND))
        layers = [
            *self._histogram(alt, across, up),
            *self._zero_line(alt, across, up),
            *self._lines(alt, {"x": across, "y": up, "color": colour}, dash),
            *self._missing_points(alt, {"x": across, "y": up, "color": colour}),
            *self._targets(alt, across, up, names),
            *self._marks(alt, across, up),
        ]
        return alt.layer(*layers).properties(width=size.width, height=size.height)

    def _x_channel(self, alt: Any, size: PanelSize) -> Any:
        axis, has_missing = self.axis, bool(self.missing_rows)
        numbers = axis.ticks(4 if size.is_small else 6)
        ticks = [tick for tick in numbers if not has_missing or axis.share(tick) < 1 - MISSING_LABEL_ROOM]
        places, labels = [axis.share(tick) for tick in ticks], axis.format(ticks)
        if has_missing:
            places, labels = [*places, MISSING_PLACE], [*labels, "missing"]
        (title,) = shorten_titles(f"{self.x} ({axis.note})" if self.x and axis.note else self.x or axis.note)
        end = MISSING_PLACE + MISSING_WIDTH / 2 if has_missing else 1.0
        scale = alt.Scale(domain=[0, end], nice=False, zero=False)
        labelled = labelled_axis(alt, places, labels, grid=False, labelFlush=False)
        return alt.X("x:Q", title=title or None, scale=scale, axis=labelled)

    def _zero_line(self, alt: Any, across: Any, up: Any) -> Iterator[Any]:
        rows = [{"x": x, "y": 0.0} for x in (0.0, 1.0)]
        yield (
            chart_from_rows(alt, rows)
            .mark_line(stroke=GREY, strokeWidth=1, strokeDash=[4, 3], aria=False)
            .encode(x=across, y=up)
        )

    def _lines(self, alt: Any, encoding: dict[str, Any], dash: Any) -> Iterator[Any]:
        """Yield the bands and the lines."""
        points = [point for name in unique_names(self.rows, "series") for point in self._points(name)]
        shape = {"interpolate": "linear" if self.smooth else "step-after", "aria": False}
        if banded := rows_with_interval(points):
            opacity = BAND_OPACITY if len(unique_names(banded, "series")) == 1 else MIXED_BAND_OPACITY
            band = chart_from_rows(alt, banded).mark_area(opacity=opacity, **shape)
            yield band.encode(**{**encoding, "y": alt.Y("low:Q")}, y2="high:Q")
        line = chart_from_rows(alt, points).mark_line(strokeWidth=2.2, strokeJoin="round", **shape)
        yield line.encode(**encoding, strokeDash=dash)

    def _points(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the points of a line: where each visible cell starts, and where the last one ends."""
        rows = self._visible_rows(name)
        for row in rows:
            ends = self.place(row["from"]), self.place(row["to"])
            yield self._point(row, sum(ends) / 2 if self.smooth else ends[0])
        if not self.smooth:
            yield self._point(rows[-1], self.place(rows[-1]["to"]))

    def _visible_rows(self, name: str) -> ChartRows:
        rows = self._of_series(self.rows, name)
        return [row for row in rows if row["to"] >= self.axis.low and row["from"] <= self.axis.high]

    def _point(self, row: dict[str, Any], x: float) -> dict[str, Any]:
        band = {end: self.heights.clip(row[end]) for end in ("low", "high") if row.get(end) is not None}
        numbers = {"x": x, "y": row["height"], **band}
        return {"series": row["series"], **{key: round_to_digits(value) for key, value in numbers.items()}}

    def _missing_points(self, alt: Any, encoding: dict[str, Any]) -> Iterator[Any]:
        if not self.missing_rows:
            return
        rows = [self._point(row, MISSING_PLACE) for row in self.missing_rows]
        base = chart_from_rows(alt, rows)
        if rows_with_interval(rows):
            yield base.mark_rule(strokeWidth=2, aria=False).encode(
                **{**encoding, "y": alt.Y("low:Q")}, y2="high:Q"
            )
        yield base.mark_point(filled=True, size=50, opacity=1, shape="diamond", aria=False).encode(**encoding)

    def _histogram(self, alt: Any, across: Any, up: Any) -> Iterator[Any]:
        """Yield bars of the rows below the curve; missing values have their own bar."""
        first = self.rows[0]["series"]
        n_missing = sum(row["rows"] for row in self._of_series(self.missing_rows, first))
        bins = [*self._bins(self._visible_rows(first)), *self._missing_bin(n_missing)]
        most = max((count for *_, count in bins), default=0.0)
        if not most or not self.heights.has_rows:
            return
        rows = [
            {
                "x": round_to_digits(start),
                "x2": round_to_digits(stop),
                "y": self.heights.floor,
                "y2": round_to_digits(self.heights.bar(count / most)),
            }
            for start, stop, count in bins
            if count
        ]
        bar = chart_from_rows(alt, rows).mark_rect(**ROWS_STYLE, aria=False)
        yield bar.encode(x=across, x2="x2:Q", y=up, y2="y2:Q")

    def _bins(self, rows: ChartRows) -> Iterator[tuple[float, float, float]]:
        """Yield equal bins of the axis with their numbers of rows, which are even within a cell."""
        n_bins = min(MAX_BINS, max(len(rows), MIN_BINS))
        counts = [0.0] * n_bins
        for row in rows:
            start, stop = self.axis.share(row["from"]) * n_bins, self.axis.share(row["to"]) * n_bins
            first, last = (min(int(end), n_bins - 1) for end in (start, stop))
            for k in range(first, last + 1):
                overlap = min(stop, k + 1) - max(start, k)
                counts[k] += row["rows"] * (overlap / (stop - start) if stop > start else 1.0)
        for k, count in enumerate(counts):
            yield k / n_bins, (k + 1) / n_bins, count

    def _missing_bin(self, count: float) -> Iterator[tuple[float, float, float]]:
        if count:
            yield MISSING_PLACE - MISSING_WIDTH / 3, MISSING_PLACE + MISSING_WIDTH / 3, count

    def _targets(self, alt: Any, across: Any, up: Any, names: list[str]) -> Iterator[Any]:
        """Yield invisible areas whose tooltips tell the cells, their rows and heights."""
        columns = [self._visible_rows(name) for name in names]
        step = math.ceil(len(columns[0]) / MAX_TARGETS)
        rows = [
            self._target([column[k : k + step] for column in columns])
            for k in range(0, len(columns[0]), step)
        ]
        if self.missing_rows:
            ends = {"x": MISSING_PLACE - MISSING_WIDTH / 2, "x2": MISSING_PLACE + MISSING_WIDTH / 2}
            rows.append({**ends, "value": "missing", **_tooltip_fields([[row] for row in self.missing_rows])})
        rows = [{**row, "y": self.heights.floor, "y2": self.heights.top} for row in rows]
        titles = [name or self.y or "height" for name in names]
        tooltips = [
            alt.Tooltip("value:N", title=shorten_titles(self.x)[0] or "value"),
            *(alt.Tooltip(f"h{k}:N", title=shorten_titles(name)[0]) for k, name in enumerate(titles)),
            *([alt.Tooltip("rows:Q", format=",.4~r")] if self.heights.has_rows else []),
        ]
        area = chart_from_rows(alt, rows).mark_rect(opacity=0)
        yield area.encode(x=across, x2="x2:Q", y=up, y2="y2:Q", tooltip=tooltips)

    def _target(self, columns: list[ChartRows]) -> dict[str, Any]:
        low, high = columns[0][0]["from"], columns[0][-1]["to"]
        texts = self.axis.format([low, high])
        ends = {"x": self.place(low), "x2": self.place(high)}
        return {**ends, "value": " to ".join(texts), **_tooltip_fields(columns)}

    def _marks(self, alt: Any, across: Any, up: Any) -> Iterator[Any]:
        """Yield one marked value as a line with a dot on the curve, several as ticks."""
        top = self.heights.top if len(self.marks) == 1 else self.heights.tick_top
        rows = [
            {"x": self.place(value), "y": self.heights.floor, "y2": top, "text": format_name(text)}
            for value, text in self.marks
        ]
        if not rows:
            return
        rule = chart_from_rows(alt, rows).mark_rule(color=MARK_COLOUR, strokeWidth=1.5)
        yield rule.encode(x=across, y=up, y2="y2:Q", tooltip=alt.Tooltip("text:N", title="row"))
        if len(rows) == 1:
            dots = [{"x": rows[0]["x"], "y": height} for height in self._heights_at(self.marks[0][0])]
            dot = chart_from_rows(alt, dots).mark_point(filled=True, color=MARK_COLOUR, size=60, opacity=1)
            yield dot.encode(x=across, y=up)

    def _heights_at(self, value: float | None) -> Iterator[float]:
        """Yield the height of each series at a value; values beyond the cells are in the nearest."""
        if value is None:
            yield from (row["height"] for row in self.missing_rows)
            return
        for name in unique_names(self.rows, "series"):
            rows = self._of_series(self.rows, name)
            row = next((row for row in rows if value <= row["to"]), rows[-1])
            yield row["height"] + (
                self._slope(rows) * (self._clip(value) - _middle(row)) if self.smooth else 0.0
            )

    def _slope(self, rows: ChartRows) -> float:
        """Return the slope of a straight line over the cells of a series."""
        run = _middle(rows[-1]) - _middle(rows[0])
        return float((rows[-1]["height"] - rows[0]["height"]) / run) if run else 0.0

    def _clip(self, value: float) -> float:
        return min(max(value, self.axis.low), self.axis.high)


def _middle(row: dict[str, Any]) -> float:
    return float(row["from"] + row["to"]) / 2


def _tooltip_fields(columns: Sequence[ChartRows]) -> dict[str, Any]:
    """Return the mean height of the cells of each series, with its band, and the number of rows."""
    fields: dict[str, Any] = {"rows": round_to_digits(sum(row["rows"] for row in columns[0]), 6)}
    for k, cells in enumerate(columns):
        mean = _mean(cells, "height")
        text = f"{mean:+.3g}".replace("-", "−")
        if len(rows_with_interval(cells)) == len(cells):
            low, high = (f"{_mean(cells, end):+.3g}".replace("-", "−") for end in ("low", "high"))
            text += f" ({low} to {high})"
        fields[f"h{k}"] = text
    return fields


def _mean(cells: ChartRows, name: str) -> float:
    """Return the mean of a field over the rows of the cells, or over the cells if they have no rows."""
    total = sum(cell["rows"] for cell in cells)
    weights = [cell["rows"] / total if total else 1 / len(cells) for cell in cells]
    return math.fsum(weight * cell[name] for weight, cell in zip(weights, cells, strict=True))
