"""The counts of naive Bayes: rows per class, and the statistics of each column group.

Training needs only `plus` and `canonical`: fitting adds chunks, merging adds models, forgetting subtracts
rows. Smoothing is never stored in the counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Union

import numpy as np
import numpy.typing as npt

from weigh import _core, errors
from weigh.advice import Step
from weigh.features.blocks import Ints, Longs
from weigh.features.columns import encode_column, is_missing
from weigh.features.kinds import Number
from weigh.features.names import NameArray
from weigh.features.schema import ColumnGroup, Schema
from weigh.features.text_kinds import BagOfWordsKind
from weigh.features.words import Block
from weigh.immutable import ImmutablePart
from weigh.model.counts.count_table import (
    CountArray,
    CountTable,
    RowClasses,
    WordCountTable,
    align_rows,
    canonical_order_key,
    is_identity,
    read_counts_array,
    to_integers_if_whole,
)
from weigh.model.counts.sufficient_statistics import FlagCounts, NumberCounts
from weigh.model.file import store
from weigh.source.chunk import Chunk, is_arrow

# Imports inside functions keep what few models need out of the start of a program.
if TYPE_CHECKING:
    from weigh.model.counts.weighted_words import WeightedWordTable

GroupCounts = Union[CountTable, WordCountTable, "WeightedWordTable", FlagCounts, NumberCounts]
Label = str | int | float | bool


@dataclass(frozen=True, eq=False)
class BayesCounts(ImmutablePart):
    """Rows per class, and counts per column group (`parts`); `declared` classes are kept without rows too."""

    classes: list[Label]
    rows: CountArray
    parts: list[Any]
    declared: tuple[Label, ...] = ()

    def plus(self, other: BayesCounts, sign: int = 1) -> BayesCounts:
        """Return the sum, or with sign=-1 the difference; classes are matched by label."""
        if other.classes == self.classes:
            first, second = self, other
        else:
            existing = set(self.classes)
            classes = self.classes + [label for label in other.classes if label not in existing]
            first, second = self._align_classes(classes), other._align_classes(classes)
        parts = [a.plus(b, sign) for a, b in zip(first.parts, second.parts, strict=True)]
        declared = tuple(dict.fromkeys([*self.declared, *(other.declared if sign > 0 else ())]))
        return BayesCounts(first.classes, first.rows + sign * second.rows, parts, declared)

    def _align_classes(self, classes: Sequence[Label]) -> BayesCounts:
        index = {label: i for i, label in enumerate(classes)}
        indices: Longs = np.array([index[label] for label in self.classes], dtype=np.int64)
        parts = [part.align_classes(indices, len(classes)) for part in self.parts]
        rows = align_rows(self.rows, indices, len(classes))
        return replace(self, classes=list(classes), rows=rows, parts=parts)

    def with_declared_classes(self, classes: Iterable[Label]) -> BayesCounts:
        """Return the counts with additional classes that are kept even without rows."""
        declared = sorted({*self.declared, *classes}, key=canonical_order_key)
        existing = set(self.classes)
        extended = self._align_classes(self.classes + [label for label in declared if label not in existing])
        return replace(extended, declared=tuple(declared))

    def canonical(self) -> BayesCounts:
        """Return the canonical form: names sorted, empty classes, levels and words removed."""
        persistent = set(self.declared)
        kept = [c for c, n in enumerate(self.rows.tolist()) if n != 0 or self.classes[c] in persistent]
        order: Longs = np.array(
            sorted(kept, key=lambda c: canonical_order_key(self.classes[c])), dtype=np.int64
        )
        parts = [part.select_classes(order).canonical() for part in self.parts]
        declared = tuple(sorted(self.declared, key=canonical_order_key))
        classes = [self.classes[c] for c in order]
        return BayesCounts(classes, to_integers_if_whole(self.rows[order]), parts, declared)

    def minimum(self) -> float:
        """Return the smallest count; it is negative if rows were removed that were never added."""
        return float(min([self.rows.min(initial=0), *(part.minimum() for part in self.parts)]))

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the counts to the content of a model file."""
        store.write_names(arrays, meta, "classes", self.classes)
        store.write_names(arrays, meta, "declared", self.declared)
        arrays["rows"] = self.rows
        for i, part in enumerate(self.parts):
            part.write_arrays(arrays, meta, f"part{i}")

    @classmethod
    def read_arrays(cls, stored: store.FileContent, schema: Schema) -> BayesCounts:
        """Read the counts that `write_arrays` added."""
        classes = store.read_distinct_names(stored, "classes")
        rows = read_counts_array(stored, "rows", (len(classes),))
        parts = [
            read_group(stored, group, f"part{i}", len(classes))
            for i, group in enumerate(schema.column_groups)
        ]
        return cls(classes, rows, parts, tuple(store.read_distinct_names(stored, "declared")))


