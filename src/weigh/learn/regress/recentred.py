"""Columns that lie far from zero, counted from their means: with a bias it is the same problem."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.regress.matrix import DenseMatrix
from weigh.learn.regress.problem import Problem, Solution
from weigh.learn.regress.row_blocks import whole
from weigh.learn.regress.spread import means_and_spreads

FAR = 100.0  # spreads that a mean is away from zero
MOST_CELLS = 50_000_000  # that are copied


def recentred(problem: Problem) -> tuple[Problem, Floats | None]:
    """Return a problem whose far columns are counted from their means, and those means; None if none is far.

    Products of numbers far from zero lose the digits in which they differ.
    """
    X = problem.X
    if not problem.bias or X.n_rows * X.width > MOST_CELLS:
        return problem, None
    mean, spread = means_and_spreads(X, problem.weights)
    far = (np.abs(mean) > FAR * spread) & (spread > 0)
    if not far.any():
        return problem, None
    shift = np.where(far, mean, 0.0)
    return replace(problem, X=DenseMatrix(whole(X, shift))), shift


def moved_back(found: Solution, shift: Floats | None) -> Solution:
    """Return a solution of the columns as they are."""
    return found if shift is None else replace(found, b=np.asarray(found.b - shift @ found.w))


def moved_on(start: Solution | None, shift: Floats | None) -> Solution | None:
    """Return a solution of the columns as they are as one of those from their means."""
    if start is None or shift is None:
        return start
    return replace(start, b=np.asarray(start.b + shift @ start.w))
