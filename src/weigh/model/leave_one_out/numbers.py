"""Leave-one-out contributions of numbers with a normal distribution."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Longs, NumberBlock
from weigh.model.distributions.gaussian import (
    LOG_SQRT_TWO_PI,
    Gaussian,
    compute_moments,
    pooled_deviation,
)
from weigh.model.distributions.number_shapes import ShapedNumber
from weigh.model.leave_one_out.base import LeaveOneOutTerm, LeftOutRows, leave_one_out_term

MAX_SQUARABLE = 1e150  # the square of a larger number may overflow
MIN_REPEATED = 100  # finding equal rows takes longer than computing fewer rows than this
SAFE_RANGE = 1e-140, 1e140  # of deviations, whose squares neither overflow nor lose digits


@leave_one_out_term.register(Gaussian)
class GaussianLeaveOneOut(LeaveOneOutTerm):
    """The normal densities of a column, each without the value of its row.

    With d = value − mean, v the variance of the class and r = weight / (weight of all other values), the
    value is d (1 + r) from the mean of the others, and their variance is v (1 + r) (1 − r d² / v). The few
    rows for which this loses digits, those with most of the variance of their class, use exact sums instead.
    """

    def __init__(self, column: Gaussian) -> None:
        self._column = column

    @cached_property
    def _moments(self) -> Floats:
        """Known values, mean, its rounding error and variance [4, C + 1]: of each class, then of all."""
        known = self._column.counts.known.astype(np.float64)
        with np.errstate(over="ignore", under="ignore"):
            mean, residual, variance = (self._column.sample_moments ** [1, 1, 2]).T
        return np.array([[*known, known.sum()], mean, residual, variance])

    @cached_property
    def _has_safe_range(self) -> bool:
        size, (low, high) = np.abs(self._column.sample_moments[:, [0, 2]]), SAFE_RANGE
        return bool(((size == 0) | np.isnan(size) | ((size > low) & (size < high))).all())

    def add(self, block: NumberBlock, rows: LeftOutRows, scores: Floats) -> None:
        """Add to each row's scores the log-density of its number without the row."""
        column = self._column
        spread = column.spread
        if not column.counts.known.any() or (isinstance(spread, str) and not column.sample_moments[-1, 2]):
            return
        irregular = np.zeros(rows.n_rows, dtype=np.uint8)
        arguments = block.values, rows.class_codes, rows.weights, self._moments, column.kind.floor**2
        if not self._has_safe_range:
            irregular[:] = ~np.isnan(block.values)
        elif spread == "own":
            _core.leave_out_gaussian(*arguments, irregular, scores)
        else:
            variance = float(spread) if not isinstance(spread, str) else self._pooled_deviation
            is_given = not isinstance(spread, str)
            _core.leave_out_shared_gaussian(*arguments, variance**2, is_given, irregular, scores)
        remaining = np.flatnonzero(irregular)
        if len(remaining):
            self.add_exactly(block, rows, remaining, scores)

    @cached_property
    def _pooled_deviation(self) -> float:
        return pooled_deviation(self._column.sample_moments[:-1, 2], self._column.counts.known)

    def add_exactly(self, block: NumberBlock, rows: LeftOutRows, selected: Longs, scores: Floats) -> None:
        """Add the log-densities of the selected rows, whose numbers are known, by exact sums."""
        column, rows = self._column, rows.select(selected)
        triples = np.column_stack([rows.classes.astype(np.float64), rows.weights, block.values[selected]])
        cases, case_of_row = triples, np.arange(len(triples))
        if len(triples) > MIN_REPEATED:
            cases, case_of_row = np.unique(triples, axis=0, return_inverse=True)
        mean, mean_residual, deviation = self._normal_parameters(cases)
        # A column that is constant, or known in no other row, contributes nothing.
        has_others = column.counts.known.sum() - cases[:, 1] > 0
        is_informative = np.asarray((deviation > 0).all(axis=1) & has_others)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            inverse_deviation = np.minimum(1.0 / deviation, np.finfo(np.float64).max)
            z = ((cases[:, 2:] - mean) - mean_residual) * inverse_deviation
            logs = -np.log(deviation) - LOG_SQRT_TWO_PI - _half_square(z)
        logs[~is_informative] = 0.0
        scores[selected] += logs[case_of_row.reshape(-1)]

    @cached_property
    def _exact_sums(self) -> tuple[list[tuple[Fraction, int, int]], int, int]:
        """The exact sums n, Σx and Σx² of each class and, last, of all values; exponents of Σx and Σx²."""
        counts = self._column.counts
        (sum_x, e1), (sum_xx, e2) = counts.sum_x.to_integers(), counts.sum_xx.to_integers()
        sums = list(zip(counts.totals, sum_x, sum_xx, strict=True))
        return [*sums, (sum(counts.totals, Fraction(0)), sum(sum_x), sum(sum_xx))], e1, e2

    def _normal_parameters(self, cases: Floats) -> tuple[Floats, Floats, Floats]:
        """Return means, their rounding errors and deviations [cases, classes] without each case.

        A case is a class, a weight and a value.
        """
        column = self._column
        own_class = np.arange(len(cases)), cases[:, 0].astype(np.int64)
        class_moments, column_moments = self._moments_without(cases)
        moments = np.repeat(column.sample_moments[:-1].T[:, None], len(cases), axis=1)
        moments[:, *own_class] = class_moments
        overall = column_moments[:, :, None]
        means, residuals = np.where(np.isnan(moments[:2]), overall[:2], moments[:2])
        deviations = moments[2]
        if not isinstance(column.spread, str):
            return means, residuals, np.full_like(means, float(column.spread))
        if column.spread == "shared":
            known = np.tile(column.counts.known.astype(np.float64), (len(cases), 1))
            known[own_class] -= cases[:, 1]
            deviations = np.repeat(_pooled_deviations(deviations, known), deviations.shape[1], axis=1)
        floor = column.kind.floor * overall[2]
        return means, residuals, np.where(np.isnan(deviations), overall[2], np.maximum(deviations, floor))

    def _moments_without(self, cases: Floats) -> Floats:
        """Return [2, 3, cases]: the moments of the case's class, and of the whole column, without it."""
        sums, e1, e2 = self._exact_sums
        moments = np.empty((2, 3, len(cases)))
        for i, (c, weight, value) in enumerate(cases.tolist()):
            # w = w[0] · 2^-w_bits and x = x[0] · 2^-x_bits exactly; f1 and f2 are common exponents of sums.
            w, x = weight.as_integer_ratio(), value.as_integer_ratio()
            w_bits, x_bits = w[1].bit_length() - 1, x[1].bit_length() - 1
            f1, f2 = min(e1, -x_bits - w_bits), min(e2, -2 * x_bits - w_bits)
            removed = Fraction(weight)
            wx = w[0] * x[0] << (-x_bits - w_bits - f1)
            wxx = w[0] * x[0] * x[0] << (-2 * x_bits - w_bits - f2)
            for part, (n, s1, s2) in zip(moments, (sums[int(c)], sums[-1]), strict=True):
                remaining = n - removed, (s1 << (e1 - f1)) - wx, (s2 << (e2 - f2)) - wxx
                part[:, i] = compute_moments(*remaining, f1, f2)
        return moments