def write_canonical(counts: BayesCounts) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return counts in their canonical form as the metadata and the arrays of a file."""
    meta: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    counts.canonical().write_arrays(arrays, meta)
    return meta, arrays


def count_group(group: ColumnGroup, block: Block, by: RowClasses) -> GroupCounts:
    """Count one block of rows, as the family of its kind requires."""
    counts: GroupCounts = _COUNT_BY_FAMILY[group.kind.family](group, block, by)
    return counts


def read_group(stored: store.FileContent, group: ColumnGroup, key: str, n_classes: int) -> GroupCounts:
    """Read the counts of one column group from a model file."""
    kind = group.kind
    if kind.family == "normal":
        return NumberCounts.read_arrays(stored, key, n_classes, _has_grid(group))
    if isinstance(kind, BagOfWordsKind) and kind.is_weighted:
        from weigh.model.counts.weighted_words import WeightedWordTable

        return WeightedWordTable.read_arrays(stored, key, n_classes, kind)
    table_key = f"{key}.present" if kind.family == "bernoulli" else key
    counts: CountTable | WordCountTable
    if isinstance(kind, BagOfWordsKind):
        counts = WordCountTable.read_arrays(stored, table_key, n_classes, kind.buckets)
    else:
        counts = CountTable.read_arrays(stored, table_key, n_classes, kind, group.names)
    return FlagCounts.read_arrays(stored, key, n_classes, counts) if kind.family == "bernoulli" else counts


_COUNT_BY_FAMILY: dict[str, Any] = {
    "categorical": lambda group, block, by: CountTable.from_codes(block, by),
    "multinomial": lambda group, block, by: CountTable.from_sparse(block, by, group.kind.shares_block),
    "bernoulli": lambda group, block, by: FlagCounts.from_block(block, by, group.kind.shares_block),
    "normal": lambda group, block, by: NumberCounts.from_block(block, by, _has_grid(group)),
}


def _has_grid(group: ColumnGroup) -> bool:
    """Whether the numbers of a column are counted on the grid."""
    return isinstance(group.kind, Number) and group.kind.has_grid


def encode_labels(chunk: Chunk, *, allows_fractions: bool = False) -> tuple[Ints, list[Label]]:
    """Return the class code of each row of a chunk, and the labels. A missing label is an error."""
    if chunk.labels is None:
        raise errors.LabelError(
            "There are no labels to learn from. Give the name of the label column, or y: one label per row."
        )
    if is_arrow(chunk.labels) and "list" in str(chunk.labels.type):
        raise errors.multiple_labels_error("lists")
    try:
        codes, values = encode_column(chunk.labels, "")
    except errors.ColumnError as cause:
        raise errors.multiple_labels_error("values that cannot be compared") from cause
    if (codes < 0).any() or any(map(is_missing, values)):
        is_missing_code = np.array([*map(is_missing, values), True])  # the last is that of the code -1
        raise missing_labels_error(chunk, is_missing_code[codes])
    labels = [_check_label(value) for value in values]
    if not allows_fractions:
        _check_discrete(labels)
    # The first part of the key is the type: boolean, number or string.
    if len({canonical_order_key(label)[0] for label in labels}) > 1:
        raise errors.LabelError(
            f"The labels are of several types: {errors.quote_names(labels)}. Give them all as strings, or "
            f"all as numbers."
        )
    return codes, labels


def missing_labels_error(
    chunk: Chunk, is_missing_row: npt.NDArray[np.bool_], note: str = ""
) -> errors.LabelError:
    """Return the error for rows of a chunk without a label."""
    stop = chunk.first_row + chunk.n_rows
    # A chunk does not know how many rows follow it.
    rows = f"rows {chunk.first_row:,} to {stop - 1:,}" if chunk.first_row else f"the first {stop:,} rows"
    first = chunk.first_row + int(np.argmax(is_missing_row))
    return errors.LabelError(
        f"The label is missing{note} in {int(is_missing_row.sum()):,} of {rows} (first: row {first:,}).",
        hint=errors.DROP_MISSING_LABELS,
    )


def _check_discrete(labels: Iterable[Label]) -> None:
    """Raise LabelError if a label is a number that is not whole, with the words of scikit-learn's checks."""
    fraction = next((label for label in labels if isinstance(label, float) and not label.is_integer()), None)
    if fraction is not None:
        raise errors.LabelError(
            f"Unknown label type: continuous. The labels are numbers such as {fraction:g}, and a classifier "
            "would treat each as a class.",
            hint=(
                "To predict numbers, ",
                Step("regression", "use LinearRegression"),
                "; for classes, give the labels as strings.",
            ),
        )


