"""Weights: what each value of a block adds to the score of each class.

Every term offers `add(block, scores)` for many rows, `contributions(block, row)` for the names
behind one row's score, and `features()`: the term as columns of a linear function. A missing
value adds nothing, in all three. `removable(block)` tells what could be taken out of a row, and
`without(block, keys)` is the row without it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weigh import _core
from weigh.features.blocks import CategoryBlock, Floats, Ints, NumberBlock


@dataclass(frozen=True, eq=False)
class Contribution:
    """What one feature of one row adds to the score of each class."""

    feature: str
    value: str
    logs: Floats


@dataclass(frozen=True, eq=False)
class RemovableFeature:
    """A feature of one row: what it adds to each class's score, and what is added where it is `gone`.

    A value that is gone is missing and adds nothing; of a word that is gone the absence may count.
    """

    key: int
    feature: str
    value: str
    present_scores: Floats
    removed_scores: Floats


class SingleValueTerm(ABC):
    """What terms of one value have in common: it is there, or it is missing."""

    @abstractmethod
    def contributions(self, block: Any, row: int) -> Iterator[Contribution]:
        """Yield what the value of a row adds to each class's score."""

    def removable(self, block: Any) -> tuple[list[RemovableFeature], Any]:
        """Return the features of the one row of a block, and what the others add to the scores."""
        found = list(self.contributions(block, 0))
        return [RemovableFeature(0, c.feature, c.value, c.logs, np.zeros(len(c.logs))) for c in found], 0.0


@dataclass(frozen=True, eq=False)
class LinearFeatures:
    """A term as part of a linear function: Σ coef[j] · x[j] + offset."""

    names: Sequence[str]
    coef: Floats
    offset: Floats


def format_value(value: object) -> str:
    """Return a value as users wrote it, whole floats without their point."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


@dataclass(frozen=True, eq=False)
class LevelWeights(SingleValueTerm):
    """One row of weights per level of a category; the last row is for a level never seen.

    The level that the others are weighed `against`, if any, adds nothing and is not listed.
    """

    name: str
    levels: Sequence[Any]
    table: Floats
    reference_level: Any = None

    @cached_property
    def _level_index(self) -> dict[Any, int]:
        return {level: at for at, level in enumerate(self.levels)}

    def known_levels(self) -> list[Any]:
        """Return all levels that were seen, with or without a weight."""
        return [*self.levels, *([] if self.reference_level is None else [self.reference_level])]

    def codes(self, block: CategoryBlock) -> Ints:
        """Return the block's codes in this term's levels; a level never seen has the last code."""
        unseen = len(self.levels)
        lookup = np.array(
            [self._level_index.get(level, unseen) for level in block.levels] + [-1], dtype=np.int32
        )
        return lookup[block.codes]

    def add(self, block: CategoryBlock, scores: Floats) -> None:
        """Add every row's weights to its scores."""
        _core.score_codes(self.codes(block), self.table, scores)

    def contributions(self, block: CategoryBlock, row: int) -> Iterator[Contribution]:
        """Yield what the row's level adds."""
        code = int(block.codes[row])
        if code >= 0:
            level = block.levels[code]
            at = self._level_index.get(level, len(self.levels))
            is_known = at < len(self.levels) or (
                self.reference_level is not None and level == self.reference_level
            )
            note = "" if is_known else " (never seen)"
            yield Contribution(self.name, format_value(block.levels[code]) + note, self.table[at])

    def without(self, block: CategoryBlock, keys: Collection[int]) -> CategoryBlock:
        """Return the one row of a block, its value missing."""
        return CategoryBlock(np.full(1, -1, dtype=np.int32), []) if keys else block

    def features(self) -> LinearFeatures:
        """Return one column per level."""
        names = [f"{self.name}={level}" for level in self.levels]
        return LinearFeatures(names, self.table[:-1], np.zeros(self.table.shape[1]))

    def trained_weights(self) -> Floats:
        """Return the weights [features, classes] as they were learned."""
        return self.table[:-1]

    def with_weights(self, table: Floats) -> LevelWeights:
        """Return the same levels with other weights; a level never seen adds nothing."""
        return replace(self, table=np.vstack([table, np.zeros((1, table.shape[1]))]))

    def append_rows(self, assembly: _core.CsrBuilder, block: CategoryBlock, first: int) -> None:
        """Add a block's rows to others as features that are numbered from `first` on."""
        numbers = np.arange(first, first + len(self.levels) + 1, dtype=np.int32)
        numbers[-1] = -1
        assembly.add_codes(self.codes(block), numbers)


def missing_number(block: NumberBlock, keys: Collection[int]) -> NumberBlock:
    """Return the one number of a block, missing if any key is given."""
    return NumberBlock(np.full(1, np.nan)) if keys else block


class LinearNumberTerm(SingleValueTerm):
    """What numbers have in common whose score is a straight line: offset + value × slope."""

    name: str
    slope: Any
    offset: Any

    def add(self, block: NumberBlock, scores: Floats) -> None:
        """Add value × slope + offset to every row's scores."""
        _core.score_linear(block.values, self.slope, scores)
        scores += np.where(np.isnan(block.values), 0.0, 1.0)[:, None] * self.offset

    def contributions(self, block: NumberBlock, row: int) -> Iterator[Contribution]:
        """Yield what the row's number adds."""
        value = float(block.values[row])
        if not np.isnan(value):
            yield Contribution(self.name, format_value(value), value * self.slope + self.offset)

    def without(self, block: NumberBlock, keys: Collection[int]) -> NumberBlock:
        """Return the one row of a block, its value missing."""
        return missing_number(block, keys)

    def features(self) -> LinearFeatures:
        """Return the one column."""
        return LinearFeatures([self.name], self.slope[None, :], self.offset)


@dataclass(frozen=True, eq=False)
class NumberWeights(LinearNumberTerm):
    """A number's weight per unit, and an offset that only a known value adds."""

    name: str
    slope: Floats
    offset: Floats


@dataclass(frozen=True, eq=False)
class ScaledWeights(LinearNumberTerm):
    """The weights [1, classes] of a number that was learned as (value − centre) / unit."""

    name: str
    table: Floats
    centre: float
    unit: float

    @property
    def slope(self) -> Floats:
        """The weight per unit of the number as it is."""
        return np.asarray(self.table[0] / self.unit)

    @property
    def offset(self) -> Floats:
        """What every known value adds."""
        return np.asarray(-self.slope * self.centre)

    def trained_weights(self) -> Floats:
        """Return the weights [1, classes] as they were learned: of the scaled number."""
        return self.table

    def with_weights(self, table: Floats) -> ScaledWeights:
        """Return the same number with other weights."""
        return replace(self, table=table)

    def append_rows(self, assembly: _core.CsrBuilder, block: NumberBlock, first: int) -> None:
        """Add a block's rows to others as the feature with the number `first`."""
        assembly.add_column((block.values - self.centre) / self.unit, first)
