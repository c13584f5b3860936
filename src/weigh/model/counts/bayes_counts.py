"""Everything naive Bayes counts: rows per class, and each part's counts.

`plus` and `canonical` are the whole of learning: fitting adds chunks, merging adds models,
forgetting takes away. Smoothing never enters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from weigh import _core, errors
from weigh.features import BagOfWordsKind, Block, ColumnGroup, NameArray, Schema
from weigh.features.blocks import Ints, Longs
from weigh.features.columns import encode_column
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
from weigh.source import Chunk
from weigh.source.chunk import is_arrow

PartCounts = CountTable | WordCountTable | FlagCounts | NumberCounts
Label = str | int | float | bool


@dataclass(frozen=True, eq=False)
class BayesCounts:
    """Rows per class and counts per part; `declared` classes stay without any row."""

    classes: list[Label]
    rows: CountArray
    parts: list[Any]
    declared: tuple[Label, ...] = ()

    def plus(self, other: BayesCounts, sign: int = 1) -> BayesCounts:
        """Return the sum or difference; classes are matched by their labels."""
        if other.classes == self.classes:
            first, second = self, other
        else:
            known = set(self.classes)
            classes = self.classes + [label for label in other.classes if label not in known]
            first, second = self._align_classes(classes), other._align_classes(classes)
        parts = [a.plus(b, sign) for a, b in zip(first.parts, second.parts, strict=True)]
        declared = tuple(dict.fromkeys([*self.declared, *(other.declared if sign > 0 else ())]))
        return BayesCounts(first.classes, first.rows + sign * second.rows, parts, declared)

    def _align_classes(self, classes: Sequence[Label]) -> BayesCounts:
        place = {label: at for at, label in enumerate(classes)}
        places: Longs = np.array([place[label] for label in self.classes], dtype=np.int64)
        parts = [part.align_classes(places, len(classes)) for part in self.parts]
        return replace(
            self, classes=list(classes), rows=align_rows(self.rows, places, len(classes)), parts=parts
        )

    def with_declared_classes(self, classes: Iterable[Label]) -> BayesCounts:
        """Return the counts with classes that exist even without rows."""
        declared = sorted({*self.declared, *classes}, key=canonical_order_key)
        known = set(self.classes)
        over = self._align_classes(self.classes + [label for label in declared if label not in known])
        return replace(over, declared=tuple(declared))

    def canonical(self) -> BayesCounts:
        """Return the one form that equal counts have: names sorted, what is empty gone."""
        stay = set(self.declared)
        kept = [at for at, n in enumerate(self.rows.tolist()) if n != 0 or self.classes[at] in stay]
        order: Longs = np.array(
            sorted(kept, key=lambda at: canonical_order_key(self.classes[at])), dtype=np.int64
        )
        parts = [part.select_classes(order).canonical() for part in self.parts]
        declared = tuple(sorted(self.declared, key=canonical_order_key))
        return BayesCounts(
            [self.classes[at] for at in order], to_integers_if_whole(self.rows[order]), parts, declared
        )

    def minimum(self) -> float:
        """Return the smallest of all counts."""
        return float(min([self.rows.min(initial=0), *(part.minimum() for part in self.parts)]))

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the counts to what a model file will hold."""
        store.write_names(arrays, meta, "classes", self.classes)
        store.write_names(arrays, meta, "declared", self.declared)
        arrays["rows"] = self.rows
        for at, part in enumerate(self.parts):
            part.write_arrays(arrays, meta, f"part{at}")

    @classmethod
    def read_arrays(cls, stored: store.FileContent, schema: Schema) -> BayesCounts:
        """Return the counts that `put` added."""
        classes = store.read_distinct_names(stored, "classes")
        rows = read_counts_array(stored, "rows", (len(classes),))
        parts = [
            read_part(stored, part, f"part{at}", len(classes)) for at, part in enumerate(schema.column_groups)
        ]
        return cls(classes, rows, parts, tuple(store.read_distinct_names(stored, "declared")))


def count_part(part: ColumnGroup, block: Block, by: RowClasses) -> PartCounts:
    """Count one block in the way its kind asks for."""
    counted: PartCounts = _COUNT_BY_FAMILY[part.kind.family](part, block, by)
    return counted


