"""The law of a learning curve: validation loss a + b n^(−c) after n rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.validation import check_finite
from weigh.judge.metrics.confidence_intervals import Measure
from weigh.judge.metrics.losses import Floats
from weigh.text import format_count, format_float, to_json_value
from weigh.trials.resampled_t_test import FoldCorrection

BOOTSTRAP_DRAWS = 1_000
BOOTSTRAP_SEED = 0
MIN_SIZES = 4  # sizes, one more than the law has parameters
EXTRAPOLATION_FACTORS = (2, 4, 10)  # times the rows there are


@dataclass(frozen=True)
class RequiredRows:
    """How many rows bring a loss down to a target, by a law; infinity where no number does."""

    target: float
    rows: float
    low: float
    high: float
    asymptote: Measure

    def to_dict(self) -> dict[str, Any]:
        """The answer for JSON; endlessly many rows are "inf"."""
        numbers = {"target": self.target, "rows": self.rows, "low": self.low, "high": self.high}
        return {name: to_json_value(value) for name, value in numbers.items()} | {
            "asymptote": self.asymptote.to_dict()
        }

    def __str__(self) -> str:
        if math.isinf(self.rows):
            return (
                f"No number of rows brings the loss to {format_float(self.target)}: by the fitted law it stays "
                f"above {format_interval(self.asymptote)}."
            )
        return f"{_format_rows(self.rows)} rows ({_format_rows(self.low)} to {_format_rows(self.high)}) for {format_float(self.target)}."


@dataclass(frozen=True, eq=False, repr=False)
class PowerLaw:
    """The validation loss after n rows, a + b n^(−c), with a, b ≥ 0 and 0.02 ≤ c ≤ 2.

    Fitted by least squares to the measured means from `first` rows on, weighted by one over their variance.
    Intervals come from a parametric bootstrap: the law's own curve with errors as the folds have them
    (corrected for their overlap) is fitted again 1,000 times. Where the training loss surely rises with the
    rows, a is at least the training loss at the last size: both end at the same loss. `is_bound` tells that a
    is this bound, and no estimate of its own. Beyond `last` rows it is an extrapolation, which holds as long
    as the loss goes on falling as it did.
    """

    a: Measure
    b: Measure
    c: Measure
    first: int
    last: int
    level: float
    is_bound: bool
    draws: Floats = field(repr=False)

    @property
    def asymptote(self) -> Measure:
        """The loss that no number of rows gets below."""
        return self.a

    def at(self, n: float) -> Measure:
        """Return the loss expected after n rows, with its interval."""
        rows = check_finite("at", "n", n, "a number of rows of at least 1")
        if rows < 1:
            raise errors.parameter_error("at", "n", "a number of rows of at least 1", n)
        return self._measure("loss", self.values([rows])[0], self.bootstrap_losses([rows])[:, 0])

    def values(self, sizes: Sequence[float] | Floats) -> Floats:
        """Return the law's loss after each number of rows."""
        return np.asarray(self.a.value + self.b.value * np.asarray(sizes, np.float64) ** -self.c.value)

    def bootstrap_losses(self, sizes: Sequence[float] | Floats) -> Floats:
        """Return the losses [draws, sizes] of the laws of the bootstrap."""
        a, b, c = self.draws.T[:, :, None]
        return np.asarray(a + b * np.asarray(sizes, np.float64) ** -c)

    def size_for(self, loss: float) -> RequiredRows:
        """Return how many rows bring the loss down to `loss`."""
        target = check_finite("size_for", "loss", loss, "a loss of at least 0")
        if target < 0:
            raise errors.parameter_error("size_for", "loss", "a loss of at least 0", loss)
        own = np.array([[self.a.value, self.b.value, self.c.value]])
        rows = float(_invert_laws(own, target)[0])
        low, high = _quantile_interval(_invert_laws(self.draws, target), self.level)
        return RequiredRows(target, rows, low, high, self.a)

    def _measure(self, name: str, value: float, draws: Floats) -> Measure:
        return Measure(name, float(value), *_quantile_interval(draws, self.level))

    def ahead(self) -> list[tuple[int, Measure]]:
        """Return the loss expected after 2, 4 and 10 times the rows there are."""
        return [(times * self.last, self.at(times * self.last)) for times in EXTRAPOLATION_FACTORS]

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON but the draws."""
        return {
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "c": self.c.to_dict(),
            "is_bound": self.is_bound,
            "first": self.first,
            "last": self.last,
            "ahead": [{"rows": rows, "loss": loss.to_dict()} for rows, loss in self.ahead()],
        }

    def __str__(self) -> str:
        formula = f"{format_float(self.a.value)} + {format_float(self.b.value)} · rows^−{self.c.value:.2f}"
        lines = [f"law: {formula}, fitted from {self.first:,} rows on"]
        lines.append(f"  with endlessly many rows  {'at least ' * self.is_bound}{format_interval(self.a)}")
        if self.is_bound:
            lines.append("    (the training loss, a bound and no estimate)")
        for rows, loss in self.ahead():
            lines.append(f"  with {rows:,} rows".ljust(28) + format_interval(loss))
        return "\n".join(lines)

    __repr__ = __str__


def format_interval(measure: Measure) -> str:
    """A measured value with its interval in words."""
    if math.isnan(measure.low):
        return format_float(measure.value)
    return f"{format_float(measure.value)} ({format_float(measure.low)} to {format_float(measure.high)})"


def _format_rows(number: float) -> str:
    return "never" if math.isinf(number) else format_count(float(math.ceil(number)))


def _quantile_interval(draws: Floats, level: float) -> tuple[float, float]:
    tail = (1.0 - level) / 2.0
    # Draws without an answer are infinite, and between two infinities nothing can be interpolated.
    low, high = np.quantile(draws, [tail, 1.0 - tail], method="nearest")
    return float(low), float(high)


def _invert_laws(laws: Floats, target: float) -> Floats:
    """Return the rows after which each law [k, 3] is at the target; 1 at least, infinity if never."""
    a, b, c = laws.T
    with np.errstate(divide="ignore", over="ignore"):
        rows = (np.maximum(target - a, 0.0) / np.where(b > 0, b, 1.0)) ** (-1.0 / c)
    return np.asarray(np.where(b > 0, np.maximum(rows, 1.0), np.where(a <= target, 1.0, np.inf)))


def fit_power_law(
    sizes: Sequence[int], losses: Floats, corrected: FoldCorrection, train: Floats | None = None
) -> PowerLaw | str:
    """Return the law of validation losses [folds, sizes], or the reason why there is none.

    `train` are the training losses at the same sizes. The smallest sizes are left out one by one, down to
    four, as long as the law misses the intervals of two sizes or more: what is ahead is told by the later
    part of a curve.
    """
    if len(sizes) < MIN_SIZES:
        return f"{MIN_SIZES} sizes at least are needed, and there are {len(sizes)}"
    if not np.isfinite(losses).all():
        return "some losses are infinite"
    floor = _loss_floor(train, corrected)
    for start in range(len(sizes) - MIN_SIZES + 1):
        found = _fit_if_falling(np.asarray(sizes[start:], np.float64), losses[:, start:], floor, corrected)
        if found is not None:
            return found
    fall = corrected.measure("fall", losses[:, 0] - losses[:, -1])
    if not fall.low > 0:
        return f"the loss does not fall beyond chance from {sizes[0]:,} to {sizes[-1]:,} rows"
    return "the measured losses do not follow a power law"


def _loss_floor(train: Floats | None, corrected: FoldCorrection) -> float:
    """Return what no loss gets below: the last training loss if it rises, else zero."""
    if train is None or not np.isfinite(train).all():
        return 0.0
    rise = corrected.measure("rise", train[:, -1] - train[:, 0])
    return float(train[:, -1].mean()) if rise.low > 0 else 0.0


def _fit_if_falling(
    sizes: Floats, losses: Floats, floor: float, corrected: FoldCorrection
) -> PowerLaw | None:
    """Return the law of these sizes if it falls and goes through their intervals."""
    fall = corrected.measure("fall", losses[:, 0] - losses[:, -1])
    if not fall.low > 0:
        return None
    mean, low, high, scale = corrected.mean_intervals(losses)
    weights = _inverse_variance_weights(np.square(scale))
    a, b, c = _fit_above_floors(sizes, mean[None, :], weights, np.array([floor]))[0]
    values = a + b * sizes**-c
    slack = 1e-6 * float(np.abs(mean).max())
    if np.sum((values < low - slack) | (values > high + slack)) > 1:
        return None
    noise = corrected.draw_errors(losses, BOOTSTRAP_DRAWS, BOOTSTRAP_SEED)
    # Training and validation rows are the same rows in other folds, and are off together.
    floors = floor + corrected.shared_error_fraction * noise[:, -1] if floor else np.zeros(BOOTSTRAP_DRAWS)
    draws = _fit_above_floors(sizes, values + noise, weights, floors)
    limits = [_quantile_interval(column, corrected.level) for column in draws.T]
    return PowerLaw(
        a=Measure("a", float(a), *limits[0]),
        b=Measure("b", float(b), *limits[1]),
        c=Measure("c", float(c), *limits[2]),
        first=int(sizes[0]),
        last=int(sizes[-1]),
        level=corrected.level,
        is_bound=bool(0.0 < a <= floor),
        draws=draws,
    )


def _fit_above_floors(sizes: Floats, losses: Floats, weights: Floats, floors: Floats) -> Floats:
    """Return the laws of losses [k, sizes] that stay above their floors [k]."""
    floors = np.maximum(floors, 0.0)
    found = fit_power_laws(sizes, losses - floors[:, None], weights)
    found[:, 0] += floors
    return found


def _inverse_variance_weights(variances: Floats) -> Floats:
    """Return one over the variances; a few equal losses by chance do not make a size all that counts."""
    usual = float(np.median(variances))
    if usual == 0.0:
        return np.ones_like(variances)
    return np.asarray(1.0 / np.maximum(variances, usual / 10.0))


MIN_EXPONENT, MAX_EXPONENT = 0.02, 2.0  # exponents
GRID_POINTS, REFINEMENT_POINTS, REFINEMENT_STEPS = 48, 9, 12


def fit_power_laws(sizes: Floats, losses: Floats, weights: Floats) -> Floats:
    """Return a, b, c [k, 3] of the laws nearest to losses [k, sizes], all with the same weights [sizes]."""
    # Sizes around one keep the columns of the least squares alike in length.
    middle = float(np.exp(np.log(sizes).mean()))
    logs = np.log(sizes / middle)
    grid = np.geomspace(MIN_EXPONENT, MAX_EXPONENT, GRID_POINTS)
    exponents = np.tile(grid, (len(losses), 1))
    step = np.log(grid[1] / grid[0])
    best = _best_exponents(logs, losses, weights, exponents)
    for _ in range(REFINEMENT_STEPS):
        around = np.exp(np.log(best[:, 2:]) + step * np.linspace(-1.0, 1.0, REFINEMENT_POINTS))
        best = _best_exponents(logs, losses, weights, np.clip(around, MIN_EXPONENT, MAX_EXPONENT))
        step *= 2.5 / (REFINEMENT_POINTS - 1)
    best[:, 1] *= middle ** best[:, 2]
    return best


def _best_exponents(logs: Floats, losses: Floats, weights: Floats, exponents: Floats) -> Floats:
    """Return the best a, b, c [k, 3] among exponents [k, tries] of sizes given by their logarithms."""
    powers = np.exp(-exponents[:, :, None] * logs)
    a, b = _nonnegative_least_squares(powers, losses[:, None, :], weights)
    left = losses[:, None, :] - a[:, :, None] - b[:, :, None] * powers
    at = np.argmin((weights * np.square(left)).sum(axis=2), axis=1)
    rows = np.arange(len(losses))
    return np.column_stack([a[rows, at], b[rows, at], exponents[rows, at]])


def _nonnegative_least_squares(powers: Floats, losses: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the a and b, both ≥ 0, of least squares on powers [k, tries, sizes]."""
    total = weights.sum()
    mean_power = (weights * powers).sum(axis=2) / total
    mean_loss = (weights * losses).sum(axis=2) / total
    centred = powers - mean_power[:, :, None]
    spread = (weights * np.square(centred)).sum(axis=2)
    b = np.maximum((weights * centred * losses).sum(axis=2) / spread, 0.0)
    a = mean_loss - b * mean_power
    # The objective is convex: where the free optimum has a < 0, the best one has a = 0.
    alone = (weights * powers * losses).sum(axis=2) / (weights * np.square(powers)).sum(axis=2)
    return np.where(a < 0.0, 0.0, a), np.where(a < 0.0, np.maximum(alone, 0.0), b)
