"""The times of rows, by which `weigh split --time` divides them."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from weigh import errors
from weigh.cli.output.text import show_note


def read_times(values: Sequence[Any], column: str) -> list[Any]:
    """Return times that can be compared: numbers, or dates in any usual form."""
    times = [_read_exactly(value) for value in values]
    if None in times and any(isinstance(value, str) for value in values):
        times = _parse_texts(values, column)
    if None in times:
        row = times.index(None)
        raise errors.DataError(
            f"Row {row:,} (the first is 0) has {values[row]!r} in column {column!r}, which is no number and "
            f"no date such as 2024-05-31."
        )
    try:
        max(times)
    except TypeError:
        raise errors.DataError(
            f"Column {column!r} has times that cannot be compared: some have a time zone, or are numbers, "
            f"and others are not."
        ) from None
    return times


def _read_exactly(value: Any) -> Any:
    """Return a number, or a date in ISO 8601 with all its digits; None for anything else."""
    try:
        time = datetime.datetime.fromisoformat(value) if isinstance(value, str) else value + 0
    except (TypeError, ValueError):
        return value if isinstance(value, datetime.date) else None
    return None if time != time else time


def _parse_texts(values: Sequence[Any], column: str) -> list[Any]:
    """Return dates such as 31.12.2023 or Dec 31, 2023; None for texts that are no dates."""
    from weigh.features.dates.parsing import NO_OFFSET, parse_dates, to_date_texts

    texts = to_date_texts([value if isinstance(value, str) else "" for value in values])
    dates = parse_dates(texts, _find_order(texts, column))
    epochs = {False: datetime.datetime(1970, 1, 1), True: datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)}
    times: list[Any] = []
    rows = zip(dates.seconds.tolist(), dates.offsets.tolist(), dates.is_valid.tolist(), strict=True)
    for seconds, offset, is_valid in rows:
        has_zone = offset != NO_OFFSET
        time = datetime.timedelta(seconds=seconds - has_zone * offset)
        times.append(epochs[has_zone] + time if is_valid else None)
    return times


def _find_order(texts: Sequence[str], column: str) -> str:
    """Return the order of day, month and year with which most texts are dates."""
    from weigh.features.dates.parsing import match_date, parse_dates
    from weigh.features.inference.dates import DEFAULT_ORDERS

    n_dates = {order: int(parse_dates(texts, order).is_valid.sum()) for order in ("ymd", "dmy", "mdy")}
    if n_dates["dmy"] != n_dates["mdy"] or n_dates["ymd"] == n_dates["dmy"]:
        return max(n_dates, key=lambda order: n_dates[order])
    # Numeric dates exist with either order, so one of them has this form.
    numeric = next(found for text in texts if (found := match_date(text)) and "first" in found.groupdict())
    order = DEFAULT_ORDERS[numeric["mark"]]
    if numeric["mark"] != ".":
        words = {"mdy": "month before day", "dmy": "day before month"}
        show_note(
            f"Column {column!r} holds dates such as {numeric.string!r}, and no day above 12 tells the order. "
            f"They are read with the {words[order]}. Dates such as 2024-05-31 leave no doubt."
        )
    return order
