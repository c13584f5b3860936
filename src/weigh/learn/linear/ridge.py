"""Ridge regression in closed form, for one penalty or for a path, from moments or from the rows.

The primal solution is w = (gram + diag(l2))⁻¹ cross. With more features than rows the dual system is smaller:
with penalised features A = √s (X − m) diag(l2)^−½ and unpenalised features M, the residuals α solve

    (A Aᵀ + I) α + M u = √s (y − ȳ),   Mᵀ α = 0,   and   w = diag(l2)^−½ Aᵀ α.

A path has the penalties ½ Σ scale · directionⱼ wⱼ².
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from weigh import algebra
from weigh.errors import DataError
from weigh.features.blocks import Floats, Mask
from weigh.learn.linear.conjugate_gradient import needs_conjugate_gradient, solve_conjugate_gradient
from weigh.learn.linear.least_squares import (
    centre_rows,
    fit_least_squares_from_moments,
    solve_least_squares,
    squared_error_and_gradient,
)
from weigh.learn.linear.matrix import EPS, DenseMatrix
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.posterior import regularised_inverse
from weigh.learn.linear.problem import Problem, Solution

_MIN_MOMENT_CONDITION = 1e-8  # reciprocal condition number above which refinement from the rows gains nothing
_MIN_CONDITION = 1e-13
_RANK_TOLERANCE = 1e-12  # of the largest singular value
_METHOD = "normal equations by Cholesky"


def solve_ridge(problem: Problem, moments: Moments | None = None) -> Solution:
    """Minimise ½ Σ sᵢ (yᵢ − xᵢ·w − b)² + ½ Σ l2ⱼ wⱼ²; without any penalty, least squares."""
    if not (problem.l2 > 0).any():
        return solve_least_squares(problem, moments)
    if moments is None and needs_conjugate_gradient(problem.X):
        return solve_conjugate_gradient(problem)
    if moments is None and problem.X.width > problem.X.n_rows:
        return _solve_dual(problem)
    moments = Moments.from_problem(problem) if moments is None else moments
    primal = _solve_cholesky(moments, problem.l2)
    if primal is None:
        return _solve_augmented_system(problem)
    if primal.reciprocal_condition >= _MIN_MOMENT_CONDITION:
        return primal.solution(moments)
    _, correlations = squared_error_and_gradient(problem, moments, primal.w)
    w = primal.w + primal.solve(correlations - problem.l2 * primal.w)
    error, correlations = squared_error_and_gradient(problem, moments, w)
    gap = primal.gap(correlations - problem.l2 * w)
    method = f"{_METHOD}, refined from the rows"
    return Solution(w, moments.intercept(w), error / 2 + problem.penalty(w), gap, 1, method)


def solve_ridge_from_moments(moments: Moments, l2: Floats) -> Solution:
    """Solve ridge, or least squares if l2 is zero, from moments alone."""
    if not (l2 > 0).any():
        fit = fit_least_squares_from_moments(moments)
        return Solution(fit.w, np.asarray(fit.b), fit.squared_error / 2, fit.gap, 1, fit.method)
    primal = _solve_cholesky(moments, l2)
    if primal is not None:
        return primal.solution(moments)
    inverse = regularised_inverse(moments, l2)
    w = inverse @ moments.cross
    residual = moments.cross - moments.gram @ w - l2 * w
    objective = 0.5 * float(moments.squared_error(w) + l2 @ np.square(w))
    gap = 0.5 * float(residual @ inverse @ residual)
    method = "pseudo-inverse of the moments: unpenalised features are linearly dependent"
    return Solution(w, moments.intercept(w), objective, gap, 1, method)


@dataclass(frozen=True, eq=False)
class _CholeskySolution:
    """Weights, and the Cholesky factor of gram + diag(l2) scaled to a unit diagonal."""

    w: Floats
    l2: Floats
    cholesky: Floats
    scale: Floats
    reciprocal_condition: float

    def solve(self, rhs: Floats) -> Floats:
        return algebra.cholesky_solve(self.cholesky, rhs / self.scale) / self.scale

    def gap(self, residual: Floats) -> float:
        """Return objective − minimum = ½ rᵀ H⁻¹ r for the residual r of the normal equations."""
        return 0.5 * float(residual @ self.solve(residual))

    def solution(self, moments: Moments) -> Solution:
        residual = moments.cross - moments.gram @ self.w - self.l2 * self.w
        objective = 0.5 * float(moments.squared_error(self.w) + self.l2 @ np.square(self.w))
        return Solution(self.w, moments.intercept(self.w), objective, self.gap(residual), 1, _METHOD)


def _solve_cholesky(moments: Moments, l2: Floats) -> _CholeskySolution | None:
    """Solve the primal system; return None if it is singular or too ill-conditioned."""
    if not ((moments.std > 0) | (l2 > 0)).all():
        return None
    scale = np.sqrt(np.diagonal(moments.gram) + l2)
    hess = moments.gram / scale
    hess /= scale[:, None]
    np.fill_diagonal(hess, 1.0)
    lower = algebra.cholesky(hess)
    if lower is None:
        return None
    rcond = algebra.reciprocal_condition(lower, algebra.one_norm(hess))
    if rcond < _MIN_CONDITION:
        return None
    w = algebra.cholesky_solve(lower, moments.cross / scale) / scale
    return _CholeskySolution(w, l2, lower, scale, rcond)


def _solve_dual(problem: Problem) -> Solution:
    """Solve the dual system [n, n], with one step of iterative refinement."""
    X, target, mean_x, mean_y = centre_rows(problem)
    penalised = problem.l2 > 0
    A, M = X[:, penalised] / np.sqrt(problem.l2[penalised]), X[:, ~penalised]
    if M.shape[1] >= len(target):
        return _solve_augmented_system(problem)
    kernel = A @ A.T
    kernel[np.diag_indices_from(kernel)] += 1.0
    lower = algebra.cholesky(kernel)
    if lower is None:
        return _solve_augmented_system(problem)
    alpha, u = _solve_saddle_point(lower, M, target)
    equation_residual = target - A @ (A.T @ alpha) - alpha - M @ u
    alpha_step, u_step = _solve_saddle_point(lower, M, equation_residual, -(M.T @ alpha))
    alpha, u = alpha + alpha_step, u + u_step
    w = np.empty(problem.X.width)
    w[penalised], w[~penalised] = (A.T @ alpha) / np.sqrt(problem.l2[penalised]), u
    residual = target - X @ w
    objective = 0.5 * float(residual @ residual) + problem.penalty(w)
    # Residuals orthogonal to the unpenalised features are dual feasible.
    dual = residual - _project(M, residual)
    bound = float(dual @ target - 0.5 * dual @ dual - 0.5 * np.square(A.T @ dual).sum())
    gap = max(objective - bound, 0.0)
    return Solution(w, np.asarray(mean_y - mean_x @ w), objective, gap, 1, "dual system by Cholesky")


def _solve_saddle_point(
    lower: Floats, M: Floats, f: Floats, g: Floats | None = None
) -> tuple[Floats, Floats]:
    """Solve (L Lᵀ) α + M u = f, Mᵀ α = g (zero if None) for α and u."""
    alpha = algebra.cholesky_solve(lower, f)
    if not M.shape[1]:
        return alpha, np.zeros(0)
    rhs = M.T @ alpha - (0.0 if g is None else g)
    _, s, V = algebra.svd(algebra.solve_triangular(lower, M))
    kept = s > _RANK_TOLERANCE * s.max(initial=0.0)
    V, s = V[:, kept], s[kept]
    u = V @ ((V.T @ rhs) / s**2)
    return alpha - algebra.cholesky_solve(lower, M @ u), u


def _project(M: Floats, r: Floats) -> Floats:
    """Return the orthogonal projection of r onto the columns of M."""
    if not M.shape[1]:
        return np.zeros_like(r)
    U, s, _ = algebra.svd(M)
    U = U[:, s > _RANK_TOLERANCE * s.max(initial=0.0)]
    return np.asarray(U @ (U.T @ r))


def _solve_augmented_system(problem: Problem) -> Solution:
    """Solve as least squares with one extra row √l2ⱼ eⱼ per penalised feature; handles collinear features."""
    A, target, mean_x, mean_y = centre_rows(problem)
    penalised = np.flatnonzero(problem.l2 > 0)
    extra = np.zeros((len(penalised), problem.X.width))
    extra[np.arange(len(penalised)), penalised] = np.sqrt(problem.l2[penalised])
    rows, y = np.vstack([A, extra]), np.concatenate([target, np.zeros(len(penalised))])
    augmented = Problem(DenseMatrix(rows), y, problem.l1, problem.l2, has_intercept=False)
    solution = solve_least_squares(augmented)
    b = np.asarray(mean_y - mean_x @ solution.w)
    return Solution(solution.w, b, solution.objective, solution.gap, 1, solution.method)


@dataclass(frozen=True, eq=False)
class ReducedMoments:
    """Moments with the U unpenalised features eliminated and the P others scaled by their direction.

    With scale α the penalised weights are v / `sqrt_direction`, where v solves (gram + α I) v = rhs. F =
    `unpenalised_root` [U, U] has F Fᵀ = (gram of the unpenalised features)⁻¹; their weights are
    `unpenalised_weights` − `coupling` · (penalised weights). `yy` is the residual sum of squares they leave.
    """

    gram: Floats
    rhs: Floats
    yy: float
    is_penalised: Mask
    sqrt_direction: Floats
    unpenalised_root: Floats
    coupling: Floats
    unpenalised_weights: Floats

    @classmethod
    def from_moments(cls, moments: Moments, direction: Floats) -> ReducedMoments:
        """Eliminate the features of direction zero."""
        penalised = direction > 0
        root = np.sqrt(direction[penalised])
        if penalised.all():
            gram, rhs = moments.gram / root, moments.cross / root
            gram /= root[:, None]
            none = np.zeros((0, len(root)))
            return cls(gram, rhs, moments.yy, penalised, root, np.zeros((0, 0)), none, np.zeros(0))
        F = _unpenalised_inverse_root(moments, ~penalised)
        projected_gram = F.T @ moments.gram[np.ix_(~penalised, penalised)]
        projected_cross = F.T @ moments.cross[~penalised]
        schur = moments.gram[np.ix_(penalised, penalised)] - projected_gram.T @ projected_gram
        rhs = (moments.cross[penalised] - projected_gram.T @ projected_cross) / root
        yy = max(moments.yy - float(projected_cross @ projected_cross), 0.0)
        gram = schur / root[:, None] / root[None, :]
        return cls(gram, rhs, yy, penalised, root, F, F @ projected_gram, F @ projected_cross)

    def weights(self, v: Floats) -> Floats:
        """Return all weights [d, k] for solutions v [P, k]."""
        w = np.empty((len(self.is_penalised), v.shape[1]))
        w[self.is_penalised] = v / self.sqrt_direction[:, None]
        if len(self.unpenalised_weights):
            w[~self.is_penalised] = self.unpenalised_weights[:, None] - self.coupling @ w[self.is_penalised]
        return w

    def transform_rows(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return centred rows in the reduced coordinates [n, P], and their unpenalised leverage [n]."""
        penalised = rows[:, self.is_penalised]
        if not len(self.unpenalised_weights):
            return penalised / self.sqrt_direction, np.zeros(len(rows))
        free = rows[:, ~self.is_penalised]
        leverage = np.square(free @ self.unpenalised_root).sum(axis=1)
        return (penalised - free @ self.coupling) / self.sqrt_direction, leverage


