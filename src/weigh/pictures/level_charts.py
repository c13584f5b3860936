"""Charts of the heights of the levels of a category, with intervals and bars of their rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from weigh.pictures.chart_data import (
    ChartRows,
    ChartTable,
    check_rows,
    limit_rows,
    round_to_digits,
    rows_with_interval,
    shorten_titles,
    unique_names,
)
from weigh.pictures.effect_style import MARK_COLOUR, ROWS_STYLE, HeightRange, PanelSize, height_axis
from weigh.pictures.style import (
    CHART_WIDTH,
    GREY,
    POINT_LEGEND,
    apply_style,
    chart_from_rows,
    check_series_count,
    colour_channel,
    describe_chart,
    import_altair,
    name_axis,
    shape_channel,
    tooltip_channels,
)

MAX_LEVELS = 30
LEVEL_STEP, SERIES_STEP = 26, 15  # pixels per level, and per series of a level
SMALL_LABEL_LIMIT = 112  # pixels
ROWS_BAR_SHARE = 0.7  # of the height of a level


def level_chart(
    table: ChartTable,
    x: str = "",
    title: str = "",
    description: str = "",
    most: int = MAX_LEVELS,
    more: str = "",
) -> Any:
    """Draw the height of each level as a dot with its interval, beside a bar of its rows.

    Parameters
    ----------
    table : rows with "name" and "height", optionally "series", "low" and "high" (an interval), "rows" (their
        number) and "marked" (the level of a marked row)
    x, title : the titles of the axis of heights and of the chart
    description : text for screen readers
    most : the maximum number of levels
    more : the subtitle
    """
    panel = LevelPanel(title, table, x, most)
    alt = import_altair()
    x, title, more = shorten_titles(x, title, more)
    note = "; ".join(filter(None, (more, panel.note)))
    chart = panel.draw(alt, PanelSize(CHART_WIDTH - 100, panel.natural_height))
    return apply_style(chart, describe_chart("Levels", title, x, "", description), title, note)


@dataclass(frozen=True, eq=False)
class LevelPanel:
    """The levels of one category as a panel; its fields are those of `level_chart`."""

    title: str
    table: ChartTable
    x: str = ""
    most: int = MAX_LEVELS
    subtitle: str = ""

    @cached_property
    def _limited(self) -> tuple[ChartRows, str]:
        records = ({"series": "", "rows": 0, **row} for row in self.table)
        rows = check_rows("Levels", records, ("name", "series"), ("height", "rows"), ("marked",))
        return limit_rows("levels", rows, self.most, "name")

    @property
    def rows(self) -> ChartRows:
        """The checked rows of the levels that are drawn."""
        return self._limited[0]

    @property
    def note(self) -> str:
        """How many levels are drawn, if not all are."""
        return self._limited[1]

    @property
    def natural_height(self) -> int:
        """The height in pixels at which all levels have enough room."""
        n_series = len(unique_names(self.rows, "series"))
        step = LEVEL_STEP if n_series == 1 else SERIES_STEP * n_series + 8
        return step * len(unique_names(self.rows, "name"))

    @cached_property
    def heights(self) -> HeightRange:
        """The range of the heights, with room for the bars of the rows."""
        return HeightRange.of(self.rows, any(row["rows"] for row in self.rows))

    def draw(self, alt: Any, size: PanelSize) -> Any:
        """Return the layers of the chart."""
        names, series = unique_names(self.rows, "name"), unique_names(self.rows, "series")
        check_series_count("Levels", series)
        levels = name_axis(alt, names)
        if size.is_small:
            levels["axis"]["labelLimit"] = SMALL_LABEL_LIMIT
        across = height_axis(alt, self.heights, self.x, size, "x")
        layers = [
            *self._row_bars(alt, across, levels, size),
            *self._zero_line(alt, across),
            *self._dots(alt, across, levels, size),
        ]
        return alt.layer(*layers).properties(width=size.width, height=size.height)

    def _row_bars(self, alt: Any, across: Any, levels: Any, size: PanelSize) -> Iterator[Any]:
        counts = {row["name"]: row["rows"] for row in self.rows}
        most = max(counts.values())
        if not most:
            return
        rows = [
            {"name": name, "x": self.heights.floor, "x2": round_to_digits(self.heights.bar(count / most))}
            for name, count in counts.items()
        ]
        # A bar would take the band of one series instead of the whole level.
        width = ROWS_BAR_SHARE * size.height / len(counts)
        bar = chart_from_rows(alt, rows).mark_rule(**ROWS_STYLE, aria=False, strokeWidth=width)
        yield bar.encode(x=across, x2="x2:Q", y=levels)

    def _zero_line(self, alt: Any, across: Any) -> Iterator[Any]:
        rule = chart_from_rows(alt, [{"x": 0.0}]).mark_rule(color=GREY, strokeDash=[4, 3], aria=False)
        yield rule.encode(x=across)

    def _dots(self, alt: Any, across: Any, levels: Any, size: PanelSize) -> Iterator[Any]:
        series = unique_names(self.rows, "series")
        rows = [{**row, "x": row["height"], **self._interval(row)} for row in self.rows]
        tooltip = tooltip_channels(
            alt, rows, ("name", "series"), height=self.x or "height", low="from", high="to", rows="rows"
        )
        encoding = {
            "y": levels,
            "color": size.fit_legend(colour_channel(alt, series, **POINT_LEGEND)),
            "tooltip": tooltip,
        }
        if len(series) > 1:
            encoding["yOffset"] = alt.YOffset("series:N", scale=alt.Scale(domain=series))
        if marked := [row for row in rows if row["marked"]]:
            ring = chart_from_rows(alt, marked).mark_point(
                shape="circle", filled=False, size=230, stroke=MARK_COLOUR, strokeWidth=2, opacity=1
            )
            yield ring.encode(**{**encoding, "color": alt.value(MARK_COLOUR)}, x=across)
        if whiskers := rows_with_interval(rows):
            line = chart_from_rows(alt, whiskers).mark_rule(strokeWidth=2.2)
            yield line.encode(**encoding, x=alt.X("cut_low:Q"), x2="cut_high:Q")
        dots = chart_from_rows(alt, rows).mark_point(filled=True, size=70, opacity=1)
        yield dots.encode(
            **encoding, x=across, shape=size.fit_legend(shape_channel(alt, series, **POINT_LEGEND))
        )

    def _interval(self, row: dict[str, Any]) -> dict[str, float]:
        """Return the visible part of an interval."""
        return {
            f"cut_{end}": round_to_digits(self.heights.clip(row[end]))
            for end in ("low", "high")
            if row.get(end) is not None
        }
