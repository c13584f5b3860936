"""Least squares without a penalty: the one solution, or of many the shortest.

Normal equations of features scaled to unit spread are solved by Cholesky and refined from the rows. Where
they are too ill-conditioned for that, and where there are as many features as rows, the centred rows are
decomposed into singular values; of all weights that fit equally well the ones of least norm, in the features'
given units, are returned, and `method` tells the rank.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats
from weigh.learn.linear.conjugate_gradient import needs_conjugate_gradient, solve_conjugate_gradient
from weigh.learn.linear.matrix import row_blocks, to_dense
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import Problem, Solution

# Below this a step of refinement no longer gains the digits that squaring the rows has lost. Of few rows the
# covariance, which no step refines, is worth its digits too.
_MIN_CONDITION = 1e-10
_MIN_CONDITION_SMALL = 1e-6
_MAX_SMALL_WORK = 10**8
# Levels of a category add up to one, which leaves eigenvalues of nothing, and all others far above that.
_MIN_CLEAR_EIGENVALUE = 1e-7
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class LeastSquaresFit:
    """Weights, and a root [d, rank] of their covariance: root rootᵀ is its share without the noise's σ²."""

    w: Floats
    covariance_root: Floats
    mean_x: Floats
    mean_y: float
    squared_error: float
    gap: float
    method: str

    @property
    def rank(self) -> int:
        """How many directions of the features the rows tell apart."""
        return int(self.covariance_root.shape[1])

    @property
    def b(self) -> float:
        """The bias."""
        return float(self.mean_y - self.mean_x @ self.w)


def solve_least_squares(problem: Problem, moments: Moments | None = None) -> Solution:
    """Return the least-squares solution of a problem; its penalties are not looked at."""
    if moments is None and needs_conjugate_gradient(problem.X):
        return solve_conjugate_gradient(problem)
    fit = fit_least_squares(problem, moments)
    return Solution(fit.w, np.asarray(fit.b), fit.squared_error / 2, fit.gap, 1, fit.method)


def fit_least_squares(problem: Problem, moments: Moments | None = None) -> LeastSquaresFit:
    """Return the least-squares fit from rows in memory; `moments` are those of the rows, if known already."""
    if problem.X.width >= problem.X.n_rows - problem.has_intercept:
        return _fit_svd(problem)
    moments = Moments.from_problem(problem) if moments is None else moments
    few = problem.X.n_rows * problem.X.width**2 < _MAX_SMALL_WORK
    fit = _fit_cholesky(moments, _MIN_CONDITION_SMALL if few else _MIN_CONDITION)
    if fit is None and not few:
        fit = _fit_eigh(moments, clear=True)
    return _fit_svd(problem) if fit is None else _refine(problem, moments, fit)


def fit_least_squares_from_moments(moments: Moments) -> LeastSquaresFit:
    """Return the least-squares fit where nothing but moments is left of the rows."""
    fit = _fit_cholesky(moments) or _fit_eigh(moments)
    assert fit is not None
    return fit


def _minimum_norm_map(scale: Floats, V: Floats, s: Floats) -> Floats:
    """Return the table that maps fitted coordinates to the shortest weights.

    V and s are of features divided by their scale. The rows span the columns of scale · V, so the shortest
    weights lie there; with scale · V = Q T, they are Q p where diag(s) Tᵀ p are the fitted coordinates.
    """
    width, rank = V.shape
    if rank in (0, width):
        return V / s / scale[:, None]
    Q, T = algebra.qr(scale[:, None] * V)
    return algebra.solve_triangular((T * s).T, Q.T, transposed=True).T


def _column_scales(moments: Moments) -> Floats:
    spread = moments.std
    return np.where(spread > 0, spread * np.sqrt(moments.total_weight), 1.0)


def _fit_cholesky(moments: Moments, least_condition: float = _MIN_CONDITION) -> LeastSquaresFit | None:
    if not (moments.std > 0).all():
        return None
    scale = _column_scales(moments)
    table = moments.gram / scale[:, None] / scale[None, :]
    lower = algebra.cholesky(table)
    if lower is None:
        return None
    if moments.width and algebra.reciprocal_condition(lower, algebra.one_norm(table)) < least_condition:
        return None
    w = algebra.cholesky_solve(lower, moments.cross / scale) / scale
    gradient = (moments.cross - moments.gram @ w) / scale
    gap = 0.5 * float(gradient @ algebra.cholesky_solve(lower, gradient))
    root = algebra.solve_triangular(lower, np.diag(1 / scale))
    error = float(moments.squared_error(w))
    return LeastSquaresFit(
        w, root.T, moments.mean_x, moments.mean_y, error, gap, "normal equations by Cholesky"
    )


def _refine(problem: Problem, moments: Moments, fit: LeastSquaresFit) -> LeastSquaresFit:
    """Correct the weights by what their residuals, taken from the rows, say."""
    _, gradient = squared_error_and_gradient(problem, moments, fit.w)
    w = fit.w + fit.covariance_root @ (fit.covariance_root.T @ gradient)
    error, gradient = squared_error_and_gradient(problem, moments, w)
    gap = 0.5 * float(np.square(fit.covariance_root.T @ gradient).sum())
    method = f"{fit.method}, refined from the rows"
    return LeastSquaresFit(w, fit.covariance_root, fit.mean_x, fit.mean_y, error, gap, method)


