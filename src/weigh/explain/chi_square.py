"""The upper tail of the chi-square distribution, without scipy: explaining needs no heavy library."""

from __future__ import annotations

import math

LAST_DIGIT = 1e-16
TINY = 1e-300


def chi_square_tail(x: float, freedom: float) -> float:
    """The probability that a chi-square variable of so many degrees of freedom exceeds x.

    That is Γ(a, y) / Γ(a) with a = freedom / 2 and y = x / 2: one minus a power series where y is
    small against a, a continued fraction elsewhere.
    """
    a, y = freedom / 2.0, x / 2.0
    if y <= 0.0:
        return 1.0
    if math.isinf(y):
        return 0.0
    front = math.exp(a * math.log(y) - y - math.lgamma(a))
    if y < a + 1.0:
        return max(0.0, 1.0 - front * _series(a, y))
    return front * _fraction(a, y)


def _series(a: float, y: float) -> float:
    """1/a + y/(a (a+1)) + y²/(a (a+1) (a+2)) + ..."""
    term = total = 1.0 / a
    place = a
    while term > total * LAST_DIGIT:
        place += 1.0
        term *= y / place
        total += term
    return total


def _fraction(a: float, y: float) -> float:
    """1/(y+1−a − 1(1−a)/(y+3−a − 2(2−a)/(y+5−a − ...))), evaluated from the front."""
    below = y + 1.0 - a
    numerator, denominator = 1.0 / TINY, 1.0 / below
    total, step, k = denominator, 0.0, 0
    while abs(step - 1.0) > 20 * LAST_DIGIT:
        k += 1
        factor = k * (a - k)
        below += 2.0
        denominator = 1.0 / _not_zero(factor * denominator + below)
        numerator = _not_zero(below + factor / numerator)
        step = denominator * numerator
        total *= step
    return total


def _not_zero(number: float) -> float:
    return number if abs(number) > TINY else TINY
