"""Lasso and elastic net for rows of any storage, with or without a bias.

Rows are seen around their weighted means, which never makes them dense. Features that are few are all put
into one Gram matrix; of many only a working set is solved for, which grows by those that pull more than
their l1.
"""

from __future__ import annotations

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.linear.coordinate_descent import GramLoss, GramSolution, gram_lasso_path, solve_gram_lasso
from weigh.learn.linear.matrix import Matrix
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import CentredProblem, Problem, Solution
from weigh.learn.linear.working_set import WorkingSetSolver, make_working_features

# Up to so many features all are put into one Gram matrix: for one solution, and for a path of them.
_MAX_GRAM_FEATURES, _MAX_PATH_GRAM_FEATURES = 600, 5_000
_METHOD = "coordinate descent on the Gram matrix"


def solve_lasso(
    problem: Problem, tol: float = 1e-8, max_iter: int = 10_000, start: Solution | None = None
) -> Solution:
    """Return the weights of least squared loss with l1 and l2.

    The gap is at most `tol` times the objective of the model whose weights with l1 are all zero, unless
    `max_iter` sweeps did not do.
    """
    begin = None if start is None else start.w
    if problem.X.width > _MAX_GRAM_FEATURES:
        return WorkingSetSolver(CentredProblem.from_problem(problem)).solve(
            problem.l1, problem.l2, tol, max_iter, begin
        )
    moments = Moments.from_problem(problem)
    loss = _gram_loss(moments)
    point = solve_gram_lasso(loss, problem.l1, problem.l2, tol=tol, max_iter=max_iter, start=begin)
    return _to_solution(problem, moments, point)


def prefers_gram(X: Matrix) -> bool:
    """Tell whether a path over the rows is best computed from their moments."""
    return X.width <= _MAX_GRAM_FEATURES or X.width <= min(_MAX_PATH_GRAM_FEATURES, X.n_rows)


def lasso_path_from_moments(
    moments: Moments, l1: Floats, l2: Floats, scales: Floats, tol: float = 1e-8, max_iter: int = 10_000
) -> tuple[Floats, Floats]:
    """Return the weights [k, d] for the penalties scale · (l1, l2), and their gaps.

    Scales are best given falling.
    """
    penalties = [(scale * l1, scale * l2) for scale in np.asarray(scales).tolist()]
    points = gram_lasso_path(_gram_loss(moments), penalties, tol=tol, max_iter=max_iter)
    W = np.array([point.w for point in points]).reshape(len(points), moments.width)
    return W, np.array([point.gap for point in points])


def lasso_path(
    problem: Problem, l1: Floats, l2: Floats, scales: Floats, tol: float = 1e-8, max_iter: int = 10_000
) -> list[Solution]:
    """Return the solutions for the penalties scale · (l1, l2); scales are best given falling."""
    working = WorkingSetSolver(CentredProblem.from_problem(problem))
    found: list[Solution] = []
    for scale in np.asarray(scales).tolist():
        start = found[-1].w if found else None
        found.append(working.solve(scale * l1, scale * l2, tol, max_iter, start))
    return found


def lasso_lambda_max(problem: Problem) -> float:
    """Return the least factor of l1 for which all weights with l1 are zero."""
    rows, others = CentredProblem.from_problem(problem), np.flatnonzero(problem.l1 == 0)
    pulls = rows.cross
    if len(others):
        features = make_working_features(problem.X, rows)
        features.add(others)
        w = np.zeros(problem.X.width)
        penalties = problem.l1[others], problem.l2[others]
        w[others] = solve_gram_lasso(features.gram_loss(others), *penalties, tol=0.0, max_iter=1).w
        pulls = rows.residual_correlations(rows.target - features.times(w))
    led = problem.l1 > 0
    return float(np.max(np.abs(pulls[led]) / problem.l1[led], initial=0.0))


def _gram_loss(moments: Moments) -> GramLoss:
    """Return the loss of moments, in which constant features have no part."""
    gram, cross = moments.gram, moments.cross
    constant = moments.std == 0
    if moments.has_intercept and constant.any():
        gram, cross = np.where(constant | constant[:, None], 0.0, gram), np.where(constant, 0.0, cross)
    return GramLoss(gram, cross, moments.yy)


def _to_solution(problem: Problem, moments: Moments, point: GramSolution) -> Solution:
    b = moments.mean_y - moments.mean_x @ point.w if problem.has_intercept else 0.0
    squares = moments.yy - (moments.cross + point.q) @ point.w
    objective = max(0.0, float(squares)) / 2 + problem.penalty(point.w)
    return Solution(point.w, np.asarray(b), objective, point.gap, point.sweeps, _METHOD)
