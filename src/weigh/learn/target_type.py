"""Whether the labels of a source are classes or measurements, judged by its first rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.features.label_numbers import detect_label_numbers
from weigh.source.base import Source
from weigh.source.chunk import to_pylist

MANY_CLASSES = 20  # numbers are measurements above this, and above one in so many rows


@dataclass(frozen=True)
class Measurements:
    """Labels that are numbers rather than classes: how many distinct ones in how many rows.

    `example` is one of them if they are written as text, otherwise None.
    """

    n_distinct: int
    n_rows: int
    example: str | None

    def describe(self, label: str | None) -> str:
        """Return a clause such as "'price' has 90 distinct numbers in the first 100 rows"."""
        written = (
            "" if self.example is None else f", written as text such as {errors.one_line_repr(self.example)}"
        )
        name = "the label" if label is None else repr(label)
        return f"{name} has {self.n_distinct:,} distinct numbers in the first {self.n_rows:,} rows{written}"


def find_measurements(source: Source, *, is_number: bool = False) -> Measurements | None:
    """Return the labels if they are fractions or very many integers or texts of numbers, otherwise None.

    With `is_number` the user says that they are measurements, so any numbers are.
    """
    rows = source.prefix().labels
    labels: list[Any] = [] if rows is None else to_pylist(rows)
    numbers = {label for label in labels if isinstance(label, int | float) and label == label}
    # A few texts may be names of classes although they look like fractions.
    has_fractions = any(number != round(number) for number in numbers if math.isfinite(number))
    found = (
        detect_label_numbers(rows, source.missing, source.number_format)
        if rows is not None and labels
        else None
    )
    example = None
    if found is not None:
        numbers = set(found.numbers[found.fits].tolist())
        example = next(label for label in labels if isinstance(label, str) and label not in source.missing)
        has_fractions = False
    are_many = len(numbers) > max(MANY_CLASSES, len(labels) / MANY_CLASSES)
    if numbers and (is_number or has_fractions or are_many):
        return Measurements(len(numbers), len(labels), example)
    return None
