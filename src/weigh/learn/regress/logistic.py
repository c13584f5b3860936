"""Logistic regression with penalties l2: which solver is asked, for two classes and for more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weigh.errors import Separated
from weigh.features.blocks import Floats
from weigh.learn.regress.dual import solve_dual
from weigh.learn.regress.logistic_loss import loss_of
from weigh.learn.regress.matrix import DenseMatrix, Matrix, SparseMatrix, WithOnes
from weigh.learn.regress.newton import MOST_TABLED, Found, Newton
from weigh.learn.regress.problem import Problem, Solution


def solve_logistic(
    problem: Problem, classes: int, tol: float = 1e-6, max_iter: int = 1000, start: Solution | None = None
) -> Solution:
    """Return the best weights; the gap is at most tol times the objective of the model without features.

    Of two classes w is [d] and b a number, of more w is [d, classes] and b [classes].
    """
    problem = problem.counted()
    target = tol * null(problem, classes).objective
    begun = start
    passes = 0
    if classes == 2 and isinstance(problem.X, SparseMatrix) and _suits_dual(problem):
        found, done = solve_dual(problem, problem.X, target, max_iter, start)
        begun, passes = _solution(found, problem, classes), found.iterations
        if done or passes >= max_iter:
            return begun
    solution = _by_newton(problem, classes, target, max_iter - passes, begun)
    return replace(solution, iterations=passes + solution.iterations)


def null(problem: Problem, classes: int) -> Solution:
    """Return the model without features: its bias is the best one, its weights are zero."""
    problem = problem.counted()
    if problem.bias and len(np.unique(problem.y)) < classes:
        raise Separated(
            f"The rows are of {len(np.unique(problem.y))} of {classes} classes, so the best bias is without "
            "bound. Give rows of every class.",
            None,
        )
    shape = (problem.X.width,) if classes == 2 else (problem.X.width, classes)
    if problem.offset is None and problem.bias:
        sums = np.bincount(problem.y.astype(np.int64), problem.weights, classes)
        logs = np.log(sums / sums.sum())
        b = logs[1] - logs[0] if classes == 2 else logs - logs.mean()
        return Solution(np.zeros(shape), np.asarray(b), -float(sums @ logs), 0.0, 0, "counted")
    empty = replace(problem, X=DenseMatrix(np.empty((problem.X.n_rows, 0))), l1=np.empty(0), l2=np.empty(0))
    return replace(_by_newton(empty, classes, 0.0, 100, None), w=np.zeros(shape))


def gradient(problem: Problem, classes: int, w: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the slopes of the objective: for every weight, and for the bias."""
    loss = loss_of(problem, classes)
    S = problem.X.times(w.reshape(problem.X.width, -1)) + b
    slopes = loss.slopes(loss.probabilities(S))
    l2 = problem.l2.reshape(-1, *[1] * (w.ndim - 1))
    return problem.X.transposed_times(slopes).reshape(w.shape) + l2 * w, slopes.sum(axis=0).reshape(
        np.shape(b)
    )


def _suits_dual(problem: Problem) -> bool:
    return problem.X.width > MOST_TABLED and bool(problem.l2.all())


def _by_newton(
    problem: Problem, classes: int, target: float, max_iter: int, start: Solution | None
) -> Solution:
    loss = loss_of(problem, classes)
    X: Matrix = WithOnes(problem.X) if problem.bias else problem.X
    l2 = np.append(problem.l2, 0.0) if problem.bias else problem.l2
    newton = Newton(loss, X, l2, problem.X.width)
    W = np.zeros((X.width, loss.columns))
    if start is not None:
        begun = np.concatenate(
            [start.w.reshape(problem.X.width, -1), *[np.reshape(start.b, (1, -1))] * problem.bias]
        )
        # Far off the loss is all but a straight line, which gives Newton's method nothing to go by.
        if newton.objective(begun, X.times(begun)) < newton.objective(W, X.times(W)):
            W = begun
    return _solution(newton.minimise(W, target, max_iter), problem, classes)


def _solution(found: Found, problem: Problem, classes: int) -> Solution:
    W = found.W[: problem.X.width]
    b = found.W[-1] if problem.bias else np.zeros(found.W.shape[1])
    if classes == 2:
        W, b = W[:, 0], b[0]
    return Solution(W, np.asarray(b), found.objective, found.gap, found.iterations, found.method)