def ridge_path(moments: Moments, direction: Floats, scales: Floats) -> Floats:
    """Return the weights [k, d] for k positive scales, from one tridiagonal reduction."""
    reduced = ReducedMoments.from_moments(moments, direction)
    reduction = algebra.TridiagonalReduction(reduced.gram)
    rhs = reduction.apply_q_transpose(reduced.rhs)
    # A smaller scale is lost in the rounding of the Gram matrix.
    min_scale = 64 * EPS * float(np.trace(reduced.gram))
    v = [reduction.solve_with_shift(max(scale, min_scale), rhs)[0] for scale in scales.tolist()]
    return reduced.weights(reduction.apply_q(np.column_stack(v))).T


def default_scales(squares: Floats, direction: Floats, k: int = 100) -> Floats:
    """Return k scales from 10³ down to 10⁻⁶ times the features' mean sum of squares."""
    penalised = direction > 0
    mean = float((squares[penalised] / direction[penalised]).mean()) if penalised.any() else 1.0
    return np.geomspace(1e3, 1e-6, k) * (mean or 1.0)


def _unpenalised_inverse_root(moments: Moments, free: Mask) -> Floats:
    """Return F with F Fᵀ = (gram of the unpenalised features)⁻¹."""
    gram = moments.gram[np.ix_(free, free)]
    scale = np.sqrt(np.diagonal(gram))
    has_variance = bool((moments.std[free] > 0).all())
    lower = algebra.cholesky(gram / scale[:, None] / scale[None, :]) if has_variance else None
    if lower is None or np.square(np.diagonal(lower)).min() < 1e-12:
        raise DataError(
            "Features without a penalty are constant or linearly dependent, so their weights are not "
            "unique at any strength of the other features' penalty. Leave some of them out, or give them a "
            "prior too."
        )
    return algebra.solve_triangular(lower, np.diag(1 / scale)).T


