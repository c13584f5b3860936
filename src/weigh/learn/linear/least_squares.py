"""Least squares without a penalty: the unique solution, or the one of minimum norm.

The normal equations of features scaled to unit variance are solved by Cholesky and refined from the rows. If
they are too ill-conditioned, or if there are as many features as rows, the centred rows are decomposed by
SVD; if they are many, its vectors come from A Aᵀ. If the solution is not unique, the weights of minimum norm
in the features' own units are returned, and `method` states the rank.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats
from weigh.immutable import Immutable
from weigh.learn.linear.conjugate_gradient import needs_conjugate_gradient, solve_conjugate_gradient
from weigh.learn.linear.matrix import EPS, row_blocks, to_dense
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import Problem, Solution

# Reciprocal condition number below which refinement no longer recovers the digits lost by squaring the rows.
# Small problems use the stricter one, because the covariance is not refined.
_MIN_CONDITION = 1e-10
_MIN_CONDITION_SMALL = 1e-6
_MAX_SMALL_WORK = 10**8  # rows · features²
# Exact collinearity (the levels of a category sum to one) leaves all other eigenvalues far above this.
_MIN_CLEAR_EIGENVALUE = 1e-7
_MIN_WIDE_ROWS = 300  # below, the SVD of wide rows takes no time


@dataclass(frozen=True, eq=False)
class LeastSquaresFit(Immutable):
    """Weights and intercept, and R = `covariance_root` [d, rank] with covariance σ² R Rᵀ."""

    w: Floats
    covariance_root: Floats
    mean_x: Floats
    b: float
    squared_error: float
    gap: float
    method: str

    @property
    def rank(self) -> int:
        """Rank of the centred rows."""
        return int(self.covariance_root.shape[1])


def solve_least_squares(problem: Problem, moments: Moments | None = None) -> Solution:
    """Return the least-squares solution of a problem, ignoring its penalties."""
    if moments is None and needs_conjugate_gradient(problem.X):
        return solve_conjugate_gradient(problem)
    fit = fit_least_squares(problem, moments)
    return Solution(fit.w, np.asarray(fit.b), fit.squared_error / 2, fit.gap, 1, fit.method)


def fit_least_squares(problem: Problem, moments: Moments | None = None) -> LeastSquaresFit:
    """Fit rows in memory; `moments` are those of the rows, if already computed."""
    if problem.X.width >= problem.X.n_rows - problem.has_intercept:
        return _fit_svd(problem)
    moments = Moments.from_problem(problem) if moments is None else moments
    is_small = problem.X.n_rows * problem.X.width**2 < _MAX_SMALL_WORK
    fit = _fit_cholesky(moments, _MIN_CONDITION_SMALL if is_small else _MIN_CONDITION)
    if fit is None and not is_small:
        fit = _fit_eigh(moments, needs_clear_rank=True)
    return _fit_svd(problem) if fit is None else _refine(problem, moments, fit)


def fit_least_squares_from_moments(moments: Moments) -> LeastSquaresFit:
    """Fit from moments alone."""
    fit = _fit_cholesky(moments) or _fit_eigh(moments)
    assert fit is not None
    return fit


def _minimum_norm_map(scale: Floats, V: Floats, s: Floats) -> Floats:
    """Return the matrix that maps fitted coordinates to the weights of minimum norm.

    V and s belong to features divided by their scale. The row space is spanned by the columns of scale · V,
    so the weights lie there: with scale · V = Q T, they are Q p where diag(s) Tᵀ p are the fitted
    coordinates.
    """
    width, rank = V.shape
    if rank in (0, width):
        return V / s / scale[:, None]
    Q, T = algebra.qr(scale[:, None] * V)
    return algebra.solve_triangular((T * s).T, Q.T, transposed=True).T


def _column_scales(moments: Moments) -> Floats:
    std = moments.std
    return np.where(std > 0, std * np.sqrt(moments.total_weight), 1.0)


def _fit_cholesky(moments: Moments, min_condition: float = _MIN_CONDITION) -> LeastSquaresFit | None:
    """Solve the normal equations; return None if they are singular or too ill-conditioned."""
    if not (moments.std > 0).all():
        return None
    scale = _column_scales(moments)
    gram = moments.gram / scale[:, None] / scale[None, :]
    lower = algebra.cholesky(gram)
    if lower is None:
        return None
    if moments.width and algebra.reciprocal_condition(lower, algebra.one_norm(gram)) < min_condition:
        return None
    w = algebra.cholesky_solve(lower, moments.cross / scale) / scale
    grad = (moments.cross - moments.gram @ w) / scale
    gap = 0.5 * float(grad @ algebra.cholesky_solve(lower, grad))
    root = algebra.solve_triangular(lower, np.diag(1 / scale))
    error = float(moments.squared_error(w))
    b = float(moments.intercept(w))
    return LeastSquaresFit(w, root.T, moments.mean_x, b, error, gap, "normal equations by Cholesky")


def _refine(problem: Problem, moments: Moments, fit: LeastSquaresFit) -> LeastSquaresFit:
    """Take one step of iterative refinement with residuals computed from the rows."""
    _, grad = squared_error_and_gradient(problem, moments, fit.w)
    w = fit.w + fit.covariance_root @ (fit.covariance_root.T @ grad)
    error, grad = squared_error_and_gradient(problem, moments, w)
    gap = 0.5 * float(np.square(fit.covariance_root.T @ grad).sum())
    method = f"{fit.method}, refined from the rows"
    b = float(moments.intercept(w))
    return LeastSquaresFit(w, fit.covariance_root, fit.mean_x, b, error, gap, method)


def squared_error_and_gradient(problem: Problem, moments: Moments, w: Floats) -> tuple[float, Floats]:
    """Return Σ sᵢ rᵢ² at the optimal intercept and Σ sᵢ rᵢ (xᵢ − m), computed from the rows."""
    y = problem.y if problem.offset is None else problem.y - problem.offset
    # Where the means are small, they are subtracted from the sums, which saves a copy of the rows.
    is_near_zero = bool((np.abs(moments.mean_x) <= 10 * moments.std).all())
    shift, mean = (None, moments.mean_x) if is_near_zero else (moments.mean_x, np.zeros(problem.X.width))
    error, grad = 0.0, np.zeros(problem.X.width)
    for rows, block in row_blocks(problem.X, shift):
        r = y[rows] - moments.mean_y - block @ w + mean @ w
        weighted = r if problem.weights is None else r * problem.weights[rows]
        error += float(r @ weighted)
        grad += block.T @ weighted - float(weighted.sum()) * mean
    return error, grad


def centre_rows(problem: Problem) -> tuple[Floats, Floats, Floats, float]:
    """Return √sᵢ (xᵢ − m) as a new array, √sᵢ (yᵢ − ȳ), m and ȳ; without an intercept the means are zero."""
    y = problem.y if problem.offset is None else problem.y - problem.offset
    weights = np.ones(len(y)) if problem.weights is None else problem.weights
    root, total = np.sqrt(weights), float(weights.sum())
    mean_x, mean_y = np.zeros(problem.X.width), 0.0
    if problem.has_intercept and total > 0:
        mean_x, mean_y = problem.X.transposed_times(weights) / total, float(weights @ y / total)
    A = to_dense(problem.X, mean_x)
    if problem.has_intercept and total > 0:
        # The first means are rounded, so the remainder is subtracted too.
        remainder = weights @ A / total
        A -= remainder
        mean_x = mean_x + remainder
    A *= root[:, None]
    # A constant column must not vary by rounding.
    A[:, np.sqrt(np.square(A).sum(axis=0)) <= 8 * EPS * np.abs(mean_x) * math.sqrt(total)] = 0.0
    return A, (y - mean_y) * root, mean_x, mean_y


def _fit_svd(problem: Problem) -> LeastSquaresFit:
    A, target, mean_x, mean_y = centre_rows(problem)
    norms = np.sqrt(np.square(A).sum(axis=0))
    rounding = 8 * EPS * np.abs(mean_x) * np.sqrt(problem.total_weight)
    is_constant = norms <= rounding
    scale = np.where(is_constant, 1.0, norms)
    A[:, is_constant] = 0.0
    A /= scale
    U, s, V = _decompose_wide(A) or algebra.svd(A)
    largest = float(s.max(initial=0.0))
    # Singular values below the rounding of the rows themselves count as zero.
    noise = float((rounding / scale).max(initial=0.0))
    rank = int((s > max(EPS * max(A.shape) * largest, noise * 0.5)).sum()) if largest else 0
    U, s, V = U[:, :rank], s[:rank], V[:, :rank]
    root = _minimum_norm_map(scale, V, s)
    w = root @ (U.T @ target)
    # One step of iterative refinement.
    w = w + root @ (U.T @ (target - A @ (scale * w)))
    residual = target - A @ (scale * w)
    gap = 0.5 * float(np.square(U.T @ residual).sum())
    method = "singular value decomposition" + _describe_rank(rank, A.shape[1])
    b = float(mean_y - mean_x @ w)
    return LeastSquaresFit(w, root, mean_x, b, float(residual @ residual), gap, method)


def _decompose_wide(A: Floats) -> tuple[Floats, Floats, Floats] | None:
    """Return the SVD without the zeros from the eigendecomposition of A Aᵀ, many times as fast.

    None if A is small or has fewer columns than rows, or if small eigenvalues leave the rank in doubt.
    """
    if not _MIN_WIDE_ROWS <= A.shape[0] <= A.shape[1] + 1:
        return None
    values, U = algebra.eigh(A @ A.T)
    largest = max(1.0, float(values.max(initial=0.0)))
    kept = values > _MIN_CLEAR_EIGENVALUE * largest
    # The eigenvalues cannot tell a small singular value from zero, but the rows can.
    others = np.sqrt(np.square(A.T @ U[:, ~kept]).sum(axis=0))
    if others.max(initial=0.0) > EPS * max(A.shape) * math.sqrt(largest):
        return None
    s, U = np.sqrt(values[kept])[::-1], U[:, kept][:, ::-1]
    return U, s, A.T @ U / s


def _fit_eigh(moments: Moments, *, needs_clear_rank: bool = False) -> LeastSquaresFit | None:
    """Return the fit of minimum norm from the eigendecomposition of the scaled Gram matrix.

    With `needs_clear_rank`, return None if small eigenvalues leave the rank in doubt.
    """
    scale, is_constant = _column_scales(moments), moments.std == 0
    gram = moments.gram / scale[:, None] / scale[None, :]
    gram[is_constant] = 0.0
    gram[:, is_constant] = 0.0
    values, vectors = algebra.eigh(gram)
    kept = values > 64 * moments.width * EPS * max(1.0, float(values.max(initial=0.0)))
    if needs_clear_rank and values[kept].min(initial=1.0) < _MIN_CLEAR_EIGENVALUE:
        return None
    s, V = np.sqrt(values[kept]), vectors[:, kept]
    root = _minimum_norm_map(scale, V, s)
    w = root @ ((V.T @ (moments.cross / scale)) / s)
    grad = root.T @ (moments.cross - moments.gram @ w)
    gap, error = 0.5 * float(grad @ grad), float(moments.squared_error(w))
    method = "eigendecomposition of the moments" + _describe_rank(len(s), moments.width)
    return LeastSquaresFit(w, root, moments.mean_x, float(moments.intercept(w)), error, gap, method)


def _describe_rank(rank: int, width: int) -> str:
    return "" if rank == width else f": rank {rank} of {width} features, solution of minimum norm"
