"""Quantiles, critical values and exact limits, computed with scipy.

scipy is imported inside the functions, because its import takes a third of a second.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def beta_quantile(a: float, b: float, tail: float, *, upper: bool = False) -> float:
    """Return the quantile of Beta(a, b) with the probability `tail` below it, or above it if `upper`."""
    from scipy.special import betainccinv, betaincinv

    return float(betainccinv(a, b, tail) if upper else betaincinv(a, b, tail))


def binomial_limit(successes: float, trials: float, tail: float, *, upper: bool = False) -> float:
    """Return the exact (Clopper–Pearson) lower or upper confidence limit of a share; nan for zero trials.

    The limit is wrong with a probability of at most `tail`. With k successes in n trials, the lower one is
    the quantile of Beta(k, n − k + 1) with `tail` below it, and 0 for k = 0; the upper one is the quantile of
    Beta(k + 1, n − k) with `tail` above it, and 1 for k = n.
    """
    if not trials > 0:
        return math.nan
    failures = max(trials - successes, 0.0)
    if upper:
        return beta_quantile(successes + 1.0, failures, tail, upper=True) if failures else 1.0
    return beta_quantile(successes, failures + 1.0, tail) if successes > 0 else 0.0


def student_critical_value(df: float, level: float) -> float:
    """Return t with P(|T| ≤ t) = level; with infinite degrees of freedom, of the normal distribution."""
    from scipy.special import ndtri, stdtrit

    p = (1 + level) / 2
    return float(ndtri(p) if math.isinf(df) else stdtrit(df, p))


def student_two_sided_p(df: float, t: float) -> float:
    """Return P(|T| > t) of Student's t; with infinite degrees of freedom, of the normal distribution."""
    from scipy.special import ndtr, stdtr

    return float(2 * (ndtr(-t) if math.isinf(df) else stdtr(df, -t)))


def chi_square_quantile(df: float, p: float) -> float:
    """Return the p-quantile of the chi-square distribution."""
    from scipy.special import chdtri

    return float(chdtri(df, 1 - p))


def elastic_net_normaliser(l1: float, l2: float) -> float:
    """Return the integral of exp(−l1 |w| − ½ l2 w²) over all w."""
    if _is_laplace(l1, l2):
        return 2 / l1
    from scipy.special import erfcx

    return math.sqrt(2 * math.pi / l2) * float(erfcx(l1 / math.sqrt(2 * l2)))


def elastic_net_magnitude_quantile(l1: float, l2: float, p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the p-quantile of |w| for the density proportional to exp(−l1 |w| − ½ l2 w²)."""
    neg_log_tail = -np.log1p(-p)
    if _is_laplace(l1, l2):
        return np.asarray(neg_log_tail / l1)
    from scipy.special import erfcx

    # P(|w| > m) = exp(−l1 m − ½ l2 m²) · r(m) with r decreasing from 1, so r = 1 gives an upper bound of m.
    high = 2 * neg_log_tail / (l1 + np.sqrt(l1 * l1 + 2 * l2 * neg_log_tail))
    low, root = np.zeros_like(high), math.sqrt(2 * l2)
    normaliser = erfcx(l1 / root)
    for _ in range(_N_BISECTIONS):
        m = 0.5 * (low + high)
        value = l1 * m + 0.5 * l2 * m**2 - np.log(erfcx((l2 * m + l1) / root) / normaliser)
        is_below = value < neg_log_tail
        low, high = np.where(is_below, m, low), np.where(is_below, high, m)
    return np.asarray(0.5 * (low + high))


_N_BISECTIONS = 60


def _is_laplace(l1: float, l2: float) -> bool:
    # Beyond this ratio the quadratic term is below the precision of a double.
    return l1 > 0 and l2 <= 1e-17 * l1 * l1
