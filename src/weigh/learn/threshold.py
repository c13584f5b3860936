"""Finding a threshold: the numeric columns are gathered, and the best one is cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Category, Derived, Flag, Kind, Lag, Number, Schema, Skip, infer_schema
from weigh.features.blocks import Floats, Ints
from weigh.features.columns import encode_column, is_missing
from weigh.learn.task import MergingCounter
from weigh.model import ThresholdModel
from weigh.model.counts.bayes_counts import Label, encode_labels
from weigh.model.counts.count_table import CountArray, canonical_order_key, to_integers_if_whole
from weigh.model.threshold import LEFT, MISSING, RIGHT
from weigh.source import Chunk, Source
from weigh.source.base import ChunkReader
from weigh.source.missing import Marker


@dataclass(frozen=True, eq=False)
class NumericChunk:
    """The numbers [columns, rows] of one chunk with classes and weights; rows of no weight are gone."""

    first_row: int
    values: Floats
    codes: Ints
    classes: list[Label]
    weights: Floats | None


@dataclass(frozen=True)
class ThresholdTask:
    """The best single cut over all numeric columns.

    Sorting needs all values, so that, unlike counting, this keeps every numeric column in memory
    while it learns; the model keeps none.
    """

    schema: Schema

    @classmethod
    def for_source(
        cls, source: Source, columns: object = "auto", *, missing: Sequence[Marker] = ()
    ) -> ThresholdTask:
        """Return the task for a source: its numeric columns found, the others left out."""
        if isinstance(columns, str) and columns == "auto" and not source.names:
            columns = Number()
        schema = infer_schema(source, columns, missing=missing)
        first = source.prefix().columns
        if not source.named:
            first = dict(zip(schema.names, first.values(), strict=False))
        given = columns if isinstance(columns, Mapping) else {}
        pairs = zip(schema.names, schema.kinds, strict=True)
        kinds = [_numeric_kind(kind, None if name in given else first.get(name)) for name, kind in pairs]
        schema = replace(schema, kinds=kinds, made=_numeric_derived_columns(schema.made))
        if not schema.column_groups:
            raise errors.DataError(
                f"There is no numeric column to cut; the columns are {errors.quote_names(schema.names)}. Give a "
                f"column of numbers, or use NaiveBayes."
            )
        return cls(schema)

    def chunks(self, source: Source) -> Iterator[Chunk]:
        """Read the source in the schema's names."""
        return self.schema.chunks(source)

    def pieces(self, source: Source) -> Iterator[ChunkReader]:
        """Read the source in the schema's names, leaving the work to whoever calls a piece."""
        return self.schema.chunk_readers(source)

    def count(self, chunk: Chunk) -> list[NumericChunk]:
        """Gather the numbers of one chunk."""
        codes, classes = encode_labels(chunk)
        blocks: list[Any] = self.schema.encode(chunk)
        values, weights = np.array([block.values for block in blocks]), chunk.weights
        if weights is not None and not weights.all():
            kept = weights > 0
            values, codes, weights = values[:, kept], codes[kept], weights[kept]
        return [NumericChunk(chunk.first_row, values, codes, classes, weights)]

    def counter(self) -> MergingCounter[list[NumericChunk]]:
        """Return what gathers the counts of many chunks."""
        return MergingCounter(self.count, self.merge)

    def merge(self, first: list[NumericChunk], second: list[NumericChunk]) -> list[NumericChunk]:
        """Return the numbers of both together."""
        return first + second

    def finish(self, counts: list[NumericChunk]) -> ThresholdModel:
        """Return the model of the best cut; of equally good columns the first."""
        # Whichever thread was faster: rows are taken in their order.
        pieces = sorted(counts, key=lambda piece: piece.first_row)
        classes, codes = _merge_classes(pieces)
        weights = _merge_weights(pieces)
        columns = range(len(pieces[0].values))
        cuts = [
            find_best_split(_concatenate_column(pieces, j), codes, weights, len(classes)) for j in columns
        ]
        least = min(cut.errors for cut in cuts) + (0.0 if weights is None else tie_tolerance(weights))
        j = next(j for j in columns if cuts[j].errors <= least)
        cut, values = cuts[j], _concatenate_column(pieces, j)
        sides = np.where(values <= cut.threshold, LEFT, np.where(np.isnan(values), MISSING, RIGHT))
        counted = np.bincount(sides * len(classes) + codes, weights, 3 * len(classes))
        table = to_integers_if_whole(counted.astype(np.float64).reshape(3, len(classes)))
        return ThresholdModel(
            self._single_column_schema(j), list(classes), cut.threshold, cut.low, cut.high, table
        )

    def _single_column_schema(self, j: int) -> Schema:
        """Return the schema with all columns but one left out."""
        name = self.schema.column_groups[j].names[0]
        pairs = zip(self.schema.names, self.schema.kinds, strict=True)
        kinds = [kind if own == name else Skip() for own, kind in pairs]
        made = {own: kind for own, kind in self.schema.made.items() if own == name}
        return replace(self.schema, kinds=kinds, made=made)


