"""Lasso and elastic net from a Gram matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import ElasticNet

from weigh.learn.linear.coordinate_descent import GramLoss, gram_lasso_path, solve_gram_lasso


def random_rows(rng, n, d, *, correlated=False):
    X = rng.standard_normal((n, d))
    if correlated:
        X = np.cumsum(X, axis=1)
    y = X @ (rng.standard_normal(d) * (rng.random(d) < 0.5)) + rng.standard_normal(n)
    return X, y, GramLoss(X.T @ X, X.T @ y, float(y @ y))


def objective(X, y, w, l1, l2):
    r = y - X @ w
    return r @ r / 2 + l1 @ abs(w) + l2 @ w**2 / 2


def test_one_row_gives_the_soft_thresholded_weight():
    result = solve_gram_lasso(
        GramLoss(np.ones((1, 1)), np.full(1, 2.0), 4.0), np.full(1, 0.5), np.zeros(1), tol=1e-12
    )
    assert result.w[0] == 1.5
    assert result.gap == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("correlated", [False, True])
@pytest.mark.parametrize(("n", "d"), [(80, 30), (20, 50)])
@pytest.mark.parametrize("ratio", [1.0, 0.6])
def test_the_optimum_equals_scikit_learns(n, d, ratio, correlated):
    X, y, loss = random_rows(np.random.default_rng(1), n, d, correlated=correlated)
    scale = 0.05 * abs(loss.cross).max()
    l1, l2 = np.full(d, ratio * scale), np.full(d, (1 - ratio) * scale)
    result = solve_gram_lasso(loss, l1, l2, tol=1e-12)
    peer = ElasticNet(alpha=scale / n, l1_ratio=ratio, fit_intercept=False, tol=1e-14, max_iter=10**6).fit(
        X, y
    )
    assert objective(X, y, result.w, l1, l2) == pytest.approx(objective(X, y, peer.coef_, l1, l2), rel=1e-9)
    assert result.gap <= 1e-12 * loss.yy / 2
    assert (result.w == 0).any()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 15), st.integers(1, 10), st.integers(0, 20), st.booleans())
def test_the_gap_bounds_the_suboptimality(seed, n, d, sweeps, is_elastic):
    rng = np.random.default_rng(seed)
    X, y, loss = random_rows(rng, n, d)
    l1, l2 = rng.random(d) * (rng.random(d) < 0.8), rng.random(d) if is_elastic else np.zeros(d)
    early = solve_gram_lasso(loss, l1, l2, tol=0.0, max_iter=sweeps)
    best = solve_gram_lasso(loss, l1, l2, tol=1e-13)
    suboptimality = objective(X, y, early.w, l1, l2) - objective(X, y, best.w, l1, l2)
    assert suboptimality <= early.gap + 1e-9 * loss.yy
    assert best.gap <= 1e-9 * loss.yy


def test_weights_without_l1_have_zero_gradient():
    X, y, loss = random_rows(np.random.default_rng(2), 60, 8)
    l1, l2 = np.full(8, 20.0), np.zeros(8)
    l1[[1, 5]] = 0.0
    l2[5] = 3.0
    result = solve_gram_lasso(loss, l1, l2, tol=1e-12)
    correlations = X.T @ (y - X @ result.w) - l2 * result.w
    assert correlations[[1, 5]] == pytest.approx(0.0, abs=1e-9)
    assert abs(correlations).max() <= 20 + 1e-6
    assert result.q == pytest.approx(X.T @ (y - X @ result.w), abs=1e-9)


@pytest.mark.parametrize("free", [False, True])
def test_duplicate_and_empty_columns_do_not_change_the_fit(free):
    rng = np.random.default_rng(3)
    X, y, _ = random_rows(rng, 40, 5)
    duplicated = np.hstack([X, X, np.zeros((40, 1))])
    loss = GramLoss(duplicated.T @ duplicated, duplicated.T @ y, float(y @ y))
    l1 = np.full(11, 2.0)
    if free:
        l1[[0, 5, 10]] = 0.0
    result = solve_gram_lasso(loss, l1, np.zeros(11), tol=1e-10)
    single = solve_gram_lasso(GramLoss(X.T @ X, X.T @ y, float(y @ y)), l1[:5], np.zeros(5), tol=1e-10)
    assert X @ (result.w[:5] + result.w[5:10]) == pytest.approx(X @ single.w, abs=1e-4)
    assert result.w[10] == 0.0


@pytest.mark.parametrize("correlated", [False, True])
def test_a_path_equals_separate_solutions(correlated):
    X, y, loss = random_rows(np.random.default_rng(4), 100, 25, correlated=correlated)
    ones, none = np.ones(25), np.zeros(25)
    scales = abs(loss.cross).max() * np.geomspace(1, 1e-3, 20)
    path = gram_lasso_path(loss, [(scale * ones, none) for scale in scales], tol=1e-11)
    assert (path[0].w == 0).all()
    for scale, point in zip(scales, path, strict=True):
        alone = solve_gram_lasso(loss, scale * ones, none, tol=1e-11)
        assert point.gap <= 1e-11 * loss.yy / 2
        expected = objective(X, y, alone.w, scale * ones, none)
        assert objective(X, y, point.w, scale * ones, none) == pytest.approx(expected, rel=1e-10)


def test_zero_targets_give_zero_weights():
    result = solve_gram_lasso(GramLoss(np.eye(3), np.zeros(3), 0.0), np.ones(3), np.zeros(3), tol=1e-8)
    assert (result.w == 0).all()
    assert result.gap == 0.0


def test_a_dense_start_reaches_the_same_optimum():
    X, y, loss = random_rows(np.random.default_rng(8), 60, 40, correlated=True)
    l1, l2 = np.full(40, 0.01 * abs(loss.cross).max()), np.zeros(40)
    start = np.random.default_rng(9).standard_normal(40)
    weights = [solve_gram_lasso(loss, l1, l2, tol=1e-12, start=s).w for s in (None, start)]
    cold, warm = (objective(X, y, w, l1, l2) for w in weights)
    assert cold == pytest.approx(warm, rel=1e-10)
