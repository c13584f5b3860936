"""Sums of squares and products of rows: all that least squares needs to know of them.

With weights sᵢ, N = Σ sᵢ and the means m = Σ sᵢ xᵢ / N and ȳ,

    gram = Σ sᵢ (xᵢ − m)(xᵢ − m)ᵀ,   cross = Σ sᵢ (xᵢ − m)(yᵢ − ȳ),   yy = Σ sᵢ (yᵢ − ȳ)².

Without a bias the means are zero. Moments of parts add up to those of the whole, and can be taken out again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from weigh.errors import DataError
from weigh.features.blocks import Floats, Longs
from weigh.learn.linear.matrix import Matrix, SparseMatrix, row_blocks, sample_rows
from weigh.learn.linear.problem import Problem

# A mean of so many spreads costs twice its digits: products are then taken of shifted rows.
_MAX_MEAN_TO_STD = 10.0
_MAX_SPARSE_DENSITY = 0.2  # of the cells: with fewer, products one by one cost less than all of them at once
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Moments:
    """What rows add up to; `n_rows` counts those with a weight above zero.

    `log_weights` is Σ log sᵢ, which only the evidence asks for.
    """

    n_rows: int
    total_weight: float
    mean_x: Floats
    mean_y: float
    gram: Floats
    cross: Floats
    yy: float
    sum_log_weights: float = 0.0
    has_intercept: bool = True

    @property
    def width(self) -> int:
        """How many features there are."""
        return len(self.cross)

    @property
    def std(self) -> Floats:
        """The standard deviation of every feature; zero where rounding alone tells its values apart."""
        if not self.total_weight:
            return np.zeros(self.width)
        found = np.sqrt(np.maximum(np.diagonal(self.gram), 0.0) / self.total_weight)
        return np.where(found > 8 * _EPS * np.abs(self.mean_x), found, 0.0)

    @classmethod
    def zeros(cls, width: int, *, bias: bool = True) -> Moments:
        """Return the moments of no rows."""
        return cls(0, 0.0, np.zeros(width), 0.0, np.zeros((width, width)), np.zeros(width), 0.0, 0.0, bias)

    @classmethod
    def from_rows(
        cls,
        X: Matrix,
        y: Floats,
        weights: Floats | None = None,
        *,
        bias: bool = True,
        shift: Floats | None = None,
    ) -> Moments:
        """Return the moments of rows; `shift` is near the means of X, and is found if not given."""
        total = float(X.n_rows if weights is None else weights.sum())
        if not total > 0:
            return cls.zeros(X.width, bias=bias)
        if bias and shift is None:
            shift = _distant_means(X)
        mean_y = _weighted_mean(y, weights, total) if bias else 0.0
        found = _product_sums(X, y - mean_y, weights, shift if bias else None)
        n_rows = X.n_rows if weights is None else int(np.count_nonzero(weights))
        logs = 0.0 if weights is None else float(np.log(weights[weights > 0]).sum())
        start = np.zeros(X.width) if shift is None or not bias else shift
        if not bias:
            return cls(n_rows, total, start, 0.0, found.gram, found.cross, found.yy, logs, bias)
        step, step_y = found.sum_x / total, found.sum_y / total
        lost = total * step**2 > 1e4 * np.maximum(np.diagonal(found.gram) - total * step**2, 0.0)
        if (lost & (step != 0) & (np.abs(step) > 1e-12 * np.abs(start))).any():
            # The rows looked at were not like the others.
            return cls.from_rows(X, y, weights, bias=bias, shift=start + step)
        _add_outer_product(found.gram, step, -total)
        cross = found.cross - step * found.sum_y
        yy = max(found.yy - total * step_y**2, 0.0)
        return cls(n_rows, total, start + step, mean_y + step_y, found.gram, cross, yy, logs, bias)

    @classmethod
    def from_problem(cls, problem: Problem) -> Moments:
        """Return the moments of a problem's rows; its offset is taken from the targets."""
        y = problem.y if problem.offset is None else problem.y - problem.offset
        return cls.from_rows(problem.X, y, problem.weights, bias=problem.has_intercept)

    @classmethod
    def from_batches(
        cls, batches: Iterable[tuple[Matrix, Floats, Floats | None]], *, bias: bool = True
    ) -> Moments:
        """Return the moments of batches of rows, targets and weights, each looked at once."""
        parts = (cls.from_rows(X, y, weights, bias=bias) for X, y, weights in batches)
        first = next(parts, None)
        if first is None:
            raise DataError("There are no rows to learn from: give at least one batch.")
        return reduce(cls.plus, parts, first)

    def plus(self, other: Moments) -> Moments:
        """Return the moments of the rows of both."""
        self._check_compatible(other)
        total = self.total_weight + other.total_weight
        share = other.total_weight / total if total else 0.0
        apart, apart_y = other.mean_x - self.mean_x, other.mean_y - self.mean_y
        gram, cross, yy = self.gram + other.gram, self.cross + other.cross, self.yy + other.yy
        if self.has_intercept:
            between = self.total_weight * share
            _add_outer_product(gram, apart, between)
            cross += between * apart_y * apart
            yy += between * apart_y**2
        mean_x, mean_y = self.mean_x + share * apart, self.mean_y + share * apart_y
        n_rows, logs = self.n_rows + other.n_rows, self.sum_log_weights + other.sum_log_weights
        return Moments(n_rows, total, mean_x, mean_y, gram, cross, yy, logs, self.has_intercept)

    def minus(self, part: Moments) -> Moments:
        """Return the moments of the other rows, where `part` has some of them."""
        self._check_compatible(part)
        if part.n_rows >= self.n_rows:
            return Moments.zeros(self.width, bias=self.has_intercept)
        total = self.total_weight - part.total_weight
        share = part.total_weight / total
        mean_x = self.mean_x - share * (part.mean_x - self.mean_x)
        mean_y = self.mean_y - share * (part.mean_y - self.mean_y)
        gram, cross, yy = self.gram - part.gram, self.cross - part.cross, self.yy - part.yy
        if self.has_intercept:
            apart, apart_y = part.mean_x - mean_x, part.mean_y - mean_y
            between = total * (part.total_weight / self.total_weight)
            _add_outer_product(gram, apart, -between)
            cross -= between * apart_y * apart
            yy -= between * apart_y**2
        n_rows, logs = self.n_rows - part.n_rows, self.sum_log_weights - part.sum_log_weights
        return Moments(n_rows, total, mean_x, mean_y, gram, cross, max(yy, 0.0), logs, self.has_intercept)

    def select(self, kept: Longs) -> Moments:
        """Return the moments of some features only."""
        if len(kept) == self.width:
            return self
        gram, cross = self.gram[np.ix_(kept, kept)], self.cross[kept]
        return replace(self, mean_x=self.mean_x[kept], gram=gram, cross=cross)

    def without_intercept(self) -> Moments:
        """Return the moments of the same rows without a bias, counted from zero instead of the means."""
        gram = self.gram + self.total_weight * np.outer(self.mean_x, self.mean_x)
        cross, yy = (
            self.cross + self.total_weight * self.mean_y * self.mean_x,
            self.yy + self.total_weight * self.mean_y**2,
        )
        none = np.zeros(self.width)
        return replace(self, mean_x=none, mean_y=0.0, gram=gram, cross=cross, yy=yy, has_intercept=False)

    def intercept(self, w: Floats) -> Floats:
        """Return the best bias of weights [d], or of each column of [d, k]."""
        return np.asarray(self.mean_y - self.mean_x @ w)

    def squared_error(self, w: Floats, b: Floats | None = None) -> Floats:
        """Return Σ sᵢ (yᵢ − b − xᵢ·w)² of weights [d] or of columns [d, k]; no b means the best one."""
        found: Floats = self.yy - 2 * (self.cross @ w) + np.einsum("j...,j...->...", w, self.gram @ w)
        if b is not None:
            found = found + self.total_weight * (self.intercept(w) - b) ** 2
        return np.asarray(np.maximum(found, 0.0))

    def _check_compatible(self, other: Moments) -> None:
        if self.width != other.width:
            raise DataError(f"Moments of {self.width} and of {other.width} features cannot be added.")
        if self.has_intercept != other.has_intercept:
            raise DataError("Moments with and without a bias cannot be added.")


