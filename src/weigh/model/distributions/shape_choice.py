"""The choice of the shape of a number's distribution, from its counts on the grid.

Every candidate predicts the class of each training row from this column alone and without that row. The
candidate with the smallest sum of log losses is the best, and the simplest one that is nearly as good is
chosen. The loss compares densities of one number in several
classes, so that the width of a cell cancels: point masses and densities need no common scale, unlike in the
marginal likelihood of the numbers themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weigh.features.blocks import Floats, Longs, Mask
from weigh.features.kinds import Number
from weigh.model.counts.value_grid import CELL_RESOLUTION, GridCounts, cell_bounds, cell_centres
from weigh.priors.dirichlet import Dirichlet

BIN_NUMBERS = (2, 4, 8, 16, 32, 64)
STRENGTHS = (256, 64, 16, 4, 1)  # of the prior of a histogram, in rows
MIN_ROWS = 30  # fewer rows do not show a shape: there are about as many candidates
MAX_EXCESS = 1.0  # nats by which a simpler candidate may be worse than the best one
ZERO_STRENGTH = 1  # of the prior of the share of zeros, in rows
MAX_GROUPS = 512  # cells are grouped before the candidates are compared, for speed
MIN_LOG_DEVIATION = 8 * CELL_RESOLUTION  # the grid is too coarse for the logarithms of closer numbers


@dataclass(frozen=True, eq=False)
class ShapeChoice:
    """A shape with its settings.

    Normal densities have a `spread`; `is_log` says whether they are of the logarithm. A histogram has `cuts`,
    at which bins begin, and the `strength` of its prior in rows. `prior` is that of the shares of bins or
    zeros if it is kept from other counts.
    """

    shape: str
    spread: Any = "own"
    is_log: bool = False
    cuts: tuple[float, ...] = ()
    strength: int = 0
    prior: Dirichlet | None = None


Candidate = tuple[float, ShapeChoice, Longs | None]  # the loss, the shape, and the bin of each cell


def choose_shape(grid: GridCounts, kind: Number, relative_deviation: float) -> ShapeChoice:
    """Return the best shape that a kind allows.

    `relative_deviation` is the column's standard deviation relative to its mean: if the grid does not resolve
    it, or there are fewer rows than `MIN_ROWS`, the numbers are normal. The simplest candidate is chosen
    whose sum of losses is at most `MAX_EXCESS` above the smallest.
    """
    shape = kind.shape
    default = ShapeChoice("normal", kind.spread or "own")
    is_resolved = relative_deviation >= 2 * CELL_RESOLUTION
    has_rows = float(grid.table.sum()) >= MIN_ROWS
    if shape == "auto" and not (is_resolved and has_rows and _is_choice(kind.spread)):
        return default
    candidates = list(_Comparison(grid, kind).candidates())
    if shape != "auto":
        candidates = [each for each in candidates if each[1].shape == shape]
    if not candidates:
        return default
    best = min(loss for loss, _, _ in candidates)
    choice, bins = next((choice, bins) for loss, choice, bins in candidates if loss <= best + MAX_EXCESS)
    return choice if bins is None else replace(choice, cuts=find_cuts(grid, bins))


def _is_choice(spread: Any) -> bool:
    return spread is None or isinstance(spread, str)


class _Comparison:
    """The leave-one-out log losses of all candidates for one column.

    Cells are grouped if there are many: `x` [G] are the means of the groups and `n` [G, C] their counts.
    """

    def __init__(self, grid: GridCounts, kind: Number) -> None:
        self._kind = kind
        self._totals: Floats = grid.table.sum(axis=0).astype(np.float64)
        centres, counts = cell_centres(grid.cells), grid.table.T.astype(np.float64)
        # Dividing by the largest number keeps squares finite; the factor cancels in the losses.
        centres = centres / np.abs(centres).max()
        self._lowest_cell = int(grid.cells[0])
        groups = np.arange(len(centres))
        if len(centres) > MAX_GROUPS:
            groups = equal_mass_bins(self._totals, MAX_GROUPS)
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        weighted = np.add.reduceat(centres * self._totals, starts)
        self.x = np.asarray(weighted / np.add.reduceat(self._totals, starts))
        counts = np.asarray(np.add.reduceat(counts, starts, axis=0))
        self.n = np.ascontiguousarray(counts[:, counts.any(axis=0)])
        self._counts = np.ascontiguousarray(grid.table[grid.table.any(axis=1)].T.astype(np.float64))

    @cached_property
    def _log_shares(self) -> Floats:
        """The log share of each class."""
        known = self.n.sum(axis=0)
        return np.asarray(np.log(known / known.sum()))

    def candidates(self) -> Iterator[Candidate]:
        """Yield the loss of each candidate, from simple to complex."""
        everywhere, is_zero = np.ones(len(self.x), dtype=bool), self.x == 0
        yield from self._normal_candidates("normal", everywhere, False)
        # Beside the largest number, a small one may be zero.
        if self._lowest_cell > 0 and self.x.min() > 0 and np.log(self.x).std() > MIN_LOG_DEVIATION:
            yield from self._normal_candidates("log-normal", everywhere, True)
        if self._kind.shape == "zero-inflated" or (is_zero.any() and (~is_zero).sum() > 1):
            yield from self._normal_candidates("zero-inflated", ~is_zero, False)
            if self._lowest_cell >= 0:
                yield from self._normal_candidates("zero-inflated", ~is_zero, True)
        yield from self._histogram_candidates()

    def _normal_candidates(self, shape: str, inside: Mask, is_log: bool) -> Iterator[Candidate]:
        """Yield candidates with normal densities of the numbers `inside`; the others are zeros."""
        n = self.n[inside]
        x = np.log(self.x[inside]) if is_log else self.x[inside]
        zeros, zeros_without = self._zero_logs(~inside) if shape == "zero-inflated" else (0.0, 0.0)
        spreads = ("own", "shared") if self._kind.spread is None else (self._kind.spread,)
        for spread in spreads:
            logs, without = np.zeros_like(self.n), np.zeros_like(self.n)
            if n.any():
                logs[inside], without[inside] = normal_logs(x, n, spread, self._kind.floor)
            loss = float(self._losses(logs + zeros, without + zeros_without, self.n))
            yield loss, ShapeChoice(shape, spread, is_log), None

    def _zero_logs(self, is_zero: Mask) -> tuple[Floats, Floats]:
        """Return the log-probability of being zero or not [G, C], with and without one row of the group."""
        groups = is_zero.astype(np.int64)
        counts = np.stack([self.n[~is_zero].sum(axis=0), self.n[is_zero].sum(axis=0)])
        logs, without = share_logs(counts, np.array([ZERO_STRENGTH]))
        return logs[0][groups], without[0][groups]

    def _histogram_candidates(self) -> Iterator[Candidate]:
        widths = set()
        for n_bins in BIN_NUMBERS:
            bins = equal_mass_bins(self._totals, n_bins)
            starts = np.flatnonzero(np.diff(bins, prepend=-1))
            if len(starts) < 2 or len(starts) in widths:
                continue
            widths.add(len(starts))
            counts = np.asarray(np.add.reduceat(self._counts, starts, axis=0))
            tables = share_logs(counts, np.array(STRENGTHS))
            losses = self._losses(*tables, counts).tolist()
            for strength, loss in zip(STRENGTHS, losses, strict=True):
                yield loss, ShapeChoice("histogram", strength=strength), bins

    def _losses(self, logs: Floats, without: Floats, counts: Floats) -> Floats:
        """Return −Σ log P(class | number) over counts [G, C], for tables [..., G, C] of scores.

        `without` has the scores of a row's own class without that row.
        """
        scores, own = logs + self._log_shares, without + self._log_shares
        largest = scores.max(axis=-1, keepdims=True)
        powers = np.exp(scores - largest)
        others = np.maximum(powers.sum(axis=-1, keepdims=True) - powers, 0.0)
        with np.errstate(divide="ignore"):
            losses = np.logaddexp(np.log(others) + largest, own) - own
        return np.asarray((counts * losses).sum(axis=(-2, -1)))


def normal_logs(x: Floats, n: Floats, spread: Any, floor: float) -> tuple[Floats, Floats]:
    """Return normal log-densities [G, C] at x [G] of n [G, C] rows, with and without one row of x.

    Without a row, the mean m and variance v of N rows are m − d / (N − 1) and N (v − d² / (N − 1)) / (N − 1)
    for d = x − m. A class without rows has the mean and variance of the column. Constants are left out.
    """
    known, total = n.sum(axis=0), float(n.sum())
    column_mean = float(n.sum(axis=1) @ x / total)
    column_variance = float(n.sum(axis=1) @ (x - column_mean) ** 2 / total)
    means = np.where(known > 0, x @ n / np.maximum(known, 1e-300), column_mean)
    distances = x[:, None] - means
    variances = (n * distances**2).sum(axis=0) / np.maximum(known, 1e-300)
    rest = np.where(known > 1, known - 1.0, 1.0)  # a single row is replaced by the column below
    shift = distances**2 / rest
    variances_without = known * (variances - shift) / rest
    if spread == "shared":
        scatter = float(known @ variances)
        variances_without = np.maximum(scatter - known * shift, 0.0) / (total - 1.0 if total > 1 else 1.0)
        variances = np.full(len(known), scatter / total)
    smallest = max(floor**2 * column_variance, 1e-200)
    variances = np.where(known > 0, np.maximum(variances, smallest), max(column_variance, smallest))
    is_single = known <= 1
    distances_without = np.where(is_single, x[:, None] - column_mean, distances + distances / rest)
    variances_without = np.where(
        is_single & (spread != "shared"), column_variance, np.maximum(variances_without, smallest)
    )
    return _log_density(distances, variances), _log_density(
        distances_without, np.maximum(variances_without, smallest)
    )


def _log_density(distances: Floats, variances: Floats) -> Floats:
    return np.asarray(-0.5 * (np.log(variances) + distances**2 / variances))


def share_logs(counts: Floats, strengths: Longs) -> tuple[Floats, Floats]:
    """Return log shares [S, B, C] of the rows of B bins for S strengths of the prior, with and without a row.

    The prior is the shares of the whole column, so that few rows of a class say little about it.
    """
    pseudo = strengths[:, None, None] * (counts.sum(axis=1) / counts.sum())[:, None]
    known = counts.sum(axis=0)
    totals = known + strengths[:, None, None]
    with np.errstate(divide="ignore"):
        logs = np.log((counts + pseudo) / totals)
        without = np.log((np.maximum(counts - 1.0, 0.0) + pseudo) / (totals - np.minimum(known, 1.0)))
    return logs, without


def equal_mass_bins(totals: Floats, n_bins: int) -> Longs:
    """Return the bin of each cell, so that about `n_bins` bins have about equal totals.

    A cell that would fill a bin has its own, such as that of the zeros of a column that is mostly zero.
    """
    is_heavy = np.zeros(len(totals), dtype=bool)
    while True:
        n_left = max(n_bins - int(is_heavy.sum()), 1)
        mass = float(totals[~is_heavy].sum()) / n_left
        new = ~is_heavy & (totals >= mass)
        if n_left == 1 or not new.any():
            break
        is_heavy |= new
    light = np.where(is_heavy, 0.0, totals)
    quantile = np.floor((np.cumsum(light) - light / 2) / (mass or 1.0))
    begins = (quantile[1:] != quantile[:-1]) | is_heavy[1:] | is_heavy[:-1]
    return np.concatenate([[0], np.cumsum(begins)]).astype(np.int64)


def find_cuts(grid: GridCounts, bins: Longs) -> tuple[float, ...]:
    """Return the numbers at which the bins of cells begin, except the first, in few digits if possible."""
    starts = np.flatnonzero(np.diff(bins))
    low, high = cell_bounds(grid.cells)
    pairs = zip(high[starts].tolist(), low[starts + 1].tolist(), strict=True)
    return tuple(_short_number(*pair) for pair in pairs)


def _short_number(low: float, high: float) -> float:
    """Return the number above `low` and up to `high` with the fewest digits."""
    middle = low / 2 + high / 2
    for digits in range(1, 17):
        number = float(f"{middle:.{digits}g}")
        if low < number <= high:
            return number
    return high
