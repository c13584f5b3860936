"""Counters: what gathers the counts of many chunks, each part of a row in its own way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from weigh import _core
from weigh.features import Block, Names, Part, Schema, Wordy
from weigh.features.blocks import Longs
from weigh.model.bayes_counts import BayesCounts, Label, PartCounts, count_part, encode_labels
from weigh.model.counts import FlagCounts
from weigh.model.tally import Counting, Table, is_identity, name_key, placed
from weigh.model.word_tally import WordTally
from weigh.source import Chunk

MOST = 2**32 - 1  # words that are counted in 32 bits before the counts are moved into 64


class PartCounter(Protocol):
    """What gathers the counts of one part; classes are numbers that only ever grow."""

    def add(self, block: Any, by: Counting) -> None:
        """Count a block's rows."""

    def join(self, other: Any, places: Longs, classes: int) -> None:
        """Take over the counts of another, whose class c is places[c] among `classes` here."""

    def counts(self, places: Longs) -> PartCounts:
        """Return the counts with class c moved to places[c]."""


class Summed:
    """Counts that are small: each block's are added to the sum of those before."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._total: Any = None

    def add(self, block: Block, by: Counting) -> None:
        """Count a block's rows."""
        self._plus(count_part(self._part, block, by), by.n_classes)

    def join(self, other: Summed, places: Longs, classes: int) -> None:
        """Take over the counts of another."""
        if other._total is not None:
            self._plus(other._total.placed(places, classes), classes)

    def _plus(self, counts: Any, classes: int) -> None:
        if self._total is None:
            self._total = counts
            return
        before = self._total
        known = before.n_classes
        if known < classes:
            before = before.placed(np.arange(known), classes)
        self._total = before.plus(counts)

    def counts(self, places: Longs) -> PartCounts:
        """Return the counts with class c moved to places[c]."""
        total: PartCounts = self._total
        return total if is_identity(places, len(places)) else total.placed(places, len(places))


class WordCounter:
    """Counts of words, which the native code splits and counts in one go."""

    def __init__(self, kind: Wordy) -> None:
        self._kind = kind
        self._native = _core.WordCounts(kind.splitting, kind.buckets or 0, not kind.counts, MOST)
        self._known: Table = np.zeros(0, dtype=np.int64)  # rows of each class that have words at all

    def add(self, block: Any, by: Counting) -> None:
        """Count a block's words."""
        self._native.add(block.documents, by.classes, by.n_classes, by.weights)
        if not self._kind.counts:
            self._known = grown(self._known, by.n_classes) + by.rows(block.known)

    def join(self, other: WordCounter, places: Longs, classes: int) -> None:
        """Take over the counts of another."""
        self._native.merge(other._native, places, classes)
        self._known = grown(self._known, classes) + placed(grown(other._known, len(places)), places, classes)

    def counts(self, places: Longs) -> PartCounts:
        """Return the counts with class c moved to places[c]."""
        text, offsets, table = self._native.table(places)
        words = WordTally(Names(text, offsets), table, self._kind.buckets is not None)
        if self._kind.counts:
            return words
        known = grown(self._known, len(places))[:, None]
        return FlagCounts(words, placed(known, places, len(places)))


class BayesCounter:
    """Everything naive Bayes counts, gathered chunk by chunk."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._places: dict[Label, int] = {}
        self._rows: Table = np.zeros(0, dtype=np.int64)
        self._parts: list[Any] = [part_counter(part) for part in schema.parts]

    def add(self, chunk: Chunk) -> None:
        """Count the rows of one chunk."""
        codes, labels = encode_labels(chunk)
        places = self._placed(labels)
        if not is_identity(places, len(places)):
            codes = places.astype(np.int32)[codes]
        by = Counting(codes, len(self._places), chunk.weights)
        for counter, block in zip(self._parts, self._schema.encode(chunk), strict=True):
            counter.add(block, by)
        self._rows = grown(self._rows, by.n_classes) + by.rows()

    def _placed(self, labels: Iterable[Label]) -> Longs:
        found = [self._places.setdefault(label, len(self._places)) for label in labels]
        return np.array(found, dtype=np.int64)

    def join(self, other: BayesCounter) -> None:
        """Take over the counts of another."""
        places = self._placed(other._places)
        classes = len(self._places)
        for counter, joined in zip(self._parts, other._parts, strict=True):
            counter.join(joined, places, classes)
        self._rows = grown(self._rows, classes) + placed(other._rows, places, classes)

    def counts(self) -> BayesCounts:
        """Return all counts, the classes in canonical order."""
        classes = sorted(self._places, key=name_key)
        rank = {label: at for at, label in enumerate(classes)}
        places = np.array([rank[label] for label in self._places], dtype=np.int64)
        parts = [counter.counts(places) for counter in self._parts]
        return BayesCounts(classes, placed(self._rows, places, len(classes)), parts)


def part_counter(part: Part) -> PartCounter:
    """Return the counter that suits a part."""
    return WordCounter(part.kind) if isinstance(part.kind, Wordy) else Summed(part)


def count_rows(chunks: Iterable[Chunk], schema: Schema) -> BayesCounts:
    """Return the counts of some chunks."""
    counter = BayesCounter(schema)
    for chunk in chunks:
        counter.add(chunk)
    return counter.counts()


def grown(table: Table, classes: int) -> Table:
    """Return counts by class with room for classes that have come since."""
    return np.append(table, np.zeros(classes - len(table), dtype=table.dtype))
