"""A warning of numbers that drown out all others, judged by the first rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Schema, Value
from weigh.features.columns import to_numbers
from weigh.features.value_checks import HUGE
from weigh.source import Source

MUCH = 100.0


def warn_of_unlike_scales(schema: Schema, source: Source) -> None:
    """Warn of a named column whose numbers are some hundred times larger than all other features."""
    if not source.named:
        return
    first: Mapping[str, Any] = source.prefix().columns
    pairs = zip(schema.names, schema.kinds, strict=True)
    names = [name for name, kind in pairs if isinstance(kind, Value) and name in first]
    sizes = {name: _largest(to_numbers(first[name], name, schema.missing)) for name in names}
    if not sizes or len(schema.names) < 2:
        return
    largest = max(sizes, key=lambda name: sizes[name])
    # Levels of categories, flags and most words are ones.
    others = [size for name, size in sizes.items() if name != largest]
    rest = max([*others, *([1.0] if len(names) < len(schema.names) else [])])
    # What is beyond all bounds is refused soon.
    if HUGE > sizes[largest] > MUCH * rest > 0:
        warnings.warn(
            f"Column {largest!r} has numbers of up to {sizes[largest]:,.6g}, the other features of up to "
            f"{rest:,.6g}: a perceptron listens to the largest. Try scale='unit'.",
            errors.UnlikeScales,
            stacklevel=2,
        )


def _largest(values: Any) -> float:
    return float(np.nanmax(np.abs(values), initial=0.0))
