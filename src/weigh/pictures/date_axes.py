"""Axes of dates, which are numbers of days since 1970."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from weigh.pictures.number_axes import MAX_TICKS, NumberAxis, format_ticks, nice_ticks
from weigh.text import EPOCH_ORDINAL, date_of_day

DAYS_PER_MONTH = 365.25 / 12
DAY_STEPS = (1, 2, 7, 14)
MONTH_STEPS = (1, 2, 3, 6, *(12 * times * 10**power for power in range(5) for times in (1, 2, 5)))


@dataclass(frozen=True)
class DateAxis(NumberAxis):
    """An axis of dates; it is linear, or clipped."""

    may_be_logarithmic: ClassVar[bool] = False

    def ticks(self, most: int = MAX_TICKS) -> list[float]:
        """Return about `most` days to label."""
        return date_ticks(self.low, self.high, most)

    def format(self, numbers: Sequence[float]) -> list[str]:
        """Format days as dates."""
        return format_dates(numbers)


def date_ticks(low: float, high: float, most: int) -> list[float]:
    """Return about `most` days to label: the starts of years or months, or equal steps of days."""
    start, stop = date_of_day(low), date_of_day(high)
    if start is None or stop is None:
        return nice_ticks(low, high, most)
    wanted = (high - low) / (most + 0.5)
    for step in DAY_STEPS:
        if wanted <= step:
            return [float(day) for day in range(math.ceil(low / step) * step, math.floor(high) + 1, step)]
    months = next(step for step in MONTH_STEPS if wanted <= step * DAYS_PER_MONTH)
    return [day for day in _month_starts(start, stop, months) if low <= day <= high]


def _month_starts(start: datetime.date, stop: datetime.date, step: int) -> Iterator[float]:
    """Yield the first days of every `step`-th month from one year to another."""
    first = -(-12 * start.year // step) * step
    for month in range(first, 12 * stop.year + stop.month, step):
        yield float(datetime.date(month // 12, month % 12 + 1, 1).toordinal() - EPOCH_ORDINAL)


def format_dates(days: Sequence[float]) -> list[str]:
    """Format days as dates: 2024, 2024-03 or 2024-03-15, whatever is exact for all; others as numbers."""
    dates = [date for day in days if (date := date_of_day(day)) is not None]
    if len(dates) < len(days):
        return format_ticks(days)
    if all(date.month == date.day == 1 for date in dates):
        return [f"{date.year:04d}" for date in dates]
    if all(date.day == 1 for date in dates):
        return [date.isoformat()[:7] for date in dates]
    return [date.isoformat() for date in dates]
