"""Problems for tests of regression, from dense and sparse rows."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from numpy.typing import NDArray

from weigh.learn.linear.least_squares import fit_least_squares, fit_least_squares_from_moments
from weigh.learn.linear.matrix import DenseMatrix, Matrix, SparseMatrix
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.posterior import classical_posterior
from weigh.learn.linear.problem import Problem
from weigh.model.inference import Posterior
from weigh.source.sparse_rows import SparseRows

Floats = NDArray[np.float64]
law = settings(max_examples=60, derandomize=True, deadline=None, database=None)


def to_sparse(X: Floats) -> SparseMatrix:
    """Return an array as compressed sparse rows."""
    return SparseMatrix(SparseRows.from_dense(X != 0, X))


def make_problem(
    X: Floats | Matrix,
    y: Floats,
    l2: Floats | float = 0.0,
    l1: Floats | float = 0.0,
    *,
    bias: bool = True,
    weights: Floats | None = None,
    offset: Floats | None = None,
) -> Problem:
    """Return a problem; a penalty may be one number for all features."""
    rows: Matrix = DenseMatrix(X) if isinstance(X, np.ndarray) else X
    l1, l2 = (np.full(rows.width, p) if np.isscalar(p) else np.asarray(p) for p in (l1, l2))
    return Problem(rows, y, l1, l2, bias, weights, offset)


def centred(X: Floats, weights: Floats, *, bias: bool) -> Floats:
    """Return rows minus their weighted means, or unchanged without a bias."""
    return X - (weights @ X / weights.sum() if bias else 0.0)


def classical(source: Problem | Moments) -> Posterior:
    """Return the classical posterior of least squares, from rows or from moments."""
    if isinstance(source, Moments):
        return classical_posterior(
            fit_least_squares_from_moments(source),
            source.n_rows,
            source.total_weight if source.has_intercept else 0.0,
        )
    n_rows = source.drop_zero_weights().X.n_rows
    return classical_posterior(
        fit_least_squares(source), n_rows, source.total_weight if source.has_intercept else 0.0
    )
