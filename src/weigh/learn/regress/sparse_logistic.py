"""Logistic regression with l1, of two classes or more: Newton's model of the loss, swept over by columns.

Each round takes the loss as a parabola, of several classes one column of weights after the other, lowers
it with the penalties by coordinate descent over the features that pull, and goes as far towards the point
found as the objective falls. Weights without any penalty and the bias are fitted exactly before a round is
judged by the dual.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.regress.logistic_rounds import LogisticRounds
from weigh.learn.regress.matrix import Matrix
from weigh.learn.regress.problem import Problem, Solution


def solve_sparse_logistic(
    problem: Problem, classes: int, tol: float = 1e-6, max_iter: int = 200, start: Solution | None = None
) -> Solution:
    """Return the weights of least log loss with l1 and l2.

    The gap is at most `tol` times the objective of the model whose weights with l1 are all zero, unless
    `max_iter` rounds did not do. Of two classes w is [d] and b a number, of more w is [d, classes].
    """
    problem = problem.counted()
    size = _size(problem.X)
    if not size:
        return LogisticRounds(problem, classes).solve(problem.l1, problem.l2, tol, max_iter, start)
    # Columns are swept over in single precision, which numbers as large or small as these do not have.
    X = problem.X.scaled(2.0**-size)
    l1, l2 = problem.l1 * 2.0**-size, problem.l2 * 4.0**-size
    begun = None if start is None else replace(start, w=start.w * 2.0**size)
    found = LogisticRounds(replace(problem, X=X), classes).solve(l1, l2, tol, max_iter, begun)
    return replace(found, w=found.w * 2.0**-size)


def _size(X: Matrix) -> int:
    """Return the power of two that entries are about, or zero if single precision holds them."""
    largest = X.largest()
    return 0 if not largest or 1e-15 < largest < 1e15 else round(math.log2(largest))


def sparse_logistic_path(
    problem: Problem,
    l1: Floats,
    l2: Floats,
    scales: Floats,
    classes: int,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> list[Solution]:
    """Return the solutions for the penalties scale · (l1, l2); scales are best given falling."""
    rounds = LogisticRounds(problem.counted(), classes)
    found: list[Solution] = []
    for scale in np.asarray(scales).tolist():
        found.append(rounds.solve(scale * l1, scale * l2, tol, max_iter, found[-1] if found else None))
    return found


def largest_l1_logistic(problem: Problem, classes: int) -> float:
    """Return the least factor of l1 for which all weights with l1 are zero."""
    pulls = np.abs(LogisticRounds(problem.counted(), classes).null_pulls(problem.l1, problem.l2))
    led = problem.l1 > 0
    return float(np.max(pulls[led] / problem.l1[led, None], initial=0.0))