@dataclass
class _ProductSums:
    gram: Floats
    cross: Floats
    yy: float
    sum_x: Floats
    sum_y: float


def _product_sums(X: Matrix, y: Floats, weights: Floats | None, shift: Floats | None) -> _ProductSums:
    """Return sums of products of shifted rows, and their plain sums."""
    if isinstance(X, SparseMatrix) and shift is None and X.density < _MAX_SPARSE_DENSITY:
        return _sparse_product_sums(X, y, weights)
    root = None if weights is None else np.sqrt(weights)
    sides = np.column_stack([np.ones(X.n_rows), y])
    if root is not None:
        sides *= root[:, None]
    gram, spare = np.zeros((X.width, X.width)), None
    sums = np.zeros((X.width, 2))
    for which, block in row_blocks(X, shift, root):
        if which.stop - which.start == X.n_rows:
            gram = block.T @ block
        else:
            spare = np.empty_like(gram) if spare is None else spare
            gram += np.matmul(block.T, block, out=spare)
        sums += block.T @ sides[which]
    yy, sum_y = float(sides[:, 1] @ sides[:, 1]), float(sides[:, 0] @ sides[:, 1])
    return _ProductSums(gram, sums[:, 1], yy, sums[:, 0], sum_y)


def _sparse_product_sums(X: SparseMatrix, y: Floats, weights: Floats | None) -> _ProductSums:
    """Return the same sums of rows that are mostly zeros, of which only the others are looked at."""
    s = np.ones(X.n_rows) if weights is None else weights
    weighted = s * y
    sums = X.transposed_times(np.column_stack([s, weighted]))
    yy, sum_y = float(weighted @ y), float(weighted.sum())
    return _ProductSums(X.weighted_gram(weights), sums[:, 1], yy, sums[:, 0], sum_y)


def _add_outer_product(gram: Floats, x: Floats, share: float) -> None:
    """Add share · x xᵀ, a few rows at a time: a whole table of products would cost more than the sum."""
    for start in range(0, len(x), 64):
        part = slice(start, start + 64)
        gram[part] += np.outer(share * x[part], x)


def _distant_means(X: Matrix) -> Floats | None:
    """Return rough means of the features that lie far from zero, and zero for others; None if none does."""
    rows = sample_rows(X)
    if not rows.size:
        return None
    means = np.where(np.ptp(rows, axis=0) > 0, rows.mean(axis=0), rows[0])
    far = np.abs(means) > _MAX_MEAN_TO_STD * rows.std(axis=0)
    return np.where(far, means, 0.0) if far.any() else None


def _weighted_mean(y: Floats, weights: Floats | None, total: float) -> float:
    return float(y.mean() if weights is None else weights @ y / total)
