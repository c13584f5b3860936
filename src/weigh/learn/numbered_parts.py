"""The parts of a space: how the features of each kind of block are numbered and named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from weigh import _core
from weigh.features import Codes, Entries, Grid, Numbers, Part
from weigh.features.blocks import Floats, Ints, Longs, Mask
from weigh.features.columns import bin_names
from weigh.features.words import as_entries
from weigh.learn.preparation import Scale
from weigh.model.tally import name_key
from weigh.model.weights import LevelWeights, ScaledWeights
from weigh.model.word_weights import GridWeights, ValueWeights, WordWeights

Take = Callable[[int], int]


class NumberedPart(Protocol):
    """What a space needs of a part."""

    def made(self, block: Any, kept: Mask | None) -> Any:
        """Return a block, or the kept rows of it, ready to be added; may be done in any thread."""

    def alone(self, block: Any, grow: bool) -> Entries | None:
        """Return the rows of the only part of a space, if they need no assembly."""

    def add(self, assembly: _core.CsrBuilder, block: Any, grow: bool) -> None:
        """Put a block's rows under the numbers of its features."""

    def order(self) -> Longs:
        """Return the numbers of the features in the order of the model."""

    def term(self, order: Longs, table: Floats) -> Any:
        """Return the term of a model from weights [features in that order, classes]."""


class Fixed:
    """Columns that form one block: flags, counts, values, products."""

    def __init__(self, part: Part, take: Take, *, dense: bool = False) -> None:
        self._part = part
        self._dense = dense  # whether learners may add up a matrix in any order
        self._first = take(len(part.features))

    def made(self, block: Entries | Grid, kept: Mask | None) -> Entries | Grid:
        """Return the rows, with their zeros if those are wanted."""
        own = block if self._dense else as_entries(block)
        return own if kept is None else own.where(kept)

    def alone(self, block: Entries | Grid, grow: bool) -> Entries:
        """Return the block, whose numbers are its columns'."""
        del grow
        return as_entries(block)

    def add(self, assembly: _core.CsrBuilder, block: Entries | Grid, grow: bool) -> None:
        """Put a block's rows under the numbers of its features."""
        del grow  # the columns of a schema are all there from the beginning
        block = as_entries(block)
        assembly.add_entries(block.indptr, block.indices, block.values, self.order().astype(np.int32))

    def order(self) -> Longs:
        """Return the numbers of the columns."""
        return np.arange(self._first, self._first + len(self._part.features))

    def term(self, order: Longs, table: Floats) -> WordWeights:
        """Return the term of the columns."""
        del order
        valued = GridWeights if self._dense else ValueWeights
        kind = WordWeights if self._part.kind.name == "count" else valued
        return kind(self._part.title, self._part.features, table, True)


class Levels:
    """A category, or a number in bins: one feature per level, but none for the one it is weighed against."""

    def __init__(self, part: Part, take: Take) -> None:
        self._part = part
        self.name = part.names[0]
        self._take = take
        self._against = getattr(part.kind, "against", None)
        self._numbers: dict[Any, int] = {}
        bins = getattr(part.kind, "bins", None)
        self._declared = tuple(bin_names(bins) if bins else getattr(part.kind, "levels", None) or ())
        for level in self._declared:
            self._number(level, True)

    def _number(self, level: Any, grow: bool) -> int:
        if self._against is not None and level == self._against:
            return -1
        known = self._numbers.get(level, -1)
        if known < 0 and grow:
            known = self._numbers[level] = self._take(1)
        return known

    def made(self, block: Codes, kept: Mask | None) -> Codes:
        """Return the rows, which are ready."""
        return block if kept is None else block.where(kept)

    def alone(self, block: Codes, grow: bool) -> None:
        """Leave also a space of only this part to the assembly."""
        del block, grow

    def add(self, assembly: _core.CsrBuilder, block: Codes, grow: bool) -> None:
        """Put a block's rows under the numbers of their levels."""
        numbers: Ints = np.full(max(1, len(block.levels)), -1, dtype=np.int32)
        # Only levels that some row has: a table may know many more.
        for code in np.unique(block.codes[block.codes >= 0]).tolist():
            numbers[code] = self._number(block.levels[code], grow)
        assembly.add_codes(block.codes, numbers)

    def levels(self) -> list[Any]:
        """Return the levels that have a feature: declared ones first, then the others sorted."""
        declared = [level for level in self._declared if level in self._numbers]
        return declared + sorted(self._numbers.keys() - set(declared), key=name_key)

    def known(self) -> list[Any]:
        """Return all levels, with or without a feature."""
        return [*self._numbers, *([] if self._against is None else [self._against])]

    def order(self) -> Longs:
        """Return the numbers of the levels: declared ones first, then the others sorted."""
        return np.array([self._numbers[level] for level in self.levels()], dtype=np.int64)

    def term(self, order: Longs, table: Floats) -> LevelWeights:
        """Return the term of the levels; one never seen adds nothing."""
        del order
        unseen = np.zeros((1, table.shape[1]))
        return LevelWeights(self._part.title, self.levels(), np.vstack([table, unseen]), self._against)


class Scaled:
    """A number that is learned centred and in standard deviations."""

    def __init__(self, part: Part, take: Take, scale: Scale) -> None:
        self._part = part
        self._first = take(1)
        self._scale = scale

    def made(self, block: Numbers, kept: Mask | None) -> Numbers:
        """Return the rows centred and scaled."""
        scaled = Numbers((block.values - self._scale.centre) / self._scale.unit)
        return scaled if kept is None else scaled.where(kept)

    def alone(self, block: Numbers, grow: bool) -> None:
        """Leave also a space of only this part to the assembly."""
        del block, grow

    def add(self, assembly: _core.CsrBuilder, block: Numbers, grow: bool) -> None:
        """Put a block's rows under the number's own."""
        del grow
        assembly.add_column(block.values, self._first)

    def order(self) -> Longs:
        """Return the one number."""
        return np.array([self._first])

    def term(self, order: Longs, table: Floats) -> ScaledWeights:
        """Return the term of the number."""
        del order
        return ScaledWeights(self._part.title, table, self._scale.centre, self._scale.unit)
