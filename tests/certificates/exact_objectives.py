"""Objectives of given weights in exact arithmetic, as intervals of fractions.

Squared and absolute loss and the penalties are rational functions of doubles, so their intervals are points.
Log loss needs logarithms; `decimal` rounds them correctly, and the interval is wider than all roundings.
"""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DIGITS = 50
CONTEXT = decimal.Context(prec=DIGITS, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


@dataclass(frozen=True, eq=False)
class ExactProblem:
    """Rows, targets, row weights and penalties of a regression problem, as the doubles that they are.

    The penalties are those of the distance of the weights from `prior_mean`.
    """

    loss: str
    X: Floats
    y: Floats
    l1: float
    l2: float
    has_intercept: bool
    weights: Floats | None = None
    prior_mean: float = 0.0

    @property
    def s(self) -> Floats:
        """Row weights."""
        return np.ones(len(self.y)) if self.weights is None else self.weights

    def scores(self, w: Floats, b: float) -> list[Fraction]:
        """Return xᵢ·w + b exactly."""
        rows, row_power = to_integers(self.X)
        v, power = to_integers(w)
        unit = Fraction(2) ** (row_power + power)
        products = (sum(x * c for x, c in zip(row, v, strict=True)) for row in rows)
        return [product * unit + Fraction(b) for product in products]

    def objective(self, w: Floats, b: float) -> tuple[Fraction, Fraction]:
        """Return the lowest and the highest value that the objective of the weights may have."""
        low, high = Fraction(0), Fraction(0)
        for score, y, s in zip(self.scores(w, b), self.y.tolist(), self.s.tolist(), strict=True):
            least, most = row_loss(self.loss, score, Fraction(y))
            low, high = low + Fraction(s) * least, high + Fraction(s) * most
        l1, l2 = Fraction(self.l1), Fraction(self.l2)
        distances = [Fraction(c) - Fraction(self.prior_mean) for c in w.tolist()]
        penalty = sum((l1 * abs(c) + l2 * c**2 / 2 for c in distances), Fraction(0))
        return low + penalty, high + penalty


def to_integers(values: Floats) -> tuple[Any, int]:
    """Return doubles as (nested lists of) integers times a power of two, and its exponent."""
    mantissas, exponents = np.frexp(values)
    # Zeros have exponent zero, which may be far from the others.
    power = int(exponents[values != 0].min(initial=0)) - 53
    integers = (mantissas * 2.0**53).astype(np.int64).astype(object)
    return (integers * 2 ** np.maximum(exponents - 53 - power, 0).astype(object)).tolist(), power


def row_loss(loss: str, score: Fraction, y: Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds on the loss of a row."""
    if loss == "squared":
        return ((y - score) ** 2 / 2,) * 2
    if loss == "absolute":
        return (abs(y - score),) * 2
    margin = score if y > 0 else -score
    # log(1 + exp(−m)) = max(−m, 0) + log(1 + exp(−|m|))
    size = CONTEXT.divide(decimal.Decimal(abs(margin).numerator), decimal.Decimal(margin.denominator))
    small = Fraction(CONTEXT.ln(CONTEXT.add(1, CONTEXT.exp(-size))))
    # |m| is rounded to DIGITS digits, and the derivative of log(1 + exp(−x)) is at most exp(−x).
    error = Fraction(10) ** (4 - DIGITS)
    base = max(-margin, Fraction(0))
    return base + max(small - error, Fraction(0)), base + small + error
