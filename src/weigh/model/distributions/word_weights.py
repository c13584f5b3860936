"""Weights of words: columns that are found by their names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weigh import _core
from weigh.features import NameArray, TextBlock
from weigh.features.blocks import DenseBlock, Floats, Ints, Longs, SparseBlock
from weigh.features.names import LazyNames
from weigh.model.counts.count_table import CountArray, have_same_names
from weigh.model.distributions.weights import Contribution, LinearFeatures, RemovableFeature, format_value


@dataclass(frozen=True, eq=False)
class HashBuckets:
    """Which of so many buckets have names; the others were never seen, and are no evidence."""

    n_buckets: int
    used: Longs

    @classmethod
    def from_counts(cls, table: CountArray) -> HashBuckets:
        """Return the buckets of counts [classes, buckets] that hold anything."""
        return cls(table.shape[1], np.flatnonzero(table.any(axis=0)))

    def vocabulary(self) -> _core.Vocabulary:
        """Return what finds the place of a word's bucket among those in use."""
        places: Ints = np.full(self.n_buckets, -1, dtype=np.int32)
        places[self.used] = np.arange(len(self.used))
        return _core.Vocabulary.from_buckets(places)


class VocabularyWeights:
    """What flags and words have in common: a row of weights for each name.

    `fixed` names are columns of the schema, others are words. Words that were hashed are told apart
    by their bucket only, and are called what the row calls them.
    """

    title: str
    names: Sequence[str]
    fixed: bool
    buckets: HashBuckets | None

    @cached_property
    def index_by_name(self) -> dict[str, int]:
        """The number of each name; asked for only where a block's names differ."""
        return {name: at for at, name in enumerate(self.names)}

    @cached_property
    def vocabulary(self) -> _core.Vocabulary:
        """The names as the native code looks them up."""
        if self.buckets is not None:
            return self.buckets.vocabulary()
        packed = self.names if isinstance(self.names, NameArray) else NameArray.from_strings(self.names)
        return _core.Vocabulary.from_names(packed.text, packed.offsets)

    def __getstate__(self) -> dict[str, Any]:
        # A vocabulary cannot be copied, and is made again where it is needed.
        return {name: value for name, value in vars(self).items() if name != "vocabulary"}

    def display_name(self, at: int) -> str:
        """Return a name for people."""
        return self.names[at] if self.fixed else f"{self.title}: {self.bucket_word(at)}"

    def bucket_word(self, at: int) -> str:
        """Return a word; a bucket that only very long words fell into goes by its number."""
        if self.buckets is None or self.names[at]:
            return self.names[at]
        return f"bucket {self.buckets.used[at]:,}"

    def entries(self, block: SparseBlock | DenseBlock | TextBlock) -> SparseBlock:
        """Return a block's entries under the numbers of these names, unknown ones left out."""
        if isinstance(block, TextBlock):
            return block.look_up(self.vocabulary, self.names)
        if isinstance(block, DenseBlock):
            block = block.to_sparse()
        if self.fixed and have_same_names(block.names, self.names):
            return block
        lookup = np.array([self.index_by_name.get(name, -1) for name in block.names], dtype=np.int32)
        indices = lookup[block.indices] if len(lookup) else block.indices
        kept = indices >= 0
        before = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
        values = None if block.values is None else block.values[kept]
        return SparseBlock(before[block.indptr], indices[kept], values, self.names)


class DisplayNames(LazyNames):
    """A term's names for people: mostly only their number is asked for."""

    def __init__(self, term: VocabularyWeights) -> None:
        self._term = term

    def __len__(self) -> int:
        return len(self._term.names)

    def _name(self, k: int) -> str:
        return self._term.display_name(k)


def drop_entries(entries: SparseBlock, keys: Collection[int]) -> SparseBlock:
    """Return the entries of one row without some of them."""
    kept = ~np.isin(entries.indices, list(keys))
    values = None if entries.values is None else entries.values[kept]
    indptr: Longs = np.array([0, kept.sum()], dtype=np.int64)
    return SparseBlock(indptr, entries.indices[kept], values, entries.names, entries.missing, entries.known)


@dataclass(frozen=True, eq=False)
class VocabularyLookup(VocabularyWeights):
    """Words that are only looked up, for learners that have weights of their own."""

    names: Sequence[str]
    buckets: HashBuckets | None = None
    title: str = "text"
    fixed: bool = False


