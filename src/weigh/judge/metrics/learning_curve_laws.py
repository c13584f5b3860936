"""Laws of learning curves: a measure of quality as a function of the size n of the training data.

`PowerLaw`, a + b n^(−c), describes a loss that falls towards a limit a ≥ 0; it extrapolates beyond the
measured sizes. `LogLinearLaw`, a + b log10 n, describes an accuracy that grows by b with every tenfold of
data, as Banko & Brill (2001) found for confusable words. It has no limit, so it only summarises the measured
sizes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weigh import errors
from weigh.immutable import ImmutablePart
from weigh.judge.metrics.confidence_intervals import (
    Measure,
    format_interval,
    quantile_interval,
    standard_error,
)
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.paired_tests import FoldCorrection
from weigh.parameters import check_finite
from weigh.result import Facts
from weigh.text import format_count, format_float, use_minus_sign

BOOTSTRAP_DRAWS = 1_000
BOOTSTRAP_SEED = 0
MIN_SIZES = 4  # one more than the law has parameters
EXTRAPOLATION_FACTORS = (2, 4, 10)  # multiples of the largest measured size
MIN_EXPONENT, MAX_EXPONENT = 0.02, 2.0
GRID_POINTS, REFINEMENT_POINTS, REFINEMENT_STEPS = 48, 9, 12
MIN_LOG_LINEAR_SIZES = 3
VARIANCE_TOLERANCE = 1e-24  # a smaller total variance is rounding error
CHART_POINTS = 40


@dataclass(frozen=True)
class RequiredRows(Facts):
    """The number of rows at which a power law reaches a target loss; infinity if it never does."""

    target: float
    rows: float
    low: float
    high: float
    asymptote: Measure

    def __str__(self) -> str:
        if math.isinf(self.rows):
            return (
                f"No number of rows reduces the loss to {format_float(self.target)}: by the fitted power law "
                f"it stays above {format_interval(self.asymptote)}."
            )
        rows, low, high = map(_format_rows, (self.rows, self.low, self.high))
        return f"{rows} rows ({low} to {high}) for a loss of {format_float(self.target)}."


@dataclass(frozen=True, eq=False, repr=False)
class PowerLaw(Facts, ImmutablePart):
    """The validation loss with n training rows, a + b n^(−c), with a, b ≥ 0 and 0.02 ≤ c ≤ 2.

    Fitted to the measured means from `first` to `last` rows by least squares with inverse-variance weights.
    Intervals come from a parametric bootstrap: the law is refitted 1,000 times to its own curve plus errors
    with the covariance of the folds (corrected for their overlap). If the training loss increases
    significantly with the rows, a is at least the training loss at the last size, because both have the same
    limit. `is_bound` says that a equals this lower bound and is not an estimate. Beyond `last` rows the law
    extrapolates.
    """

    a: Measure
    b: Measure
    c: Measure
    first: int
    last: int
    level: float
    is_bound: bool
    draws: Floats = field(repr=False)
    _json = ("a", "b", "c", "is_bound", "first", "last")

    @property
    def asymptote(self) -> Measure:
        """The limit a of the loss for infinitely many rows."""
        return self.a

    def at(self, n: float) -> Measure:
        """Return the predicted loss with n rows, with its interval."""
        rows = check_finite("at", "n", n, "a number of rows of at least 1")
        if rows < 1:
            raise errors.parameter_error("at", "n", "a number of rows of at least 1", n)
        limits = self._limits(self.bootstrap_losses([rows])[:, 0])
        return Measure("loss", float(self.values([rows])[0]), *limits)

    def values(self, sizes: Sequence[float] | Floats) -> Floats:
        """Return the predicted loss at each size."""
        return np.asarray(self.a.value + self.b.value * np.asarray(sizes, np.float64) ** -self.c.value)

    def bootstrap_losses(self, sizes: Sequence[float] | Floats) -> Floats:
        """Return the losses [draws, sizes] that the bootstrap laws predict."""
        a, b, c = self.draws.T[:, :, None]
        return np.asarray(a + b * np.asarray(sizes, np.float64) ** -c)

    def size_for(self, loss: float) -> RequiredRows:
        """Return the number of rows at which the law reaches `loss`."""
        target = check_finite("size_for", "loss", loss, "a loss of at least 0")
        if target < 0:
            raise errors.parameter_error("size_for", "loss", "a loss of at least 0", loss)
        params = np.array([[self.a.value, self.b.value, self.c.value]])
        rows = float(_invert_laws(params, target)[0])
        return RequiredRows(target, rows, *self._limits(_invert_laws(self.draws, target)), self.a)

    def _limits(self, draws: Floats) -> tuple[float, float]:
        low, high = quantile_interval(draws, self.level, "nearest").tolist()
        return low, high

    def ahead(self) -> list[tuple[int, Measure]]:
        """Return the predicted loss at 2, 4 and 10 times the largest measured size."""
        return [(factor * self.last, self.at(factor * self.last)) for factor in EXTRAPOLATION_FACTORS]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the draws for JSON."""
        return super().to_dict() | {
            "ahead": [{"rows": n, "loss": loss.to_dict()} for n, loss in self.ahead()]
        }

    def __str__(self) -> str:
        formula = f"{format_float(self.a.value)} + {format_float(self.b.value)} · rows^−{self.c.value:.2f}"
        lines = [f"power law: {formula}, fitted from {self.first:,} rows"]
        lines.append("  in the limit".ljust(28) + "at least " * self.is_bound + format_interval(self.a))
        if self.is_bound:
            lines.append("    (a lower bound from the training loss, not an estimate)")
        for rows, loss in self.ahead():
            lines.append(f"  with {rows:,} rows".ljust(28) + format_interval(loss))
        return "\n".join(lines)

    __repr__ = __str__


