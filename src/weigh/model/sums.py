"""Exact sums of numbers, class by class: no order of the rows can change them.

A sum is a row of limbs, `Σ limbs[c, k] · 2^(32 (k + base))`. In canonical form every limb but the
last lies in [0, 2^32), the last carries the sign, and no limb is there that all classes could do
without; equal sums then have equal bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Ints, Longs

LIMB = 32


@dataclass(frozen=True)
class ExactSum:
    """One exact sum per class."""

    limbs: Longs
    base: int

    @classmethod
    def of(cls, values: list[int], exponent: int) -> ExactSum:
        """Return the sums values[c] · 2^exponent of Python integers."""
        base = exponent // LIMB
        shifted = [value << (exponent - LIMB * base) for value in values]
        length = max(value.bit_length() for value in shifted) // LIMB + 2 if shifted else 0
        limbs = np.zeros((len(shifted), length), dtype=np.int64)
        for c, value in enumerate(shifted):
            for k in range(length - 1):
                limbs[c, k] = value & (2**LIMB - 1)
                value >>= LIMB
            limbs[c, -1] = value
        return _canonical(limbs, base)

    def plus(self, other: ExactSum, sign: int = 1) -> ExactSum:
        """Return the sum (or, with sign=-1, the difference) of two sums over the same classes."""
        base = min(self.base, other.base)
        top = max(self.base + self.limbs.shape[1], other.base + other.limbs.shape[1])
        limbs = np.zeros((len(self.limbs), top - base), dtype=np.int64)
        _window(limbs, base, self)[...] += self.limbs
        _window(limbs, base, other)[...] += sign * other.limbs
        return _canonical(limbs, base)

    def placed(self, places: Longs, classes: int) -> ExactSum:
        """Return the sums with class c moved to places[c] among `classes` classes."""
        limbs = np.zeros((classes, self.limbs.shape[1]), dtype=np.int64)
        limbs[places] = self.limbs
        return ExactSum(limbs, self.base)

    def taken(self, classes: Longs) -> ExactSum:
        """Return the sums of some classes."""
        return _canonical(self.limbs[classes], self.base)

    def integers(self) -> tuple[list[int], int]:
        """Return Python integers and the exponent e with sum = integer · 2^e."""
        total = np.zeros(len(self.limbs), dtype=object)
        for k in range(self.limbs.shape[1]):
            total = total + (self.limbs[:, k].astype(object) << (LIMB * k))
        return [int(value) for value in total], LIMB * self.base


def sums_of(
    values: Floats, classes: Ints, n_classes: int, weights: Floats | None
) -> tuple[Floats, ExactSum, ExactSum]:
    """Return Σ w, Σ w x and Σ w x² per class over the known values, the last two exactly."""
    known, first, second = _core.class_sums(classes, n_classes, values, weights)
    return known, ExactSum(*first), ExactSum(*second)


def _window(limbs: Longs, base: int, part: ExactSum) -> Longs:
    start = part.base - base
    return limbs[:, start : start + part.limbs.shape[1]]


def _canonical(limbs: Longs, base: int) -> ExactSum:
    return ExactSum(*_core.propagate_carries(np.ascontiguousarray(limbs), base))