@dataclass(frozen=True, eq=False)
class WordWeights(VocabularyWeights):
    """Weights per occurrence of a word; words that are not listed add nothing."""

    title: str
    names: Sequence[str]
    table: Floats
    fixed: bool
    buckets: HashBuckets | None = None

    def add(self, block: SparseBlock | DenseBlock | TextBlock, scores: Floats) -> None:
        """Add count × weights of every word to the rows' scores."""
        if isinstance(block, TextBlock) and block.kind.counts:
            self.vocabulary.score(block.documents, block.settings, self.table, scores)
        else:
            add_sparse_scores(self.entries(block), self.table, scores)

    def occurrences(
        self, block: SparseBlock | DenseBlock | TextBlock, row: int
    ) -> list[tuple[int, float, str]]:
        """Return the row's words: number, how often they occur, and name."""
        if isinstance(block, TextBlock):
            told = block.row(row).count_known_words(self.vocabulary)
            return [(at, count, f"{self.title}: {word}") for at, count, word in told]
        one = self.entries(block.row(row))
        counts = np.ones(len(one.indices)) if one.values is None else one.values
        total: dict[int, float] = {}
        for at, count in zip(one.indices.tolist(), counts.tolist(), strict=True):
            total[at] = total.get(at, 0.0) + count
        return [(at, count, self.display_name(at)) for at, count in sorted(total.items())]

    def contributions(self, block: SparseBlock | DenseBlock | TextBlock, row: int) -> Iterator[Contribution]:
        """Yield what each word of the row adds."""
        for at, count, name in self.occurrences(block, row):
            yield Contribution(name, self.format_amount(count), count * self.table[at])

    def removable(self, block: SparseBlock | DenseBlock | TextBlock) -> tuple[list[RemovableFeature], float]:
        """Return the features of the one row of a block, and what the others add to the scores."""
        nothing = np.zeros(self.table.shape[1])
        found = self.occurrences(block, 0)
        return [
            RemovableFeature(at, name, self.format_amount(n), n * self.table[at], nothing)
            for at, n, name in found
        ], 0.0

    def without(self, block: SparseBlock | DenseBlock | TextBlock, keys: Collection[int]) -> SparseBlock:
        """Return the one row of a block without some words."""
        return drop_entries(self.entries(block), keys).row(0)

    def format_amount(self, count: float) -> str:
        """Return how often a word occurs, for people."""
        return f"× {format_value(count)}"

    def features(self) -> LinearFeatures:
        """Return one column per word."""
        names = self.names if self.fixed else DisplayNames(self)
        return LinearFeatures(names, self.table, np.zeros(self.table.shape[1]))

    def trained_weights(self) -> Floats:
        """Return the weights [features, classes] as they were learned."""
        return self.table

    def with_weights(self, table: Floats) -> WordWeights:
        """Return the same words with other weights."""
        return replace(self, table=table)

    def append_rows(
        self, assembly: _core.CsrBuilder, block: SparseBlock | DenseBlock | TextBlock, first: int
    ) -> None:
        """Add a block's rows to others as features that are numbered from `first` on."""
        here = self.entries(block)
        numbers = np.arange(first, first + max(1, len(self.names)), dtype=np.int32)
        assembly.add_entries(here.indptr, here.indices, here.values, numbers)


@dataclass(frozen=True, eq=False)
class ValueWeights(WordWeights):
    """Weights per unit of columns that are numbers, or flags, which are one or nothing."""

    def format_amount(self, count: float) -> str:
        """Return a value, for people."""
        return format_value(count)


@dataclass(frozen=True, eq=False)
class GridWeights(ValueWeights):
    """Weights of learners that measure: a matrix is multiplied at once, its sums in any order."""

    def add(self, block: SparseBlock | DenseBlock | TextBlock, scores: Floats) -> None:
        """Add value × weights of every column to the rows' scores."""
        if isinstance(block, DenseBlock) and have_same_names(block.names, self.names):
            scores += block.matrix @ self.table
        else:
            super().add(block, scores)


def add_sparse_scores(block: SparseBlock, table: Floats, scores: Floats) -> None:
    """Add value × weights of every entry to the rows' scores."""
    _core.score_sparse(block.indptr, block.indices, block.values, np.ascontiguousarray(table), scores)


MAX_LISTED_ABSENT = 100  # beyond so many flags the absent ones are told together


