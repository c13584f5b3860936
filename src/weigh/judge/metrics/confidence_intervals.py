"""Confidence intervals for shares, means, areas and regression metrics.

Weighted rows count as (sum w)^2 / sum w^2 effective rows: n equal weights count as n rows, unequal ones as
fewer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from weigh import errors
from weigh.judge.metrics.losses import Floats
from weigh.priors.quantiles import binomial_limit, student_critical_value
from weigh.result import Result, Section
from weigh.text import format_float, use_minus_sign


def clopper_pearson(successes: Floats, trials: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the exact binomial interval (low, high) of a share, elementwise; nan for zero trials.

    The coverage is at least the stated level. Effective counts need not be integers.
    """
    tail, pairs = (1.0 - level) / 2.0, list(zip(successes.tolist(), trials.tolist(), strict=True))
    low, high = (
        np.array([binomial_limit(*pair, tail, upper=upper) for pair in pairs]) for upper in (False, True)
    )
    return low, high


def student_interval(
    mean: float, variance: float, n: float, level: float, upper: float = np.inf
) -> tuple[float, float]:
    """Return Student's interval of a mean loss, mean ± t sqrt(variance / n), clipped to [0, upper].

    It is approximate: good for many rows or similar losses. Fewer than two rows give (nan, nan). An
    infinite mean gives (inf, inf): after one infinite loss the expected loss is infinite.
    """
    if mean == np.inf:
        return np.inf, np.inf
    if np.isnan(mean) or not n > 1.0:
        return np.nan, np.nan
    half_width = student_critical_value(n - 1.0, level) * float(np.sqrt(variance / n))
    return max(mean - half_width, 0.0), min(mean + half_width, upper)


def standard_error(values: Floats, ratio: float = 0.0) -> Floats:
    """Return the standard error √(s² (1/k + ratio)) of the mean of k values, the last axis; nan if k < 2.

    `ratio` corrects for the overlap of training sets, see `weigh.judge.metrics.paired_tests`.
    """
    k = values.shape[-1]
    if k < 2:
        return np.full(values.shape[:-1], math.nan)
    return np.asarray(np.sqrt(values.var(axis=-1, ddof=1) * (1.0 / k + ratio)))


def logit_interval(value: float, variance: float, n: float, level: float) -> tuple[float, float]:
    """Return the interval of an area or share in [0, 1], with Student's t on the logit scale.

    If the estimated variance is zero, for example because all rows are ranked correctly, return the exact
    interval of a share of n trials. This is conservative: the variance of an area is at most
    value (1 - value) / n, where n counts the smaller side.
    """
    logit_slope = value * (1.0 - value)
    # A variance below 1e-24 is rounding error.
    if not n > 1.0 or logit_slope <= 0.0 or variance <= 1e-24:
        share = proportion("share", value * n, n, level)
        return share.low, share.high
    half_width = student_critical_value(n - 1.0, level) * float(np.sqrt(variance)) / logit_slope
    logit = np.log(value / (1.0 - value))
    low, high = 1.0 / (1.0 + np.exp(-np.clip(logit + np.array([-half_width, half_width]), -700.0, 700.0)))
    return float(low), float(high)


def average_share_interval(
    values: Floats,
    lows: Floats,
    highs: Floats,
    count: int,
    variance_inflation: float = 1.0,
    n_unknown: int = 0,
) -> tuple[float, float, float]:
    """Return the sum of shares / count with its interval, adding the half-widths in quadrature.

    Unlike a sum of estimated variances this also works for shares of 0 or 1. `variance_inflation` is the
    ratio of the variance of the sum to that of independent shares. Shares that are nan count as zero; of
    `n_unknown` of them nothing is known, so the interval allows for any value.
    """
    defined = ~np.isnan(values)
    mean = float(values[defined].sum()) / count
    below, above = (
        float(np.sqrt(max(variance_inflation, 1.0) * np.square((limits - values)[defined]).sum())) / count
        for limits in (lows, highs)
    )
    return mean, max(mean - below, 0.0), min(mean + above + n_unknown / count, 1.0)


@dataclass(frozen=True, repr=False)
class Measure(Result):
    """A value with its confidence interval; low and high are nan if there is none."""

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan

    def sections(self) -> list[Section]:
        """Return the value and its interval as one line."""
        interval = "" if math.isnan(self.low) else f", from {self.low:.4g} to {self.high:.4g}"
        return [Section(self.name, [f"{self.name}: " + use_minus_sign(f"{self.value:.4g}{interval}")])]

    @property
    def is_truncated_at_zero(self) -> bool:
        """Whether the interval of a mean loss was clipped at zero, a sign of a heavy-tailed loss."""
        return self.low == 0.0 < self.value

    def chart_row(self, number: str = "value", **labels: Any) -> dict[str, Any]:
        """Return a row of a chart with the value under the name `number`, the limits, and labels."""
        return {**labels, number: self.value, "low": self.low, "high": self.high}


