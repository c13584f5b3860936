"""The parts of a space: how the features of each kind of block are numbered and named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from weigh import _core
from weigh.features import Codes, Entries, Names, Numbers, Part
from weigh.features.blocks import Floats, Ints, Longs
from weigh.learn.preparation import Scale
from weigh.model.tally import name_key
from weigh.model.weights import LevelWeights, ScaledWeights
from weigh.model.word_weights import Buckets, ValueWeights, WordWeights

Take = Callable[[int], int]


class NumberedPart(Protocol):
    """What a space needs of a part."""

    def add(self, assembly: _core.Assembly, block: Any, grow: bool) -> None:
        """Put a block's rows under the numbers of its features."""

    def order(self) -> Longs:
        """Return the numbers of the features in the order of the model."""

    def term(self, table: Floats) -> Any:
        """Return the term of a model from weights [features in that order, classes]."""


class Fixed:
    """Columns that form one block: flags, counts, values, products."""

    def __init__(self, part: Part, take: Take) -> None:
        self._part = part
        self._first = take(len(part.features))

    def add(self, assembly: _core.Assembly, block: Entries, grow: bool) -> None:
        """Put a block's rows under the numbers of its features."""
        del grow  # the columns of a schema are all there from the beginning
        assembly.add_entries(block.indptr, block.indices, block.values, self.order().astype(np.int32))

    def order(self) -> Longs:
        """Return the numbers of the columns."""
        return np.arange(self._first, self._first + len(self._part.features))

    def term(self, table: Floats) -> WordWeights:
        """Return the term of the columns."""
        kind = WordWeights if self._part.kind.name == "count" else ValueWeights
        return kind(self._part.title, self._part.features, table, True)


class Levels:
    """A category, or a number in bins: one feature per level, but none for the one it is weighed against."""

    def __init__(self, part: Part, take: Take) -> None:
        self._part = part
        self._take = take
        self._against = getattr(part.kind, "against", None)
        self._numbers: dict[Any, int] = {}
        self._declared = tuple(getattr(part.kind, "levels", None) or ())
        for level in self._declared:
            self._number(level, True)

    def _number(self, level: Any, grow: bool) -> int:
        if self._against is not None and level == self._against:
            return -1
        known = self._numbers.get(level, -1)
        if known < 0 and grow:
            known = self._numbers[level] = self._take(1)
        return known

    def add(self, assembly: _core.Assembly, block: Codes, grow: bool) -> None:
        """Put a block's rows under the numbers of their levels."""
        numbers: Ints = np.full(max(1, len(block.levels)), -1, dtype=np.int32)
        # Only levels that some row has: a table may know many more.
        for code in np.unique(block.codes[block.codes >= 0]).tolist():
            numbers[code] = self._number(block.levels[code], grow)
        assembly.add_codes(block.codes, numbers)

    def _levels(self) -> list[Any]:
        declared = [level for level in self._declared if level in self._numbers]
        return declared + sorted(self._numbers.keys() - set(declared), key=name_key)

    def order(self) -> Longs:
        """Return the numbers of the levels: declared ones first, then the others sorted."""
        return np.array([self._numbers[level] for level in self._levels()], dtype=np.int64)

    def term(self, table: Floats) -> LevelWeights:
        """Return the term of the levels; one never seen adds nothing."""
        unseen = np.zeros((1, table.shape[1]))
        return LevelWeights(self._part.title, self._levels(), np.vstack([table, unseen]), self._against)


class Scaled:
    """A number that is learned centred and in standard deviations."""

    def __init__(self, part: Part, take: Take, scale: Scale) -> None:
        self._part = part
        self._first = take(1)
        self._scale = scale

    def add(self, assembly: _core.Assembly, block: Numbers, grow: bool) -> None:
        """Put a block's rows under the number's own."""
        del grow
        assembly.add_column((block.values - self._scale.centre) / self._scale.unit, self._first)

    def order(self) -> Longs:
        """Return the one number."""
        return np.array([self._first])

    def term(self, table: Floats) -> ScaledWeights:
        """Return the term of the number."""
        return ScaledWeights(self._part.title, table, self._scale.centre, self._scale.unit)


class WordNumbers:
    """Words by name, or by bucket; known words are numbered beforehand and no others have a number."""

    def __init__(self, part: Part, take: Take, known: Names | None = None) -> None:
        self._part = part
        self._take = take
        self._buckets: int = part.kind.buckets or 0  # type: ignore[attr-defined]
        self._native = _core.Numbering(self._buckets)
        self._places: Ints = np.zeros(0, dtype=np.int32)  # numbers in the space, by native number
        self._seen = np.zeros(self._buckets, dtype=bool)
        self._closed = known is not None
        if known is not None:
            self._native.numbers(known.text, known.offsets, True)
        self._grow()

    def _grow(self) -> None:
        new = len(self._native) - len(self._places)
        if new:
            first = self._take(new)
            self._places = np.concatenate([self._places, np.arange(first, first + new, dtype=np.int32)])

    def add(self, assembly: _core.Assembly, block: Entries, grow: bool) -> None:
        """Put a block's rows under the numbers of their words."""
        names = block.names if isinstance(block.names, Names) else Names.of(block.names)
        found = self._native.numbers(names.text, names.offsets, grow and not self._closed)
        self._grow()
        if self._buckets and grow:
            self._seen[found] = True
        places = np.append(self._places, np.int32(-1))[found]
        assembly.add_entries(block.indptr, block.indices, block.values, places)

    def _names(self) -> Names:
        return Names(*self._native.names())

    def _order(self) -> Longs:
        """Return the native numbers in the order of the model: sorted words, or buckets in use."""
        if self._buckets:
            return np.flatnonzero(self._seen)
        return self._names().order().astype(np.int64)

    def order(self) -> Longs:
        """Return the numbers of the words in the order of the model."""
        return self._places[self._order()].astype(np.int64)

    def term(self, table: Floats) -> WordWeights:
        """Return the term of the words."""
        order = self._order()
        buckets = Buckets(self._buckets, order) if self._buckets else None
        return WordWeights(self._part.title, self._names().taken(order), table, False, buckets)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_native": self._names()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        names = state["_native"]
        vars(self).update(state)
        self._native = _core.Numbering(self._buckets)
        kept = np.flatnonzero(np.diff(names.offsets)) if self._buckets else np.arange(len(names))
        kept_names = names.taken(kept)
        self._native.numbers(kept_names.text, kept_names.offsets, True)
