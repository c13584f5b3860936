"""Log loss with l1, of two classes and more."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from weigh.learn.linear import logistic
from weigh.learn.linear.logistic import l1_logistic_path, logistic_lambda_max, solve_l1_logistic
from weigh.learn.linear.losses import make_loss
from weigh.learn.linear.matrix import DenseMatrix, SparseMatrix
from weigh.learn.linear.problem import Problem


@pytest.fixture(params=["gram", "columns"])
def by(request, monkeypatch):
    """Every way of solving, whatever the sizes."""
    if request.param == "columns":
        monkeypatch.setattr(logistic, "_MAX_GRAM_FEATURES", 0)


def sparse_of(X):
    rows = sp.csr_matrix(X)
    return SparseMatrix(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data, X.shape[1])


def rows_of(seed, n=80, d=15, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7) + 0.3 * (rng.random(d) < 0.3)
    Z = X @ (rng.standard_normal((d, classes)) * (rng.random((d, 1)) < 0.5)) + rng.gumbel(size=(n, classes))
    y = Z.argmax(axis=1)
    y[:classes] = np.arange(classes)
    return X, y.astype(float)


def problem_of(X, y, l1=1.5, l2=0.0, **more):
    d = X.shape[1]
    return Problem(DenseMatrix(X), y, np.full(d, l1), np.full(d, l2), **more)


def cost(problem, classes, w, b):
    S = problem.X.times(w.reshape(problem.X.width, -1)) + b
    return make_loss(problem, classes).value(S) + problem.penalty(w)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("l2", [0.0, 0.7])
@pytest.mark.parametrize(("n", "d", "classes"), [(80, 15, 2), (30, 60, 2), (90, 8, 3)])
def test_the_optimum_is_scikit_learns(by, bias, l2, n, d, classes):
    X, y = rows_of(1, n, d, classes)
    problem = problem_of(X, y, l2=l2, has_intercept=bias)
    found = solve_l1_logistic(problem, classes, tol=1e-9)
    peer = LogisticRegression(
        solver="saga",
        C=1 / (1.5 + l2),
        l1_ratio=1.5 / (1.5 + l2),
        fit_intercept=bias,
        tol=1e-9,
        max_iter=20_000,
    ).fit(X, y)
    w = peer.coef_[0] if classes == 2 else peer.coef_.T
    assert found.objective == pytest.approx(cost(problem, classes, w, peer.intercept_), rel=1e-8)
    assert found.objective == pytest.approx(cost(problem, classes, found.w, found.b), rel=1e-10)
    assert found.gap <= 1e-9 * n * np.log(classes)
    assert 0 < (found.w == 0).sum() < found.w.size


def test_dense_and_sparse_rows_give_the_same(by):
    X, y = rows_of(2)
    s = np.random.default_rng(2).random(80) + 0.5
    problem = problem_of(X, y, weights=s, offset=X[:, 0])
    dense = solve_l1_logistic(problem, 2, tol=1e-10)
    sparse = solve_l1_logistic(replace(problem, X=sparse_of(X)), 2, tol=1e-10)
    assert dense.objective == pytest.approx(sparse.objective, rel=1e-9)
    assert dense.w == pytest.approx(sparse.w, abs=1e-4)
    assert dense.b == pytest.approx(sparse.b, abs=1e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_are_repeated_rows(by, classes):
    X, y = rows_of(3, 60, 8, classes)
    times = np.random.default_rng(3).integers(1, 4, 60)
    weighted = solve_l1_logistic(problem_of(X, y, weights=times.astype(float)), classes, tol=1e-9)
    repeated = solve_l1_logistic(problem_of(np.repeat(X, times, 0), np.repeat(y, times)), classes, tol=1e-9)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
def test_rows_without_weight_do_not_count(by, classes):
    X, y = rows_of(4, 60, 8, classes)
    s = np.where(np.arange(60) % 4 == 3, 0.0, 1.0)
    all_rows, some = problem_of(X, y, weights=s), problem_of(X[s > 0], y[s > 0])
    one, two = (solve_l1_logistic(each, classes, tol=1e-9) for each in (all_rows, some))
    assert one.objective == pytest.approx(two.objective, rel=1e-8)
    l1, l2, scales = np.ones(8), np.zeros(8), np.array([3.0, 1.0])
    paths = [l1_logistic_path(each, l1, l2, scales, classes, tol=1e-9) for each in (all_rows, some)]
    for one, two in zip(*paths, strict=True):
        assert one.objective == pytest.approx(two.objective, rel=1e-8)
    largest = [logistic_lambda_max(each, classes) for each in (all_rows, some)]
    assert largest[0] == pytest.approx(largest[1], rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3), st.integers(0, 4), st.booleans(), st.booleans())
def test_the_gap_bounds_the_suboptimality(seed, classes, rounds, bias, is_elastic):
    X, y = rows_of(seed, 25, 6, classes)
    problem = problem_of(X, y, l1=0.8, l2=0.3 * is_elastic, has_intercept=bias)
    rough = solve_l1_logistic(problem, classes, tol=1e-12, max_iter=rounds)
    best = solve_l1_logistic(problem, classes, tol=1e-9)
    assert rough.objective - best.objective <= rough.gap + 1e-8
    assert best.gap <= 1e-6


def test_weights_without_any_penalty_are_fitted(by):
    X, y = rows_of(4)
    problem = problem_of(X, y, l1=4.0)
    problem.l1[[0, 3]] = 0.0
    problem.l2[3] = 2.0
    found = solve_l1_logistic(problem, 2, tol=1e-9)
    p = 1 / (1 + np.exp(-(X @ found.w + found.b)))
    pulls = X.T @ (y - p) - problem.l2 * found.w
    assert pulls[[0, 3]] == pytest.approx(0.0, abs=1e-4)
    assert (y - p).sum() == pytest.approx(0.0, abs=1e-9)
    assert abs(pulls).max() <= 4 + 1e-3
    assert found.gap <= 1e-9 * 80


def test_constant_repeated_and_empty_columns_do_no_harm(by):
    X, y = rows_of(5, 60, 6)
    more = np.hstack([X, np.full((60, 1), 50.0), X[:, :1], np.zeros((60, 1))])
    plain = solve_l1_logistic(problem_of(X, y), 2, tol=1e-9)
    for rows in (DenseMatrix(more), sparse_of(more)):
        found = solve_l1_logistic(Problem(rows, y, np.full(9, 1.5), np.zeros(9)), 2, tol=1e-8)
        assert found.objective == pytest.approx(plain.objective, rel=1e-7)
        assert found.w[[6, 8]] == pytest.approx([0, 0], abs=0)


@pytest.mark.parametrize("classes", [2, 3])
def test_at_the_largest_l1_all_weights_are_zero_and_below_one_is_not(by, classes):
    X, y = rows_of(6, classes=classes)
    problem = problem_of(X, y, l1=1.0)
    largest = logistic_lambda_max(problem, classes)
    at = solve_l1_logistic(problem_of(X, y, l1=1.000001 * largest), classes, tol=1e-9)
    below = solve_l1_logistic(problem_of(X, y, l1=0.97 * largest), classes, tol=1e-9)
    assert not at.w.any()
    assert 0 < (below.w != 0).any(axis=-1).sum() <= 2


def test_classes_that_a_plane_separates_have_finite_weights_with_l1(by):
    X = np.linspace(-2, 2, 12)[:, None]
    found = solve_l1_logistic(problem_of(X, (X[:, 0] > 0).astype(float), l1=0.01), 2, tol=1e-8)
    assert np.isfinite(found.w).all()
    assert found.gap <= 1e-8 * 12 * np.log(2)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_path_is_what_each_solution_alone_is(by, classes):
    X, y = rows_of(7, 80, 10, classes)
    problem = problem_of(X, y, l1=1.0)
    scales = logistic_lambda_max(problem, classes) * np.geomspace(1, 0.05, 5)
    path = l1_logistic_path(problem, np.ones(10), np.zeros(10), scales, classes, tol=1e-8)
    for scale, one in zip(scales, path, strict=True):
        alone = solve_l1_logistic(problem_of(X, y, l1=scale), classes, tol=1e-8)
        assert one.objective == pytest.approx(alone.objective, rel=1e-7)


def test_more_rounds_lower_the_objective_to_the_same_point_for_any_start(by):
    X, y = rows_of(8)
    problem = problem_of(X, y)
    best = solve_l1_logistic(problem, 2, tol=1e-9)
    start = replace(best, w=np.random.default_rng(8).standard_normal(15), b=np.asarray(0.5))
    again = solve_l1_logistic(problem, 2, tol=1e-9, start=start)
    assert again.objective == pytest.approx(best.objective, rel=1e-8)
