"""Inference of the kind of one column, and of the reading of its text, from its type and its first rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Setting, set_kind
from weigh.advice import Text as Advice
from weigh.deduplicated_warnings import warn
from weigh.features.blocks import Ints, Mask
from weigh.features.cells import (
    MAX_INSPECTED_VALUES,
    DetectedNumbers,
    NumberReading,
    Reading,
    RowCounts,
    count_rows,
    detect_flags,
    detect_numbers,
    has_leading_zero,
    have_digits,
    have_numbers,
    is_numeric,
)
from weigh.features.columns import encode_column, is_missing, to_objects
from weigh.features.dates.kind import Date
from weigh.features.inference.column_names import is_code_name
from weigh.features.inference.dates import infer_date
from weigh.features.inference.identifiers import are_grouped_codes, is_nearly_distinct, is_row_number
from weigh.features.inference.integers import is_code
from weigh.features.inference.number_forms import MIN_NUMBERS, begin_with_numbers, detect_forms, has_mark
from weigh.features.inference.number_notes import note_forms, note_leading_numbers
from weigh.features.inference.odd_cells import MAX_ODD_SHARE, advise_missing
from weigh.features.kinds import Category, Flag, Kind, Number, Skip
from weigh.features.schema import NUMERIC_KINDS
from weigh.features.text_kinds import Text, Tokens
from weigh.source.cells import MAX_EXAMPLES, NumberFormat
from weigh.source.chunk import (
    Column,
    DictionaryColumn,
    ListColumn,
    TextColumn,
    is_arrow,
    slice_column,
    to_pylist,
)
from weigh.source.missing import Marker

MIN_NUMERALS = 4  # distinct numerals that make a string column look numeric
MAX_NOTED_SHARE = 0.2  # of the cells may be words in a column that looks numeric
MAX_NEW_SHARE = 0.05  # of new rows may have a value of several words that was never seen, in a category
MIN_FLAG_ROWS = 100  # of a column of yes and no; in a small table the words are categories
MIN_COMPACT_DATE, MAX_COMPACT_DATE = 1900_01_01, 2100_12_31  # dates as numbers, such as 20240131
EPOCH_SECONDS = (30 * 365 * 86_400, 66 * 366 * 86_400)  # about 2000 to 2035
YEARS, MIN_YEARS = (1900, 2100), 4  # distinct whole numbers that are years
MAX_INTEGER_LEVELS = 20  # integers of a bare array with more distinct values than this are numbers


def infer_bare_kind(column: Column, name: str, number_kind: Number) -> Kind:
    """Infer the kind of a column of a bare array, which has no name.

    Booleans are flags; strings are categories, or text when most of them have several words and are
    distinct; floats are numbers; integers are numbers, or categories with few distinct values; lists of
    strings are tokens. Numbers get the kind `number_kind`.
    """
    storage = storage_type(column)
    if storage == "integer":
        _, values = _encode_integers(column, name)
        return Category() if len(values) <= MAX_INTEGER_LEVELS else number_kind
    if storage == "string":
        codes, values = encode_column(column, name)
        _warn_of_odd_values(values, name)
        return _kind_of_words(codes, values, name)
    if storage == "nothing":
        raise errors.ColumnError(
            f"Column {name!r} has no values in the first rows, so its kind cannot be inferred.",
            hint=("Leave it out with ", set_kind(name, "skip"), ", or state its kind."),
        )
    return _kind_of_storage(storage, name, number_kind)


def infer_column(
    column: Column,
    name: str,
    number_kind: Number,
    number_format: NumberFormat | None = None,
    missing: tuple[Marker, ...] = (),
) -> tuple[Kind, Reading | None]:
    """Infer the kind of a column of a named table, and the reading of its text.

    Booleans and yes/no words are flags. Strings are dates or numbers if at least 99 % of them are, text when
    most of them have several words and are distinct, and otherwise categories; integers such as 20240131
    are dates, and others are quantities or codes, see `is_code`; floats are numbers; lists of strings are
    tokens. Columns that identify the rows, or have no values, are skipped. Numbers get the kind
    `number_kind`. `number_format` is that of a whole file, if it is known; `missing` are markers.
    """
    storage = storage_type(column)
    if storage == "string":
        return _infer_strings(*encode_column(column, name), name, number_kind, number_format, missing)
    if storage == "nothing":
        return Skip(), None
    kind: Kind | None = None
    if storage in ("integer", "float"):
        kind = _infer_compact_date(column, name, number_kind, missing)
    if kind is None and storage == "integer":
        kind = _kind_of_integers(*_encode_integers(column, name), name, number_kind)
    kind = kind or _kind_of_storage(storage, name, number_kind)
    return kind, file_reading(number_format) if isinstance(kind, NUMERIC_KINDS) else None


def find_reading(kind: Kind, column: Column, name: str, number_format: NumberFormat | None) -> Reading | None:
    """Return how the text of a column of a stated kind becomes numbers."""
    if not isinstance(kind, NUMERIC_KINDS):
        return None
    if is_numeric(column):
        return file_reading(number_format)
    codes, values = encode_column(column, name)
    row_counts = count_rows(codes, values)
    found = detect_numbers(values, row_counts, number_format)
    n_odd = row_counts.sum() if found is None else row_counts[~found.fits].sum()
    if isinstance(kind, Number) and n_odd > MAX_ODD_SHARE * row_counts.sum():
        forms = detect_forms(values, row_counts, number_format, is_stated=True)
        if forms is not None and row_counts[~forms.fits].sum() < n_odd:
            note_forms(name, forms, values, row_counts)
            return forms.reading
    return detect_flags(values) if found is None else found.reading


def file_reading(number_format: NumberFormat | None) -> Reading | None:
    """Return the reading of the numbers of a file in this format, for other files without it."""
    return None if number_format is None else NumberReading(number_format.decimal, number_format.thousands)


def _kind_of_storage(storage: str, name: str, number_kind: Number) -> Kind:
    if storage == "flag":
        return Flag()
    if storage == "float":
        return number_kind
    if storage == "list":
        return Tokens()
    raise errors.ColumnError(
        f"Column {name!r} has the type {storage}, for which there is no kind.",
        hint=("Leave it out with ", set_kind(name, "skip"), ", or convert it to numbers or strings."),
    )


def storage_type(column: Column) -> str:
    """Return "flag", "integer", "float", "string", "list", "nothing", or the name of another type."""
    if isinstance(column, DictionaryColumn):
        return _object_storage_type(column.values, column.types)
    if isinstance(column, (TextColumn, ListColumn)):
        column = to_objects(column)
    if is_arrow(column):
        if column.null_count == len(column):
            return "nothing"
        return _arrow_storage_type(str(column.type))
    kind = column.dtype.kind
    if kind == "f":
        return "nothing" if np.isnan(column).all() else "float"
    if kind == "O":
        values = column.tolist()
        return _object_storage_type(values, frozenset(map(type, values)))
    return {"b": "flag", "i": "integer", "u": "integer", "U": "string"}.get(kind, str(column.dtype))


def _arrow_storage_type(name: str) -> str:
    if name.startswith("dictionary<values="):
        name = name.removeprefix("dictionary<values=").split(",")[0]
    if name == "bool":
        return "flag"
    if name.startswith(("int", "uint")):
        return "integer"
    if name.startswith(("double", "float", "halffloat", "decimal")):
        return "float"
    if name in ("string", "large_string", "string_view"):
        return "string"
    if name.startswith(("list<", "large_list<", "list_view<")) and "string" in name:
        return "list"
    return name


def _object_storage_type(values: list[Any], types: frozenset[type]) -> str:
    types -= {type(None)}
    if float in types and all(is_missing(v) for v in values if isinstance(v, float)):
        types -= {float}
    if not types:
        return "nothing"
    if all(issubclass(t, (bool, np.bool_)) for t in types):
        return "flag"
    if all(issubclass(t, (bool, int, np.integer, np.bool_)) for t in types):
        return "integer"
    if all(issubclass(t, (bool, int, float, np.number, np.bool_)) for t in types):
        return "float"
    if all(issubclass(t, (list, tuple, set, frozenset, np.ndarray)) for t in types):
        return "list"
    if any(issubclass(t, str) for t in types):
        return "string"
    return next(iter(sorted(t.__name__ for t in types)))


def _infer_compact_date(
    column: Column, name: str, number_kind: Number, missing: tuple[Marker, ...]
) -> Date | None:
    """Return the kind of a column of numbers such as 20240131 or 1706659200; None if they are no dates."""
    # Most numbers are no dates, and a look at the first is cheaper than finding the distinct ones.
    first = to_pylist(slice_column(column, 0, MAX_INSPECTED_VALUES))
    number = next((value for value in first if not is_missing(value, missing)), 0)
    if not isinstance(number, (int, float)) or not _may_be_date(number):
        return None
    date = infer_date(*encode_column(column, name), name, missing)
    return None if date is None else replace(date, bins=number_kind.bins)


def _may_be_date(number: float) -> bool:
    if number < EPOCH_SECONDS[0]:
        return MIN_COMPACT_DATE <= number <= MAX_COMPACT_DATE
    return any(EPOCH_SECONDS[0] <= number / 1000**power <= EPOCH_SECONDS[1] for power in range(4))


def _encode_integers(column: Column, name: str) -> tuple[int, list[int]]:
    """Return the number of rows that have an integer, and the distinct integers."""
    codes, values = encode_column(column, name)
    if not isinstance(column, DictionaryColumn) and set(map(type, values)) != {int}:
        is_known = np.array([not is_missing(value) for value in values] + [False])
        return int(is_known[codes].sum()), list(compress(values, is_known))
    return int(np.count_nonzero(codes >= 0)), values


def _kind_of_integers(n_known: int, values: list[int], name: str, number_kind: Number) -> Kind:
    if is_nearly_distinct(len(values), n_known) and is_row_number(values, name):
        return Skip()
    if _are_years(values) and not is_code_name(name):
        return number_kind
    return Category() if is_code(len(values), n_known, name) else number_kind


def _are_years(values: list[int]) -> bool:
    low, high = YEARS
    return MIN_YEARS <= len(values) <= high - low + 1 and low <= min(values) and max(values) <= high


def _infer_strings(
    codes: Ints,
    values: list[Any],
    name: str,
    number_kind: Number,
    number_format: NumberFormat | None,
    missing: tuple[Marker, ...],
) -> tuple[Kind, Reading | None]:
    flags, n_known = detect_flags(values), int(np.count_nonzero(codes >= 0))
    if flags is not None and n_known >= MIN_FLAG_ROWS:
        return Flag(), flags
    date = infer_date(codes, values, name, missing)
    if date is not None:
        return replace(date, bins=number_kind.bins), None
    if not have_digits(values) or not (have_numbers(values) or begin_with_numbers(values)):
        return _infer_words(codes, values, name), None
    row_counts = count_rows(codes, values)
    n_known = int(row_counts.sum())
    found = detect_numbers(values, row_counts, number_format)
    n_odd = n_known if found is None else int(row_counts[~found.fits].sum())
    if n_odd > MAX_ODD_SHARE * n_known or (found is not None and _have_other_forms(values, found.fits)):
        forms = detect_forms(values, row_counts, number_format)
        if forms is not None and (n_odd_forms := int(row_counts[~forms.fits].sum())) < n_odd:
            found, n_odd = forms, n_odd_forms
    if found is not None and n_odd <= MAX_ODD_SHARE * n_known:
        kind = _kind_of_numbers(found, row_counts, name, number_kind)
        if not isinstance(kind, Category):
            note_forms(name, found, values, row_counts)
            return kind, found.reading if isinstance(kind, Number) else None
    if found is not None and n_odd and _note_odd_cells(values, row_counts, found.fits, name):
        return Category(), None
    kind = _infer_words(codes, values, name)
    note_leading_numbers(name, kind, values, row_counts)
    return kind, None


def _have_other_forms(values: list[Any], fits: Mask) -> bool:
    """Whether some of the few cells that are not numbers have a mark, such as ">200"."""
    return any(has_mark(values[at]) for at in np.flatnonzero(~fits).tolist())


def _infer_words(codes: Ints, values: list[Any], name: str) -> Kind:
    """Return the kind of strings that are neither flags nor dates nor numbers."""
    kind = _kind_of_words(codes, values, name)
    if isinstance(kind, Text) and not _have_letters(values):
        kind = Category()
    n_known = int((codes >= 0).sum())
    if not is_nearly_distinct(len(values), n_known):
        return kind
    is_identifier = isinstance(kind, Category) or (isinstance(kind, Text) and are_grouped_codes(values))
    return Skip() if is_identifier else kind


def _kind_of_numbers(found: DetectedNumbers, row_counts: RowCounts, name: str, number_kind: Number) -> Kind:
    """Return the kind of a text column that is read as numbers."""
    is_known = found.fits & np.isfinite(found.numbers)
    numbers = found.numbers[is_known]
    if not found.are_whole or np.abs(numbers).max(initial=0.0) >= 2**53:
        return number_kind
    distinct, n_rows = np.unique(numbers), int(row_counts[is_known].sum())
    has_form = found.reading.suffixes or found.reading.forms
    if has_form and len(distinct) >= MIN_NUMBERS and not is_code_name(name):
        return number_kind  # what has a unit is a quantity
    return _kind_of_integers(n_rows, distinct.astype(np.int64).tolist(), name, number_kind)


def _note_odd_cells(values: list[Any], row_counts: RowCounts, fits: Mask, name: str) -> bool:
    """Warn that a column would be numeric except for a few words; return False for many words and codes."""
    odd = [value for value, is_number in zip(values, fits.tolist(), strict=True) if not is_number]
    if any(map(has_leading_zero, odd)):
        return False
    n_odd, n_known = int(row_counts[~fits].sum()), int(row_counts.sum())
    if len(values) < MIN_NUMERALS + len(odd) or (len(odd) > 2 and n_odd > MAX_NOTED_SHARE * n_known):
        return False
    warn(
        errors.OddValues(
            f"Column {name!r} contains numbers except for {errors.quote_names(odd, MAX_EXAMPLES)} ({n_odd:,} "
            f"of {n_known:,} cells), so it is treated as a category.",
            hint=advise_missing(odd) if len(odd) <= MAX_EXAMPLES else _advise_number(odd, name),
        ),
        [name],
    )
    return True


def _advise_number(odd: list[Any], name: str) -> Advice:
    """Return what to do about many different odd cells; naming all of them as missing is rarely right."""
    advice = advise_missing(odd[:MAX_EXAMPLES])
    if isinstance(advice, str):
        return advice
    return ("If they mean missing, leave these cells empty and use ", set_kind(name, "number"), ".")


def _kind_of_words(codes: Ints, values: list[Any], name: str) -> Kind:
    if 2 * len(values) <= np.count_nonzero(codes >= 0) and len(values) <= MAX_INSPECTED_VALUES:
        return Category()
    known = codes[codes >= 0]
    has_several_words = np.array(
        [isinstance(v, str) and len(v.split(None, 1)) > 1 for v in values], dtype=bool
    )
    is_text = 2 * has_several_words[known].sum() > len(known)
    # By Good and Turing, the share of values that occur once is the probability of one never seen before.
    n_single = int((np.bincount(known, minlength=len(values)) == 1).sum())
    if 2 * len(values) <= len(known) and n_single <= MAX_NEW_SHARE * len(known):
        if is_text:
            warn(
                errors.OddValues(
                    f"Column {name!r} is treated as a category of at least {len(values):,} values, most of "
                    "them with several words.",
                    hint=("If it is running text, use ", set_kind(name, "text"), "."),
                ),
                [name],
            )
        return Category()
    return Text() if is_text else Category()


def _have_letters(values: list[Any]) -> bool:
    """Whether some of the first values have letters: telephone numbers are no texts."""
    return any(char.isalpha() for value in values[:MAX_INSPECTED_VALUES] for char in str(value))


def _warn_of_odd_values(values: list[Any], name: str) -> None:
    """Warn if a column would be numeric except for one or two distinct words."""
    odd = [value for value in values[:MAX_INSPECTED_VALUES] if not _is_numeral(value)]
    if 1 <= len(odd) <= 2 and len(values) >= MIN_NUMERALS + len(odd):
        warn(
            errors.OddValues(
                f"Column {name!r} contains numbers except for {errors.quote_names(odd)}, so it is treated as "
                "a category.",
                hint=("If that means missing, use ", Setting("missing", odd), "."),
            ),
            [name],
        )


def _is_numeral(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    except OverflowError:  # a huge integer
        return True
    return True
