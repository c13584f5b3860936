"""Where the columns of rows lie, and how far they spread, also where the one is far larger than the other."""

from __future__ import annotations

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.regress.matrix import Matrix, SparseMatrix
from weigh.learn.regress.row_blocks import row_blocks

EPS = float(np.finfo(np.float64).eps)


def means_and_spreads(X: Matrix, weights: Floats | None) -> tuple[Floats, Floats]:
    """Return the mean and the standard deviation of every feature, zero where only rounding varies."""
    s = np.ones(X.n_rows) if weights is None else weights
    total = float(s.sum())
    mean = X.transposed_times(s) / total
    if isinstance(X, SparseMatrix):
        squares = _sparse_squares(X, s, mean)
    else:
        squares = np.zeros(X.width)
        for which, block in row_blocks(X, mean):
            squares += s[which] @ np.square(block)
    spread = np.sqrt(np.maximum(squares, 0.0) / total)
    return mean, np.where(spread > 8 * EPS * np.abs(mean), spread, 0.0)


def _sparse_squares(X: SparseMatrix, s: Floats, mean: Floats) -> Floats:
    """Return sums of squares from the means; what is not stored is zero, and as far from them as they are."""
    held = slice(int(X.indptr[0]), int(X.indptr[-1]))
    indices, begin = X.indices[held], X.indptr - X.indptr[0]
    values = np.ones(len(indices)) if X.values is None else X.values[held]
    away = SparseMatrix(begin, indices, values - mean[indices], X.width).squared_times(s)
    seen = SparseMatrix(begin, indices, None, X.width).transposed_times(s)
    return np.asarray(away + (s.sum() - seen) * np.square(mean))
