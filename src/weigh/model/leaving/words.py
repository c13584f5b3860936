"""Counts of words without one row: its words count less in its class, and some are gone."""

from __future__ import annotations

import numpy as np

from weigh import _core
from weigh.features import Entries, Words
from weigh.features.blocks import Floats, Ints, Longs, Mask
from weigh.model.leaving.leaving import Leaving, nothing_left
from weigh.model.leaving.word_list import WordList, row_numbers
from weigh.model.multinomial import Multinomial

CELLS = 400_000  # entries × classes that are worked on at once


def add_words(part: Multinomial, block: Entries | Words, rows: Leaving, scores: Floats) -> None:
    """Add to each row's scores what its words say where the row was never counted."""
    words = WordList.of(part)
    entries = words.lookup.entries(block)
    counts = _Counts(part, words)
    for start, stop in _slices(entries.indptr, CELLS // (len(part.table) + 1)):
        piece = _cut(entries, start, stop)
        table = counts.logs(piece, rows.taken(np.arange(start, stop)))
        numbers = np.arange(len(piece.indices), dtype=np.int32)
        added = np.ascontiguousarray(scores[start:stop])
        _core.score_sparse(piece.indptr, numbers, piece.values, table, added)
        scores[start:stop] = added


class _Counts:
    """Counts [classes + 1, words]: last those of all classes, which a class without words is given."""

    def __init__(self, part: Multinomial, words: WordList) -> None:
        self._words = words
        self._sign = -1.0 if part.complement else 1.0
        self._classes = len(words.table)
        self._pseudo = np.zeros(words.table.shape[1])
        self._pseudo[words.kept] = part.pseudo_counts
        if not words.kept.all():
            # A word that comes in has the pseudo-count that all have; lists of them name all words.
            self._pseudo[~words.kept] = part.pseudo_counts[0] if len(part.pseudo_counts) else 0.0
        self._reduces = bool((part.pseudo_counts < 0).any())
        self._complement = part.complement
        kept = np.flatnonzero(words.kept)
        totals = [self._mass(kept[at : at + 65_536]).sum(axis=0) for at in range(0, len(kept), 65_536)]
        self._totals = np.sum(totals, axis=0) if totals else np.zeros(self._classes + 1)

    def _of(self, counts: Floats) -> Floats:
        """Return counts [words, classes] as they are estimated from, and their sum over the classes."""
        if self._complement:
            counts = counts.sum(axis=1, keepdims=True) - counts
        return np.hstack([counts, counts.sum(axis=1, keepdims=True)])

    def _mass(self, words: Longs | Ints, counts: Floats | None = None) -> Floats:
        own = self._words.counts(words) if counts is None else counts
        return np.maximum(self._of(own) + self._pseudo[words, None], 0.0)

    def logs(self, entries: Entries, rows: Leaving) -> Floats:
        """Return what each entry adds to the score of each class [entries, classes], per occurrence."""
        row = row_numbers(entries)
        counts = self._words.counts(entries.indices)
        before = self._mass(entries.indices, counts)
        amount = np.ones(len(row)) if entries.values is None else entries.values
        counts[np.arange(len(row)), rows.classes[row]] -= rows.weights[row] * amount
        after = self._mass(entries.indices, counts)
        stays, come = self._words.staying(entries, counts)
        totals = np.tile(self._totals, (rows.n_rows, 1))
        kept = self._words.kept[entries.indices]
        np.add.at(totals, row, after * stays[:, None] - before * kept[:, None])
        if come is not None:
            np.add.at(totals, come[0], self._mass(come[1]))
        totals = nothing_left(totals, self._totals, rows.fractional or self._reduces)
        return self._shares(after, totals[row], stays)

    def _shares(self, mass: Floats, totals: Floats, stays: Mask) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(mass / totals)
        borrowed = np.nan_to_num(logs[:, -1:], nan=0.0, neginf=-np.inf)
        logs = np.where(totals[:, :-1] == 0, borrowed, logs[:, :-1])
        return np.ascontiguousarray(np.where(stays[:, None], self._sign * logs, 0.0))


def _slices(indptr: Longs, most: int) -> list[tuple[int, int]]:
    """Return runs of rows with about so many entries each, one row at least."""
    n, start, runs = len(indptr) - 1, 0, []
    while start < n:
        stop = int(np.searchsorted(indptr, indptr[start] + most, side="right")) - 1
        stop = min(n, max(stop, start + 1))
        runs.append((start, stop))
        start = stop
    return runs


def _cut(entries: Entries, start: int, stop: int) -> Entries:
    first, last = int(entries.indptr[start]), int(entries.indptr[stop])
    indptr = entries.indptr[start : stop + 1] - first
    values = None if entries.values is None else entries.values[first:last]
    return Entries(indptr, entries.indices[first:last], values, entries.names)
