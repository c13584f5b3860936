"""Confidence intervals for shares, means, areas and regression metrics.

Weighted rows count as (sum w)^2 / sum w^2 effective rows: n equal weights count as n rows, unequal ones as
fewer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weigh.judge.metrics.losses import Floats
from weigh.priors.quantiles import beta_quantile, student_quantile
from weigh.result import Result, Section
from weigh.text import use_minus_sign


def clopper_pearson(successes: Floats, trials: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the exact binomial interval (low, high) of a share, elementwise; nan for zero trials.

    With a = 1 - level, k successes in n trials: low is the a/2 quantile of Beta(k, n - k + 1) and
    0 for k = 0; high is the 1 - a/2 quantile of Beta(k + 1, n - k) and 1 for k = n. The coverage is at
    least the stated level. Effective counts need not be integers.
    """
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    tail = (1.0 - level) / 2.0
    above_zero, below_one = k > 0, k < n
    low_quantiles = _beta_quantiles(np.where(above_zero, k, 1.0), np.maximum(n - k, 0.0) + 1.0, tail)
    high_quantiles = _beta_quantiles(k + 1.0, np.where(below_one, n - k, 1.0), 1.0 - tail)
    low, high = np.where(above_zero, low_quantiles, 0), np.where(below_one, high_quantiles, 1.0)
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def _beta_quantiles(a: Floats, b: Floats, p: float) -> Floats:
    pairs = zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
    return np.array([beta_quantile(*pair, p) for pair in pairs]).reshape(a.shape)


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
    half_width = student_quantile(n - 1.0, (1.0 + level) / 2.0) * float(np.sqrt(variance / n))
    return max(mean - half_width, 0.0), min(mean + half_width, upper)


def logit_interval(value: float, variance: float, n: float, level: float) -> tuple[float, float]:
    """Return the interval of an area or share in [0, 1], with Student's t on the logit scale.

    If the estimated variance is zero, for example because all rows are ranked correctly, return the exact
    interval of a share of n trials. This is conservative: the variance of an area is at most
    value (1 - value) / n, where n counts the smaller side.
    """
    logit_slope = value * (1.0 - value)
    # A variance below 1e-24 is rounding error.
    if not n > 1.0 or logit_slope <= 0.0 or variance <= 1e-24:
        low, high = clopper_pearson(np.array([value * n]), np.array([n]), level)
        return float(low[0]), float(high[0])
    half_width = student_quantile(n - 1.0, (1.0 + level) / 2.0) * float(np.sqrt(variance)) / logit_slope
    logit = np.log(value / (1.0 - value))
    low, high = 1.0 / (1.0 + np.exp(-np.clip(logit + np.array([-half_width, half_width]), -700.0, 700.0)))
    return float(low), float(high)


def average_share_interval(
    values: Floats, lows: Floats, highs: Floats, count: int, variance_inflation: float = 1.0
) -> tuple[float, float, float]:
    """Return the sum of shares / count with its interval, adding the half-widths in quadrature.

    Unlike a sum of estimated variances this also works for shares of 0 or 1. `variance_inflation` is the
    ratio of the variance of the sum to that of independent shares. Shares that are nan count as exactly zero.
    """
    defined = ~np.isnan(values)
    mean = float(values[defined].sum()) / count
    below, above = (
        float(np.sqrt(max(variance_inflation, 1.0) * np.square((limits - values)[defined]).sum())) / count
        for limits in (lows, highs)
    )
    return mean, max(mean - below, 0.0), min(mean + above, 1.0)


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
    tail = (1.0 - level) / 2.0
    with np.errstate(invalid="ignore"):
        resampled = _regression_metrics(_bootstrap_means(table))
        return metrics, np.nanquantile(resampled, [tail, 1.0 - tail], axis=0)


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
