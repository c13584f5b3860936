"""Dense linear algebra: the only place that asks scipy for LAPACK."""

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

# Measured: on tables of such widths threads of BLAS wait for each other longer than they work, three times
# longer on idle cores and thirty times on busy ones.
_MIN_SINGLE_THREAD_WIDTH, _MAX_SINGLE_THREAD_WIDTH = 64, 2500


class _SingleThreadBlas:
    """BLAS on one thread, as long as anybody asks for it: the setting is one for all threads of Python."""

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
    """Let BLAS work on one thread, for many small products."""
    return _SingleThreadBlas()


def _blas_threads(width: int) -> AbstractContextManager[None]:
    return (
        single_thread_blas()
        if _MIN_SINGLE_THREAD_WIDTH <= width <= _MAX_SINGLE_THREAD_WIDTH
        else nullcontext()
    )


def cholesky(table: Floats) -> Floats | None:
    """Return the lower triangle L of L Lᵀ = table; None if the table is not positive definite."""
    try:
        with _blas_threads(len(table)):
            lower: Floats = linalg.cholesky(table, lower=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    return lower


def cholesky_solve(lower: Floats, right: Floats) -> Floats:
    """Return what L Lᵀ maps to the right side."""
    return np.asarray(linalg.cho_solve((lower, True), right, check_finite=False))


def eigh(table: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues of a symmetric table, rising, and its eigenvectors as columns."""
    with _blas_threads(len(table)):
        values, vectors = linalg.eigh(table, driver="evd", check_finite=False)
    return values, vectors


def solve_triangular(lower: Floats, right: Floats, *, turned: bool = False) -> Floats:
    """Return what L maps to the right side, or what Lᵀ does."""
    trans = "T" if turned else "N"
    return np.asarray(linalg.solve_triangular(lower, right, lower=True, trans=trans, check_finite=False))


def one_norm(table: Floats) -> float:
    """Return the largest sum of a column's sizes."""
    return float(linalg.norm(table, 1, check_finite=False)) if table.size else 0.0


def reciprocal_condition(lower: Floats, norm: float) -> float:
    """Estimate 1 / (‖A‖ ‖A⁻¹‖) of A = L Lᵀ, whose largest sum of a column is the norm."""
    found, _ = linalg.lapack.dpocon(lower, norm, uplo="L")
    return float(found)


def cholesky_inverse(lower: Floats) -> Floats:
    """Return (L Lᵀ)⁻¹, both triangles."""
    with _blas_threads(len(lower)):
        half, _ = linalg.lapack.dpotri(lower, lower=1)
    half = np.tril(half)
    return np.asarray(half + np.tril(half, -1).T)


def qr(rows: Floats) -> tuple[Floats, Floats]:
    """Return Q with orthonormal columns and the upper triangle R, Q R = rows."""
    q, r = linalg.qr(rows, mode="economic", check_finite=False)
    return q, r


def svd(rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Return U, the singular values falling, and V: U diag(s) Vᵀ = rows."""
    u, s, vt = linalg.svd(rows, full_matrices=False, check_finite=False)
    return u, s, vt.T


def pivoted_qr(table: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return an order of the columns, the most independent first, and how much each adds to those before."""
    r, order = linalg.qr(table, mode="r", pivoting=True, check_finite=False)
    return order.astype(np.int64), np.abs(np.diagonal(r))


def solve(table: Floats, right: Floats) -> Floats | None:
    """Return what a square table maps to the right side; None if it is singular."""
    _, _, found, trouble = linalg.lapack.dgesv(table, right)
    return None if trouble else np.asarray(found)


class TridiagonalReduction:
    """A symmetric table turned into one with three diagonals: table = Q T Qᵀ.

    T + shift is factored in a number of steps that grows with its width alone, so many shifts cost no more
    than one; the turn costs a third of an eigendecomposition.
    """

    def __init__(self, table: Floats) -> None:
        self.width = len(table)
        if self.width < 2:
            self.diagonal, self.off_diagonal = np.diagonal(table).copy(), np.zeros(0)
            return
        with _blas_threads(self.width):
            turned, self.diagonal, self.off_diagonal, self.tau, _ = linalg.lapack.dsytrd(
                table, lower=1, lwork=64 * self.width
            )
        self.reflectors = np.asfortranarray(turned[1:, :-1])

    def apply_q_transpose(self, vectors: Floats) -> Floats:
        """Return Qᵀ v of a vector or of columns."""
        return self._apply_reflectors(vectors, "T")

    def apply_q(self, vectors: Floats) -> Floats:
        """Return Q v of a vector or of columns."""
        return self._apply_reflectors(vectors, "N")

    def solve_with_shift(self, shift: float, right: Floats) -> tuple[Floats, float]:
        """Return (T + shift)⁻¹ right and the logarithm of the determinant of T + shift."""
        if self.width < 2:
            return right / (self.diagonal + shift), float(np.log(self.diagonal + shift).sum())
        steps, _, found, trouble = linalg.lapack.dptsv(self.diagonal + shift, self.off_diagonal, right)
        if trouble:
            raise np.linalg.LinAlgError("a shift that does not make the table positive definite")
        return found, float(np.log(steps).sum())

    def _apply_reflectors(self, vectors: Floats, trans: str) -> Floats:
        if self.width < 2:
            return vectors.copy()
        out = np.array(vectors, dtype=np.float64).reshape(self.width, -1)
        # The first row stands still: LAPACK keeps the reflectors as those of a QR factor one row below.
        below = np.asfortranarray(out[1:])
        lwork = 64 * max(1, below.shape[1])
        with _blas_threads(self.width):
            out[1:], _, _ = linalg.lapack.dormqr("L", trans, self.reflectors, self.tau, below, lwork)
        return out.reshape(vectors.shape)
