"""Centred second moments of the rows, which are sufficient for squared loss.

With weights sᵢ, N = Σ sᵢ and the means m = Σ sᵢ xᵢ / N and ȳ,

    gram = Σ sᵢ (xᵢ − m)(xᵢ − m)ᵀ,   cross = Σ sᵢ (xᵢ − m)(yᵢ − ȳ),   yy = Σ sᵢ (yᵢ − ȳ)².

Without an intercept the means are zero. Moments of disjoint rows can be added and subtracted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from weigh.errors import DataError
from weigh.features.blocks import Floats, Longs
from weigh.immutable import Immutable
from weigh.learn.linear.matrix import EPS, MAX_BLOCK_ROWS, Matrix, SparseMatrix, row_blocks, sample_rows
from weigh.learn.linear.problem import Problem

# Products lose twice the digits of mean / std, so columns whose ratio is larger are shifted.
_MAX_MEAN_TO_STD = 10.0
_MAX_SPARSE_DENSITY = 0.2  # up to which sparse products are faster than dense ones
_OUTER_BLOCK = 64  # rows of an outer product computed at once


@dataclass(frozen=True, eq=False)
class Moments(Immutable):
    """Moments of weighted rows; `n_rows` counts those of positive weight.

    `sum_log_weights` is Σ log sᵢ, which only the marginal likelihood needs. `n_parts` counts the sets of rows
    whose moments were combined, because each rounds the means.
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
    n_parts: int = 1

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.cross)

    @property
    def std(self) -> Floats:
        """Standard deviation of each feature; zero where only rounding varies."""
        if not self.total_weight:
            return np.zeros(self.width)
        std = np.sqrt(np.maximum(np.diagonal(self.gram), 0.0) / self.total_weight)
        return np.where(std > 8 * EPS * np.abs(self.mean_x), std, 0.0)

    @classmethod
    def zeros(cls, width: int, *, has_intercept: bool = True) -> Moments:
        """Return the moments of no rows."""
        return cls(
            0, 0.0, np.zeros(width), 0.0, np.zeros((width, width)), np.zeros(width), 0.0, 0.0, has_intercept
        )

    @classmethod
    def from_rows(
        cls,
        X: Matrix,
        y: Floats,
        weights: Floats | None = None,
        *,
        has_intercept: bool = True,
        shift: Floats | None = None,
    ) -> Moments:
        """Compute the moments of rows; `shift` approximates the means of X and is estimated if None."""
        total = float(X.n_rows if weights is None else weights.sum())
        if not total > 0:
            return cls.zeros(X.width, has_intercept=has_intercept)
        if has_intercept and shift is None:
            shift = _distant_means(X)
        mean_y = _weighted_mean(y, weights, total) if has_intercept else 0.0
        sums = _product_sums(X, y - mean_y, weights, shift if has_intercept else None)
        n_rows = X.n_rows if weights is None else int(np.count_nonzero(weights))
        log_weights = 0.0 if weights is None else float(np.log(weights[weights > 0]).sum())
        start = np.zeros(X.width) if shift is None or not has_intercept else shift
        if not has_intercept:
            return cls(n_rows, total, start, 0.0, sums.gram, sums.cross, sums.yy, log_weights, has_intercept)
        step, step_y = sums.sum_x / total, sums.sum_y / total
        squares = total * step**2
        has_cancelled = squares > _MAX_MEAN_TO_STD**2 * np.maximum(np.diagonal(sums.gram) - squares, 0.0)
        if (has_cancelled & (step != 0) & (np.abs(step) > 1e-12 * np.abs(start))).any():
            # The sampled rows were not representative: repeat with the true means.
            return cls.from_rows(X, y, weights, has_intercept=has_intercept, shift=start + step)
        _add_outer_product(sums.gram, step, -total)
        cross = sums.cross - step * sums.sum_y
        yy = max(sums.yy - total * step_y**2, 0.0)
        return cls(
            n_rows, total, start + step, mean_y + step_y, sums.gram, cross, yy, log_weights, has_intercept
        )

    @classmethod
    def from_problem(cls, problem: Problem) -> Moments:
        """Compute the moments of a problem's rows; its offset is subtracted from the targets."""
        y = problem.y if problem.offset is None else problem.y - problem.offset
        return cls.from_rows(problem.X, y, problem.weights, has_intercept=problem.has_intercept)

    @classmethod
    def from_batches(
        cls, batches: Iterable[tuple[Matrix, Floats, Floats | None]], *, has_intercept: bool = True
    ) -> Moments:
        """Compute the moments of batches (X, y, weights) in one pass."""
        parts = (cls.from_rows(X, y, weights, has_intercept=has_intercept) for X, y, weights in batches)
        first = next(parts, None)
        if first is None:
            raise DataError("There are no rows to learn from: give at least one batch.")
        return reduce(cls.plus, parts, first)

    def unshifted_gram(self, X: Matrix) -> Floats | None:
        """Return the Gram matrix of the rows with that of the intercept last.

        None if the products were summed after a shift, because then their rounding errors are not those of X.
        """
        if not self.has_intercept:
            return self.gram
        if _distant_means(X) is not None or (np.abs(self.mean_x) > 0.9 * _MAX_MEAN_TO_STD * self.std).any():
            return None
        gram = np.empty((self.width + 1, self.width + 1))
        gram[:-1, :-1] = self.gram
        _add_outer_product(gram[:-1, :-1], self.mean_x, self.total_weight)
        gram[-1, :-1] = gram[:-1, -1] = self.total_weight * self.mean_x
        gram[-1, -1] = self.total_weight
        return gram

    def plus(self, other: Moments) -> Moments:
        """Return the moments of the rows of both (Chan, Golub and LeVeque)."""
        self._check_compatible(other)
        total = self.total_weight + other.total_weight
        share = other.total_weight / total if total else 0.0
        delta_x, delta_y = other.mean_x - self.mean_x, other.mean_y - self.mean_y
        gram, cross, yy = self.gram + other.gram, self.cross + other.cross, self.yy + other.yy
        if self.has_intercept:
            factor = self.total_weight * share
            _add_outer_product(gram, delta_x, factor)
            cross += factor * delta_y * delta_x
            yy += factor * delta_y**2
        mean_x, mean_y = self.mean_x + share * delta_x, self.mean_y + share * delta_y
        n_rows, log_weights = self.n_rows + other.n_rows, self.sum_log_weights + other.sum_log_weights
        details = log_weights, self.has_intercept, self.n_parts + other.n_parts
        return Moments(n_rows, total, mean_x, mean_y, gram, cross, yy, *details)

    def minus(self, part: Moments) -> Moments:
        """Return the moments of the rows that are not in `part`, the moments of a subset."""
        self._check_compatible(part)
        if part.n_rows >= self.n_rows:
            return Moments.zeros(self.width, has_intercept=self.has_intercept)
        total = self.total_weight - part.total_weight
        share = part.total_weight / total
        mean_x = self.mean_x - share * (part.mean_x - self.mean_x)
        mean_y = self.mean_y - share * (part.mean_y - self.mean_y)
        gram, cross, yy = self.gram - part.gram, self.cross - part.cross, self.yy - part.yy
        if self.has_intercept:
            delta_x, delta_y = part.mean_x - mean_x, part.mean_y - mean_y
            factor = total * (part.total_weight / self.total_weight)
            _add_outer_product(gram, delta_x, -factor)
            cross -= factor * delta_y * delta_x
            yy -= factor * delta_y**2
        n_rows, log_weights = self.n_rows - part.n_rows, self.sum_log_weights - part.sum_log_weights
        details = log_weights, self.has_intercept, self.n_parts + part.n_parts
        return Moments(n_rows, total, mean_x, mean_y, gram, cross, max(yy, 0.0), *details)

    def select(self, indices: Longs) -> Moments:
        """Return the moments of a subset of the features."""
        if len(indices) == self.width:
            return self
        gram, cross = self.gram[np.ix_(indices, indices)], self.cross[indices]
        return replace(self, mean_x=self.mean_x[indices], gram=gram, cross=cross)

    def without_intercept(self) -> Moments:
        """Return the uncentred moments of the same rows."""
        gram = self.gram + self.total_weight * np.outer(self.mean_x, self.mean_x)
        cross = self.cross + self.total_weight * self.mean_y * self.mean_x
        yy = self.yy + self.total_weight * self.mean_y**2
        zero = np.zeros(self.width)
        return replace(self, mean_x=zero, mean_y=0.0, gram=gram, cross=cross, yy=yy, has_intercept=False)

    def intercept(self, w: Floats) -> Floats:
        """Return the optimal intercept for weights [d] or for each column of [d, k]."""
        return np.asarray(self.mean_y - self.mean_x @ w)

    def squared_error(self, w: Floats, b: Floats | None = None) -> Floats:
        """Return Σ sᵢ (yᵢ − b − xᵢ·w)² for weights [d] or columns [d, k]; b None means the optimal one."""
        error: Floats = self.yy - 2 * (self.cross @ w) + np.einsum("j...,j...->...", w, self.gram @ w)
        if b is not None:
            error = error + self.total_weight * (self.intercept(w) - b) ** 2
        return np.asarray(np.maximum(error, 0.0))

    def rounding_error(self, w: Floats) -> float:
        """Return a bound on the error of ½ the squared error at weights w, and of its gradient along them.

        Sums of k products have an error of at most k ε; rows are added in blocks, and blocks to each other.
        Columns were summed as far from zero as `_MAX_MEAN_TO_STD` allows. Each part rounds the means, which
        combine the parts and determine the intercept.
        """
        n_terms = MAX_BLOCK_ROWS + self.n_rows // MAX_BLOCK_ROWS + 8 * self.width + 64
        squares = np.maximum(np.diagonal(self.gram), 0.0)
        means = np.minimum(self.total_weight * np.square(self.mean_x), _MAX_MEAN_TO_STD**2 * squares)
        summed = math.sqrt(self.yy) + float(np.abs(w) @ np.sqrt(squares + means))
        norm = math.sqrt(self.yy) + float(np.abs(w) @ np.sqrt(squares))
        mean = abs(self.mean_y) + float(np.abs(w) @ np.abs(self.mean_x))
        shift = (self.n_parts + self.width + 2) * EPS * math.sqrt(self.total_weight) * mean
        return n_terms * EPS * summed**2 + 2 * shift * norm + shift**2

    def _check_compatible(self, other: Moments) -> None:
        if self.width != other.width:
            raise DataError(f"Moments of {self.width} and of {other.width} features cannot be combined.")
        if self.has_intercept != other.has_intercept:
            raise DataError("Moments with and without an intercept cannot be combined.")


