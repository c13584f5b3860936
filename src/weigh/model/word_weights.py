"""Weights of words: columns that are found by their names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weigh import _core
from weigh.features import Names, Words
from weigh.features.blocks import Entries, Floats, Grid, Ints, Longs
from weigh.features.names import MadeNames
from weigh.model.tally import Table, same_names
from weigh.model.weights import Contribution, Features, Removable, as_text


@dataclass(frozen=True, eq=False)
class Buckets:
    """Which of so many buckets have names; the others were never seen, and are no evidence."""

    number: int
    used: Longs

    @classmethod
    def of(cls, table: Table) -> Buckets:
        """Return the buckets of counts [classes, buckets] that hold anything."""
        return cls(table.shape[1], np.flatnonzero(table.any(axis=0)))

    def vocabulary(self) -> _core.Vocabulary:
        """Return what finds the place of a word's bucket among those in use."""
        places: Ints = np.full(self.number, -1, dtype=np.int32)
        places[self.used] = np.arange(len(self.used))
        return _core.Vocabulary.from_buckets(places)


class NamedWeights:
    """What flags and words have in common: a row of weights for each name.

    `fixed` names are columns of the schema, others are words. Words that were hashed are told apart
    by their bucket only, and are called what the row calls them.
    """

    title: str
    names: Sequence[str]
    fixed: bool
    buckets: Buckets | None

    @cached_property
    def place(self) -> dict[str, int]:
        """The number of each name; asked for only where a block's names differ."""
        return {name: at for at, name in enumerate(self.names)}

    @cached_property
    def vocabulary(self) -> _core.Vocabulary:
        """The names as the native code looks them up."""
        if self.buckets is not None:
            return self.buckets.vocabulary()
        packed = self.names if isinstance(self.names, Names) else Names.of(self.names)
        return _core.Vocabulary.from_names(packed.text, packed.offsets)

    def __getstate__(self) -> dict[str, Any]:
        # A vocabulary cannot be copied, and is made again where it is needed.
        return {name: value for name, value in vars(self).items() if name != "vocabulary"}

    def named(self, at: int) -> str:
        """Return a name for people."""
        return self.names[at] if self.fixed else f"{self.title}: {self.spelled(at)}"

    def spelled(self, at: int) -> str:
        """Return a word; a bucket that only very long words fell into goes by its number."""
        if self.buckets is None or self.names[at]:
            return self.names[at]
        return f"bucket {self.buckets.used[at]:,}"

    def entries(self, block: Entries | Grid | Words) -> Entries:
        """Return a block's entries under the numbers of these names, unknown ones left out."""
        if isinstance(block, Words):
            return block.found(self.vocabulary, self.names)
        if isinstance(block, Grid):
            block = block.entries()
        if self.fixed and same_names(block.names, self.names):
            return block
        lookup = np.array([self.place.get(name, -1) for name in block.names], dtype=np.int32)
        indices = lookup[block.indices] if len(lookup) else block.indices
        kept = indices >= 0
        before = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
        values = None if block.values is None else block.values[kept]
        return Entries(before[block.indptr], indices[kept], values, self.names)


class ToldNames(MadeNames):
    """A term's names for people: mostly only their number is asked for."""

    def __init__(self, term: NamedWeights) -> None:
        self._term = term

    def __len__(self) -> int:
        return len(self._term.names)

    def _name(self, k: int) -> str:
        return self._term.named(k)


def left_over(entries: Entries, keys: Collection[int]) -> Entries:
    """Return the entries of one row without some of them."""
    kept = ~np.isin(entries.indices, list(keys))
    values = None if entries.values is None else entries.values[kept]
    indptr: Longs = np.array([0, kept.sum()], dtype=np.int64)
    return Entries(indptr, entries.indices[kept], values, entries.names, entries.missing, entries.known)


@dataclass(frozen=True, eq=False)
class KnownWords(NamedWeights):
    """Words that are only looked up, for learners that have weights of their own."""

    names: Sequence[str]
    buckets: Buckets | None = None
    title: str = "text"
    fixed: bool = False


