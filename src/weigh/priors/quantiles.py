"""Quantiles of the distributions that posteriors have: the one owner of scipy outside learning.

scipy is imported when a quantile is asked for, because its import costs a third of a second.
"""

from __future__ import annotations

import math


def beta_quantile(a: float, b: float, tail: float, *, upper: bool = False) -> float:
    """Return the p with a share `tail` of Beta(a, b) below it, or above it."""
    from scipy.special import betainccinv, betaincinv

    return float(betainccinv(a, b, tail) if upper else betaincinv(a, b, tail))


def student_quantile(freedom: float, share: float) -> float:
    """Return the t with this share of Student's t below it; endless freedom is the normal curve."""
    from scipy.special import ndtri, stdtrit

    return float(ndtri(share) if math.isinf(freedom) else stdtrit(freedom, share))


def chi_square_quantile(freedom: float, share: float) -> float:
    """Return the x with this share of the chi-square distribution below it."""
    from scipy.special import chdtri

    return float(chdtri(freedom, 1 - share))
