"""The joint distribution of all columns within each class, from the counts of the cells that occurred."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh.features.blocks import CategoryBlock, Floats, Ints, Level
from weigh.features.kinds import Category, Flag, Kind
from weigh.immutable import Immutable, read_only
from weigh.model.counts.count_table import canonical_order_key, fixed_levels
from weigh.model.counts.joint_counts import CellCounts, CellIndex
from weigh.model.distributions.weights import format_value
from weigh.model.evidence.exact_products import Factor, smoothed_ratio, to_fraction

MISSING = -1  # code of a missing value
KNOWN, ABSENT, UNSEEN = 0, 1, 2  # states of a value; ABSENT: it is missing, UNSEEN: its level is new


@dataclass(frozen=True, eq=False)
class JointTable(Immutable):
    """P(cell | class) = (n_cell + a) / (n_class + a M), with M = Π K_j cells.

    Missing values are marginalised: n_cell is then the number of rows in all m matching cells, and a becomes
    a·m. An unseen level counts as one additional level of its column, which increases M; without a prior it
    is treated as missing. Training rows with missing values are used if the queried columns are known;
    n_class is the number of such rows. A negative pseudo-count reduces the cells that occurred, down to 0.
    """

    columns: Mapping[str, Kind]
    counts: CellCounts
    pseudo_count: Fraction

    @cached_property
    def levels(self) -> list[list[Level]]:
        """The levels of each column, seen or declared, in canonical order (bins from left to right)."""
        pairs = zip(self.columns.values(), self.counts.levels, strict=True)
        return [_column_levels(kind, seen) for kind, seen in pairs]

    @cached_property
    def sizes(self) -> list[int]:
        """Number of levels of each column, at least one, so that an empty column contributes nothing."""
        return [max(1, len(levels)) for levels in self.levels]

    @property
    def n_cells(self) -> int:
        """Number of cells of the table per class."""
        return math.prod(self.sizes)

    @cached_property
    def nonnegative_pseudo_count(self) -> Fraction:
        """The pseudo-count added to every cell, whether or not it occurred."""
        return max(self.pseudo_count, Fraction(0))

    @cached_property
    @read_only
    def cells(self) -> Ints:
        """The cells that occurred [cells, columns], as codes of `levels`; -1 for a missing value."""
        pairs = zip(self.counts.codes.T, self.counts.levels, strict=True)
        return self.codes([CategoryBlock(*pair) for pair in pairs])

    @cached_property
    def _discounted_counts(self) -> Floats:
        """The counts [classes, cells], reduced by a negative pseudo-count."""
        return self.discount_counts(self.counts.table.astype(np.float64))

    def discount_counts(self, counts: Floats) -> Floats:
        """Return counts of cells reduced by a negative pseudo-count, but not below 0."""
        return np.maximum(0.0, counts + min(0.0, float(self.pseudo_count)))

    def declared_mask(self, column: int) -> Any:
        """Return the mask of the levels of a column that exist even without rows."""
        declared = set(_column_levels(list(self.columns.values())[column], []))
        return np.array([level in declared for level in self.levels[column]], dtype=bool)

    def matching_weights(self, codes: Ints, known: Any) -> tuple[Floats, Floats]:
        """Return the counts [rows, classes] of the cells that match in the columns `known`, and their totals.

        The totals [classes] are over all cells with values in these columns.
        """
        usable = self._cells_with_values(known)
        counts = self._discounted_counts[:, usable]
        matching = self._sum_matching_cells(codes[:, known], self.cells[usable][:, known], known, counts)
        return matching, np.asarray(counts.sum(axis=1))

    def log_ratios(self, matching: Floats, totals: Floats, known: Any) -> Floats:
        """Return log((n + a m) / (n_class + a M)) of each row, 0 if there are neither rows nor a prior."""
        n_matching, n_cells = self._count_cells(np.where(known, KNOWN, ABSENT))
        with np.errstate(invalid="ignore"):
            logs = self._log_with_prior(matching, n_matching) - self._log_with_prior(totals, n_cells)
        is_informative = totals.any(axis=1, keepdims=True) if self.nonnegative_pseudo_count == 0 else True
        return np.where(is_informative, logs, 0.0)

    def _cells_with_values(self, columns: Any) -> Any:
        """Return the mask of the cells without missing values in the given columns (a mask)."""
        return (self.cells[:, columns] >= 0).all(axis=1)

    def _empty_classes(self, usable: Any) -> Any:
        """Return the mask of classes without rows and prior; they get the counts of all classes."""
        return (self._discounted_counts[:, usable].sum(axis=1) == 0) & (self.nonnegative_pseudo_count == 0)

    def cell_weights(self, usable: Any) -> Floats:
        """Return the counts [classes, cells] of the cells in the mask `usable`."""
        counts = self._discounted_counts[:, usable]
        return np.where(self._empty_classes(usable)[:, None], counts.sum(axis=0), counts)

    @cached_property
    @read_only
    def complete_cells(self) -> Any:
        """Mask of the cells without missing values."""
        return self._cells_with_values([True] * len(self.sizes))

    @cached_property
    def _index(self) -> CellIndex:
        return CellIndex.from_codes(self.cells[self.complete_cells], self.sizes)

    @cached_property
    def _log_probabilities_by_cell(self) -> Floats:
        """Log-probabilities [distinct cells + 1, classes] by cell id; the last row is for all other cells."""
        weights = self.cell_weights(self.complete_cells)
        sums = self._index.sum_equal_cells(weights).T.astype(np.float64)
        matching = np.vstack([sums, np.zeros((1, len(weights)))])
        return self._log_ratio(matching, weights.sum(axis=1), 1, self.n_cells)

    def codes(self, columns: Sequence[CategoryBlock]) -> Ints:
        """Return rows as codes of `levels` [rows, columns]; K_j is an unseen level, -1 a missing value."""
        codes = []
        for column, levels, size in zip(columns, self.levels, self.sizes, strict=True):
            index = {level: k for k, level in enumerate(levels)}
            # Without a prior an unseen level contributes nothing, like a missing value.
            unseen = size if self.nonnegative_pseudo_count else MISSING
            lookup = [index.get(level, unseen) for level in column.levels]
            codes.append(np.array([*lookup, MISSING], dtype=np.int32)[column.codes])
        return np.array(codes).T

    def log_probabilities(self, columns: Sequence[CategoryBlock]) -> Floats:
        """Return log P(row | class) as [rows, classes]."""
        codes = self.codes(columns)
        states = self._value_states(codes)
        if len(codes) and not states.any():
            return self._log_probabilities_in_state(codes, states[0])
        logs = np.empty((len(codes), len(self._discounted_counts)))
        patterns = CellIndex.from_codes(states, [3] * len(self.sizes))
        for pattern, example in enumerate(patterns.row_positions()):
            rows = np.flatnonzero(patterns.ids == pattern)
            logs[rows] = self._log_probabilities_in_state(codes[rows], states[example])
        return logs

    def _value_states(self, codes: Ints) -> Ints:
        """Return the state of each value: KNOWN, ABSENT or UNSEEN."""
        states = np.full(codes.shape, KNOWN, dtype=np.int32)
        states[codes == MISSING] = ABSENT
        states[codes >= self.sizes] = UNSEEN
        return states

    def _log_probabilities_in_state(self, codes: Ints, state: Ints) -> Floats:
        """Return log P(row | class) of rows whose values have the same states [columns]."""
        known = state == KNOWN
        if known.all():
            return np.asarray(self._log_probabilities_by_cell[self._index.find(codes)])
        usable = self._cells_with_values(state != ABSENT)
        weights = self.cell_weights(usable)
        if (state == UNSEEN).any():
            matching = np.zeros((len(codes), len(weights)))
        else:
            matching = self._sum_matching_cells(codes[:, known], self.cells[usable][:, known], known, weights)
        return self._log_ratio(matching, weights.sum(axis=1), *self._count_cells(state))

    def _log_ratio(self, matching: Floats, totals: Floats, n_matching: int, n_cells: int) -> Floats:
        """Return log((n + a m) / (n_class + a M)), or 0 if there are neither rows nor a prior."""
        if not self.nonnegative_pseudo_count and not totals.any():
            return np.zeros_like(matching)
        return self._log_with_prior(matching, n_matching) - self._log_with_prior(totals, n_cells)

    def _count_cells(self, state: Ints) -> tuple[int, int]:
        """Return the numbers m of matching cells and M of all cells, including an unseen level."""
        columns = list(zip(self.levels, self.sizes, state.tolist(), strict=True))
        n_matching = math.prod(size for _, size, s in columns if s == ABSENT)
        return n_matching, math.prod(len(levels) + 1 if s == UNSEEN else size for levels, size, s in columns)

    def _sum_matching_cells(self, codes: Ints, cells: Ints, known: Any, weights: Floats) -> Floats:
        """Return the summed weights [rows, classes] of the cells that match each row in the known columns."""
        index = CellIndex.from_codes(codes, [self.sizes[j] for j in np.flatnonzero(known)])
        ids = index.find(cells)
        is_match = ids >= 0
        sums = [np.bincount(ids[is_match], w[is_match], index.n_distinct) for w in weights]
        return np.column_stack(sums).astype(np.float64)[index.ids]

    def _log_with_prior(self, counts: Floats, n_cells: int) -> Floats:
        """Return log(counts + a · n_cells)."""
        # n_cells may be too large for a float, but its logarithm is not.
        a = self.nonnegative_pseudo_count
        log_pseudo = math.log(a) + math.log(n_cells) if a else -math.inf
        with np.errstate(divide="ignore"):
            return np.asarray(np.logaddexp(np.log(counts), log_pseudo))

    def describe_row(self, columns: Sequence[CategoryBlock], row: int) -> str:
        """Return the known values of a row as text."""
        values = []
        for name, column, levels in zip(self.columns, columns, self.levels, strict=True):
            code = int(column.codes[row])
            if code >= 0:
                level = column.levels[code]
                values.append(f"{name}={format_value(level)}" + ("" if level in levels else " (never seen)"))
        return ", ".join(values)

    def factor(self, columns: Sequence[CategoryBlock], c: int) -> Factor:
        """Return P(row | class c) of a single row, with the formula."""
        codes = self.codes(columns)[0]
        state = self._value_states(codes)
        known = state == KNOWN
        usable = self._cells_with_values(state != ABSENT)
        matches = usable & (self.cells[:, known] == codes[known]).all(axis=1) & (state != UNSEEN).all()
        count, total = self._exact_sum(c, matches, usable), self._exact_sum(c, usable, usable)
        n_matching, n_cells = self._count_cells(state)
        title = f"{self.describe_row(columns, 0)} | class"
        a = self.nonnegative_pseudo_count
        if not total and not a:
            return Factor(title, "", "", Fraction(1))
        factor = smoothed_ratio(title, "", count, a * n_matching, total, a * n_cells)
        # Clipped at zero or estimated from all classes: the plain ratio does not apply.
        is_plain_ratio = self.pseudo_count >= 0 and not self._empty_classes(usable)[c]
        return factor if is_plain_ratio else factor.in_lowest_terms()

    def _exact_sum(self, c: int, cells: Any, usable: Any) -> Fraction:
        """Return the exact sum in class c of the discounted counts of some of the usable cells."""
        classes = range(len(self._discounted_counts)) if self._empty_classes(usable)[c] else [c]
        values, repeats = np.unique(self.counts.table[classes][:, cells], return_counts=True)
        discount = min(Fraction(0), self.pseudo_count)
        pairs = zip(values.tolist(), repeats.tolist(), strict=True)
        return sum((max(Fraction(0), to_fraction(n) + discount) * k for n, k in pairs), Fraction(0))

    def exact_cell_counts(self, c: int) -> dict[tuple[int, ...], Fraction]:
        """Return the exact discounted counts of the complete cells in class c, without pseudo-counts."""
        complete = self.complete_cells
        indices = np.flatnonzero(complete)
        return {tuple(self.cells[i].tolist()): self._exact_sum(c, [i], complete) for i in indices}

    def sample(self, rng: np.random.Generator, classes: Ints) -> dict[str, Any]:
        """Draw a cell for each row: a mixture of the cells that occurred and, for the prior, all cells."""
        drawn = np.column_stack([rng.integers(size, size=len(classes)) for size in self.sizes])
        cells, weights = self.cells[self.complete_cells], self.cell_weights(self.complete_cells)
        for c in np.unique(classes):
            total = weights[c].sum()
            if total:
                log_total = self._log_with_prior(np.array([total]), self.n_cells)[0]
                p_occurred = float(np.exp(math.log(total) - log_total))
                rows = np.flatnonzero((classes == c) & (rng.random(len(classes)) < p_occurred))
                drawn[rows] = cells[rng.choice(len(cells), size=len(rows), p=weights[c] / total)]
        columns = zip(self.columns.items(), self.levels, drawn.T.tolist(), strict=True)
        return {
            name: np.array([levels[k] if levels else None for k in column], dtype=_column_dtype(kind))
            for (name, kind), levels, column in columns
        }


def _column_levels(kind: Kind, seen: Sequence[Level]) -> list[Level]:
    fixed = fixed_levels(kind)
    if fixed is not None:
        return fixed
    declared = (kind.levels or ()) if isinstance(kind, Category) else ()
    return sorted({*seen, *declared}, key=canonical_order_key)


def _column_dtype(kind: Kind) -> Any:
    return np.int64 if isinstance(kind, Flag) else object