@dataclass(frozen=True, eq=False)
class WordWeights(NamedWeights):
    """Weights per occurrence of a word; words that are not listed add nothing."""

    title: str
    names: Sequence[str]
    table: Floats
    fixed: bool
    buckets: Buckets | None = None

    def add(self, block: Entries | Grid | Words, scores: Floats) -> None:
        """Add count × weights of every word to the rows' scores."""
        if isinstance(block, Words) and block.kind.counts:
            self.vocabulary.score(block.documents, block.settings, self.table, scores)
        else:
            add_scores(self.entries(block), self.table, scores)

    def occurrences(self, block: Entries | Grid | Words, row: int) -> list[tuple[int, float, str]]:
        """Return the row's words: number, how often they occur, and name."""
        if isinstance(block, Words):
            told = block.row(row).told(self.vocabulary)
            return [(at, count, f"{self.title}: {word}") for at, count, word in told]
        one = self.entries(block.row(row))
        counts = np.ones(len(one.indices)) if one.values is None else one.values
        total: dict[int, float] = {}
        for at, count in zip(one.indices.tolist(), counts.tolist(), strict=True):
            total[at] = total.get(at, 0.0) + count
        return [(at, count, self.named(at)) for at, count in sorted(total.items())]

    def contributions(self, block: Entries | Grid | Words, row: int) -> Iterator[Contribution]:
        """Yield what each word of the row adds."""
        for at, count, name in self.occurrences(block, row):
            yield Contribution(name, self.amount(count), count * self.table[at])

    def removable(self, block: Entries | Grid | Words) -> tuple[list[Removable], float]:
        """Return the features of the one row of a block, and what the others add to the scores."""
        nothing = np.zeros(self.table.shape[1])
        found = self.occurrences(block, 0)
        return [
            Removable(at, name, self.amount(n), n * self.table[at], nothing) for at, n, name in found
        ], 0.0

    def without(self, block: Entries | Grid | Words, keys: Collection[int]) -> Entries:
        """Return the one row of a block without some words."""
        return left_over(self.entries(block), keys).row(0)

    def amount(self, count: float) -> str:
        """Return how often a word occurs, for people."""
        return f"× {as_text(count)}"

    def features(self) -> Features:
        """Return one column per word."""
        names = self.names if self.fixed else ToldNames(self)
        return Features(names, self.table, np.zeros(self.table.shape[1]))

    def learned(self) -> Floats:
        """Return the weights [features, classes] as they were learned."""
        return self.table

    def reweighed(self, table: Floats) -> WordWeights:
        """Return the same words with other weights."""
        return replace(self, table=table)

    def put_rows(self, assembly: _core.CsrBuilder, block: Entries | Grid | Words, first: int) -> None:
        """Add a block's rows to others as features that are numbered from `first` on."""
        here = self.entries(block)
        numbers = np.arange(first, first + max(1, len(self.names)), dtype=np.int32)
        assembly.add_entries(here.indptr, here.indices, here.values, numbers)


@dataclass(frozen=True, eq=False)
class ValueWeights(WordWeights):
    """Weights per unit of columns that are numbers, or flags, which are one or nothing."""

    def amount(self, count: float) -> str:
        """Return a value, for people."""
        return as_text(count)


@dataclass(frozen=True, eq=False)
class GridWeights(ValueWeights):
    """Weights of learners that measure: a matrix is multiplied at once, its sums in any order."""

    def add(self, block: Entries | Grid | Words, scores: Floats) -> None:
        """Add value × weights of every column to the rows' scores."""
        if isinstance(block, Grid) and same_names(block.names, self.names):
            scores += block.matrix @ self.table
        else:
            super().add(block, scores)


def add_scores(block: Entries, table: Floats, scores: Floats) -> None:
    """Add value × weights of every entry to the rows' scores."""
    _core.score_sparse(block.indptr, block.indices, block.values, np.ascontiguousarray(table), scores)