def _format_rows(number: float) -> str:
    return "never" if math.isinf(number) else format_count(float(math.ceil(number)))


def _invert_laws(laws: Floats, target: float) -> Floats:
    """Return the number of rows (at least 1) at which each law [k, 3] reaches the target, or infinity."""
    a, b, c = laws.T
    with np.errstate(divide="ignore", over="ignore"):
        rows = (np.maximum(target - a, 0.0) / np.where(b > 0, b, 1.0)) ** (-1.0 / c)
    return np.asarray(np.where(b > 0, np.maximum(rows, 1.0), np.where(a <= target, 1.0, np.inf)))


def fit_power_law(
    sizes: Sequence[int], losses: Floats, correction: FoldCorrection, train: Floats | None = None
) -> PowerLaw | str:
    """Fit a power law to validation losses [folds, sizes], or return the reason why none fits.

    `train` are the training losses at the same sizes. As long as the law misses the intervals of two or more
    sizes, the smallest size is dropped, down to four sizes: the later part of a curve predicts better.
    """
    if len(sizes) < MIN_SIZES:
        return f"at least {MIN_SIZES} sizes are needed, and there are {len(sizes)}"
    if not np.isfinite(losses).all():
        return "some losses are infinite"
    floor = _loss_floor(train, correction)
    for start in range(len(sizes) - MIN_SIZES + 1):
        law = _fit_if_falling(np.asarray(sizes[start:], np.float64), losses[:, start:], floor, correction)
        if law is not None:
            return law
    fall = correction.measure("fall", losses[:, 0] - losses[:, -1])
    if not fall.low > 0:
        return f"the loss does not fall significantly from {sizes[0]:,} to {sizes[-1]:,} rows"
    return "the measured losses do not follow a power law"


def _loss_floor(train: Floats | None, correction: FoldCorrection) -> float:
    """Return a lower bound of the limit: the last training loss if it rises significantly, otherwise zero."""
    if train is None or not np.isfinite(train).all():
        return 0.0
    rise = correction.measure("rise", train[:, -1] - train[:, 0])
    return float(train[:, -1].mean()) if rise.low > 0 else 0.0


def _fit_if_falling(
    sizes: Floats, losses: Floats, floor: float, correction: FoldCorrection
) -> PowerLaw | None:
    """Fit a law to these sizes; None if the loss does not fall, or the law misses two or more intervals."""
    fall = correction.measure("fall", losses[:, 0] - losses[:, -1])
    if not fall.low > 0:
        return None
    mean, low, high, standard_error = correction.mean_intervals(losses)
    weights = _inverse_variance_weights(np.square(standard_error))
    law = _fit_above_floors(sizes, mean[None, :], weights, np.array([floor]))[0]
    values = law[0] + law[1] * sizes ** -law[2]
    tolerance = 1e-6 * float(np.abs(mean).max())
    if np.sum((values < low - tolerance) | (values > high + tolerance)) > 1:
        return None
    noise = correction.draw_errors(losses, BOOTSTRAP_DRAWS, BOOTSTRAP_SEED)
    # Training and validation losses come from the same rows, so they share part of their errors.
    floors = floor + correction.shared_error_fraction * noise[:, -1] if floor else np.zeros(BOOTSTRAP_DRAWS)
    draws = _fit_above_floors(sizes, values + noise, weights, floors)
    table = np.vstack([law, quantile_interval(draws, correction.level, "nearest")]).T.tolist()
    a, b, c = (Measure(name, *numbers) for name, numbers in zip("abc", table, strict=True))
    return PowerLaw(
        a,
        b,
        c,
        first=int(sizes[0]),
        last=int(sizes[-1]),
        level=correction.level,
        is_bound=bool(0.0 < law[0] <= floor),
        draws=draws,
    )


def _fit_above_floors(sizes: Floats, losses: Floats, weights: Floats, floors: Floats) -> Floats:
    """Return the laws [k, 3] nearest to losses [k, sizes] whose limits a are at least their floors [k]."""
    floors = np.maximum(floors, 0.0)
    laws = fit_power_laws(sizes, losses - floors[:, None], weights)
    laws[:, 0] += floors
    return laws