@dataclass(frozen=True, eq=False)
class FlagWeights(VocabularyWeights):
    """Weights of flags when present and when absent; absence is evidence too."""

    title: str
    names: Sequence[str]
    present: Floats
    absent: Floats
    fixed: bool
    buckets: HashBuckets | None = None

    @cached_property
    def _impossible_if_absent(self) -> Floats:
        """One where absence makes a class impossible, which no finite weight can say."""
        return np.isneginf(self.absent).astype(np.float64)

    @cached_property
    def _n_impossible_if_absent(self) -> Floats:
        return np.asarray(self._impossible_if_absent.sum(axis=0))

    @cached_property
    def _finite_absent(self) -> Floats:
        return np.where(np.isneginf(self.absent), 0.0, self.absent)

    @cached_property
    def _all_absent(self) -> Floats:
        return np.asarray(self._finite_absent.sum(axis=0))

    @cached_property
    def _presence_gain(self) -> Floats:
        """What a flag adds when it is present, beyond what its absence would have added."""
        return np.ascontiguousarray(self.present - self._finite_absent)

    def _known_column(self, block: SparseBlock | TextBlock) -> Floats:
        known = np.ones(block.n_rows) if block.known is None else block.known.astype(np.float64)
        return known[:, None]

    def add(self, block: SparseBlock | TextBlock, scores: Floats) -> None:
        """Add the weights of present flags, and of absent ones, to every row's scores."""
        here = self.entries(block)
        added = self._known_column(block) * self._all_absent
        add_sparse_scores(here, self._presence_gain, added)
        vetoes = self._known_column(block) * self._n_impossible_if_absent
        if vetoes.any():
            add_sparse_scores(here, -self._impossible_if_absent, vetoes)
        if block.missing is not None:
            gone = self.entries(block.missing)
            add_sparse_scores(gone, -self._finite_absent, added)
            add_sparse_scores(gone, -self._impossible_if_absent, vetoes)
        scores += np.where(vetoes > 0.5, -np.inf, added)

    def flag_states(self, block: SparseBlock | TextBlock, row: int) -> tuple[list[int], list[int]]:
        """Return the numbers of the flags that are present in a row, and of those absent."""
        if block.known is not None and not block.known[row]:
            return [], []
        here = self._flag_indices(block, row)
        gone = set() if block.missing is None else self._flag_indices(block.missing, row)
        absent = [at for at in range(len(self.names)) if at not in here and at not in gone]
        return sorted(here), absent

    def row_names(self, block: SparseBlock | TextBlock, row: int) -> dict[int, str]:
        """Return what the words of a row are called there, which in a bucket may differ from training."""
        if self.buckets is None or isinstance(block, SparseBlock):
            return {}
        return {
            at: f"{self.title}: {word}" for at, _, word in block.row(row).count_known_words(self.vocabulary)
        }

    def contributions(self, block: SparseBlock | TextBlock, row: int) -> Iterator[Contribution]:
        """Yield what each flag adds; many absent ones are told together."""
        here, absent = self.flag_states(block, row)
        own = self.row_names(block, row)
        for at in here:
            yield Contribution(
                own.get(at) or self.display_name(at), self.format_state(True), self.present[at]
            )
        if len(absent) <= MAX_LISTED_ABSENT and self.buckets is None:
            for at in absent:
                yield Contribution(self.display_name(at), self.format_state(False), self.absent[at])
        else:
            yield Contribution(f"{len(absent):,} others", "absent", self.absent[absent].sum(axis=0))

    def removable(self, block: SparseBlock | TextBlock) -> tuple[list[RemovableFeature], Floats]:
        """Return the features of the one row of a block, and what the others add to the scores.

        A flag that is gone is missing; a word that is gone is absent, which is evidence too. What is absent
        can only be gone where it is told flag by flag.
        """
        here, absent = self.flag_states(block, 0)
        own, nothing = self.row_names(block, 0), np.zeros(self.present.shape[1])
        found = [
            RemovableFeature(
                at,
                own.get(at) or self.display_name(at),
                self.format_state(True),
                self.present[at],
                nothing if self.fixed else self.absent[at],
            )
            for at in here
        ]
        if not self.fixed or len(absent) > MAX_LISTED_ABSENT:
            return found, np.asarray(self.absent[absent].sum(axis=0))
        found += [
            RemovableFeature(at, self.display_name(at), self.format_state(False), self.absent[at], nothing)
            for at in absent
        ]
        return found, nothing

    def without(self, block: SparseBlock | TextBlock, keys: Collection[int]) -> SparseBlock:
        """Return the one row of a block without some words, or with some flags missing."""
        left = replace(drop_entries(self.entries(block), keys), known=block.known)
        if not self.fixed:
            return left.row(0)
        gone = set() if block.missing is None else self._flag_indices(block.missing, 0)
        numbers = np.array(sorted(gone.union(keys)), dtype=np.int32)
        missing = SparseBlock(np.array([0, len(numbers)], dtype=np.int64), numbers, None, self.names)
        return replace(left, missing=missing)

    def format_state(self, is_present: bool) -> str:
        """Return a flag's state for people."""
        return str(int(is_present)) if self.fixed else ("present" if is_present else "absent")

    def _flag_indices(self, block: SparseBlock | TextBlock, row: int) -> set[int]:
        one = self.entries(block.row(row))
        return set(one.indices.tolist())

    def features(self) -> LinearFeatures:
        """Return one column per flag, whose absence is part of the offset."""
        return LinearFeatures(DisplayNames(self), self.present - self.absent, self.absent.sum(axis=0))
