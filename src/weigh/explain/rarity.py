"""How rare the values of a row are among the training rows, from the counts that a model keeps.

The score of a value is about the share of training rows with values at least as unusual. Its distribution is
that of the training rows themselves, each scored by the counts without it (leave-one-out). The scores of all
columns are pooled: a row is rare if fewer training rows than allowed have a score as small in any column. A
new row from the same source is about exchangeable with the training rows, so it is flagged with about the
stated probability or less, whatever the distributions of the columns and the dependence between them. This is
not exact: training rows are scored by one row less, and numbers are known as cells of a grid.

Counts are sums of weights, divided by the weight of one row (`unit`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weigh.features.blocks import CategoryBlock, Floats, Ints, Mask, NumberBlock, SparseBlock
from weigh.model.counts.value_grid import GridCounts, cell_bounds
from weigh.model.distributions.bernoulli import Bernoulli
from weigh.model.distributions.weights import format_value

UNSEEN = 0.25  # rows: the score of an unseen level if every level of the column occurs twice or more
ROUNDING = 1e-9
MAX_EXACT_CELL = 2048  # smaller whole numbers have cells of their own
MAX_EXACT_EXTENT = 1e300  # larger numbers are scaled


@dataclass(frozen=True)
class Reason:
    """Why a value is rare, and the type of reason."""

    why: str
    what: str


@dataclass(frozen=True, eq=False)
class TrainingScores:
    """The leave-one-out scores of training rows in one column, and the number of rows with each."""

    scores: Floats
    counts: Floats


class RarityThreshold:
    """The score below which a value is rare, for a share of rows that may be flagged."""

    def __init__(self, columns: Sequence[TrainingScores], n_rows: float, rate: float) -> None:
        allowed = max(1, math.floor(rate * (n_rows + 1)))
        self.rate = min(1.0, allowed / (n_rows + 1))
        scores = np.concatenate([column.scores for column in columns])
        counts = np.concatenate([column.counts for column in columns])
        order = np.argsort(scores, kind="stable")
        too_many = np.flatnonzero(1 + np.cumsum(counts[order]) > allowed + ROUNDING)
        self.cutoff = float(scores[order][too_many[0]]) if len(too_many) else 0.0

    def is_rare(self, scores: Floats) -> Mask:
        """Return which scores are below the threshold; missing values have the score infinity."""
        return np.asarray(scores < self.cutoff * (1 - ROUNDING))


def score_levels(counts: Floats) -> tuple[Floats, float, TrainingScores]:
    """Return the scores of new values with the given counts, that of an unseen value, and leave-one-out.

    In units of rows, a level with c rows has as score 1 + the number of rows with at most c + 1 rows of the
    same value: those would be as rare without themselves.
    """
    order = np.argsort(counts, kind="stable")
    ascending = counts[order]
    cumulative = np.concatenate([[0.0], np.cumsum(ascending)])
    n_single = cumulative[np.searchsorted(ascending, 1.0, side="right")]
    scores = 1 + cumulative[np.searchsorted(ascending, counts + 1, side="right")]
    scores[counts <= 0] = n_single + UNSEEN
    without = cumulative[np.searchsorted(ascending, counts, side="right")]
    without[counts <= 1] = max(n_single - 1, 0.0) + UNSEEN
    seen = counts > 0
    return scores, float(n_single) + UNSEEN, TrainingScores(without[seen], counts[seen])


def score_flags(counts: Floats) -> tuple[Floats, TrainingScores]:
    """Return the scores and leave-one-out scores of both values of flags [2, flags], as `score_levels`."""
    others = counts[::-1]
    n_single = np.where(counts <= 1, counts, 0.0).sum(axis=0)
    scores = 1 + counts + np.where(others <= counts + 1, others, 0.0)
    scores = np.where(counts <= 0, n_single + UNSEEN, scores)
    without = counts + np.where(others <= counts, others, 0.0)
    without = np.where(counts <= 1, np.maximum(n_single - 1, 0.0) + UNSEEN, without)
    seen = counts > 0
    return scores, TrainingScores(without[seen], counts[seen])


class LevelRarity:
    """The rarity of the levels of a category."""

    def __init__(self, part: Any, unit: float = 1.0) -> None:
        self.name: str = part.part.title
        counts = np.asarray(part.counts.table.sum(axis=0), dtype=np.float64) / unit
        scores, self._unseen, self.training = score_levels(counts)
        self._counts = dict(zip(part.counts.names, counts.tolist(), strict=True))
        self._scores = dict(zip(part.counts.names, scores.tolist(), strict=True))

    def scores(self, block: CategoryBlock) -> Floats:
        """Return the score of each row of a block."""
        by_level = [self._scores.get(level, self._unseen) for level in block.levels]
        return np.array([*by_level, math.inf])[block.codes]

    def value(self, block: CategoryBlock, row: int) -> str:
        """Return the level of a row as text."""
        return format_value(block.levels[block.codes[row]])

    def reason(self, block: CategoryBlock, row: int) -> Reason:
        """Return why the level of a row is rare."""
        count = self._counts.get(block.levels[block.codes[row]], 0.0)
        return _explain_count(count, sum(self._counts.values()))


def _explain_count(count: float, n: float) -> Reason:
    if count <= 0:
        return Reason("never seen", "a value never seen")
    return Reason(f"in {count:,.6g} of {n:,.6g} training rows", "a rare value")


class FlagRarity:
    """The rarity of flags: of being present, and of being absent."""

    def __init__(self, part: Bernoulli, unit: float = 1.0) -> None:
        self.names = list(part.counts.present.names)
        present = np.asarray(part.counts.present.table.sum(axis=0), dtype=np.float64)
        known = np.broadcast_to(part.counts.known.sum(axis=0), present.shape).astype(np.float64)
        self._counts = np.stack([known - present, present]) / unit
        self._scores, self.training = score_flags(self._counts)

    def rare_flags(self, block: SparseBlock, threshold: RarityThreshold) -> dict[int, list[tuple[int, int]]]:
        """Return the rare flags of each row that has some, as (flag, 0 if absent or 1 if present)."""
        is_rare = threshold.is_rare(self._scores)
        found: dict[int, list[tuple[int, int]]] = {}
        rows, indices = block.rows.entry_rows(), block.rows.indices
        for entry in np.flatnonzero(is_rare[1][indices]).tolist():
            found.setdefault(int(rows[entry]), []).append((int(indices[entry]), 1))
        expected = np.flatnonzero(is_rare[0])
        if len(expected):
            for row, flag in self._absent(block, expected):
                found.setdefault(row, []).append((flag, 0))
        return found

    def _absent(self, block: SparseBlock, flags: Any) -> list[tuple[int, int]]:
        """Return the rows in which flags that are nearly always present are known to be absent."""
        position = np.full(len(self.names), -1)
        position[flags] = np.arange(len(flags))
        is_there = np.zeros((block.n_rows, len(flags)), dtype=bool)
        if block.known is not None:
            is_there[~block.known] = True
        for each in (block, block.missing):
            if each is not None:
                columns = position[each.rows.indices]
                is_there[each.rows.entry_rows()[columns >= 0], columns[columns >= 0]] = True
        return [(int(row), int(flags[k])) for row, k in np.argwhere(~is_there)]

    def reason(self, flag: int, value: int) -> Reason:
        """Return why a value of a flag is rare."""
        return _explain_count(float(self._counts[value, flag]), float(self._counts[:, flag].sum()))


class NumberRarity:
    """The rarity of a number: how few training values of each class are as far out.

    In units of rows, the score is the sum over the classes of twice the smaller tail, at most the class's
    rows. Beyond the values of a class its tail falls from 1 like h / (h + distance), where h is the distance
    of the last value from the median.
    """

    def __init__(self, name: str, classes: Sequence[ClassTails], total: ClassTails) -> None:
        self.name, self._classes, self._all = name, classes, total

    @classmethod
    def from_grid(cls, name: str, grid: GridCounts, unit: float = 1.0) -> NumberRarity:
        """Return the rarity of numbers that are counted by class on the grid."""
        table = np.asarray(grid.table, dtype=np.float64) / unit
        classes = [ClassTails.from_grid(grid.cells, row) for row in table if row.any()]
        return cls(name, classes, ClassTails.from_grid(grid.cells, table.sum(axis=0)))

    @cached_property
    def training(self) -> TrainingScores:
        """The leave-one-out scores of the training values."""
        centres = self._all.centres
        by_class = np.array([each.tails(centres) for each in self._classes])
        total, scores, counts = by_class.sum(axis=0), [], []
        for tails, each in zip(by_class, self._classes, strict=True):
            places = np.searchsorted(centres, each.centres)
            scores.append(total[places] - tails[places] + each.leave_one_out_tails())
            counts.append(each.counts)
        return TrainingScores(np.concatenate(scores), np.concatenate(counts))

    def scores(self, block: NumberBlock) -> Floats:
        """Return the score of each row of a block."""
        known = ~np.isnan(block.values)
        scores = np.full(block.n_rows, math.inf)
        scores[known] = sum(each.tails(block.values[known]) for each in self._classes)
        return scores

    def value(self, block: NumberBlock, row: int) -> str:
        """Return the number of a row as text."""
        return format_value(float(block.values[row]))

    def reason(self, block: NumberBlock, row: int) -> Reason:
        """Return why the number of a row is rare."""
        x, n = float(block.values[row]), f"{self._all.n:,.6g}"
        above, below = self._all.count_from(x)
        outside = "a number outside the training range"
        if not above:
            return Reason(
                f"above all {n} training values (largest: {_format_number(self._all.last)})", outside
            )
        if not below:
            return Reason(
                f"below all {n} training values (smallest: {_format_number(self._all.first)})", outside
            )
        if above + below <= self._all.n + ROUNDING and all(each.is_outside(x) for each in self._classes):
            low, high = map(_format_number, self._all.neighbours(x))
            return Reason(f"no training value between {low} and {high}", "a number far from every class")
        side, others = ("above", above) if above <= below else ("below", below)
        return Reason(f"{side} all but {others:,.6g} of {n} training values", "a rare number")


def _format_number(x: float) -> str:
    """Format a number of the grid, which is known to three digits unless it is a small whole number."""
    return format_value(x if x.is_integer() and abs(x) < MAX_EXACT_CELL else float(f"{x:.3g}"))


class ClassTails:
    """The two tails of the numbers of a class, counted on the grid."""

    def __init__(self, low: Floats, high: Floats, counts: Floats) -> None:
        self.counts, self._low, self._high = counts, low, high
        self.centres = low / 2 + high / 2
        self._cumulative = np.concatenate([[0.0], np.cumsum(counts)])
        self.n = float(self._cumulative[-1])
        self.first, self.last = float(self.centres[0]), float(self.centres[-1])

    @classmethod
    def from_grid(cls, cells: Ints, counts: Floats) -> ClassTails:
        """Return the tails of counts on the grid; cells without counts are left out."""
        low, high = cell_bounds(cells[counts > 0])
        return cls(low, high, counts[counts > 0])

    def count_from(self, x: Any) -> tuple[Any, Any]:
        """Return the number of values in or above the cell of x, and in or below it."""
        above = self.n - self._cumulative[np.searchsorted(self._high, x, side="left")]
        return above, self._cumulative[np.searchsorted(self._low, x, side="right")]

    def is_outside(self, x: float) -> bool:
        """Whether a number is outside the range of the values."""
        return bool(x > self._high[-1] or x < self._low[0])

    def neighbours(self, x: float) -> tuple[float, float]:
        """Return the values next to a number."""
        place = int(np.searchsorted(self.centres, x))
        return float(self.centres[max(place - 1, 0)]), float(self.centres[min(place, len(self.centres) - 1)])

    def tails(self, x: Floats) -> Floats:
        """Return twice the smaller tail of each number, in rows."""
        above, below = self.count_from(x)
        above, below = 1 + above, 1 + below
        is_above, is_below = x > self._high[-1], x < self._low[0]
        above[is_above] = self._beyond(x[is_above], 1)
        below[is_below] = self._beyond(x[is_below], -1)
        return np.asarray(np.minimum(self.n, 2 * np.minimum(above, below)))

    def leave_one_out_tails(self) -> Floats:
        """Return the tails of the values themselves, each by the counts without it."""
        above = self.n - self._cumulative[:-1]
        tails = np.minimum(self.n - 1, 2 * np.minimum(above, self._cumulative[1:]))
        for end in {0, len(self.counts) - 1}:
            if self.counts[end] <= 1 and len(self.counts) > 1:
                rest = np.arange(len(self.counts)) != end
                others = ClassTails(self._low[rest], self._high[rest], self.counts[rest])
                tails[end] = others.tails(self.centres[[end]])[0]
        return np.asarray(np.maximum(tails, 0.0))

    def _beyond(self, x: Floats, side: int) -> Floats:
        """Return the tail at numbers beyond the last value of a side."""
        median = float(self.centres[np.searchsorted(self._cumulative[1:], self.n / 2)])
        extent = max(abs(self.first), abs(self.last), float(np.abs(x).max(initial=0.0)))
        # Differences of the largest floats are infinite.
        scale = 0.25 if extent > MAX_EXACT_EXTENT else 1.0
        first, middle, last = scale * self.first, scale * median, scale * self.last
        reach = (last - middle, middle - first)
        h = next((each for each in reach[::side] if each > 0), None)
        distance = scale * x - last if side > 0 else first - scale * x
        # Values that never varied say nothing about distances.
        return np.full(len(x), UNSEEN) if h is None else h / (h + distance)
