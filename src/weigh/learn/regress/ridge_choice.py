"""The strength of a ridge penalty, chosen by rows that were not learned from."""

from __future__ import annotations

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats
from weigh.learn.regress.choice import Choice
from weigh.learn.regress.moments import Moments
from weigh.learn.regress.problem import Problem
from weigh.learn.regress.row_blocks import row_blocks
from weigh.learn.regress.row_spectrum import RowSpectrum
from weigh.learn.regress.spectrum import Reduced


def left_out(problem: Problem, direction: Floats, scales: Floats, moments: Moments | None = None) -> Floats:
    """Return the residuals [n, k] of every row, had it been left out, by formula.

    A row of leverage hᵢ = sᵢ (1/N + xᵢᵀ (gram + l2)⁻¹ xᵢ), x from the mean, has the residual rᵢ / (1 − hᵢ).
    """
    if moments is None and problem.X.width > problem.X.n_rows:
        return RowSpectrum(problem, direction).left_out(scales)
    moments = Moments.of_problem(problem) if moments is None else moments
    reduced = Reduced.of(moments, direction)
    values, vectors = algebra.eigen(reduced.table)
    shares = 1 / (np.maximum(values, 0.0)[:, None] + scales[None, :])
    right = (vectors.T @ reduced.right)[:, None] * shares
    W = reduced.weights(vectors @ right)
    y = problem.y if problem.offset is None else problem.y - problem.offset
    found = np.empty((problem.X.n_rows, len(scales)))
    for which, block in row_blocks(problem.X, moments.mean_x if problem.bias else None):
        seen, length = reduced.seen(block)
        leverage = length[:, None] + np.square(seen @ vectors) @ shares
        if problem.bias:
            leverage += 1 / moments.total
        if problem.weights is not None:
            leverage *= problem.weights[which, None]
        found[which] = (y[which, None] - moments.mean_y - block @ W) / (1 - leverage)
    return found


def ridge_left_out(
    problem: Problem, direction: Floats, scales: Floats, moments: Moments | None = None
) -> Choice:
    """Judge every scale by leaving out one row at a time; every row is a fold of its own."""
    weights = np.ones(problem.X.n_rows) if problem.weights is None else problem.weights
    squares = np.square(left_out(problem, direction, scales, moments))
    mean = weights @ squares / weights.sum()
    spread = np.sqrt(weights @ np.square(squares - mean) / weights.sum() / problem.X.n_rows)
    return Choice(scales, squares, np.asarray(mean), np.asarray(spread))
