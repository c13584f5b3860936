"""Logistic and softmax regression with l1."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from tests.learn.linear.designs import to_sparse
from weigh.learn.linear import logistic
from weigh.learn.linear.logistic import l1_logistic_path, logistic_lambda_max, solve_l1_logistic
from weigh.learn.linear.losses import make_loss
from weigh.learn.linear.matrix import DenseMatrix
from weigh.learn.linear.problem import Problem


@pytest.fixture(params=["gram", "columns"])
def subproblem(request, monkeypatch):
    """Solve by each kind of subproblem, whatever the width."""
    if request.param == "columns":
        monkeypatch.setattr(logistic, "_MAX_GRAM_FEATURES", 0)


def random_rows(seed, n=80, d=15, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7) + 0.3 * (rng.random(d) < 0.3)
    Z = X @ (rng.standard_normal((d, classes)) * (rng.random((d, 1)) < 0.5)) + rng.gumbel(size=(n, classes))
    y = Z.argmax(axis=1)
    y[:classes] = np.arange(classes)
    return X, y.astype(float)


def make_problem(X, y, l1=1.5, l2=0.0, **kwargs):
    d = X.shape[1]
    return Problem(DenseMatrix(X), y, np.full(d, l1), np.full(d, l2), **kwargs)


def objective(problem, classes, w, b):
    S = problem.X.times(w.reshape(problem.X.width, -1)) + b
    return make_loss(problem, classes).value(S) + problem.penalty(w)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("l2", [0.0, 0.7])
@pytest.mark.parametrize(("n", "d", "classes"), [(80, 15, 2), (30, 60, 2), (90, 8, 3)])
def test_the_optimum_equals_scikit_learns(subproblem, bias, l2, n, d, classes):
    X, y = random_rows(1, n, d, classes)
    problem = make_problem(X, y, l2=l2, has_intercept=bias)
    result = solve_l1_logistic(problem, classes, tol=1e-9)
    peer = LogisticRegression(
        solver="saga",
        C=1 / (1.5 + l2),
        l1_ratio=1.5 / (1.5 + l2),
        fit_intercept=bias,
        tol=1e-9,
        max_iter=20_000,
    ).fit(X, y)
    w = peer.coef_[0] if classes == 2 else peer.coef_.T
    assert result.objective == pytest.approx(objective(problem, classes, w, peer.intercept_), rel=1e-8)
    assert result.objective == pytest.approx(objective(problem, classes, result.w, result.b), rel=1e-10)
    assert result.gap <= 1e-9 * n * np.log(classes)
    assert 0 < (result.w == 0).sum() < result.w.size


def test_dense_and_sparse_rows_have_the_same_optimum(subproblem):
    X, y = random_rows(2)
    s = np.random.default_rng(2).random(80) + 0.5
    problem = make_problem(X, y, weights=s, offset=X[:, 0])
    dense = solve_l1_logistic(problem, 2, tol=1e-10)
    sparse = solve_l1_logistic(replace(problem, X=to_sparse(X)), 2, tol=1e-10)
    assert dense.objective == pytest.approx(sparse.objective, rel=1e-9)
    assert dense.w == pytest.approx(sparse.w, abs=1e-4)
    assert dense.b == pytest.approx(sparse.b, abs=1e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_an_integer_weight_equals_repeated_rows(subproblem, classes):
    X, y = random_rows(3, 60, 8, classes)
    times = np.random.default_rng(3).integers(1, 4, 60)
    weighted = solve_l1_logistic(make_problem(X, y, weights=times.astype(float)), classes, tol=1e-9)
    repeated = solve_l1_logistic(make_problem(np.repeat(X, times, 0), np.repeat(y, times)), classes, tol=1e-9)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
def test_rows_of_weight_zero_are_ignored(subproblem, classes):
    X, y = random_rows(4, 60, 8, classes)
    s = np.where(np.arange(60) % 4 == 3, 0.0, 1.0)
    all_rows, subset = make_problem(X, y, weights=s), make_problem(X[s > 0], y[s > 0])
    full, reduced = (solve_l1_logistic(problem, classes, tol=1e-9) for problem in (all_rows, subset))
    assert full.objective == pytest.approx(reduced.objective, rel=1e-8)
    l1, l2, scales = np.ones(8), np.zeros(8), np.array([3.0, 1.0])
    paths = [l1_logistic_path(problem, l1, l2, scales, classes, tol=1e-9) for problem in (all_rows, subset)]
    for full, reduced in zip(*paths, strict=True):
        assert full.objective == pytest.approx(reduced.objective, rel=1e-8)
    lambda_max = [logistic_lambda_max(problem, classes) for problem in (all_rows, subset)]
    assert lambda_max[0] == pytest.approx(lambda_max[1], rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3), st.integers(0, 4), st.booleans(), st.booleans())
def test_the_gap_bounds_the_suboptimality(seed, classes, rounds, bias, is_elastic):
    X, y = random_rows(seed, 25, 6, classes)
    problem = make_problem(X, y, l1=0.8, l2=0.3 * is_elastic, has_intercept=bias)
    early = solve_l1_logistic(problem, classes, tol=1e-12, max_iter=rounds)
    best = solve_l1_logistic(problem, classes, tol=1e-9)
    assert early.objective - best.objective <= early.gap + 1e-8
    assert best.gap <= 1e-6


def test_unpenalised_weights_have_zero_gradient(subproblem):
    X, y = random_rows(4)
    problem = make_problem(X, y, l1=4.0)
    problem.l1[[0, 3]] = 0.0
    problem.l2[3] = 2.0
    result = solve_l1_logistic(problem, 2, tol=1e-9)
    p = 1 / (1 + np.exp(-(X @ result.w + result.b)))
    correlations = X.T @ (y - p) - problem.l2 * result.w
    assert correlations[[0, 3]] == pytest.approx(0.0, abs=1e-4)
    assert (y - p).sum() == pytest.approx(0.0, abs=1e-9)
    assert abs(correlations).max() <= 4 + 1e-3
    assert result.gap <= 1e-9 * 80


def test_constant_duplicate_and_empty_columns_do_not_change_the_fit(subproblem):
    X, y = random_rows(5, 60, 6)
    wider = np.hstack([X, np.full((60, 1), 50.0), X[:, :1], np.zeros((60, 1))])
    plain = solve_l1_logistic(make_problem(X, y), 2, tol=1e-9)
    for rows in (DenseMatrix(wider), to_sparse(wider)):
        result = solve_l1_logistic(Problem(rows, y, np.full(9, 1.5), np.zeros(9)), 2, tol=1e-8)
        assert result.objective == pytest.approx(plain.objective, rel=1e-7)
        assert result.w[[6, 8]] == pytest.approx([0, 0], abs=0)


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_become_nonzero_just_below_lambda_max(subproblem, classes):
    X, y = random_rows(6, classes=classes)
    problem = make_problem(X, y, l1=1.0)
    lambda_max = logistic_lambda_max(problem, classes)
    at = solve_l1_logistic(make_problem(X, y, l1=1.000001 * lambda_max), classes, tol=1e-9)
    below = solve_l1_logistic(make_problem(X, y, l1=0.97 * lambda_max), classes, tol=1e-9)
    assert not at.w.any()
    assert 0 < (below.w != 0).any(axis=-1).sum() <= 2


def test_separable_classes_have_finite_weights_with_l1(subproblem):
    X = np.linspace(-2, 2, 12)[:, None]
    result = solve_l1_logistic(make_problem(X, (X[:, 0] > 0).astype(float), l1=0.01), 2, tol=1e-8)
    assert np.isfinite(result.w).all()
    assert result.gap <= 1e-8 * 12 * np.log(2)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_path_equals_separate_solutions(subproblem, classes):
    X, y = random_rows(7, 80, 10, classes)
    problem = make_problem(X, y, l1=1.0)
    scales = logistic_lambda_max(problem, classes) * np.geomspace(1, 0.05, 5)
    path = l1_logistic_path(problem, np.ones(10), np.zeros(10), scales, classes, tol=1e-8)
    for scale, solution in zip(scales, path, strict=True):
        alone = solve_l1_logistic(make_problem(X, y, l1=scale), classes, tol=1e-8)
        assert solution.objective == pytest.approx(alone.objective, rel=1e-7)


def test_any_start_reaches_the_same_objective(subproblem):
    X, y = random_rows(8)
    problem = make_problem(X, y)
    best = solve_l1_logistic(problem, 2, tol=1e-9)
    start = replace(best, w=np.random.default_rng(8).standard_normal(15), b=np.asarray(0.5))
    again = solve_l1_logistic(problem, 2, tol=1e-9, start=start)
    assert again.objective == pytest.approx(best.objective, rel=1e-8)
