"""Residuals and correlations of a regression problem, each with a bound on its rounding errors.

Sums of k products have an error of at most k ε Σ |aᵢ bᵢ| in double precision (ε = 2⁻⁵²), whatever their
order, and of a few k ε² Σ |aᵢ bᵢ| in extended precision. By Cauchy–Schwarz the norms of the columns bound
these sums.
Norms are weighted: ‖a‖² = Σ sᵢ aᵢ².
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.linear.double_double import DoubleDouble, exact, two_product
from weigh.learn.linear.matrix import (
    BLOCK_ROWS,
    EPS,
    InterceptMatrix,
    Matrix,
    SparseMatrix,
    to_dense,
    transposed_times_in_blocks,
)
from weigh.learn.linear.problem import Problem

EXTENDED_EPS = 8 * EPS**2
_MAX_BLOCK_CELLS = 1 << 16  # of extended arithmetic at once: its temporary arrays should stay in the cache
# numpy adds in pairs: blocks of 128 with eight accumulators, then log₂ n levels.
_SUM_TERMS = 24
MAX_EXTENDED_CELLS = 20_000_000  # that are worth about 30 operations each


def can_extend(X: Matrix) -> bool:
    """Check whether products in extended precision take seconds rather than minutes."""
    return X.n_rows * X.width <= MAX_EXTENDED_CELLS


def column_terms(X: Matrix) -> int:
    """Return how many products are at most added one by one in a sum over the rows: dense ones in blocks."""
    if isinstance(X, InterceptMatrix):
        return max(column_terms(X.X), math.ceil(sum_error(X.n_rows) / EPS))
    if isinstance(X, SparseMatrix):
        return int(np.bincount(X.rows.indices, minlength=1).max(initial=0))
    return min(X.n_rows, BLOCK_ROWS) + X.n_rows // BLOCK_ROWS


def sum_error(n: int) -> float:
    """Return the largest relative error of the sum of n non-negative terms by numpy."""
    return EPS * (_SUM_TERMS + math.log2(n + 1))


class RowProducts:
    """Products with the rows of a problem, in double or in extended precision.

    `squares` are the weighted sums of squares of the columns, if they are already known.
    """

    def __init__(self, problem: Problem, *, is_extended: bool, squares: Floats | None = None) -> None:
        self.problem, self.is_extended, self._squares = problem, is_extended, squares
        X = problem.X
        self.weights = np.ones(X.n_rows) if problem.weights is None else problem.weights
        if isinstance(X, SparseMatrix):
            self._row_terms = int(np.diff(X.rows.indptr).max(initial=0))
        else:
            self._row_terms = X.width
        self._column_terms = column_terms(X)

    @property
    def _eps(self) -> float:
        return EXTENDED_EPS if self.is_extended else EPS

    @cached_property
    def column_norms(self) -> Floats:
        """Norms of the columns, rounded up."""
        if self._squares is None:
            return self.weighted_column_norms(self.weights)
        return np.asarray(np.sqrt(self._squares) * (1 + (self.problem.X.n_rows + _SUM_TERMS) * EPS))

    def weighted_column_norms(self, weights: Floats) -> Floats:
        """Return the norms of the columns with other row weights, rounded up."""
        X = self.problem.X
        return np.asarray(np.sqrt(X.squared_times(weights)) * (1 + (X.n_rows + 4) * EPS))

    def norm(self, r: Floats) -> float:
        """Return an upper bound on the weighted norm of r [n] or [n, k]."""
        squares = np.square(r).reshape(len(self.weights), -1).sum(axis=1)
        return float(np.sqrt((self.weights * squares).sum())) * (1 + sum_error(len(r)))

    def residuals(self, target: Floats, w: Floats, b: Floats) -> tuple[DoubleDouble, float]:
        """Return target − o − X w − b [n] or [n, k], and a bound on the norm of its error.

        Weights that are relative to prior means are those of a model: the sum is rounded to doubles.
        """
        offset, means = self.problem.offset, self.problem.prior_means
        if means is not None:
            offset, w = means.offset, w + means.weights
        o = np.zeros(1) if offset is None else offset
        terms = (target, -(o[:, None] if target.ndim > o.ndim else o), -np.asarray(b))
        # The products come first: they are largest, and the other terms cancel them.
        if self.is_extended:
            total = _extended_times(self.problem.X, w)
            total = DoubleDouble(-total.high, -total.low)
            for term in terms:
                total = total.plus(exact(np.broadcast_to(term, total.high.shape)))
        else:
            total = exact(sum(terms, -self.problem.X.times(w)))
        sizes = np.abs(w).reshape(len(w), math.prod(w.shape[1:])).sum(axis=1) @ self.column_norms
        sizes += sum(self.norm(np.broadcast_to(term, total.high.shape)) for term in terms)
        return total, float((self._row_terms + 6) * self._eps * sizes)

    def correlations(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return Xᵀθ for θ [n] or [n, k], rounded, and a bound on the error of each feature.

        θ is relative to the row weights: the bound of feature j is ‖xⱼ‖ ‖θ / s‖ times ε.
        """
        X = self.problem.X
        times = _extended_transposed_times if self.is_extended else transposed_times_in_blocks
        q = times(X, theta)
        relative = theta / self.weights.reshape(-1, *[1] * (theta.ndim - 1))
        size = self.column_norms * self.norm(relative) * (self._column_terms + 4) * self._eps
        size = size.reshape(-1, *[1] * (theta.ndim - 1))
        return q, np.broadcast_to(size, q.shape) + (EPS * np.abs(q) if self.is_extended else 0.0)


def _extended_times(X: Matrix, w: Floats) -> DoubleDouble:
    """Return X w in extended precision."""
    high, low = np.empty((2, X.n_rows, *w.shape[1:]))
    for rows, block in _dense_blocks(X):
        products = two_product(block.reshape(*block.shape, *[1] * (w.ndim - 1)), w)
        high[rows], low[rows] = products.sum(axis=1)
    return DoubleDouble(high, low)


def _extended_transposed_times(X: Matrix, theta: Floats) -> Floats:
    """Return Xᵀθ from sums in extended precision, rounded."""
    total = exact(np.zeros((X.width, *theta.shape[1:])))
    for rows, block in _dense_blocks(X):
        cells = block.reshape(*block.shape, *[1] * (theta.ndim - 1))
        total = total.plus(two_product(cells, theta[rows][:, None]).sum(axis=0))
    return total.high


def _dense_blocks(X: Matrix) -> Iterator[tuple[slice, Floats]]:
    size = max(1, _MAX_BLOCK_CELLS // max(1, X.width))
    for start in range(0, X.n_rows, size):
        rows = slice(start, min(start + size, X.n_rows))
        yield rows, to_dense(X.slice_rows(rows.start, rows.stop))