def squared_error_and_gradient(problem: Problem, moments: Moments, w: Floats) -> tuple[float, Floats]:
    """Return Σ sᵢ rᵢ² of weights with their best bias and Σ sᵢ rᵢ (xᵢ − m), from the rows."""
    y = problem.y if problem.offset is None else problem.y - problem.offset
    # Rows near zero need no copy: their means can be taken away from the sums.
    near = bool((np.abs(moments.mean_x) <= 10 * moments.std).all())
    shift, left = (None, moments.mean_x) if near else (moments.mean_x, np.zeros(problem.X.width))
    error, gradient = 0.0, np.zeros(problem.X.width)
    for which, block in row_blocks(problem.X, shift):
        r = y[which] - moments.mean_y - block @ w + left @ w
        weighted = r if problem.weights is None else r * problem.weights[which]
        error += float(r @ weighted)
        gradient += block.T @ weighted - float(weighted.sum()) * left
    return error, gradient


def centre_rows(problem: Problem) -> tuple[Floats, Floats, Floats, float]:
    """Return √sᵢ (xᵢ − m) as a new array, √sᵢ (yᵢ − ȳ), m and ȳ; without a bias the means are zero."""
    y = problem.y if problem.offset is None else problem.y - problem.offset
    weights = np.ones(len(y)) if problem.weights is None else problem.weights
    root, total = np.sqrt(weights), float(weights.sum())
    mean_x, mean_y = np.zeros(problem.X.width), 0.0
    if problem.has_intercept and total > 0:
        mean_x, mean_y = problem.X.transposed_times(weights) / total, float(weights @ y / total)
    A = to_dense(problem.X, mean_x)
    if problem.has_intercept and total > 0:
        # The first means are rounded; what they leave is taken away as well.
        left = weights @ A / total
        A -= left
        mean_x = mean_x + left
    A *= root[:, None]
    # What rounding alone leaves of a column that never varies must not be taken for one that does.
    A[:, np.sqrt(np.square(A).sum(axis=0)) <= 8 * _EPS * np.abs(mean_x) * math.sqrt(total)] = 0.0
    return A, (y - mean_y) * root, mean_x, mean_y


def _fit_svd(problem: Problem) -> LeastSquaresFit:
    A, target, mean_x, mean_y = centre_rows(problem)
    length = np.sqrt(np.square(A).sum(axis=0))
    rounding = 8 * _EPS * np.abs(mean_x) * np.sqrt(problem.total_weight)
    flat = length <= rounding
    scale = np.where(flat, 1.0, length)
    A[:, flat] = 0.0
    A /= scale
    U, s, V = algebra.svd(A)
    largest = float(s.max(initial=0.0))
    # What the rows themselves are rounded to cannot be told from what they repeat.
    noise = float((rounding / scale).max(initial=0.0))
    rank = int((s > max(_EPS * max(A.shape) * largest, noise * 0.5)).sum()) if largest else 0
    U, s, V = U[:, :rank], s[:rank], V[:, :rank]
    root = _minimum_norm_map(scale, V, s)
    w = root @ (U.T @ target)
    # Once more, from what is left: the first product is rounded.
    w = w + root @ (U.T @ (target - A @ (scale * w)))
    missed = target - A @ (scale * w)
    gap = 0.5 * float(np.square(U.T @ missed).sum())
    method = "singular values of the rows" + _describe_rank(rank, A.shape[1])
    return LeastSquaresFit(w, root, mean_x, mean_y, float(missed @ missed), gap, method)


def _fit_eigh(moments: Moments, *, clear: bool = False) -> LeastSquaresFit | None:
    """Return the shortest weights; None if it is to be `clear` which features repeat others, and is not."""
    scale, flat = _column_scales(moments), moments.std == 0
    table = moments.gram / scale[:, None] / scale[None, :]
    table[flat] = 0.0
    table[:, flat] = 0.0
    values, vectors = algebra.eigh(table)
    held = values > 64 * moments.width * _EPS * max(1.0, float(values.max(initial=0.0)))
    if clear and values[held].min(initial=1.0) < _MIN_CLEAR_EIGENVALUE:
        return None
    s, V = np.sqrt(values[held]), vectors[:, held]
    root = _minimum_norm_map(scale, V, s)
    w = root @ ((V.T @ (moments.cross / scale)) / s)
    gradient = root.T @ (moments.cross - moments.gram @ w)
    gap, error = 0.5 * float(gradient @ gradient), float(moments.squared_error(w))
    method = "eigenvalues of the moments" + _describe_rank(len(s), moments.width)
    return LeastSquaresFit(w, root, moments.mean_x, moments.mean_y, error, gap, method)


def _describe_rank(rank: int, width: int) -> str:
    if rank == width:
        return ""
    return f": rank {rank} of {width} features, so of all solutions the one of least norm"
