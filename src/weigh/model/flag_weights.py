"""Weights of flags: columns, or words, whose absence is evidence too."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from weigh.features import Words
from weigh.features.blocks import Entries, Floats
from weigh.model.weights import Contribution, Features, Removable
from weigh.model.word_weights import Buckets, NamedWeights, ToldNames, add_scores, left_over

MOST_ABSENT = 100  # beyond so many flags the absent ones are told together


@dataclass(frozen=True, eq=False)
class FlagWeights(NamedWeights):
    """Weights of flags when present and when absent; absence is evidence too."""

    title: str
    names: Sequence[str]
    present: Floats
    absent: Floats
    fixed: bool
    buckets: Buckets | None = None

    @cached_property
    def _veto(self) -> Floats:
        """One where absence makes a class impossible, which no finite weight can say."""
        return np.isneginf(self.absent).astype(np.float64)

    @cached_property
    def _vetoes(self) -> Floats:
        return np.asarray(self._veto.sum(axis=0))

    @cached_property
    def _finite_absent(self) -> Floats:
        return np.where(np.isneginf(self.absent), 0.0, self.absent)

    @cached_property
    def _all_absent(self) -> Floats:
        return np.asarray(self._finite_absent.sum(axis=0))

    @cached_property
    def _gain(self) -> Floats:
        """What a flag adds when it is present, beyond what its absence would have added."""
        return np.ascontiguousarray(self.present - self._finite_absent)

    def _known(self, block: Entries | Words) -> Floats:
        known = np.ones(block.n_rows) if block.known is None else block.known.astype(np.float64)
        return known[:, None]

    def add(self, block: Entries | Words, scores: Floats) -> None:
        """Add the weights of present flags, and of absent ones, to every row's scores."""
        here = self.entries(block)
        added = self._known(block) * self._all_absent
        add_scores(here, self._gain, added)
        vetoes = self._known(block) * self._vetoes
        if vetoes.any():
            add_scores(here, -self._veto, vetoes)
        if block.missing is not None:
            gone = self.entries(block.missing)
            add_scores(gone, -self._finite_absent, added)
            add_scores(gone, -self._veto, vetoes)
        scores += np.where(vetoes > 0.5, -np.inf, added)

    def states(self, block: Entries | Words, row: int) -> tuple[list[int], list[int]]:
        """Return the numbers of the flags that are present in a row, and of those absent."""
        if block.known is not None and not block.known[row]:
            return [], []
        here = self._indices(block, row)
        gone = set() if block.missing is None else self._indices(block.missing, row)
        absent = [at for at in range(len(self.names)) if at not in here and at not in gone]
        return sorted(here), absent

    def own_names(self, block: Entries | Words, row: int) -> dict[int, str]:
        """Return what the words of a row are called there, which in a bucket may differ from training."""
        if self.buckets is None or isinstance(block, Entries):
            return {}
        return {at: f"{self.title}: {word}" for at, _, word in block.row(row).told(self.vocabulary)}

    def contributions(self, block: Entries | Words, row: int) -> Iterator[Contribution]:
        """Yield what each flag adds; many absent ones are told together."""
        here, absent = self.states(block, row)
        own = self.own_names(block, row)
        for at in here:
            yield Contribution(own.get(at) or self.named(at), self.word(True), self.present[at])
        if len(absent) <= MOST_ABSENT and self.buckets is None:
            for at in absent:
                yield Contribution(self.named(at), self.word(False), self.absent[at])
        else:
            yield Contribution(f"{len(absent):,} others", "absent", self.absent[absent].sum(axis=0))

    def removable(self, block: Entries | Words) -> tuple[list[Removable], Floats]:
        """Return the features of the one row of a block, and what the others add to the scores.

        A flag that is gone is missing; a word that is gone is absent, which is evidence too. What is absent
        can only be gone where it is told flag by flag.
        """
        here, absent = self.states(block, 0)
        own, nothing = self.own_names(block, 0), np.zeros(self.present.shape[1])
        found = [
            Removable(
                at,
                own.get(at) or self.named(at),
                self.word(True),
                self.present[at],
                nothing if self.fixed else self.absent[at],
            )
            for at in here
        ]
        if not self.fixed or len(absent) > MOST_ABSENT:
            return found, np.asarray(self.absent[absent].sum(axis=0))
        found += [Removable(at, self.named(at), self.word(False), self.absent[at], nothing) for at in absent]
        return found, nothing

    def without(self, block: Entries | Words, keys: Collection[int]) -> Entries:
        """Return the one row of a block without some words, or with some flags missing."""
        left = replace(left_over(self.entries(block), keys), known=block.known)
        if not self.fixed:
            return left.row(0)
        gone = set() if block.missing is None else self._indices(block.missing, 0)
        numbers = np.array(sorted(gone.union(keys)), dtype=np.int32)
        missing = Entries(np.array([0, len(numbers)], dtype=np.int64), numbers, None, self.names)
        return replace(left, missing=missing)

    def word(self, is_present: bool) -> str:
        """Return a flag's state for people."""
        return str(int(is_present)) if self.fixed else ("present" if is_present else "absent")

    def _indices(self, block: Entries | Words, row: int) -> set[int]:
        one = self.entries(block.row(row))
        return set(one.indices.tolist())

    def features(self) -> Features:
        """Return one column per flag, whose absence is part of the offset."""
        return Features(ToldNames(self), self.present - self.absent, self.absent.sum(axis=0))
