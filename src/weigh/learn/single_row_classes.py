"""A warning for a classifier whose classes have one row each: probably another column was meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weigh import errors
from weigh.advice import Step
from weigh.deduplicated_warnings import warn
from weigh.features.cells import count_rows
from weigh.features.columns import encode_column
from weigh.features.label_numbers import detect_label_numbers
from weigh.source.base import Source

MIN_CLASSES = 100


def warn_of_single_row_classes(source: Source, classes: Sequence[Any]) -> None:
    """Warn if most rows of a source are the only one of their class."""
    if len(classes) < MIN_CLASSES:
        return
    labels = source.prefix().labels
    if labels is None:
        return
    codes, values = encode_column(labels, "")
    row_counts = count_rows(codes, values)
    n_single = int((row_counts == 1).sum())
    if n_single < MIN_CLASSES or 2 * n_single <= len(codes):
        return
    is_number = detect_label_numbers(labels, source.missing, source.number_format) is not None
    is_number = is_number or all(isinstance(value, int | float) for value in values)
    example = errors.one_line_repr(values[int((row_counts == 1).argmax())])
    name = "The label" if source.label is None else f"The label {source.label!r}"
    advice: Any = "Is this the column to predict?"
    if is_number:
        advice = ("To predict numbers, ", Step("regression", "use LinearRegression"), ".")
    warn(
        errors.OddClasses(
            f"{name} has {int((row_counts > 0).sum()):,} classes in the first {len(codes):,} rows, and "
            f"{n_single:,} of them, such as {example}, have one row only; a classifier learns nothing from "
            "such a class.",
            hint=advice,
        )
    )
