"""A design: rows as numbers, one per named feature, with the class of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.features import Schema
from weigh.features.blocks import Floats, Ints, Longs
from weigh.learn.linear_kinds import linear_schema
from weigh.learn.reading import Encoded, Reading
from weigh.learn.space import Rows
from weigh.source import Source
from weigh.source import rows as rows_of


@dataclass(frozen=True, eq=False)
class Design:
    """Labelled rows in compressed form over named features, as linear learners see them.

    Row i has the values `values[indptr[i]:indptr[i + 1]]` for the features of the same places in
    `indices`, which rise; all others are zero. `classes[codes[i]]` is its class, the classes are in
    canonical order. `weights` None means one each.
    """

    names: Sequence[str]
    indptr: Longs
    indices: Ints
    values: Floats
    codes: Ints
    classes: list[Any]
    weights: Floats | None = None
    schema: Schema | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.indptr) - 1

    @property
    def width(self) -> int:
        """How many features there are."""
        return len(self.names)

    def dense(self) -> Floats:
        """Return the rows with all their zeros."""
        rows = np.repeat(np.arange(self.n_rows), np.diff(self.indptr))
        table = np.zeros((self.n_rows, self.width))
        table[rows, self.indices] = self.values
        return table


def design(X: Any, y: Any = None, columns: object = "auto", *, missing: Sequence[Any] = ()) -> Design:
    """Return labelled rows of any storage as linear learners see them."""
    source = X if isinstance(X, Source) and y is None else rows_of(X, y, missing=missing)
    schema = linear_schema(source, columns, missing=missing)
    reading = Reading.of(schema, source)
    classes = reading.classes()
    places, orders = reading.places(classes), reading.space.orders()
    order = np.concatenate(orders)
    numbers = np.full(reading.space.width + 1, -1, dtype=np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    parts = list(reading.chunks())
    sizes = np.concatenate([np.diff(part.rows.indptr) for part in parts])
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    indices = np.concatenate([numbers[part.rows.indices] for part in parts])
    values = np.concatenate([_values(part.rows) for part in parts])
    # Within a row features rise, whatever the order in which they were first met.
    rise = np.lexsort((indices, np.repeat(np.arange(len(sizes)), sizes)))
    names = [
        name
        for term in reading.space.terms(orders, np.zeros((len(order), 1)))
        for name in term.features().names
    ]
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate([_weights(part) for part in parts])
    codes = np.concatenate([places[part.codes] for part in parts])
    return Design(names, indptr, indices[rise], values[rise], codes, classes, weights, schema)


def _values(rows: Rows) -> Floats:
    return np.ones(len(rows.indices)) if rows.values is None else rows.values


def _weights(part: Encoded) -> Floats:
    return np.ones(len(part.codes)) if part.weights is None else part.weights
