"""Ridge regression in closed form: one penalty, from moments or, where rows are few, from the rows.

The weights are (gram + diag(l2))⁻¹ cross. With more features than rows the same weights come from a table of
rows by rows: for penalised features A = √s (X − m) diag(l2)^−½ and the others M, the residuals α solve
(A Aᵀ + I) α + M u = √s (y − ȳ), Mᵀ α = 0, and then w = diag(l2)^−½ Aᵀ α.
"""

from __future__ import annotations

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats
from weigh.learn.regress.gradients import asks_for_gradients, solve_by_gradients
from weigh.learn.regress.least_squares import centred, residuals, solve_least_squares
from weigh.learn.regress.matrix import DenseMatrix
from weigh.learn.regress.moments import Moments
from weigh.learn.regress.problem import Problem, Solution

# With this many digits left, moments alone are as good as the rows.
_WELL_CONDITIONED = 1e-8
_CONDITIONED = 1e-13


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
    w, lower, scale, condition = found
    method = "normal equations by Cholesky"
    if condition < _WELL_CONDITIONED:
        _, gradient = residuals(problem, moments, w)
        w = w + algebra.solved(lower, (gradient - problem.l2 * w) / scale) / scale
        error, gradient = residuals(problem, moments, w)
        method += ", refined from the rows"
    else:
        error, gradient = float(moments.squared_error(w)), moments.cross - moments.gram @ w
    slope = (gradient - problem.l2 * w) / scale
    gap = 0.5 * float(slope @ algebra.solved(lower, slope))
    return Solution(w, moments.intercept(w), error / 2 + problem.penalty(w), gap, 1, method)


def ridge_from_moments(moments: Moments, l2: Floats) -> Floats | None:
    """Return the weights of moments; None if some features without a penalty repeat each other."""
    found = _by_cholesky(moments, l2)
    return None if found is None else found[0]


def _by_cholesky(moments: Moments, l2: Floats) -> tuple[Floats, Floats, Floats, float] | None:
    """Return weights, the factor of the table scaled to a unit diagonal, the scale, and the condition."""
    diagonal = np.diagonal(moments.gram) + l2
    if not ((moments.spread > 0) | (l2 > 0)).all():
        return None
    scale = np.sqrt(diagonal)
    table = moments.gram / scale[:, None] / scale[None, :]
    np.fill_diagonal(table, 1.0)
    lower = algebra.factor(table)
    if lower is None:
        return None
    condition = algebra.reciprocal_condition(lower, float(np.abs(table).sum(axis=0).max()))
    if condition < _CONDITIONED:
        return None
    return algebra.solved(lower, moments.cross / scale) / scale, lower, scale, condition


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
