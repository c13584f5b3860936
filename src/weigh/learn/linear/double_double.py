"""Arithmetic with about 32 digits: a number is the unevaluated sum of two doubles, `high` + `low`.

References: Dekker (1971), "A floating-point technique for extending the available precision"; Ogita, Rump and
Oishi (2005), "Accurate sum and dot product".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weigh.features.blocks import Floats

# A double times this number, minus itself, is its upper half of 26 bits.
_SPLITTER = 2.0**27 + 1


class DoubleDouble(NamedTuple):
    """Arrays of numbers `high` + `low`, where `high` is the number rounded to a double."""

    high: Floats
    low: Floats

    def plus(self, other: DoubleDouble) -> DoubleDouble:
        """Return the sum."""
        total, error = two_sum(self.high, other.high)
        return _normalise(total, error + (self.low + other.low))

    def minus(self, other: DoubleDouble) -> DoubleDouble:
        """Return the difference."""
        return self.plus(DoubleDouble(-other.high, -other.low))

    def sum(self, axis: int = 0) -> DoubleDouble:
        """Return the sum along an axis, added in pairs."""
        high, low = np.moveaxis(self.high, axis, 0), np.moveaxis(self.low, axis, 0)
        if not len(high):
            return exact(np.zeros(high.shape[1:]))
        while (n := len(high)) > 1:
            half = n // 2
            total, error = two_sum(high[:half], high[half : 2 * half])
            error += low[:half] + low[half : 2 * half]
            high, low = np.concatenate([total, high[2 * half :]]), np.concatenate([error, low[2 * half :]])
        return _normalise(high[0], low[0])


def exact(values: Floats) -> DoubleDouble:
    """Return doubles as numbers without a lower part."""
    return DoubleDouble(values, np.zeros_like(values))


def two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a + b rounded, and the rounding error, which is a double too."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


def two_product(a: Floats, b: Floats) -> DoubleDouble:
    """Return a · b exactly, unless parts of it overflow or underflow."""
    product = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return DoubleDouble(product, error)


def _split(a: Floats) -> tuple[Floats, Floats]:
    scaled = _SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


def _normalise(high: Floats, low: Floats) -> DoubleDouble:
    total = high + low
    return DoubleDouble(total, low - (total - high))
