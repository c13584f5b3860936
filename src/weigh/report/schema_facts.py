"""The columns: what the model was trained on, and what the rows of the report hold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.model.weights import as_text
from weigh.report.facts import NOTHING
from weigh.report.wording import share
from weigh.source import rows as rows_of
from weigh.source.chunk import Column, to_pylist
from weigh.text import counted, cut, short

NAME = 120
MOST = 200  # columns that are told
NOT_KEPT = "not kept by the model"
KINDS = {"value": "number"}  # what a kind of column is called to people
LEVELS = 6  # values of a column that are named
DISTINCT = 10_000  # values of a column that are told apart


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


class _Seen:
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
            elif len(self.values) < DISTINCT or as_text(value) in self.values:
                self.values[as_text(value)] = self.values.get(as_text(value), 0) + 1

    def told(self) -> str:
        """What was seen, in a few words."""
        if self.low <= self.high:
            mean = self.total / (self.n - self.missing)
            return f"mean {short(mean)}, from {short(self.low)} to {short(self.high)}"
        if not self.values:
            return NOTHING
        many = (
            f"{DISTINCT:,} values or more"
            if len(self.values) >= DISTINCT
            else counted(len(self.values), "value")
        )
        first = sorted(self.values, key=lambda value: -self.values[value])[:LEVELS]
        return f"{many}: {_named(first, len(self.values))}"


def schema_facts(model: Any, data: Any, training: Any = None) -> SchemaFacts | None:
    """Tell the columns of a model of this library and of the rows; None for others' models.

    What the model does not keep of its training rows is told of the rows given as such, if any were.
    """
    schema = getattr(model, "schema", None)
    if schema is None:
        return None
    trained = dict(_trained(model))
    seen = {} if schema.is_wide else _given(model, data)
    before = {} if schema.is_wide or training is None else _given(model, training)
    pairs = [*zip(schema.names[:MOST], schema.kinds[:MOST], strict=True), *schema.made.items()]
    nothing = _Seen()
    columns = []
    for name, kind in pairs:
        found = seen.get(name, nothing)
        missing = share(found.missing / found.n) if found.n and found.missing else NOTHING
        learned = trained.get(name) or (before[name].told() if name in before else NOT_KEPT)
        named = KINDS.get(kind.name, kind.name)
        columns.append(ColumnFact(cut(name, NAME), named, learned, found.told(), missing))
    return SchemaFacts(tuple(columns), len(schema.names) + len(schema.made))


def _given(model: Any, data: Any) -> dict[str, _Seen]:
    wanted = set(model.schema.names[:MOST])
    seen: dict[str, _Seen] = {}
    source = rows_of(data, missing=model.schema.missing).stored(model.storage)
    for chunk in model.schema.chunks(source):
        for name, column in chunk.columns.items():
            if name in wanted:
                seen.setdefault(name, _Seen()).add(column)
    return seen


def _trained(model: Any) -> Iterator[tuple[str, str]]:
    """What training found in each column, where the model keeps it."""
    for name, levels in model.levels.items():
        yield (
            name,
            f"{counted(len(levels), 'level')}: {_named(list(map(as_text, levels[:LEVELS])), len(levels))}",
        )
    if hasattr(model, "distributions"):
        for part in model.distributions:
            name = part.part.names[0]
            if name not in model.levels and part.found():
                yield name, part.found().replace("means ", "mean of each class ", 1)
    elif hasattr(model, "terms"):
        for block, term in zip(model.schema.parts, model.terms, strict=True):
            if not block.kind.gathers and block.names[0] not in model.levels:
                yield block.names[0], counted(len(term.features().names), "feature")


def _named(values: list[str], total: int) -> str:
    told = ", ".join(cut(value, 24) for value in values)
    return told if total <= len(values) else f"{told} …"