@dataclass
class _ProductSums:
    """Weighted sums of products and plain sums of shifted rows."""

    gram: Floats
    cross: Floats
    yy: float
    sum_x: Floats
    sum_y: float


def _product_sums(X: Matrix, y: Floats, weights: Floats | None, shift: Floats | None) -> _ProductSums:
    if isinstance(X, SparseMatrix) and shift is None and X.density < _MAX_SPARSE_DENSITY:
        return _sparse_product_sums(X, y, weights)
    root = None if weights is None else np.sqrt(weights)
    ones_and_y = np.column_stack([np.ones(X.n_rows), y])
    if root is not None:
        ones_and_y *= root[:, None]
    gram, buffer = np.zeros((X.width, X.width)), None
    sums = np.zeros((X.width, 2))
    for rows, block in row_blocks(X, shift, root):
        if rows.stop - rows.start == X.n_rows:
            gram = block.T @ block
        else:
            buffer = np.empty_like(gram) if buffer is None else buffer
            gram += np.matmul(block.T, block, out=buffer)
        sums += block.T @ ones_and_y[rows]
    yy = float(ones_and_y[:, 1] @ ones_and_y[:, 1])
    sum_y = float(ones_and_y[:, 0] @ ones_and_y[:, 1])
    return _ProductSums(gram, sums[:, 1], yy, sums[:, 0], sum_y)


