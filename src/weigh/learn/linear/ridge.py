"""Ridge regression in closed form: one penalty, from moments or, where rows are few, from the rows.

The weights are (gram + diag(l2))⁻¹ cross. With more features than rows the same weights come from a table of
rows by rows: for penalised features A = √s (X − m) diag(l2)^−½ and the others M, the residuals α solve
(A Aᵀ + I) α + M u = √s (y − ȳ), Mᵀ α = 0, and then w = diag(l2)^−½ Aᵀ α.
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
from weigh.learn.linear.matrix import DenseMatrix
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.posterior import regularised_inverse
from weigh.learn.linear.problem import Problem, Solution

# With this many digits left, moments alone are as good as the rows.
_MIN_MOMENT_CONDITION = 1e-8
_MIN_CONDITION = 1e-13
_METHOD = "normal equations by Cholesky"


def solve_ridge(problem: Problem, moments: Moments | None = None) -> Solution:
    """Return the weights of a problem with penalties l2 alone; without any, those of least squares."""
    if not (problem.l2 > 0).any():
        return solve_least_squares(problem, moments)
    if moments is None and needs_conjugate_gradient(problem.X):
        return solve_conjugate_gradient(problem)
    if moments is None and problem.X.width > problem.X.n_rows:
        return _solve_dual(problem)
    moments = Moments.from_problem(problem) if moments is None else moments
    found = _solve_cholesky(moments, problem.l2)
    if found is None:
        return _solve_augmented_system(problem)
    if found.reciprocal_condition >= _MIN_MOMENT_CONDITION:
        return found.solution(moments)
    _, gradient = squared_error_and_gradient(problem, moments, found.w)
    w = found.w + found.solve(gradient - problem.l2 * found.w)
    error, gradient = squared_error_and_gradient(problem, moments, w)
    gap = found.gap(gradient - problem.l2 * w)
    method = f"{_METHOD}, refined from the rows"
    return Solution(w, moments.intercept(w), error / 2 + problem.penalty(w), gap, 1, method)


def solve_ridge_from_moments(moments: Moments, l2: Floats) -> Solution:
    """Return the weights of penalties l2, or of none, where nothing but moments is left of the rows."""
    if not (l2 > 0).any():
        fit = fit_least_squares_from_moments(moments)
        return Solution(fit.w, np.asarray(fit.b), fit.squared_error / 2, fit.gap, 1, fit.method)
    found = _solve_cholesky(moments, l2)
    if found is not None:
        return found.solution(moments)
    inverse = regularised_inverse(moments, l2)
    w = inverse @ moments.cross
    slope = moments.cross - moments.gram @ w - l2 * w
    objective = 0.5 * float(moments.squared_error(w) + l2 @ np.square(w))
    gap = 0.5 * float(slope @ inverse @ slope)
    method = "pseudo-inverse of the moments: features without a penalty repeat each other"
    return Solution(w, moments.intercept(w), objective, gap, 1, method)


@dataclass(frozen=True, eq=False)
class _CholeskySolution:
    """Weights, and the factor of gram + diag(l2) scaled to a unit diagonal."""

    w: Floats
    l2: Floats
    cholesky: Floats
    scale: Floats
    reciprocal_condition: float

    def solve(self, right: Floats) -> Floats:
        return algebra.cholesky_solve(self.cholesky, right / self.scale) / self.scale

    def gap(self, slope: Floats) -> float:
        return 0.5 * float(slope @ self.solve(slope))

    def solution(self, moments: Moments) -> Solution:
        slope = moments.cross - moments.gram @ self.w - self.l2 * self.w
        objective = 0.5 * float(moments.squared_error(self.w) + self.l2 @ np.square(self.w))
        return Solution(self.w, moments.intercept(self.w), objective, self.gap(slope), 1, _METHOD)


def _solve_cholesky(moments: Moments, l2: Floats) -> _CholeskySolution | None:
    if not ((moments.std > 0) | (l2 > 0)).all():
        return None
    scale = np.sqrt(np.diagonal(moments.gram) + l2)
    table = moments.gram / scale
    table /= scale[:, None]
    np.fill_diagonal(table, 1.0)
    lower = algebra.cholesky(table)
    if lower is None:
        return None
    condition = algebra.reciprocal_condition(lower, algebra.one_norm(table))
    if condition < _MIN_CONDITION:
        return None
    w = algebra.cholesky_solve(lower, moments.cross / scale) / scale
    return _CholeskySolution(w, l2, lower, scale, condition)


def _solve_dual(problem: Problem) -> Solution:
    """Solve the table of rows by rows."""
    X, target, mean_x, mean_y = centre_rows(problem)
    held = problem.l2 > 0
    A, M = X[:, held] / np.sqrt(problem.l2[held]), X[:, ~held]
    if M.shape[1] >= len(target):
        return _solve_augmented_system(problem)
    table = A @ A.T
    table[np.diag_indices_from(table)] += 1.0
    lower = algebra.cholesky(table)
    if lower is None:
        return _solve_augmented_system(problem)
    alpha, u = _solve_saddle_point(lower, M, target)
    # Once more, from what is left of the equations.
    left = target - A @ (A.T @ alpha) - alpha - M @ u
    more, more_u = _solve_saddle_point(lower, M, left, -(M.T @ alpha))
    alpha, u = alpha + more, u + more_u
    w = np.empty(problem.X.width)
    w[held], w[~held] = (A.T @ alpha) / np.sqrt(problem.l2[held]), u
    missed = target - X @ w
    objective = 0.5 * float(missed @ missed) + problem.penalty(w)
    # The residuals are a point of the dual once they are orthogonal to what is not penalised.
    dual = missed - _project(M, missed)
    bound = float(dual @ target - 0.5 * dual @ dual - 0.5 * np.square(A.T @ dual).sum())
    gap = max(objective - bound, 0.0)
    return Solution(w, np.asarray(mean_y - mean_x @ w), objective, gap, 1, "table of rows by Cholesky")


def _solve_saddle_point(
    lower: Floats, M: Floats, top: Floats, side: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return α and u of (L Lᵀ) α + M u = top, Mᵀ α = side."""
    first = algebra.cholesky_solve(lower, top)
    if not M.shape[1]:
        return first, np.zeros(0)
    K = algebra.solve_triangular(lower, M)
    wanted = M.T @ first - (0.0 if side is None else side)
    _, s, V = algebra.svd(K)
    kept = s > 1e-12 * s.max(initial=0.0)
    V, s = V[:, kept], s[kept]
    u = V @ ((V.T @ wanted) / s**2)
    return first - algebra.cholesky_solve(lower, M @ u), u


