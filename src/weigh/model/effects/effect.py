"""Effects: what a column, or a pair of columns, adds to the outputs of a linear model, cell by cell."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from weigh.features.blocks import CategoryBlock, Floats, NumberBlock
from weigh.features.dates.kind import is_days
from weigh.immutable import Immutable, read_only
from weigh.model.distributions.curve_weights import PairAxis, PairWeights, find_cells, name_cells
from weigh.model.distributions.weights import format_value
from weigh.model.distributions.word_weights import VocabularyWeights
from weigh.model.effects.shapes import describe_curve, describe_levels, describe_surface
from weigh.text import format_day, format_float

MISSING = "missing"


@dataclass(frozen=True)
class Location:
    """Where a row is in an effect: its value as text, its cell and its number, None if it has none."""

    value: str
    cell: int | None
    number: float | None = None


@dataclass(frozen=True, eq=False)
class TermEffect(Immutable, ABC):
    """Heights [cells, outputs] that are added to the outputs, and the weights `counts` [cells] of the rows.

    Without counts, all cells count as equally frequent. `errors` [cells, outputs] are standard deviations,
    None if unknown. `term` is the index of the model's term.
    """

    name: str
    term: int
    heights: Floats
    counts: Floats | None
    errors: Floats | None
    kind: ClassVar[str]

    @property
    def n_cells(self) -> int:
        """The number of cells, without that of missing values."""
        return len(self.heights)

    @cached_property
    @read_only
    def weights(self) -> Floats:
        """The weights of the cells, of equal size if the rows are not known."""
        counts = self.counts
        return np.ones(len(self.heights)) if counts is None or not counts.sum() else counts

    @cached_property
    @read_only
    def importances(self) -> Floats:
        """The standard deviation of the heights over the rows, for each output."""
        share = self.weights / self.weights.sum()
        deviations = self.heights - share @ self.heights
        return np.asarray(np.sqrt(share @ deviations**2))

    @property
    def importance(self) -> float:
        """The standard deviation of the heights over the rows; with several outputs, its root mean square."""
        return float(np.sqrt(np.mean(self.importances**2)))

    @property
    def main_output(self) -> int:
        """The output that depends most on the effect."""
        return int(np.argmax(self.importances))

    @property
    def extent(self) -> tuple[float, float]:
        """The least and the greatest height of cells with rows."""
        used = self.heights[self.weights > 0]
        return float(used.min()), float(used.max())

    @property
    def cell_ends(self) -> Sequence[tuple[float | None, float | None]]:
        """Where each cell of a number starts and stops; None if cells have no ends."""
        return [(None, None)] * len(self.heights)

    def height_at(self, location: Location, output: int) -> float | None:
        """Return the height for a located row; None if it has no cell."""
        return None if location.cell is None else float(self.heights[location.cell, output])

    @abstractmethod
    def cell_names(self) -> list[str]:
        """Return the cells as text."""

    @abstractmethod
    def describe(self, output: int) -> str:
        """Return the shape of the effect in words."""

    @abstractmethod
    def locate(self, block: Any) -> Location:
        """Return where the single row of a block is."""


@dataclass(frozen=True, eq=False)
class CurveEffect(TermEffect):
    """A curve over the cells of a number; the last height is that of missing values.

    `positions` [K] are the mean values in the cells, `limits` the least and the greatest value.
    """

    cuts: Floats
    positions: Floats
    limits: tuple[float, float]
    kind: ClassVar[str] = "curve"

    @property
    def n_cells(self) -> int:
        """The number of cells, without that of missing values."""
        return len(self.heights) - 1

    @property
    def cell_ends(self) -> Sequence[tuple[float | None, float | None]]:
        """Where each cell starts and stops, within the limits."""
        edges = np.clip(self.cuts, *self.limits).tolist()
        starts, stops = [self.limits[0], *edges], [*edges, self.limits[1]]
        return [*zip(starts, stops, strict=True), (None, None)]

    @property
    def has_missing(self) -> bool:
        """Whether some rows have no value; if the rows are not known, whether that matters."""
        return bool(self.heights[-1].any() if self.counts is None else self.counts[-1])

    def cell_names(self) -> list[str]:
        """Return the cells as text, missing values last."""
        return [*name_cells(self.cuts, self.name), MISSING]

    def describe(self, output: int) -> str:
        """Return the shape of the curve in words."""
        to_text = format_day if is_days(self.name) else format_float
        heights, weights = self.heights[:-1, output], self.weights[:-1]
        return describe_curve(self.cuts, self.positions, heights, weights, to_text)

    def locate(self, block: NumberBlock) -> Location:
        """Return the cell of the single row of a block."""
        return self.locate_number(float(block.values[0]))

    def locate_number(self, number: float) -> Location:
        """Return the cell of a number; a missing number, NaN, has the last."""
        cell = int(find_cells(np.array([number]), self.cuts)[0])
        if np.isnan(number):
            return Location(MISSING, cell)
        return Location(format_value(number), cell, number)


@dataclass(frozen=True, eq=False)
class LineEffect(CurveEffect):
    """A straight line, over equal cells that only a picture needs; `spreads` [outputs] are exact importances.

    The line is the feature `index` of `source`, None for a term of one number. Missing values add nothing.
    """

    spreads: Floats
    source: VocabularyWeights | None = None
    index: int = 0
    kind: ClassVar[str] = "line"

    @property
    def n_cells(self) -> int:
        """The number of cells: one, because a line has no cells of its own."""
        return 1

    @property
    def importances(self) -> Floats:
        """The standard deviation of the line over the rows, for each output."""
        return self.spreads

    def height_at(self, location: Location, output: int) -> float | None:
        """Return the height of the line itself, not of a cell."""
        if location.number is None:
            return super().height_at(location, output)
        first, last = self.positions[[0, -1]]
        low, high = self.heights[[0, -2], output]
        slope = (high - low) / (last - first) if last > first else 0.0
        return float(low + slope * (location.number - first))

    def locate(self, block: Any) -> Location:
        """Return the cell of the single row of a block."""
        if self.source is None:
            return super().locate(block)
        return self.locate_number(float(self.source.entries(block).to_dense()[0, self.index]))


@dataclass(frozen=True, eq=False)
class LevelEffect(TermEffect):
    """The heights of the levels of a category."""

    levels: Sequence[Any]
    kind: ClassVar[str] = "levels"

    def cell_names(self) -> list[str]:
        """Return the levels as text."""
        return [format_value(level) for level in self.levels]

    def describe(self, output: int) -> str:
        """Name the levels with the greatest and the least height."""
        return describe_levels(self.cell_names(), self.heights[:, output])

    def locate(self, block: CategoryBlock) -> Location:
        """Return the level of the single row of a block; an unseen level has no cell."""
        code = int(block.codes[0])
        if code < 0:
            return Location(MISSING, None)
        level = block.levels[code]
        return Location(format_value(level), self.levels.index(level) if level in self.levels else None)


@dataclass(frozen=True, eq=False)
class FlagEffect(TermEffect):
    """The heights of a flag: absent, present. It is the feature `index` of `source`."""

    words: tuple[str, str]
    source: VocabularyWeights
    index: int
    kind: ClassVar[str] = "flag"

    def cell_names(self) -> list[str]:
        """Return the words for absent and present."""
        return list(self.words)

    def describe(self, output: int) -> str:
        """Name the state with the greater height."""
        return describe_levels(self.words, self.heights[:, output])

    def locate(self, block: Any) -> Location:
        """Return the state of the flag in the single row of a block; a missing flag counts as absent."""
        cell = int(self.source.entries(block).to_dense()[0, self.index] != 0)
        return Location(self.words[cell], cell)


@dataclass(frozen=True, eq=False)
class PairEffect(TermEffect):
    """The heights of a surface, row by row of the left cells."""

    source: PairWeights
    kind: ClassVar[str] = "pair"

    @property
    def left(self) -> PairAxis:
        """The cells of the left column."""
        return self.source.left

    @property
    def right(self) -> PairAxis:
        """The cells of the right column."""
        return self.source.right

    def cell_names(self) -> list[str]:
        """Return the pairs of cells as text."""
        return [f"{a}, {b}" for a in self.left.cell_names() for b in self.right.cell_names()]

    def describe(self, output: int) -> str:
        """Name the pair of cells with the greatest height."""
        return describe_surface(self.cell_names(), self.heights[:, output])

    def locate(self, block: Any) -> Location:
        """Return the pair of cells of the single row of a block."""
        cell = int(self.source.cells(block)[0])
        values = [contribution.value for contribution in self.source.contributions(block, 0)]
        return Location(values[0] if values else MISSING, None if cell < 0 else cell)
