"""Ridge: primal and dual closed forms, paths, and leave-one-out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge, RidgeCV

from tests.learn.linear.designs import law, make_problem, to_sparse
from weigh.errors import DataError
from weigh.learn.linear.cross_validation import ridge_loo_residuals, ridge_loo_validation
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import Problem
from weigh.learn.linear.ridge import (
    RowEigendecomposition,
    default_scales,
    ridge_path,
    solve_ridge,
    solve_ridge_from_moments,
)


def random_problem(seed: int, n: int, d: int, *, bias: bool, free: int = 0) -> Problem:
    rng = np.random.default_rng(seed)
    l2 = rng.uniform(0.2, 3, d)
    l2[:free] = 0.0
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    return make_problem(
        X, rng.normal(size=n), l2, bias=bias, weights=rng.uniform(0.3, 3, n), offset=rng.normal(size=n)
    )


@law
@given(st.integers(0, 10**6), st.integers(1, 15), st.integers(1, 15), st.booleans(), st.integers(0, 3))
def test_the_gradient_is_zero_at_the_solution(seed: int, n: int, d: int, bias: bool, free: int) -> None:
    problem = random_problem(seed, n, d, bias=bias, free=free if min(n, d) > 5 else 0)
    result = solve_ridge(problem)
    X, s = problem.X.dense_columns(np.arange(d)), problem.weights
    r = problem.y - problem.offset - result.b - X @ result.w
    np.testing.assert_allclose(X.T @ (s * r), problem.l2 * result.w, atol=1e-9 * (1 + np.abs(X).sum()))
    if bias:
        assert s @ r == pytest.approx(0.0, abs=1e-9)
    objective = 0.5 * s @ r**2 + 0.5 * problem.l2 @ result.w**2
    assert result.objective == pytest.approx(objective, rel=1e-9)
    assert 0 <= result.gap <= 1e-12 * (1 + objective)


@pytest.mark.parametrize("shape", [(50, 6), (6, 50)])
@pytest.mark.parametrize("bias", [True, False])
def test_the_weights_equal_scikit_learns(shape: tuple[int, int], bias: bool) -> None:
    rng = np.random.default_rng(0)
    X, y, s = rng.normal(size=shape) + 2, rng.normal(size=shape[0]), rng.uniform(0.5, 2, shape[0])
    peer = Ridge(alpha=1.5, fit_intercept=bias, solver="svd").fit(X, y, sample_weight=s)
    for rows in (X, to_sparse(X)):
        result = solve_ridge(make_problem(rows, y, 1.5, bias=bias, weights=s))
        np.testing.assert_allclose(result.w, peer.coef_, rtol=1e-10, atol=1e-13)
        assert float(result.b) == pytest.approx(peer.intercept_, rel=1e-10)


@pytest.mark.parametrize("l2", [1e-10, 1e-6, 1e6, 1e10])
@pytest.mark.parametrize("shape", [(30, 5), (5, 30)])
def test_extreme_penalties_keep_their_digits(l2: float, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=shape), rng.normal(size=shape[0])
    result = solve_ridge(make_problem(X, y, l2))
    U, s, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    kept = s > 1e-12
    expected = Vt[kept].T @ (s[kept] / (s[kept] ** 2 + l2) * (U[:, kept].T @ y))
    np.testing.assert_allclose(result.w, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())


def test_duplicate_unpenalised_features_share_their_weight() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20, 3))
    X = np.column_stack([X, X[:, 0]])
    l2 = np.array([0.0, 1, 1, 0])
    y = rng.normal(size=20)
    result, single = solve_ridge(make_problem(X, y, l2)), solve_ridge(make_problem(X[:, :3], y, l2[:3]))
    assert result.w[0] == pytest.approx(result.w[3], rel=1e-10)
    assert result.w[0] + result.w[3] == pytest.approx(single.w[0], rel=1e-10)
    assert result.objective == pytest.approx(single.objective, rel=1e-12)
    assert "rank 3 of 4 features" in result.method
    from_moments = solve_ridge_from_moments(Moments.from_problem(make_problem(X, y)), l2)
    assert from_moments.objective == pytest.approx(single.objective, rel=1e-10)
    assert "linearly dependent" in from_moments.method


@law
@given(st.integers(0, 10**6), st.integers(1, 15), st.integers(1, 15), st.booleans(), st.booleans())
def test_moments_alone_give_the_same_weights(seed: int, n: int, d: int, bias: bool, free: bool) -> None:
    problem = random_problem(seed, n, d, bias=bias)
    if free and n > d + 5:
        problem = replace(problem, l2=np.zeros(d))
    from_rows = solve_ridge(problem)
    from_moments = solve_ridge_from_moments(Moments.from_problem(problem), problem.l2)
    np.testing.assert_allclose(from_moments.w, from_rows.w, atol=1e-8 * (1 + np.abs(from_rows.w).max()))
    assert float(from_moments.b) == pytest.approx(float(from_rows.b), rel=1e-6, abs=1e-7)
    assert from_moments.objective == pytest.approx(from_rows.objective, rel=1e-8, abs=1e-10)


def test_a_constant_feature_has_weight_zero() -> None:
    X = np.column_stack([np.arange(6.0), np.full(6, 0.1)])
    result = solve_ridge(make_problem(X, np.arange(6.0) ** 2, 1.0))
    assert result.w[1] == 0.0


@law
@given(st.integers(0, 10**6), st.integers(4, 15), st.integers(1, 15), st.booleans(), st.integers(0, 2))
def test_one_decomposition_gives_all_scales(seed: int, n: int, d: int, bias: bool, free: int) -> None:
    problem = random_problem(seed, n, d, bias=bias, free=min(free, d - 1))
    scales = np.array([0.1, 1.0, 7.0])
    expected = np.array([solve_ridge(replace(problem, l2=problem.l2 * scale)).w for scale in scales])
    atol = 1e-6 * (1 + np.abs(expected).max())
    np.testing.assert_allclose(
        ridge_path(Moments.from_problem(problem), problem.l2, scales), expected, atol=atol
    )
    np.testing.assert_allclose(
        RowEigendecomposition(problem, problem.l2).weights(scales), expected, atol=atol
    )


@pytest.mark.parametrize("shape", [(12, 4), (6, 20)])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("free", [0, 2])
def test_the_closed_form_equals_leaving_out_each_row(shape: tuple[int, int], bias: bool, free: int) -> None:
    n, d = shape
    problem = random_problem(7, n, d, bias=bias, free=free)
    scales = np.array([0.5, 3.0])
    X = problem.X.dense_columns(np.arange(d))
    expected = np.empty((n, 2))
    for i in range(n):
        others = np.arange(n) != i
        for j, scale in enumerate(scales):
            scaled = problem.with_penalties(problem.l1, problem.l2 * scale).select_rows(others)
            result = solve_ridge(scaled)
            expected[i, j] = problem.y[i] - problem.offset[i] - result.b - X[i] @ result.w
    np.testing.assert_allclose(
        ridge_loo_residuals(problem, problem.l2, scales), expected, rtol=1e-7, atol=1e-8
    )
    moments = Moments.from_problem(problem)
    np.testing.assert_allclose(
        ridge_loo_residuals(problem, problem.l2, scales, moments), expected, rtol=1e-6, atol=1e-7
    )


@pytest.mark.parametrize("shape", [(60, 5), (12, 30)])
def test_leave_one_out_errors_equal_scikit_learns(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) + 1
    y, alphas = X[:, 0] + rng.normal(size=shape[0]), np.geomspace(0.1, 100, 7)
    peer = RidgeCV(alphas=alphas, store_cv_results=True).fit(X, y)
    result = ridge_loo_validation(make_problem(X, y), np.ones(shape[1]), alphas)
    np.testing.assert_allclose(result.fold_errors, peer.cv_results_, rtol=1e-8)
    assert result.best_scale == peer.alpha_


def test_default_scales_range_from_zero_weights_to_least_squares() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(50, 3)) * 1e4
    y = X @ np.ones(3)
    moments = Moments.from_problem(make_problem(X, y))
    scales = default_scales(np.diagonal(moments.gram), np.ones(3))
    W = ridge_path(moments, np.ones(3), scales)
    assert len(scales) == 100
    assert np.abs(W[0]).max() < 0.01
    np.testing.assert_allclose(W[-1], 1.0, rtol=1e-5)


def test_dependent_unpenalised_features_have_no_path() -> None:
    X = np.column_stack([np.arange(6.0), np.arange(6.0), np.arange(6.0) ** 2])
    moments = Moments.from_problem(make_problem(X, np.arange(6.0)))
    with pytest.raises(DataError, match="Features without a penalty are constant or linearly dependent"):
        ridge_path(moments, np.array([0.0, 0.0, 1.0]), np.ones(1))
