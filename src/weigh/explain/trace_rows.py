"""The rows of a trace: what can be followed, and how it is written exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from weigh import errors
from weigh.explain.trace_rules import Rules, exact
from weigh.explain.trace_steps import Vector
from weigh.features import Kind, Schema, Wordy
from weigh.learn import Design

MOST_STEPS = 50_000


def check_rows(found: Design, rules: Rules) -> None:
    """Refuse what has no trace, before any work is done."""
    if not found.n_rows:
        raise errors.DataError("There are no rows to learn from.")
    if len(found.classes) < 2:
        raise errors.LabelError(
            f"A perceptron separates classes, and all {found.n_rows:,} rows are of one class, "
            f"{found.classes[0]!r}. Give rows of another class too."
        )
    steps = found.n_rows * rules.max_iter
    if steps > MOST_STEPS:
        fitting = MOST_STEPS // found.n_rows
        advice = f"max_iter={fitting} or fewer rows" if fitting else "fewer rows"
        raise errors.Unsupported(
            f"A trace of {found.n_rows:,} rows × {rules.max_iter:,} passes may take {steps:,} exact steps; "
            f"{MOST_STEPS:,} are the most. Take {advice}."
        )
    if found.weights is not None:
        raise errors.Unsupported(
            "A trace counts every row once, and these rows have weights. Leave them out."
        )
    if len(set(found.names)) < len(found.names):
        twice = next(name for name in found.names if list(found.names).count(name) > 1)
        raise errors.ColumnError(f"Two features are named {twice!r}; a trace tells them by their names.")
    if not np.isfinite(found.values).all():
        place = int(np.flatnonzero(~np.isfinite(found.values))[0])
        row = int(np.searchsorted(found.indptr, place, side="right")) - 1
        name = found.names[int(found.indices[place])]
        raise errors.DataError(
            f"Row {row:,} has {float(found.values[place])} for {name!r}; a perceptron adds finite numbers "
            f"only. Leave the row out or mend it."
        )


def unpruned(schema: Schema) -> Schema:
    """Return the schema that finds all words of a row, of which those of the trace are weighed."""
    kinds = [_unpruned(kind) for kind in schema.kinds]
    if any(isinstance(kind, Wordy) and kind.buckets for kind in kinds):
        raise errors.Unsupported(
            "A trace tells buckets by the words that were seen in them, so that other rows cannot be put "
            "into them. Take Text() without buckets, or give the row as numbers, one per feature."
        )
    return replace(schema, kinds=kinds)


def _unpruned(kind: Kind) -> Kind:
    return replace(kind, min_count=1, max_words=None) if isinstance(kind, Wordy) else kind


def vectors(found: Design, names: Sequence[str]) -> list[Vector]:
    """Return the rows as exact numbers by the names of their features."""
    indices, values, ends = found.indices.tolist(), found.values.tolist(), found.indptr.tolist()
    return [
        {names[at]: exact(value) for at, value in zip(indices[a:b], values[a:b], strict=True) if value}
        for a, b in pairwise(ends)
    ]
