"""Lasso and elastic net for rows of any storage, with or without a bias.

Rows are seen around their weighted means, which never makes them dense. Features that are few are all put
into one Gram matrix; of many only a working set is solved for, which grows by those that pull more than
their l1.
"""

from __future__ import annotations

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.regress.centred import CentredRows
from weigh.learn.regress.gram_lasso import GramPoint, Quadratic, quadratic_path, solve_gram
from weigh.learn.regress.held import held
from weigh.learn.regress.matrix import Matrix
from weigh.learn.regress.moments import Moments
from weigh.learn.regress.problem import Problem, Solution
from weigh.learn.regress.working_set import WorkingSet

# Up to so many features all are put into one Gram matrix: for one solution, and for a path of them.
_FEW, _SEVERAL = 600, 5_000
_METHOD = "coordinate descent on the Gram matrix"


def solve_lasso(
    problem: Problem, tol: float = 1e-8, max_iter: int = 10_000, start: Solution | None = None
) -> Solution:
    """Return the weights of least squared loss with l1 and l2.

    The gap is at most `tol` times the objective of the model whose weights with l1 are all zero, unless
    `max_iter` sweeps did not do.
    """
    begin = None if start is None else start.w
    if problem.X.width > _FEW:
        return WorkingSet(CentredRows.of(problem)).solve(problem.l1, problem.l2, tol, max_iter, begin)
    moments = Moments.of_problem(problem)
    loss = _loss(moments)
    point = solve_gram(loss, problem.l1, problem.l2, tol=tol, max_iter=max_iter, start=begin)
    return _told(problem, moments, point)


def suits_gram(X: Matrix) -> bool:
    """Tell whether a path over the rows is best computed from their moments."""
    return X.width <= _FEW or X.width <= min(_SEVERAL, X.n_rows)


def gram_path(
    moments: Moments, l1: Floats, l2: Floats, scales: Floats, tol: float = 1e-8, max_iter: int = 10_000
) -> tuple[Floats, Floats]:
    """Return the weights [k, d] for the penalties scale · (l1, l2), and their gaps.

    Scales are best given falling.
    """
    penalties = [(scale * l1, scale * l2) for scale in np.asarray(scales).tolist()]
    points = quadratic_path(_loss(moments), penalties, tol=tol, max_iter=max_iter)
    W = np.array([point.w for point in points]).reshape(len(points), moments.width)
    return W, np.array([point.gap for point in points])


def lasso_path(
    problem: Problem, l1: Floats, l2: Floats, scales: Floats, tol: float = 1e-8, max_iter: int = 10_000
) -> list[Solution]:
    """Return the solutions for the penalties scale · (l1, l2); scales are best given falling."""
    working = WorkingSet(CentredRows.of(problem))
    found: list[Solution] = []
    for scale in np.asarray(scales).tolist():
        start = found[-1].w if found else None
        found.append(working.solve(scale * l1, scale * l2, tol, max_iter, start))
    return found


def largest_l1(problem: Problem) -> float:
    """Return the least factor of l1 for which all weights with l1 are zero."""
    rows, others = CentredRows.of(problem), np.flatnonzero(problem.l1 == 0)
    pulls = rows.cross
    if len(others):
        features = held(problem.X, rows)
        features.add(others)
        w = np.zeros(problem.X.width)
        penalties = problem.l1[others], problem.l2[others]
        w[others] = solve_gram(features.loss(others), *penalties, tol=0.0, max_iter=1).w
        pulls = rows.pulls(rows.target - features.times(w))
    led = problem.l1 > 0
    return float(np.max(np.abs(pulls[led]) / problem.l1[led], initial=0.0))


def _loss(moments: Moments) -> Quadratic:
    """Return the loss of moments, in which constant features have no part."""
    gram, cross = moments.gram, moments.cross
    constant = moments.spread == 0
    if moments.bias and constant.any():
        gram, cross = np.where(constant | constant[:, None], 0.0, gram), np.where(constant, 0.0, cross)
    return Quadratic(gram, cross, moments.yy)


def _told(problem: Problem, moments: Moments, point: GramPoint) -> Solution:
    b = moments.mean_y - moments.mean_x @ point.w if problem.bias else 0.0
    squares = moments.yy - (moments.cross + point.q) @ point.w
    objective = max(0.0, float(squares)) / 2 + problem.penalty(point.w)
    return Solution(point.w, np.asarray(b), objective, point.gap, point.sweeps, _METHOD)
