"""Lasso and elastic net of dense and sparse rows, on a Gram matrix, a working set and columns."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import ElasticNet

from tests.learn.linear.designs import to_sparse
from weigh.learn.linear import lasso, working_set
from weigh.learn.linear.lasso import (
    lasso_lambda_max,
    lasso_path,
    lasso_path_from_moments,
    prefers_gram,
    solve_lasso,
)
from weigh.learn.linear.matrix import DenseMatrix
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import Problem


@pytest.fixture(params=["gram", "working set", "columns"])
def solver(request, monkeypatch):
    """Solve by each method, whatever the width."""
    if request.param != "gram":
        monkeypatch.setattr(lasso, "_MAX_GRAM_FEATURES", 0)
        monkeypatch.setattr(working_set, "_MIN_GROWTH", 3)
    if request.param == "columns":
        monkeypatch.setattr(working_set, "_MAX_GRAM_FEATURES", 0)
    return request.param


def random_rows(seed, n=50, d=20):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6) + 0.5 * (rng.random(d) < 0.3)
    y = X @ (rng.standard_normal(d) * (rng.random(d) < 0.4)) + rng.standard_normal(n) + 3
    return X, y


def make_problem(X, y, l1=3.0, l2=0.0, **kwargs):
    d = X.shape[1]
    return Problem(DenseMatrix(X), y, np.full(d, l1), np.full(d, l2), **kwargs)


def objective(problem, w, b):
    o = 0.0 if problem.offset is None else problem.offset
    s = np.ones(len(problem.y)) if problem.weights is None else problem.weights
    return s @ (problem.y - o - b - problem.X.times(w)) ** 2 / 2 + problem.penalty(w)


def test_one_row_gives_the_soft_thresholded_weight(solver):
    result = solve_lasso(
        make_problem(np.ones((1, 1)), np.full(1, 2.0), l1=0.5, has_intercept=False), tol=1e-12
    )
    assert result.w[0] == pytest.approx(1.5, abs=1e-7 if solver == "columns" else 0)
    assert result.b == 0.0
    assert result.objective == pytest.approx(0.875)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("l2", [0.0, 2.0])
@pytest.mark.parametrize(("n", "d"), [(50, 20), (15, 40)])
def test_the_optimum_equals_scikit_learns(solver, bias, l2, n, d):
    X, y = random_rows(1, n, d)
    problem = make_problem(X, y, l2=l2, has_intercept=bias)
    result = solve_lasso(problem, tol=1e-9, max_iter=10**5)
    alpha, ratio = (3 + l2) / n, 3 / (3 + l2)
    peer = ElasticNet(alpha=alpha, l1_ratio=ratio, fit_intercept=bias, tol=1e-14, max_iter=10**6).fit(X, y)
    assert result.objective == pytest.approx(objective(problem, peer.coef_, peer.intercept_), rel=1e-8)
    assert result.objective == pytest.approx(objective(problem, result.w, result.b), rel=1e-10)
    assert result.gap <= 1e-9 * (y - bias * y.mean()) @ (y - bias * y.mean()) / 2
    assert 0 < (result.w == 0).sum() < d


def test_dense_and_sparse_rows_have_the_same_optimum(solver):
    X, y = random_rows(2)
    s = np.random.default_rng(2).random(50) + 0.5
    problem = make_problem(X, y, weights=s, offset=X[:, 0])
    dense = solve_lasso(problem, tol=1e-11, max_iter=10**5)
    sparse = solve_lasso(replace(problem, X=to_sparse(X)), tol=1e-11, max_iter=10**5)
    assert dense.objective == pytest.approx(sparse.objective, rel=1e-10)
    assert dense.w == pytest.approx(sparse.w, abs=1e-5)
    assert dense.b == pytest.approx(sparse.b, abs=1e-5)


def test_an_integer_weight_equals_repeated_rows(solver):
    X, y = random_rows(3, 30, 12)
    times = np.random.default_rng(3).integers(0, 4, 30)
    weighted = solve_lasso(make_problem(X, y, weights=times.astype(float)), tol=1e-11, max_iter=10**5)
    repeated = solve_lasso(
        make_problem(np.repeat(X, times, 0), np.repeat(y, times)), tol=1e-11, max_iter=10**5
    )
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-9)
    assert weighted.w == pytest.approx(repeated.w, abs=1e-5)


def test_weights_without_l1_have_zero_gradient(solver):
    X, y = random_rows(4)
    problem = make_problem(X, y, l1=5.0)
    problem.l1[[0, 3]] = 0.0
    problem.l2[3] = 2.0
    result = solve_lasso(problem, tol=1e-10, max_iter=10**5)
    correlations = X.T @ (y - result.b - X @ result.w) - problem.l2 * result.w
    assert correlations[[0, 3]] == pytest.approx(0.0, abs=1e-4)
    assert abs(correlations).max() <= 5 + 1e-3
    assert result.gap <= 1e-10 * y @ y


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 12), st.integers(1, 6), st.booleans())
def test_the_gap_bounds_the_suboptimality(seed, n, d, sweeps, bias):
    X, y = random_rows(seed, n, d)
    problem = make_problem(X, y, l1=0.7, has_intercept=bias)
    best = solve_lasso(problem, tol=1e-12)
    working = working_set.WorkingSetSolver(lasso.CentredProblem.from_problem(problem))
    early = working.solve(problem.l1, problem.l2, 1e-12, sweeps, None)
    assert early.objective - best.objective <= early.gap + 1e-9 * (1 + y @ y)


def test_constant_duplicate_and_empty_columns_do_not_change_the_fit(solver):
    X, y = random_rows(5, 40, 6)
    wider = np.hstack([X, np.full((40, 1), 1e6), X[:, :1], np.zeros((40, 1))])
    for rows in (DenseMatrix(wider), to_sparse(wider)):
        problem = Problem(rows, y, np.full(9, 2.0), np.zeros(9))
        result = solve_lasso(problem, tol=1e-9, max_iter=10**5)
        assert result.objective == pytest.approx(
            solve_lasso(make_problem(X, y, l1=2.0), tol=1e-10).objective, rel=1e-7
        )
        assert result.w[[6, 8]] == pytest.approx([0, 0], abs=0)


def test_weights_become_nonzero_just_below_lambda_max(solver):
    X, y = random_rows(6)
    problem = make_problem(X, y, l1=1.0)
    problem.l1[4] = 0.0
    lambda_max = lasso_lambda_max(problem)
    at = solve_lasso(problem.with_penalties(lambda_max * problem.l1, problem.l2), tol=1e-10)
    below = solve_lasso(problem.with_penalties(0.98 * lambda_max * problem.l1, problem.l2), tol=1e-10)
    assert np.flatnonzero(at.w).tolist() == [4]
    assert (below.w != 0).sum() == 2


def test_a_path_equals_separate_solutions():
    X, y = random_rows(7)
    problem, ones, none = make_problem(X, y), np.ones(20), np.zeros(20)
    scales = lasso_lambda_max(make_problem(X, y, l1=1.0)) * np.geomspace(1, 1e-2, 8)
    path = lasso_path(problem, ones, none, scales, tol=1e-11)
    W, gaps = lasso_path_from_moments(Moments.from_problem(problem), ones, none, scales, tol=1e-11)
    for scale, solution, w, gap in zip(scales, path, W, gaps, strict=True):
        alone = solve_lasso(make_problem(X, y, l1=scale), tol=1e-11)
        assert solution.objective == pytest.approx(alone.objective, rel=1e-9)
        assert w == pytest.approx(alone.w, abs=1e-5)
        assert gap <= 1e-11 * y @ y


def test_a_warm_start_converges_at_once():
    X, y = random_rows(8, 60, 700)
    problem = make_problem(X, y, l1=1.0)
    first = solve_lasso(problem, tol=1e-8)
    again = solve_lasso(problem, tol=1e-8, start=first)
    assert again.iterations <= 2
    assert again.objective == pytest.approx(first.objective, rel=1e-8)


def test_paths_prefer_moments_when_rows_outnumber_features():
    assert prefers_gram(DenseMatrix(np.zeros((2_000, 1_000))))
    assert not prefers_gram(DenseMatrix(np.zeros((100, 1_000))))
    assert prefers_gram(DenseMatrix(np.zeros((10, 100))))
