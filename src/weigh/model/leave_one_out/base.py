"""Rows that are left out one at a time, and the vocabulary that remains without each of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property, singledispatch
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats, Ints, Longs, Mask
from weigh.features.text_kinds import BagOfWordsKind
from weigh.model.counts.count_table import CountArray, select_vocabulary
from weigh.model.distributions.word_weights import VocabularyLookup, VocabularyWeights
from weigh.source.sparse_rows import SparseRows


class LeaveOneOutTerm(ABC):
    """What a distribution adds to the scores of training rows, each estimated without that row."""

    @abstractmethod
    def __init__(self, distribution: Any) -> None:
        """Prepare what all rows share."""

    @abstractmethod
    def add(self, block: Any, rows: LeftOutRows, scores: Floats) -> None:
        """Add to scores [rows, classes] the log-probability of each row's value in every class.

        The result equals that of the distribution fitted without the row: usually only the estimate of the
        row's own class changes.
        """


@singledispatch
def leave_one_out_term(distribution: Any) -> LeaveOneOutTerm:
    """Return the leave-one-out term of a distribution; the type of the distribution selects it."""
    raise errors.Unsupported(
        f"Leave-one-out scores are not available for columns with a {type(distribution).__name__} "
        "distribution. Calibrate on held-out rows instead."
    )


EnteringWords = tuple[Longs, Longs]  # rows, and the words that enter the vocabulary when the row is left out


@dataclass(frozen=True, eq=False)
class LeftOutRows:
    """The class index and the weight of each row, and whether its class has no other row."""

    classes: Longs
    weights: Floats
    leaves_class_empty: Mask
    has_fractional_weights: bool

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.classes)

    @cached_property
    def class_positions(self) -> tuple[Longs, Longs]:
        """The index of each row's class in a table [rows, classes]."""
        return np.arange(self.n_rows), self.classes

    @cached_property
    def class_codes(self) -> Ints:
        """The class indices, as native routines take them."""
        return self.classes.astype(np.int32)

    @cached_property
    def has_unit_weights(self) -> bool:
        """Whether every row has the weight 1."""
        return bool((self.weights == 1.0).all())

    @cached_property
    def groups(self) -> tuple[Longs, Ints]:
        """Groups of rows with the same class and weight: one row of each, and the group of each row."""
        keys = self.class_codes
        if not self.has_unit_weights:
            triples = np.column_stack([self.classes, self.weights, self.leaves_class_empty])
            keys = np.unique(triples, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)
        representatives = np.full(int(keys.max(initial=-1)) + 1, -1, dtype=np.int64)
        representatives[keys] = np.arange(self.n_rows)
        occurs = representatives >= 0
        if occurs.all():
            return representatives, keys
        return representatives[occurs], (np.cumsum(occurs, dtype=np.int32) - np.int32(1))[keys]

    def select(self, rows: Longs) -> LeftOutRows:
        """Return the rows with the given indices."""
        return LeftOutRows(
            self.classes[rows], self.weights[rows], self.leaves_class_empty[rows], self.has_fractional_weights
        )


def zero_rounding_residue(totals: Floats, before: Floats, fractional: bool) -> Floats:
    """Set differences to zero that are only rounding errors of fractional weights or pseudo-counts."""
    if not fractional:
        return totals
    return np.where(np.abs(totals) <= 1e-12 * np.abs(before), 0.0, totals)


