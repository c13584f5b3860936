"""The terms of additive models: curves over the cells of a number, and surfaces over those of two columns.

A cell k of a number holds the values above cuts[k − 1] and up to cuts[k]. Heights are relative to the mean
over the training rows: Σ counts[k] · table[k] = 0, and the heights of a surface sum to zero over each cell of
either column, so that every effect belongs to one term.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from weigh import _core
from weigh.features.blocks import CategoryBlock, Floats, Ints, NumberBlock
from weigh.features.curves import PairBlock, pair_title
from weigh.features.dates.kind import is_days
from weigh.immutable import Immutable
from weigh.model.distributions.weights import (
    Contribution,
    LinearFeatures,
    RemovableFeature,
    SingleValueTerm,
    format_value,
    missing_number,
)
from weigh.text import format_day

MAX_DIGITS = 17  # enough for any two different numbers


def find_cells(values: Floats, cuts: Floats) -> Ints:
    """Return the cell of each value; missing values have the cell after the last."""
    cells = np.searchsorted(cuts, values, side="left")  # NaN sorts last
    return np.where(np.isnan(values), len(cuts) + 1, cells).astype(np.int32)


def format_number(number: float, column: str) -> str:
    """Format a number of a column, a day as a date."""
    return format_day(number) if is_days(column) else format_value(number)


def format_cuts(cuts: Floats, column: str) -> list[str]:
    """Format the cuts of a column: numbers with at least six digits, the days of dates as dates.

    Different cuts have different texts.
    """
    numbers = cuts.tolist()
    if is_days(column) and len(dates := list(map(format_day, numbers))) == len(set(dates)):
        return dates
    for digits in range(6, MAX_DIGITS + 1):
        texts = [f"{number:.{digits}g}" for number in numbers]
        if len(set(texts)) == len(texts):
            break
    return texts


def name_cells(cuts: Floats, column: str) -> list[str]:
    """Return the cells of a column as text: "≤ 20", "20 to 30", "> 30"."""
    texts = format_cuts(cuts, column)
    if not texts:
        return ["any"]
    return [
        f"≤ {texts[0]}",
        *(f"{a} to {b}" for a, b in pairwise(texts)),
        f"> {texts[-1]}",
    ]


@dataclass(frozen=True, eq=False)
class CurveWeights(SingleValueTerm):
    """The heights [K + 1, C] of a curve over K cells; the last row is for missing values.

    `counts` [K + 1] are the weights of the training rows, `positions` [K] the means of their values in each
    cell, `limits` the smallest and the largest value. `strengths` are the precisions of the prior: of the
    differences of neighbouring cells, of the straight line and of missing values. `errors` [K + 1, C] are
    posterior standard deviations of the heights, None if unknown.
    """

    name: str
    cuts: Floats
    table: Floats
    counts: Floats
    positions: Floats
    limits: Floats
    strengths: Floats
    errors: Floats | None = None

    @property
    def n_cells(self) -> int:
        """The number of cells, without that of missing values."""
        return len(self.cuts) + 1

    def cells(self, block: NumberBlock) -> Ints:
        """Return the cell of each row."""
        return find_cells(block.values, self.cuts)

    def add(self, block: NumberBlock, scores: Floats) -> None:
        """Add the height of each row's cell to its scores."""
        _core.score_codes(self.cells(block), self.table, scores)

    def contributions(self, block: NumberBlock, row: int) -> Iterator[Contribution]:
        """Yield the height of the curve at the row's value."""
        value = float(block.values[row])
        if not np.isnan(value):
            yield Contribution(self.name, format_number(value, self.name), self.table[self.cells(block)[row]])
        elif self.table[-1].any():
            yield Contribution(self.name, "missing", self.table[-1])

    def removable(self, block: NumberBlock) -> tuple[list[RemovableFeature], Any]:
        """Return the row's value as removable; without it, the row has the height of missing values."""
        if np.isnan(block.values[0]):
            return [], self.table[-1]
        features = [
            RemovableFeature(0, c.feature, c.value, c.logs, self.table[-1])
            for c in self.contributions(block, 0)
        ]
        return features, 0.0

    def without(self, block: NumberBlock, keys: Collection[int]) -> NumberBlock:
        """Return the single row of a block, with its value missing if any key is given."""
        return missing_number(block, keys)

    def features(self) -> LinearFeatures:
        """Return one 0/1 feature per cell, and one for missing values."""
        names = [f"{self.name} {cell}" for cell in (*name_cells(self.cuts, self.name), "missing")]
        return LinearFeatures(names, self.table, np.zeros(self.table.shape[1]))

    def trained_weights(self) -> Floats:
        """Return the heights [cells + 1, classes]."""
        return self.table

    def with_weights(self, table: Floats) -> CurveWeights:
        """Return the same cells with other heights."""
        return replace(self, table=table, errors=None)

    def append_rows(self, builder: _core.CsrBuilder, block: NumberBlock, first: int) -> None:
        """Append the rows of a block to a sparse matrix, as the columns from `first` on."""
        builder.add_codes(self.cells(block), np.arange(first, first + len(self.table), dtype=np.int32))


