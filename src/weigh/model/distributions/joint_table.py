"""P(all columns together | class), from the counts of the cells that occurred."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh.features import Category, CategoryBlock, Flag, Kind, Level, Number
from weigh.features.blocks import Floats, Ints
from weigh.features.columns import bin_names
from weigh.model.counts.count_table import canonical_order_key
from weigh.model.counts.joint_counts import CellCounts, CellIndex
from weigh.model.distributions.weights import format_value
from weigh.model.evidence.exact_products import Factor, smoothed_ratio, to_fraction

MISSING = -1  # as a code
KNOWN, ABSENT, UNSEEN = 0, 1, 2  # as the state of a value


@dataclass(frozen=True, eq=False)
class JointTable:
    """P(cell | class) = (n_cell + a) / (n_class + a M), with M = Π K_j cells.

    Missing values are summed over: n_cell becomes the rows of all m cells that match, and a
    becomes a·m. A level never seen counts as one more level of its column, so that M grows;
    without a prior it says nothing. Rows that lacked values in training count wherever the columns
    that are asked for were known: n_class is the number of such rows. A negative pseudo-count
    takes away from the cells that occurred, never below 0.
    """

    columns: Mapping[str, Kind]
    counts: CellCounts
    pseudo_count: Fraction

    @cached_property
    def levels(self) -> list[list[Level]]:
        """The levels of each column, seen and declared, in canonical order (bins: from the left)."""
        pairs = zip(self.columns.values(), self.counts.levels, strict=True)
        return [_column_levels(kind, seen) for kind, seen in pairs]

    @cached_property
    def sizes(self) -> list[int]:
        """How many levels each column has; one at least, so that an empty column says nothing."""
        return [max(1, len(levels)) for levels in self.levels]

    @property
    def n_cells(self) -> int:
        """How many cells the table has per class."""
        return math.prod(self.sizes)

    @cached_property
    def nonnegative_pseudo_count(self) -> Fraction:
        """The pseudo-count that every cell gets, occurred or not."""
        return max(self.pseudo_count, Fraction(0))

    @cached_property
    def cells(self) -> Ints:
        """The cells that occurred, as codes of `levels`; -1 where a value was missing."""
        pairs = zip(self.counts.codes.T, self.counts.levels, strict=True)
        return self.codes([CategoryBlock(*pair) for pair in pairs])

    @cached_property
    def _discounted_counts(self) -> Floats:
        """The counts [classes, cells], what a negative pseudo-count takes away taken away."""
        return self.discount_counts(self.counts.table.astype(np.float64))

    def discount_counts(self, counts: Floats) -> Floats:
        """Return counts of cells without what a negative pseudo-count takes away."""
        return np.maximum(0.0, counts + min(0.0, float(self.pseudo_count)))

    def declared_mask(self, column: int) -> Any:
        """Return which levels of a column exist without any row."""
        stay = set(_column_levels(list(self.columns.values())[column], []))
        return np.array([level in stay for level in self.levels[column]], dtype=bool)

    def matching_weights(self, codes: Ints, known: Any) -> tuple[Floats, Floats]:
        """Return the weights [rows, classes] of cells that agree with rows, and [classes] of all asked."""
        knowing = self._cells_with_values(known)
        own = self._discounted_counts[:, knowing]
        matching = self._sum_matching_cells(codes[:, known], self.cells[knowing][:, known], known, own)
        return matching, np.asarray(own.sum(axis=1))

    def log_ratios(self, matching: Floats, totals: Floats, known: Any) -> Floats:
        """Return log((n + a m) / (n_class + a M)) row by row, 0 where there is neither a row nor a prior."""
        cells, all_cells = self._count_cells(np.where(known, KNOWN, ABSENT))
        with np.errstate(invalid="ignore"):
            logs = self._log_with_prior(matching, cells) - self._log_with_prior(totals, all_cells)
        says = totals.any(axis=1, keepdims=True) if self.nonnegative_pseudo_count == 0 else True
        return np.where(says, logs, 0.0)

    def _cells_with_values(self, asked: Any) -> Any:
        """Return which cells have values in all columns that are asked for."""
        return (self.cells[:, asked] >= 0).all(axis=1)

    def _empty_classes(self, knowing: Any) -> Any:
        """Return which classes have neither rows nor a prior: they are given those of all classes."""
        return (self._discounted_counts[:, knowing].sum(axis=1) == 0) & (self.nonnegative_pseudo_count == 0)

    def cell_weights(self, knowing: Any) -> Floats:
        """Return the weights [classes, cells] of some of the cells."""
        own = self._discounted_counts[:, knowing]
        return np.where(self._empty_classes(knowing)[:, None], own.sum(axis=0), own)

    @cached_property
    def complete_cells(self) -> Any:
        """Which cells that occurred have no value missing."""
        return self._cells_with_values([True] * len(self.sizes))

    @cached_property
    def _index(self) -> CellIndex:
        return CellIndex.from_codes(self.cells[self.complete_cells], self.sizes)

    @cached_property
    def _log_probabilities_by_cell(self) -> Floats:
        """The logs [cells + 1, classes] by the index's numbers; the last row is for any other cell."""
        weights = self.cell_weights(self.complete_cells)
        sums = self._index.sum_equal_cells(weights).T.astype(np.float64)
        matching = np.vstack([sums, np.zeros((1, len(weights)))])
        return self._log_ratio(matching, weights.sum(axis=1), 1, self.n_cells)

    def codes(self, columns: Sequence[CategoryBlock]) -> Ints:
        """Return columns as codes of `levels`: K_j for a level never seen, -1 for a missing value."""
        found = []
        for column, levels, size in zip(columns, self.levels, self.sizes, strict=True):
            place = {level: at for at, level in enumerate(levels)}
            # Without a prior a level never seen says nothing, just like a missing value.
            unseen = size if self.nonnegative_pseudo_count else MISSING
            places = [place.get(level, unseen) for level in column.levels]
            found.append(np.array([*places, MISSING], dtype=np.int32)[column.codes])
        return np.array(found).T

    def log_probabilities(self, columns: Sequence[CategoryBlock]) -> Floats:
        """Return log P(row | class) as [rows, classes]."""
        codes = self.codes(columns)
        state = self._value_states(codes)
        if len(codes) and not state.any():
            return self._log_probabilities_in_state(codes, state[0])
        logs = np.empty((len(codes), len(self._discounted_counts)))
        patterns = CellIndex.from_codes(state, [3] * len(self.sizes))
        for at, example in enumerate(patterns.row_positions()):
            rows = np.flatnonzero(patterns.ids == at)
            logs[rows] = self._log_probabilities_in_state(codes[rows], state[example])
        return logs

    def _value_states(self, codes: Ints) -> Ints:
        """Return whether each value is known, absent, or of a level never seen."""
        state = np.full(codes.shape, KNOWN, dtype=np.int32)
        state[codes == MISSING] = ABSENT
        state[codes >= self.sizes] = UNSEEN
        return state

    def _log_probabilities_in_state(self, codes: Ints, state: Ints) -> Floats:
        """Return the logs of rows whose columns are all in the same state."""
        known = state == KNOWN
        if known.all():
            return np.asarray(self._log_probabilities_by_cell[self._index.find(codes)])
        knowing = self._cells_with_values(state != ABSENT)
        weights = self.cell_weights(knowing)
        if (state == UNSEEN).any():
            matching = np.zeros((len(codes), len(weights)))
        else:
            matching = self._sum_matching_cells(
                codes[:, known], self.cells[knowing][:, known], known, weights
            )
        return self._log_ratio(matching, weights.sum(axis=1), *self._count_cells(state))

    def _log_ratio(self, matching: Floats, totals: Floats, cells: int, all_cells: int) -> Floats:
        """Return log((n + a m) / (n_class + a M)), or 0 where there is neither a row nor a prior."""
        if not self.nonnegative_pseudo_count and not totals.any():
            return np.zeros_like(matching)
        return self._log_with_prior(matching, cells) - self._log_with_prior(totals, all_cells)

    def _count_cells(self, state: Ints) -> tuple[int, int]:
        """Return how many cells match, and how many there are, a level never seen being one more."""
        pairs = list(zip(self.levels, self.sizes, state.tolist(), strict=True))
        matching = math.prod(size for _, size, found in pairs if found == ABSENT)
        return matching, math.prod(
            len(levels) + 1 if found == UNSEEN else size for levels, size, found in pairs
        )

    def _sum_matching_cells(self, codes: Ints, cells: Ints, known: Any, weights: Floats) -> Floats:
        """Return the weights [rows, classes] of all cells that agree with the rows."""
        wanted = CellIndex.from_codes(codes, [self.sizes[j] for j in np.flatnonzero(known)])
        at = wanted.find(cells)
        hit = at >= 0
        sums = [np.bincount(at[hit], own[hit], wanted.n_distinct) for own in weights]
        return np.column_stack(sums).astype(np.float64)[wanted.ids]

    def _log_with_prior(self, counts: Floats, cells: int) -> Floats:
        # The number of cells may be too large for a float; its logarithm never is.
        added = (
            math.log(self.nonnegative_pseudo_count) + math.log(cells)
            if self.nonnegative_pseudo_count
            else -math.inf
        )
        with np.errstate(divide="ignore"):
            return np.asarray(np.logaddexp(np.log(counts), added))

    def describe_row(self, columns: Sequence[CategoryBlock], row: int) -> str:
        """Return a row for people, missing values left out."""
        named = []
        for name, column, levels in zip(self.columns, columns, self.levels, strict=True):
            code = int(column.codes[row])
            if code >= 0:
                level = column.levels[code]
                named.append(f"{name}={format_value(level)}" + ("" if level in levels else " (never seen)"))
        return ", ".join(named)

    def factor(self, columns: Sequence[CategoryBlock], row: int, c: int) -> Factor:
        """Return P(row | class c) with its arithmetic."""
        codes = self.codes([CategoryBlock(column.codes[row : row + 1], column.levels) for column in columns])[
            0
        ]
        state = self._value_states(codes)
        known = state == KNOWN
        knowing = self._cells_with_values(state != ABSENT)
        hit = knowing & (self.cells[:, known] == codes[known]).all(axis=1) & (state != UNSEEN).all()
        count, total = self._exact_sum(c, hit, knowing), self._exact_sum(c, knowing, knowing)
        matching, cells = self._count_cells(state)
        title = f"{self.describe_row(columns, row)} | class"
        if not total and not self.nonnegative_pseudo_count:
            return Factor(title, "", "", Fraction(1))
        made = smoothed_ratio(
            title,
            "",
            count,
            self.nonnegative_pseudo_count * matching,
            total,
            self.nonnegative_pseudo_count * cells,
        )
        # Cut off at zero, or borrowed from the other classes: the plain ratio does not hold.
        return made.in_lowest_terms() if self.pseudo_count < 0 or self._empty_classes(knowing)[c] else made

    def _exact_sum(self, c: int, cells: Any, knowing: Any) -> Fraction:
        """Return the exact weight in class c of some of the cells that know what is asked for."""
        speaking = range(len(self._discounted_counts)) if self._empty_classes(knowing)[c] else [c]
        values, times = np.unique(self.counts.table[speaking][:, cells], return_counts=True)
        cut = min(Fraction(0), self.pseudo_count)
        pairs = zip(values.tolist(), times.tolist(), strict=True)
        return sum((max(Fraction(0), to_fraction(n) + cut) * k for n, k in pairs), Fraction(0))

    def exact_cell_counts(self, c: int) -> dict[tuple[int, ...], Fraction]:
        """Return the complete cells with their exact weight in class c, without the prior's share."""
        places = np.flatnonzero(self.complete_cells)
        return {
            tuple(self.cells[at].tolist()): self._exact_sum(c, [at], self.complete_cells) for at in places
        }

    def sample(self, rng: np.random.Generator, classes: Ints) -> dict[str, Any]:
        """Draw a cell for every row: one that occurred, or, by the prior's share, any of all."""
        drawn = np.column_stack([rng.integers(size, size=len(classes)) for size in self.sizes])
        cells, weights = self.cells[self.complete_cells], self.cell_weights(self.complete_cells)
        for c in np.unique(classes):
            total = weights[c].sum()
            if total:
                counted = float(
                    np.exp(math.log(total) - self._log_with_prior(np.array([total]), self.n_cells)[0])
                )
                rows = np.flatnonzero((classes == c) & (rng.random(len(classes)) < counted))
                drawn[rows] = cells[rng.choice(len(cells), size=len(rows), p=weights[c] / total)]
        columns = zip(self.columns.items(), self.levels, drawn.T.tolist(), strict=True)
        return {
            name: np.array([levels[k] if levels else None for k in column], dtype=_column_dtype(kind))
            for (name, kind), levels, column in columns
        }


def _column_levels(kind: Kind, seen: Sequence[Level]) -> list[Level]:
    if isinstance(kind, Number) and isinstance(kind.bins, tuple):
        return bin_names(kind.bins)
    declared: tuple[Level, ...] = (0, 1) if isinstance(kind, Flag) else ()
    if isinstance(kind, Category):
        declared = kind.levels or ()
    return sorted({*seen, *declared}, key=canonical_order_key)


def _column_dtype(kind: Kind) -> Any:
    return np.int64 if isinstance(kind, Flag) else object