def read_part(stored: store.FileContent, part: ColumnGroup, key: str, classes: int) -> PartCounts:
    """Return one part's counts from a model file."""
    kind = part.kind
    if kind.family == "normal":
        return NumberCounts.read_arrays(stored, key, classes)
    at = f"{key}.present" if kind.family == "bernoulli" else key
    counts: CountTable | WordCountTable
    if isinstance(kind, BagOfWordsKind):
        counts = WordCountTable.read_arrays(stored, at, classes, kind.buckets)
    else:
        counts = CountTable.read_arrays(stored, at, classes, part.names if kind.shares_block else None)
    return FlagCounts.read_arrays(stored, key, classes, counts) if kind.family == "bernoulli" else counts


_COUNT_BY_FAMILY: dict[str, Any] = {
    "categorical": lambda part, block, by: CountTable.of_codes(block, by),
    "multinomial": lambda part, block, by: CountTable.of_entries(block, by, part.kind.shares_block),
    "bernoulli": lambda part, block, by: FlagCounts.of(block, by, part.kind.shares_block),
    "normal": lambda part, block, by: NumberCounts.of(block, by),
}


def encode_labels(chunk: Chunk) -> tuple[Ints, list[Label]]:
    """Return the classes of a chunk's rows as codes; a missing label is refused."""
    if chunk.labels is None:
        raise errors.LabelError(
            "There are no labels to learn from. Give the name of the label column, or y: one label per row."
        )
    if is_arrow(chunk.labels) and "list" in str(chunk.labels.type):
        raise errors.multiple_labels_error("lists")
    try:
        codes, values = encode_column(chunk.labels, "label")
    except errors.ColumnError as cause:
        raise errors.multiple_labels_error("values that cannot be compared") from cause
    if (codes < 0).any():
        missing = int((codes < 0).sum())
        first = chunk.first_row + int(np.argmax(codes < 0))
        raise errors.LabelError(
            f"The label is missing in {missing:,} of {chunk.n_rows:,} rows (first: row {first:,}). Leave "
            f"such rows out before fitting."
        )
    labels = [_check_label(value) for value in values]
    # As in the canonical order: booleans, numbers and strings are three sorts of labels.
    if len({canonical_order_key(label)[0] for label in labels}) > 1:
        raise errors.LabelError(
            f"The labels are of several types: {errors.quote_names(labels)}. Give them all as strings, or all as "
            f"whole numbers."
        )
    return codes, labels


def _check_label(value: object) -> Label:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, (str, int, float, bool)):
        return plain
    raise errors.LabelError(
        f"A label is {plain!r}, of type {type(plain).__name__}; labels must be strings, whole numbers or "
        f"booleans, one per row."
    )


MAX_32_BIT_COUNT = 2**32 - 1  # words that are counted in 32 bits before the counts are moved into 64


class PartCounter(Protocol):
    """What gathers the counts of one part; classes are numbers that only ever grow."""

    def add(self, block: Any, by: RowClasses) -> None:
        """Count a block's rows."""

    def join(self, other: Any, places: Longs, classes: int) -> None:
        """Take over the counts of another, whose class c is places[c] among `classes` here."""

    def counts(self, places: Longs) -> PartCounts:
        """Return the counts with class c moved to places[c]."""


class SumCounter:
    """Counts that are small: each block's are added to the sum of those before."""

    def __init__(self, part: ColumnGroup) -> None:
        self._part = part
        self._total: Any = None

    def add(self, block: Block, by: RowClasses) -> None:
        """Count a block's rows."""
        self._add_counts(count_part(self._part, block, by), by.n_classes)

    def join(self, other: SumCounter, places: Longs, classes: int) -> None:
        """Take over the counts of another."""
        if other._total is not None:
            self._add_counts(other._total.align_classes(places, classes), classes)

    def _add_counts(self, counts: Any, classes: int) -> None:
        if self._total is None:
            self._total = counts
            return
        before = self._total
        known = before.n_classes
        if known < classes:
            before = before.align_classes(np.arange(known), classes)
        self._total = before.plus(counts)

    def counts(self, places: Longs) -> PartCounts:
        """Return the counts with class c moved to places[c]."""
        total: PartCounts = self._total
        return total if is_identity(places, len(places)) else total.align_classes(places, len(places))


