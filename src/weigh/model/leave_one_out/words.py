"""Flags without one row: in its class all of them were known once less, and its own seen once less."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weigh import _core
from weigh.features import BagOfWordsKind, SparseBlock, TextBlock
from weigh.features.blocks import Floats, Ints, Longs, Mask, NumberedNames
from weigh.model.distributions.bernoulli import Bernoulli
from weigh.model.distributions.multinomial import Multinomial
from weigh.model.distributions.word_weights import FlagWeights
from weigh.model.leave_one_out.base import LeftOutRows, VocabularyCounts, entry_rows, zero_rounding_residue


def add_bernoulli(part: Bernoulli, block: SparseBlock | TextBlock, rows: LeftOutRows, scores: Floats) -> None:
    """Add to each row's scores what its flags say where the row was never counted."""
    _BernoulliCounts.from_distribution(part).add(block, rows, scores)


@dataclass(frozen=True, eq=False)
class _BernoulliCounts:
    """All flags or words of a part, kept ones and others, whose absence then says nothing."""

    words: VocabularyCounts
    unpruned: Bernoulli

    @classmethod
    def from_distribution(cls, part: Bernoulli) -> _BernoulliCounts:
        kind = part.part.kind
        if isinstance(kind, BagOfWordsKind):
            kind = replace(kind, min_count=1, max_words=None)
        every = replace(part, part=replace(part.part, kind=kind))
        return cls(VocabularyCounts.from_distribution(part, part.counts.present), every)

    @cached_property
    def _pseudo(self) -> Floats:
        return self.unpruned.pseudo_counts

    @cached_property
    def _known_counts(self) -> Floats:
        known = self.unpruned.known_counts.astype(np.float64)
        return np.broadcast_to(known, self.words.table.shape)

    @cached_property
    def _absent(self) -> Floats:
        return np.where(self.words.in_vocabulary[:, None], self.unpruned.weights.absent, 0.0)

    def add(self, block: SparseBlock | TextBlock, rows: LeftOutRows, scores: Floats) -> None:
        """Add what the flags say, of all classes as it stands, of each row's own without the row."""
        found = self.words.lookup.entries(block)
        row = entry_rows(found)
        left = self.words.counts(found.indices)
        left[np.arange(len(row)), rows.classes[row]] -= rows.weights[row]
        stays, come = self.words.update_vocabulary(found, left)
        here = _filter_entries(found, stays)
        gone = _filter_entries(found, ~stays & self.words.in_vocabulary[found.indices])
        if block.missing is not None:
            missing = self.words.lookup.entries(block.missing)
            gone = _filter_entries(missing, np.ones(len(missing.indices), dtype=bool))
        known = np.ones(found.n_rows, dtype=bool) if block.known is None else block.known
        added = self._full_model_scores(here, gone, known)
        for c in self._classes_without_counts():
            added[:, c] = self._scores_without_row(
                here, gone, known, rows, np.full(rows.n_rows, c), own=False
            )
        added[rows.class_positions] = self._scores_without_row(
            here, gone, known, rows, rows.classes, own=True
        )
        if come is not None and len(come[0]):
            self._add_entering_words(added, come, rows)
        scores += added

    def _full_model_scores(self, here: SparseBlock, gone: SparseBlock, known: Mask) -> Floats:
        added = np.zeros((here.n_rows, len(self.words.table)))
        weights = FlagWeights("", here.names, self.unpruned.weights.present, self._absent, True)
        weights.add(replace(here, missing=gone, known=known), added)
        return added

    def _classes_without_counts(self) -> list[int]:
        """Return the classes that are given the flags of all classes, somewhere at least."""
        counts = self.words.table
        on = np.maximum(counts + self._pseudo[:, 1], 0.0)
        off = np.maximum(self._known_counts - counts + self._pseudo[:, 0], 0.0)
        return np.flatnonzero((on + off == 0).any(axis=1)).tolist()

    def _scores_without_row(
        self,
        here: SparseBlock,
        gone: SparseBlock,
        known: Mask,
        rows: LeftOutRows,
        classes: Longs,
        *,
        own: bool,
    ) -> Floats:
        """Return what the flags add to the score of one class per row, its counts taken anew."""
        taken = rows.weights if own else np.zeros(rows.n_rows)
        absent, vetoes = (known * all_of for all_of in self._all_absent(classes, taken, rows.weights))
        for entries, is_here in ((here, True), (gone, False)):
            row = entry_rows(entries)
            case = classes[row], entries.indices, taken[row], rows.weights[row]
            # Words that are not kept are not among all those absent ones.
            without = np.where(self.words.in_vocabulary[entries.indices], self._log_absent(*case), 0.0)
            is_veto = np.isneginf(without)
            gain = self._log_present(*case) if is_here else np.zeros(len(row))
            absent = _add_entry_values(entries, gain - np.where(is_veto, 0.0, without), absent)
            vetoes = _add_entry_values(entries, -is_veto.astype(np.float64), vetoes)
        return np.where(vetoes > 0.5, -np.inf, absent)

    def _all_absent(self, classes: Longs, taken: Floats, leaving: Floats) -> tuple[Floats, Floats]:
        """Return the sum of what all absent kept flags add, and how many of them are vetoes."""
        cases = np.column_stack([classes.astype(np.float64), taken, leaving])
        each, where = np.unique(cases, axis=0, return_inverse=True)
        found = np.empty((len(each), 2))
        kept = np.flatnonzero(self.words.in_vocabulary)
        for at, (c, own, weight) in enumerate(each.tolist()):
            case = np.full(len(kept), int(c)), kept, np.full(len(kept), own), np.full(len(kept), weight)
            logs = self._log_absent(*case)
            vetoes = np.isneginf(logs)
            found[at] = np.where(vetoes, 0.0, logs).sum(), vetoes.sum()
        return found[where.reshape(-1), 0], found[where.reshape(-1), 1]

    def _log_absent(self, *case: Any) -> Floats:
        with np.errstate(divide="ignore"):
            logs = np.log1p(-self._present_probability(*case, present=False))
        return np.nan_to_num(logs, nan=0.0, neginf=-np.inf)

    def _log_present(self, *case: Any) -> Floats:
        with np.errstate(divide="ignore"):
            logs = np.log(self._present_probability(*case, present=True))
        return np.nan_to_num(logs, nan=0.0, neginf=-np.inf)

    def _present_probability(
        self, classes: Any, at: Any, taken: Any, leaving: Any, *, present: bool
    ) -> Floats:
        """Return P(present | class) where rows leave in which the flags are present, or absent."""
        seen, all_seen = float(present) * taken, float(present) * leaving
        counts, everywhere = self.words.table[classes, at] - seen, self._totals[0][at] - all_seen
        known, anywhere = self._known_counts[classes, at] - taken, self._totals[1][at] - leaving
        absent, here = self._pseudo[at].T
        on, off = np.maximum(counts + here, 0.0), np.maximum(known - counts + absent, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = on / (on + off)
            if np.isnan(shares).any():
                on, off = np.maximum(everywhere + here, 0.0), np.maximum(anywhere - everywhere + absent, 0.0)
                shares = np.where(np.isnan(shares), on / (on + off), shares)
        return np.asarray(shares)

    @cached_property
    def _totals(self) -> tuple[Floats, Floats]:
        table = self.words.table.sum(axis=0, dtype=np.float64)
        return np.asarray(table), np.asarray(self._known_counts.sum(axis=0))

    def _add_entering_words(self, added: Floats, come: tuple[Longs, Longs], rows: LeftOutRows) -> None:
        """Add that words are absent which come in where a row costs another its place."""
        row, words = come
        logs = self.unpruned.weights.absent[words]
        case = rows.classes[row], words, rows.weights[row], rows.weights[row]
        logs[np.arange(len(row)), rows.classes[row]] = self._log_absent(*case)
        np.add.at(added, row, logs)


def _filter_entries(entries: SparseBlock, kept: Mask) -> SparseBlock:
    before = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    names = NumberedNames(len(entries.names))
    return SparseBlock(before[entries.indptr], entries.indices[kept], None, names)


def _add_entry_values(entries: SparseBlock, values: Floats, to: Floats) -> Floats:
    total = np.ascontiguousarray(to[:, None])
    numbers = np.arange(len(values), dtype=np.int32)
    _core.score_sparse(entries.indptr, numbers, None, np.ascontiguousarray(values[:, None]), total)
    return total[:, 0]


MAX_BATCH_CELLS = 400_000  # entries × classes that are worked on at once


def add_multinomial(
    part: Multinomial, block: SparseBlock | TextBlock, rows: LeftOutRows, scores: Floats
) -> None:
    """Add to each row's scores what its words say where the row was never counted."""
    words = VocabularyCounts.from_distribution(part)
    entries = words.lookup.entries(block)
    counts = _MultinomialCounts(part, words)
    for start, stop in _row_batches(entries.indptr, MAX_BATCH_CELLS // (len(part.table) + 1)):
        piece = _slice_entries(entries, start, stop)
        table = counts.log_weights(piece, rows.select(np.arange(start, stop)))
        numbers = np.arange(len(piece.indices), dtype=np.int32)
        added = np.ascontiguousarray(scores[start:stop])
        _core.score_sparse(piece.indptr, numbers, piece.values, table, added)
        scores[start:stop] = added


class _MultinomialCounts:
    """Counts [classes + 1, words]: last those of all classes, which a class without words is given."""

    def __init__(self, part: Multinomial, words: VocabularyCounts) -> None:
        self._words = words
        self._sign = -1.0 if part.complement else 1.0
        self._classes = len(words.table)
        self._pseudo = np.zeros(words.table.shape[1])
        self._pseudo[words.in_vocabulary] = part.pseudo_counts
        if not words.in_vocabulary.all():
            # A word that comes in has the pseudo-count that all have; lists of them name all words.
            self._pseudo[~words.in_vocabulary] = part.pseudo_counts[0] if len(part.pseudo_counts) else 0.0
        self._reduces = bool((part.pseudo_counts < 0).any())
        self._complement = part.complement
        kept = np.flatnonzero(words.in_vocabulary)
        totals = [
            self._smoothed_counts(kept[at : at + 65_536]).sum(axis=0) for at in range(0, len(kept), 65_536)
        ]
        self._totals = np.sum(totals, axis=0) if totals else np.zeros(self._classes + 1)

    def _estimation_counts(self, counts: Floats) -> Floats:
        """Return counts [words, classes] as they are estimated from, and their sum over the classes."""
        if self._complement:
            counts = counts.sum(axis=1, keepdims=True) - counts
        return np.hstack([counts, counts.sum(axis=1, keepdims=True)])

    def _smoothed_counts(self, words: Longs | Ints, counts: Floats | None = None) -> Floats:
        own = self._words.counts(words) if counts is None else counts
        return np.maximum(self._estimation_counts(own) + self._pseudo[words, None], 0.0)

    def log_weights(self, entries: SparseBlock, rows: LeftOutRows) -> Floats:
        """Return what each entry adds to the score of each class [entries, classes], per occurrence."""
        row = entry_rows(entries)
        counts = self._words.counts(entries.indices)
        before = self._smoothed_counts(entries.indices, counts)
        amount = np.ones(len(row)) if entries.values is None else entries.values
        counts[np.arange(len(row)), rows.classes[row]] -= rows.weights[row] * amount
        after = self._smoothed_counts(entries.indices, counts)
        stays, come = self._words.update_vocabulary(entries, counts)
        totals = np.tile(self._totals, (rows.n_rows, 1))
        kept = self._words.in_vocabulary[entries.indices]
        np.add.at(totals, row, after * stays[:, None] - before * kept[:, None])
        if come is not None:
            np.add.at(totals, come[0], self._smoothed_counts(come[1]))
        totals = zero_rounding_residue(totals, self._totals, rows.has_fractional_weights or self._reduces)
        return self._log_shares(after, totals[row], stays)

    def _log_shares(self, mass: Floats, totals: Floats, stays: Mask) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(mass / totals)
        borrowed = np.nan_to_num(logs[:, -1:], nan=0.0, neginf=-np.inf)
        logs = np.where(totals[:, :-1] == 0, borrowed, logs[:, :-1])
        return np.ascontiguousarray(np.where(stays[:, None], self._sign * logs, 0.0))


def _row_batches(indptr: Longs, most: int) -> list[tuple[int, int]]:
    """Return runs of rows with about so many entries each, one row at least."""
    n, start, runs = len(indptr) - 1, 0, []
    while start < n:
        stop = int(np.searchsorted(indptr, indptr[start] + most, side="right")) - 1
        stop = min(n, max(stop, start + 1))
        runs.append((start, stop))
        start = stop
    return runs


def _slice_entries(entries: SparseBlock, start: int, stop: int) -> SparseBlock:
    first, last = int(entries.indptr[start]), int(entries.indptr[stop])
    indptr = entries.indptr[start : stop + 1] - first
    values = None if entries.values is None else entries.values[first:last]
    return SparseBlock(indptr, entries.indices[first:last], values, entries.names)
