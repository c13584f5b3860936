"""Dense linear algebra: the only place that asks scipy for LAPACK."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Floats = NDArray[np.float64]


def factor(table: Floats) -> Floats | None:
    """Return the lower triangle L of L Lᵀ = table; None if the table is not positive definite."""
    try:
        lower: Floats = linalg.cholesky(table, lower=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    return lower


def solved(lower: Floats, right: Floats) -> Floats:
    """Return what L Lᵀ maps to the right side."""
    return np.asarray(linalg.cho_solve((lower, True), right, check_finite=False))


def eigen(table: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues of a symmetric table, rising, and its eigenvectors as columns."""
    values, vectors = linalg.eigh(table, driver="evd", check_finite=False)
    return values, vectors
