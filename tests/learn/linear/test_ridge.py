"""Ridge: closed forms of both shapes, all strengths at once, rows left out by formula."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge, RidgeCV

from tests.learn.linear.designs import law, problem, sparse
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


def drawn(seed: int, n: int, d: int, *, bias: bool, free: int = 0) -> Problem:
    draw = np.random.default_rng(seed)
    l2 = draw.uniform(0.2, 3, d)
    l2[:free] = 0.0
    X = draw.normal(size=(n, d)) + draw.normal(size=d)
    return problem(
        X, draw.normal(size=n), l2, bias=bias, weights=draw.uniform(0.3, 3, n), offset=draw.normal(size=n)
    )


@law
@given(st.integers(0, 10**6), st.integers(1, 15), st.integers(1, 15), st.booleans(), st.integers(0, 3))
def test_the_gradient_vanishes_in_both_shapes(seed: int, n: int, d: int, bias: bool, free: int) -> None:
    stated = drawn(seed, n, d, bias=bias, free=free if min(n, d) > 5 else 0)
    found = solve_ridge(stated)
    X, s = stated.X.dense_columns(np.arange(d)), stated.weights
    r = stated.y - stated.offset - found.b - X @ found.w
    np.testing.assert_allclose(X.T @ (s * r), stated.l2 * found.w, atol=1e-9 * (1 + np.abs(X).sum()))
    if bias:
        assert s @ r == pytest.approx(0.0, abs=1e-9)
    objective = 0.5 * s @ r**2 + 0.5 * stated.l2 @ found.w**2
    assert found.objective == pytest.approx(objective, rel=1e-9)
    assert 0 <= found.gap <= 1e-12 * (1 + objective)


@pytest.mark.parametrize("shape", [(50, 6), (6, 50)])
@pytest.mark.parametrize("bias", [True, False])
def test_the_weights_are_those_of_scikit_learn(shape: tuple[int, int], bias: bool) -> None:
    draw = np.random.default_rng(0)
    X, y, s = draw.normal(size=shape) + 2, draw.normal(size=shape[0]), draw.uniform(0.5, 2, shape[0])
    peer = Ridge(alpha=1.5, fit_intercept=bias, solver="svd").fit(X, y, sample_weight=s)
    for rows in (X, sparse(X)):
        found = solve_ridge(problem(rows, y, 1.5, bias=bias, weights=s))
        np.testing.assert_allclose(found.w, peer.coef_, rtol=1e-10, atol=1e-13)
        assert float(found.b) == pytest.approx(peer.intercept_, rel=1e-10)


@pytest.mark.parametrize("strength", [1e-10, 1e-6, 1e6, 1e10])
@pytest.mark.parametrize("shape", [(30, 5), (5, 30)])
def test_extreme_penalties_keep_their_digits(strength: float, shape: tuple[int, int]) -> None:
    draw = np.random.default_rng(1)
    X, y = draw.normal(size=shape), draw.normal(size=shape[0])
    found = solve_ridge(problem(X, y, strength))
    U, s, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    kept = s > 1e-12
    wanted = Vt[kept].T @ (s[kept] / (s[kept] ** 2 + strength) * (U[:, kept].T @ y))
    np.testing.assert_allclose(found.w, wanted, rtol=1e-8, atol=1e-9 * np.abs(wanted).max())


def test_repeated_features_without_a_penalty_share_their_weight() -> None:
    draw = np.random.default_rng(2)
    X = draw.normal(size=(20, 3))
    X = np.column_stack([X, X[:, 0]])
    l2 = np.array([0.0, 1, 1, 0])
    y = draw.normal(size=20)
    found, single = solve_ridge(problem(X, y, l2)), solve_ridge(problem(X[:, :3], y, l2[:3]))
    assert found.w[0] == pytest.approx(found.w[3], rel=1e-10)
    assert found.w[0] + found.w[3] == pytest.approx(single.w[0], rel=1e-10)
    assert found.objective == pytest.approx(single.objective, rel=1e-12)
    assert "rank 3 of 4 features" in found.method
    streamed = solve_ridge_from_moments(Moments.from_problem(problem(X, y)), l2)
    assert streamed.objective == pytest.approx(single.objective, rel=1e-10)
    assert "repeat each other" in streamed.method


@law
@given(st.integers(0, 10**6), st.integers(1, 15), st.integers(1, 15), st.booleans(), st.booleans())
def test_moments_alone_give_the_same_weights(seed: int, n: int, d: int, bias: bool, free: bool) -> None:
    stated = drawn(seed, n, d, bias=bias)
    if free and n > d + 5:
        stated = replace(stated, l2=np.zeros(d))
    rows, sums = solve_ridge(stated), solve_ridge_from_moments(Moments.from_problem(stated), stated.l2)
    np.testing.assert_allclose(sums.w, rows.w, atol=1e-8 * (1 + np.abs(rows.w).max()))
    assert float(sums.b) == pytest.approx(float(rows.b), rel=1e-6, abs=1e-7)
    assert sums.objective == pytest.approx(rows.objective, rel=1e-8, abs=1e-10)


def test_a_constant_feature_weighs_nothing() -> None:
    X = np.column_stack([np.arange(6.0), np.full(6, 0.1)])
    found = solve_ridge(problem(X, np.arange(6.0) ** 2, 1.0))
    assert found.w[1] == 0.0


@law
@given(st.integers(0, 10**6), st.integers(4, 15), st.integers(1, 15), st.booleans(), st.integers(0, 2))
def test_one_decomposition_gives_every_strength(seed: int, n: int, d: int, bias: bool, free: int) -> None:
    stated = drawn(seed, n, d, bias=bias, free=min(free, d - 1))
    scales = np.array([0.1, 1.0, 7.0])
    wanted = np.array([solve_ridge(replace(stated, l2=stated.l2 * scale)).w for scale in scales])
    close = 1e-6 * (1 + np.abs(wanted).max())
    np.testing.assert_allclose(
        ridge_path(Moments.from_problem(stated), stated.l2, scales), wanted, atol=close
    )
    np.testing.assert_allclose(RowEigendecomposition(stated, stated.l2).weights(scales), wanted, atol=close)


@pytest.mark.parametrize("shape", [(12, 4), (6, 20)])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("free", [0, 2])
def test_rows_are_left_out_by_formula(shape: tuple[int, int], bias: bool, free: int) -> None:
    n, d = shape
    stated = drawn(7, n, d, bias=bias, free=free)
    scales = np.array([0.5, 3.0])
    X = stated.X.dense_columns(np.arange(d))
    wanted = np.empty((n, 2))
    for i in range(n):
        rest = np.arange(n) != i
        for j, scale in enumerate(scales):
            part = Problem(
                stated.X.select_rows(rest), stated.y[rest], stated.l1, stated.l2 * scale, bias, stated.weights[rest],
                stated.offset[rest],
            )  # fmt: skip
            found = solve_ridge(part)
            wanted[i, j] = stated.y[i] - stated.offset[i] - found.b - X[i] @ found.w
    np.testing.assert_allclose(ridge_loo_residuals(stated, stated.l2, scales), wanted, rtol=1e-7, atol=1e-8)
    moments = Moments.from_problem(stated)
    np.testing.assert_allclose(
        ridge_loo_residuals(stated, stated.l2, scales, moments), wanted, rtol=1e-6, atol=1e-7
    )


@pytest.mark.parametrize("shape", [(60, 5), (12, 30)])
def test_leaving_one_out_is_that_of_scikit_learn(shape: tuple[int, int]) -> None:
    draw = np.random.default_rng(0)
    X = draw.normal(size=shape) + 1
    y, alphas = X[:, 0] + draw.normal(size=shape[0]), np.geomspace(0.1, 100, 7)
    peer = RidgeCV(alphas=alphas, store_cv_results=True).fit(X, y)
    found = ridge_loo_validation(problem(X, y), np.ones(shape[1]), alphas)
    np.testing.assert_allclose(found.fold_errors, peer.cv_results_, rtol=1e-8)
    assert found.best_scale == peer.alpha_


def test_the_usual_scales_go_from_no_weights_to_nearly_least_squares() -> None:
    draw = np.random.default_rng(5)
    X = draw.normal(size=(50, 3)) * 1e4
    y = X @ np.ones(3)
    moments = Moments.from_problem(problem(X, y))
    scales = default_scales(np.diagonal(moments.gram), np.ones(3))
    W = ridge_path(moments, np.ones(3), scales)
    assert len(scales) == 100
    assert np.abs(W[0]).max() < 0.01
    np.testing.assert_allclose(W[-1], 1.0, rtol=1e-5)


def test_dependent_features_without_a_penalty_have_no_path() -> None:
    X = np.column_stack([np.arange(6.0), np.arange(6.0), np.arange(6.0) ** 2])
    moments = Moments.from_problem(problem(X, np.arange(6.0)))
    with pytest.raises(DataError, match="Features without a penalty repeat each other or are constant"):
        ridge_path(moments, np.array([0.0, 0.0, 1.0]), np.ones(1))