def _project(M: Floats, r: Floats) -> Floats:
    if not M.shape[1]:
        return np.zeros_like(r)
    U, s, _ = algebra.svd(M)
    U = U[:, s > 1e-12 * s.max(initial=0.0)]
    return np.asarray(U @ (U.T @ r))


def _solve_augmented_system(problem: Problem) -> Solution:
    """Solve by singular values of the rows with √l2 rows below: some features repeat each other."""
    A, target, mean_x, mean_y = centre_rows(problem)
    held = np.flatnonzero(problem.l2 > 0)
    below = np.zeros((len(held), problem.X.width))
    below[np.arange(len(held)), held] = np.sqrt(problem.l2[held])
    rows, values = np.vstack([A, below]), np.concatenate([target, np.zeros(len(held))])
    stacked = Problem(DenseMatrix(rows), values, problem.l1, problem.l2, has_intercept=False)
    found = solve_least_squares(stacked)
    b = np.asarray(mean_y - mean_x @ found.w)
    return Solution(found.w, b, found.objective, found.gap, 1, found.method)


@dataclass(frozen=True, eq=False)
class ReducedMoments:
    """Moments without the features that bear no penalty, and the way back to weights.

    `free` is F, [U, U]; `coupling` is E, [U, P]; `yy` is what those features leave of the targets' squares.
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
        """Take the features without a penalty out."""
        held = direction > 0
        root = np.sqrt(direction[held])
        if held.all():
            table, right, yy = moments.gram / root, moments.cross / root, moments.yy
            table /= root[:, None]
            none = np.zeros((0, len(root)))
            return cls(table, right, yy, held, root, np.zeros((0, 0)), none, np.zeros(0))
        free = _unpenalised_inverse_root(moments, ~held)
        across = moments.gram[np.ix_(~held, held)]
        turned, along = free.T @ across, free.T @ moments.cross[~held]
        left = moments.gram[np.ix_(held, held)] - turned.T @ turned
        right = (moments.cross[held] - turned.T @ along) / root
        yy = max(moments.yy - float(along @ along), 0.0)
        table = left / root[:, None] / root[None, :]
        return cls(table, right, yy, held, root, free, free @ turned, free @ along)

    def weights(self, v: Floats) -> Floats:
        """Return the weights [d, k] of columns v [P, k]."""
        w = np.empty((len(self.is_penalised), v.shape[1]))
        w[self.is_penalised] = v / self.sqrt_direction[:, None]
        if len(self.unpenalised_weights):
            w[~self.is_penalised] = self.unpenalised_weights[:, None] - self.coupling @ w[self.is_penalised]
        return w

    def transform_rows(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return centred rows in the table's units, [n, P], and their leverage by what has no penalty."""
        inside = rows[:, self.is_penalised]
        if not len(self.unpenalised_weights):
            return inside / self.sqrt_direction, np.zeros(len(rows))
        outside = rows[:, ~self.is_penalised]
        return (inside - outside @ self.coupling) / self.sqrt_direction, np.square(
            outside @ self.unpenalised_root
        ).sum(axis=1)


