"""Leave-one-out contributions of words and flags: the multinomial and the Bernoulli family."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weigh.features.blocks import Floats, Ints, Longs, Mask, NumberedNames, SparseBlock
from weigh.features.text_kinds import BagOfWordsKind
from weigh.features.words import TextBlock
from weigh.model.distributions.bernoulli import Bernoulli, is_zero_count
from weigh.model.distributions.multinomial import Multinomial
from weigh.model.distributions.word_weights import FlagWeights
from weigh.model.leave_one_out.base import (
    EnteringWords,
    LeftOutRows,
    VocabularyCounts,
    zero_rounding_residue,
)
from weigh.source.sparse_rows import SparseRows

MAX_BATCH_CELLS = 400_000  # entries × classes per batch, to bound memory
WORDS_PER_SUM = 65_536


def add_multinomial(
    distribution: Multinomial, block: SparseBlock | TextBlock, rows: LeftOutRows, scores: Floats
) -> None:
    """Add to each row's scores the log-probabilities of its words without the row."""
    words = VocabularyCounts.from_distribution(distribution)
    entries = words.lookup.entries(block)
    counts = _MultinomialCounts(distribution, words)
    for start, stop in _row_batches(entries.indptr, MAX_BATCH_CELLS // (len(distribution.table) + 1)):
        batch = entries.slice(start, stop)
        weights = counts.log_weights(batch, rows.select(np.arange(start, stop)))
        added = np.ascontiguousarray(scores[start:stop])
        _number_entries(batch).add_product(weights, added)
        scores[start:stop] = added


class _MultinomialCounts:
    """Smoothed counts [words, classes + 1]; the last column is over all classes, for empty classes."""

    def __init__(self, distribution: Multinomial, words: VocabularyCounts) -> None:
        self._words = words
        self._complement = distribution.complement
        pseudo = distribution.pseudo_counts
        self._pseudo = np.zeros(words.table.shape[1])
        self._pseudo[words.in_vocabulary] = pseudo
        if not words.in_vocabulary.all():
            # A word that enters the vocabulary has the pseudo-count common to all words.
            self._pseudo[~words.in_vocabulary] = pseudo[0] if len(pseudo) else 0.0
        self._has_negative_pseudo = bool((pseudo < 0).any())
        kept = np.flatnonzero(words.in_vocabulary)
        totals = [
            self._smoothed_counts(kept[start : start + WORDS_PER_SUM]).sum(axis=0)
            for start in range(0, len(kept), WORDS_PER_SUM)
        ]
        self._totals = np.sum(totals, axis=0) if totals else np.zeros(len(words.table) + 1)

    def _estimation_counts(self, counts: Floats) -> Floats:
        """Return the counts [words, classes], of the complement if requested, with their sum appended."""
        if self._complement:
            counts = counts.sum(axis=1, keepdims=True) - counts
        return np.hstack([counts, counts.sum(axis=1, keepdims=True)])

    def _smoothed_counts(self, words: Longs | Ints, counts: Floats | None = None) -> Floats:
        counts = self._words.counts(words) if counts is None else counts
        return np.maximum(self._estimation_counts(counts) + self._pseudo[words, None], 0.0)

    def log_weights(self, entries: SparseRows, rows: LeftOutRows) -> Floats:
        """Return the weight [entries, classes] of each entry per occurrence, without its row."""
        row = entries.entry_rows()
        counts = self._words.counts(entries.indices)
        before = self._smoothed_counts(entries.indices, counts)
        counts[np.arange(len(row)), rows.classes[row]] -= rows.weights[row] * entries.entry_values()
        after = self._smoothed_counts(entries.indices, counts)
        stays, entering = self._words.update_vocabulary(entries, counts)
        totals = np.tile(self._totals, (rows.n_rows, 1))
        in_vocabulary = self._words.in_vocabulary[entries.indices]
        np.add.at(totals, row, after * stays[:, None] - before * in_vocabulary[:, None])
        if entering is not None:
            np.add.at(totals, entering[0], self._smoothed_counts(entering[1]))
        is_fractional = rows.has_fractional_weights or self._has_negative_pseudo
        totals = zero_rounding_residue(totals, self._totals, is_fractional)
        return self._log_shares(after, totals[row], stays)

    def _log_shares(self, counts: Floats, totals: Floats, stays: Mask) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(counts / totals)
        overall = np.nan_to_num(logs[:, -1:], nan=0.0, neginf=-np.inf)
        logs = np.where(totals[:, :-1] == 0, overall, logs[:, :-1])
        sign = -1.0 if self._complement else 1.0
        return np.ascontiguousarray(np.where(stays[:, None], sign * logs, 0.0))


def _row_batches(indptr: Longs, max_entries: int) -> list[tuple[int, int]]:
    """Return ranges of rows with at most `max_entries` entries, or a single row."""
    n, start, batches = len(indptr) - 1, 0, []
    while start < n:
        stop = int(np.searchsorted(indptr, indptr[start] + max_entries, side="right")) - 1
        stop = min(n, max(stop, start + 1))
        batches.append((start, stop))
        start = stop
    return batches


def _entries_at(pairs: list[tuple[Any, Any]], like: SparseRows) -> SparseRows:
    """Return rows of the shape of `like` with entries at the given rows and columns."""
    rows, columns = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    order = np.lexsort((columns, rows))
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=like.n_rows))])
    return SparseRows(starts.astype(np.int64), columns[order].astype(np.int32), None, like.width)


