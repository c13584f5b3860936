"""The rows a picture is drawn from: checked, refused in words, and made plain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weigh import errors
from weigh.text import truncate

ChartRows = list[dict[str, Any]]
ChartTable = Iterable[Mapping[str, Any]]
MAX_NAME_LENGTH = 200  # signs of a name that a tooltip tells
UNIT_TOLERANCE = 1e-9
MAX_TITLE_LENGTH = 90  # signs of a title


def check_rows(
    what: str, table: ChartTable, words: Sequence[str], numbers: Sequence[str], flags: Sequence[str] = ()
) -> ChartRows:
    """Return rows whose `words` are text and whose `numbers` are finite, and nothing else; refuse others.

    `flags` may be lacking, and are then false. So may be the numbers "low" and "high"; what is not
    finite of them is left out.
    """
    rows = [dict(row) for row in table]
    needed = (*words, *numbers)
    lacking = [name for name in needed if any(name not in row for row in rows)]
    if not rows or lacking:
        got = f"rows without {errors.quote_names(lacking)}" if rows else "no rows"
        raise errors.DataError(f"{what} are drawn from rows with {errors.quote_names(needed)}, got {got}.")
    return [
        {name: truncate(row[name], MAX_NAME_LENGTH) for name in words}
        | {name: _require_finite(what, row, name, at) for name in numbers}
        | {name: _finite_or_none(row[name]) for name in ("low", "high") if name in row}
        | {name: bool(row.get(name)) for name in flags}
        for at, row in enumerate(rows)
    ]


def check_unit_interval(what: str, rows: ChartRows, *names: str) -> None:
    """Refuse numbers that are no shares, and bring those back that rounding put outside."""
    for name in names:
        wrong = [row[name] for row in rows if not -UNIT_TOLERANCE <= row[name] <= 1 + UNIT_TOLERANCE]
        if wrong:
            raise errors.DataError(f"{what} have a {name!r} from 0 to 1, got {wrong[0]!r}.")
        for row in rows:
            row[name] = min(max(row[name], 0), 1)


def _require_finite(what: str, row: Mapping[str, Any], name: str, at: int) -> float:
    number = _finite_or_none(row[name])
    if number is None:
        raise errors.DataError(
            f"{what} are drawn from finite numbers, got {errors.one_line_repr(row[name], 60)} for {name!r} in row "
            f"{at}."
        )
    return number


def _finite_or_none(value: Any) -> float | None:
    """A finite number of Python's own, whole ones whole; None for all else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if not math.isfinite(number) or isinstance(value, str):
        return None
    return int(value) if number.is_integer() and abs(number) < 2**53 else number


def make_names_unique(rows: ChartRows, name: str, within: str = "") -> None:
    """Number the names that come again, so that each row keeps a place of its own."""
    seen: dict[tuple[Any, str], int] = {}
    for row in rows:
        key = (row.get(within), row[name])
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            row[name] = f"{row[name]} ({seen[key]})"


def limit_rows(what: str, rows: ChartRows, most: int, *place: str) -> tuple[ChartRows, str]:
    """Return the rows of the first places, and a word on those that are left out."""
    places = [tuple(row.get(name) for name in place) for row in rows]
    kept = set(list(dict.fromkeys(places))[:most])
    number = len(set(places))
    more = f"the first {most:,} of {number:,} {what}" if number > most else ""
    return [row for row, at in zip(rows, places, strict=True) if at in kept], more


def rows_with_interval(rows: ChartRows) -> ChartRows:
    """The rows of which both ends of an interval are known."""
    return [row for row in rows if row.get("low") is not None and row.get("high") is not None]


def check_count(what: str, number: int, most: int, instead: str) -> None:
    """Refuse more than can be drawn."""
    if number > most:
        raise errors.DataError(f"A picture has room for {most:,} {what}, got {number:,}. {instead}")


def unique_names(rows: ChartRows, name: str) -> list[str]:
    """The distinct names of a column, in their order."""
    return list(dict.fromkeys(row[name] for row in rows))


def round_to_digits(number: float, digits: int = 5) -> float:
    """A number of few digits, for tables of many."""
    return float(f"{number:.{digits}g}")


def shorten_titles(*words: str) -> list[str]:
    """Titles that fit a picture, without signs that no file can hold."""
    return [truncate(word, MAX_TITLE_LENGTH) for word in words]


def fixed_decimals_format(numbers: Iterable[float]) -> str:
    """The format of numbers that stand one under the other: equal decimals, three digits in all."""
    known = [abs(number) for number in numbers]
    top = max(known)
    if all(float(number).is_integer() for number in known):
        return ",d"
    return f",.{max(0, 2 - math.floor(math.log10(top)))}f" if top >= 1e-4 else ".2e"


def number_format(numbers: Iterable[float | None]) -> str:
    """The format in which numbers of a column are told: thousands apart, four digits that matter."""
    known = [abs(number) for number in numbers if number is not None]
    if all(float(number).is_integer() for number in known):
        return ",d"
    top = max(known)
    return ",.1f" if top >= 1_000 else ",.4~r" if top >= 1e-4 else ".3~e"


INFINITE_BAR_FACTOR = 1.15  # how far past the farthest number what has no end is drawn


def clip_infinite(numbers: Sequence[float]) -> list[float]:
    """Return numbers with infinite ones a little beyond the farthest of the others, and nan as zero."""
    farthest = max((abs(number) for number in numbers if math.isfinite(number)), default=0.0) or 1.0
    return [
        number
        if math.isfinite(number)
        else math.copysign(INFINITE_BAR_FACTOR * farthest, number)
        if number == number
        else 0.0
        for number in numbers
    ]
