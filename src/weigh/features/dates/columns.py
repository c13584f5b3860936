"""The columns of dates of a chunk: their parts as further columns, and a note of values that are no dates."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.deduplicated_warnings import warn
from weigh.features.blocks import Longs, Mask
from weigh.features.columns import encode_column, is_missing
from weigh.features.dates.kind import Date, part_name
from weigh.features.dates.month_names import MONTHS, WEEKDAYS
from weigh.features.dates.parsing import DAY_SECONDS, parse_dates, to_date_texts, to_zone
from weigh.features.kinds import MarkerTuple
from weigh.source.base import ChunkReader, Source
from weigh.source.chunk import Chunk, Column, DictionaryColumn

_LEVELS: dict[str, list[Any]] = {
    "weekday": list(WEEKDAYS),
    "month": list(MONTHS),
    "day": list(range(1, 32)),
    "hour": list(range(24)),
}


@dataclass(frozen=True, eq=False)
class ReadDates:
    """The dates of distinct values: seconds since 1970 in the time zone, and which values are no dates."""

    seconds: Longs
    is_valid: Mask
    is_odd: Mask


def read_dates(values: list[Any], kind: Date, markers: MarkerTuple) -> ReadDates:
    """Read distinct values as dates; blank texts and markers are missing, not odd."""
    texts = to_date_texts(values)
    dates = parse_dates(texts, kind.order or "ymd")
    is_valid = dates.is_valid
    if markers:
        is_valid = is_valid & ~np.array([is_missing(value, markers) for value in values], dtype=bool)
    is_odd = ~is_valid
    for at in np.flatnonzero(is_odd).tolist():
        is_odd[at] = not (is_missing(values[at], markers) or str(values[at]).isspace() or values[at] == "")
    return ReadDates(to_zone(dates, kind.zone), is_valid, is_odd)


def part_values(seconds: Longs, part: str) -> Longs:
    """Return a part of each time: an index into its levels, or the days since 1970."""
    days = seconds // DAY_SECONDS
    if part == "days":
        return days
    if part == "hour":
        return seconds // 3600 % 24
    if part == "weekday":
        return (days + 3) % 7  # 1970 began on a Thursday
    dates = days.astype("M8[D]")
    months = dates.astype("M8[M]")
    if part == "month":
        return months.astype(np.int64) % 12
    return (days - months.astype("M8[D]").astype(np.int64)).astype(np.int64)


def make_part(codes: Any, dates: ReadDates, part: str) -> Column:
    """Return the column of a part; row i has the date of code i."""
    values = part_values(dates.seconds, part)
    if part == "days":
        return np.append(np.where(dates.is_valid, values.astype(np.float64), np.nan), np.nan)[codes]
    lookup = np.append(np.where(dates.is_valid, values, -1), -1).astype(np.int32)
    return DictionaryColumn(lookup[codes], _LEVELS[part])


class DateReader:
    """Adds the parts of dates to the chunks of one pass, and counts the cells that are no dates."""

    def __init__(self, dates: Mapping[str, Date], missing: MarkerTuple, source: Source | None = None) -> None:
        self._dates, self._missing, self._source = dates, missing, source
        self._lock = threading.Lock()
        self._odd: dict[str, tuple[int, int, Any]] = {}  # by column: number, first row and its value
        self._n_pending = 0
        self._is_last = False

    def read_all(self, readers: Iterator[ChunkReader]) -> Iterator[ChunkReader]:
        """Add the parts to the chunks of all readers; when all are read, warn if cells were no dates."""
        for reader in readers:
            with self._lock:
                self._n_pending += 1
            yield reader.then(_add_and_count, self)
        self._finish(0, is_last=True)

    def add_parts(self, chunk: Chunk) -> Chunk:
        """Return a chunk with the parts of its dates as further columns."""
        columns = dict(chunk.columns)
        for name, kind in self._dates.items():
            codes, values = encode_column(chunk.columns[name], name)
            dates = read_dates(values, kind, self._missing)
            columns |= {part_name(name, part): make_part(codes, dates, part) for part in kind.parts or ()}
            self._count_odd(name, chunk, codes, values, dates.is_odd)
        return replace(chunk, columns=columns)

    def _count_odd(self, name: str, chunk: Chunk, codes: Any, values: list[Any], is_odd: Mask) -> None:
        rows = np.flatnonzero(np.append(is_odd, False)[codes])
        if not len(rows):
            return
        row, value = chunk.row_number(int(rows[0])), values[int(codes[rows[0]])]
        with self._lock:
            n, other_row, other_value = self._odd.get(name, (0, row, value))
            # Threads read the chunks in any order; the example is the first row.
            first = (row, value) if row <= other_row else (other_row, other_value)
            self._odd[name] = (n + len(rows), *first)

    def _finish(self, n_read: int, *, is_last: bool = False) -> None:
        """Note that chunks were read, or that there are no more; whoever comes last warns."""
        with self._lock:
            self._n_pending -= n_read
            self._is_last = self._is_last or is_last
            odd = self._odd if self._is_last and not self._n_pending else {}
        for name, (n, row, value) in odd.items():
            if self._source is not None and _is_first_warning(self._source, name):
                are = "is not a date and is" if n == 1 else "are not dates and are"
                warn(
                    errors.OddValues(
                        f"Column {name!r}: {n:,} value{'s' * (n != 1)} {are} treated as missing, such as "
                        f"{errors.one_line_repr(value)} in row {row:,}."
                    ),
                    [name],
                )


def _add_and_count(chunk: Chunk, reader: DateReader) -> Chunk:
    try:
        return reader.add_parts(chunk)
    finally:
        reader._finish(1)


# Some learners read a source several times; one warning is enough.
_warned_columns: weakref.WeakKeyDictionary[Source, set[str]] = weakref.WeakKeyDictionary()
_warned_lock = threading.Lock()


def _is_first_warning(source: Source, column: str) -> bool:
    with _warned_lock:
        columns = _warned_columns.setdefault(source, set())
        is_first = column not in columns
        columns.add(column)
    return is_first
