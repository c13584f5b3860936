"""Gross outliers of number columns: typing errors such as 1e300, and markers of missing values such as -999.

A value is one if its magnitude is far beyond the next largest, compared with how fast the largest magnitudes
of the column grow. Hill's estimate of that growth adapts to skewed columns: for a Pareto distribution, the
logarithm of the ratio of neighbouring magnitudes is exponentially distributed around it (Hill 1975, "A simple
general approach to inference about the tail of a distribution", Annals of Statistics 3).
"""

from __future__ import annotations

import numpy as np

from weigh import errors
from weigh.advice import Setting
from weigh.deduplicated_warnings import warn
from weigh.features.blocks import Floats
from weigh.features.cells import PLAIN, Reading, is_numeric, read_column
from weigh.features.columns import to_numbers
from weigh.source.base import Source
from weigh.source.chunk import Column, DictionaryColumn
from weigh.source.missing import Marker
from weigh.text import format_float, format_quantity

MIN_RATIO = 30.0  # of an outlier to the next largest magnitude
# Codes of surveys and sensors for "missing", "refused" and "unknown".
MARKERS = frozenset(
    float(sign * (10**digits - 1 - less)) for digits in range(2, 7) for sign in (1, -1) for less in range(3)
) | {-9.0, -8.0, -7.0}
MIN_MARKER_ROWS = 2
MAX_MARKER_SHARE = 0.5  # of the cells
MAX_CHANCE = 1e-7  # of a ratio as large in a column without outliers
MAX_OUTLIERS = 3  # distinct magnitudes
MAX_SHARE = 0.05  # of the cells
N_SAMPLES = 100  # distinct values that are looked at first
MIN_MAGNITUDES = 10  # distinct ones besides the outliers


def warn_of_outliers(
    source: Source, column: Column, name: str, reading: Reading | None, missing: tuple[Marker, ...]
) -> None:
    """Warn of gross outliers in the first rows of a number column of a source."""
    holds_numbers = is_numeric(column)
    if holds_numbers and isinstance(column, DictionaryColumn) and _has_no_outliers(column):
        return
    try:
        if holds_numbers:
            numbers = to_numbers(column, name, missing)
        else:
            numbers = read_column(column, name, reading or PLAIN, missing)[0]
    except errors.ColumnError:
        return  # Encoding the column raises this error again.
    outliers, next_largest = find_outliers(numbers)
    if len(outliers):
        places = [source.format_place(int(np.argmax(numbers == value))) for value in outliers]
    else:
        outliers, next_largest = find_markers(numbers)
        places = [f"{format_quantity(int((numbers == value).sum()), 'cell')}" for value in outliers]
    if not len(outliers):
        return
    values = [
        int(value) if value.is_integer() and abs(value) < 1e15 else value for value in outliers.tolist()
    ]
    cells = ", ".join(f"{value} ({place})" for value, place in zip(values, places, strict=True))
    which, pronoun = ("it means", "it") if len(values) == 1 else ("they mean", "them")
    warn(
        errors.Outliers(
            f"Column {name!r} contains {cells}, far beyond its other values (at most "
            f"{format_float(next_largest)} in magnitude).",
            hint=(f"If {which} missing, use ", Setting("missing", values), f"; otherwise correct {pronoun}."),
        ),
        [name],
    )


def _has_no_outliers(column: DictionaryColumn) -> bool:
    """Whether a few of the values tell that none is an outlier: many are of the order of the largest."""
    distinct, integers = column.values, column.integers
    if not distinct:
        return True
    low, high = (
        (min(distinct), max(distinct)) if integers is None else (int(integers.min()), int(integers.max()))
    )
    if low in MARKERS or high in MARKERS:
        others = [value for value in distinct if value not in MARKERS] or [low]
        reach = max(others) - min(others)
        if low < min(others) - reach or high > max(others) + reach:
            return False
    limit = max(-low, high) / MIN_RATIO
    sample = distinct[:: -(-len(distinct) // N_SAMPLES)]
    n_large: int = sum(abs(value) > limit for value in sample)
    return n_large > 2 * MAX_OUTLIERS


def find_markers(numbers: Floats) -> tuple[Floats, float]:
    """Return repeated numbers such as -999 beyond the range of all others, and the others' largest magnitude.

    They usually mean missing. The gap to the others must be wider than the range of the others.
    """
    known, none = numbers[np.isfinite(numbers)], (np.empty(0), 0.0)
    if not len(known):
        return none
    smallest, largest = float(known.min()), float(known.max())
    if not {smallest, largest} & MARKERS:
        return none
    is_marker = np.isin(known, [marker for marker in MARKERS if smallest <= marker <= largest])
    others = known[~is_marker]
    if len(others) < MIN_MAGNITUDES:
        return none
    low, high = float(others.min()), float(others.max())
    values, n_rows = np.unique(known[is_marker], return_counts=True)
    is_far = (values < low - (high - low)) | (values > high + (high - low))
    if n_rows[is_far].sum() < MIN_MARKER_ROWS or n_rows[is_far].sum() > MAX_MARKER_SHARE * len(known):
        return none
    return values[is_far], max(abs(low), abs(high))


def find_outliers(numbers: Floats) -> tuple[Floats, float]:
    """Return the gross outliers, the largest magnitude first, and the largest magnitude of the others."""
    sizes = np.abs(numbers[np.isfinite(numbers)])
    none = np.empty(0), 0.0
    largest = sizes.max(initial=0.0)
    # Most columns have many values of the order of the largest, so they need not be sorted.
    if largest == 0 or (sizes > largest / MIN_RATIO).sum() > MAX_SHARE * len(sizes):
        return none
    distinct = np.unique(sizes[sizes > 0])[::-1]
    for n_outliers in range(min(MAX_OUTLIERS, len(distinct) - MIN_MAGNITUDES), 0, -1):
        tail = np.log(distinct[n_outliers : n_outliers + max(MIN_MAGNITUDES, len(distinct) // 10)])
        gap = np.log(distinct[n_outliers - 1]) - tail[0]
        growth = float((tail[:-1] - tail[-1]).mean())
        is_rare = (sizes > distinct[n_outliers]).sum() <= MAX_SHARE * len(sizes)
        # The gap divided by the mean of n others has an F distribution: P(> t) = (1 + t / n) ** -n.
        n = len(tail) - 1
        min_gap = growth * n * (MAX_CHANCE ** (-1 / n) - 1)
        if is_rare and gap >= max(np.log(MIN_RATIO), min_gap):
            known = numbers[np.isfinite(numbers)]
            outliers = np.unique(known[sizes > distinct[n_outliers]])
            return outliers[np.argsort(-np.abs(outliers))][:MAX_OUTLIERS], float(distinct[n_outliers])
    return none
