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
# A 64-bit word shifted by up to 31 bits reaches into two limbs beyond its own; one more for carries.
SLACK = 4


@dataclass(frozen=True)
class ExactSum:
    """One exact sum per class."""

    limbs: Longs
    base: int

    @classmethod
    def zero(cls, classes: int) -> ExactSum:
        """Return zero for every class."""
        return cls(np.zeros((classes, 0), dtype=np.int64), 0)

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

    def is_zero(self) -> bool:
        """Whether every class's sum is zero."""
        return not self.limbs.any()


def sums_of(
    values: Floats, classes: Ints, n_classes: int, weights: Floats | None
) -> tuple[Floats, ExactSum, ExactSum]:
    """Return Σ w, Σ w x and Σ w x² per class over the known values, the last two exactly."""
    _, low, high, _ = _core.exponents(values)
    known = np.zeros(n_classes)
    w_low, w_high = 0, 0
    if weights is not None:
        _, w_low, w_high, _ = _core.exponents(weights)
    first, first_base = _limbs(n_classes, low + w_low, high + w_high)
    second, second_base = _limbs(n_classes, 2 * low + w_low, 2 * high + w_high)
    _core.add_sums(classes, values, weights, known, first, first_base, second, second_base)
    return known, _canonical(first, first_base), _canonical(second, second_base)


def _limbs(classes: int, low: int, high: int) -> tuple[Longs, int]:
    base = low // LIMB
    # A sum reaches 64 bits beyond its values, and its words are added two limbs beyond that.
    return np.zeros((classes, high // LIMB - base + SLACK + 4), dtype=np.int64), base


def _window(limbs: Longs, base: int, part: ExactSum) -> Longs:
    start = part.base - base
    return limbs[:, start : start + part.limbs.shape[1]]


def _canonical(limbs: Longs, base: int) -> ExactSum:
    limbs = np.concatenate([limbs, np.zeros((len(limbs), 2), dtype=np.int64)], axis=1)
    for k in range(limbs.shape[1] - 1):
        limbs[:, k + 1] += limbs[:, k] >> LIMB
        limbs[:, k] &= 2**LIMB - 1
    stop = limbs.shape[1]
    while stop > 1 and _is_sign(limbs[:, stop - 1]):
        limbs[:, stop - 2] += limbs[:, stop - 1] << LIMB
        stop -= 1
    filled = np.flatnonzero(limbs[:, :stop].any(axis=0))
    if not len(filled):
        return ExactSum.zero(len(limbs))
    start = int(filled[0])
    return ExactSum(np.ascontiguousarray(limbs[:, start:stop]), base + start)


def _is_sign(limb: Longs) -> bool:
    return not limb.any() or bool(((limb == 0) | (limb == -1)).all())
