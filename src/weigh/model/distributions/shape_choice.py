"""The choice of the shape of a number's distribution, from its counts on the grid.

Every candidate predicts the class of each training row from this column alone and without that row. The
candidate with the smallest sum of log losses is the best, and the simplest one that is nearly as good is
chosen. The loss compares densities of one number in several classes, so that the width of a cell cancels:
point masses and densities need no common scale, unlike in the marginal likelihood of the numbers themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import _core
from weigh.features.kinds import Number
from weigh.model.counts.value_grid import CELL_RESOLUTION, GridCounts, cell_bounds, cell_centres
from weigh.priors.dirichlet import Dirichlet

SHAPES = ("normal", "log-normal", "zero-inflated", "histogram")  # in the order of core's NumberShape
BIN_NUMBERS = np.array([2, 4, 8, 16, 32, 64], dtype=np.int32)
STRENGTHS = np.array([256, 64, 16, 4, 1], dtype=np.int32)  # of the prior of a histogram, in rows
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


# The place in SHAPES, is_log, has_shared_spread, bins, strength, loss.
Candidate = tuple[int, bool, bool, int, int, float]


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
    candidates = [each for each in compare_shapes(grid, kind) if shape in ("auto", SHAPES[each[0]])]
    if not candidates:
        return default
    best = min(candidate[-1] for candidate in candidates)
    k, is_log, has_shared_spread, n_bins, strength, _ = next(
        candidate for candidate in candidates if candidate[-1] <= best + MAX_EXCESS
    )
    if SHAPES[k] == "histogram":
        return ShapeChoice(SHAPES[k], cuts=find_cuts(grid, n_bins), strength=strength)
    return ShapeChoice(SHAPES[k], kind.spread or ("shared" if has_shared_spread else "own"), is_log)


def _is_choice(spread: Any) -> bool:
    return spread is None or isinstance(spread, str)


def compare_shapes(grid: GridCounts, kind: Number) -> list[Candidate]:
    """Return the leave-one-out log loss of every candidate, from simple to complex."""
    centres = cell_centres(grid.cells)
    lowest = int(grid.cells[0])
    return _core.compare_shapes(
        # Dividing by the largest number keeps squares finite; the factor cancels in the losses.
        centres / max(abs(centres[0]), abs(centres[-1])),
        np.ascontiguousarray(grid.table, dtype=np.float64),
        has_own_spread=kind.spread != "shared",
        has_shared_spread=kind.spread in (None, "shared"),
        is_zero_inflated=kind.shape == "zero-inflated",
        has_nonpositive=lowest <= 0,
        has_negative=lowest < 0,
        floor=kind.floor,
        zero_strength=ZERO_STRENGTH,
        min_log_deviation=MIN_LOG_DEVIATION,
        max_groups=MAX_GROUPS,
        bin_numbers=BIN_NUMBERS,
        strengths=STRENGTHS,
    )


def find_cuts(grid: GridCounts, n_bins: int) -> tuple[float, ...]:
    """Return the numbers at which bins of about equal counts begin, except the first, in few digits."""
    totals = np.asarray(grid.table.sum(axis=0), dtype=np.float64)
    starts = np.flatnonzero(np.diff(_core.equal_mass_bins(totals, n_bins)))
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
