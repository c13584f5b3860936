"""Counting again, row by row in plain Python, to check a model that was counted natively.

Nothing here shares code with training: values are read one at a time, kinds mean what their
documentation says, sums are fractions. It is slow and simple on purpose.
"""

from __future__ import annotations

import bisect
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from weigh.features import Kind, Number, Part, Schema, Text, Wordy
from weigh.features.columns import bin_names, readable
from weigh.judge.verifying.splitting import bucket_of, text_words
from weigh.source import Chunk, Source
from weigh.source.chunk import to_pylist

Count = Any  # int, or Fraction where a value or a weight is not whole
Cell = tuple[str, Any, Any]  # what is counted, in which class, of which name

COUNT = "count"
KNOWN = "known"
SUM = "sum"
SQUARES = "sum of squares"


class Recount:
    """The counts of all rows: of the classes, and of each part of a schema.

    `parts[k]` maps (what, class, name) to a count: what is "count" for levels, words and flags,
    "known" for values that were there, "sum" and "sum of squares" for numbers. With `together`,
    whole rows are counted instead: see `rows_together`.
    """

    def __init__(self, schema: Schema, *, together: bool = False) -> None:
        self.schema = schema
        self.n_rows = 0
        self.classes: dict[Any, Count] = defaultdict(int)
        self.parts: list[dict[Cell, Count]] = [defaultdict(int) for _ in schema.parts]
        self._together = together
        self._rows: dict[Cell, Count] = defaultdict(int)

    def read(self, source: Source) -> Recount:
        """Count every row of a source."""
        for chunk in self.schema.chunks(source):
            labels = to_pylist(chunk.labels)
            given = [1.0] * chunk.n_rows if chunk.weights is None else chunk.weights.tolist()
            weights = [int(weight) if weight.is_integer() else Fraction(weight) for weight in given]
            self.n_rows += chunk.n_rows
            for label, weight in zip(labels, weights, strict=True):
                self.classes[label] += weight
            add = self._add_rows if self._together else self._add
            add(chunk, labels, weights)
        return self

    def rows_together(self) -> Mapping[Cell, Count]:
        """How often each whole row occurred: ("count", class, (value, ...)), None where missing."""
        return self._rows

    def _add(self, chunk: Chunk, labels: list[Any], weights: list[Count]) -> None:
        for part, counts in zip(self.schema.parts, self.parts, strict=True):
            if chunk.wide is not None:
                cells = _wide_cells(part, chunk.wide)
            else:
                columns = [readable(chunk.columns[name], name, to_pylist) for name in part.names]
                cells = _part_cells(part, columns, frozenset(self.schema.missing))
            for row, what, name, amount in cells:
                counts[what, labels[row], name] += weights[row] * amount

    def _add_rows(self, chunk: Chunk, labels: list[Any], weights: list[Count]) -> None:
        markers = frozenset(self.schema.missing)
        kinds = {name: part.kind for part in self.schema.parts for name in part.names}
        dense = None if chunk.wide is None else chunk.wide.toarray()
        columns = []
        for at, name in enumerate([*self.schema.names, *self.schema.made]):
            if name in kinds:
                column = to_pylist(chunk.columns[name] if dense is None else dense[:, at])
                columns.append(
                    [None if _is_missing(v, markers) else _level_of(kinds[name], v) for v in column]
                )
        for label, weight, *row in zip(labels, weights, *columns, strict=True):
            self._rows[COUNT, label, tuple(row)] += weight


def _is_missing(value: Any, markers: frozenset[Any]) -> bool:
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(value, float) and math.isnan(value):
        return True
    return isinstance(value, str | int | float) and value in markers


def _part_cells(
    part: Part, columns: Sequence[list[Any]], markers: frozenset[Any]
) -> Iterator[tuple[int, str, Any, Count]]:
    """Yield (row, what, name, amount) for every value that is there."""
    for name, column in zip(part.names, columns, strict=True):
        for row, value in enumerate(column):
            if not _is_missing(value, markers):
                for what, key, amount in _meaning(part.kind, name, value):
                    yield row, what, key, amount


def _meaning(kind: Kind, name: str, value: Any) -> Iterator[tuple[str, Any, Count]]:
    """Yield what one value adds to the counts, by what its kind means."""
    if isinstance(kind, Number):
        yield from _number(kind, float(value))
    elif isinstance(kind, Wordy):
        yield from _word_counts(kind, value)
    elif kind.name == "flag":
        yield KNOWN, name, 1
        if float(value) > 0:
            yield COUNT, name, 1
    elif kind.name == "count":
        yield COUNT, name, Fraction(float(value))
    else:
        yield COUNT, _level(value), 1


def _word_counts(kind: Wordy, value: Any) -> Iterator[tuple[str, Any, Count]]:
    if isinstance(value, dict):
        amounts: list[tuple[str, Count]] = [(w, Fraction(amount)) for w, amount in value.items() if amount]
    else:
        words = text_words(value, kind) if isinstance(kind, Text) else list(value)
        amounts = [(word, 1) for word in words]
    named = [(bucket_of(word, kind.buckets) if kind.buckets else word, amount) for word, amount in amounts]
    if not kind.counts:
        yield KNOWN, "", 1
        named = [(name, 1) for name in {name for name, _ in named}]
    for name, amount in named:
        yield COUNT, name, amount


def _number(kind: Number, value: float) -> Iterator[tuple[str, Any, Count]]:
    if isinstance(kind.bins, tuple):
        yield COUNT, bin_names(kind.bins)[bisect.bisect_left(kind.bins, value)], 1
        return
    exact = Fraction(value)
    yield KNOWN, "", 1
    yield SUM, "", exact
    yield SQUARES, "", exact * exact


def _level_of(kind: Kind, value: Any) -> Any:
    """What a value is in a table of whole rows: a level, a bin, a flag's 0 or 1, or a number."""
    if isinstance(kind, Number):
        number = float(value)
        cuts = kind.bins
        return bin_names(cuts)[bisect.bisect_left(cuts, number)] if isinstance(cuts, tuple) else number
    return int(float(value) > 0) if kind.name == "flag" else _level(value)


def _level(value: Any) -> Any:
    """A category's value: numbers that are equal are one level, whatever their type."""
    if isinstance(value, str):
        return str(value)
    number = value.item() if hasattr(value, "item") else value
    return int(number) if float(number).is_integer() else float(number)


def _wide_cells(part: Part, wide: Any) -> Iterator[tuple[int, str, Any, Count]]:
    """Yield the cells of a sparse matrix of flags or counts; what is not stored is zero."""
    starts, columns, values = (array.tolist() for array in (wide.indptr, wide.indices, wide.data))
    is_flag = part.kind.name == "flag"
    for row in range(wide.shape[0]):
        if is_flag:
            yield row, KNOWN, "", 1
        for at in range(starts[row], starts[row + 1]):
            name = part.names[columns[at]]
            if not is_flag:
                yield row, COUNT, name, Fraction(values[at])
            elif values[at] > 0:
                yield row, COUNT, name, 1
