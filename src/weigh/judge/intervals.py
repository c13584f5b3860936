"""Confidence intervals for shares and for means.

Weighted rows are counted by their effective number, (sum w)^2 / sum w^2: n equal weights count as
n rows, whatever their size, and unequal ones as fewer.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from weigh.judge.losses import Floats
from weigh.priors.quantiles import beta_quantile


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


def normal_mean(
    mean: float, variance: float, rows: float, level: float, most: float = np.inf
) -> tuple[float, float]:
    """The normal interval of the mean of a loss, mean ± z sqrt(variance / rows), in [0, most].

    It holds approximately, for many rows. Fewer than two rows have no interval (nan, nan). An
    infinite mean has (inf, inf): once an infinite loss has been met, the expected loss is infinite.
    """
    if mean == np.inf:
        return np.inf, np.inf
    if np.isnan(mean) or not rows > 1.0:
        return np.nan, np.nan
    reach = NormalDist().inv_cdf((1.0 + level) / 2.0) * float(np.sqrt(variance / rows))
    return max(mean - reach, 0.0), min(mean + reach, most)
