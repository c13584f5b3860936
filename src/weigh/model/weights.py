"""Weights: what each value of a block adds to the score of each class.

Every term offers `add(block, scores)` for many rows, `contributions(block, row)` for the names
behind one row's score, and `features()`: the term as columns of a linear function. A missing
value adds nothing, in all three.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weigh import _core
from weigh.features import Names, Words
from weigh.features.blocks import Codes, Entries, Floats, Ints, Numbers
from weigh.model.tally import same_names

MOST_ABSENT = 100  # beyond so many flags the absent ones are told together


@dataclass(frozen=True, eq=False)
class Contribution:
    """What one feature of one row adds to the score of each class."""

    feature: str
    value: str
    logs: Floats


@dataclass(frozen=True, eq=False)
class Features:
    """A term as part of a linear function: Σ coef[j] · x[j] + offset."""

    names: list[str]
    coef: Floats
    offset: Floats


def as_text(value: object) -> str:
    """Return a value as users wrote it, whole floats without their point."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


@dataclass(frozen=True, eq=False)
class LevelWeights:
    """One row of weights per level of a category; the last row is for a level never seen."""

    name: str
    levels: Sequence[Any]
    table: Floats

    @cached_property
    def _place(self) -> dict[Any, int]:
        return {level: at for at, level in enumerate(self.levels)}

    def codes(self, block: Codes) -> Ints:
        """Return the block's codes in this term's levels; a level never seen has the last code."""
        unseen = len(self.levels)
        lookup = np.array([self._place.get(level, unseen) for level in block.levels] + [-1], dtype=np.int32)
        return lookup[block.codes]

    def add(self, block: Codes, scores: Floats) -> None:
        """Add every row's weights to its scores."""
        _core.score_codes(self.codes(block), self.table, scores)

    def contributions(self, block: Codes, row: int) -> Iterator[Contribution]:
        """Yield what the row's level adds."""
        code = int(block.codes[row])
        if code >= 0:
            at = self._place.get(block.levels[code], len(self.levels))
            note = "" if at < len(self.levels) else " (never seen)"
            yield Contribution(self.name, as_text(block.levels[code]) + note, self.table[at])

    def features(self) -> Features:
        """Return one column per level."""
        names = [f"{self.name}={level}" for level in self.levels]
        return Features(names, self.table[:-1], np.zeros(self.table.shape[1]))


@dataclass(frozen=True, eq=False)
class FlagWeights:
    """Weights of flags when present and when absent; absence is evidence too."""

    title: str
    names: Sequence[str]
    present: Floats
    absent: Floats
    fixed: bool
    hashed: bool = False

    @cached_property
    def _veto(self) -> Floats:
        """One where absence makes a class impossible, which no finite weight can say."""
        return np.isneginf(self.absent).astype(np.float64)

    @cached_property
    def _finite_absent(self) -> Floats:
        return np.where(np.isneginf(self.absent), 0.0, self.absent)

    @cached_property
    def place(self) -> dict[str, int]:
        """The number of each name; asked for only where a block's names differ."""
        return {name: at for at, name in enumerate(self.names)}

    def _known(self, block: Entries | Words) -> Floats:
        known = np.ones(block.n_rows) if block.known is None else block.known.astype(np.float64)
        return known[:, None]

    @cached_property
    def vocabulary(self) -> _core.Vocabulary:
        """The names as the native code looks them up."""
        return vocabulary_of(self.names, self.hashed)

    def __getstate__(self) -> dict[str, Any]:
        return without_vocabulary(vars(self))

    def add(self, block: Entries | Words, scores: Floats) -> None:
        """Add the weights of present flags, and of absent ones, to every row's scores."""
        here = matched(block, self)
        added = self._known(block) * self._finite_absent.sum(axis=0)
        _score(here, self.present - self._finite_absent, added)
        vetoes = self._known(block) * self._veto.sum(axis=0)
        if vetoes.any():
            _score(here, -self._veto, vetoes)
        if block.missing is not None:
            gone = matched(block.missing, self)
            _score(gone, -self._finite_absent, added)
            _score(gone, -self._veto, vetoes)
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
        if not self.hashed or isinstance(block, Entries):
            return {}
        return {at: f"{self.title}: {word}" for at, _, word in block.row(row).told(self.vocabulary)}

    def contributions(self, block: Entries | Words, row: int) -> Iterator[Contribution]:
        """Yield what each flag adds; many absent ones are told together."""
        here, absent = self.states(block, row)
        own = self.own_names(block, row)
        for at in here:
            yield Contribution(own.get(at) or self.named(at), self.word(True), self.present[at])
        if len(absent) <= MOST_ABSENT and not self.hashed:
            for at in absent:
                yield Contribution(self.named(at), self.word(False), self.absent[at])
        else:
            yield Contribution(f"{len(absent):,} others", "absent", self.absent[absent].sum(axis=0))

    def word(self, is_present: bool) -> str:
        """Return a flag's state for people."""
        return str(int(is_present)) if self.fixed else ("present" if is_present else "absent")

    def named(self, at: int) -> str:
        """Return a flag's name for people."""
        return self.names[at] if self.fixed else f"{self.title}: {word_name(self.names, at)}"

    def _indices(self, block: Entries | Words, row: int) -> set[int]:
        one = matched(block.row(row), self)
        return set(one.indices.tolist())

    def features(self) -> Features:
        """Return one column per flag, whose absence is part of the offset."""
        names = [self.named(at) for at in range(len(self.names))]
        return Features(names, self.present - self.absent, self.absent.sum(axis=0))