class WordCounter:
    """Counts of words, which the native code splits and counts in one go."""

    def __init__(self, kind: BagOfWordsKind) -> None:
        self._kind = kind
        self._native = _core.WordCounts(
            kind.token_settings, kind.buckets or 0, not kind.counts, MAX_32_BIT_COUNT
        )
        self._known_rows: CountArray = np.zeros(
            0, dtype=np.int64
        )  # rows of each class that have words at all

    def add(self, block: Any, by: RowClasses) -> None:
        """Count a block's words."""
        self._native.add(block.documents, by.classes, by.n_classes, by.weights)
        if not self._kind.counts:
            self._known_rows = extend_classes(self._known_rows, by.n_classes) + by.class_totals(block.known)

    def join(self, other: WordCounter, places: Longs, classes: int) -> None:
        """Take over the counts of another."""
        self._native.merge(other._native, places, classes)
        self._known_rows = extend_classes(self._known_rows, classes) + align_rows(
            extend_classes(other._known_rows, len(places)), places, classes
        )

    def counts(self, places: Longs) -> PartCounts:
        """Return the counts with class c moved to places[c]."""
        text, offsets, table = self._native.table(places)
        words = WordCountTable(NameArray(text, offsets), table, self._kind.buckets is not None)
        if self._kind.counts:
            return words
        known = extend_classes(self._known_rows, len(places))[:, None]
        return FlagCounts(words, align_rows(known, places, len(places)))


class BayesCounter:
    """Everything naive Bayes counts, gathered chunk by chunk."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._index_by_label: dict[Label, int] = {}
        self._rows: CountArray = np.zeros(0, dtype=np.int64)
        self._parts: list[Any] = [make_part_counter(part) for part in schema.column_groups]

    def add(self, chunk: Chunk) -> None:
        """Count the rows of one chunk."""
        codes, labels = encode_labels(chunk)
        places = self._class_indices(labels)
        if not is_identity(places, len(places)):
            codes = places.astype(np.int32)[codes]
        by = RowClasses(codes, len(self._index_by_label), chunk.weights)
        for counter, block in zip(self._parts, self._schema.encode(chunk), strict=True):
            counter.add(block, by)
        self._rows = extend_classes(self._rows, by.n_classes) + by.class_totals()

    def _class_indices(self, labels: Iterable[Label]) -> Longs:
        found = [self._index_by_label.setdefault(label, len(self._index_by_label)) for label in labels]
        return np.array(found, dtype=np.int64)

    def join(self, other: BayesCounter) -> None:
        """Take over the counts of another."""
        places = self._class_indices(other._index_by_label)
        classes = len(self._index_by_label)
        for counter, joined in zip(self._parts, other._parts, strict=True):
            counter.join(joined, places, classes)
        self._rows = extend_classes(self._rows, classes) + align_rows(other._rows, places, classes)

    def counts(self) -> BayesCounts:
        """Return all counts, the classes in canonical order."""
        classes = sorted(self._index_by_label, key=canonical_order_key)
        rank = {label: at for at, label in enumerate(classes)}
        places = np.array([rank[label] for label in self._index_by_label], dtype=np.int64)
        parts = [counter.counts(places) for counter in self._parts]
        return BayesCounts(classes, align_rows(self._rows, places, len(classes)), parts)


def make_part_counter(part: ColumnGroup) -> PartCounter:
    """Return the counter that suits a part."""
    return WordCounter(part.kind) if isinstance(part.kind, BagOfWordsKind) else SumCounter(part)


def count_rows(chunks: Iterable[Chunk], schema: Schema) -> BayesCounts:
    """Return the counts of some chunks."""
    counter = BayesCounter(schema)
    for chunk in chunks:
        counter.add(chunk)
    return counter.counts()


def extend_classes(table: CountArray, classes: int) -> CountArray:
    """Return counts by class with room for classes that have come since."""
    return np.append(table, np.zeros(classes - len(table), dtype=table.dtype))
