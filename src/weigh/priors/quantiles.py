"""Quantiles of the distributions that posteriors have: the one owner of scipy outside learning.

scipy is imported when a quantile is asked for, because its import costs a third of a second.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def beta_quantile(a: float, b: float, tail: float, *, upper: bool = False) -> float:
    """Return the p with a share `tail` of Beta(a, b) below it, or above it."""
    from scipy.special import betainccinv, betaincinv

    return float(betainccinv(a, b, tail) if upper else betaincinv(a, b, tail))


def student_quantile(freedom: float, share: float) -> float:
    """Return the t with this share of Student's t below it; endless freedom is the normal curve."""
    from scipy.special import ndtri, stdtrit

    return float(ndtri(share) if math.isinf(freedom) else stdtrit(freedom, share))


def student_two_sided_p(freedom: float, t: float) -> float:
    """Return the share of Student's t further from zero than t; endless freedom is the normal curve."""
    from scipy.special import ndtr, stdtr

    return float(2 * (ndtr(-t) if math.isinf(freedom) else stdtr(freedom, -t)))


def chi_square_quantile(freedom: float, share: float) -> float:
    """Return the x with this share of the chi-square distribution below it."""
    from scipy.special import chdtri

    return float(chdtri(freedom, 1 - share))


def elastic_net_normaliser(l1: float, l2: float) -> float:
    """Return the integral of exp(−l1 |w| − ½ l2 w²) over all w."""
    if _is_laplace(l1, l2):
        return 2 / l1
    from scipy.special import erfcx

    return math.sqrt(2 * math.pi / l2) * float(erfcx(l1 / math.sqrt(2 * l2)))


def elastic_net_magnitude_quantile(l1: float, l2: float, share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the m with this share of |w| below it, where w is distributed as exp(−l1 |w| − ½ l2 w²)."""
    rarity = -np.log1p(-share)
    if _is_laplace(l1, l2):
        return np.asarray(rarity / l1)
    from scipy.special import erfcx

    # P(|w| > m) = exp(−l1 m − ½ l2 m²) · r(m) with r falling from 1, so that r = 1 bounds m from above.
    high = 2 * rarity / (l1 + np.sqrt(l1 * l1 + 2 * l2 * rarity))
    low, root = np.zeros_like(high), math.sqrt(2 * l2)
    start = erfcx(l1 / root)
    for _ in range(_N_BISECTIONS):
        middle = 0.5 * (low + high)
        falls = l1 * middle + 0.5 * l2 * middle**2 - np.log(erfcx((l2 * middle + l1) / root) / start)
        low, high = np.where(falls < rarity, middle, low), np.where(falls < rarity, high, middle)
    return np.asarray(0.5 * (low + high))


_N_BISECTIONS = 60


def _is_laplace(l1: float, l2: float) -> bool:
    # Beyond this ratio the square changes no digit of a double.
    return l1 > 0 and l2 <= 1e-17 * l1 * l1
