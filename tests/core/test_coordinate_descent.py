"""Coordinate descent against NumPy references."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weigh import _core
from weigh.learn.linear.duality import lasso_dual_bound


def residual_gap(rr, yr, q, l1, l2, cost):
    return max(0.0, rr / 2 + cost - lasso_dual_bound(rr, yr, q, l1, l2))


def soft_threshold(u, l1):
    return np.sign(u) * max(abs(u) - l1, 0.0)


def gram_reference(gram, cross, l1, l2, w, sweeps):
    w = w.copy()
    for _ in range(sweeps):
        for j in range(len(w)):
            curvature = gram[j, j] + l2[j]
            if curvature > 0:
                w[j] = soft_threshold(cross[j] - gram[j] @ w + gram[j, j] * w[j], l1[j]) / curvature
    return w


def moments(rng, n, d):
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7)
    if d > 2:
        X[:, 1] = 0.0
    y = X @ rng.standard_normal(d) + rng.standard_normal(n)
    return X, y, X.T @ X, X.T @ y, float(y @ y)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 9), st.integers(1, 3), st.booleans())
def test_gram_sweeps_equal_the_reference(seed, n, d, sweeps, is_elastic):
    rng = np.random.default_rng(seed)
    _, _, gram, cross, yy = moments(rng, n, d)
    l1, l2 = rng.random(d) + 0.1, rng.random(d) if is_elastic else np.zeros(d)
    w = rng.standard_normal(d)
    found, q = w.copy(), cross - gram @ w
    done, _ = _core.coordinate_descent_gram(gram, cross, yy, l1, l2, 0.0, sweeps, found, q)
    assert done <= sweeps
    expected = gram_reference(gram, cross, l1, l2, w, done)
    assert found == pytest.approx(expected, abs=1e-9)
    assert ((found == 0) == (expected == 0)).all()
    assert q == pytest.approx(cross - gram @ found, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 9), st.booleans())
def test_the_gram_gap_equals_the_reference(seed, n, d, is_elastic):
    rng = np.random.default_rng(seed)
    X, y, gram, cross, yy = moments(rng, n, d)
    l1, l2 = rng.random(d) + 0.1, rng.random(d) * (rng.random(d) < 0.5) if is_elastic else np.zeros(d)
    w = rng.standard_normal(d)
    r = y - X @ w
    _, gap = _core.coordinate_descent_gram(gram, cross, yy, l1, l2, 0.0, 0, w, cross - gram @ w)
    cost = l1 @ abs(w) + l2 @ w**2 / 2
    assert gap == pytest.approx(residual_gap(r @ r, y @ r, X.T @ r, l1, l2, cost), rel=1e-9)


def columns_of(X, active=None):
    width = X.shape[1]
    index_map = np.arange(width, dtype=np.int32) if active is None else active
    indptr = np.arange(0, X.size + 1, width, dtype=np.int64)
    indices = np.tile(np.arange(width, dtype=np.int32), len(X))
    return _core.ColumnSubset(indptr, indices, X.ravel(), index_map, int(index_map.max()) + 1, 2)


def quarters(rng, shape):
    return rng.integers(-8, 9, shape) / 4  # exact in single precision


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_one_column_reaches_its_minimum(seed, bias, double_precision):
    rng = np.random.default_rng(seed)
    X, v, h = quarters(rng, (9, 1)), quarters(rng, 9), rng.integers(1, 5, 9) / 2
    if bias:
        v = v - h @ v / h.sum()
    w = np.zeros(1)
    cd_settings = _core.CoordinateDescentSettings(bias, double_precision, 0.0, 1, 1, 0)
    all_columns = np.zeros(1, np.int32)
    _, shift = _core.coordinate_descent_columns(
        columns_of(X), all_columns, np.ones(1), np.full(1, 0.5), h, h * v, h * v @ X, cd_settings, w
    )
    x = X[:, 0] - (h @ X[:, 0] / h.sum() if bias else 0.0)
    expected = soft_threshold(h * v @ x, 1.0) / (h @ x**2 + 0.5) if np.ptp(X) or not bias else 0.0
    assert w[0] == pytest.approx(expected, abs=1e-6 if not double_precision else 1e-12)
    assert shift == pytest.approx(-w[0] * (h @ X[:, 0]) / h.sum() if bias else 0.0, abs=1e-12)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bias", [False, True])
def test_column_and_gram_descent_reach_the_same_solution(threads, bias):
    rng = np.random.default_rng(5)
    X, y = quarters(rng, (60, 12)), quarters(rng, 60)
    h = rng.integers(1, 5, 60) / 2
    centre = (h @ X / h.sum(), h @ y / h.sum()) if bias else (0.0, 0.0)
    Xc, yc = X - centre[0], y - centre[1]
    l1, l2 = np.full(12, 9.0), np.full(12, 0.25)
    w, total = np.zeros(12), 0.0
    cd_settings = _core.CoordinateDescentSettings(bias, True, 0.0, 200, threads, 7)
    all_columns = np.arange(12, dtype=np.int32)
    for _ in range(5):  # a column that is dropped after two sweeps is tried again in the next call
        u = h * (yc - Xc @ w)
        _, shift = _core.coordinate_descent_columns(
            columns_of(X), all_columns, l1, l2, h, u, u @ X, cd_settings, w
        )
        total += shift
    gram, cross = (Xc.T * h) @ Xc, (Xc.T * h) @ yc
    expected = gram_reference(gram, cross, l1, l2, np.zeros(12), 500)
    assert w == pytest.approx(expected, abs=1e-9)
    assert 0 < (w == 0).sum() < 12
    assert total == pytest.approx(-(centre[0] @ w) if bias else 0.0, abs=1e-9)


def test_single_precision_columns_reach_full_accuracy_through_the_residuals():
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((40, 5)), rng.standard_normal(40)
    w, cd_settings = np.zeros(5), _core.CoordinateDescentSettings(False, True, 0.0, 100, 1, 0)
    all_columns, h, none = np.arange(5, dtype=np.int32), np.ones(40), np.zeros(5)
    for _ in range(4):
        u = y - X @ w
        _core.coordinate_descent_columns(columns_of(X), all_columns, none, none, h, u, u @ X, cd_settings, w)
    assert w == pytest.approx(np.linalg.lstsq(X, y)[0], abs=1e-13)


def test_inactive_columns_are_unchanged():
    rng = np.random.default_rng(6)
    X, y = quarters(rng, (30, 4)), quarters(rng, 30)
    w = np.array([0.0, 5.0, 0.0, 0.0])
    cd_settings = _core.CoordinateDescentSettings(False, True, 0.0, 5, 1, 0)
    active = np.array([0, 3], np.int32)
    u = y - X @ w
    _core.coordinate_descent_columns(
        columns_of(X), active, np.zeros(4), np.zeros(4), np.ones(30), u, u @ X, cd_settings, w
    )
    assert w[1] == 5.0
    assert w[2] == 0.0
    assert w[0] != 0.0


@pytest.mark.parametrize("values", [True, False])
def test_columns_may_be_a_subset_of_the_features_without_values(values):
    rng = np.random.default_rng(7)
    X = (rng.random((20, 5)) < 0.5).astype(float)
    indptr = np.concatenate([[0], np.cumsum((X != 0).sum(1))]).astype(np.int64)
    indices = np.nonzero(X)[1].astype(np.int32)
    index_map = np.array([-1, 1, -1, 0, -1], np.int32)
    column_values = np.ones(len(indices)) if values else None
    columns = _core.ColumnSubset(indptr, indices, column_values, index_map, 2, 1)
    assert len(columns) == 2
    y, w = rng.standard_normal(20), np.zeros(2)
    cd_settings = _core.CoordinateDescentSettings(False, True, 0.0, 300, 1, 0)
    all_columns = np.arange(2, dtype=np.int32)
    _core.coordinate_descent_columns(
        columns, all_columns, np.zeros(2), np.zeros(2), np.ones(20), y, y @ X[:, [3, 1]], cd_settings, w
    )
    assert w == pytest.approx(np.linalg.lstsq(X[:, [3, 1]], y)[0], abs=1e-9)


def test_mismatched_sizes_are_rejected():
    one, two = np.ones(1), np.ones(2)
    with pytest.raises(ValueError, match="gram and cross"):
        _core.coordinate_descent_gram(np.eye(2), one, 1.0, one, one, 0.0, 1, one, one)
    with pytest.raises(ValueError, match="one value per weight"):
        _core.coordinate_descent_gram(np.eye(2), two, 1.0, one, two, 0.0, 1, two, two)
    columns = columns_of(np.ones((3, 1)))
    cd_settings = _core.CoordinateDescentSettings(False, True, 0.0, 1, 1, 0)
    with pytest.raises(ValueError, match="a column index is out of range"):
        _core.coordinate_descent_columns(
            columns, np.ones(1, np.int32), one, one, np.ones(3), np.ones(3), one, cd_settings, one
        )
    with pytest.raises(ValueError, match="h and u must have one value per row"):
        _core.coordinate_descent_columns(
            columns, np.zeros(1, np.int32), one, one, two, two, one, cd_settings, one
        )
    with pytest.raises(ValueError, match="threads must be at least 1"):
        _core.CoordinateDescentSettings(False, True, 0.0, 1, 0, 0)


@pytest.mark.parametrize("is_elastic", [False, True])
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("seed", range(8))
def test_the_gap_bounds_the_suboptimality_of_any_weights(seed: int, scale: float, is_elastic: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 6)) + rng.normal(size=6)
    y = X @ rng.normal(size=6) + rng.normal(size=12)
    l1, l2 = np.full(6, 2.0), np.full(6, 0.5 if is_elastic else 0.0)
    gram, cross, yy = X.T @ X, X.T @ y, float(y @ y)

    def cost(w: Any) -> float:
        return 0.5 * np.square(y - X @ w).sum() + l1 @ np.abs(w) + 0.5 * l2 @ np.square(w)

    best = np.zeros(6)
    for _ in range(5000):  # reference cyclic descent
        for j in range(6):
            gradient = cross[j] - gram[j] @ best + gram[j, j] * best[j]
            best[j] = np.sign(gradient) * max(abs(gradient) - l1[j], 0.0) / (gram[j, j] + l2[j])
    w = scale * rng.normal(size=6)
    _, gap = _core.coordinate_descent_gram(gram, cross, yy, l1, l2, 0.0, 0, w.copy(), cross - gram @ w)
    r = y - X @ w
    reference_gap = residual_gap(r @ r, y @ r, X.T @ r, l1, l2, cost(w) - 0.5 * r @ r)
    assert min(gap, reference_gap) >= cost(w) - cost(best) - 1e-9 * cost(w)
