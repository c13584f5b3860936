"""Confidence intervals for shares and for means.

Weighted rows are counted by their effective number, (sum w)^2 / sum w^2: n equal weights count as
n rows, whatever their size, and unequal ones as fewer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.judge.metrics.losses import Floats
from weigh.priors.quantiles import beta_quantile, student_quantile
from weigh.text import html_paragraph, to_json_value, use_minus_sign


def clopper_pearson(successes: Floats, trials: Floats, level: float) -> tuple[Floats, Floats]:
    """The exact binomial interval of a share, element by element; nan where nothing was tried.

    With a = 1 - level, k successes in n trials: low is the a/2 quantile of Beta(k, n - k + 1) and
    0 for k = 0; high is the 1 - a/2 quantile of Beta(k + 1, n - k) and 1 for k = n. It covers the
    true share with at least the stated level. Effective numbers need not be whole.
    """
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    tail = (1.0 - level) / 2.0
    some, few = k > 0, k < n
    low = np.where(some, _beta_quantiles(np.where(some, k, 1.0), np.maximum(n - k, 0.0) + 1.0, tail), 0)
    high = np.where(few, _beta_quantiles(k + 1.0, np.where(few, n - k, 1.0), 1.0 - tail), 1.0)
    tried = n > 0
    return np.where(tried, low, np.nan), np.where(tried, high, np.nan)


def _beta_quantiles(a: Floats, b: Floats, share: float) -> Floats:
    pairs = zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
    return np.array([beta_quantile(*pair, share) for pair in pairs]).reshape(a.shape)


def student_interval(
    mean: float, variance: float, rows: float, level: float, most: float = np.inf
) -> tuple[float, float]:
    """Student's interval of the mean of a loss, mean ± t sqrt(variance / rows), in [0, most].

    It holds approximately, for many rows or losses that are alike. Fewer than two rows have no interval
    (nan, nan). An
    infinite mean has (inf, inf): once an infinite loss has been met, the expected loss is infinite.
    """
    if mean == np.inf:
        return np.inf, np.inf
    if np.isnan(mean) or not rows > 1.0:
        return np.nan, np.nan
    reach = student_quantile(rows - 1.0, (1.0 + level) / 2.0) * float(np.sqrt(variance / rows))
    return max(mean - reach, 0.0), min(mean + reach, most)


def logit_interval(value: float, variance: float, rows: float, level: float) -> tuple[float, float]:
    """The interval of a share such as an area, whose logit is taken to follow Student's t; within 0 and 1.

    Where rows show no variance, as where all are ranked rightly, it is the exact interval of a share of so
    many rows. Areas are no less certain: their variance is at most value (1 - value) / rows for the smaller
    side.
    """
    spread = value * (1.0 - value)
    # What rounding leaves of a variance of zero is none.
    if not rows > 1.0 or spread <= 0.0 or variance <= 1e-24:
        low, high = clopper_pearson(np.array([value * rows]), np.array([rows]), level)
        return float(low[0]), float(high[0])
    reach = student_quantile(rows - 1.0, (1.0 + level) / 2.0) * float(np.sqrt(variance)) / spread
    middle = np.log(value / (1.0 - value))
    low, high = 1.0 / (1.0 + np.exp(-np.clip(middle + np.array([-reach, reach]), -700.0, 700.0)))
    return float(low), float(high)


def average_share_interval(
    values: Floats, lows: Floats, highs: Floats, count: int, together: float = 1.0
) -> tuple[float, float, float]:
    """The sum of shares / count, with limits from theirs: their distances add up as squares.

    That holds for shares at 0 or 1 too, where rows show no variance. `together` is by how much the variance
    of the sum exceeds that of shares of different rows. Shares that are nan are zero for sure.
    """
    known = ~np.isnan(values)
    mean = float(values[known].sum()) / count
    below, above = (
        float(np.sqrt(max(together, 1.0) * np.square((ends - values)[known]).sum())) / count
        for ends in (lows, highs)
    )
    return mean, max(mean - below, 0.0), min(mean + above, 1.0)


@dataclass(frozen=True, repr=False)
class Measure:
    """A value with its confidence interval; low and high are nan where none is given."""

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan

    def __str__(self) -> str:
        interval = "" if math.isnan(self.low) else f", from {self.low:.4g} to {self.high:.4g}"
        return f"{self.name}: " + use_minus_sign(f"{self.value:.4g}{interval}")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_paragraph(str(self))

    @property
    def is_truncated_at_zero(self) -> bool:
        """Whether the interval of a mean loss would begin below zero: a few rows have most of it."""
        return self.low == 0.0 < self.value

    def to_dict(self) -> dict[str, Any]:
        """The measure for JSON: nan as None, infinities as "inf" and "-inf"."""
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        return {"name": self.name} | {key: to_json_value(number) for key, number in numbers.items()}


BOOTSTRAP_SAMPLES = 2_000
BOOTSTRAP_SEED = 0
MAX_RESAMPLED_ROWS = 10_000
MAX_COUNT_CELLS = 1 << 22  # counts held at once


def bootstrap_regression_metrics(
    error: Floats, true: Floats, weight: Floats, level: float
) -> tuple[Floats, Floats]:
    """Return r2, rmse, mae and mean error, and their limits [2, 4]; fewer than two rows have none."""
    away = true - np.average(true, weights=weight)
    table = weight[:, None] * np.column_stack(
        [np.ones_like(error), error, np.abs(error), np.square(error), away, np.square(away)]
    )
    # Sums along rows of memory are made pairwise, and lose next to nothing.
    found = _regression_metrics(np.ascontiguousarray(table.T).mean(axis=1)[None, :])[0]
    if len(error) < 2:
        return np.array([math.nan, *found[1:]]), np.full((2, 4), np.nan)
    tail = (1.0 - level) / 2.0
    with np.errstate(invalid="ignore"):
        return found, np.nanquantile(_regression_metrics(_bootstrap_means(table)), [tail, 1.0 - tail], axis=0)


def _regression_metrics(means: Floats) -> Floats:
    """Return r2, rmse, mae and mean error [k, 4] from k means of the columns."""
    total, error, size, square, away, spread = means.T
    with np.errstate(divide="ignore", invalid="ignore"):
        scatter = np.maximum(spread - np.square(away) / total, 0.0)
        # A constant has nothing to explain: it is met, or it is not.
        r2 = np.where(scatter > 0, 1.0 - square / scatter, np.where(square > 0, 0.0, 1.0))
        return np.column_stack([r2, np.sqrt(square / total), size / total, error / total])


def _bootstrap_means(table: Floats) -> Floats:
    """Return the columns' means of samples of as many rows, drawn with replacement."""
    rng, n = np.random.default_rng(BOOTSTRAP_SEED), len(table)
    if n > MAX_RESAMPLED_ROWS:
        return np.asarray(rng.multivariate_normal(table.mean(axis=0), np.cov(table.T) / n, BOOTSTRAP_SAMPLES))
    step = max(1, MAX_COUNT_CELLS // n)
    sizes = [min(step, BOOTSTRAP_SAMPLES - start) for start in range(0, BOOTSTRAP_SAMPLES, step)]
    return np.concatenate([_resample_counts(rng, size, n) @ table / n for size in sizes])


def _resample_counts(rng: np.random.Generator, size: int, n: int) -> Floats:
    """Return how often each of n rows is in each of some samples of n rows."""
    drawn = rng.integers(n, size=(size, n)) + np.arange(size)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)