def _numeric_kind(kind: Kind, column: Any) -> Kind:
    """Return a number for a column of numbers, also if they look like codes or flags; else skip it."""
    if isinstance(kind, Number | Flag):
        return Number()
    if isinstance(kind, Category) and column is not None:
        values = [value for value in encode_column(column, "")[1] if not is_missing(value)]
        if all(isinstance(value, int | float) for value in values):
            return Number()
    return Skip()


def _numeric_derived_columns(made: Mapping[str, Kind]) -> dict[str, Kind]:
    """Return the derived columns that are numbers or flags, as numbers."""
    return {
        name: replace(kind, kind=Number())
        for name, kind in made.items()
        if isinstance(kind, Derived | Lag) and isinstance(kind.kind, Number | Flag)
    }


def _merge_classes(pieces: Sequence[NumericChunk]) -> tuple[list[Label], Ints]:
    """Return the classes that occur, in canonical order, and every row's."""
    seen = {piece.classes[code] for piece in pieces for code in np.unique(piece.codes).tolist()}
    classes = sorted(seen, key=canonical_order_key)
    place = {label: at for at, label in enumerate(classes)}
    codes = []
    for piece in pieces:
        lookup = np.array([place.get(label, -1) for label in piece.classes], dtype=np.int32)
        codes.append(lookup[piece.codes])
    return classes, np.concatenate(codes)


def _concatenate_column(pieces: Sequence[NumericChunk], j: int) -> Floats:
    return np.concatenate([piece.values[j] for piece in pieces])


def _merge_weights(pieces: Sequence[NumericChunk]) -> CountArray | None:
    """Return every row's weight, whole numbers as integers, or None if all are one."""
    given = [piece.weights for piece in pieces if piece.weights is not None]
    return to_integers_if_whole(np.concatenate(given)) if given else None


@dataclass(frozen=True)
class StumpSplit:
    """An interval [low, high) between neighbouring values, and the errors of a cut in it."""

    low: float
    high: float
    errors: float

    @property
    def threshold(self) -> float:
        """The middle of the interval; its low end where no number lies between."""
        if not (np.isfinite(self.low) and np.isfinite(self.high)):
            return self.low if np.isfinite(self.low) else 0.0
        # Halves first: the sum of two large numbers may not exist.
        middle = self.low / 2 + self.high / 2
        return middle if self.low < middle < self.high else self.low


def find_best_split(values: Floats, classes: Ints, weights: CountArray | None, n_classes: int) -> StumpSplit:
    """Return the cut with the fewest errors; of several the widest, of several such the lowest.

    Missing values (NaN) count as a third side, with a most frequent class of their own. A column
    without two different values is cut above all of them.
    """
    counted: CountArray = np.ones(len(values), dtype=np.int64) if weights is None else weights
    gaps = np.isnan(values)
    base = counted.sum() - _majority_weight(classes[gaps], counted[gaps], n_classes)
    order = np.argsort(values)[: len(values) - int(gaps.sum())]
    ordered, codes, counted = values[order], classes[order], counted[order]
    ends = np.flatnonzero(ordered[:-1] < ordered[1:])
    if not len(ends):
        low = float(ordered[0]) if len(ordered) else -np.inf
        return StumpSplit(low, np.inf, float(base - _majority_weight(codes, counted, n_classes)))
    left, right = _running_majority_weights(codes, counted)
    errors = base - left[ends] - right[ends + 1]
    widths = ordered[ends + 1] / 2 - ordered[ends] / 2
    near = np.flatnonzero(errors <= errors.min() + tie_tolerance(counted))
    best = int(near[np.argmax(widths[near])])
    low, high = ordered[ends[best]], ordered[ends[best] + 1]
    return StumpSplit(float(low), float(high), float(errors[best]))


def tie_tolerance(weights: CountArray) -> float:
    """Return how far apart sums of these weights may be and still be equal: 0 for whole numbers."""
    return 0.0 if weights.dtype == np.int64 else 1e-9 * float(weights.sum())


def _majority_weight(classes: Ints, weights: CountArray, n_classes: int) -> Any:
    """Return the weight of the most frequent class."""
    return np.bincount(classes, weights, n_classes).max(initial=0)


def _running_majority_weights(classes: Ints, weights: CountArray) -> tuple[CountArray, CountArray]:
    """Return the weight of the most frequent class up to each row, and from each row on.

    A class is the most frequent one at the row where its own count has just grown, so that the
    running maximum over all rows' own counts is enough: no table of rows × classes is needed.
    """
    grouped = np.argsort(classes, kind="stable")
    running = np.cumsum(weights[grouped])
    starts = np.flatnonzero(np.diff(classes[grouped], prepend=-1))
    sizes = np.diff(starts, append=len(classes))
    before = np.repeat(running[starts] - weights[grouped][starts], sizes)
    totals = np.repeat(np.add.reduceat(weights[grouped], starts), sizes)
    up_to, from_on = np.empty_like(weights), np.empty_like(weights)
    up_to[grouped] = running - before
    from_on[grouped] = totals - (running - before) + weights[grouped]
    return np.maximum.accumulate(up_to), np.maximum.accumulate(from_on[::-1])[::-1]