def _pooled_deviations(deviations: Floats, known: Floats) -> Floats:
    """Return, for each case, the root mean squared deviation of all values from the mean of their class."""
    largest = np.nanmax(np.where(np.isnan(deviations), 0.0, deviations), axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(largest > 0, deviations / largest, 0.0)
        squares = np.nansum(known * ratio**2, axis=1, keepdims=True)
        pooled = largest * np.sqrt(squares / known.sum(axis=1, keepdims=True))
    return np.where(known.any(axis=1, keepdims=True), pooled, np.nan)


def _half_square(z: Floats) -> Floats:
    """Return ½ z²; beyond `MAX_SQUARABLE` a finite function that still increases, as in the native code."""
    distance = np.minimum(np.abs(z), np.finfo(np.float64).max)
    log_excess = np.log(np.maximum(distance, MAX_SQUARABLE) / MAX_SQUARABLE)
    extended = 0.5 * MAX_SQUARABLE * MAX_SQUARABLE * (1.0 + log_excess)
    return np.where(distance <= MAX_SQUARABLE, 0.5 * distance * distance, extended)


@leave_one_out_term.register(ShapedNumber)
class ShapedNumberLeaveOneOut(LeaveOneOutTerm):
    """The components of a number's distribution, each without the value of its row.

    The shape is that of all rows: spread, bins and the prior of their shares are not chosen again.
    """

    def __init__(self, column: ShapedNumber) -> None:
        self._terms = [(each, leave_one_out_term(each.distribution)) for each in column.components]

    def add(self, block: NumberBlock, rows: LeftOutRows, scores: Floats) -> None:
        """Add to each row's scores the logarithms of its components without the row."""
        for component, term in self._terms:
            term.add(component.transform(block), rows, scores)
