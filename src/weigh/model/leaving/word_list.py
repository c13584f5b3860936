"""All words that were counted, and which of them the model without some row keeps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weigh.features import Entries, Wordy
from weigh.features.blocks import Floats, Ints, Longs, Mask
from weigh.model.pruning import kept_words
from weigh.model.tally import Table
from weigh.model.word_weights import KnownWords, NamedWeights

Coming = tuple[Longs, Longs]  # rows, and the words that come in where they leave


@dataclass(frozen=True, eq=False)
class WordList:
    """Words with their counts [classes, words], or columns, which have no `kind` and never go.

    `kept` are the words of the whole model.
    """

    kind: Wordy | None
    lookup: NamedWeights
    table: Table
    kept: Mask

    @classmethod
    def of(cls, part: Any, tally: Any = None) -> WordList:
        """Return the words of a distribution; buckets are those in use."""
        tally = part.counts if tally is None else tally
        kept = kept_words(part.part.kind, tally.table)
        kind = part.part.kind if isinstance(part.part.kind, Wordy) else None
        if kept is None or part.is_hashed:
            table = tally.table if kept is None else tally.table[:, kept]
            return cls(kind, part.weights, table, np.ones(table.shape[1], dtype=bool))
        mask = np.zeros(tally.table.shape[1], dtype=bool)
        mask[kept] = True
        return cls(kind, KnownWords(tally.names), tally.table, mask)

    def counts(self, words: Longs | Ints) -> Floats:
        """Return the counts [words, classes] of some words."""
        return np.ascontiguousarray(self.table[:, words].T, dtype=np.float64)

    @cached_property
    def _totals(self) -> Table:
        return np.asarray(self.table.sum(axis=0, dtype=np.float64))

    @cached_property
    def _order(self) -> Longs:
        """The words that are frequent enough, the most frequent first, then by the alphabet."""
        least = 1 if self.kind is None else self.kind.min_count
        enough = np.flatnonzero(self._totals >= least)
        return np.asarray(enough[np.argsort(-self._totals[enough], kind="stable")])

    def staying(self, entries: Entries, left: Floats) -> tuple[Mask, Coming | None]:
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
        if kind.max_words is None or len(self._order) <= kind.max_words:
            return enough & self.kept[entries.indices], None
        return self._ranked(entries, totals, enough, kind.max_words)

    def _ranked(self, entries: Entries, totals: Floats, enough: Mask, most: int) -> tuple[Mask, Coming]:
        """Fill the places of the most frequent words anew, in rows that cost some word its place."""
        kept = self.kept[entries.indices]
        next_one = self._order[most]
        total = self._totals[next_one]
        ahead = (totals > total) | ((totals == total) & (entries.indices < next_one))
        stays = enough & kept
        loses = np.unique(row_numbers(entries)[kept & ~(enough & ahead)])
        rows: list[int] = []
        words: list[int] = []
        for row in loses.tolist():
            span = slice(int(entries.indptr[row]), int(entries.indptr[row + 1]))
            own = entries.indices[span].tolist()
            among = set(own)
            free = int(kept[span].sum())
            rivals = [w for w in self._order[most : most + len(own) + free].tolist() if w not in among]
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


def row_numbers(entries: Entries) -> Longs:
    """Return the row of each entry."""
    return np.repeat(np.arange(entries.n_rows), np.diff(entries.indptr))
