"""Reading dates and times from text, in all usual forms.

Cells of the same shape (equal except for their digits) are read together with NumPy: one of them is matched
with a pattern, which gives the positions of year, month, day and time in all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.features.blocks import Longs, Mask
from weigh.features.dates.month_names import MONTH_NUMBERS, WEEKDAY_WORDS, strip_accents

NO_OFFSET = 1 << 40  # the UTC offset of a time without one
MAX_LENGTH = 48  # longer texts are no dates
PIVOT_YEAR = 69  # two-digit years: 69 to 99 are 1969 to 1999, 00 to 68 are 2000 to 2068, as in POSIX
MAX_OFFSET_HOURS = 15
MAX_SHAPES = 24  # after so many, texts that are no dates are sorted out one by one
COMPACT_YEARS = (1900, 2100)  # of dates that would be other numbers otherwise
MIN_EPOCH, MAX_NUMBER = 10**8, 9 * 10**18  # numbers that may be times since 1970, and dates such as 20240131
DAY_SECONDS = 86_400

_MONTH = rf"(?P<name>{'|'.join(sorted(MONTH_NUMBERS, key=len, reverse=True))})"
_WEEKDAY = rf"(?:(?:{'|'.join(WEEKDAY_WORDS)})\.?,? +)?"
_OFFSET = r"(?: *(?:(?P<utc>Z|UTC|GMT)|(?P<sign>[+-])(?P<zone_hour>\d\d)(?::?(?P<zone_minute>\d\d))?))?"
_TIME = (
    r"(?:(?:T|,? +|:)(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d\d)(?:[:.](?P<second>\d\d)(?:[.,]\d{1,9})?)?)?"
    rf"(?: *(?P<half>[ap])\.?m\.?)?{_OFFSET})?"
)
_COMPACT_TIME = rf"(?:T(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)?{_OFFSET})?"
_PATTERNS = [
    re.compile(pattern, re.IGNORECASE | re.ASCII)
    for pattern in (
        rf"(?P<year>\d{{4}})(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?){_TIME}",
        rf"(?P<first>\d\d?)(?P<mark>[-/.])(?P<middle>\d\d?)(?P=mark)(?P<year>\d{{4}}){_TIME}",
        rf"(?P<first>\d\d)(?P<mark>[-/.])(?P<middle>\d\d)(?P=mark)(?P<year>\d\d){_TIME}",
        # Only with slashes, because 1.2.10 is more often a version than a date.
        rf"(?P<first>\d\d?)(?P<mark>/)(?P<middle>\d\d?)/(?P<year>\d\d){_TIME}",
        rf"\[?{_WEEKDAY}(?P<day>\d\d?)(?:st|nd|rd|th|er)?\.?(?: de |[- /]){_MONTH}\.?,?(?: del? |[- /])"
        rf"(?P<year>\d{{4}}|\d\d){_TIME}\]?",
        rf"{_WEEKDAY}{_MONTH}\.?[- /](?P<day>\d\d?)(?:st|nd|rd|th)?(?:, *|[- /])(?P<year>\d{{4}}){_TIME}",
        rf"(?P<day>\d\d){_MONTH}(?P<year>\d{{4}}|\d\d){_TIME}",
        # The form of C's ctime, with or without a time zone.
        rf"{_WEEKDAY}{_MONTH} +(?P<day>\d\d?) +(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d))?"
        r"(?: +[A-Z]{3,4})? +(?P<year>\d{4})",
        rf"(?P<compact>(?P<year>\d{{4}})(?P<month>\d\d)(?P<day>\d\d)){_COMPACT_TIME}",
        # Months without a day.
        r"(?P<compact>(?P<year>\d{4})[-/](?P<month>\d\d))",
        r"(?P<compact>(?P<month>\d\d?)/(?P<year>\d{4}))",
        rf"(?P<compact>{_MONTH}\.?,?[- /](?P<year>\d{{4}}))",
        # Seconds since 1970, or thousandths, millionths and so on.
        r"(?P<epoch>\d{9,10}|\d{12,13}|\d{16}|\d{19})(?:\.\d*)?",
    )
]


_DIGIT = re.compile("[0-9]")
_THREE_DIGITS = re.compile("[0-9][^0-9]*[0-9][^0-9]*[0-9]")  # every date has them
_EPOCH = _PATTERNS[-1]


@dataclass(frozen=True, eq=False)
class ParsedDates:
    """Dates as seconds since 1970 on the clock as written, with UTC offsets in seconds.

    Where `is_valid` is False, the text is no date; a time without an offset has `NO_OFFSET`.
    """

    seconds: Longs
    offsets: Longs
    is_valid: Mask


def match_date(text: str) -> re.Match[str] | None:
    """Match the form of a date, whatever its numbers."""
    if not _THREE_DIGITS.search(text):
        return None  # most texts are no dates
    return next((found for pattern in _PATTERNS if (found := pattern.fullmatch(text))), None)


def is_epoch(text: str) -> bool:
    """Whether a text consists of digits that may be a time since 1970, in seconds or a fraction of them."""
    return _EPOCH.fullmatch(text) is not None


def is_compact(text: str) -> bool:
    """Whether a text consists of eight digits, such as 20240131."""
    return len(text) == 8 and text.isascii() and text.isdigit()


def to_date_texts(values: Sequence[Any]) -> list[str]:
    """Return values as ASCII texts without outer blanks; values that cannot be dates become empty."""
    if set(map(type, values)) == {str}:
        texts = list(map(str.strip, values))
        if max(map(len, texts)) <= MAX_LENGTH and "".join(texts).isascii():
            return texts  # the usual case, many times faster than one by one
    return [_to_date_text(value) for value in values]


def _to_date_text(value: Any) -> str:
    if isinstance(value, str):
        text = value.strip()
        if len(text) > MAX_LENGTH or text.isascii():
            return text if len(text) <= MAX_LENGTH else ""
        text = strip_accents(text) if _DIGIT.search(text) else ""
        return text if text.isascii() else ""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < MAX_NUMBER:
        return ""
    return str(int(value)) if value == int(value) or value > MIN_EPOCH else ""


def parse_dates(texts: Sequence[str], order: str) -> ParsedDates:
    """Parse ASCII texts; `order` is "dmy" or "mdy", or "ymd" to read only dates with the year first.

    Dates with the name of the month are read with any order.
    """
    n = len(texts)
    result = ParsedDates(
        np.zeros(n, dtype=np.int64), np.full(n, NO_OFFSET, dtype=np.int64), np.zeros(n, dtype=bool)
    )
    array = np.array(texts, dtype=np.bytes_)
    if not array.itemsize or not n:
        return result
    chars = array.view(np.uint8).reshape(n, array.itemsize)
    # Unsigned subtraction wraps around, so one comparison finds the digits.
    shapes = np.where(chars - 48 < 10, np.uint8(48), chars)
    remaining, n_shapes = np.arange(n), 0
    while len(remaining):
        n_shapes += 1
        if n_shapes == MAX_SHAPES:
            has_form = np.array([match_date(texts[row]) is not None for row in remaining.tolist()])
            remaining, shapes = remaining[has_form], shapes[has_form]
            continue
        is_equal = (shapes == shapes[0]).all(axis=1)
        found, rows = match_date(texts[int(remaining[0])]), remaining[is_equal]
        if found is not None:
            values = _parse_shape(chars[rows], found, order)
            result.seconds[rows], result.offsets[rows], result.is_valid[rows] = values
        remaining, shapes = remaining[~is_equal], shapes[~is_equal]
    return result


def _parse_shape(
    chars: npt.NDArray[np.uint8], found: re.Match[str], order: str
) -> tuple[Longs, Longs | int, Mask]:
    """Parse texts [n, width] with the positions of a pattern that was matched with one of them."""
    if found.re is _EPOCH:
        return _parse_epoch(_read_digits(chars, *found.span("epoch")), found.end("epoch"))
    fields: dict[str, Any] = {name: _read_digits(chars, *found.span(name)) for name in _digit_groups(found)}
    if "first" in fields:
        if order == "ymd":
            zeros = np.zeros(len(chars), dtype=np.int64)
            return zeros, zeros, zeros.astype(bool)
        names = ("day", "month") if order == "dmy" else ("month", "day")
        fields |= dict(zip(names, (fields["first"], fields["middle"]), strict=True))
    year = fields["year"]
    if found.end("year") - found.start("year") == 2:
        year = np.where(year < PIVOT_YEAR, 2000, 1900) + year
    month = fields.get("month")
    if month is None:
        month = np.full(len(chars), MONTH_NUMBERS[found["name"].lower()])
    days, is_valid = _to_days(year, month, fields.get("day", np.ones_like(year)))
    if "compact" in found.re.groupindex:
        is_valid &= (year >= COMPACT_YEARS[0]) & (year <= COMPACT_YEARS[1])
    time, is_time = _to_seconds(fields, found, len(chars))
    is_time &= (fields.get("zone_hour", 0) <= MAX_OFFSET_HOURS) & (fields.get("zone_minute", 0) < 60)
    return days * DAY_SECONDS + time, _to_offset(fields, found), is_valid & is_time


def _parse_epoch(number: Longs, n_digits: int) -> tuple[Longs, int, Mask]:
    """Return times since 1970 in UTC; the number of digits tells the unit."""
    per_second = 10 ** (3 * ((n_digits - 9 + 1) // 3))
    return number // per_second, 0, np.ones(len(number), dtype=bool)


def _digit_groups(found: re.Match[str]) -> list[str]:
    return [name for name, text in found.groupdict().items() if text and name != "compact" and text.isdigit()]


def _read_digits(chars: npt.NDArray[np.uint8], start: int, stop: int) -> Longs:
    number = np.zeros(len(chars), dtype=np.int64)
    for at in range(start, stop):
        number = 10 * number + (chars[:, at] - 48)
    return number


def _to_days(year: Longs, month: Longs, day: Longs) -> tuple[Longs, Mask]:
    """Return the days since 1970 and which dates exist."""
    months = ((year - 1970) * 12 + np.clip(month, 1, 12) - 1).astype("M8[M]")
    first, following = (each.astype("M8[D]").astype(np.int64) for each in (months, months + 1))
    is_valid = (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= following - first)
    return first + day - 1, is_valid


def _to_seconds(fields: Mapping[str, Longs], found: re.Match[str], n: int) -> tuple[Longs, Mask]:
    """Return the seconds since midnight and which times exist."""
    zeros = np.zeros(n, dtype=np.int64)
    hour, minute, second = (fields.get(name, zeros) for name in ("hour", "minute", "second"))
    is_valid = (hour < 24) & (minute < 60) & (second <= 60)
    half = found.groupdict().get("half")
    if half:
        is_valid &= (hour >= 1) & (hour <= 12)
        hour = hour % 12 + (12 if half in "pP" else 0)
    return hour * 3600 + minute * 60 + np.minimum(second, 59), is_valid


def _to_offset(fields: Mapping[str, Any], found: re.Match[str]) -> Longs | int:
    if not found.groupdict().get("sign"):
        return 0 if found.groupdict().get("utc") else NO_OFFSET
    offset: Longs = fields["zone_hour"] * 3600 + fields.get("zone_minute", 0) * 60
    return -offset if found["sign"] == "-" else offset


def to_zone(dates: ParsedDates, zone: str | None) -> Longs:
    """Return the seconds since 1970 on the clock of a time zone.

    Times without an offset are taken to be in that zone; without a zone, all times are used as written.
    """
    is_aware = dates.offsets != NO_OFFSET
    if zone is None or not is_aware.any():
        return dates.seconds
    seconds = dates.seconds.copy()
    utc = dates.seconds[is_aware] - dates.offsets[is_aware]
    seconds[is_aware] = utc + (_fixed_offset(zone) if zone[0] in "+-" else _zone_offsets(utc, zone))
    return seconds


def _fixed_offset(zone: str) -> int:
    sign = -1 if zone[0] == "-" else 1
    return sign * (int(zone[1:3]) * 3600 + int(zone[4:6]) * 60)


def _zone_offsets(utc: Longs, name: str) -> Longs:
    """Return the UTC offsets of a zone at these times."""
    # Imported here because few models have a time zone.
    import datetime as dt
    import zoneinfo

    zone = zoneinfo.ZoneInfo(name)
    # Clocks change at full quarters of an hour, and there are few of them.
    quarters, inverse = np.unique(utc // 900, return_inverse=True)
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    last = (dt.datetime.max.replace(tzinfo=dt.UTC) - epoch) // dt.timedelta(minutes=15) - 96
    first = (dt.datetime.min.replace(tzinfo=dt.UTC) - epoch) // dt.timedelta(minutes=15) + 96
    offsets = [
        (epoch + dt.timedelta(minutes=15 * quarter)).astimezone(zone).utcoffset()
        for quarter in np.clip(quarters, first, last).tolist()
    ]
    seconds = np.array([offset.total_seconds() if offset else 0 for offset in offsets])
    return seconds.astype(np.int64)[inverse]


def format_offset(seconds: int) -> str:
    """Return a UTC offset as a zone: +02:00, or UTC for zero."""
    if not seconds:
        return "UTC"
    sign, seconds = "-" if seconds < 0 else "+", abs(seconds)
    return f"{sign}{seconds // 3600:02}:{seconds % 3600 // 60:02}"
