"""The first fold of a linear model: the classes, and all features, before any row is encoded.

It counts what has no feature until it is seen (levels, words, buckets) and what standardises numbers. The
features are then indexed in their canonical order, so that every worker has the same index, whatever the
partitions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import NumberBlock
from weigh.features.curves import Curve, Pair
from weigh.features.kinds import Kind, Number
from weigh.features.schema import ColumnGroup, Schema
from weigh.features.text_kinds import BagOfWordsKind
from weigh.learn.feature_index import FeatureIndex
from weigh.learn.preprocessing import (
    Preprocessing,
    fit_vocabulary,
    keep_all_words,
    needs_vocabulary,
    standardise,
    to_counted_kind,
)
from weigh.learn.task import Fold
from weigh.model.counts.bayes_counts import Label, encode_labels, make_group_counter, read_group
from weigh.model.counts.count_table import RowClasses, canonical_order_key
from weigh.model.file import store
from weigh.source.chunk import Chunk

_ALL_ROWS: Any = np.zeros(1, dtype=np.int64)  # the class mapping of counts that ignore labels


@dataclass(frozen=True, eq=False)
class FeatureCounts:
    """Rows by label, and by column group the counts from which its features follow.

    `are_binary` says of each number whether it has been 0 or 1 so far.
    """

    n_rows: int
    labels: dict[Label, int]
    parts: dict[int, Any]
    are_binary: dict[int, bool]


class FeatureCounter:
    """Accumulates the counts of chunks."""

    def __init__(self, task: FeatureTask) -> None:
        self._task = task
        self._n_rows = 0
        self._labels: dict[Label, int] = {}
        self._counters = {i: make_group_counter(group) for i, group in task.counted_groups.items()}
        self._are_binary = {i: True for i, group in task.counted_groups.items() if _is_number(group.kind)}

    def add(self, chunk: Chunk) -> None:
        """Count one chunk."""
        if self._task.has_classes:
            codes, labels = encode_labels(chunk)
            for label, n in zip(labels, np.bincount(codes, minlength=len(labels)).tolist(), strict=True):
                if n:
                    self._labels[label] = self._labels.get(label, 0) + n
        by = RowClasses(np.zeros(chunk.n_rows, dtype=np.int32), 1)
        for i, counter in self._counters.items():
            group = self._task.counted_groups[i]
            block: Any = group.kind.encode(chunk.columns, group.names, self._task.schema.missing)
            counter.add(block, by)
            if isinstance(block, NumberBlock) and i in self._are_binary:
                values = block.values
                self._are_binary[i] &= bool(((values == 0) | (values == 1) | np.isnan(values)).all())
        self._n_rows += chunk.n_rows

    def merge(self, other: FeatureCounter) -> None:
        """Raise NotImplementedError: engines merge counts, not counters."""
        raise NotImplementedError

    def counts(self) -> FeatureCounts:
        """Return the counts."""
        parts = {i: counter.counts(_ALL_ROWS).canonical() for i, counter in self._counters.items()}
        return FeatureCounts(self._n_rows, self._labels, parts, self._are_binary)


@dataclass(frozen=True)
class FeatureTask:
    """Counts the features and, with `has_classes`, the labels of all rows."""

    schema: Schema
    has_classes: bool

    @property
    def counted_groups(self) -> dict[int, ColumnGroup]:
        """The column groups whose features are not known from the schema, as they are counted."""
        return {
            i: replace(group, kind=to_counted_kind(group.kind))
            for i, group in enumerate(self.schema.column_groups)
            if not group.kind.shares_block
        }

    def counter(self) -> FeatureCounter:
        """Return an empty counter."""
        return FeatureCounter(self)

    def merge(self, first: FeatureCounts, second: FeatureCounts) -> FeatureCounts:
        """Return the sum of two counts."""
        labels = dict(first.labels)
        for label, n in second.labels.items():
            labels[label] = labels.get(label, 0) + n
        return FeatureCounts(
            first.n_rows + second.n_rows,
            labels,
            {i: part.plus(second.parts[i]) for i, part in first.parts.items()},
            {i: is_binary and second.are_binary[i] for i, is_binary in first.are_binary.items()},
        )

    def write_counts(self, counts: FeatureCounts) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return counts as JSON metadata and arrays."""
        arrays: dict[str, Any] = {"label_counts": np.array([*counts.labels.values()], dtype=np.int64)}
        meta: dict[str, Any] = {
            "rows": counts.n_rows,
            "binary": [i for i, is_binary in counts.are_binary.items() if is_binary],
        }
        store.write_names(arrays, meta, "labels", counts.labels)
        for i, part in counts.parts.items():
            part.canonical().write_arrays(arrays, meta, f"part{i}")
        return meta, arrays

    def read_counts(self, stored: store.FileContent) -> FeatureCounts:
        """Return the counts that `write_counts` wrote."""
        labels = store.read_names(stored, "labels")
        n_of_label = stored.arrays["label_counts"].tolist()
        groups = self.counted_groups
        parts = {i: read_group(stored, group, f"part{i}", 1) for i, group in groups.items()}
        are_binary = {i: i in stored.meta["binary"] for i, group in groups.items() if _is_number(group.kind)}
        return FeatureCounts(
            int(stored.meta["rows"]), dict(zip(labels, n_of_label, strict=True)), parts, are_binary
        )

    def index_features(self, counts: FeatureCounts, *, dense: bool = True) -> FeatureIndex:
        """Return the index of all features, in canonical order."""
        fitted: dict[int, Preprocessing] = {}
        for i, group in enumerate(self.schema.column_groups):
            kind, part = group.kind, counts.parts.get(i)
            if _is_number(kind):
                fitted[i] = standardise(kind, part, counts.n_rows, is_binary=counts.are_binary[i])
            elif needs_vocabulary(kind):
                fitted[i] = fit_vocabulary(kind, part)
            elif isinstance(kind, BagOfWordsKind) and not kind.buckets:
                fitted[i] = keep_all_words(part)
        index = FeatureIndex(self.schema, fitted, dense=dense)
        for i, part in counts.parts.items():
            index.add_counted(i, part)
        return index


def find_features(
    schema: Schema, fold: Fold, *, has_classes: bool, dense: bool = True
) -> tuple[FeatureIndex, dict[Label, int]]:
    """Return the index of all features, and the number of rows of each label in canonical order.

    Reads the rows once, unless all features are known from the schema and there are no classes. With `dense`,
    a single matrix of numbers is kept dense.
    """
    for group in schema.column_groups:
        if isinstance(group.kind, Curve | Pair):
            raise errors.Unsupported(
                f"The curve of column {group.title!r} needs all values of the column in one process.",
                hint="Give the column the kind 'number', or collect the rows.",
            )
    task = FeatureTask(schema, has_classes)
    if not task.counted_groups and not has_classes:
        return FeatureIndex(schema, {}, dense=dense), {}
    counts = fold(task)
    labels = _sorted_labels(counts.labels)
    return task.index_features(counts, dense=dense), {label: counts.labels[label] for label in labels}


def _sorted_labels(labels: Iterable[Label]) -> list[Label]:
    return sorted(labels, key=canonical_order_key)


def _is_number(kind: Kind) -> bool:
    return isinstance(kind, Number) and kind.bins is None
