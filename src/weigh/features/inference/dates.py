"""Inference of dates from the first rows: whether a column holds dates, in which order, and their parts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress, islice
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Call, Setting, set_kind
from weigh.deduplicated_warnings import warn
from weigh.features.blocks import Ints, Longs
from weigh.features.columns import encode_column, is_missing
from weigh.features.dates.columns import part_values, read_dates
from weigh.features.dates.kind import Date, part_name
from weigh.features.dates.parsing import (
    DAY_SECONDS,
    NO_OFFSET,
    format_offset,
    is_compact,
    is_epoch,
    match_date,
    parse_dates,
    to_date_texts,
)
from weigh.features.inference.column_names import is_id_name, is_time_name
from weigh.features.kinds import Category, Kind, MarkerTuple, Number, Skip
from weigh.source.chunk import Column
from weigh.source.missing_words import means_missing

_ZERO_DATE = re.compile(r"[0\s./:-]*0[0\s./:-]*")
MIN_NOTED_CELLS = 30  # a small column of dates and words may be anything
MIN_SHARE = 0.99  # of the cells that are not missing must be dates
MIN_COMPACT_DATES = 10  # distinct numbers such as 20240131 that make a column of dates
EPOCH_YEARS = (2000, 2035)  # of times since 1970 among other numbers
N_SECOND_DIGITS = 10  # of a time in seconds
MAX_CYCLE_YEARS = 30  # weekday and month mean little in dates that span more, such as dates of birth
N_SAMPLES = 10  # values that are looked at first, because most columns hold no dates
DEFAULT_ORDERS = {".": "dmy", "-": "dmy", "/": "mdy"}  # where no day above 12 decides


def infer_date(codes: Ints, values: Sequence[Any], name: str, markers: MarkerTuple) -> Date | None:
    """Return the kind of a column of dates with its order; None if fewer than 99 % of its cells are dates.

    Row i has the value of code i, and code -1 is missing.
    """
    is_known = (_is_known_date(value, markers) for value in values)
    sample = to_date_texts(list(islice(compress(values, is_known), N_SAMPLES)))
    if 2 * sum(match_date(text) is not None for text in sample) < max(len(sample), 1):
        return None
    known = [at for at, value in enumerate(values) if _is_known_date(value, markers)]
    texts = to_date_texts([values[at] for at in known])
    n_rows = np.bincount(codes[codes >= 0], minlength=len(values))[known]
    if any(map(is_epoch, sample)):
        return Date("ymd") if len(texts) >= MIN_COMPACT_DATES and are_epochs(texts, name) else None
    if is_compact(sample[0]):
        # A number of eight digits may mean anything else, so all must be dates.
        is_date = len(texts) >= MIN_COMPACT_DATES and bool(parse_dates(texts, "ymd").is_valid.all())
        return Date("ymd") if is_date else None
    order = _find_order(texts, n_rows, name)
    return None if order is None else Date(order)


def _is_known_date(value: object, markers: MarkerTuple) -> bool:
    """Whether a cell is neither missing, nor a word for that, nor a date of zeros such as 0000-00-00."""
    if is_missing(value, markers) or value == "" or means_missing(value):
        return False
    return not (isinstance(value, str) and _ZERO_DATE.fullmatch(value))


def are_epochs(texts: Sequence[str], name: str) -> bool:
    """Whether numbers are times since 1970: all in the same unit and from 2000 to 2035.

    Seconds need the name of a time, because other numbers of ten digits are common. Longer numbers need a
    name that is not that of an identifier.
    """
    n_digits = {len(text.partition(".")[0]) for text in texts}
    if len(n_digits) != 1 or not all(map(is_epoch, texts)):
        return False
    years = parse_dates(texts, "ymd").seconds.astype("M8[s]").astype("M8[Y]").astype(np.int64) + 1970
    if years.min() < EPOCH_YEARS[0] or years.max() > EPOCH_YEARS[1]:
        return False
    return is_time_name(name) or (n_digits.pop() > N_SECOND_DIGITS and not is_id_name(name))


def _find_order(texts: Sequence[str], n_rows: Longs, name: str) -> str | None:
    """Return the order of day, month and year with which the cells are dates; None if they are none."""
    required = MIN_SHARE * n_rows.sum()
    if n_rows[parse_dates(texts, "ymd").is_valid].sum() >= required:
        return "ymd"
    n_dates = {order: n_rows[parse_dates(texts, order).is_valid].sum() for order in ("dmy", "mdy")}
    if max(n_dates.values()) < required:
        _warn_of_other_cells(texts, n_rows, max(n_dates, key=lambda order: n_dates[order]), name)
        return None
    if n_dates["dmy"] != n_dates["mdy"]:
        return max(n_dates, key=lambda order: n_dates[order])
    numeric = next(found for text in texts if (found := match_date(text)) and found.groupdict().get("mark"))
    order = DEFAULT_ORDERS[numeric["mark"]]
    if numeric["mark"] != ".":
        _warn_of_order(name, numeric.string, order)
    return order


def _warn_of_other_cells(texts: Sequence[str], n_rows: Longs, order: str, name: str) -> None:
    """Warn of a column that would be a date except for some cells, if most are dates."""
    is_date = parse_dates(texts, order).is_valid
    n_others, n_known = int(n_rows[~is_date].sum()), int(n_rows.sum())
    if n_known < MIN_NOTED_CELLS or 2 * n_others >= n_known:
        return
    others = [text for text, is_valid in zip(texts, is_date.tolist(), strict=True) if not is_valid]
    warn(
        errors.OddValues(
            f"Column {name!r} contains dates except for {errors.quote_names(others, 3)} ({n_others:,} of "
            f"{n_known:,} cells), so it is not read as a date.",
            hint=("If they mean missing, use ", Setting("missing", others[:3]), "."),
        ),
        [name],
    )


def _warn_of_order(name: str, example: str, order: str) -> None:
    words = {"mdy": "month before day", "dmy": "day before month"}
    other = "dmy" if order == "mdy" else "mdy"
    warn(
        errors.OddValues(
            f"Column {name!r} holds dates such as {example!r}, and no day above 12 tells the order. They are "
            f"read with the {words[order]}.",
            hint=("If it is the other way round, use ", set_kind(name, Call("Date", order=other)), "."),
        ),
        [name],
    )


def complete_date(kind: Date, column: Column, name: str, markers: MarkerTuple) -> Date:
    """Return the kind with order, zone and parts as the first rows have them, unless they are given."""
    if kind.order is not None and kind.parts is not None:
        return kind
    codes, values = encode_column(column, name)
    if kind.order is None:
        texts = to_date_texts([value for value in values if not is_missing(value, markers)])
        kind = replace(kind, order=_find_most_likely_order(texts, name))
    if kind.zone is None:
        kind = replace(kind, zone=_find_zone(values, kind))
    dates = read_dates(list(values), kind, markers)
    used = np.zeros(len(values) + 1, dtype=bool)
    used[codes] = True
    seconds = dates.seconds[dates.is_valid & used[:-1]]
    if not len(seconds):
        raise errors.ColumnError(
            f"Column {name!r} has no dates in the first rows.",
            hint=("Leave it out with ", set_kind(name, "skip"), ", or give it another kind."),
        )
    return kind if kind.parts is not None else replace(kind, parts=choose_parts(seconds))


def _find_most_likely_order(texts: Sequence[str], name: str) -> str:
    """Return the order of a column that the user says holds dates, even if many cells are none."""
    n_dates = {order: int(parse_dates(texts, order).is_valid.sum()) for order in ("ymd", "dmy", "mdy")}
    best = max(n_dates, key=lambda order: n_dates[order])
    valid = np.flatnonzero(parse_dates(texts, best).is_valid).tolist()
    dates = [texts[at] for at in valid]
    return _find_order(dates, np.ones(len(dates), dtype=np.int64), name) or best


def _find_zone(values: Sequence[Any], kind: Date) -> str | None:
    """Return the UTC offset that all times have, as a zone; None if they have none or several."""
    dates = parse_dates(to_date_texts(values), kind.order or "ymd")
    offsets = set(dates.offsets[dates.is_valid].tolist())
    return format_offset(offsets.pop()) if len(offsets) == 1 and NO_OFFSET not in offsets else None


def state_parts(kind: Date, name: str, stated: Mapping[str, Kind]) -> Kind:
    """Return the kind with the parts that are stated by name, such as "when: hour", skipped or in bins."""
    parts = list(kind.parts or ())
    for part in kind.parts or ():
        given = stated.get(part_name(name, part))
        if isinstance(given, Skip):
            parts.remove(part)
        elif part == "days" and isinstance(given, Number) and given == Number(bins=given.bins):
            kind = replace(kind, bins=given.bins)
        elif given is not None and (part == "days" or given != Category()):
            raise errors.ColumnError(
                f"{part_name(name, part)!r} is a part of a date. It may be skipped, and days may have bins; "
                f"it cannot be {given!r}."
            )
    return replace(kind, parts=tuple(parts)) if parts else Skip()


def choose_parts(seconds: Longs) -> tuple[str, ...]:
    """Choose the parts of dates that vary and do not repeat each other.

    Weekday and month are used only if the dates span more than a week or a year and some weekday or month
    recurs in another one, because otherwise they follow from the days. Dates of more than 30 years, such as
    dates of birth, have neither, and months without a day have no weekday. Within 24 hours, the days follow
    from the hour.
    """
    span = int(seconds.max() - seconds.min())
    # A mistyped year, or one such as 9999 for "never", says nothing about the other dates.
    ordered, n_ends = np.sort(seconds), len(seconds) // 20
    central_span = int(ordered[-1 - n_ends] - ordered[n_ends])
    has_hours = len(np.unique(part_values(seconds, "hour"))) > 1
    if has_hours and span <= DAY_SECONDS:
        return ("hour",)
    days = seconds // DAY_SECONDS
    months = days.astype("M8[D]").astype("M8[M]").astype(np.int64)
    parts = []
    is_first = bool((part_values(seconds, "day") == 0).all())
    for part, times, cycle in (("weekday", days, 7), ("month", months, 365)):
        if central_span > MAX_CYCLE_YEARS * 365.25 * DAY_SECONDS or (part == "weekday" and is_first):
            continue
        n_levels = len(np.unique(part_values(seconds, part)))
        if span > cycle * DAY_SECONDS and 1 < n_levels < len(np.unique(times)):
            parts.append(part)
    return (*parts, *(["hour"] if has_hours else []), "days")