@dataclass(frozen=True, eq=False)
class WordWeights:
    """Weights per occurrence of a word; words that are not listed add nothing.

    `hashed` words are told apart by their bucket only, and are called what the row calls them.
    """

    title: str
    names: Sequence[str]
    table: Floats
    fixed: bool
    hashed: bool = False

    @cached_property
    def place(self) -> dict[str, int]:
        """The number of each name; asked for only where a block's names differ."""
        return {name: at for at, name in enumerate(self.names)}

    @cached_property
    def vocabulary(self) -> _core.Vocabulary:
        """The names as the native code looks them up."""
        return vocabulary_of(self.names, self.hashed)

    def __getstate__(self) -> dict[str, Any]:
        return without_vocabulary(vars(self))

    def entries(self, block: Entries | Words) -> Entries:
        """Return the block in this term's words, the others left out."""
        return matched(block, self)

    def add(self, block: Entries | Words, scores: Floats) -> None:
        """Add count × weights of every word to the rows' scores."""
        if isinstance(block, Words):
            self.vocabulary.score(block.documents, block.settings, self.table, scores)
        else:
            _score(self.entries(block), self.table, scores)

    def occurrences(self, block: Entries | Words, row: int) -> list[tuple[int, float, str]]:
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

    def named(self, at: int) -> str:
        """Return a word's name for people."""
        return self.names[at] if self.fixed else f"{self.title}: {word_name(self.names, at)}"

    def contributions(self, block: Entries | Words, row: int) -> Iterator[Contribution]:
        """Yield what each word of the row adds."""
        for at, count, name in self.occurrences(block, row):
            yield Contribution(name, f"× {as_text(count)}", count * self.table[at])

    def features(self) -> Features:
        """Return one column per word."""
        names = [self.named(at) for at in range(len(self.names))]
        return Features(names, self.table, np.zeros(self.table.shape[1]))


@dataclass(frozen=True, eq=False)
class NumberWeights:
    """A number's weight per unit, and an offset that only a known value adds."""

    name: str
    slope: Floats
    offset: Floats

    def add(self, block: Numbers, scores: Floats) -> None:
        """Add value × slope + offset to every row's scores."""
        _core.score_linear(block.values, self.slope, scores)
        scores += np.where(np.isnan(block.values), 0.0, 1.0)[:, None] * self.offset

    def contributions(self, block: Numbers, row: int) -> Iterator[Contribution]:
        """Yield what the row's number adds."""
        value = float(block.values[row])
        if not np.isnan(value):
            yield Contribution(self.name, as_text(value), value * self.slope + self.offset)

    def features(self) -> Features:
        """Return the one column."""
        return Features([self.name], self.slope[None, :], self.offset)


def vocabulary_of(names: Sequence[str], hashed: bool) -> _core.Vocabulary:
    """Return names as the native code looks them up."""
    if hashed:
        return _core.Vocabulary(len(names))
    packed = names if isinstance(names, Names) else Names.of(names)
    return _core.Vocabulary.of_names(packed.text, packed.offsets)


def without_vocabulary(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return what may be copied: a vocabulary cannot, and is made again where it is needed."""
    return {name: value for name, value in state.items() if name != "vocabulary"}


def word_name(names: Sequence[str], at: int) -> str:
    """Return a word; a bucket that no word has named goes by its number."""
    return names[at] or f"bucket {at:,}"


def matched(block: Entries | Words, term: FlagWeights | WordWeights) -> Entries:
    """Return a block's entries under the numbers that a term's names give them, unknown ones left out."""
    if isinstance(block, Words):
        return block.found(term.vocabulary, term.names)
    if term.fixed and same_names(block.names, term.names):
        return block
    lookup = np.array([term.place.get(name, -1) for name in block.names], dtype=np.int32)
    indices = lookup[block.indices] if len(lookup) else block.indices
    kept = indices >= 0
    before = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    values = None if block.values is None else block.values[kept]
    return Entries(before[block.indptr], indices[kept], values, term.names)


def _score(block: Entries, table: Floats, scores: Floats) -> None:
    _core.score_sparse(block.indptr, block.indices, block.values, np.ascontiguousarray(table), scores)


Weights = LevelWeights | FlagWeights | WordWeights | NumberWeights
