"""Leave-one-out contributions of words and counts: the multinomial family."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Ints, Longs, Mask, SparseBlock
from weigh.features.text_kinds import BagOfWordsKind
from weigh.features.words import TextBlock
from weigh.model.distributions.multinomial import Multinomial
from weigh.model.leave_one_out.base import (
    LeaveOneOutTerm,
    LeftOutRows,
    VocabularyCounts,
    leave_one_out_term,
    number_entries,
    zero_rounding_residue,
)
from weigh.source.sparse_rows import SparseRows

MAX_BATCH_CELLS = 400_000  # entries × classes per batch, to bound memory
WORDS_PER_SUM = 65_536
MAX_FIXED_POINT_RESIDUE = 1e-8  # weight × value is rounded to a multiple of 2⁻³², then multiplied by the idf


@leave_one_out_term.register(Multinomial)
class MultinomialLeaveOneOut(LeaveOneOutTerm):
    """The log-probabilities of words, each without the words of its row.

    Native code subtracts whole counts. Fractional counts, weighted words, negative pseudo-counts,
    complements and a vocabulary limited by `max_words` need the general method, and so do the few rows that
    contain nearly all words of a class.
    """

    def __init__(self, distribution: Multinomial) -> None:
        self._distribution = distribution

    @cached_property
    def _is_native(self) -> bool:
        distribution, kind = self._distribution, self._distribution.part.kind
        is_special = isinstance(kind, BagOfWordsKind) and (kind.max_words is not None or kind.is_weighted)
        is_whole = distribution.table.dtype != np.float64
        return is_whole and not distribution.complement and not is_special and not self._has_negative_pseudo

    @cached_property
    def _has_negative_pseudo(self) -> bool:
        return bool((self._distribution.pseudo_counts < 0).any())

    @cached_property
    def _min_count(self) -> float:
        """The count below which a word leaves the vocabulary; 0 for columns, which stay."""
        kind = self._distribution.part.kind
        return float(max(1, kind.min_count)) if isinstance(kind, BagOfWordsKind) else 0.0

    @cached_property
    def _native_counts(self) -> tuple[Longs, Floats, Floats, Floats, Floats, float]:
        """Counts, totals of words, pseudo-counts, totals of classes, weights and smallest count of a word."""
        distribution = self._distribution
        table, pseudo = np.ascontiguousarray(distribution.table), np.array(distribution.pseudo_counts, float)
        class_totals = table.sum(axis=1, dtype=np.float64) + pseudo.sum()
        word_totals = table.sum(axis=0, dtype=np.float64)
        return table, word_totals, pseudo, class_totals, distribution.weights.table, self._min_count

    def add(self, block: SparseBlock | TextBlock, rows: LeftOutRows, scores: Floats) -> None:
        """Add to each row's scores the log-probabilities of its words without the row."""
        if not self._is_native or rows.has_fractional_weights:
            self.add_generally(block, rows, np.arange(rows.n_rows), scores)
            return
        entries = self._entries(block)
        irregular = np.zeros(rows.n_rows, dtype=np.uint8)
        arguments = *entries.csr, rows.class_codes, rows.weights, *self._native_counts
        _core.leave_out_words(*arguments, irregular, scores)
        remaining = np.flatnonzero(irregular)
        if len(remaining):
            self.add_generally(block, rows, remaining, scores)

    def _entries(self, block: SparseBlock | TextBlock) -> SparseRows:
        weights = self._distribution.weights
        if isinstance(block, TextBlock):
            return block.look_up_unsorted(weights.vocabulary, len(weights.names))
        return weights.entries(block)

    @cached_property
    def _general_counts(self) -> _MultinomialCounts:
        return _MultinomialCounts(self._distribution, VocabularyCounts.from_distribution(self._distribution))

    def add_generally(
        self, block: SparseBlock | TextBlock, rows: LeftOutRows, selected: Longs, scores: Floats
    ) -> None:
        """Add the log-probabilities of the words of selected rows, for counts of any kind."""
        counts = self._general_counts
        entries, rows = counts.words.lookup.entries(block).select(selected), rows.select(selected)
        for start, stop in _row_batches(entries.indptr, MAX_BATCH_CELLS // (counts.n_classes + 1)):
            batch = entries.slice(start, stop)
            weights = counts.log_weights(batch, rows.select(np.arange(start, stop)))
            added = np.zeros((stop - start, counts.n_classes))
            number_entries(batch).add_product(weights, added)
            scores[selected[start:stop]] += added


class _MultinomialCounts:
    """Smoothed counts [words, classes + 1]; the last column is over all classes, for empty classes."""

    def __init__(self, distribution: Multinomial, words: VocabularyCounts) -> None:
        self.words = words
        self.n_classes = len(distribution.table)
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
        counts = self.words.counts(words) if counts is None else counts
        return np.maximum(self._estimation_counts(counts) + self._pseudo[words, None], 0.0)

    def log_weights(self, entries: SparseRows, rows: LeftOutRows) -> Floats:
        """Return the weight [entries, classes] of each entry per occurrence, without its row."""
        row = entries.entry_rows()
        counts = self.words.counts(entries.indices)
        before = self._smoothed_counts(entries.indices, counts)
        counts[np.arange(len(row)), rows.classes[row]] -= rows.weights[row] * entries.entry_values()
        if rows.has_fractional_weights and self.words.lookup.weighting is not None:
            counts[np.abs(counts) < MAX_FIXED_POINT_RESIDUE] = 0.0
        after = self._smoothed_counts(entries.indices, counts)
        stays, entering = self.words.update_vocabulary(entries, counts)
        totals = np.tile(self._totals, (rows.n_rows, 1))
        in_vocabulary = self.words.in_vocabulary[entries.indices]
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
