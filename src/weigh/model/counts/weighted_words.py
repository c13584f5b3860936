"""Exact sums of the values of weighted words per class, with document frequencies.

A text adds to its class the value of each word without its idf: the count or 1 + ln(count), divided by the
norm over the text and rounded to a multiple of 2⁻³². Sums of such values are integers, so they add and
subtract exactly. The idf is applied to the sums when the model is built.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.features.blocks import Floats, Longs
from weigh.features.names import NameArray
from weigh.features.term_weighting import FIXED_POINT_SCALE, TermWeighting
from weigh.features.text_kinds import BagOfWordsKind
from weigh.immutable import ImmutablePart, read_only
from weigh.model.counts.count_table import (
    CountArray,
    RowClasses,
    WordCountTable,
    align_rows,
    read_counts_array,
    to_integers_if_whole,
)
from weigh.model.file import store

MAX_SUM = 2**63 - 1


@dataclass(frozen=True, eq=False)
class WeightedWordTable(ImmutablePart):
    """Sums [classes, words] in units of 2⁻³², the texts that contain each word [words], and all texts [1].

    It has the operations of `WordCountTable`. `table` are the sums times the idf.
    """

    kind: BagOfWordsKind
    names: NameArray
    sums: CountArray
    documents: CountArray
    known: CountArray
    fixed: bool = False  # as in WordCountTable

    @property
    def is_hashed(self) -> bool:
        """Whether words are hashed into buckets."""
        return self.kind.buckets is not None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.sums)

    @property
    def frequencies(self) -> CountArray:
        """The counts [1, words] by which a vocabulary is pruned: texts that contain each word."""
        return self.documents[None, :]

    @cached_property
    def weighting(self) -> TermWeighting:
        """The weighting that gives a text the values whose sums these are."""
        weighting = TermWeighting.from_kind(self.kind, self.documents, self.known[0].item())
        return replace(weighting, normalises_first=True)

    @cached_property
    @read_only
    def table(self) -> Floats:
        """The sums of the values [classes, words], with idf."""
        values = self.sums / FIXED_POINT_SCALE
        return values if self.weighting.idf is None else values * self.weighting.idf

    def plus(self, other: WeightedWordTable, sign: int = 1) -> WeightedWordTable:
        """Return the sum or difference of two tables over the same classes."""
        if int(self.sums.max(initial=0)) + int(other.sums.max(initial=0)) > MAX_SUM:
            raise sum_overflow_error()
        sums, texts = self._as_counts("sums"), self._as_counts("documents")
        sums = sums.plus(other._as_counts("sums"), sign)
        texts = texts.plus(other._as_counts("documents"), sign)
        known = self.known + sign * other.known
        return WeightedWordTable(self.kind, sums.names, sums.table, texts.table[0], known)

    def _as_counts(self, field: str) -> WordCountTable:
        table = self.sums if field == "sums" else self.frequencies
        return WordCountTable(self.names, table, self.is_hashed)

    def align_classes(self, indices: Longs, n_classes: int) -> WeightedWordTable:
        """Return the table with class c moved to row indices[c] of `n_classes` rows."""
        return replace(self, sums=align_rows(self.sums, indices, n_classes))

    def select_classes(self, classes: Longs) -> WeightedWordTable:
        """Return the table restricted to the given classes, in this order."""
        return replace(self, sums=self.sums[classes])

    def canonical(self) -> WeightedWordTable:
        """Return the canonical form: words without sums dropped, empty buckets without a name."""
        used = np.asarray(self.sums.any(axis=0))
        kept = WordCountTable(self.names, used[None, :].astype(np.int64), self.is_hashed).canonical()
        sums, documents = self.sums, self.documents
        if not self.is_hashed:
            sums, documents = sums[:, used], documents[used]
        return WeightedWordTable(
            self.kind,
            kept.names,
            np.ascontiguousarray(sums),
            to_integers_if_whole(documents),
            to_integers_if_whole(self.known),
        )

    def minimum(self) -> float:
        """Return the smallest number; it is negative if more was subtracted than added."""
        return float(min(part.min(initial=0) for part in (self.sums, self.documents, self.known)))

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any], key: str) -> None:
        """Add the table to the content of a model file."""
        arrays[f"{key}.sums"], arrays[f"{key}.documents"] = self.sums, self.documents
        arrays[f"{key}.known"] = self.known
        store.write_packed_names(arrays, meta, f"{key}.names", self.names)

    @classmethod
    def read_arrays(
        cls, stored: store.FileContent, key: str, n_classes: int, kind: BagOfWordsKind
    ) -> WeightedWordTable:
        """Read the table that `write_arrays` added."""
        names = store.read_packed_names(stored, f"{key}.names")
        if not (names.are_sorted if kind.buckets is None else len(names) == kind.buckets):
            raise store.damaged_file_error(stored.path, f"its list of names {key!r} is not in order")
        sums = store.read_array(stored, f"{key}.sums", (n_classes, len(names)), [np.int64])
        documents = read_counts_array(stored, f"{key}.documents", (len(names),))
        known = read_counts_array(stored, f"{key}.known", (1,))
        if sums.min(initial=0) < 0 or (documents > known[0] * (1 + 1e-9)).any():
            raise store.damaged_file_error(stored.path, f"its table {key!r} holds impossible sums")
        return cls(kind, names, sums, documents, known)


class WeightedWordCounter:
    """Counter for weighted words: the native code tokenises, weighs and sums in one pass."""

    def __init__(self, kind: BagOfWordsKind) -> None:
        self._kind = kind
        self._native = _core.WeightedWordCounts(
            kind.token_settings, kind.buckets or 0, kind.takes_logs, kind.norm or "none"
        )
        self._known: CountArray = np.zeros(1, dtype=np.int64)  # texts that are not missing

    def add(self, block: Any, by: RowClasses) -> None:
        """Add the values of a block's words."""
        try:
            self._native.add(block.documents, by.classes, by.n_classes, by.weights)
        except OverflowError as cause:
            raise sum_overflow_error() from cause
        self._known = self._known + by.class_totals(block.known).sum()

    def merge(self, other: WeightedWordCounter, class_indices: Longs, n_classes: int) -> None:
        """Add the sums of another counter."""
        try:
            self._native.merge(other._native, class_indices, n_classes)
        except OverflowError as cause:
            raise sum_overflow_error() from cause
        self._known = self._known + other._known

    def counts(self, class_indices: Longs) -> WeightedWordTable:
        """Return the sums with class c moved to class_indices[c]."""
        text, offsets, sums, documents = self._native.table(class_indices)
        return WeightedWordTable(
            self._kind, NameArray(text, offsets), sums, to_integers_if_whole(documents), self._known
        )


def sum_overflow_error() -> errors.DataError:
    """Return the error for sums that leave the range of 64 bits."""
    return errors.DataError(
        "The sums of the values of the words are too large: a word's values may add up to at most "
        "2,147,483,647 in a class. Divide the sample weights or the counts of the tokens by a number."
    )