def _number_entries(entries: SparseRows) -> SparseRows:
    """Return the rows with one column per entry, to multiply them by a table with a row per entry."""
    n_entries = len(entries.indices)
    return replace(entries, indices=np.arange(n_entries, dtype=np.int32), width=n_entries)


def add_bernoulli(
    distribution: Bernoulli, block: SparseBlock | TextBlock, rows: LeftOutRows, scores: Floats
) -> None:
    """Add to each row's scores the log-probabilities of its flags without the row."""
    _BernoulliCounts.from_distribution(distribution).add(block, rows, scores)


@dataclass(frozen=True, eq=False)
class _BernoulliCounts:
    """The counts of all flags or words of a part; the absence of a word outside the vocabulary adds nothing.

    A case of the methods below is (class, flag index, weight subtracted from the class, weight subtracted
    from all classes), each an array with one entry per case.
    """

    words: VocabularyCounts
    unpruned: Bernoulli

    @classmethod
    def from_distribution(cls, distribution: Bernoulli) -> _BernoulliCounts:
        kind = distribution.part.kind
        if isinstance(kind, BagOfWordsKind):
            kind = replace(kind, min_count=1, max_words=None)
        unpruned = replace(distribution, part=replace(distribution.part, kind=kind))
        words = VocabularyCounts.from_distribution(distribution, distribution.counts.present)
        if distribution.leaves_out_constants:
            words = replace(words, in_vocabulary=~distribution.is_constant)
        return cls(words, unpruned)

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
        """Add the log-probabilities of all flags; only those of each row's own class need new estimates."""
        entries = replace(self.words.lookup.entries(block), values=None)
        row = entries.entry_rows()
        counts = self.words.counts(entries.indices)
        counts[np.arange(len(row)), rows.classes[row]] -= rows.weights[row]
        stays, entering = self.words.update_vocabulary(entries, counts)
        present = entries.select_entries(stays)
        ignored = entries.select_entries(~stays & self.words.in_vocabulary[entries.indices])
        if block.missing is not None:
            ignored = self.words.lookup.entries(block.missing)
        if self.unpruned.leaves_out_constants:
            present, ignored = self._leave_out_constants(present, ignored, rows)
        known = np.ones(entries.n_rows, dtype=bool) if block.known is None else block.known
        added = self._full_model_scores(present, ignored, known)
        # A class without counts uses the estimate over all classes, which changes with every row.
        for c in self._classes_without_counts():
            classes = np.full(rows.n_rows, c)
            added[:, c] = self._scores_without_row(present, ignored, known, rows, classes, is_own_class=False)
        added[rows.class_positions] = self._scores_without_row(
            present, ignored, known, rows, rows.classes, is_own_class=True
        )
        if entering is not None and len(entering[0]):
            self._add_entering_words(added, entering, rows)
        scores += added

    def _leave_out_constants(
        self, present: SparseRows, missing: SparseRows, rows: LeftOutRows
    ) -> tuple[SparseRows, SparseRows]:
        """Return the entries of present and of ignored flags: missing, or constant in all other rows."""
        n_present, n_known = self._totals
        row, flags = present.entry_rows(), present.indices
        is_only_present = is_zero_count(n_present[flags] - rows.weights[row], n_known[flags])
        ignored = [(missing.entry_rows(), missing.indices), (row[is_only_present], flags[is_only_present])]
        n_absent = n_known - n_present
        for flag in np.flatnonzero(self.words.in_vocabulary & (n_absent <= rows.weights.max(initial=0.0))):
            is_absent = np.ones(rows.n_rows, dtype=bool)
            for entries in (present, missing):
                is_absent[entries.entry_rows()[entries.indices == flag]] = False
            is_absent &= is_zero_count(n_absent[flag] - rows.weights, n_known[flag])
            ignored.append((np.flatnonzero(is_absent), np.full(int(is_absent.sum()), flag)))
        is_kept = ~is_only_present & self.words.in_vocabulary[flags]
        return present.select_entries(is_kept), _entries_at(ignored, present)

    def _full_model_scores(self, present: SparseRows, ignored: SparseRows, known: Mask) -> Floats:
        added = np.zeros((present.n_rows, len(self.words.table)))
        names = NumberedNames(present.width)
        weights = FlagWeights("", names, self.unpruned.weights.present, self._absent, True)
        weights.add(SparseBlock(present, names, SparseBlock(ignored, names), known), added)
        return added

    def _classes_without_counts(self) -> list[int]:
        """Return the classes in which at least one flag has neither counts nor pseudo-counts."""
        counts = self.words.table
        present = np.maximum(counts + self._pseudo[:, 1], 0.0)
        absent = np.maximum(self._known_counts - counts + self._pseudo[:, 0], 0.0)
        return np.flatnonzero((present + absent == 0).any(axis=1)).tolist()

    def _scores_without_row(
        self,
        present: SparseRows,
        ignored: SparseRows,
        known: Mask,
        rows: LeftOutRows,
        classes: Longs,
        *,
        is_own_class: bool,
    ) -> Floats:
        """Return what the flags add to the score of one class per row, estimated without the row."""
        class_weights = rows.weights if is_own_class else np.zeros(rows.n_rows)
        all_absent, all_impossible = self._all_absent(classes, class_weights, rows.weights)
        scores, n_impossible = known * all_absent, known * all_impossible
        for entries, is_present in ((present, True), (ignored, False)):
            row = entries.entry_rows()
            case = classes[row], entries.indices, class_weights[row], rows.weights[row]
            # The sum over all absent flags includes only words of the vocabulary.
            absent = np.where(self.words.in_vocabulary[entries.indices], self._log_absent(*case), 0.0)
            is_impossible = np.isneginf(absent)
            gain = self._log_present(*case) if is_present else np.zeros(len(row))
            scores = _add_entry_values(entries, gain - np.where(is_impossible, 0.0, absent), scores)
            n_impossible = _add_entry_values(entries, -is_impossible.astype(np.float64), n_impossible)
        return np.where(n_impossible > 0.5, -np.inf, scores)

    def _all_absent(
        self, classes: Longs, class_weights: Floats, row_weights: Floats
    ) -> tuple[Floats, Floats]:
        """Return, per row, the sum of the finite weights of absence, and the number of infinite ones."""
        triples = np.column_stack([classes.astype(np.float64), class_weights, row_weights])
        cases, case_of_row = np.unique(triples, axis=0, return_inverse=True)
        sums = np.empty((len(cases), 2))
        kept = np.flatnonzero(self.words.in_vocabulary)
        n = len(kept)
        for i, (c, class_weight, row_weight) in enumerate(cases.tolist()):
            logs = self._log_absent(
                np.full(n, int(c)), kept, np.full(n, class_weight), np.full(n, row_weight)
            )
            is_impossible = np.isneginf(logs)
            sums[i] = np.where(is_impossible, 0.0, logs).sum(), is_impossible.sum()
        return sums[case_of_row.reshape(-1), 0], sums[case_of_row.reshape(-1), 1]

    def _log_absent(self, *case: Any) -> Floats:
        with np.errstate(divide="ignore"):
            logs = np.log(self._state_probability(*case, is_present=False))
        return np.nan_to_num(logs, nan=0.0, neginf=-np.inf)

    def _log_present(self, *case: Any) -> Floats:
        with np.errstate(divide="ignore"):
            logs = np.log(self._state_probability(*case, is_present=True))
        return np.nan_to_num(logs, nan=0.0, neginf=-np.inf)

    def _state_probability(
        self, classes: Any, flags: Any, class_weights: Any, row_weights: Any, *, is_present: bool
    ) -> Floats:
        """Return P(present | class) without rows in which the flags are present, or the same for absent."""
        n_present = self.words.table[classes, flags] - float(is_present) * class_weights
        n_known = self._known_counts[classes, flags] - class_weights
        absent_pseudo, present_pseudo = self._pseudo[flags].T
        present = np.maximum(n_present + present_pseudo, 0.0)
        absent = np.maximum(n_known - n_present + absent_pseudo, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            p = (present if is_present else absent) / (present + absent)
            if np.isnan(p).any():
                n_present = self._totals[0][flags] - float(is_present) * row_weights
                n_known = self._totals[1][flags] - row_weights
                present = np.maximum(n_present + present_pseudo, 0.0)
                absent = np.maximum(n_known - n_present + absent_pseudo, 0.0)
                p = np.where(np.isnan(p), (present if is_present else absent) / (present + absent), p)
        return np.asarray(p)

    @cached_property
    def _totals(self) -> tuple[Floats, Floats]:
        present = self.words.table.sum(axis=0, dtype=np.float64)
        return np.asarray(present), np.asarray(self._known_counts.sum(axis=0))

    def _add_entering_words(self, added: Floats, entering: EnteringWords, rows: LeftOutRows) -> None:
        """Add the absence of words that enter the vocabulary when a row is left out."""
        row, words = entering
        logs = self.unpruned.weights.absent[words]
        case = rows.classes[row], words, rows.weights[row], rows.weights[row]
        logs[np.arange(len(row)), rows.classes[row]] = self._log_absent(*case)
        np.add.at(added, row, logs)


def _add_entry_values(entries: SparseRows, values: Floats, totals: Floats) -> Floats:
    """Return the totals [rows] plus the value of each entry."""
    result = np.ascontiguousarray(totals[:, None])
    _number_entries(entries).add_product(values[:, None], result)
    return result[:, 0]
