"""Dense linear algebra: each decomposition reproduces its matrix and solves its system."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from threadpoolctl import threadpool_info

from tests.learn.linear.designs import law
from weigh import algebra


def positive_definite(seed: int, width: int) -> NDArray[np.float64]:
    """Return a random positive definite matrix."""
    rows = np.random.default_rng(seed).normal(size=(width + 3, width))
    return np.asarray(rows.T @ rows)


@law
@given(st.integers(0, 10**6), st.integers(1, 12), st.floats(0.01, 10), st.integers(1, 4))
def test_the_tridiagonal_form_reproduces_products_solutions_and_determinants(
    seed: int, width: int, shift: float, k: int
) -> None:
    A = positive_definite(seed, width)
    rhs = np.random.default_rng(seed + 1).normal(size=(width, k))
    reduction = algebra.TridiagonalReduction(A)
    rotated = reduction.apply_q_transpose(rhs)
    np.testing.assert_allclose(reduction.apply_q(rotated), rhs, atol=1e-12)
    T = np.diag(reduction.diagonal) + np.diag(reduction.off_diagonal, 1) + np.diag(reduction.off_diagonal, -1)
    np.testing.assert_allclose(reduction.apply_q(T @ rotated), A @ rhs, atol=1e-9)
    x, log_determinant = reduction.solve_with_shift(shift, rotated[:, 0])
    expected = np.linalg.solve(A + shift * np.eye(width), rhs[:, 0])
    np.testing.assert_allclose(reduction.apply_q(x), expected, atol=1e-7)
    assert log_determinant == pytest.approx(np.linalg.slogdet(A + shift * np.eye(width))[1], abs=1e-9)


def test_a_shift_that_leaves_the_matrix_indefinite_is_an_error() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="the shifted matrix is not positive definite"):
        algebra.TridiagonalReduction(-np.eye(3)).solve_with_shift(0.5, np.ones(3))


@law
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_the_cholesky_factor_solves_and_inverts(seed: int, width: int) -> None:
    A = positive_definite(seed, width)
    lower = algebra.cholesky(A)
    assert lower is not None
    rhs = np.random.default_rng(seed + 1).normal(size=width)
    np.testing.assert_allclose(A @ algebra.cholesky_solve(lower, rhs), rhs, atol=1e-7)
    np.testing.assert_allclose(lower @ algebra.solve_triangular(lower, rhs), rhs, atol=1e-8)
    np.testing.assert_allclose(
        lower.T @ algebra.solve_triangular(lower, rhs, transposed=True), rhs, atol=1e-8
    )
    inverse = algebra.cholesky_inverse(lower)
    np.testing.assert_allclose(inverse @ A, np.eye(width), atol=1e-7)
    assert (inverse == inverse.T).all()
    norms = [np.abs(M).sum(axis=0).max() for M in (A, np.linalg.inv(A))]
    # LAPACK estimates: hardly ever below the true value, and rarely far above it.
    rcond = algebra.reciprocal_condition(lower, norms[0])
    assert 0.9 / (norms[0] * norms[1]) <= rcond <= 10 / (norms[0] * norms[1])


def test_blas_gets_its_threads_back_after_the_last_user() -> None:
    def blas_threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    before = blas_threads()
    with algebra.single_thread_blas():
        assert blas_threads() == {1}
        with algebra.single_thread_blas():
            pass
        assert blas_threads() == {1}
    assert blas_threads() == before

    def has_factor(seed: int) -> bool:
        return algebra.cholesky(positive_definite(seed, 80)) is not None

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(has_factor, range(200)))
    assert blas_threads() == before


def test_an_indefinite_matrix_has_no_factor_and_a_singular_system_no_solution() -> None:
    assert algebra.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]])) is None
    assert algebra.solve(np.ones((2, 2)), np.ones(2)) is None


def test_pivoting_takes_the_most_independent_columns_first() -> None:
    order, norms = algebra.pivoted_qr(np.array([[1.0, 0, 2, 1], [0, 3, 0, 3], [0, 0, 0, 0]]))
    assert set(order[:2].tolist()) <= {1, 2, 3}
    assert len(norms) == 3
    assert norms[2] == pytest.approx(0.0, abs=1e-15)


def test_svd_falls_back_to_the_driver_that_converges(monkeypatch):
    matrix = np.arange(12.0).reshape(4, 3) ** 2
    expected, decompose = algebra.svd(matrix), algebra.linalg.svd

    def fail(matrix, lapack_driver="gesdd", **options):
        if lapack_driver == "gesdd":
            raise algebra.linalg.LinAlgError("SVD did not converge")
        return decompose(matrix, lapack_driver=lapack_driver, **options)

    monkeypatch.setattr(algebra.linalg, "svd", fail)
    for found, part in zip(algebra.svd(matrix), expected, strict=True):
        np.testing.assert_allclose(np.abs(found), np.abs(part), atol=1e-9)
