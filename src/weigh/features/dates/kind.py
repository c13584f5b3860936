"""The kind of dates and times, and the names of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from weigh.features.curves import Curve
from weigh.features.kinds import Category, Kind, Number

PART_TITLES = {
    "weekday": "weekday",
    "month": "month",
    "day": "day of month",
    "hour": "hour",
    "days": "days since 1970",
}


@dataclass(frozen=True, repr=False)
class Date(Kind):
    """A date, with or without a time of day; its parts are the features.

    `parts` are some of "weekday", "month", "day" (of the month) and "hour", which are categories, and "days",
    the days since 1970, a number that linear models standardise; `bins` makes it a histogram, as of a number,
    and `curve` a smoothed curve, with these bins if there are any, in logistic and linear regression.
    `order` ("ymd", "dmy" or "mdy") tells how to read dates such as 01/02/2024. With a `zone`, such as
    "Europe/Berlin" or "+02:00", times with a UTC offset are converted to that time zone.

    What is not given is found in the first rows: the order, the zone if all times have the same UTC offset,
    and the parts. Parts must vary. The weekday is used only if the dates span more than a week, and the month
    only if they span more than a year: otherwise they would repeat what the days tell, and naive Bayes would
    count the same evidence twice. Within 24 hours, the hour is used alone.
    """

    name: ClassVar[str] = "date"
    order: str | None = None
    zone: str | None = None
    parts: tuple[str, ...] | None = None
    bins: int | tuple[float, ...] | None = None
    curve: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to be found in the first rows."""
        return self.order is not None and self.parts is not None and not isinstance(self.bins, int)

    def part_kinds(self, name: str) -> Iterator[tuple[str, Kind]]:
        """Yield the name and the kind of each part of a column."""
        for part in self.parts or ():
            curve = Curve() if self.bins is None else Curve(bins=self.bins)
            number = curve if self.curve else Number(bins=self.bins, scale="unit")
            kind = number if part == "days" else Category()
            yield part_name(name, part), kind


def part_name(column: str, part: str) -> str:
    """Return the name of a part of a column, such as "when: weekday"."""
    return f"{column}: {PART_TITLES[part]}"


def split_part_name(name: str) -> tuple[str, str]:
    """Return the column and the part that a name such as "when: weekday" stands for; empty if none."""
    column, _, title = name.rpartition(": ")
    part = next((part for part, each in PART_TITLES.items() if each == title), "")
    return (column, part) if part else ("", "")


def is_days(name: str) -> bool:
    """Whether a name stands for the days since 1970 of a column of dates."""
    return split_part_name(name)[1] == "days"


def expand_dates(pairs: Iterable[tuple[str, Kind]]) -> Iterator[tuple[str, Kind]]:
    """Replace columns of dates by their parts in pairs of names and kinds."""
    for name, kind in pairs:
        if isinstance(kind, Date):
            yield from kind.part_kinds(name)
        else:
            yield name, kind