def _check_label(value: object) -> Label:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, (str, int, float, bool)):
        return plain
    raise errors.LabelError(
        f"A label is {plain!r}, of type {type(plain).__name__}; labels must be strings, numbers or "
        f"booleans, one per row."
    )


MAX_32_BIT_COUNT = 2**32 - 1  # the native code counts in 32 bits up to here, then moves to 64 bits


class GroupCounter(Protocol):
    """Accumulates the counts of one column group over chunks. New classes are appended, never reordered."""

    def add(self, block: Any, by: RowClasses) -> None:
        """Count a block's rows."""

    def merge(self, other: Any, class_indices: Longs, n_classes: int) -> None:
        """Add the counts of another counter, whose class c is class_indices[c] of `n_classes` here."""

    def counts(self, class_indices: Longs) -> GroupCounts:
        """Return the counts with class c moved to class_indices[c]."""


class SumCounter:
    """Counter for tables: adds the counts of each block to a running total, which it owns."""

    def __init__(self, group: ColumnGroup) -> None:
        self._group = group
        self._total: Any = None

    def add(self, block: Block, by: RowClasses) -> None:
        """Count a block's rows."""
        is_same_table = self._total is not None and self._total.n_classes == by.n_classes
        if is_same_table and self._group.kind.shares_block:
            self._total = self._total.plus_block(block, by)
        else:
            self._add_counts(count_group(self._group, block, by), by.n_classes)

    def merge(self, other: SumCounter, class_indices: Longs, n_classes: int) -> None:
        """Add the counts of another counter."""
        if other._total is not None:
            self._add_counts(other._total.align_classes(class_indices, n_classes), n_classes)

    def _add_counts(self, counts: Any, n_classes: int) -> None:
        if self._total is None:
            self._total = counts
            return
        total = self._total
        if total.n_classes < n_classes:
            total = total.align_classes(np.arange(total.n_classes), n_classes)
        self._total = total.plus(counts)

    def counts(self, class_indices: Longs) -> GroupCounts:
        """Return the counts with class c moved to class_indices[c]."""
        total: GroupCounts = self._total
        n_classes = len(class_indices)
        return (
            total if is_identity(class_indices, n_classes) else total.align_classes(class_indices, n_classes)
        )


