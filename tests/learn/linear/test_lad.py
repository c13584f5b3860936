"""Least absolute deviations: the minimum of a linear program, certified by the dual."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.linear_model import QuantileRegressor

from tests.learn.linear.designs import Floats, law, make_problem, to_sparse
from weigh.learn.linear.interior_point import LadProblem
from weigh.learn.linear.lad import lad_dual_bound, solve_lad
from weigh.learn.linear.moments import Moments


def linear_program_minimum(X: Floats, y: Floats, s: Floats, l1: Floats, *, bias: bool) -> float:
    """Return the minimum of the equivalent linear program."""
    ones = np.ones((len(y), int(bias)))
    A_eq = np.hstack([X, -X, ones, -ones, np.eye(len(y)), -np.eye(len(y))])
    cost = np.concatenate([l1, l1, np.zeros(2 * bias), s, s])
    return float(linprog(cost, A_eq=A_eq, b_eq=y, method="highs").fun)


@law
@given(
    st.integers(0, 10**6),
    st.integers(1, 30),
    st.integers(0, 6),
    st.booleans(),
    st.sampled_from(["", "integers", "collinear"]),
)
def test_the_objective_is_the_linear_program_s_minimum_and_the_gap_bounds_it(
    seed: int, n: int, d: int, bias: bool, variant: str
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, d) + rng.normal(size=d)
    y, s = rng.standard_cauchy(size=n), rng.uniform(0.2, 3, n)
    if variant == "integers":
        X, y, s = np.round(X), np.round(y), np.ceil(s)
    if variant == "collinear" and d > 2:
        X[:, 2] = X[:, 0] - 1
    l1 = np.where(rng.random(d) < 0.5, 0.0, rng.uniform(0, 5, d))
    result = solve_lad(make_problem(X, y, 0.0, l1, bias=bias, weights=s))
    objective = s @ np.abs(y - result.b - X @ result.w) + l1 @ np.abs(result.w)
    expected = linear_program_minimum(X, y, s, l1, bias=bias)
    size = 1 + float(s @ np.abs(y))
    assert result.objective == pytest.approx(objective, abs=1e-10 * size)
    assert objective - expected <= 1e-8 * size
    assert objective - expected <= result.gap + 1e-8 * size
    assert result.gap <= 2e-9 * size


def test_the_weights_equal_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y, s = X @ [1.0, 0, -2, 0.1] + rng.laplace(size=80), rng.uniform(0.5, 2, 80)
    peer = QuantileRegressor(quantile=0.5, alpha=0.0).fit(X, y, sample_weight=s)
    for rows in (X, to_sparse(X)):
        result = solve_lad(make_problem(rows, y, weights=s))
        np.testing.assert_allclose(result.w, peer.coef_, atol=1e-9)
        assert float(result.b) == pytest.approx(peer.intercept_, abs=1e-9)
    # Its pinball loss at one half is half the deviation, averaged.
    peer = QuantileRegressor(quantile=0.5, alpha=0.05).fit(X, y)
    result = solve_lad(make_problem(X, y, 0.0, 2 * 80 * 0.05))
    np.testing.assert_allclose(result.w, peer.coef_, atol=1e-9)
    assert (result.w == 0.0).any()


@law
@example(seed=216, n=2, d=2, bias=False)  # where predictor-corrector steps alone do not converge
@given(st.integers(0, 10**6), st.integers(2, 25), st.integers(1, 30), st.booleans())
def test_the_gap_is_small_and_valid_with_l2(seed: int, n: int, d: int, bias: bool) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), rng.normal(size=n)
    l1 = np.where(rng.random(d) < 0.5, 0.0, 1.0)
    problem = make_problem(X, y, rng.uniform(0.1, 2, d), l1, bias=bias)
    result = solve_lad(problem)
    assert result.gap <= 1e-8 * (1 + np.abs(y).sum())
    for _ in range(20):
        step = 10.0 ** rng.uniform(-6, 0)
        w, b = result.w + step * rng.normal(size=d), result.b + step * rng.normal() * bias
        nearby = np.abs(y - b - X @ w).sum() + problem.penalty(w)
        assert nearby >= result.objective - result.gap - 1e-9


def test_any_dual_point_gives_a_valid_lower_bound() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    l1, s = np.array([0.0, 1.0, 0.0]), rng.uniform(0.5, 2, 20)
    problem = make_problem(X, y, 0.0, l1, weights=s)
    lad = LadProblem(problem, Moments.from_problem(problem))
    expected = linear_program_minimum(X, y, s, l1, bias=True)
    for _ in range(50):
        assert lad_dual_bound(lad, rng.normal(size=21)) <= expected + 1e-9


def test_offsets_are_subtracted_and_rows_of_weight_zero_ignored() -> None:
    rng = np.random.default_rng(4)
    X, y, o = rng.normal(size=(15, 2)), rng.normal(size=15), rng.normal(size=15)
    s = np.where(np.arange(15) < 3, 0.0, 1.0)
    result = solve_lad(make_problem(X, y, weights=s, offset=o))
    expected = solve_lad(make_problem(X[3:], (y - o)[3:]))
    np.testing.assert_allclose(result.w, expected.w, atol=1e-12)


def test_the_intercept_alone_is_the_weighted_median() -> None:
    y = np.array([5.0, 1, 100, 2, 3])
    result = solve_lad(make_problem(np.zeros((5, 0)), y))
    assert (float(result.b), result.objective, result.gap) == (3.0, 102.0, pytest.approx(0.0, abs=1e-12))
    weighted = solve_lad(make_problem(np.zeros((5, 0)), y, weights=np.array([1.0, 1, 10, 1, 1])))
    assert float(weighted.b) == 100.0


def test_one_outlier_does_not_change_the_fit() -> None:
    x = np.arange(11.0)
    y = 2 * x + 1
    y[7] = 1e6
    result = solve_lad(make_problem(x[:, None], y))
    assert result.w[0] == pytest.approx(2.0, rel=1e-9)
    assert float(result.b) == pytest.approx(1.0, rel=1e-8)
    assert result.gap <= 1e-3


def test_dependent_features_have_weight_zero_and_are_reported() -> None:
    x = np.arange(9.0)
    X = np.column_stack([x, 2 * x + 1, np.full(9, 3.0)])
    result = solve_lad(make_problem(X, x + np.sin(x)))
    single = solve_lad(make_problem(X[:, :1], x + np.sin(x)))
    assert result.objective == pytest.approx(single.objective, rel=1e-12)
    assert result.method.endswith("weight zero for 2 constant or linearly dependent features")


def test_more_features_than_rows_are_interpolated() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5, 12)), rng.normal(size=5)
    result = solve_lad(make_problem(X, y))
    np.testing.assert_allclose(result.b + X @ result.w, y, atol=1e-8)
    assert result.gap < 1e-7
