"""Notes on numbers in further forms, and on columns that begin with numbers but are none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Setting, set_kind
from weigh.deduplicated_warnings import warn
from weigh.features.cells import (
    BLANKS,
    MAX_INSPECTED_VALUES,
    DetectedNumbers,
    RowCounts,
    has_leading_zero,
)
from weigh.features.inference.number_forms import LIMIT_MARKS, MIN_NUMBER_SHARE, split_cell
from weigh.features.kinds import Category, Kind, Skip
from weigh.source.missing_words import means_missing
from weigh.source.values import shorten_repr

MIN_NOTED_VALUES = 20  # fewer distinct values make a good category
MAX_SHAPES = 10  # of cells in one or a few forms; addresses and texts have more
MAX_NUMBERS = 2  # per cell; versions, telephone numbers and dates have more
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_VERSION = re.compile(r"\d\.\d+\.\d")


def note_forms(name: str, found: DetectedNumbers, values: Sequence[Any], row_counts: RowCounts) -> None:
    """Warn of limits, pairs, durations and words that mean missing in a column that is read as numbers."""
    texts = [value if isinstance(value, str) else "" for value in values]
    reading = found.reading
    if "limits" in reading.forms:
        _note_limits(name, texts, row_counts)
    if "pairs" in reading.forms:
        example = next((text for text in texts if "/" in text), "")
        warn(
            errors.OddValues(
                f"Column {name!r} has two numbers per cell, such as {example!r}, and only the first is used.",
                hint="To use both, split the column into two.",
            ),
            [name],
        )
    if "durations" in reading.forms:
        _note_durations(name, texts)
    if reading.missing:
        _note_missing_words(name, texts, row_counts)


def _note_limits(name: str, texts: Sequence[str], row_counts: RowCounts) -> None:
    is_limit = np.array([text.lstrip(BLANKS)[:1] in tuple(LIMIT_MARKS) for text in texts], dtype=bool)
    if not is_limit.any():
        return
    n, example = int(row_counts[is_limit].sum()), texts[int(np.argmax(is_limit))]
    warn(
        errors.OddValues(
            f"Column {name!r}: {n:,} of {int(row_counts.sum()):,} cells "
            f"{'is a limit' if n == 1 else 'are limits'} such as {example!r}. A number after '<' is read as "
            "its half, and one after '>' as itself.",
        ),
        [name],
    )


def _note_durations(name: str, texts: Sequence[str]) -> None:
    example = next((text for text in texts if _DIGITS.search(text)), "")
    unit = "minutes"
    if ":" in example:
        unit = "seconds" if any(text.count(":") == 2 for text in texts) else "the unit after the colon"
    warn(
        errors.OddValues(
            f"Column {name!r} holds lengths of time such as {example!r}, which are read as numbers in {unit}."
        ),
        [name],
    )


def _note_missing_words(name: str, texts: Sequence[str], row_counts: RowCounts) -> None:
    is_word = np.fromiter(map(means_missing, texts), dtype=bool, count=len(texts))
    words = [texts[at] for at in np.flatnonzero(is_word).tolist()]
    n = int(row_counts[is_word].sum())
    what = "a word for missing values" if len(words) == 1 else "words for missing values"
    outcome = "this cell is" if n == 1 else "these cells are"
    warn(
        errors.OddCells(
            f"Column {name!r} contains numbers except for {errors.quote_names(words)} ({n:,} of "
            f"{int(row_counts.sum()):,} cells), {what}; {outcome} treated as missing.",
            hint=(
                "To state this, use ",
                Setting("missing", words),
                ". If the column is a category, use ",
                set_kind(name, "category"),
                ".",
            ),
        ),
        [name],
    )


def note_leading_numbers(name: str, kind: Kind, values: Sequence[Any], row_counts: RowCounts) -> None:
    """Warn that most cells of a column begin with a number although it is not read as one."""
    if len(values) <= MIN_NOTED_VALUES:
        return
    step = -(-len(values) // MAX_INSPECTED_VALUES)
    n_rows: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for value, n in zip(values[::step], row_counts[::step].tolist(), strict=True):
        if has_leading_zero(value) or _VERSION.search(str(value)):
            return
        if isinstance(value, str) and split_cell(value) is not None:
            shape = _DIGITS.sub("0", value)
            n_rows[shape] += n
            examples.setdefault(shape, value)
    n_sampled = int(row_counts[::step].sum())
    if n_rows.total() < MIN_NUMBER_SHARE * n_sampled or len(n_rows) > MAX_SHAPES:
        return
    usual = n_rows.most_common(1)[0][0]
    # Digits and dashes that are all distinct are telephone numbers and the like.
    if usual.count("0") > MAX_NUMBERS or (isinstance(kind, Skip) and set(usual) <= set("0-()+ ")):
        return
    treated = "a category" if isinstance(kind, Category) else "text"
    is_treated = "is skipped" if isinstance(kind, Skip) else f"is treated as {treated}"
    percent = round(100 * n_rows.total() / n_sampled)
    common = [
        f"{shorten_repr(examples[shape])} ({round(100 * n / n_sampled)} %)"
        for shape, n in n_rows.most_common(3)
    ]
    warn(
        errors.OddValues(
            f"Column {name!r} {is_treated}, although {percent} % of its cells begin "
            f"with a number: they are written like {', '.join(common)}.",
            hint=(
                "If the numbers are in one unit, use ",
                set_kind(name, "number"),
                ", which leaves out what follows them; otherwise convert them to one unit first.",
            ),
        ),
        [name],
    )
