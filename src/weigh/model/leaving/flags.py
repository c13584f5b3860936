"""Flags without one row: in its class all of them were known once less, and its own seen once less."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weigh import _core
from weigh.features import Entries, Words, Wordy
from weigh.features.blocks import Floats, Longs, Mask, Numbered
from weigh.model.bernoulli import Bernoulli
from weigh.model.flag_weights import FlagWeights
from weigh.model.leaving.leaving import Leaving
from weigh.model.leaving.word_list import WordList, row_numbers


def add_flags(part: Bernoulli, block: Entries | Words, rows: Leaving, scores: Floats) -> None:
    """Add to each row's scores what its flags say where the row was never counted."""
    _Flags.of(part).add(block, rows, scores)


@dataclass(frozen=True, eq=False)
class _Flags:
    """All flags or words of a part, kept ones and others, whose absence then says nothing."""

    words: WordList
    every: Bernoulli

    @classmethod
    def of(cls, part: Bernoulli) -> _Flags:
        kind = part.part.kind
        if isinstance(kind, Wordy):
            kind = replace(kind, min_count=1, max_words=None)
        every = replace(part, part=replace(part.part, kind=kind))
        return cls(WordList.of(part, part.counts.present), every)

    @cached_property
    def _pseudo(self) -> Floats:
        return self.every.pseudo_counts

    @cached_property
    def _known(self) -> Floats:
        known = self.every.known.astype(np.float64)
        return np.broadcast_to(known, self.words.table.shape)

    @cached_property
    def _absent(self) -> Floats:
        return np.where(self.words.kept[:, None], self.every.weights.absent, 0.0)

    def add(self, block: Entries | Words, rows: Leaving, scores: Floats) -> None:
        """Add what the flags say, of all classes as it stands, of each row's own without the row."""
        found = self.words.lookup.entries(block)
        row = row_numbers(found)
        left = self.words.counts(found.indices)
        left[np.arange(len(row)), rows.classes[row]] -= rows.weights[row]
        stays, come = self.words.staying(found, left)
        here = _some(found, stays)
        gone = _some(found, ~stays & self.words.kept[found.indices])
        if block.missing is not None:
            missing = self.words.lookup.entries(block.missing)
            gone = _some(missing, np.ones(len(missing.indices), dtype=bool))
        known = np.ones(found.n_rows, dtype=bool) if block.known is None else block.known
        added = self._as_it_stands(here, gone, known)
        for c in self._lacking():
            added[:, c] = self._recounted(here, gone, known, rows, np.full(rows.n_rows, c), own=False)
        added[rows.own] = self._recounted(here, gone, known, rows, rows.classes, own=True)
        if come is not None and len(come[0]):
            self._add_coming(added, come, rows)
        scores += added

    def _as_it_stands(self, here: Entries, gone: Entries, known: Mask) -> Floats:
        added = np.zeros((here.n_rows, len(self.words.table)))
        weights = FlagWeights("", here.names, self.every.weights.present, self._absent, True)
        weights.add(replace(here, missing=gone, known=known), added)
        return added

    def _lacking(self) -> list[int]:
        """Return the classes that are given the flags of all classes, somewhere at least."""
        counts = self.words.table
        on = np.maximum(counts + self._pseudo[:, 1], 0.0)
        off = np.maximum(self._known - counts + self._pseudo[:, 0], 0.0)
        return np.flatnonzero((on + off == 0).any(axis=1)).tolist()

    def _recounted(
        self, here: Entries, gone: Entries, known: Mask, rows: Leaving, classes: Longs, *, own: bool
    ) -> Floats:
        """Return what the flags add to the score of one class per row, its counts taken anew."""
        taken = rows.weights if own else np.zeros(rows.n_rows)
        absent, vetoes = (known * all_of for all_of in self._all_absent(classes, taken, rows.weights))
        for entries, is_here in ((here, True), (gone, False)):
            row = row_numbers(entries)
            case = classes[row], entries.indices, taken[row], rows.weights[row]
            # Words that are not kept are not among all those absent ones.
            without = np.where(self.words.kept[entries.indices], self._absence(*case), 0.0)
            is_veto = np.isneginf(without)
            gain = self._presence(*case) if is_here else np.zeros(len(row))
            absent = _added(entries, gain - np.where(is_veto, 0.0, without), absent)
            vetoes = _added(entries, -is_veto.astype(np.float64), vetoes)
        return np.where(vetoes > 0.5, -np.inf, absent)

    def _all_absent(self, classes: Longs, taken: Floats, leaving: Floats) -> tuple[Floats, Floats]:
        """Return the sum of what all absent kept flags add, and how many of them are vetoes."""
        cases = np.column_stack([classes.astype(np.float64), taken, leaving])
        each, where = np.unique(cases, axis=0, return_inverse=True)
        found = np.empty((len(each), 2))
        kept = np.flatnonzero(self.words.kept)
        for at, (c, own, weight) in enumerate(each.tolist()):
            case = np.full(len(kept), int(c)), kept, np.full(len(kept), own), np.full(len(kept), weight)
            logs = self._absence(*case)
            vetoes = np.isneginf(logs)
            found[at] = np.where(vetoes, 0.0, logs).sum(), vetoes.sum()
        return found[where.reshape(-1), 0], found[where.reshape(-1), 1]

    def _absence(self, *case: Any) -> Floats:
        with np.errstate(divide="ignore"):
            logs = np.log1p(-self._shares(*case, present=False))
        return np.nan_to_num(logs, nan=0.0, neginf=-np.inf)

    def _presence(self, *case: Any) -> Floats:
        with np.errstate(divide="ignore"):
            logs = np.log(self._shares(*case, present=True))
        return np.nan_to_num(logs, nan=0.0, neginf=-np.inf)

    def _shares(self, classes: Any, at: Any, taken: Any, leaving: Any, *, present: bool) -> Floats:
        """Return P(present | class) where rows leave in which the flags are present, or absent."""
        seen, all_seen = float(present) * taken, float(present) * leaving
        counts, everywhere = self.words.table[classes, at] - seen, self._sums[0][at] - all_seen
        known, anywhere = self._known[classes, at] - taken, self._sums[1][at] - leaving
        absent, here = self._pseudo[at].T
        on, off = np.maximum(counts + here, 0.0), np.maximum(known - counts + absent, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = on / (on + off)
            if np.isnan(shares).any():
                on, off = np.maximum(everywhere + here, 0.0), np.maximum(anywhere - everywhere + absent, 0.0)
                shares = np.where(np.isnan(shares), on / (on + off), shares)
        return np.asarray(shares)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        table = self.words.table.sum(axis=0, dtype=np.float64)
        return np.asarray(table), np.asarray(self._known.sum(axis=0))

    def _add_coming(self, added: Floats, come: tuple[Longs, Longs], rows: Leaving) -> None:
        """Add that words are absent which come in where a row costs another its place."""
        row, words = come
        logs = self.every.weights.absent[words]
        case = rows.classes[row], words, rows.weights[row], rows.weights[row]
        logs[np.arange(len(row)), rows.classes[row]] = self._absence(*case)
        np.add.at(added, row, logs)


def _some(entries: Entries, kept: Mask) -> Entries:
    before = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    names = Numbered(len(entries.names))
    return Entries(before[entries.indptr], entries.indices[kept], None, names)


def _added(entries: Entries, values: Floats, to: Floats) -> Floats:
    total = np.ascontiguousarray(to[:, None])
    numbers = np.arange(len(values), dtype=np.int32)
    _core.score_sparse(entries.indptr, numbers, None, np.ascontiguousarray(values[:, None]), total)
    return total[:, 0]