def _sparse_product_sums(X: SparseMatrix, y: Floats, weights: Floats | None) -> _ProductSums:
    s = np.ones(X.n_rows) if weights is None else weights
    weighted = s * y
    sums = X.transposed_times(np.column_stack([s, weighted]))
    yy, sum_y = float(weighted @ y), float(weighted.sum())
    return _ProductSums(X.weighted_gram(weights), sums[:, 1], yy, sums[:, 0], sum_y)


def _add_outer_product(gram: Floats, x: Floats, factor: float) -> None:
    """Add factor · x xᵀ in place, by blocks of rows: a full temporary matrix would cost more than the sum."""
    for start in range(0, len(x), _OUTER_BLOCK):
        block = slice(start, start + _OUTER_BLOCK)
        gram[block] += np.outer(factor * x[block], x)


def _distant_means(X: Matrix) -> Floats | None:
    """Return rough means of features far from zero, and zero for the others; None if none is far."""
    rows = sample_rows(X)
    if not rows.size:
        return None
    means = np.where(np.ptp(rows, axis=0) > 0, rows.mean(axis=0), rows[0])
    is_distant = np.abs(means) > _MAX_MEAN_TO_STD * rows.std(axis=0)
    return np.where(is_distant, means, 0.0) if is_distant.any() else None


def _weighted_mean(y: Floats, weights: Floats | None, total: float) -> float:
    return float(y.mean() if weights is None else weights @ y / total)