def find_measure(measures: Iterable[Measure], name: str, owner: str) -> Measure:
    """Return the measure of an evaluation or audit, the owner, with this name."""
    problem = f"This {owner} has no measure {name!r}; it has"
    return errors.find_named({each.name: each for each in measures}, name, problem, errors.Unsupported)


def format_interval(measure: Measure, to_text: Callable[[float], str] = format_float) -> str:
    """Return a value with its interval as text."""
    value, low, high = map(to_text, (measure.value, measure.low, measure.high))
    return value if math.isnan(measure.low) else f"{value} ({low} to {high})"


def proportion(name: str, part: float, whole: float, level: float = 0.95, unit: float = 1.0) -> Measure:
    """Return unit · part / whole with its exact (Clopper–Pearson) interval; nan if the whole is 0."""
    tail = (1.0 - level) / 2.0
    low, high = (unit * binomial_limit(part, whole, tail, upper=upper) for upper in (False, True))
    return Measure(name, unit * part / whole if whole else math.nan, low, high)


def quantile_interval(draws: Floats, level: float, method: Literal["linear", "nearest"] = "linear") -> Floats:
    """Return the limits [2, ...] of the central share `level` of draws [n, ...]; nan draws are left out.

    With infinite draws the method must be "nearest": interpolating between two infinities gives nan.
    """
    tail = (1.0 - level) / 2.0
    return np.asarray(np.nanquantile(draws, [tail, 1.0 - tail], axis=0, method=method))


BOOTSTRAP_SAMPLES = 2_000
BOOTSTRAP_SEED = 0
MAX_RESAMPLED_ROWS = 10_000
MAX_COUNT_CELLS = 1 << 22  # resampling counts in memory at once


def bootstrap_regression_metrics(
    error: Floats, true: Floats, weight: Floats, level: float
) -> tuple[Floats, Floats]:
    """Return r2, rmse, mae and mean error [4], and their limits [2, 4], nan for fewer than two rows."""
    centred = true - np.average(true, weights=weight)
    table = weight[:, None] * np.column_stack(
        [np.ones_like(error), error, np.abs(error), np.square(error), centred, np.square(centred)]
    )
    # NumPy sums pairwise, with little rounding error, only along contiguous memory.
    metrics = _regression_metrics(np.ascontiguousarray(table.T).mean(axis=1)[None, :])[0]
    if len(error) < 2:
        return np.array([math.nan, *metrics[1:]]), np.full((2, 4), np.nan)
    with np.errstate(invalid="ignore"):
        return metrics, quantile_interval(_regression_metrics(_bootstrap_means(table)), level)


def _regression_metrics(means: Floats) -> Floats:
    """Return r2, rmse, mae and mean error [k, 4] from the column means [k, 6] of k samples."""
    weight, error, abs_error, squared_error, centred, squared_centred = means.T
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.maximum(squared_centred - np.square(centred) / weight, 0.0)
        # For constant targets R² is 1 if they are predicted exactly, else 0.
        r2 = np.where(variance > 0, 1.0 - squared_error / variance, np.where(squared_error > 0, 0.0, 1.0))
        return np.column_stack([r2, np.sqrt(squared_error / weight), abs_error / weight, error / weight])


def _bootstrap_means(table: Floats) -> Floats:
    """Return the column means of bootstrap samples, [BOOTSTRAP_SAMPLES, columns].

    Above `MAX_RESAMPLED_ROWS` rows they are drawn from their limiting normal distribution.
    """
    rng, n = np.random.default_rng(BOOTSTRAP_SEED), len(table)
    if n > MAX_RESAMPLED_ROWS:
        return np.asarray(rng.multivariate_normal(table.mean(axis=0), np.cov(table.T) / n, BOOTSTRAP_SAMPLES))
    batch_size = max(1, MAX_COUNT_CELLS // n)
    starts = range(0, BOOTSTRAP_SAMPLES, batch_size)
    sizes = [min(batch_size, BOOTSTRAP_SAMPLES - start) for start in starts]
    return np.concatenate([_resample_counts(rng, size, n) @ table / n for size in sizes])


def _resample_counts(rng: np.random.Generator, size: int, n: int) -> Floats:
    """Return how often each of n rows occurs in each bootstrap sample, [size, n]."""
    drawn = rng.integers(n, size=(size, n)) + np.arange(size)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)
