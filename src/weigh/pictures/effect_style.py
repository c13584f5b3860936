"""What the charts of effects share: sizes, the range of heights, and the look of rows and marks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weigh.pictures.chart_data import ChartRows, round_to_digits, shorten_titles
from weigh.pictures.number_axes import format_ticks, labelled_axis, nice_ticks
from weigh.pictures.style import ERROR_COLOUR, GREY

MARK_COLOUR = ERROR_COLOUR
ROWS_STYLE: dict[str, Any] = {"color": GREY, "opacity": 0.35}
ROWS_ROOM = 0.2  # of the range of heights, for the histogram
PADDING = 0.06  # of the range of heights
MAX_BAND_RATIO = 0.6  # of the range of heights, beyond which bands are cut
MIN_BAR_SHARE = 0.04  # of the longest bar, for few rows
TICK_SHARE = 0.45  # of the room of the histogram, for ticks of marked values
SMALL_WIDTH = 360  # pixels


@dataclass(frozen=True)
class PanelSize:
    """The width and height of a panel in pixels, without its axes; in a grid, its width does not change."""

    width: int
    height: int
    is_in_grid: bool = False

    @property
    def is_small(self) -> bool:
        """Whether there is room for few labels only."""
        return self.width < SMALL_WIDTH

    def fit_legend(self, channel: Any) -> Any:
        """Put the legend of a channel in one line if the width of all panels is not known to it."""
        if self.is_in_grid and channel["legend"] is not None:
            channel["legend"]["columns"] = 0
        return channel


@dataclass(frozen=True)
class HeightRange:
    """The heights from `low` to `high` that an axis shows, and the room beside them for rows."""

    low: float
    high: float
    has_rows: bool

    @classmethod
    def of(cls, rows: ChartRows, has_rows: bool) -> HeightRange:
        """Return the range of heights and their bands, which are cut if they are much wider."""
        heights = [0.0, *(row["height"] for row in rows)]
        least, greatest = min(heights), max(heights)
        room = MAX_BAND_RATIO * ((greatest - least) or 1.0)
        lows = [row["low"] for row in rows if row.get("low") is not None]
        highs = [row["high"] for row in rows if row.get("high") is not None]
        if least == greatest and not (lows and highs):
            return cls(-1.0, 1.0, has_rows)
        low = max(min([least, *lows]), least - room)
        high = min(max([greatest, *highs]), greatest + room)
        padding = PADDING * (high - low)
        return cls(round_to_digits(low - padding), round_to_digits(high + padding), has_rows)

    @property
    def floor(self) -> float:
        """The end of the axis, with the room for rows."""
        return self.low - ROWS_ROOM * (self.high - self.low) * self.has_rows

    @property
    def top(self) -> float:
        """The other end of the axis."""
        return self.high

    @property
    def tick_top(self) -> float:
        """The height of a tick for a marked value."""
        return self.floor + TICK_SHARE * ROWS_ROOM * (self.high - self.low)

    def clip(self, height: float) -> float:
        """Return a height, or the end of the range that is nearest to it."""
        return min(max(height, self.low), self.high)

    def bar(self, share: float) -> float:
        """Return where the bar ends whose length is a share of the longest; short bars stay visible."""
        return self.floor + max(share, MIN_BAR_SHARE) * (self.low - self.floor)


def height_axis(alt: Any, heights: HeightRange, title: str, size: PanelSize, channel: str = "y") -> Any:
    """Return the axis of heights, without labels in the room for rows."""
    ticks = nice_ticks(heights.low, heights.high, 4 if size.is_small else 6)
    scale = alt.Scale(domain=[heights.floor, heights.top], nice=False, zero=False)
    axis = labelled_axis(alt, ticks, format_ticks(ticks))
    make = alt.Y if channel == "y" else alt.X
    return make(f"{channel}:Q", title=shorten_titles(title)[0] or None, scale=scale, axis=axis)
