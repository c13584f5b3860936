"""Check and normalise the rows from which charts are drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weigh import errors
from weigh.text import truncate

ChartRows = list[dict[str, Any]]
ChartTable = Iterable[Mapping[str, Any]]
MAX_NAME_LENGTH = 200  # characters of a name in a tooltip
MAX_UNCUT_LENGTH = 6  # characters of a name that fits into every axis and legend
UNIT_TOLERANCE = 1e-9
MAX_TITLE_LENGTH = 90  # characters


def check_rows(
    what: str,
    table: ChartTable,
    text_fields: Sequence[str],
    numbers: Sequence[str],
    flags: Sequence[str] = (),
) -> ChartRows:
    """Return rows reduced to text fields, finite numbers and flags; raise DataError for invalid rows.

    Missing `flags` are false. "low" and "high" are optional, and None where they are not finite.
    """
    rows = [dict(row) for row in table]
    required = (*text_fields, *numbers)
    missing = [name for name in required if any(name not in row for row in rows)]
    if not rows or missing:
        got = f"rows without {errors.quote_names(missing)}" if rows else "no rows"
        raise errors.DataError(f"{what} are drawn from rows with {errors.quote_names(required)}, got {got}.")
    return [
        {name: format_name(row[name]) for name in text_fields}
        | {name: _require_finite(what, row, name, at) for name in numbers}
        | {name: _finite_or_none(row[name]) for name in ("low", "high") if name in row}
        | {name: bool(row.get(name)) for name in flags}
        for at, row in enumerate(rows)
    ]


def format_name(name: object, width: int = MAX_NAME_LENGTH) -> str:
    """Return a name or a title for a chart, which Vega may truncate again to fit an axis or a legend.

    Vega counts UTF-16 units and fails where it would halve a character of two, so that long names have a box
    in place of such characters.
    """
    text = truncate(name, width)
    if len(text) <= MAX_UNCUT_LENGTH:
        return text
    return "".join("□" if char > "\uffff" else char for char in text)


def check_unit_interval(what: str, rows: ChartRows, *names: str) -> None:
    """Raise DataError for numbers outside [0, 1]; clip those outside only by rounding."""
    for name in names:
        outside = [row[name] for row in rows if not -UNIT_TOLERANCE <= row[name] <= 1 + UNIT_TOLERANCE]
        if outside:
            raise errors.DataError(f"{what} have a {name!r} from 0 to 1, got {outside[0]!r}.")
        for row in rows:
            row[name] = min(max(row[name], 0), 1)


def _require_finite(what: str, row: Mapping[str, Any], name: str, at: int) -> float:
    number = _finite_or_none(row[name])
    if number is None:
        raise errors.DataError(
            f"{what} are drawn from finite numbers, got {errors.one_line_repr(row[name], 60)} for {name!r} "
            f"in row {at}."
        )
    return number


def _finite_or_none(value: Any) -> float | None:
    """Convert to a finite Python float, or int if integral; return None for anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if not math.isfinite(number) or isinstance(value, str):
        return None
    return int(value) if number.is_integer() and abs(number) < 2**53 else number


def make_names_unique(rows: ChartRows, name: str, within: str = "") -> None:
    """Append a number to repeated names, so that every row has its own position on the axis."""
    seen: dict[tuple[Any, str], int] = {}
    for row in rows:
        key = (row.get(within), row[name])
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            row[name] = f"{row[name]} ({seen[key]})"


def limit_rows(what: str, rows: ChartRows, most: int, *key: str) -> tuple[ChartRows, str]:
    """Keep the rows of the first `most` distinct keys; return them with a note about the omitted ones."""
    keys = [tuple(row.get(name) for name in key) for row in rows]
    kept = set(list(dict.fromkeys(keys))[:most])
    number = len(set(keys))
    note = f"the first {most:,} of {number:,} {what}" if number > most else ""
    return [row for row, row_key in zip(rows, keys, strict=True) if row_key in kept], note


def rows_with_interval(rows: ChartRows) -> ChartRows:
    """Return the rows that have both "low" and "high"."""
    return [row for row in rows if row.get("low") is not None and row.get("high") is not None]


def check_count(what: str, number: int, most: int, advice: str) -> None:
    """Raise DataError if there are more items than a chart can show."""
    if number > most:
        raise errors.DataError(f"A picture has room for {most:,} {what}, got {number:,}. {advice}")


def unique_names(rows: ChartRows, name: str) -> list[str]:
    """Return the distinct values of a field in order of first appearance."""
    return list(dict.fromkeys(row[name] for row in rows))


def round_to_digits(number: float, digits: int = 5) -> float:
    """Round to significant digits, to keep large charts small."""
    return float(f"{number:.{digits}g}")


def shorten_titles(*titles: str, width: int = MAX_TITLE_LENGTH) -> list[str]:
    """Truncate titles to fit a chart, and replace characters that are invalid in it."""
    # Vega-Lite copies the titles of axes and tooltips into expressions without escaping backslashes.
    return [format_name(title, width).replace("\\", "∖") for title in titles]


def fixed_decimals_format(numbers: Iterable[float]) -> str:
    """Return a d3 format with equal decimals for all, three significant digits for the largest."""
    sizes = [abs(number) for number in numbers]
    largest = max(sizes)
    if all(float(number).is_integer() for number in sizes):
        return ",d"
    return f",.{max(0, 2 - math.floor(math.log10(largest)))}f" if largest >= 1e-4 else ".2e"


def number_format(numbers: Iterable[float | None]) -> str:
    """Return a d3 format with thousands separators and four significant digits."""
    sizes = [abs(number) for number in numbers if number is not None]
    if all(float(number).is_integer() for number in sizes):
        return ",d"
    largest = max(sizes)
    return ",.1f" if largest >= 1_000 else ",.4~r" if largest >= 1e-4 else ".3~e"


INFINITE_BAR_FACTOR = 1.15  # infinite bars are this much longer than the longest finite one


def clip_infinite(numbers: Sequence[float]) -> list[float]:
    """Replace infinities by values slightly beyond the largest finite one, and nan by zero."""
    largest = max((abs(number) for number in numbers if math.isfinite(number)), default=0.0) or 1.0
    return [
        number
        if math.isfinite(number)
        else math.copysign(INFINITE_BAR_FACTOR * largest, number)
        if number == number
        else 0.0
        for number in numbers
    ]
