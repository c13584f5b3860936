"""Words as parts of a space: numbered by name, or by bucket."""

from __future__ import annotations

from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from weigh import _core
from weigh.features import Entries, Names, Numbered, Part, Words, Wordy
from weigh.features.blocks import Floats, Ints, Longs, Mask
from weigh.learn.numbered_parts import Take
from weigh.model.word_weights import Buckets, WordWeights


class WordNumbers:
    """Words by name; known words are numbered beforehand, and then no others have a number."""

    def __init__(self, part: Part, take: Take, known: Names | None = None) -> None:
        self._part = part
        self._take = take
        self._native = _core.NameIndexer(0)
        self._places: Ints = np.zeros(0, dtype=np.int32)  # numbers in the space, by native number
        self._closed = known is not None
        if known is not None:
            self._native.index(known.text, known.offsets, True)
            self._grow()

    def _grow(self) -> None:
        new = len(self._native) - len(self._places)
        if new:
            first = self._take(new)
            self._places = np.concatenate([self._places, np.arange(first, first + new, dtype=np.int32)])

    def made(self, block: Words, kept: Mask | None) -> Entries:
        """Return the rows split, under names of their own; words stay in the order of their first use."""
        block = block if kept is None else block.where(kept)
        own = _core.NameIndexer(0)
        indptr, indices, values = own.index_tokens(block.documents, block.settings)
        return Entries(indptr, indices, values if block.kind.counts else None, Names(*own.names()))

    def alone(self, block: Entries, grow: bool) -> None:
        """Leave also a space of only this part to the assembly, for words have to be found by name."""
        del block, grow

    def add(self, assembly: _core.CsrBuilder, block: Entries, grow: bool) -> None:
        """Put a block's rows under the numbers of their words."""
        names = block.names if isinstance(block.names, Names) else Names.of(block.names)
        found = self._native.index(names.text, names.offsets, grow and not self._closed)
        self._grow()
        places = np.append(self._places, np.int32(-1))[np.where(found < 0, -1, found)]
        assembly.add_entries(block.indptr, block.indices, block.values, places)

    def _names(self) -> Names:
        return Names(*self._native.names())

    def order(self) -> Longs:
        """Return the numbers of the words in the order of the model: sorted."""
        return self._places[self._names().order()].astype(np.int64)

    def term(self, order: Longs, table: Floats) -> WordWeights:
        """Return the term of the words."""
        # Numbers rise with the native ones, so that these are their ranks.
        names = self._names().taken(np.searchsorted(self._places, order))
        return WordWeights(self._part.title, names, table, False)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_native": self._names()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._native = _core.NameIndexer(0)
        self._native.index(state["_native"].text, state["_native"].offsets, True)


class BucketNumbers:
    """Words by bucket: buckets are numbered when they are first used, and names are gathered beside.

    Each thread gathers names of its own, for which of two is the better does not depend on who saw it.
    """

    def __init__(self, part: Part, take: Take) -> None:
        self._part = part
        assert isinstance(part.kind, Wordy)
        assert part.kind.buckets is not None
        self._counts, self._buckets = part.kind.counts, part.kind.buckets
        self._take = take
        self._places = _core.IndexCompactor(np.full(self._buckets, -1, dtype=np.int32))
        self._numbers: Ints = np.zeros(0, dtype=np.int32)  # in the space, by place
        self._named = _core.NameIndexer(self._buckets)
        self._namers: SimpleQueue[_core.NameIndexer] = SimpleQueue()

    def made(self, block: Words, kept: Mask | None) -> Entries:
        """Return the rows split, under the numbers of the buckets."""
        block = block if kept is None else block.where(kept)
        try:
            namer = self._namers.get_nowait()
        except Empty:
            namer = _core.NameIndexer(self._buckets)
        indptr, indices, values = namer.index_tokens(block.documents, block.settings)
        self._namers.put(namer)
        return Entries(indptr, indices, values if self._counts else None, Numbered(self._buckets))

    def alone(self, block: Entries, grow: bool) -> Entries:
        """Return the rows of the only part of a space, whose numbers are the places."""
        indices = self._places.compact(block.indices, grow)
        self._take(len(self._places) - len(self._numbers))
        self._numbers = np.arange(len(self._places), dtype=np.int32)
        return replace(block, indices=indices)

    def add(self, assembly: _core.CsrBuilder, block: Entries, grow: bool) -> None:
        """Put a block's rows under the numbers of their buckets."""
        found = self._places.compact(block.indices, grow)
        new = len(self._places) - len(self._numbers)
        first = self._take(new)
        self._numbers = np.concatenate([self._numbers, np.arange(first, first + new, dtype=np.int32)])
        assembly.add_entries(block.indptr, found, block.values, self._numbers)

    def _used(self) -> Longs:
        return np.flatnonzero(self._places.mapping() >= 0)

    def order(self) -> Longs:
        """Return the numbers of the buckets in use."""
        return self._numbers[self._places.mapping()[self._used()]].astype(np.int64)

    def settle(self, accepted: bool) -> None:
        """Take over the names of the rows that were read, or drop them with the rows."""
        while not self._namers.empty():
            namer = self._namers.get_nowait()
            if accepted:
                self._named.merge(namer)

    def _names(self) -> Names:
        return Names(*self._named.names())

    def term(self, order: Longs, table: Floats) -> WordWeights:
        """Return the term of the buckets in use."""
        del order
        used = self._used()
        buckets = Buckets(self._buckets, used)
        return WordWeights(self._part.title, self._names().taken(used), table, False, buckets)

    def __getstate__(self) -> dict[str, Any]:
        state = {key: value for key, value in vars(self).items() if key != "_namers"}
        return state | {"_named": self._names(), "_places": self._places.mapping()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._places = _core.IndexCompactor(state["_places"])
        names = state["_named"].taken(np.flatnonzero(np.diff(state["_named"].offsets)))
        self._named = _core.NameIndexer(self._buckets)
        self._named.index(names.text, names.offsets, True)
        self._namers = SimpleQueue()