class WordCounter:
    """Counter for words: the native code tokenises and counts in one pass."""

    def __init__(self, kind: BagOfWordsKind) -> None:
        self._kind = kind
        self._native = _core.WordCounts(
            kind.token_settings, kind.buckets or 0, not kind.counts, MAX_32_BIT_COUNT
        )
        self._known_rows: CountArray = np.zeros(0, dtype=np.int64)  # rows per class whose text is not missing

    def add(self, block: Any, by: RowClasses) -> None:
        """Count a block's words."""
        self._native.add(block.documents, by.classes, by.n_classes, by.weights)
        if not self._kind.counts:
            self._known_rows = extend_classes(self._known_rows, by.n_classes) + by.class_totals(block.known)

    def merge(self, other: WordCounter, class_indices: Longs, n_classes: int) -> None:
        """Add the counts of another counter."""
        self._native.merge(other._native, class_indices, n_classes)
        self._known_rows = extend_classes(self._known_rows, n_classes) + align_rows(
            extend_classes(other._known_rows, len(class_indices)), class_indices, n_classes
        )

    def counts(self, class_indices: Longs) -> GroupCounts:
        """Return the counts with class c moved to class_indices[c]."""
        text, offsets, table = self._native.table(class_indices)
        words = WordCountTable(NameArray(text, offsets), table, self._kind.buckets is not None)
        if self._kind.counts:
            return words
        known = extend_classes(self._known_rows, len(class_indices))[:, None]
        return FlagCounts(words, align_rows(known, class_indices, len(class_indices)))


class CountedRows(NamedTuple):
    """The rows of a chunk as they are counted: blocks, and labels[codes[i]] for row i."""

    blocks: list[Block]
    codes: Ints
    labels: list[Label]


class BayesCounter:
    """Accumulates all counts of naive Bayes chunk by chunk."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._index_by_label: dict[Label, int] = {}
        self._rows: CountArray = np.zeros(0, dtype=np.int64)
        self._parts: list[Any] = [make_group_counter(group) for group in schema.column_groups]

    def add(self, chunk: Chunk) -> CountedRows:
        """Count the rows of one chunk and return them as they were counted."""
        codes, labels = encode_labels(chunk)
        counted = CountedRows(self.schema.encode(chunk), codes, labels)
        class_indices = self._class_indices(labels)
        if not is_identity(class_indices, len(class_indices)):
            codes = class_indices.astype(np.int32)[codes]
        by = RowClasses(codes, len(self._index_by_label), chunk.weights)
        for counter, block in zip(self._parts, counted.blocks, strict=True):
            counter.add(block, by)
        self._rows = extend_classes(self._rows, by.n_classes) + by.class_totals()
        return counted

    def _class_indices(self, labels: Iterable[Label]) -> Longs:
        indices = [self._index_by_label.setdefault(label, len(self._index_by_label)) for label in labels]
        return np.array(indices, dtype=np.int64)

    def merge(self, other: BayesCounter) -> None:
        """Add the counts of another counter."""
        class_indices = self._class_indices(other._index_by_label)
        n_classes = len(self._index_by_label)
        for counter, other_counter in zip(self._parts, other._parts, strict=True):
            counter.merge(other_counter, class_indices, n_classes)
        self._rows = extend_classes(self._rows, n_classes) + align_rows(other._rows, class_indices, n_classes)

    def counts(self) -> BayesCounts:
        """Return all counts, with the classes in canonical order."""
        classes = sorted(self._index_by_label, key=canonical_order_key)
        rank = {label: i for i, label in enumerate(classes)}
        class_indices = np.array([rank[label] for label in self._index_by_label], dtype=np.int64)
        parts = [counter.counts(class_indices) for counter in self._parts]
        return BayesCounts(classes, align_rows(self._rows, class_indices, len(classes)), parts)


def make_group_counter(group: ColumnGroup) -> GroupCounter:
    """Return a new counter for a column group."""
    if not isinstance(group.kind, BagOfWordsKind):
        return SumCounter(group)
    if not group.kind.is_weighted:
        return WordCounter(group.kind)
    from weigh.model.counts.weighted_words import WeightedWordCounter

    return WeightedWordCounter(group.kind)


def count_rows(chunks: Iterable[Chunk], schema: Schema) -> BayesCounts:
    """Count the rows of all chunks."""
    counter = BayesCounter(schema)
    for chunk in chunks:
        counter.add(chunk)
    return counter.counts()


def extend_classes(table: CountArray, n_classes: int) -> CountArray:
    """Append zeros for classes that appeared later."""
    return np.append(table, np.zeros(n_classes - len(table), dtype=table.dtype))
