"""Dense linear algebra, the only caller of scipy's LAPACK.

Arguments are not checked for NaN or infinity. `lower` is always the Cholesky factor L of A = L Lᵀ.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from threadpoolctl import ThreadpoolController

Floats = NDArray[np.float64]

# Measured: for matrices of these widths BLAS threads spend more time waiting for each other than working,
# three times as much on idle cores and thirty times on busy ones.
_MIN_SINGLE_THREAD_WIDTH, _MAX_SINGLE_THREAD_WIDTH = 64, 2500


class _SingleThreadBlas:
    """Limit BLAS to one thread while at least one user is inside; the setting is global to the process."""

    def __init__(self) -> None:
        self.lock, self.n_users = Lock(), 0
        self.controller = ThreadpoolController().select(user_api="blas")
        self.original_limits: Any = None

    def __enter__(self) -> None:
        with self.lock:
            if not self.n_users:
                self.original_limits = self.controller.limit(limits=1)
            self.n_users += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.n_users -= 1
            if not self.n_users:
                self.original_limits.restore_original_limits()


@cache
def single_thread_blas() -> _SingleThreadBlas:
    """Return the context manager that limits BLAS to one thread, for many small products."""
    return _SingleThreadBlas()


def _blas_threads(width: int) -> AbstractContextManager[None]:
    is_slow = _MIN_SINGLE_THREAD_WIDTH <= width <= _MAX_SINGLE_THREAD_WIDTH
    return single_thread_blas() if is_slow else nullcontext()


def cholesky(matrix: Floats) -> Floats | None:
    """Return the lower Cholesky factor, or None if the matrix is not positive definite."""
    try:
        with _blas_threads(len(matrix)):
            lower: Floats = linalg.cholesky(matrix, lower=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    return lower


def cholesky_solve(lower: Floats, rhs: Floats) -> Floats:
    """Solve (L Lᵀ) x = rhs."""
    return np.asarray(linalg.cho_solve((lower, True), rhs, check_finite=False))


def cholesky_inverse(lower: Floats) -> Floats:
    """Return (L Lᵀ)⁻¹ with both triangles filled."""
    with _blas_threads(len(lower)):
        half, _ = linalg.lapack.dpotri(lower, lower=1)
    half = np.tril(half)
    return np.asarray(half + np.tril(half, -1).T)


def triangular_inverse(lower: Floats) -> Floats:
    """Return L⁻¹, which is lower triangular too."""
    with _blas_threads(len(lower)):
        inverse, _ = linalg.lapack.dtrtri(lower, lower=1)
    return np.asarray(inverse)


def solve_triangular(lower: Floats, rhs: Floats, *, transposed: bool = False) -> Floats:
    """Solve L x = rhs, or Lᵀ x = rhs if transposed."""
    trans = "T" if transposed else "N"
    return np.asarray(linalg.solve_triangular(lower, rhs, lower=True, trans=trans, check_finite=False))


def solve(matrix: Floats, rhs: Floats) -> Floats | None:
    """Solve a square system by LU decomposition; return None if the matrix is singular."""
    _, _, x, info = linalg.lapack.dgesv(matrix, rhs)
    return None if info else np.asarray(x)


def one_norm(matrix: Floats) -> float:
    """Return ‖A‖₁, the largest absolute column sum."""
    return float(linalg.norm(matrix, 1, check_finite=False)) if matrix.size else 0.0


def reciprocal_condition(lower: Floats, norm: float) -> float:
    """Estimate 1 / (‖A‖₁ ‖A⁻¹‖₁) from the Cholesky factor and the one-norm of A."""
    rcond, _ = linalg.lapack.dpocon(lower, norm, uplo="L")
    return float(rcond)


def eigh(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues of a symmetric matrix in ascending order, and its eigenvectors as columns."""
    with _blas_threads(len(matrix)):
        values, vectors = linalg.eigh(matrix, driver="evd", check_finite=False)
    return values, vectors


def qr(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the economic QR decomposition Q, R."""
    with _blas_threads(min(matrix.shape)):
        q, r = linalg.qr(matrix, mode="economic", check_finite=False)
    return q, r


def pivoted_qr(matrix: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the column order of QR with pivoting, and |diag R|: the norm that each column adds."""
    r, order = linalg.qr(matrix, mode="r", pivoting=True, check_finite=False)
    return order.astype(np.int64), np.abs(np.diagonal(r))


def svd(matrix: Floats) -> tuple[Floats, Floats, Floats]:
    """Return U, the singular values in descending order, and V, with matrix = U diag(s) Vᵀ."""
    with _blas_threads(min(matrix.shape)):
        try:
            u, s, vt = linalg.svd(matrix, full_matrices=False, check_finite=False)
        except linalg.LinAlgError:
            # Divide and conquer does not converge for some matrices; QR iterations are slower but do.
            u, s, vt = linalg.svd(matrix, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    return u, s, vt.T


class TridiagonalReduction:
    """Reduction A = Q T Qᵀ of a symmetric matrix to tridiagonal form.

    Solving with T + shift takes O(width), so many shifts cost about as much as one. The reduction costs a
    third of an eigendecomposition.
    """

    def __init__(self, matrix: Floats) -> None:
        self.width = len(matrix)
        if self.width < 2:
            self.diagonal, self.off_diagonal = np.diagonal(matrix).copy(), np.zeros(0)
            return
        with _blas_threads(self.width):
            reduced, self.diagonal, self.off_diagonal, self.tau, _ = linalg.lapack.dsytrd(
                matrix, lower=1, lwork=64 * self.width
            )
        self.reflectors = np.asfortranarray(reduced[1:, :-1])

    def apply_q_transpose(self, vectors: Floats) -> Floats:
        """Return Qᵀ v for a vector or for columns."""
        return self._apply_reflectors(vectors, "T")

    def apply_q(self, vectors: Floats) -> Floats:
        """Return Q v for a vector or for columns."""
        return self._apply_reflectors(vectors, "N")

    def solve_with_shift(self, shift: float, rhs: Floats) -> tuple[Floats, float]:
        """Solve (T + shift I) x = rhs; return x and log det(T + shift I)."""
        if self.width < 2:
            return rhs / (self.diagonal + shift), float(np.log(self.diagonal + shift).sum())
        pivots, _, x, info = linalg.lapack.dptsv(self.diagonal + shift, self.off_diagonal, rhs)
        if info:
            raise np.linalg.LinAlgError("the shifted matrix is not positive definite")
        return x, float(np.log(pivots).sum())

    def _apply_reflectors(self, vectors: Floats, trans: str) -> Floats:
        if self.width < 2:
            return vectors.copy()
        out = np.array(vectors, dtype=np.float64).reshape(self.width, -1)
        # Q leaves the first row unchanged: LAPACK stores the reflectors as those of a QR one row below.
        below = np.asfortranarray(out[1:])
        lwork = 64 * max(1, below.shape[1])
        with _blas_threads(self.width):
            out[1:], _, _ = linalg.lapack.dormqr("L", trans, self.reflectors, self.tau, below, lwork)
        return out.reshape(vectors.shape)
