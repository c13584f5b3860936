"""The upper tail of the chi-square distribution, without a start of SciPy."""

from __future__ import annotations

import math

SERIES_TOLERANCE = 1e-16
SMALLEST_DIVISOR = 1e-300


def chi_square_tail(x: float, dof: float) -> float:
    """Return P(χ² > x) for `dof` degrees of freedom.

    Equals Γ(a, y) / Γ(a) with a = dof / 2 and y = x / 2, computed by a power series if y < a + 1 and by a
    continued fraction otherwise.
    """
    a, y = dof / 2.0, x / 2.0
    if y <= 0.0:
        return 1.0
    if math.isinf(y):
        return 0.0
    front = math.exp(a * math.log(y) - y - math.lgamma(a))
    if y < a + 1.0:
        return max(0.0, 1.0 - front * _lower_gamma_series(a, y))
    return front * _upper_gamma_continued_fraction(a, y)


def _lower_gamma_series(a: float, y: float) -> float:
    """Sum 1/a + y/(a (a+1)) + y²/(a (a+1) (a+2)) + ..."""
    term = total = 1.0 / a
    denominator = a
    while term > total * SERIES_TOLERANCE:
        denominator += 1.0
        term *= y / denominator
        total += term
    return total


def _upper_gamma_continued_fraction(a: float, y: float) -> float:
    """Evaluate 1/(y+1−a − 1(1−a)/(y+3−a − 2(2−a)/(y+5−a − ...))) by Lentz's method."""
    below = y + 1.0 - a
    numerator, denominator = 1.0 / SMALLEST_DIVISOR, 1.0 / below
    total, step, k = denominator, 0.0, 0
    while abs(step - 1.0) > 20 * SERIES_TOLERANCE:
        k += 1
        factor = k * (a - k)
        below += 2.0
        denominator = 1.0 / _avoid_zero(factor * denominator + below)
        numerator = _avoid_zero(below + factor / numerator)
        step = denominator * numerator
        total *= step
    return total


def _avoid_zero(number: float) -> float:
    return number if abs(number) > SMALLEST_DIVISOR else SMALLEST_DIVISOR
