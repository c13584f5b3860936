"""Lasso and elastic net for dense and sparse rows, with or without an intercept.

Rows are centred implicitly, so sparse ones stay sparse. With few features the solvers work on one Gram matrix
of all of them; with many, on a working set that grows by the features that violate optimality.
"""

from __future__ import annotations

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.linear.coordinate_descent import GramLoss, GramSolution, gram_lasso_path, solve_gram_lasso
from weigh.learn.linear.matrix import Matrix
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import CentredProblem, Problem, Solution
from weigh.learn.linear.working_set import WorkingSetSolver, make_working_features

# Numbers of features up to which one Gram matrix holds all: for one solution, and for a path.
_MAX_GRAM_FEATURES, _MAX_PATH_GRAM_FEATURES = 600, 5_000
_METHOD = "coordinate descent on the Gram matrix"


def solve_lasso(
    problem: Problem, tol: float = 1e-8, max_iter: int = 10_000, start: Solution | None = None
) -> Solution:
    """Minimise ½ Σ sᵢ (yᵢ − xᵢ·w − b)² + Σ l1ⱼ |wⱼ| + ½ Σ l2ⱼ wⱼ².

    Stops when the gap is at most `tol` times the objective of the model whose l1-penalised weights are all
    zero, or after `max_iter` sweeps.
    """
    start_w = None if start is None else start.w
    if problem.X.width > _MAX_GRAM_FEATURES:
        return WorkingSetSolver(CentredProblem.from_problem(problem)).solve(
            problem.l1, problem.l2, tol, max_iter, start_w
        )
    moments = Moments.from_problem(problem)
    loss = _gram_loss(moments)
    point = solve_gram_lasso(loss, problem.l1, problem.l2, tol=tol, max_iter=max_iter, start=start_w)
    return _to_solution(problem, moments, point)


def prefers_gram(X: Matrix) -> bool:
    """Check whether a path is computed fastest from the moments of the rows."""
    return X.width <= _MAX_GRAM_FEATURES or X.width <= min(_MAX_PATH_GRAM_FEATURES, X.n_rows)


def lasso_path_from_moments(
    moments: Moments, l1: Floats, l2: Floats, scales: Floats, tol: float = 1e-8, max_iter: int = 10_000
) -> tuple[Floats, Floats]:
    """Return the weights [k, d] and gaps [k] for the penalties scale · (l1, l2).

    Descending scales are fastest.
    """
    penalties = [(scale * l1, scale * l2) for scale in np.asarray(scales).tolist()]
    points = gram_lasso_path(_gram_loss(moments), penalties, tol=tol, max_iter=max_iter)
    W = np.array([point.w for point in points]).reshape(len(points), moments.width)
    return W, np.array([point.gap for point in points])


def lasso_path(
    problem: Problem, l1: Floats, l2: Floats, scales: Floats, tol: float = 1e-8, max_iter: int = 10_000
) -> list[Solution]:
    """Return the solutions for the penalties scale · (l1, l2); descending scales are fastest."""
    solver = WorkingSetSolver(CentredProblem.from_problem(problem))
    solutions: list[Solution] = []
    for scale in np.asarray(scales).tolist():
        start = solutions[-1].w if solutions else None
        solutions.append(solver.solve(scale * l1, scale * l2, tol, max_iter, start))
    return solutions


def lasso_lambda_max(problem: Problem) -> float:
    """Return the smallest factor of l1 at which all l1-penalised weights are zero."""
    centred, free = CentredProblem.from_problem(problem), np.flatnonzero(problem.l1 == 0)
    q = centred.cross
    if len(free):
        features = make_working_features(problem.X, centred)
        features.add(free)
        w = np.zeros(problem.X.width)
        loss = features.gram_loss(free)
        w[free] = solve_gram_lasso(loss, problem.l1[free], problem.l2[free], tol=0.0, max_iter=1).w
        q = centred.residual_correlations(centred.target - features.times(w))
    penalised = problem.l1 > 0
    return float(np.max(np.abs(q[penalised]) / problem.l1[penalised], initial=0.0))


def _gram_loss(moments: Moments) -> GramLoss:
    """Return the squared loss of moments, with zeros for constant features."""
    gram, cross = moments.gram, moments.cross
    is_constant = moments.std == 0
    if moments.has_intercept and is_constant.any():
        gram = np.where(is_constant | is_constant[:, None], 0.0, gram)
        cross = np.where(is_constant, 0.0, cross)
    return GramLoss(gram, cross, moments.yy)


def _to_solution(problem: Problem, moments: Moments, point: GramSolution) -> Solution:
    b = moments.mean_y - moments.mean_x @ point.w if problem.has_intercept else 0.0
    squared_error = moments.yy - (moments.cross + point.q) @ point.w
    objective = max(0.0, float(squared_error)) / 2 + problem.penalty(point.w)
    return Solution(point.w, np.asarray(b), objective, point.gap, point.sweeps, _METHOD)
