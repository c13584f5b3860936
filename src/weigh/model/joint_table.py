"""P(all columns together | class), from the counts of the cells that occurred."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh.features import Category, Codes, Flag, Kind, Level, Number
from weigh.features.blocks import Floats, Ints
from weigh.features.columns import bin_names
from weigh.model.cells import Index
from weigh.model.factors import Factor, estimate, to_fraction
from weigh.model.joint_counts import CellCounts
from weigh.model.tally import name_key
from weigh.model.weights import as_text

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
    pseudo: Fraction

    @cached_property
    def levels(self) -> list[list[Level]]:
        """The levels of each column, seen and declared, in canonical order (bins: from the left)."""
        pairs = zip(self.columns.values(), self.counts.levels, strict=True)
        return [_levels(kind, seen) for kind, seen in pairs]

    @cached_property
    def sizes(self) -> list[int]:
        """How many levels each column has; one at least, so that an empty column says nothing."""
        return [max(1, len(levels)) for levels in self.levels]

    @property
    def n_cells(self) -> int:
        """How many cells the table has per class."""
        return math.prod(self.sizes)

    @cached_property
    def share(self) -> Fraction:
        """The pseudo-count that every cell gets, occurred or not."""
        return max(self.pseudo, Fraction(0))

    @cached_property
    def cells(self) -> Ints:
        """The cells that occurred, as codes of `levels`; -1 where a value was missing."""
        pairs = zip(self.counts.codes.T, self.counts.levels, strict=True)
        return self.codes([Codes(*pair) for pair in pairs])

    @cached_property
    def _own(self) -> Floats:
        """The counts [classes, cells], what a negative pseudo-count takes away taken away."""
        return self.reduced(self.counts.table.astype(np.float64))

    def reduced(self, counts: Floats) -> Floats:
        """Return counts of cells without what a negative pseudo-count takes away."""
        return np.maximum(0.0, counts + min(0.0, float(self.pseudo)))

    def declared(self, column: int) -> Any:
        """Return which levels of a column exist without any row."""
        stay = set(_levels(list(self.columns.values())[column], []))
        return np.array([level in stay for level in self.levels[column]], dtype=bool)

    def found(self, codes: Ints, known: Any) -> tuple[Floats, Floats]:
        """Return the weights [rows, classes] of cells that agree with rows, and [classes] of all asked."""
        knowing = self._knowing(known)
        own = self._own[:, knowing]
        matching = self._matching(codes[:, known], self.cells[knowing][:, known], known, own)
        return matching, np.asarray(own.sum(axis=1))

    def ratio(self, matching: Floats, totals: Floats, known: Any) -> Floats:
        """Return log((n + a m) / (n_class + a M)) row by row, 0 where there is neither a row nor a prior."""
        cells, all_cells = self._numbers_of_cells(np.where(known, KNOWN, ABSENT))
        with np.errstate(invalid="ignore"):
            logs = self._log(matching, cells) - self._log(totals, all_cells)
        says = totals.any(axis=1, keepdims=True) if self.share == 0 else True
        return np.where(says, logs, 0.0)

    def _knowing(self, asked: Any) -> Any:
        """Return which cells have values in all columns that are asked for."""
        return (self.cells[:, asked] >= 0).all(axis=1)

    def _lacks(self, knowing: Any) -> Any:
        """Return which classes have neither rows nor a prior: they are given those of all classes."""
        return (self._own[:, knowing].sum(axis=1) == 0) & (self.share == 0)

    def weights(self, knowing: Any) -> Floats:
        """Return the weights [classes, cells] of some of the cells."""
        own = self._own[:, knowing]
        return np.where(self._lacks(knowing)[:, None], own.sum(axis=0), own)

    @cached_property
    def complete(self) -> Any:
        """Which cells that occurred have no value missing."""
        return self._knowing([True] * len(self.sizes))

    @cached_property
    def _index(self) -> Index:
        return Index.of(self.cells[self.complete], self.sizes)

    @cached_property
    def _logs_by_cell(self) -> Floats:
        """The logs [cells + 1, classes] by the index's numbers; the last row is for any other cell."""
        weights = self.weights(self.complete)
        sums = self._index.sums(weights).T.astype(np.float64)
        matching = np.vstack([sums, np.zeros((1, len(weights)))])
        return self._ratio(matching, weights.sum(axis=1), 1, self.n_cells)

    def codes(self, columns: Sequence[Codes]) -> Ints:
        """Return columns as codes of `levels`: K_j for a level never seen, -1 for a missing value."""
        found = []
        for column, levels, size in zip(columns, self.levels, self.sizes, strict=True):
            place = {level: at for at, level in enumerate(levels)}
            # Without a prior a level never seen says nothing, just like a missing value.
            unseen = size if self.share else MISSING
            places = [place.get(level, unseen) for level in column.levels]
            found.append(np.array([*places, MISSING], dtype=np.int32)[column.codes])
        return np.array(found).T

    def logs(self, columns: Sequence[Codes]) -> Floats:
        """Return log P(row | class) as [rows, classes]."""
        codes = self.codes(columns)
        state = self._state(codes)
        if len(codes) and not state.any():
            return self._logs(codes, state[0])
        logs = np.empty((len(codes), len(self._own)))
        patterns = Index.of(state, [3] * len(self.sizes))
        for at, example in enumerate(patterns.first()):
            rows = np.flatnonzero(patterns.ids == at)
            logs[rows] = self._logs(codes[rows], state[example])
        return logs

    def _state(self, codes: Ints) -> Ints:
        """Return whether each value is known, absent, or of a level never seen."""
        state = np.full(codes.shape, KNOWN, dtype=np.int32)
        state[codes == MISSING] = ABSENT
        state[codes >= self.sizes] = UNSEEN
        return state

    def _logs(self, codes: Ints, state: Ints) -> Floats:
        """Return the logs of rows whose columns are all in the same state."""
        known = state == KNOWN
        if known.all():
            return np.asarray(self._logs_by_cell[self._index.find(codes)])
        knowing = self._knowing(state != ABSENT)
        weights = self.weights(knowing)
        if (state == UNSEEN).any():
            matching = np.zeros((len(codes), len(weights)))
        else:
            matching = self._matching(codes[:, known], self.cells[knowing][:, known], known, weights)
        return self._ratio(matching, weights.sum(axis=1), *self._numbers_of_cells(state))

    def _ratio(self, matching: Floats, totals: Floats, cells: int, all_cells: int) -> Floats:
        """Return log((n + a m) / (n_class + a M)), or 0 where there is neither a row nor a prior."""
        if not self.share and not totals.any():
            return np.zeros_like(matching)
        return self._log(matching, cells) - self._log(totals, all_cells)

    def _numbers_of_cells(self, state: Ints) -> tuple[int, int]:
        """Return how many cells match, and how many there are, a level never seen being one more."""
        pairs = list(zip(self.levels, self.sizes, state.tolist(), strict=True))
        matching = math.prod(size for _, size, found in pairs if found == ABSENT)
        return matching, math.prod(
            len(levels) + 1 if found == UNSEEN else size for levels, size, found in pairs
        )

    def _matching(self, codes: Ints, cells: Ints, known: Any, weights: Floats) -> Floats:
        """Return the weights [rows, classes] of all cells that agree with the rows."""
        wanted = Index.of(codes, [self.sizes[j] for j in np.flatnonzero(known)])
        at = wanted.find(cells)
        hit = at >= 0
        sums = [np.bincount(at[hit], own[hit], wanted.n) for own in weights]
        return np.column_stack(sums).astype(np.float64)[wanted.ids]

    def _log(self, counts: Floats, cells: int) -> Floats:
        # The number of cells may be too large for a float; its logarithm never is.
        added = math.log(self.share) + math.log(cells) if self.share else -math.inf
        with np.errstate(divide="ignore"):
            return np.asarray(np.logaddexp(np.log(counts), added))

    def text(self, columns: Sequence[Codes], row: int) -> str:
        """Return a row for people, missing values left out."""
        named = []
        for name, column, levels in zip(self.columns, columns, self.levels, strict=True):
            code = int(column.codes[row])
            if code >= 0:
                level = column.levels[code]
                named.append(f"{name}={as_text(level)}" + ("" if level in levels else " (never seen)"))
        return ", ".join(named)

    def factor(self, columns: Sequence[Codes], row: int, c: int) -> Factor:
        """Return P(row | class c) with its arithmetic."""
        codes = self.codes([Codes(column.codes[row : row + 1], column.levels) for column in columns])[0]
        state = self._state(codes)
        known = state == KNOWN
        knowing = self._knowing(state != ABSENT)
        hit = knowing & (self.cells[:, known] == codes[known]).all(axis=1) & (state != UNSEEN).all()
        count, total = self._exact_sum(c, hit, knowing), self._exact_sum(c, knowing, knowing)
        matching, cells = self._numbers_of_cells(state)
        title = f"{self.text(columns, row)} | class"
        if not total and not self.share:
            return Factor(title, "", "", Fraction(1))
        made = estimate(title, "", count, self.share * matching, total, self.share * cells)
        # Cut off at zero, or borrowed from the other classes: the plain ratio does not hold.
        return made.reduced() if self.pseudo < 0 or self._lacks(knowing)[c] else made

    def _exact_sum(self, c: int, cells: Any, knowing: Any) -> Fraction:
        """Return the exact weight in class c of some of the cells that know what is asked for."""
        speaking = range(len(self._own)) if self._lacks(knowing)[c] else [c]
        values, times = np.unique(self.counts.table[speaking][:, cells], return_counts=True)
        cut = min(Fraction(0), self.pseudo)
        pairs = zip(values.tolist(), times.tolist(), strict=True)
        return sum((max(Fraction(0), to_fraction(n) + cut) * k for n, k in pairs), Fraction(0))

    def exact(self, c: int) -> dict[tuple[int, ...], Fraction]:
        """Return the complete cells with their exact weight in class c, without the prior's share."""
        places = np.flatnonzero(self.complete)
        return {tuple(self.cells[at].tolist()): self._exact_sum(c, [at], self.complete) for at in places}

    def sample(self, rng: np.random.Generator, classes: Ints) -> dict[str, Any]:
        """Draw a cell for every row: one that occurred, or, by the prior's share, any of all."""
        drawn = np.column_stack([rng.integers(size, size=len(classes)) for size in self.sizes])
        cells, weights = self.cells[self.complete], self.weights(self.complete)
        for c in np.unique(classes):
            total = weights[c].sum()
            if total:
                counted = float(np.exp(math.log(total) - self._log(np.array([total]), self.n_cells)[0]))
                rows = np.flatnonzero((classes == c) & (rng.random(len(classes)) < counted))
                drawn[rows] = cells[rng.choice(len(cells), size=len(rows), p=weights[c] / total)]
        columns = zip(self.columns.items(), self.levels, drawn.T.tolist(), strict=True)
        return {
            name: np.array([levels[k] if levels else None for k in column], dtype=_storage(kind))
            for (name, kind), levels, column in columns
        }


def _levels(kind: Kind, seen: Sequence[Level]) -> list[Level]:
    if isinstance(kind, Number) and isinstance(kind.bins, tuple):
        return bin_names(kind.bins)
    declared: tuple[Level, ...] = (0, 1) if isinstance(kind, Flag) else ()
    if isinstance(kind, Category):
        declared = kind.levels or ()
    return sorted({*seen, *declared}, key=name_key)


def _storage(kind: Kind) -> Any:
    return np.int64 if isinstance(kind, Flag) else object
