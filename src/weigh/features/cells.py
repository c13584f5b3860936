"""Readings: how the text of a column becomes numbers or flags before its kind sees it.

The reading of a column is found once, from its distinct values in the first rows, and is then part of the
schema. A cell that does not fit is odd; it counts as missing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from weigh import _core
from weigh.features.blocks import Floats, Ints, Longs, Mask
from weigh.features.columns import encode_column, is_missing
from weigh.immutable import Immutable
from weigh.source.cells import CellCounts, NumberFormat, OddCell, OddRows
from weigh.source.chunk import Chunk, Column, DictionaryColumn, is_arrow

RowCounts = npt.NDArray[np.int64]  # by distinct value

N_SAMPLES = 10  # distinct values that are looked at first
MAX_INSPECTED_VALUES = 200
# The first of the formats that fit most cells is used, so that "1.234" is a fraction and "1,234" is not.
_SEPARATORS = [(".", ""), (".", ","), (",", ""), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'")]
_CURRENCIES = [
    *(("$", "US$", "USD"), ("€", "EUR"), ("£", "GBP"), ("¥", "JPY"), ("CHF", "SFr.", "Fr."), ("C$", "CAD")),
    *(("A$", "AUD"), ("R$", "BRL"), ("₹", "INR", "Rs.", "Rs"), ("RMB", "CNY"), ("zł", "PLN"), ("Kč", "CZK")),
    *(("kr.", "kr"), ("SEK",), ("NOK",), ("DKK",), ("₽", "RUB"), ("₩", "KRW"), ("₺", "TRY"), ("₪", "ILS")),
]
_MEASURES = "% ‰ kg g mg lb lbs oz km m cm mm mi ft l ml h min s ms °C °F ° km/h mph W kW kWh V MB GB KB px"
_SPELLINGS = {names[0]: names for names in _CURRENCIES} | {unit: (unit,) for unit in _MEASURES.split()}
_UNIT_OF_SPELLING = {spelling: unit for unit, names in _SPELLINGS.items() for spelling in names}
_CURRENCY_UNITS = {names[0] for names in _CURRENCIES}
BLANKS = " \t\u00a0\u2009\u202f"
_NUMBER = re.compile(
    rf"[{BLANKS}(]*[-+\u2212]?[{BLANKS}]*(?P<before>[^\d{BLANKS}.,()+\u2212-][^\d{BLANKS}()+\u2212-]*)?"
    rf"[{BLANKS}]*[-+\u2212]?(?:\d[\d.,'\u2019{BLANKS}]*|[.,]\d+)(?:[eE][+-]?\d+)?"
    rf"(?P<after>[^\d()]*?)[{BLANKS})]*"
)
# "<0.01" is half of the limit, ">200" and "~160" are the number itself; "63,11-" is negative; "43.4k" is
# multiplied; "120/80" is its first number; "2:40" and "2h 40m" are lengths of time.
FORMS = ("limits", "trailing minus", "multiples", "pairs", "durations")
MAX_SUFFIX_LENGTH = 24
_DIGIT = re.compile("[0-9]")
_ARROW_NUMBERS = ("double", "float", "halffloat", "int", "uint", "bool", "decimal")
_FLAG_WORDS = [
    *(("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("on", "off")),
    *(("ja", "nein"), ("oui", "non"), ("si", "no"), ("sí", "no")),
]


@dataclass(frozen=True, repr=False)
class NumberReading(Immutable):
    """Numbers written with a decimal sign, a thousands separator and a unit; "" means none.

    `suffixes` are the spellings of another unit as the first rows have them, with "" if it may be left out.
    `forms` are those of `FORMS` that occur, and `missing` are words that mean missing, in lower case.
    """

    name: ClassVar[str] = "number"
    decimal: str = "."
    thousands: str = ""
    unit: str = ""
    suffixes: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def __repr__(self) -> str:
        settings = [f"{name}={value!r}" for name, value in self._list_settings()]
        return f"{type(self).__name__}({', '.join(settings)})"

    def _list_settings(self) -> Iterator[tuple[str, Any]]:
        """Yield the settings that every column has, and those of the others that this one has."""
        for each in fields(self):
            value = getattr(self, each.name)
            if value or not isinstance(value, tuple):
                yield each.name, value

    @cached_property
    def format(self) -> NumberFormat:
        """The format for the native parser. Amounts of money are accepted without their currency."""
        spellings = _SPELLINGS.get(self.unit, self.suffixes)
        is_required = bool(spellings) and self.unit not in _CURRENCY_UNITS and "" not in self.suffixes
        # The longest first: after "US$" in "5 US$" comes nothing, after "$" would come "US".
        units = sorted(filter(None, spellings), key=len, reverse=True)
        return NumberFormat(self.decimal, self.thousands, units, is_required, self.forms, self.missing)

    def to_json(self) -> dict[str, Any]:
        """Return the reading as plain data."""
        settings = {name: list(x) if isinstance(x, tuple) else x for name, x in self._list_settings()}
        return {"reading": self.name, **settings}

    def convert(self, values: Sequence[Any]) -> tuple[Floats, Mask]:
        """Return the numbers of distinct values, and which of them fit; the others are NaN."""
        texts = [value if isinstance(value, str) else "" for value in values]
        numbers, fits = _core.parse_number_texts(texts, self.format)
        is_number = fits.astype(bool)
        for at, value in enumerate(values):
            if not isinstance(value, str):
                is_number[at] = isinstance(value, (int, float))
                numbers[at] = _to_float(value) if is_number[at] else np.nan
        return numbers, is_number


@dataclass(frozen=True)
class FlagReading(Immutable):
    """Two words, in any case, of which the first means present."""

    name: ClassVar[str] = "flag"
    present: str = "yes"
    absent: str = "no"

    def to_json(self) -> dict[str, Any]:
        """Return the reading as plain data."""
        return {"reading": self.name, "present": self.present, "absent": self.absent}

    def convert(self, values: Sequence[Any]) -> tuple[Floats, Mask]:
        """Return 1 for the present word, 0 for the other, and which values are one of them."""
        words = [value.strip().casefold() if isinstance(value, str) else value for value in values]
        meaning = {self.present: 1.0, True: 1.0, self.absent: 0.0, False: 0.0}
        flags = np.array([meaning.get(word, np.nan) for word in words], dtype=np.float64)
        return flags, ~np.isnan(flags)


Reading = NumberReading | FlagReading
PLAIN = NumberReading()


def reading_from_json(data: object) -> Reading:
    """Return the reading that `to_json` wrote; raises ValueError for anything else."""
    reading = _make_reading(data) if isinstance(data, Mapping) else None
    is_known = reading is not None and reading.to_json() == data
    if isinstance(reading, FlagReading):
        is_known = is_known and (reading.present, reading.absent) in _FLAG_WORDS
    elif isinstance(reading, NumberReading):
        is_format = (reading.decimal, reading.thousands) in _SEPARATORS
        are_short = all(len(word) <= MAX_SUFFIX_LENGTH for word in (*reading.suffixes, *reading.missing))
        is_known = is_known and is_format and are_short and set(reading.forms) <= set(FORMS)
        is_known = is_known and reading.unit in {"", *_SPELLINGS}
    if reading is None or not is_known:
        raise ValueError(f"the reading {str(data)[:100]}")
    return reading


def _make_reading(data: Mapping[str, Any]) -> Reading | None:
    """Return a reading with some of the settings in `data`, None if they are not texts or lists of texts."""
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in data.items()
    }
    texts = (text for value in settings.values() for text in (value if isinstance(value, tuple) else [value]))
    if not all(isinstance(text, str) for text in texts):
        return None
    reading_class = FlagReading if settings.get("reading") == FlagReading.name else NumberReading
    names = {each.name for each in fields(reading_class)}
    return reading_class(**{name: value for name, value in settings.items() if name in names})


def is_numeric(column: Column) -> bool:
    """Whether a column holds numbers or flags, so that no reading applies."""
    if isinstance(column, np.ndarray):
        return column.dtype.kind in "biuf"
    if isinstance(column, DictionaryColumn):
        return column.types <= {int, float, bool}
    return is_arrow(column) and str(column.type).startswith(_ARROW_NUMBERS)


def read_column(
    column: Column,
    name: str,
    reading: Reading,
    missing: Collection[object] = (),
    chunk: Chunk | None = None,
) -> tuple[Floats, CellCounts]:
    """Return a column as numbers, missing and odd cells as NaN, and the counts of these cells.

    `chunk` numbers the rows for messages.
    """
    codes, values = encode_column(column, name)
    numbers, fits = reading.convert(values)
    is_known = np.array([not is_missing(value, missing) for value in values] + [False])
    is_odd = is_known & ~np.append(fits, True)
    is_known[:-1] &= ~(fits & np.isnan(numbers))  # the text "nan"
    numbers[~is_known[:-1]] = np.nan
    rows = np.flatnonzero(is_odd[codes]) if is_odd.any() else np.empty(0, dtype=np.int64)
    n_missing = len(codes) - int(is_known[codes].sum())
    counts = CellCounts(n_missing)
    if len(rows):
        row_numbers = rows if chunk is None else chunk.list_row_numbers()[rows]
        file = None if chunk is None else chunk.file
        read_cell = partial(_find_odd_cell, row_numbers, codes[rows], values, file)
        counts = CellCounts.of_rows(n_missing, OddRows(row_numbers, read_cell))
    return np.append(numbers, np.nan)[codes], counts


def _find_odd_cell(
    row_numbers: Longs, codes: Ints, values: list[Any], file: tuple[str, int] | None, row: int
) -> OddCell:
    value = values[codes[np.searchsorted(row_numbers, row)]]
    if file is None:
        return OddCell(row, value)
    name, n_rows_before = file
    return OddCell(row - n_rows_before, value).in_file(name, n_rows_before)


def count_rows(codes: Ints, values: Sequence[Any]) -> RowCounts:
    """Return the number of rows of each distinct value."""
    # Counting the code -1 too is faster than leaving it out.
    return np.bincount(codes + 1, minlength=len(values) + 1)[1:].astype(np.int64, copy=False)


class DetectedNumbers(NamedTuple):
    """The distinct values of a column as numbers: the reading, which values fit it, and all numbers."""

    reading: NumberReading
    fits: Mask
    numbers: Floats
    are_whole: bool


def have_digits(values: Sequence[Any]) -> bool:
    """Whether some of a few values have digits; most columns of words have none."""
    return any(map(_DIGIT.search, map(str, values[:: -(-len(values) // N_SAMPLES) or 1])))


def have_numbers(values: Sequence[Any]) -> bool:
    """Whether some of a few values are numbers; most columns of text have none."""
    # The first values may be the smallest.
    return any(find_unit(value) is not None for value in values[:: -(-len(values) // N_SAMPLES) or 1])


def detect_numbers(
    values: Sequence[Any], row_counts: RowCounts, number_format: NumberFormat | None = None
) -> DetectedNumbers | None:
    """Return how most cells of a column can be read as numbers, or None if most cells are something else.

    `row_counts` are the numbers of rows of the distinct values. `number_format` is the format of the whole
    file, if it is known.
    """
    step = -(-len(values) // MAX_INSPECTED_VALUES) or 1
    unit = _find_unit(values[::step], row_counts[::step])
    if unit is None:
        return None
    found = fit_separators(NumberReading(unit=unit), values, row_counts, number_format)
    return found if 2 * row_counts[found.fits].sum() > row_counts.sum() else None


def fit_separators(
    reading: NumberReading,
    values: Sequence[Any],
    row_counts: RowCounts,
    number_format: NumberFormat | None = None,
) -> DetectedNumbers:
    """Return the reading with the decimal sign and the thousands separator that fit most cells.

    The decimal sign is that of the file if it is known; the thousands separator is tried first.
    """
    is_code = np.fromiter(map(has_leading_zero, values), dtype=bool, count=len(values))
    best: tuple[int, DetectedNumbers] | None = None
    for decimal, thousands in _list_separators(number_format):
        candidate = replace(reading, decimal=decimal, thousands=thousands)
        numbers, fits = candidate.convert(values)
        fits &= ~is_code
        n_rows = int(row_counts[fits].sum())
        if best is None or n_rows > best[0]:
            best = n_rows, DetectedNumbers(candidate, fits, numbers, _are_whole(values, fits, decimal))
        if fits.all():
            break
    assert best is not None
    return best[1]


def _list_separators(number_format: NumberFormat | None) -> list[tuple[str, str]]:
    """Return the decimal signs and thousands separators to try; of a file, its own come first."""
    if number_format is None:
        return _SEPARATORS
    own = number_format.decimal, number_format.thousands
    # With a decimal comma in the file, 1.184 has a thousands separator.
    return [own, *(each for each in _SEPARATORS if each[0] == own[0] and each[1] and each != own)]


def _find_unit(values: Sequence[Any], row_counts: RowCounts) -> str | None:
    """Return the unit of most numbers, "" without one; None if most distinct values are not numbers."""
    n_rows: dict[str, int] = {}
    n_numbers = 0
    for value, count in zip(values, row_counts.tolist(), strict=True):
        unit = find_unit(value)
        if unit is not None:
            n_numbers += 1
            n_rows[unit] = n_rows.get(unit, 0) + count
    if 2 * n_numbers <= len(values):
        return None
    units = [unit for unit in n_rows if unit]
    if not units:
        return ""
    unit = max(units, key=lambda each: n_rows[each])
    return unit if unit in _CURRENCY_UNITS or n_rows[unit] > n_rows.get("", 0) else ""


def find_unit(value: object) -> str | None:
    """Return the unit of a number in any format, "" without one; None if the value is not a number."""
    if not isinstance(value, str):
        return "" if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    match = _NUMBER.fullmatch(value)
    if match is None:
        return None
    words = [word.strip(BLANKS) for word in match.group("before", "after") if word and word.strip(BLANKS)]
    if not words:
        return ""
    return _UNIT_OF_SPELLING.get(words[0]) if len(words) == 1 else None


def unit_of_spelling(text: str) -> str | None:
    """Return the unit that a text is a usual spelling of, None if it is unknown."""
    return _UNIT_OF_SPELLING.get(text)


def detect_flags(values: Sequence[Any]) -> FlagReading | None:
    """Return the reading of a column whose only values are the two words of a pair, or None."""
    if not 2 <= len(values) <= 4 or not all(isinstance(value, str) for value in values):
        return None
    words = {value.strip().casefold() for value in values}
    return next((FlagReading(*pair) for pair in _FLAG_WORDS if words == set(pair)), None)


def has_leading_zero(value: object) -> bool:
    """Whether digits are a code rather than a number, such as the postcode 01067."""
    if not isinstance(value, str):
        return False
    digits = value.strip(" \t")
    return len(digits) > 1 and digits[0] == "0" and digits.isdigit()


def _are_whole(values: Sequence[Any], fits: Mask, decimal: str) -> bool:
    marks = {decimal, "e", "E"}
    return not any(
        isinstance(value, float) or (isinstance(value, str) and not marks.isdisjoint(value))
        for value, is_number in zip(values, fits.tolist(), strict=True)
        if is_number
    )


def _to_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number beyond the range of floats
        return np.inf if value > 0 else -np.inf
