"""Lasso and elastic net of rows, dense and sparse, few features and many."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import ElasticNet

from weigh.learn.linear import lasso, working_set
from weigh.learn.linear.lasso import (
    lasso_lambda_max,
    lasso_path,
    lasso_path_from_moments,
    prefers_gram,
    solve_lasso,
)
from weigh.learn.linear.matrix import DenseMatrix, SparseMatrix
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import Problem


@pytest.fixture(params=["gram", "working set", "columns"])
def by(request, monkeypatch):
    """Every way of solving, whatever the sizes."""
    if request.param != "gram":
        monkeypatch.setattr(lasso, "_MAX_GRAM_FEATURES", 0)
        monkeypatch.setattr(working_set, "_MIN_GROWTH", 3)
    if request.param == "columns":
        monkeypatch.setattr(working_set, "_MAX_GRAM_FEATURES", 0)
    return request.param


def sparse_of(X):
    rows = sp.csr_matrix(X)
    return SparseMatrix(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data, X.shape[1])


def rows_of(seed, n=50, d=20):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6) + 0.5 * (rng.random(d) < 0.3)
    y = X @ (rng.standard_normal(d) * (rng.random(d) < 0.4)) + rng.standard_normal(n) + 3
    return X, y


def problem_of(X, y, l1=3.0, l2=0.0, **more):
    d = X.shape[1]
    return Problem(DenseMatrix(X), y, np.full(d, l1), np.full(d, l2), **more)


def cost(problem, w, b):
    o = 0.0 if problem.offset is None else problem.offset
    s = np.ones(len(problem.y)) if problem.weights is None else problem.weights
    return s @ (problem.y - o - b - problem.X.times(w)) ** 2 / 2 + problem.penalty(w)


def test_one_point_gives_the_stated_weight(by):
    found = solve_lasso(problem_of(np.ones((1, 1)), np.full(1, 2.0), l1=0.5, has_intercept=False), tol=1e-12)
    assert found.w[0] == pytest.approx(1.5, abs=1e-7 if by == "columns" else 0)
    assert found.b == 0.0
    assert found.objective == pytest.approx(0.875)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("l2", [0.0, 2.0])
@pytest.mark.parametrize(("n", "d"), [(50, 20), (15, 40)])
def test_the_optimum_is_scikit_learns(by, bias, l2, n, d):
    X, y = rows_of(1, n, d)
    problem = problem_of(X, y, l2=l2, has_intercept=bias)
    found = solve_lasso(problem, tol=1e-9, max_iter=10**5)
    alpha, ratio = (3 + l2) / n, 3 / (3 + l2)
    peer = ElasticNet(alpha=alpha, l1_ratio=ratio, fit_intercept=bias, tol=1e-14, max_iter=10**6).fit(X, y)
    assert found.objective == pytest.approx(cost(problem, peer.coef_, peer.intercept_), rel=1e-8)
    assert found.objective == pytest.approx(cost(problem, found.w, found.b), rel=1e-10)
    assert found.gap <= 1e-9 * (y - bias * y.mean()) @ (y - bias * y.mean()) / 2
    assert 0 < (found.w == 0).sum() < d


def test_dense_and_sparse_rows_give_the_same(by):
    X, y = rows_of(2)
    s = np.random.default_rng(2).random(50) + 0.5
    problem = problem_of(X, y, weights=s, offset=X[:, 0])
    dense = solve_lasso(problem, tol=1e-11, max_iter=10**5)
    sparse = solve_lasso(replace(problem, X=sparse_of(X)), tol=1e-11, max_iter=10**5)
    assert dense.objective == pytest.approx(sparse.objective, rel=1e-10)
    assert dense.w == pytest.approx(sparse.w, abs=1e-5)
    assert dense.b == pytest.approx(sparse.b, abs=1e-5)


def test_weights_are_repeated_rows(by):
    X, y = rows_of(3, 30, 12)
    times = np.random.default_rng(3).integers(0, 4, 30)
    weighted = solve_lasso(problem_of(X, y, weights=times.astype(float)), tol=1e-11, max_iter=10**5)
    repeated = solve_lasso(problem_of(np.repeat(X, times, 0), np.repeat(y, times)), tol=1e-11, max_iter=10**5)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-9)
    assert weighted.w == pytest.approx(repeated.w, abs=1e-5)


def test_weights_without_l1_are_fitted_and_stand_aside(by):
    X, y = rows_of(4)
    problem = problem_of(X, y, l1=5.0)
    problem.l1[[0, 3]] = 0.0
    problem.l2[3] = 2.0
    found = solve_lasso(problem, tol=1e-10, max_iter=10**5)
    pulls = X.T @ (y - found.b - X @ found.w) - problem.l2 * found.w
    assert pulls[[0, 3]] == pytest.approx(0.0, abs=1e-4)
    assert abs(pulls).max() <= 5 + 1e-3
    assert found.gap <= 1e-10 * y @ y


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 12), st.integers(1, 6), st.booleans())
def test_the_gap_bounds_the_suboptimality(seed, n, d, sweeps, bias):
    X, y = rows_of(seed, n, d)
    problem = problem_of(X, y, l1=0.7, has_intercept=bias)
    best = solve_lasso(problem, tol=1e-12)
    rows = working_set.WorkingSetSolver(lasso.CentredProblem.from_problem(problem))
    rough = rows.solve(problem.l1, problem.l2, 1e-12, sweeps, None)
    assert rough.objective - best.objective <= rough.gap + 1e-9 * (1 + y @ y)


def test_constant_repeated_and_empty_columns_do_no_harm(by):
    X, y = rows_of(5, 40, 6)
    more = np.hstack([X, np.full((40, 1), 1e6), X[:, :1], np.zeros((40, 1))])
    for rows in (DenseMatrix(more), sparse_of(more)):
        problem = Problem(rows, y, np.full(9, 2.0), np.zeros(9))
        found = solve_lasso(problem, tol=1e-9, max_iter=10**5)
        assert found.objective == pytest.approx(
            solve_lasso(problem_of(X, y, l1=2.0), tol=1e-10).objective, rel=1e-7
        )
        assert found.w[[6, 8]] == pytest.approx([0, 0], abs=0)


def test_at_the_largest_l1_all_weights_are_zero_and_below_one_is_not(by):
    X, y = rows_of(6)
    problem = problem_of(X, y, l1=1.0)
    problem.l1[4] = 0.0
    largest = lasso_lambda_max(problem)
    at = solve_lasso(problem.with_penalties(largest * problem.l1, problem.l2), tol=1e-10)
    below = solve_lasso(problem.with_penalties(0.98 * largest * problem.l1, problem.l2), tol=1e-10)
    assert np.flatnonzero(at.w).tolist() == [4]
    assert (below.w != 0).sum() == 2


def test_a_path_is_what_each_solution_alone_is():
    X, y = rows_of(7)
    problem, ones, none = problem_of(X, y), np.ones(20), np.zeros(20)
    scales = lasso_lambda_max(problem_of(X, y, l1=1.0)) * np.geomspace(1, 1e-2, 8)
    along = lasso_path(problem, ones, none, scales, tol=1e-11)
    W, gaps = lasso_path_from_moments(Moments.from_problem(problem), ones, none, scales, tol=1e-11)
    for scale, one, w, gap in zip(scales, along, W, gaps, strict=True):
        alone = solve_lasso(problem_of(X, y, l1=scale), tol=1e-11)
        assert one.objective == pytest.approx(alone.objective, rel=1e-9)
        assert w == pytest.approx(alone.w, abs=1e-5)
        assert gap <= 1e-11 * y @ y


def test_a_start_is_gone_on_from():
    X, y = rows_of(8, 60, 700)
    problem = problem_of(X, y, l1=1.0)
    first = solve_lasso(problem, tol=1e-8)
    again = solve_lasso(problem, tol=1e-8, start=first)
    assert again.iterations <= 2
    assert again.objective == pytest.approx(first.objective, rel=1e-8)


def test_paths_over_long_rows_are_computed_from_moments():
    assert prefers_gram(DenseMatrix(np.zeros((2_000, 1_000))))
    assert not prefers_gram(DenseMatrix(np.zeros((100, 1_000))))
    assert prefers_gram(DenseMatrix(np.zeros((10, 100))))
