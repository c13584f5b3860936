"""The columns: what the model was trained on, and what the rows of the report hold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.model.distributions.weights import format_value
from weigh.report.facts import EMPTY_CELL, format_share
from weigh.source import rows as rows_of
from weigh.source.chunk import Column, to_pylist
from weigh.text import format_float, format_quantity, truncate

MAX_NAME_LENGTH = 120
MAX_COLUMNS = 200  # columns that are told
NOT_KEPT = "not kept by the model"
KIND_TITLES = {"value": "number"}  # what a kind of column is called to people
MAX_LEVELS = 6  # values of a column that are named
MAX_DISTINCT_VALUES = 10_000  # values of a column that are told apart


@dataclass(frozen=True)
class ColumnFact:
    """One column: its kind, what was found in it in training, and what the rows given hold."""

    name: str
    kind: str
    trained: str
    given: str
    missing: str


@dataclass(frozen=True)
class SchemaFacts:
    """The columns in order, and how many more there are."""

    columns: tuple[ColumnFact, ...]
    n_columns: int


class _ColumnStatistics:
    """What a column of the rows holds, gathered chunk by chunk."""

    def __init__(self) -> None:
        self.n = 0
        self.missing = 0
        self.low, self.high = math.inf, -math.inf
        self.total = 0.0
        self.values: dict[str, int] = {}

    def add(self, column: Column) -> None:
        """Look at more rows."""
        self.n += len(column)
        if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
            known = column[np.isfinite(column)]
            self.missing += len(column) - len(known)
            if len(known):
                self.total += float(known.sum(dtype=np.float64))
                self.low, self.high = min(self.low, float(known.min())), max(self.high, float(known.max()))
            return
        for value in to_pylist(column):
            if value is None:
                self.missing += 1
            elif len(self.values) < MAX_DISTINCT_VALUES or format_value(value) in self.values:
                self.values[format_value(value)] = self.values.get(format_value(value), 0) + 1

    def to_text(self) -> str:
        """What was seen, in a few words."""
        if self.low <= self.high:
            mean = self.total / (self.n - self.missing)
            return f"mean {format_float(mean)}, from {format_float(self.low)} to {format_float(self.high)}"
        if not self.values:
            return EMPTY_CELL
        many = (
            f"{MAX_DISTINCT_VALUES:,} values or more"
            if len(self.values) >= MAX_DISTINCT_VALUES
            else format_quantity(len(self.values), "value")
        )
        first = sorted(self.values, key=lambda value: -self.values[value])[:MAX_LEVELS]
        return f"{many}: {_list_values(first, len(self.values))}"


def schema_facts(model: Any, data: Any, training: Any = None) -> SchemaFacts | None:
    """Tell the columns of a model of this library and of the rows; None for others' models.

    What the model does not keep of its training rows is told of the rows given as such, if any were.
    """
    schema = getattr(model, "schema", None)
    if schema is None:
        return None
    trained = dict(_training_descriptions(model))
    seen = {} if schema.accepts_sparse else _column_statistics(model, data)
    before = {} if schema.accepts_sparse or training is None else _column_statistics(model, training)
    pairs = [*zip(schema.names[:MAX_COLUMNS], schema.kinds[:MAX_COLUMNS], strict=True), *schema.made.items()]
    nothing = _ColumnStatistics()
    columns = []
    for name, kind in pairs:
        found = seen.get(name, nothing)
        missing = format_share(found.missing / found.n) if found.n and found.missing else EMPTY_CELL
        learned = trained.get(name) or (before[name].to_text() if name in before else NOT_KEPT)
        named = KIND_TITLES.get(kind.name, kind.name)
        columns.append(ColumnFact(truncate(name, MAX_NAME_LENGTH), named, learned, found.to_text(), missing))
    return SchemaFacts(tuple(columns), len(schema.names) + len(schema.made))


def _column_statistics(model: Any, data: Any) -> dict[str, _ColumnStatistics]:
    wanted = set(model.schema.names[:MAX_COLUMNS])
    seen: dict[str, _ColumnStatistics] = {}
    source = rows_of(data, missing=model.schema.missing).with_storage(model.storage)
    for chunk in model.schema.chunks(source):
        for name, column in chunk.columns.items():
            if name in wanted:
                seen.setdefault(name, _ColumnStatistics()).add(column)
    return seen


def _training_descriptions(model: Any) -> Iterator[tuple[str, str]]:
    """What training found in each column, where the model keeps it."""
    for name, levels in model.levels.items():
        yield (
            name,
            f"{format_quantity(len(levels), 'level')}: {_list_values(list(map(format_value, levels[:MAX_LEVELS])), len(levels))}",
        )
    if hasattr(model, "distributions"):
        for part in model.distributions:
            name = part.part.names[0]
            if name not in model.levels and part.describe():
                yield name, part.describe().replace("means ", "mean of each class ", 1)
    elif hasattr(model, "terms"):
        for block, term in zip(model.schema.column_groups, model.terms, strict=True):
            if not block.kind.shares_block and block.names[0] not in model.levels:
                yield block.names[0], format_quantity(len(term.features().names), "feature")


def _list_values(values: list[str], total: int) -> str:
    told = ", ".join(truncate(value, 24) for value in values)
    return told if total <= len(values) else f"{told} …"
