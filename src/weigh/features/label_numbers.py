"""Numbers that the label column writes as text, such as "$1,234.50"; they are read like those of columns."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from weigh.features.cells import DetectedNumbers, NumberReading, count_rows, detect_numbers, is_numeric
from weigh.features.columns import encode_column, is_missing
from weigh.features.inference.number_forms import begin_with_numbers, detect_forms
from weigh.source.cells import NumberFormat
from weigh.source.chunk import Column, DictionaryColumn


def detect_label_numbers(
    labels: Column, missing: Collection[object] = (), number_format: NumberFormat | None = None
) -> DetectedNumbers | None:
    """Return the distinct labels as numbers if most labels are numbers written as text, otherwise None.

    `number_format` is the format of the whole file, if it is known.
    """
    if is_numeric(labels):
        return None
    codes, values = encode_column(labels, "")
    row_counts = count_rows(codes, values)
    known = [at for at, value in enumerate(values) if row_counts[at] and not is_missing(value, missing)]
    if not any(isinstance(values[at], str) for at in known):
        return None
    texts, counts = [values[at] for at in known], row_counts[known]
    found = detect_numbers(texts, counts, number_format)
    if found is not None or not begin_with_numbers(texts):
        return found
    return detect_forms(texts, counts, number_format)


def read_labels(labels: Any, reading: NumberReading, missing: Collection[object] = ()) -> Any:
    """Return labels with numbers instead of their texts; a text that is not a number remains, for messages.

    Missing labels are None. Labels that are numbers already, or absent, are returned as they are.
    """
    if labels is None or is_numeric(labels):
        return labels
    codes, values = encode_column(labels, "")
    numbers, fits = reading.convert(values)
    index: dict[Any, int] = {}
    lookup = np.full(len(values) + 1, -1, dtype=np.int32)  # the code -1 of a missing label is the last
    for at, value in enumerate(values):
        if not is_missing(value, missing):
            label = numbers[at].item() if fits[at] else value
            lookup[at] = index.setdefault(label, len(index))
    return DictionaryColumn(lookup[codes], list(index))
