"""Facts about the columns: in training, and in the rows of the report."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from weigh.model.distributions.weights import format_value
from weigh.report.facts import EMPTY_CELL, format_share
from weigh.source.chunk import Column, to_pylist
from weigh.source.memory.table import rows as rows_of
from weigh.text import format_float, format_quantity, truncate

MAX_NAME_LENGTH = 120
MAX_COLUMNS = 200
NOT_KEPT = "not stored in the model"
KIND_TITLES = {"value": "number"}
MAX_LEVELS = 6  # values listed per column
MAX_DISTINCT_VALUES = 10_000  # values counted per column


@dataclass(frozen=True)
class ColumnFact:
    """A column: its kind, its values in training, and its values in the rows of the report."""

    name: str
    kind: str
    trained: str
    given: str
    missing: str


@dataclass(frozen=True)
class SchemaFacts:
    """The first columns, and the number of all columns."""

    columns: tuple[ColumnFact, ...]
    n_columns: int


class _ColumnStatistics:
    """Statistics of one column, accumulated chunk by chunk."""

    def __init__(self) -> None:
        self.n = 0
        self.missing = 0
        self.low, self.high = math.inf, -math.inf
        self.total = 0.0
        self.values: dict[str, int] = {}

    def add(self, column: Column) -> None:
        """Add the values of a chunk."""
        self.n += len(column)
        if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
            finite = column[np.isfinite(column)]
            self.missing += len(column) - len(finite)
            if len(finite):
                self.total += float(finite.sum(dtype=np.float64))
                self.low = min(self.low, float(finite.min()))
                self.high = max(self.high, float(finite.max()))
            return
        for value in to_pylist(column):
            if value is None:
                self.missing += 1
            elif len(self.values) < MAX_DISTINCT_VALUES or format_value(value) in self.values:
                self.values[format_value(value)] = self.values.get(format_value(value), 0) + 1

    def to_text(self) -> str:
        """Return a short description of the values."""
        if self.low <= self.high:
            mean = self.total / (self.n - self.missing)
            return f"mean {format_float(mean)}, from {format_float(self.low)} to {format_float(self.high)}"
        if not self.values:
            return EMPTY_CELL
        count = (
            f"{MAX_DISTINCT_VALUES:,} values or more"
            if len(self.values) >= MAX_DISTINCT_VALUES
            else format_quantity(len(self.values), "value")
        )
        first = sorted(self.values, key=lambda value: -self.values[value])[:MAX_LEVELS]
        return f"{count}: {_list_values(first, len(self.values))}"


def schema_facts(model: Any, data: Any, training: Any = None) -> SchemaFacts | None:
    """Describe the columns of a model of this library and of the rows; None for other models.

    What the model does not store about its training rows comes from `training`, if it is passed.
    """
    schema = getattr(model, "schema", None)
    if schema is None:
        return None
    stored = dict(_training_descriptions(model))
    current = {} if schema.accepts_sparse else _column_statistics(model, data)
    trained = {} if schema.accepts_sparse or training is None else _column_statistics(model, training)
    pairs = [*islice(schema.described_columns(), MAX_COLUMNS), *schema.made.items()]
    empty = _ColumnStatistics()
    columns = []
    for name, kind in pairs:
        statistics = current.get(name, empty)
        has_missing = statistics.n and statistics.missing
        columns.append(
            ColumnFact(
                name=truncate(name, MAX_NAME_LENGTH),
                kind=KIND_TITLES.get(kind.name, kind.name),
                trained=stored.get(name) or (trained[name].to_text() if name in trained else NOT_KEPT),
                given=statistics.to_text(),
                missing=format_share(statistics.missing / statistics.n) if has_missing else EMPTY_CELL,
            )
        )
    n_parts = sum(len(date.parts) for date in schema.dates.values())
    return SchemaFacts(tuple(columns), len(schema.names) + n_parts + len(schema.made))


def _column_statistics(model: Any, data: Any) -> dict[str, _ColumnStatistics]:
    shown = {name for name, _ in islice(model.schema.described_columns(), MAX_COLUMNS)}
    statistics: dict[str, _ColumnStatistics] = {}
    source = rows_of(data, missing=model.schema.missing).with_storage(model.storage)
    for chunk in model.schema.chunks(source):
        for name, column in chunk.columns.items():
            if name in shown:
                statistics.setdefault(name, _ColumnStatistics()).add(column)
    return statistics


def _training_descriptions(model: Any) -> Iterator[tuple[str, str]]:
    """Yield what the model stores about each column in training."""
    for name, date in model.schema.dates.items():
        yield name, format_quantity(len(date.parts), "part")
    for name, levels in model.levels.items():
        values = _list_values(list(map(format_value, levels[:MAX_LEVELS])), len(levels))
        yield name, f"{format_quantity(len(levels), 'level')}: {values}"
    if hasattr(model, "distributions"):
        for part in model.distributions:
            name = part.part.names[0]
            if name not in model.levels and part.describe():
                yield name, part.describe().replace("means ", "class means ", 1)
    elif hasattr(model, "terms"):
        for block, term in zip(model.schema.column_groups, model.terms, strict=True):
            if not block.kind.shares_block and block.names[0] not in model.levels:
                yield block.names[0], format_quantity(len(term.features().names), "feature")


def _list_values(values: list[str], total: int) -> str:
    text = ", ".join(truncate(value, 24) for value in values)
    return text if total <= len(values) else f"{text} …"