class RowEigendecomposition:
    """Eigendecomposition of A Aᵀ [n, n], unpenalised features projected out, for all scales of a path."""

    def __init__(self, problem: Problem, direction: Floats) -> None:
        self.problem, self.is_penalised = problem, direction > 0
        rows, self.target, self.mean_x, self.mean_y = centre_rows(problem)
        self.sqrt_direction = np.sqrt(direction[self.is_penalised])
        self.A, self.M = rows[:, self.is_penalised] / self.sqrt_direction, rows[:, ~self.is_penalised]
        self.unpenalised_basis = self._find_unpenalised_basis()
        self.projected_rows = self.A - self.unpenalised_basis @ (self.unpenalised_basis.T @ self.A)
        values, self.eigenvectors = algebra.eigh(self.projected_rows @ self.projected_rows.T)
        self.eigenvalues = np.maximum(values, 0.0)

    def rotated_moments(self) -> tuple[Moments, Floats]:
        """Return moments of an equivalent problem with n features, and its direction, all ones.

        Its marginal likelihood is the same, provided that all features are penalised.
        """
        X = DenseMatrix(self.eigenvectors * np.sqrt(self.eigenvalues))
        moments = Moments.from_rows(X, self.target, None, has_intercept=False)
        weights, total = self.problem.weights, self.problem.total_weight
        sum_log_weights = 0.0 if weights is None else float(np.log(weights).sum())
        if self.problem.has_intercept:
            # Integrating out the intercept takes one degree of freedom and a factor √total of the density.
            moments = replace(moments, n_rows=moments.n_rows - 1)
            sum_log_weights -= math.log(total)
        return replace(moments, total_weight=total, sum_log_weights=sum_log_weights), np.ones(X.width)

    def weights(self, scales: Floats) -> Floats:
        """Return the weights [k, d] for k positive scales."""
        rotated = self.eigenvectors.T @ self.target
        alpha = rotated[:, None] / (self.eigenvalues[:, None] + scales[None, :])
        v = self.projected_rows.T @ (self.eigenvectors @ alpha)
        W = np.empty((len(self.is_penalised), len(scales)))
        W[self.is_penalised] = v / self.sqrt_direction[:, None]
        if self.M.shape[1]:
            U, s, V = algebra.svd(self.M)
            kept = s > _RANK_TOLERANCE * s.max(initial=0.0)
            W[~self.is_penalised] = (V[:, kept] / s[kept]) @ (
                U[:, kept].T @ (self.target[:, None] - self.A @ v)
            )
        return W.T

    def loo_residuals(self, scales: Floats) -> Floats:
        """Return the leave-one-out residuals [n, k] for k scales."""
        W = self.weights(scales).T
        problem = self.problem
        y = problem.y if problem.offset is None else problem.y - problem.offset
        residuals = (y - self.mean_y)[:, None] - (problem.X.times(W) - self.mean_x @ W)
        shrinkage = self.eigenvalues[:, None] / (self.eigenvalues[:, None] + scales[None, :])
        unpenalised_leverage = np.square(self.unpenalised_basis).sum(axis=1)
        one_minus_leverage = (1 - unpenalised_leverage)[:, None] - np.square(self.eigenvectors) @ shrinkage
        return np.asarray(residuals / one_minus_leverage)

    def _find_unpenalised_basis(self) -> Floats:
        """Return an orthonormal basis of the span of intercept and unpenalised features."""
        columns = [self.M]
        if self.problem.has_intercept:
            weights = self.problem.weights
            ones = np.ones(len(self.target)) if weights is None else np.sqrt(weights)
            columns.append(ones[:, None])
        span = np.column_stack(columns)
        if not span.shape[1]:
            return span
        U, s, _ = algebra.svd(span)
        return U[:, s > _RANK_TOLERANCE * s.max(initial=0.0)]
