"""Counting again, row by row in plain Python, to check a model that was counted natively.

Nothing here shares code with training: values are read one at a time, kinds mean what their
documentation says, sums are fractions. It is slow and simple on purpose.
"""

from __future__ import annotations

import bisect
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from weigh.features import Kind, Number, Part, Schema, Text, Tokens
from weigh.features.columns import bin_names
from weigh.source import Chunk, Source

Count = Fraction | int
Cell = tuple[str, Any, Any]  # what is counted, in which class, of which name

ROWS = "rows"
KNOWN = "known"
SUM = "sum"
SQUARES = "sum of squares"


class Recount:
    """The counts of all rows: of the classes, and of each part of a schema.

    `parts[k]` maps (what, class, name) to a count: what is "count" for levels, words and flags,
    "known" for values that were there, "sum" and "sum of squares" for numbers.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.n_rows = 0
        self.classes: Counter[Any] = Counter()
        self.parts: list[defaultdict[Cell, Count]] = [defaultdict(int) for _ in schema.parts]

    def read(self, source: Source) -> Recount:
        """Count every row of a source."""
        for chunk in self.schema.chunks(source):
            self._add(chunk)
        return self

    def _add(self, chunk: Chunk) -> None:
        labels = values_of(chunk.labels)
        weights = [1] * chunk.n_rows if chunk.weights is None else list(map(_weight, chunk.weights.tolist()))
        self.n_rows += chunk.n_rows
        for label, weight in zip(labels, weights, strict=True):
            self.classes[label] += weight
        for part, counts in zip(self.schema.parts, self.parts, strict=True):
            if chunk.wide is not None:
                cells = _wide_cells(part, chunk.wide)
            else:
                columns = [values_of(chunk.columns[name]) for name in part.names]
                cells = _part_cells(part, columns, frozenset(self.schema.missing))
            for row, what, name, amount in cells:
                counts[what, labels[row], name] += weights[row] * amount


def values_of(column: Any) -> list[Any]:
    """A column's values as Python objects."""
    if column is None:
        return []
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column.tolist())


def _weight(weight: float) -> Count:
    return int(weight) if weight.is_integer() else Fraction(weight)


def _is_missing(value: Any, markers: frozenset[str]) -> bool:
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return (isinstance(value, float) and math.isnan(value)) or (isinstance(value, str) and value in markers)


def _part_cells(
    part: Part, columns: Sequence[list[Any]], markers: frozenset[str]
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
    elif isinstance(kind, Text | Tokens):
        words = text_words(value, kind) if isinstance(kind, Text) else list(value)
        if not kind.counts:
            yield KNOWN, "", 1
        for word in words if kind.counts else set(words):
            yield "count", word, 1
    elif kind.name == "flag":
        yield KNOWN, name, 1
        if float(value) > 0:
            yield "count", name, 1
    elif kind.name == "count":
        yield "count", name, Fraction(float(value))
    else:
        yield "count", _level(value), 1


def _number(kind: Number, value: float) -> Iterator[tuple[str, Any, Count]]:
    if isinstance(kind.bins, tuple):
        yield "count", bin_names(kind.bins)[bisect.bisect_left(kind.bins, value)], 1
        return
    exact = Fraction(value)
    yield KNOWN, "", 1
    yield SUM, "", exact
    yield SQUARES, "", exact * exact


def _level(value: Any) -> Any:
    """A category's value: numbers that are equal are one level, whatever their type."""
    if isinstance(value, str):
        return str(value)
    number = value.item() if hasattr(value, "item") else value
    return int(number) if float(number).is_integer() else float(number)


def text_words(text: str, kind: Text) -> list[str]:
    """The words of a text: runs of letters, digits and underscores, lower-cased; then n-grams."""
    words = [word for word in _runs(text.lower()) if len(word) >= kind.min_length]
    low, high = kind.ngrams
    return [
        " ".join(words[at : at + length])
        for length in range(low, high + 1)
        for at in range(len(words) - length + 1)
    ]


def _runs(text: str) -> Iterable[str]:
    spaced = "".join(sign if sign.isalnum() or sign == "_" else " " for sign in text)
    return spaced.split(" ")


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
                yield row, "count", name, Fraction(values[at])
            elif values[at] > 0:
                yield row, "count", name, 1
