"""All words that were counted, and which of them the model without some row keeps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weigh.features import BagOfWordsKind, SparseBlock
from weigh.features.blocks import Floats, Ints, Longs, Mask
from weigh.model.counts.count_table import CountArray, select_vocabulary
from weigh.model.distributions.word_weights import VocabularyLookup, VocabularyWeights

EnteringWords = tuple[Longs, Longs]  # rows, and the words that come in where they leave


@dataclass(frozen=True, eq=False)
class VocabularyCounts:
    """Words with their counts [classes, words], or columns, which have no `kind` and never go.

    `kept` are the words of the whole model.
    """

    kind: BagOfWordsKind | None
    lookup: VocabularyWeights
    table: CountArray
    in_vocabulary: Mask

    @classmethod
    def from_distribution(cls, part: Any, tally: Any = None) -> VocabularyCounts:
        """Return the words of a distribution; buckets are those in use."""
        tally = part.counts if tally is None else tally
        kept = select_vocabulary(part.part.kind, tally.table)
        kind = part.part.kind if isinstance(part.part.kind, BagOfWordsKind) else None
        if kept is None or part.is_hashed:
            table = tally.table if kept is None else tally.table[:, kept]
            return cls(kind, part.weights, table, np.ones(table.shape[1], dtype=bool))
        mask = np.zeros(tally.table.shape[1], dtype=bool)
        mask[kept] = True
        return cls(kind, VocabularyLookup(tally.names), tally.table, mask)

    def counts(self, words: Longs | Ints) -> Floats:
        """Return the counts [words, classes] of some words."""
        return np.ascontiguousarray(self.table[:, words].T, dtype=np.float64)

    @cached_property
    def _totals(self) -> CountArray:
        return np.asarray(self.table.sum(axis=0, dtype=np.float64))

    @cached_property
    def _frequency_order(self) -> Longs:
        """The words that are frequent enough, the most frequent first, then by the alphabet."""
        least = 1 if self.kind is None else self.kind.min_count
        enough = np.flatnonzero(self._totals >= least)
        return np.asarray(enough[np.argsort(-self._totals[enough], kind="stable")])

    def update_vocabulary(self, entries: SparseBlock, left: Floats) -> tuple[Mask, EnteringWords | None]:
        """Return which entries are of words that are kept without their row, and what comes in instead.

        `left` are the counts [entries, classes] that the entries' words have without the row.
        """
        kind = self.kind
        if kind is None:
            return np.ones(len(entries.indices), dtype=bool), None
        there = np.asarray(left.any(axis=1))
        if kind.min_count <= 1 and kind.max_words is None:
            return there, None
        totals = left.sum(axis=1)
        enough = there & (totals >= kind.min_count)
        if kind.max_words is None or len(self._frequency_order) <= kind.max_words:
            return enough & self.in_vocabulary[entries.indices], None
        return self._rerank(entries, totals, enough, kind.max_words)

    def _rerank(
        self, entries: SparseBlock, totals: Floats, enough: Mask, most: int
    ) -> tuple[Mask, EnteringWords]:
        """Fill the places of the most frequent words anew, in rows that cost some word its place."""
        kept = self.in_vocabulary[entries.indices]
        next_one = self._frequency_order[most]
        total = self._totals[next_one]
        ahead = (totals > total) | ((totals == total) & (entries.indices < next_one))
        stays = enough & kept
        loses = np.unique(entry_rows(entries)[kept & ~(enough & ahead)])
        rows: list[int] = []
        words: list[int] = []
        for row in loses.tolist():
            span = slice(int(entries.indptr[row]), int(entries.indptr[row + 1]))
            own = entries.indices[span].tolist()
            among = set(own)
            free = int(kept[span].sum())
            rivals = [
                w for w in self._frequency_order[most : most + len(own) + free].tolist() if w not in among
            ]
            places = [(-totals[span][k], own[k], k) for k in np.flatnonzero(enough[span]).tolist()]
            race = sorted([*places, *((-self._totals[w], w, -1) for w in rivals)])[:free]
            stays[span] = False
            for _, word, k in race:
                if k >= 0:
                    stays[span.start + k] = True
                else:
                    rows.append(row)
                    words.append(word)
        return stays, (np.array(rows, dtype=np.int64), np.array(words, dtype=np.int64))


def entry_rows(entries: SparseBlock) -> Longs:
    """Return the row of each entry."""
    return np.repeat(np.arange(entries.n_rows), np.diff(entries.indptr))


@dataclass(frozen=True, eq=False)
class LeftOutRows:
    """The class (as its number) and the weight of each row; `vanished` classes have no other row."""

    classes: Longs
    weights: Floats
    leaves_class_empty: Mask
    has_fractional_weights: bool

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.classes)

    @cached_property
    def class_positions(self) -> tuple[Longs, Longs]:
        """Where each row's own class stands in a table [rows, classes]."""
        return np.arange(self.n_rows), self.classes

    def select(self, rows: Longs) -> LeftOutRows:
        """Return some of the rows."""
        return LeftOutRows(
            self.classes[rows], self.weights[rows], self.leaves_class_empty[rows], self.has_fractional_weights
        )


def zero_rounding_residue(totals: Floats, before: Floats, fractional: bool) -> Floats:
    """Return totals with what is only rounding of fractional weights or pseudo-counts set to zero."""
    if not fractional:
        return totals
    return np.where(np.abs(totals) <= 1e-12 * np.abs(before), 0.0, totals)
