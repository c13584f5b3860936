"""Numbers with further marks: units of any name, limits of detection, multiples, durations and missing words.

A column is looked at only if it would otherwise be a category, a text or an identifier, and only through its
distinct values. Its cells are split into a number and what stands around it; what most cells have in common
is the form of the column.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.features.blocks import Mask
from weigh.features.cells import (
    BLANKS,
    MAX_INSPECTED_VALUES,
    MAX_SUFFIX_LENGTH,
    N_SAMPLES,
    DetectedNumbers,
    NumberReading,
    RowCounts,
    fit_separators,
    unit_of_spelling,
)
from weigh.features.inference.odd_cells import MAX_ODD_SHARE
from weigh.source.cells import NumberFormat
from weigh.source.missing_words import means_missing, to_lower_ascii

MIN_NUMBER_SHARE = 0.6  # of the cells of a column with words that mean missing
MIN_NUMBERS = 10  # distinct ones of a quantity; words among a few codes may be further codes
MAX_MISSING_WORDS = 5  # distinct ones
MAX_SUFFIX_WORDS = 3
MIN_IDENTIFIER_DIGITS = 6
LIMIT_MARKS = "<>≤≥"
MULTIPLES = frozenset(
    [
        *(
            "thousand",
            "Tsd.",
            "Tsd",
            "tsd",
            "k",
            "K",
            "million",
            "Mio.",
            "Mio",
            "mio",
            "mln",
            "mn",
            "MM",
            "M",
        ),
        *("billion", "Mrd.", "Mrd", "bn", "B"),
    ]
)

_CELL = re.compile(
    rf"[{BLANKS}]*(?P<mark>[<>]=?|[≤≥~≈])?[{BLANKS}(]*[-+\u2212]?[{BLANKS}]*"
    rf"(?P<before>[^\d{BLANKS}.,()+\u2212-][^\d{BLANKS}()+\u2212-]*)?[{BLANKS}]*[-+\u2212]?"
    rf"(?:\d(?:[\d.,'\u2019{BLANKS}]*\d)?|[.,]\d+)(?:[eE][+-]?\d+(?!\d))?\.?(?P<after>.*)",
    re.DOTALL,
)
_PAIR = re.compile(rf"[{BLANKS}]*/[{BLANKS}]*\d+(?:[.,]\d+)?(?P<unit>.*)")
_DURATION = re.compile(
    r"\d+:[0-5]\d(:[0-5]\d)?|(\d+ *d(ays?)?)? *(\d+ *h((ou)?rs?|our)?)? *(\d+ *m(ins?)?)? *(\d+ *s)?"
)
_DURATION_PARTS = re.compile(r"\d\D+\d")  # "160 days" is a number with a unit
_TRAILING_MINUS = re.compile(r"\d[^\d-]*[-\u2212]\D*$")


@dataclass(frozen=True)
class CellParts:
    """What stands around the number of a cell: a mark such as "<", a unit before it, and what follows."""

    mark: str = ""
    before: str = ""
    after: str = ""


PLAIN_CELL = CellParts()


def split_cell(value: object) -> CellParts | None:
    """Split a cell that begins with a number, apart from signs and a unit; None for other cells."""
    if not isinstance(value, str):
        return PLAIN_CELL if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    found = _CELL.fullmatch(value)
    if found is None:
        return None
    before, after = found["before"] or "", found["after"].strip(f"{BLANKS})")
    if before and unit_of_spelling(before) is None:
        return None
    return CellParts(found["mark"] or "", before, after)


def has_mark(value: object) -> bool:
    """Whether a cell is a number with a mark, such as "<0.01" and "63.11-"."""
    parts = split_cell(value)
    return parts is not None and bool(parts.mark or parts.after in ("-", "\u2212"))


def begin_with_numbers(values: Sequence[Any]) -> bool:
    """Whether half of a few values begin with a number; most columns of words have none."""
    sample = values[:: -(-len(values) // N_SAMPLES) or 1]
    return 2 * sum(split_cell(value) is not None for value in sample) >= len(sample) > 0


def detect_forms(
    values: Sequence[Any],
    row_counts: RowCounts,
    number_format: NumberFormat | None = None,
    *,
    is_stated: bool = False,
) -> DetectedNumbers | None:
    """Return how the cells of a column are numbers in some further form; None if they are something else.

    At most 1 % of the cells may be neither numbers nor words that mean missing. If the user stated that the
    column is a number, all units are left out and the form that fits most cells is used.
    """
    is_word = np.fromiter(map(means_missing, values), dtype=bool, count=len(values))
    numbers, counts = (
        [v for v, w in zip(values, is_word.tolist(), strict=True) if not w],
        row_counts[~is_word],
    )
    reading = _find_form(numbers, counts, is_stated=is_stated)
    if reading is None:
        return None
    found = fit_separators(reading, values, row_counts, number_format)
    found = _add_missing_words(found, values, is_word)
    are_whole = bool(np.all(_known_numbers(found) % 1 == 0))
    found = found._replace(
        are_whole=found.are_whole or (bool(reading.suffixes or reading.forms) and are_whole)
    )
    if is_stated:
        return found
    n_odd, n_known = int(row_counts[~found.fits].sum()), int(row_counts.sum())
    if n_odd > MAX_ODD_SHARE * n_known or not _has_enough_numbers(found, is_word, row_counts):
        return None
    return None if _are_identifiers(found, values, row_counts) else found


def _known_numbers(found: DetectedNumbers) -> Any:
    return found.numbers[found.fits & np.isfinite(found.numbers)]


def _add_missing_words(found: DetectedNumbers, values: Sequence[Any], is_word: Mask) -> DetectedNumbers:
    """Return the numbers with the words that mean missing as fitting cells."""
    words = {to_lower_ascii(values[at]): None for at in np.flatnonzero(is_word & ~found.fits).tolist()}
    if not words:
        return found
    reading = replace(found.reading, missing=tuple(words)[:MAX_MISSING_WORDS])
    numbers, fits = reading.convert(values)
    # Codes with leading zeros did not fit before.
    return found._replace(reading=reading, numbers=numbers, fits=fits & (found.fits | is_word))


def _has_enough_numbers(found: DetectedNumbers, is_word: Mask, row_counts: RowCounts) -> bool:
    """Whether words that mean missing are few enough besides the numbers."""
    if not found.reading.missing:
        return True
    n_numbers = int(row_counts[found.fits & ~is_word].sum())
    distinct = np.unique(_known_numbers(found))
    return n_numbers >= MIN_NUMBER_SHARE * row_counts.sum() and len(distinct) >= MIN_NUMBERS


def _are_identifiers(found: DetectedNumbers, values: Sequence[Any], row_counts: RowCounts) -> bool:
    """Whether numbers with an attached letter are identifiers, such as 1234567X: many digits, distinct."""
    if not found.reading.suffixes or not found.are_whole or row_counts.max(initial=0) > 2:
        return False
    texts = [str(value) for value in values[:MAX_INSPECTED_VALUES]]
    digits = {sum(map(str.isdigit, text)) for text in texts}
    return (
        len(digits) == 1 and min(digits) >= MIN_IDENTIFIER_DIGITS and not any(" " in text for text in texts)
    )


def _find_form(values: Sequence[Any], row_counts: RowCounts, *, is_stated: bool) -> NumberReading | None:
    """Return the unit and the forms of most values, without separators; None if most are not numbers."""
    step = -(-len(values) // MAX_INSPECTED_VALUES) or 1
    sample, weights = values[::step], row_counts[::step]
    n_known = int(weights.sum())
    has_parts = any(_DURATION_PARTS.search(value) for value in sample if isinstance(value, str))
    if has_parts and 2 * _count_durations(sample, weights) > n_known:
        return NumberReading(forms=("durations",))
    cells = [
        (parts, n) for value, n in zip(sample, weights.tolist(), strict=True) if (parts := split_cell(value))
    ]
    if 2 * sum(n for _, n in cells) <= n_known:
        return None
    forms = list(_find_marks(values))
    pairs: Counter[str] = Counter()
    for parts, n in cells:
        if found := _PAIR.fullmatch(parts.after):
            pairs[found["unit"].strip(BLANKS)] += n
    if 2 * pairs.total() > n_known:
        return NumberReading(suffixes=_common_suffixes(pairs, is_stated=is_stated), forms=(*forms, "pairs"))
    after: Counter[str] = Counter()
    before: Counter[str] = Counter()
    signs = "-\u2212" + BLANKS if "trailing minus" in forms else BLANKS
    for parts, n in cells:
        after[parts.after.strip(signs)] += n
        if parts.before:
            before[parts.before] += n
    return _find_units(after, before, forms, is_stated=is_stated)


def _find_units(
    after: Counter[str], before: Counter[str], forms: Sequence[str], *, is_stated: bool
) -> NumberReading | None:
    """Return the reading of numbers with these units before and after them, by number of rows."""
    currency = unit_of_spelling(max(before, key=before.__getitem__)) if before else None
    multiples = Counter({word: n for word, n in after.items() if _split_multiple(word) is not None})
    n_plain, n_multiples = after[""], multiples.total()
    if n_multiples and n_multiples + n_plain >= (1 - MAX_ODD_SHARE) * after.total():
        units = Counter({_split_multiple(word) or "": n for word, n in multiples.items()})
        unit = currency or unit_of_spelling(max(units, key=units.__getitem__)) or ""
        return NumberReading(unit=unit, forms=(*forms, "multiples"))
    words = Counter({word: n for word, n in after.items() if word})
    if not words:
        return NumberReading(unit=currency or "", forms=tuple(forms))
    known = unit_of_spelling(max(words, key=words.__getitem__))
    if known is not None and not (is_stated and len(words) > 1):
        return NumberReading(unit=known, forms=tuple(forms))
    suffixes = _common_suffixes(after, is_stated=is_stated)
    return NumberReading(suffixes=suffixes, forms=tuple(forms)) if suffixes else None


def _common_suffixes(after: Counter[str], *, is_stated: bool) -> tuple[str, ...]:
    """Return the spellings of the most common suffix; of all frequent ones if the user stated a number."""
    if is_stated:
        frequent = [word for word, n in after.most_common(10) if n >= MAX_ODD_SHARE * after.total()]
    else:
        key = _plain_suffix(max(after, key=after.__getitem__, default=""))
        frequent = [word for word in after if _plain_suffix(word) == key]
    if frequent == [""]:
        return ()
    return tuple(word for word in frequent if len(word) <= MAX_SUFFIX_LENGTH and _is_short(word))


def _is_short(suffix: str) -> bool:
    return len(suffix.split()) <= MAX_SUFFIX_WORDS


def _plain_suffix(suffix: str) -> str:
    """Return a suffix without its case and the endings of plurals: "days ago" and "Day ago" are equal."""
    return " ".join(word.rstrip(".").removesuffix("s") for word in suffix.casefold().split())


def _split_multiple(suffix: str) -> str | None:
    """Return the unit after a word for a multiple, "" without one; None if there is no such word."""
    word, _, unit = suffix.partition(" ")
    if word in MULTIPLES and (not unit or unit_of_spelling(unit.strip(BLANKS)) is not None):
        return unit.strip(BLANKS)
    # "16.0k€" has no blank.
    return suffix[1:] if suffix[:1] in MULTIPLES and suffix[1:] in ("$", "€", "£") else None


def _find_marks(values: Sequence[Any]) -> Iterator[str]:
    """Yield the forms of numbers with a mark before them, or a minus sign after them."""
    texts = [value for value in values if isinstance(value, str)]
    if any(text.lstrip(BLANKS)[:1] in (*LIMIT_MARKS, "~", "≈") for text in texts):
        yield "limits"
    n_trailing = sum(_TRAILING_MINUS.search(text) is not None for text in texts)
    if n_trailing and len(texts) >= MIN_NUMBERS:
        yield "trailing minus"


def _count_durations(values: Sequence[Any], row_counts: RowCounts) -> int:
    """Return the number of rows with a length of time."""
    texts = (value.strip() if isinstance(value, str) else "" for value in values)
    pairs = zip(texts, row_counts.tolist(), strict=True)
    return sum(n for text, n in pairs if text and _DURATION.fullmatch(text))