def _inverse_variance_weights(variances: Floats) -> Floats:
    """Return inverse variances, limited so that a size whose losses agree by chance does not dominate."""
    median = float(np.median(variances))
    if median == 0.0:
        return np.ones_like(variances)
    return np.asarray(1.0 / np.maximum(variances, median / 10.0))


def fit_power_laws(sizes: Floats, losses: Floats, weights: Floats) -> Floats:
    """Return a, b, c [k, 3] of the least-squares laws of losses [k, sizes] with weights [sizes].

    For a given exponent c, a and b have a closed form; c is found by grid search with refinement.
    """
    # Sizes around one keep the least-squares problem well conditioned.
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
    """Return the best a, b, c [k, 3] among candidate exponents [k, m]; `logs` are logarithms of sizes."""
    powers = np.exp(-exponents[:, :, None] * logs)
    a, b = _nonnegative_least_squares(powers, losses[:, None, :], weights)
    residuals = losses[:, None, :] - a[:, :, None] - b[:, :, None] * powers
    best = np.argmin((weights * np.square(residuals)).sum(axis=2), axis=1)
    rows = np.arange(len(losses))
    return np.column_stack([a[rows, best], b[rows, best], exponents[rows, best]])


def _nonnegative_least_squares(powers: Floats, losses: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the least-squares a and b ≥ 0 [k, m] for powers [k, m, sizes]."""
    a, b = fit_lines(powers, losses, weights, min_slope=0.0)
    # The objective is convex: if the unconstrained optimum has a < 0, the constrained one has a = 0.
    b_if_a_is_zero = (weights * powers * losses).sum(axis=2) / (weights * np.square(powers)).sum(axis=2)
    return np.where(a < 0.0, 0.0, a), np.where(a < 0.0, np.maximum(b_if_a_is_zero, 0.0), b)


def fit_lines(x: Floats, y: Floats, weights: Floats, min_slope: float = -math.inf) -> tuple[Floats, Floats]:
    """Return intercepts and slopes of the weighted least-squares lines along the last axis of x and y."""
    total = weights.sum()
    mean_x, mean_y = (weights * x).sum(axis=-1) / total, (weights * y).sum(axis=-1) / total
    centred = x - mean_x[..., None]
    slope = (weights * centred * y).sum(axis=-1) / (weights * np.square(centred)).sum(axis=-1)
    slope = np.maximum(slope, min_slope)
    return mean_y - slope * mean_x, slope


@dataclass(frozen=True)
class LogLinearLaw(Facts):
    """The accuracy a + b · log10(words), fitted by least squares to the mean over the sets.

    b is the mean of the slopes of the sets and `error` its standard error over the sets; nan for a single
    set. (The residuals give no standard error: all sizes share their test occurrences, and larger ones
    contain smaller ones.) `r2` is the coefficient of determination of the mean over the sets.
    """

    a: float
    b: float
    error: float
    r2: float

    def values(self, sizes: Sequence[float] | Floats) -> Floats:
        """Return the fitted accuracy for each number of training words."""
        return np.asarray(self.a + self.b * np.log10(np.asarray(sizes, np.float64)))

    @property
    def gain_text(self) -> str:
        """The gain from ten times the text in percentage points."""
        error = "" if math.isnan(self.error) else f" ± {100 * self.error:.1f}"
        # Adding 0.0 turns −0.0 into 0.0.
        return use_minus_sign(f"{round(100 * self.b, 1) + 0.0:+.1f}{error}")

    def __str__(self) -> str:
        error = "" if math.isnan(self.error) else f" (± {self.error:.4f})"
        r2 = "" if math.isnan(self.r2) else f", R² {self.r2:.3f}"
        sign = "−" if round(self.b, 4) < 0 else "+"
        return use_minus_sign(f"{self.a:.3f} {sign} {abs(self.b):.4f}{error} · log10(words){r2}")


def fit_log_linear_law(words: Sequence[int], accuracies: Floats) -> LogLinearLaw | None:
    """Fit accuracies [n_sizes, n_sets]; return None for fewer than three sizes."""
    if len(words) < MIN_LOG_LINEAR_SIZES:
        return None
    x, means = np.log10(np.asarray(words, np.float64)), accuracies.mean(axis=1)
    intercepts, slopes = fit_lines(x, accuracies.T, np.ones(len(x)))
    a, b = float(intercepts.mean()), float(slopes.mean())
    total = float(np.square(means - means.mean()).sum())
    residual = float(np.square(means - a - b * x).sum())
    r2 = 1.0 - residual / total if total > VARIANCE_TOLERANCE else math.nan
    return LogLinearLaw(a, b, float(standard_error(slopes)), r2)


def law_chart_rows(
    series: str, law: PowerLaw | LogLinearLaw, first: float, last: float
) -> list[dict[str, Any]]:
    """Return the rows of a line chart that draw a law from the first to the last size."""
    sizes = np.geomspace(first, last, CHART_POINTS)
    points = zip(sizes.tolist(), law.values(sizes).tolist(), strict=True)
    return [{"series": series, "x": x, "y": y, "fitted": True} for x, y in points]
