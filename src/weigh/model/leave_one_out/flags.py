"""Leave-one-out contributions of flags and of word occurrences: the Bernoulli family."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Longs, Mask, NumberedNames, SparseBlock
from weigh.features.text_kinds import BagOfWordsKind
from weigh.features.words import TextBlock
from weigh.model.distributions.bernoulli import Bernoulli, is_zero_count
from weigh.model.distributions.word_weights import FlagWeights
from weigh.model.leave_one_out.base import (
    EnteringWords,
    LeaveOneOutTerm,
    LeftOutRows,
    VocabularyCounts,
    leave_one_out_term,
    number_entries,
)
from weigh.source.sparse_rows import SparseRows


@leave_one_out_term.register(Bernoulli)
class BernoulliLeaveOneOut(LeaveOneOutTerm):
    """The log-probabilities of flags, each without the flags of its row.

    For rows of weight 1 they come from tables of weights with one row less in the class. Other weights,
    pseudo-counts of 0 and a vocabulary limited by `max_words` need the general method.
    """

    def __init__(self, distribution: Bernoulli) -> None:
        self._counts = _BernoulliCounts.from_distribution(distribution)

    def add(self, block: SparseBlock | TextBlock, rows: LeftOutRows, scores: Floats) -> None:
        """Add to each row's scores the log-probabilities of its flags without the row."""
        if rows.has_unit_weights and not rows.has_fractional_weights and self._counts.has_unit_tables:
            self._counts.add_unit_rows(block, rows, scores)
        else:
            self._counts.add(block, rows, scores)


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

    @cached_property
    def has_unit_tables(self) -> bool:
        """Whether tables for rows of weight 1 give all scores."""
        kind = self.words.kind
        has_limit = kind is not None and kind.max_words is not None
        is_whole = self.words.table.dtype != np.float64
        return is_whole and not has_limit and bool((self._pseudo > 0).all())

    @cached_property
    def _unit_tables(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Weights [flags, classes] of absence and of presence instead of absence: of all rows, and own.

        The own ones are those of a row's class without that row. If a flag is present in all rows of a class,
        no row of the class needs the weight of its absence.
        """
        n, d = self.words.table.shape
        classes, flags, ones = np.repeat(np.arange(n), d), np.tile(np.arange(d), n), np.ones(n * d)
        case = classes, flags, ones, ones
        is_always_present = (self.words.table >= self._known_counts).reshape(-1)
        is_never_present = (self.words.table == 0).reshape(-1)
        is_absence_counted = self.words.in_vocabulary[flags] & ~is_always_present
        own_absent = np.where(is_absence_counted, self._log_absent(*case), 0.0)
        own_present = np.where(is_never_present, 0.0, self._log_present(*case))
        present = self.unpruned.weights.present - self._absent
        own = (table.reshape(n, d).T for table in (own_absent, own_present - own_absent))
        first, second, third, fourth = map(np.ascontiguousarray, (self._absent, present, *own))
        return first, second, third, fourth

    def add_unit_rows(self, block: SparseBlock | TextBlock, rows: LeftOutRows, scores: Floats) -> None:
        """Add the log-probabilities of all flags of rows of weight 1, from tables."""
        absent, gain, own_absent, own_gain = self._unit_tables
        entries = replace(self.words.lookup.entries(block), values=None)
        present, ignored = self._split_entries(entries, block, rows)
        added = np.tile(absent.sum(axis=0), (rows.n_rows, 1))
        added[rows.class_positions] = own_absent.sum(axis=0)[rows.classes]
        if block.known is not None:
            added *= block.known[:, None]
        classes = rows.class_codes
        _core.score_own_class(present.indptr, present.indices, classes, gain, own_gain, added)
        if len(ignored.indices):
            _core.score_own_class(ignored.indptr, ignored.indices, classes, -absent, -own_absent, added)
        scores += added

    def _split_entries(
        self, entries: SparseRows, block: SparseBlock | TextBlock, rows: LeftOutRows
    ) -> tuple[SparseRows, SparseRows]:
        """Return the entries of present flags and of ignored ones: missing, or unknown without the row."""
        if self.words.kind is None:
            present, ignored = entries, entries.select_entries(np.zeros(len(entries.indices), dtype=bool))
        else:
            in_vocabulary = self.words.in_vocabulary[entries.indices]
            stays = in_vocabulary & (self._totals[0] > max(1, self.words.kind.min_count))[entries.indices]
            present = entries.select_entries(stays)
            ignored = entries.select_entries(~stays & in_vocabulary)
        if block.missing is not None:
            ignored = self.words.lookup.entries(block.missing)
        if self.unpruned.leaves_out_constants:
            return self._leave_out_constants(present, ignored, rows)
        return present, ignored

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


def _entries_at(pairs: list[tuple[Any, Any]], like: SparseRows) -> SparseRows:
    """Return rows of the shape of `like` with entries at the given rows and columns."""
    rows, columns = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    order = np.lexsort((columns, rows))
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=like.n_rows))])
    return SparseRows(starts.astype(np.int64), columns[order].astype(np.int32), None, like.width)


def _add_entry_values(entries: SparseRows, values: Floats, totals: Floats) -> Floats:
    """Return the totals [rows] plus the value of each entry."""
    result = np.ascontiguousarray(totals[:, None])
    number_entries(entries).add_product(values[:, None], result)
    return result[:, 0]