@dataclass(frozen=True, eq=False)
class VocabularyCounts:
    """Counts [classes, words] of all words, and the mask of those in the vocabulary of the full model.

    Columns of the schema have no `kind` and are never dropped.
    """

    kind: BagOfWordsKind | None
    lookup: VocabularyWeights
    table: CountArray
    in_vocabulary: Mask

    @classmethod
    def from_distribution(cls, distribution: Any, counts: Any = None) -> VocabularyCounts:
        """Return the counts of a distribution; of hash buckets only the used ones."""
        counts = distribution.counts if counts is None else counts
        kind = distribution.part.kind
        kept = select_vocabulary(kind, counts.frequencies)
        word_kind = kind if isinstance(kind, BagOfWordsKind) else None
        if kept is None or distribution.is_hashed:
            table = counts.table if kept is None else counts.table[:, kept]
            return cls(word_kind, distribution.weights, table, np.ones(table.shape[1], dtype=bool))
        mask = np.zeros(counts.table.shape[1], dtype=bool)
        mask[kept] = True
        lookup = VocabularyLookup(counts.names, weighting=counts.weighting)
        return cls(word_kind, lookup, counts.table, mask)

    def counts(self, words: Longs | Ints) -> Floats:
        """Return the counts [words, classes] of the words with the given indices."""
        return np.ascontiguousarray(self.table[:, words].T, dtype=np.float64)

    @cached_property
    def _totals(self) -> CountArray:
        return np.asarray(self.table.sum(axis=0, dtype=np.float64))

    @cached_property
    def _frequency_order(self) -> Longs:
        """The words with at least `min_count` occurrences, by descending frequency, then alphabetically."""
        min_count = 1 if self.kind is None else self.kind.min_count
        frequent = np.flatnonzero(self._totals >= min_count)
        return np.asarray(frequent[np.argsort(-self._totals[frequent], kind="stable")])

    def update_vocabulary(self, entries: SparseRows, counts: Floats) -> tuple[Mask, EnteringWords | None]:
        """Return the mask of entries whose word is in the vocabulary without their row, and entering words.

        `counts` [entries, classes] are the counts of the entries' words without the row.
        """
        kind = self.kind
        if kind is None:
            return np.ones(len(entries.indices), dtype=bool), None
        remains = np.asarray(counts.any(axis=1))
        if kind.is_weighted:
            # Like the idf, the vocabulary is that of all rows, except for words of this row alone.
            return remains & self.in_vocabulary[entries.indices], None
        if kind.min_count <= 1 and kind.max_words is None:
            return remains, None
        totals = counts.sum(axis=1)
        is_frequent = remains & (totals >= kind.min_count)
        if kind.max_words is None or len(self._frequency_order) <= kind.max_words:
            return is_frequent & self.in_vocabulary[entries.indices], None
        return self._rerank(entries, totals, is_frequent, kind.max_words)

    def _rerank(
        self, entries: SparseRows, totals: Floats, is_frequent: Mask, max_words: int
    ) -> tuple[Mask, EnteringWords]:
        """Select the `max_words` most frequent words again, in rows where a word may lose its rank."""
        in_vocabulary = self.in_vocabulary[entries.indices]
        next_word = self._frequency_order[max_words]
        next_total = self._totals[next_word]
        outranks_next = (totals > next_total) | ((totals == next_total) & (entries.indices < next_word))
        stays = is_frequent & in_vocabulary
        affected = np.unique(entries.entry_rows()[in_vocabulary & ~(is_frequent & outranks_next)])
        rows: list[int] = []
        words: list[int] = []
        for row in affected.tolist():
            span = slice(int(entries.indptr[row]), int(entries.indptr[row + 1]))
            row_words = entries.indices[span].tolist()
            row_word_set = set(row_words)
            n_free = int(in_vocabulary[span].sum())
            runners_up = self._frequency_order[max_words : max_words + len(row_words) + n_free].tolist()
            outside = [(-self._totals[w], w, -1) for w in runners_up if w not in row_word_set]
            inside = [(-totals[span][k], row_words[k], k) for k in np.flatnonzero(is_frequent[span]).tolist()]
            stays[span] = False
            for _, word, k in sorted([*inside, *outside])[:n_free]:
                if k >= 0:
                    stays[span.start + k] = True
                else:
                    rows.append(row)
                    words.append(word)
        return stays, (np.array(rows, dtype=np.int64), np.array(words, dtype=np.int64))


def number_entries(entries: SparseRows) -> SparseRows:
    """Return the rows with one column per entry, to multiply them by a table with a row per entry."""
    n_entries = len(entries.indices)
    return replace(entries, indices=np.arange(n_entries, dtype=np.int32), width=n_entries)
