"""Ridge regression in closed form: one penalty, from moments or, where rows are few, from the rows.

The weights are (gram + diag(l2))⁻¹ cross. With more features than rows the same weights come from a table of
rows by rows: for penalised features A = √s (X − m) diag(l2)^−½ and the others M, the residuals α solve
(A Aᵀ + I) α + M u = √s (y − ȳ), Mᵀ α = 0, and then w = diag(l2)^−½ Aᵀ α.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats
from weigh.learn.regress.gradients import asks_for_gradients, solve_by_gradients
from weigh.learn.regress.least_squares import centred, fit_moments, residuals, solve_least_squares
from weigh.learn.regress.matrix import DenseMatrix
from weigh.learn.regress.moments import Moments
from weigh.learn.regress.posterior import inverse_table
from weigh.learn.regress.problem import Problem, Solution

# With this many digits left, moments alone are as good as the rows.
_WELL_CONDITIONED = 1e-8
_CONDITIONED = 1e-13
_METHOD = "normal equations by Cholesky"


def solve_ridge(problem: Problem, moments: Moments | None = None) -> Solution:
    """Return the weights of a problem with penalties l2 alone; without any, those of least squares."""
    if not (problem.l2 > 0).any():
        return solve_least_squares(problem, moments)
    if moments is None and asks_for_gradients(problem.X):
        return solve_by_gradients(problem)
    if moments is None and problem.X.width > problem.X.n_rows:
        return _by_rows(problem)
    moments = Moments.of_problem(problem) if moments is None else moments
    found = _by_cholesky(moments, problem.l2)
    if found is None:
        return _stacked(problem)
    if found.condition >= _WELL_CONDITIONED:
        return found.solution(moments)
    _, gradient = residuals(problem, moments, found.w)
    w = found.w + found.solved(gradient - problem.l2 * found.w)
    error, gradient = residuals(problem, moments, w)
    gap = found.gap(gradient - problem.l2 * w)
    method = f"{_METHOD}, refined from the rows"
    return Solution(w, moments.intercept(w), error / 2 + problem.penalty(w), gap, 1, method)


def solve_moments(moments: Moments, l2: Floats) -> Solution:
    """Return the weights of penalties l2, or of none, where nothing but moments is left of the rows."""
    if not (l2 > 0).any():
        fit = fit_moments(moments)
        return Solution(fit.w, np.asarray(fit.b), fit.squared_error / 2, fit.gap, 1, fit.method)
    found = _by_cholesky(moments, l2)
    if found is not None:
        return found.solution(moments)
    inverse = inverse_table(moments, l2)
    w = inverse @ moments.cross
    slope = moments.cross - moments.gram @ w - l2 * w
    objective = 0.5 * float(moments.squared_error(w) + l2 @ np.square(w))
    gap = 0.5 * float(slope @ inverse @ slope)
    method = "pseudo-inverse of the moments: features without a penalty repeat each other"
    return Solution(w, moments.intercept(w), objective, gap, 1, method)


@dataclass(frozen=True, eq=False)
class _Solved:
    """Weights, and the factor of gram + diag(l2) scaled to a unit diagonal."""

    w: Floats
    l2: Floats
    lower: Floats
    scale: Floats
    condition: float

    def solved(self, right: Floats) -> Floats:
        return algebra.solved(self.lower, right / self.scale) / self.scale

    def gap(self, slope: Floats) -> float:
        return 0.5 * float(slope @ self.solved(slope))

    def solution(self, moments: Moments) -> Solution:
        slope = moments.cross - moments.gram @ self.w - self.l2 * self.w
        objective = 0.5 * float(moments.squared_error(self.w) + self.l2 @ np.square(self.w))
        return Solution(self.w, moments.intercept(self.w), objective, self.gap(slope), 1, _METHOD)


def _by_cholesky(moments: Moments, l2: Floats) -> _Solved | None:
    if not ((moments.spread > 0) | (l2 > 0)).all():
        return None
    scale = np.sqrt(np.diagonal(moments.gram) + l2)
    table = moments.gram / scale
    table /= scale[:, None]
    np.fill_diagonal(table, 1.0)
    lower = algebra.factor(table)
    if lower is None:
        return None
    condition = algebra.reciprocal_condition(lower, algebra.norm(table))
    if condition < _CONDITIONED:
        return None
    w = algebra.solved(lower, moments.cross / scale) / scale
    return _Solved(w, l2, lower, scale, condition)


def _by_rows(problem: Problem) -> Solution:
    """Solve the table of rows by rows."""
    X, target, mean_x, mean_y = centred(problem)
    held = problem.l2 > 0
    A, M = X[:, held] / np.sqrt(problem.l2[held]), X[:, ~held]
    if M.shape[1] >= len(target):
        return _stacked(problem)
    table = A @ A.T
    table[np.diag_indices_from(table)] += 1.0
    lower = algebra.factor(table)
    if lower is None:
        return _stacked(problem)
    alpha, u = _saddle(lower, M, target)
    # Once more, from what is left of the equations.
    left = target - A @ (A.T @ alpha) - alpha - M @ u
    more, more_u = _saddle(lower, M, left, -(M.T @ alpha))
    alpha, u = alpha + more, u + more_u
    w = np.empty(problem.X.width)
    w[held], w[~held] = (A.T @ alpha) / np.sqrt(problem.l2[held]), u
    missed = target - X @ w
    objective = 0.5 * float(missed @ missed) + problem.penalty(w)
    # The residuals are a point of the dual once they are orthogonal to what is not penalised.
    dual = missed - _projected(M, missed)
    bound = float(dual @ target - 0.5 * dual @ dual - 0.5 * np.square(A.T @ dual).sum())
    gap = max(objective - bound, 0.0)
    return Solution(w, np.asarray(mean_y - mean_x @ w), objective, gap, 1, "table of rows by Cholesky")


def _saddle(lower: Floats, M: Floats, top: Floats, side: Floats | None = None) -> tuple[Floats, Floats]:
    """Return α and u of (L Lᵀ) α + M u = top, Mᵀ α = side."""
    first = algebra.solved(lower, top)
    if not M.shape[1]:
        return first, np.zeros(0)
    K = algebra.half_solved(lower, M)
    wanted = M.T @ first - (0.0 if side is None else side)
    _, s, V = algebra.singular(K)
    kept = s > 1e-12 * s.max(initial=0.0)
    V, s = V[:, kept], s[kept]
    u = V @ ((V.T @ wanted) / s**2)
    return first - algebra.solved(lower, M @ u), u


def _projected(M: Floats, r: Floats) -> Floats:
    if not M.shape[1]:
        return np.zeros_like(r)
    U, s, _ = algebra.singular(M)
    U = U[:, s > 1e-12 * s.max(initial=0.0)]
    return np.asarray(U @ (U.T @ r))


def _stacked(problem: Problem) -> Solution:
    """Solve by singular values of the rows with √l2 rows below: some features repeat each other."""
    A, target, mean_x, mean_y = centred(problem)
    held = np.flatnonzero(problem.l2 > 0)
    below = np.zeros((len(held), problem.X.width))
    below[np.arange(len(held)), held] = np.sqrt(problem.l2[held])
    rows, values = np.vstack([A, below]), np.concatenate([target, np.zeros(len(held))])
    stacked = Problem(DenseMatrix(rows), values, problem.l1, problem.l2, bias=False)
    found = solve_least_squares(stacked)
    b = np.asarray(mean_y - mean_x @ found.w)
    return Solution(found.w, b, found.objective, found.gap, 1, found.method)
