"""The additive terms of a score: what each value of a block adds to the score of each class.

A term has `add(block, scores)` for a batch of rows, `contributions(block, row)` for the explanation of one
row, and, if it is linear, `features()` for its coefficients. A missing value adds nothing in all three.
`removable(block)` lists the features that can be removed from a single row, and `without(block, keys)`
returns the row without some of them.
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
from weigh.immutable import Immutable

CONSTANT = "constant, left out"  # the description of a column that is the same in all rows


@dataclass(frozen=True, eq=False)
class Contribution:
    """What one feature of a row adds to the score of each class: `logs` [C]."""

    feature: str
    value: str
    logs: Floats


@dataclass(frozen=True, eq=False)
class RemovableFeature:
    """A feature of one row: what it adds to the score of each class, and what its removal adds instead.

    A removed value is missing and adds nothing; a removed word is absent, which may add evidence.
    """

    key: int
    feature: str
    value: str
    present_scores: Floats
    removed_scores: Floats


class SingleValueTerm(Immutable, ABC):
    """Base class of terms with one value per row, known or missing."""

    @abstractmethod
    def contributions(self, block: Any, row: int) -> Iterator[Contribution]:
        """Yield the contribution of the row's value."""

    def removable(self, block: Any) -> tuple[list[RemovableFeature], Any]:
        """Return the removable features of the single row of a block, and the scores of all others."""
        features = [
            RemovableFeature(0, c.feature, c.value, c.logs, np.zeros(len(c.logs)))
            for c in self.contributions(block, 0)
        ]
        return features, 0.0


@dataclass(frozen=True, eq=False)
class LinearFeatures(Immutable):
    """A term as a linear function: Σ coef[j] · x[j] + offset, with coef [d, C] and offset [C]."""

    names: Sequence[str]
    coef: Floats
    offset: Floats


def format_value(value: object) -> str:
    """Format a value for display; floats with at most six significant digits."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


@dataclass(frozen=True, eq=False)
class LevelWeights(SingleValueTerm):
    """Weights [K + 1, C] of the levels of a category; the last row is for an unseen level.

    The reference level, if there is one, adds nothing and is not among `levels`. A constant column adds
    nothing and is not listed.
    """

    name: str
    levels: Sequence[Any]
    table: Floats
    reference_level: Any = None
    is_constant: bool = False

    @cached_property
    def _level_index(self) -> dict[Any, int]:
        return {level: k for k, level in enumerate(self.levels)}

    def known_levels(self) -> list[Any]:
        """Return all levels seen in training, including the reference level."""
        return [*self.levels, *([] if self.reference_level is None else [self.reference_level])]

    def codes(self, block: CategoryBlock) -> Ints:
        """Return the block as codes of `levels`; an unseen level has the code K, a missing value -1."""
        unseen = len(self.levels)
        lookup = np.array(
            [self._level_index.get(level, unseen) for level in block.levels] + [-1], dtype=np.int32
        )
        return lookup[block.codes]

    def add(self, block: CategoryBlock, scores: Floats) -> None:
        """Add the weights of each row's level to its scores."""
        _core.score_codes(self.codes(block), self.table, scores)

    def contributions(self, block: CategoryBlock, row: int) -> Iterator[Contribution]:
        """Yield the contribution of the row's level."""
        code = int(block.codes[row])
        if code >= 0 and not self.is_constant:
            level = block.levels[code]
            k = self._level_index.get(level, len(self.levels))
            is_reference = self.reference_level is not None and level == self.reference_level
            note = "" if k < len(self.levels) or is_reference else " (never seen)"
            yield Contribution(self.name, format_value(level) + note, self.table[k])

    def without(self, block: CategoryBlock, keys: Collection[int]) -> CategoryBlock:
        """Return the single row of a block, with its value missing if any key is given."""
        return CategoryBlock(np.full(1, -1, dtype=np.int32), []) if keys else block

    def features(self) -> LinearFeatures:
        """Return one 0/1 feature per level."""
        names = [f"{self.name}={level}" for level in self.levels]
        return LinearFeatures(names, self.table[:-1], np.zeros(self.table.shape[1]))

    def trained_weights(self) -> Floats:
        """Return the trained weights [features, classes]."""
        return self.table[:-1]

    def with_weights(self, table: Floats) -> LevelWeights:
        """Return the same levels with other weights; an unseen level adds nothing."""
        return replace(self, table=np.vstack([table, np.zeros((1, table.shape[1]))]))

    def append_rows(self, builder: _core.CsrBuilder, block: CategoryBlock, first: int) -> None:
        """Append the rows of a block to a sparse matrix, as the columns from `first` on."""
        columns = np.arange(first, first + len(self.levels) + 1, dtype=np.int32)
        columns[-1] = -1
        builder.add_codes(self.codes(block), columns)


def missing_number(block: NumberBlock, keys: Collection[int]) -> NumberBlock:
    """Return the single row of a block, with its value missing if any key is given."""
    return NumberBlock(np.full(1, np.nan)) if keys else block


class LinearNumberTerm(SingleValueTerm):
    """Base class of terms that are linear in a number: offset + (value − centre) × slope, 0 if it is missing.

    Centring keeps the digits of numbers that vary little compared with their size.
    """

    name: str
    slope: Any
    offset: Any
    centre: float

    def add(self, block: NumberBlock, scores: Floats) -> None:
        """Add (value − centre) × slope + offset to the scores of each row."""
        _core.score_linear(block.values - self.centre, self.slope, scores)
        if np.any(self.offset):
            scores += np.where(np.isnan(block.values), 0.0, 1.0)[:, None] * self.offset

    def contributions(self, block: NumberBlock, row: int) -> Iterator[Contribution]:
        """Yield the contribution of the row's number."""
        value = float(block.values[row])
        if not np.isnan(value):
            logs = (value - self.centre) * self.slope + self.offset
            yield Contribution(self.name, format_value(value), logs)

    def without(self, block: NumberBlock, keys: Collection[int]) -> NumberBlock:
        """Return the single row of a block, with its value missing if any key is given."""
        return missing_number(block, keys)

    def features(self) -> LinearFeatures:
        """Return the number as one feature."""
        offset = np.asarray(self.offset - self.slope * self.centre)
        return LinearFeatures([self.name], self.slope[None, :], offset)


@dataclass(frozen=True, eq=False)
class NumberWeights(LinearNumberTerm):
    """The slope [C] of a number after centring, and an offset [C] added if its value is known."""

    name: str
    slope: Floats
    offset: Floats
    centre: float = 0.0


@dataclass(frozen=True, eq=False)
class ScaledWeights(LinearNumberTerm):
    """The weights [1, C] of a standardised number, (value − centre) / unit."""

    name: str
    table: Floats
    centre: float
    unit: float

    @property
    def slope(self) -> Floats:
        """The weights in the units of the user."""
        return np.asarray(self.table[0] / self.unit)

    @property
    def offset(self) -> Floats:
        """What a known value adds besides its slope: nothing."""
        return np.zeros(self.table.shape[1])

    def trained_weights(self) -> Floats:
        """Return the trained weights [1, classes] of the standardised number."""
        return self.table

    def with_weights(self, table: Floats) -> ScaledWeights:
        """Return the same number with other weights."""
        return replace(self, table=table)

    def append_rows(self, builder: _core.CsrBuilder, block: NumberBlock, first: int) -> None:
        """Append the rows of a block to a sparse matrix, as column `first`."""
        builder.add_column((block.values - self.centre) / self.unit, first)
