"""Least squares: the unique solution or the one of minimum norm, and its certified gap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learn.linear.designs import centred, law, make_problem, to_sparse
from weigh.learn.linear import least_squares
from weigh.learn.linear.least_squares import (
    fit_least_squares,
    fit_least_squares_from_moments,
    solve_least_squares,
)
from weigh.learn.linear.moments import Moments


@law
@given(
    st.integers(0, 10**6), st.integers(1, 20), st.integers(0, 8), st.booleans(), st.booleans(), st.booleans()
)
def test_the_solution_is_the_minimum_norm_least_squares_solution(
    seed: int, n: int, d: int, bias: bool, is_collinear: bool, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    if is_collinear and d > 2:
        X[:, 0] = X[:, 1] - 2 * X[:, 2]
    y, offset = rng.normal(size=n), rng.normal(size=n)
    s = rng.uniform(0.5, 2, n) if weighted else None
    result = solve_least_squares(make_problem(X, y, bias=bias, weights=s, offset=offset))
    s = np.ones(n) if s is None else s
    root, v = np.sqrt(s), y - offset
    A = root[:, None] * centred(X, s, bias=bias)
    A[np.abs(A) < 1e-13] = 0.0
    expected = np.linalg.lstsq(A, root * (v - (s @ v / s.sum() if bias else 0)), rcond=1e-10)[0]
    np.testing.assert_allclose(
        result.w, expected, rtol=1e-5, atol=1e-7 * (1 + np.abs(expected).max(initial=0))
    )
    objective = 0.5 * s @ np.square(v - result.b - X @ result.w)
    assert result.objective == pytest.approx(objective, rel=1e-9, abs=1e-12)
    best = 0.5 * s @ np.square(v - (s @ (v - X @ expected) / s.sum() if bias else 0) - X @ expected)
    assert result.objective - best <= result.gap + 1e-12
    assert result.gap <= 1e-15 * (1 + s @ v**2)


def test_the_rank_is_reported_if_the_solution_is_not_unique() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.full(30, 0.1)])
    result = solve_least_squares(make_problem(X, rng.normal(size=30)))
    assert result.method == ("singular value decomposition: rank 3 of 5 features, solution of minimum norm")
    assert result.w[4] == 0.0
    wide = solve_least_squares(make_problem(rng.normal(size=(4, 9)), rng.normal(size=4)))
    assert "rank 3 of 9 features" in wide.method
    assert wide.objective == pytest.approx(0.0, abs=1e-28)
    unique = solve_least_squares(make_problem(X[:, :3], X[:, 0]))
    assert unique.method == "normal equations by Cholesky, refined from the rows"


def test_the_norm_is_minimal_in_the_features_own_units() -> None:
    x = np.arange(5.0)
    result = solve_least_squares(make_problem(np.column_stack([x, 1000 * x]), x))
    # The point of w₁ + 1000 w₂ = 1 nearest to zero.
    np.testing.assert_allclose(result.w, np.array([1.0, 1000.0]) / (1 + 1e6), rtol=1e-12)


def test_dummies_of_all_levels_and_an_intercept_are_fitted() -> None:
    codes = np.array([0, 0, 1, 1, 2, 2, 2])
    y = np.array([1.0, 3, 5, 7, 0, 3, 6])
    result = solve_least_squares(make_problem(np.eye(3)[codes], y))
    np.testing.assert_allclose(result.b + result.w, [2.0, 6.0, 3.0], rtol=1e-12)
    assert result.w.sum() == pytest.approx(0.0, abs=1e-12)


def test_nearly_collinear_features_keep_their_digits() -> None:
    # Powers of a number far from zero: too ill-conditioned for the normal equations.
    x = 50 + np.linspace(0, 1, 40)
    X = np.column_stack([x**k for k in range(1, 5)])
    t = x - 50.5
    exact = np.polynomial.polynomial.Polynomial([3.0, -2, 1, 4, 5])
    result = solve_least_squares(make_problem(X, exact(t)))
    np.testing.assert_allclose(result.b + X @ result.w, exact(t), rtol=0, atol=1e-6)
    assert result.method == "singular value decomposition"


def test_refinement_from_the_rows_recovers_lost_digits() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 60))
    X[:, 1] = X[:, 0] + 1e-4 * X[:, 1]
    y = X @ np.ones(60) + rng.normal(size=30_000)
    result = solve_least_squares(make_problem(X, y, bias=False))
    assert result.method == "normal equations by Cholesky, refined from the rows"
    np.testing.assert_allclose(result.w, np.linalg.lstsq(X, y, rcond=None)[0], rtol=1e-9)


def test_shifting_features_far_from_zero_does_not_change_the_weights() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=200)
    near = solve_least_squares(make_problem(X, y))
    far = solve_least_squares(make_problem(X + np.array([2.0**26, 0, -(2.0**25)]), y))
    np.testing.assert_allclose(far.w, near.w, rtol=1e-7)


@law
@given(st.integers(0, 10**6), st.integers(2, 20), st.integers(1, 5), st.booleans())
def test_moments_alone_give_the_same_fit(seed: int, n: int, d: int, is_collinear: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if is_collinear:
        X = np.column_stack([X, X.sum(axis=1)])
    problem = make_problem(X, rng.normal(size=n))
    from_rows = fit_least_squares(problem)
    from_moments = fit_least_squares_from_moments(Moments.from_problem(problem))
    if np.abs(from_rows.covariance_root).max() < 1e3:
        assert from_rows.rank == from_moments.rank
        np.testing.assert_allclose(from_rows.w, from_moments.w, atol=1e-5 * (1 + np.abs(from_rows.w).max()))
        np.testing.assert_allclose(
            from_rows.covariance_root @ from_rows.covariance_root.T,
            from_moments.covariance_root @ from_moments.covariance_root.T,
            rtol=1e-4,
            atol=1e-5,
        )


def test_sparse_rows_give_the_same_fit() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.4)
    y = rng.normal(size=60)
    for bias in (True, False):
        dense, compressed = (
            solve_least_squares(make_problem(rows, y, bias=bias)) for rows in (X, to_sparse(X))
        )
        np.testing.assert_allclose(compressed.w, dense.w, rtol=1e-10)
        wide = make_problem(to_sparse(X.T.copy()), y[:5], bias=bias)
        np.testing.assert_allclose(
            solve_least_squares(wide).w,
            solve_least_squares(make_problem(X.T.copy(), y[:5], bias=bias)).w,
            rtol=1e-9,
        )


def test_without_features_the_intercept_is_the_mean() -> None:
    y = np.array([1.0, 2, 6])
    result = solve_least_squares(make_problem(np.zeros((3, 0)), y))
    assert (float(result.b), result.objective) == (3.0, 7.0)
    assert float(solve_least_squares(make_problem(np.full((3, 1), 7.0), y)).b) == 3.0
    assert float(solve_least_squares(make_problem(np.zeros((1, 1)), y[:1])).b) == 1.0


def test_wide_rows_give_the_solution_of_the_singular_value_decomposition(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A category of nearly as many levels as rows, beside numbers on other scales.
    draw = np.random.default_rng(3)
    levels = draw.integers(0, 300, 320)
    X = np.column_stack([np.eye(300)[levels], draw.normal(size=(320, 40)) * np.logspace(-3, 5, 40)])
    problem = make_problem(X, draw.normal(size=320))
    fast = fit_least_squares(problem)
    monkeypatch.setattr(least_squares, "_MIN_WIDE_ROWS", 10**6)
    slow = fit_least_squares(problem)
    assert fast.rank == slow.rank < 340
    np.testing.assert_allclose(fast.w, slow.w, rtol=1e-6, atol=1e-9 * np.abs(slow.w).max())
    assert fast.squared_error == pytest.approx(slow.squared_error, rel=1e-9)
    assert fast.gap < 1e-15


def test_rows_of_doubtful_rank_are_decomposed_by_svd() -> None:
    draw = np.random.default_rng(3)
    A = draw.normal(size=(310, 400))
    A[0] = A[1] + 1e-6 * A[0]
    assert least_squares._decompose_wide(A[:200]) is None  # few rows
    assert least_squares._decompose_wide(A) is None
    decomposition = least_squares._decompose_wide(A[1:])
    assert decomposition is not None
    U, s, V = decomposition
    np.testing.assert_allclose(U * s @ V.T, A[1:], atol=1e-9)