@dataclass(frozen=True, eq=False)
class PairAxis(Immutable):
    """The cells of one column of a pair: intervals of a number, or groups of the levels of a category.

    A number has `cuts`; a category has `levels` and the group of each. Missing values and unseen levels have
    no cell, −1.
    """

    name: str
    cuts: Floats | None = None
    levels: Sequence[Any] = ()
    groups: Ints | None = None

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        if self.cuts is not None:
            return len(self.cuts) + 1
        return int(self._groups.max(initial=-1)) + 1

    @property
    def _groups(self) -> Ints:
        return np.zeros(0, dtype=np.int32) if self.groups is None else self.groups

    @cached_property
    def _group_by_level(self) -> dict[Any, int]:
        return dict(zip(self.levels, self._groups.tolist(), strict=True))

    def cells(self, block: NumberBlock | CategoryBlock) -> Ints:
        """Return the cell of each row, −1 for none."""
        if isinstance(block, NumberBlock):
            cuts = np.zeros(0) if self.cuts is None else self.cuts
            cells = find_cells(block.values, cuts)
            return np.where(cells > len(cuts), -1, cells).astype(np.int32)
        lookup = [self._group_by_level.get(level, -1) for level in block.levels]
        return np.array([*lookup, -1], dtype=np.int32)[block.codes]

    def cell_names(self) -> list[str]:
        """Return the cells as text; a group of several levels lists the first of them."""
        if self.cuts is not None:
            return name_cells(self.cuts, self.name)
        groups = self._groups
        members = [
            [str(self.levels[i]) for i in np.flatnonzero(groups == g).tolist()] for g in range(self.n_cells)
        ]
        return [m[0] if len(m) == 1 else f"{m[0]} and {len(m) - 1} more" for m in members]


@dataclass(frozen=True, eq=False)
class PairWeights(SingleValueTerm):
    """The heights [left cells · right cells, C] of a surface over two columns, row by row of the left cells.

    `counts` are the weights of the training rows in each cell, `strengths` the precision of the differences
    of neighbouring cells, `errors` the posterior standard deviations of the heights, None if unknown.
    """

    left: PairAxis
    right: PairAxis
    table: Floats
    counts: Floats
    strengths: Floats
    errors: Floats | None = None

    @property
    def name(self) -> str:
        """The names of both columns."""
        return pair_title((self.left.name, self.right.name))

    @property
    def n_cells(self) -> int:
        """The number of cells of the surface."""
        return len(self.table)

    def cells(self, block: PairBlock) -> Ints:
        """Return the cell of each row, −1 for none."""
        left, right = self.left.cells(block.left), self.right.cells(block.right)
        cells = left * self.right.n_cells + right
        return np.where((left < 0) | (right < 0), -1, cells).astype(np.int32)

    def add(self, block: PairBlock, scores: Floats) -> None:
        """Add the height of each row's cell to its scores."""
        _core.score_codes(self.cells(block), self.table, scores)

    def contributions(self, block: PairBlock, row: int) -> Iterator[Contribution]:
        """Yield the height of the surface at the row's values."""
        cell = int(self.cells(block)[row])
        if cell >= 0:
            sides = (block.left, self.left), (block.right, self.right)
            value = ", ".join(_format_cell(side, row, axis.name) for side, axis in sides)
            yield Contribution(self.name, value, self.table[cell])

    def removable(self, block: PairBlock) -> tuple[list[RemovableFeature], Any]:
        """Return nothing removable: a surface goes with the value of either column."""
        scores = [c.logs for c in self.contributions(block, 0)]
        return [], scores[0] if scores else 0.0

    def without(self, block: PairBlock, keys: Collection[int]) -> PairBlock:
        """Return the single row of a block with the value of the left (0) or right (1) column missing."""
        left, right = block.left, block.right
        return PairBlock(
            _missing_cell(left) if 0 in keys else left, _missing_cell(right) if 1 in keys else right
        )

    def features(self) -> LinearFeatures:
        """Return one 0/1 feature per cell."""
        pairs = ((a, b) for a in self.left.cell_names() for b in self.right.cell_names())
        names = [f"{self.left.name} {a}, {self.right.name} {b}" for a, b in pairs]
        return LinearFeatures(names, self.table, np.zeros(self.table.shape[1]))

    def trained_weights(self) -> Floats:
        """Return the heights [cells, classes]."""
        return self.table

    def with_weights(self, table: Floats) -> PairWeights:
        """Return the same cells with other heights."""
        return replace(self, table=table, errors=None)

    def append_rows(self, builder: _core.CsrBuilder, block: PairBlock, first: int) -> None:
        """Append the rows of a block to a sparse matrix, as the columns from `first` on."""
        builder.add_codes(self.cells(block), np.arange(first, first + len(self.table), dtype=np.int32))


def _format_cell(block: NumberBlock | CategoryBlock, row: int, column: str) -> str:
    if isinstance(block, NumberBlock):
        return format_number(float(block.values[row]), column)
    return format_value(block.levels[int(block.codes[row])])


def _missing_cell(block: NumberBlock | CategoryBlock) -> NumberBlock | CategoryBlock:
    if isinstance(block, NumberBlock):
        return NumberBlock(np.full(1, np.nan))
    return CategoryBlock(np.full(1, -1, dtype=np.int32), [])