def ridge_path(moments: Moments, direction: Floats, scales: Floats) -> Floats:
    """Return the weights [k, d] of the penalties ½ Σ scale · directionⱼ wⱼ², for k scales above zero."""
    reduced = ReducedMoments.from_moments(moments, direction)
    form = algebra.TridiagonalReduction(reduced.gram)
    right = form.apply_q_transpose(reduced.rhs)
    # Below this a scale is lost in the rounding of the table.
    least = 64 * float(np.finfo(np.float64).eps) * float(np.trace(reduced.gram))
    found = [form.solve_with_shift(max(scale, least), right)[0] for scale in scales.tolist()]
    return reduced.weights(form.apply_q(np.column_stack(found))).T


def default_scales(squares: Floats, direction: Floats, k: int = 100) -> Floats:
    """Return scales from a thousand times the features' mean sum of squares down to its millionth."""
    held = direction > 0
    mean = float((squares[held] / direction[held]).mean()) if held.any() else 1.0
    return np.geomspace(1e3, 1e-6, k) * (mean or 1.0)


def _unpenalised_inverse_root(moments: Moments, which: Mask) -> Floats:
    """Return a root of the inverse of the gram of features that bear no penalty."""
    gram = moments.gram[np.ix_(which, which)]
    scale = np.sqrt(np.diagonal(gram))
    usable = bool((moments.std[which] > 0).all())
    lower = algebra.cholesky(gram / scale[:, None] / scale[None, :]) if usable else None
    if lower is None or np.square(np.diagonal(lower)).min() < 1e-12:
        raise DataError(
            "Features without a penalty repeat each other or are constant, so no strength of the penalty on "
            "the others gives them one weight each: leave some of them out, or give them a prior too."
        )
    return algebra.solve_triangular(lower, np.diag(1 / scale)).T


class RowEigendecomposition:
    """The eigenvalues of a table of rows by rows, and the way from them to weights."""

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
        """Return the moments of rows turned to be as many features as rows, and their direction, all ones.

        Evidence is the same of them; where there are features without a penalty it is not.
        """
        turned = DenseMatrix(self.eigenvectors * np.sqrt(self.eigenvalues))
        own = Moments.from_rows(turned, self.target, None, bias=False)
        weights, total = self.problem.weights, self.problem.total_weight
        logs = 0.0 if weights is None else float(np.log(weights).sum())
        if self.problem.has_intercept:
            # The bias has taken one row's worth, and its own share of the density.
            own = replace(own, n_rows=own.n_rows - 1)
            logs -= math.log(total)
        return replace(own, total_weight=total, sum_log_weights=logs), np.ones(turned.width)

    def weights(self, scales: Floats) -> Floats:
        """Return the weights [k, d] of k scales above zero."""
        turned = (self.eigenvectors.T @ self.target)[:, None] / (self.eigenvalues[:, None] + scales[None, :])
        v = self.projected_rows.T @ (self.eigenvectors @ turned)
        W = np.empty((len(self.is_penalised), len(scales)))
        W[self.is_penalised] = v / self.sqrt_direction[:, None]
        if self.M.shape[1]:
            U, s, V = algebra.svd(self.M)
            kept = s > 1e-12 * s.max(initial=0.0)
            W[~self.is_penalised] = (V[:, kept] / s[kept]) @ (
                U[:, kept].T @ (self.target[:, None] - self.A @ v)
            )
        return W.T

    def loo_residuals(self, scales: Floats) -> Floats:
        """Return the residuals [n, k] of every row, had it been left out."""
        W = self.weights(scales).T
        problem = self.problem
        y = problem.y if problem.offset is None else problem.y - problem.offset
        residuals = (y - self.mean_y)[:, None] - (problem.X.times(W) - self.mean_x @ W)
        shares = self.eigenvalues[:, None] / (self.eigenvalues[:, None] + scales[None, :])
        left = (1 - np.square(self.unpenalised_basis).sum(axis=1))[:, None] - np.square(
            self.eigenvectors
        ) @ shares
        return np.asarray(residuals / left)

    def _find_unpenalised_basis(self) -> Floats:
        """Return an orthonormal basis of what the bias and features without a penalty can make."""
        parts = [self.M]
        if self.problem.has_intercept:
            weights = self.problem.weights
            ones = np.ones(len(self.target)) if weights is None else np.sqrt(weights)
            parts.append(ones[:, None])
        table = np.column_stack(parts)
        if not table.shape[1]:
            return table
        U, s, _ = algebra.svd(table)
        return U[:, s > 1e-12 * s.max(initial=0.0)]
