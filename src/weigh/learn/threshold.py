"""The task of the decision stump: collect the numeric columns and find the best single split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Step
from weigh.features.blocks import Floats, Ints, NumberBlock
from weigh.features.columns import encode_column
from weigh.features.columns import is_missing as is_missing_value
from weigh.features.dates.kind import Date, part_name
from weigh.features.inference.schema import infer_schema
from weigh.features.kind_registry import Derived, Lag
from weigh.features.kinds import Category, Flag, Kind, Number, Skip
from weigh.features.row_hashes import add_label_hashes, hash_features
from weigh.features.schema import Schema
from weigh.features.width import check_separate_columns
from weigh.learn.task import MergingCounter
from weigh.model.counts.bayes_counts import Label, encode_labels
from weigh.model.counts.count_table import CountArray, canonical_order_key, to_integers_if_whole
from weigh.model.input_summary import InputSummary
from weigh.model.threshold import LEFT, MISSING, RIGHT, ThresholdModel
from weigh.model.training_rows import TrainingRows
from weigh.parameters.learners import THRESHOLD
from weigh.source.base import Source
from weigh.source.chunk import Chunk


@dataclass(frozen=True, eq=False)
class NumericChunk:
    """The numbers [columns, rows] of one chunk with classes and weights, without rows of zero weight."""

    first_row: int
    values: Floats
    codes: Ints
    classes: list[Label]
    weights: Floats | None


@dataclass(frozen=True)
class ThresholdTask:
    """Finds the best single split over all numeric columns.

    Unlike tasks that count, this keeps every numeric column in memory during training, because the values
    must be sorted.
    """

    schema: Schema

    @classmethod
    def for_source(cls, source: Source, columns: object = "auto", **parameters: Any) -> ThresholdTask:
        """Return the task for a source, with all columns but the numeric ones skipped."""
        hint = "Use fewer columns, or ", Step("naive Bayes", "NaiveBayes"), "."
        check_separate_columns(source.n_entries, source.width, hint)
        if isinstance(columns, str) and columns == "auto" and not source.names:
            columns = Number()
        schema = infer_schema(source, columns, missing=THRESHOLD.check(parameters)["missing"])
        first = schema.first_rows(source).columns
        explicit = columns if isinstance(columns, Mapping) else {}
        pairs = zip(schema.names, schema.kinds, strict=True)
        kinds = [_numeric_kind(kind, None if name in explicit else first.get(name)) for name, kind in pairs]
        schema = replace(schema, kinds=kinds, made=_numeric_derived_columns(schema.made))
        if not schema.column_groups:
            raise errors.DataError(
                f"There is no numeric column to split; the columns are {errors.quote_names(schema.names)}. "
                f"Give a column of numbers, or use NaiveBayes."
            )
        return cls(schema)

    def count(self, chunk: Chunk) -> list[NumericChunk]:
        """Collect the numbers of one chunk."""
        codes, classes = encode_labels(chunk)
        blocks: list[Any] = self.schema.encode(chunk)
        values, weights = np.array([block.values for block in blocks]), chunk.weights
        if weights is not None and not weights.all():
            mask = weights > 0
            values, codes, weights = values[:, mask], codes[mask], weights[mask]
        return [NumericChunk(chunk.first_row, values, codes, classes, weights)]

    def counter(self) -> MergingCounter[list[NumericChunk]]:
        """Return an empty counter."""
        return MergingCounter(self.count, self.merge)

    def merge(self, first: list[NumericChunk], second: list[NumericChunk]) -> list[NumericChunk]:
        """Concatenate two lists of chunks."""
        return first + second

    def finish(self, counts: list[NumericChunk]) -> ThresholdModel:
        """Build the model of the best split; ties go to the first column."""
        # Threads finish in any order; restore the order of the rows.
        chunks = sorted(counts, key=lambda chunk: chunk.first_row)
        classes, codes = _merge_classes(chunks)
        weights = _merge_weights(chunks)
        columns = range(len(chunks[0].values))
        splits = [
            find_best_split(_concatenate_column(chunks, j), codes, weights, len(classes)) for j in columns
        ]
        tolerance = 0.0 if weights is None else tie_tolerance(weights)
        max_errors = min(split.errors for split in splits) + tolerance
        best = next(j for j in columns if splits[j].errors <= max_errors)
        split, values = splits[best], _concatenate_column(chunks, best)
        sides = np.where(values <= split.threshold, LEFT, np.where(np.isnan(values), MISSING, RIGHT))
        table = np.bincount(sides * len(classes) + codes, weights, 3 * len(classes)).astype(np.float64)
        schema = self._single_column_schema(best)
        return ThresholdModel(
            schema,
            list(classes),
            split.threshold,
            split.low,
            split.high,
            to_integers_if_whole(table.reshape(3, len(classes))),
            training_rows=_hash_column(schema, values, classes, codes),
        )

    def _single_column_schema(self, j: int) -> Schema:
        """Return the schema with all columns but one skipped."""
        selected = self.schema.column_groups[j].names[0]
        pairs = zip(self.schema.names, self.schema.kinds, strict=True)
        kinds = [kind if selected in (name, part_name(name, "days")) else Skip() for name, kind in pairs]
        made = {name: kind for name, kind in self.schema.made.items() if name == selected}
        return replace(self.schema, kinds=kinds, made=made)


def _hash_column(schema: Schema, values: Floats, classes: list[Label], codes: Ints) -> TrainingRows:
    """Return the record of the training rows, of which the model reads one column."""
    hashes = hash_features(schema, [NumberBlock(values)], len(values))
    add_label_hashes(classes, codes, hashes)
    return TrainingRows.from_hashes(
        hashes, InputSummary.from_blocks(schema, [NumberBlock(values)], len(values))
    )


def _numeric_kind(kind: Kind, column: Any) -> Kind:
    """Return Number for a column of numbers, including codes and flags, the days of dates, otherwise Skip."""
    if isinstance(kind, Date) and "days" in (kind.parts or ()):
        return replace(kind, parts=("days",), bins=None)
    if isinstance(kind, Number | Flag):
        return Number()
    if isinstance(kind, Category) and column is not None:
        values = [value for value in encode_column(column, "")[1] if not is_missing_value(value)]
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


def _merge_classes(chunks: Sequence[NumericChunk]) -> tuple[list[Label], Ints]:
    """Return the classes that occur, in canonical order, and the codes of all rows."""
    labels = {chunk.classes[code] for chunk in chunks for code in np.unique(chunk.codes).tolist()}
    classes = sorted(labels, key=canonical_order_key)
    index = {label: i for i, label in enumerate(classes)}
    codes = []
    for chunk in chunks:
        new_codes = np.array([index.get(label, -1) for label in chunk.classes], dtype=np.int32)
        codes.append(new_codes[chunk.codes])
    return classes, np.concatenate(codes)


def _concatenate_column(chunks: Sequence[NumericChunk], j: int) -> Floats:
    return np.concatenate([chunk.values[j] for chunk in chunks])


def _merge_weights(chunks: Sequence[NumericChunk]) -> CountArray | None:
    """Return the weights of all rows, as integers if they are whole, or None if there are none."""
    weights = [chunk.weights for chunk in chunks if chunk.weights is not None]
    return to_integers_if_whole(np.concatenate(weights)) if weights else None


@dataclass(frozen=True)
class StumpSplit:
    """An interval [low, high) between neighbouring values, and the weighted errors of a split in it."""

    low: float
    high: float
    errors: float

    @property
    def threshold(self) -> float:
        """The midpoint of the interval, or its lower end if no float lies between."""
        if not (np.isfinite(self.low) and np.isfinite(self.high)):
            return self.low if np.isfinite(self.low) else 0.0
        # low + high could overflow.
        middle = self.low / 2 + self.high / 2
        return middle if self.low < middle < self.high else self.low


def find_best_split(values: Floats, classes: Ints, weights: CountArray | None, n_classes: int) -> StumpSplit:
    """Return the split with the fewest errors; ties go to the widest interval, then to the lowest.

    Missing values (NaN) form a third side that predicts its own majority class. A column with fewer than two
    distinct values is split above all of them.
    """
    w: CountArray = np.ones(len(values), dtype=np.int64) if weights is None else weights
    is_missing = np.isnan(values)
    base = w.sum() - _majority_weight(classes[is_missing], w[is_missing], n_classes)
    order = np.argsort(values)[: len(values) - int(is_missing.sum())]
    ordered, codes, w = values[order], classes[order], w[order]
    ends = np.flatnonzero(ordered[:-1] < ordered[1:])
    if not len(ends):
        low = float(ordered[0]) if len(ordered) else -np.inf
        return StumpSplit(low, np.inf, float(base - _majority_weight(codes, w, n_classes)))
    left, right = _running_majority_weights(codes, w)
    errors = base - left[ends] - right[ends + 1]
    half_widths = ordered[ends + 1] / 2 - ordered[ends] / 2
    tied = np.flatnonzero(errors <= errors.min() + tie_tolerance(w))
    best = int(tied[np.argmax(half_widths[tied])])
    low, high = ordered[ends[best]], ordered[ends[best] + 1]
    return StumpSplit(float(low), float(high), float(errors[best]))


def tie_tolerance(weights: CountArray) -> float:
    """Return the rounding tolerance for comparing sums of weights: 0 for integers."""
    return 0.0 if weights.dtype == np.int64 else 1e-9 * float(weights.sum())


def _majority_weight(classes: Ints, weights: CountArray, n_classes: int) -> Any:
    """Return the weight of the most frequent class."""
    return np.bincount(classes, weights, n_classes).max(initial=0)


def _running_majority_weights(classes: Ints, weights: CountArray) -> tuple[CountArray, CountArray]:
    """Return the weight of the majority class among the rows up to each row, and from each row on.

    The majority weight grows only at rows of the majority class, so it is the running maximum of each row's
    cumulative weight within its own class. No table [rows, classes] is needed.
    """
    grouped = np.argsort(classes, kind="stable")
    running = np.cumsum(weights[grouped])
    starts = np.flatnonzero(np.diff(classes[grouped], prepend=-1))
    sizes = np.diff(starts, append=len(classes))
    before = np.repeat(running[starts] - weights[grouped][starts], sizes)
    totals = np.repeat(np.add.reduceat(weights[grouped], starts), sizes)
    prefix, suffix = np.empty_like(weights), np.empty_like(weights)
    prefix[grouped] = running - before
    suffix[grouped] = totals - (running - before) + weights[grouped]
    return np.maximum.accumulate(prefix), np.maximum.accumulate(suffix[::-1])[::-1]
