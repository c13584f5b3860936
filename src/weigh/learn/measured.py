"""Labels that are measured: numbers, one per row."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.features.columns import to_numbers
from weigh.features.value_checks import HUGE
from weigh.source import Chunk
from weigh.source.chunk import to_pylist


def measured(chunk: Chunk) -> Floats:
    """Return the numbers that a chunk's rows are labelled with; anything else is refused."""
    if chunk.labels is None:
        raise errors.LabelError(
            "There is nothing to learn to predict. Give the name of the label column, or y: one number per "
            "row."
        )
    try:
        numbers = to_numbers(chunk.labels, "label")
    except errors.ColumnError as cause:
        raise errors.LabelError(
            f"A regression predicts numbers, and some label is none: {_odd(chunk)!r}. For classes use "
            f"LogisticRegression, NaiveBayes or Perceptron."
        ) from cause
    wrong = np.isnan(numbers)
    if wrong.any():
        raise errors.LabelError(
            f"The label is missing (NaN) in {int(wrong.sum()):,} of {chunk.n_rows:,} rows (first: row "
            f"{chunk.first_row + int(np.argmax(wrong)):,}). Leave such rows out before fitting."
        )
    if np.abs(numbers).max(initial=0.0) > HUGE:
        raise errors.LabelError(
            f"A label has the size {np.abs(numbers).max():.6g}; beyond {HUGE:g} the square of a number is "
            f"none any more. Divide the labels by their largest."
        )
    return np.ascontiguousarray(numbers)


def _odd(chunk: Chunk) -> Any:
    """Return the first label that is no number."""
    for label in to_pylist(chunk.labels):
        try:
            float(label)
        except (TypeError, ValueError):
            return label
    return None
