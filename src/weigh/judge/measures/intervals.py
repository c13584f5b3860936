"""Confidence intervals for shares and for means.

Weighted rows are counted by their effective number, (sum w)^2 / sum w^2: n equal weights count as
n rows, whatever their size, and unequal ones as fewer.
"""

from __future__ import annotations

import numpy as np

from weigh.judge.measures.losses import Floats
from weigh.priors.quantiles import beta_quantile, student_quantile


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


def student_mean(
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


def mean_of_shares(
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
