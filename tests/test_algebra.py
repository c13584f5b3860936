"""Dense algebra: every function undoes what its name says."""

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


def table(seed: int, width: int) -> NDArray[np.float64]:
    """Return a positive definite table."""
    rows = np.random.default_rng(seed).normal(size=(width + 3, width))
    return np.asarray(rows.T @ rows)


@law
@given(st.integers(0, 10**6), st.integers(1, 12), st.floats(0.01, 10), st.integers(1, 4))
def test_three_diagonals_stand_for_the_whole_table(seed: int, width: int, shift: float, k: int) -> None:
    A = table(seed, width)
    right = np.random.default_rng(seed + 1).normal(size=(width, k))
    form = algebra.TridiagonalReduction(A)
    turned = form.apply_q_transpose(right)
    np.testing.assert_allclose(form.apply_q(turned), right, atol=1e-12)
    T = np.diag(form.diagonal) + np.diag(form.off_diagonal, 1) + np.diag(form.off_diagonal, -1)
    np.testing.assert_allclose(form.apply_q(T @ turned), A @ right, atol=1e-9)
    found, determinant = form.solve_with_shift(shift, turned[:, 0])
    wanted = np.linalg.solve(A + shift * np.eye(width), right[:, 0])
    np.testing.assert_allclose(form.apply_q(found), wanted, atol=1e-7)
    assert determinant == pytest.approx(np.linalg.slogdet(A + shift * np.eye(width))[1], abs=1e-9)


def test_a_shift_that_is_too_small_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="does not make the table positive definite"):
        algebra.TridiagonalReduction(-np.eye(3)).solve_with_shift(0.5, np.ones(3))


@law
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_a_factor_solves_and_inverts(seed: int, width: int) -> None:
    A = table(seed, width)
    lower = algebra.cholesky(A)
    assert lower is not None
    right = np.random.default_rng(seed + 1).normal(size=width)
    np.testing.assert_allclose(A @ algebra.cholesky_solve(lower, right), right, atol=1e-7)
    np.testing.assert_allclose(lower @ algebra.solve_triangular(lower, right), right, atol=1e-8)
    np.testing.assert_allclose(
        lower.T @ algebra.solve_triangular(lower, right, turned=True), right, atol=1e-8
    )
    inverse = algebra.cholesky_inverse(lower)
    np.testing.assert_allclose(inverse @ A, np.eye(width), atol=1e-7)
    assert (inverse == inverse.T).all()
    norms = [np.abs(each).sum(axis=0).max() for each in (A, np.linalg.inv(A))]
    # An estimate: never below the truth, and rarely above it.
    found = algebra.reciprocal_condition(lower, norms[0])
    assert 0.9 / (norms[0] * norms[1]) <= found <= 10 / (norms[0] * norms[1])


def test_blas_gets_its_threads_back_when_nobody_asks_for_one() -> None:
    def threads() -> set[int]:
        return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}

    before = threads()
    with algebra.single_thread_blas():
        assert threads() == {1}
        with algebra.single_thread_blas():
            pass
        assert threads() == {1}
    assert threads() == before

    def factored(seed: int) -> bool:
        return algebra.cholesky(table(seed, 80)) is not None

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(factored, range(200)))
    assert threads() == before


def test_what_is_not_definite_has_no_factor_and_what_is_singular_no_solution() -> None:
    assert algebra.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]])) is None
    assert algebra.solve(np.ones((2, 2)), np.ones(2)) is None


def test_pivots_take_the_most_independent_columns_first() -> None:
    order, adds = algebra.pivoted_qr(np.array([[1.0, 0, 2, 1], [0, 3, 0, 3], [0, 0, 0, 0]]))
    assert set(order[:2].tolist()) <= {1, 2, 3}
    assert len(adds) == 3
    assert adds[2] == pytest.approx(0.0, abs=1e-15)
