"""Least squares: the one solution, the shortest of many, and the proof."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learn.linear.designs import centred, law, problem, sparse
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
def test_the_solution_is_the_shortest_of_the_best(
    seed: int, n: int, d: int, bias: bool, repeated: bool, weighted: bool
) -> None:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d)) + draw.normal(size=d)
    if repeated and d > 2:
        X[:, 0] = X[:, 1] - 2 * X[:, 2]
    y, offset = draw.normal(size=n), draw.normal(size=n)
    s = draw.uniform(0.5, 2, n) if weighted else None
    found = solve_least_squares(problem(X, y, bias=bias, weights=s, offset=offset))
    s = np.ones(n) if s is None else s
    root, v = np.sqrt(s), y - offset
    A = root[:, None] * centred(X, s, bias=bias)
    A[np.abs(A) < 1e-13] = 0.0
    wanted = np.linalg.lstsq(A, root * (v - (s @ v / s.sum() if bias else 0)), rcond=1e-10)[0]
    np.testing.assert_allclose(found.w, wanted, rtol=1e-5, atol=1e-7 * (1 + np.abs(wanted).max(initial=0)))
    objective = 0.5 * s @ np.square(v - found.b - X @ found.w)
    assert found.objective == pytest.approx(objective, rel=1e-9, abs=1e-12)
    best = 0.5 * s @ np.square(v - (s @ (v - X @ wanted) / s.sum() if bias else 0) - X @ wanted)
    assert found.objective - best <= found.gap + 1e-12
    assert found.gap <= 1e-15 * (1 + s @ v**2)


def test_the_rank_is_told_where_the_solution_is_one_of_many() -> None:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(30, 3))
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.full(30, 0.1)])
    found = solve_least_squares(problem(X, draw.normal(size=30)))
    assert found.method == (
        "singular values of the rows: rank 3 of 5 features, so of all solutions the one of least norm"
    )
    assert found.w[4] == 0.0
    wide = solve_least_squares(problem(draw.normal(size=(4, 9)), draw.normal(size=4)))
    assert "rank 3 of 9 features" in wide.method
    assert wide.objective == pytest.approx(0.0, abs=1e-28)
    one = solve_least_squares(problem(X[:, :3], X[:, 0]))
    assert one.method == "normal equations by Cholesky, refined from the rows"


def test_the_shortest_solution_is_short_in_the_features_own_units() -> None:
    x = np.arange(5.0)
    found = solve_least_squares(problem(np.column_stack([x, 1000 * x]), x))
    # w₁ + 1000 w₂ = 1 at the point nearest to zero.
    np.testing.assert_allclose(found.w, np.array([1.0, 1000.0]) / (1 + 1e6), rtol=1e-12)


def test_dummies_of_all_levels_beside_a_bias_are_fitted() -> None:
    codes = np.array([0, 0, 1, 1, 2, 2, 2])
    y = np.array([1.0, 3, 5, 7, 0, 3, 6])
    found = solve_least_squares(problem(np.eye(3)[codes], y))
    np.testing.assert_allclose(found.b + found.w, [2.0, 6.0, 3.0], rtol=1e-12)
    assert found.w.sum() == pytest.approx(0.0, abs=1e-12)


def test_nearly_dependent_features_keep_their_digits() -> None:
    # Powers of a number far from zero: hopeless for plain normal equations.
    x = 50 + np.linspace(0, 1, 40)
    X = np.column_stack([x**k for k in range(1, 5)])
    t = x - 50.5
    exact = np.polynomial.polynomial.Polynomial([3.0, -2, 1, 4, 5])
    found = solve_least_squares(problem(X, exact(t)))
    np.testing.assert_allclose(found.b + X @ found.w, exact(t), rtol=0, atol=1e-6)
    assert found.method == "singular values of the rows"


def test_a_step_from_the_rows_mends_what_the_moments_have_lost() -> None:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(30_000, 60))
    X[:, 1] = X[:, 0] + 1e-4 * X[:, 1]
    y = X @ np.ones(60) + draw.normal(size=30_000)
    found = solve_least_squares(problem(X, y, bias=False))
    assert found.method == "normal equations by Cholesky, refined from the rows"
    np.testing.assert_allclose(found.w, np.linalg.lstsq(X, y, rcond=None)[0], rtol=1e-9)


def test_a_feature_far_from_zero_is_fitted_like_one_that_is_near() -> None:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(200, 3))
    y = X @ [1.0, -2.0, 0.5] + draw.normal(size=200)
    near = solve_least_squares(problem(X, y))
    far = solve_least_squares(problem(X + np.array([2.0**26, 0, -(2.0**25)]), y))
    np.testing.assert_allclose(far.w, near.w, rtol=1e-7)


@law
@given(st.integers(0, 10**6), st.integers(2, 20), st.integers(1, 5), st.booleans())
def test_moments_alone_give_the_same_fit(seed: int, n: int, d: int, repeated: bool) -> None:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d))
    if repeated:
        X = np.column_stack([X, X.sum(axis=1)])
    given_rows = problem(X, draw.normal(size=n))
    rows, sums = (
        fit_least_squares(given_rows),
        fit_least_squares_from_moments(Moments.from_problem(given_rows)),
    )
    if np.abs(rows.covariance_root).max() < 1e3:
        assert rows.rank == sums.rank
        np.testing.assert_allclose(rows.w, sums.w, atol=1e-5 * (1 + np.abs(rows.w).max()))
        np.testing.assert_allclose(
            rows.covariance_root @ rows.covariance_root.T,
            sums.covariance_root @ sums.covariance_root.T,
            rtol=1e-4,
            atol=1e-5,
        )


def test_sparse_rows_give_the_same_fit() -> None:
    draw = np.random.default_rng(4)
    X = draw.normal(size=(60, 5)) * (draw.random((60, 5)) < 0.4)
    y = draw.normal(size=60)
    for bias in (True, False):
        dense, held = (solve_least_squares(problem(rows, y, bias=bias)) for rows in (X, sparse(X)))
        np.testing.assert_allclose(held.w, dense.w, rtol=1e-10)
        wide = problem(sparse(X.T.copy()), y[:5], bias=bias)
        np.testing.assert_allclose(
            solve_least_squares(wide).w,
            solve_least_squares(problem(X.T.copy(), y[:5], bias=bias)).w,
            rtol=1e-9,
        )


def test_no_features_leave_the_mean() -> None:
    y = np.array([1.0, 2, 6])
    found = solve_least_squares(problem(np.zeros((3, 0)), y))
    assert (float(found.b), found.objective) == (3.0, 7.0)
    assert float(solve_least_squares(problem(np.full((3, 1), 7.0), y)).b) == 3.0
    assert float(solve_least_squares(problem(np.zeros((1, 1)), y[:1])).b) == 1.0
