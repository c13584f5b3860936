"""Stated numbers as counts: the form in which a model keeps what nobody counted.

Probabilities p_k become whole numbers p_k · D, where D is their common denominator, and are read back
as shares of their sum: so they are exact, and what misses one by rounding is normalised. Where D is
too large they stay floats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from weigh.model.counts import NumberCounts
from weigh.model.sums import ExactSum
from weigh.model.tally import Table

LARGEST = 2**63


def to_scaled_table(rows: Sequence[Sequence[Fraction]]) -> Table:
    """Return every row times the common denominator of its numbers."""
    scaled = []
    for row in rows:
        below = math.lcm(*(value.denominator for value in row))
        scaled.append([value * below for value in row])
    return to_table(scaled if all(sum(row) < LARGEST for row in scaled) else rows)


def to_table(rows: Sequence[Sequence[Fraction]]) -> Table:
    """Return numbers as integers if all of them are whole, else as floats."""
    is_whole = all(value.denominator == 1 and value < LARGEST for row in rows for value in row)
    convert = int if is_whole else float
    return np.array([[convert(value) for value in row] for row in rows], np.int64 if is_whole else np.float64)


def to_number_counts(pairs: Sequence[tuple[float, float]]) -> NumberCounts:
    """Return the sums of one row per class that has the stated mean and spread.

    Σx = mean and Σx² = mean² + spread²; floats are dyadic, so both are exact.
    """
    first = [Fraction(mean) for mean, _ in pairs]
    second = [Fraction(mean) ** 2 + Fraction(spread) ** 2 for mean, spread in pairs]
    return NumberCounts(np.ones(len(pairs), dtype=np.int64), _to_sum(first), _to_sum(second))


def _to_sum(values: Sequence[Fraction]) -> ExactSum:
    below = max(value.denominator for value in values)
    return ExactSum.of([int(value * below) for value in values], 1 - below.bit_length())
