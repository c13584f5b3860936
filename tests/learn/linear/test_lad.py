"""Least absolute deviations: the best objective, proved by the dual."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.linear_model import QuantileRegressor

from tests.learn.linear.designs import Floats, law, problem, sparse
from weigh.learn.linear.interior_point import LadProblem
from weigh.learn.linear.lad import lad_dual_bound, solve_lad
from weigh.learn.linear.moments import Moments


def least(X: Floats, y: Floats, s: Floats, l1: Floats, *, bias: bool) -> float:
    """Return the least objective, by a linear program."""
    one = np.ones((len(y), int(bias)))
    table = np.hstack([X, -X, one, -one, np.eye(len(y)), -np.eye(len(y))])
    cost = np.concatenate([l1, l1, np.zeros(2 * bias), s, s])
    return float(linprog(cost, A_eq=table, b_eq=y, method="highs").fun)


@law
@given(
    st.integers(0, 10**6),
    st.integers(1, 30),
    st.integers(0, 6),
    st.booleans(),
    st.sampled_from(["", "whole", "twice"]),
)
def test_the_objective_is_the_least_and_the_gap_proves_it(
    seed: int, n: int, d: int, bias: bool, odd: str
) -> None:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d)) * 10.0 ** draw.integers(-2, 3, d) + draw.normal(size=d)
    y, s = draw.standard_cauchy(size=n), draw.uniform(0.2, 3, n)
    if odd == "whole":
        X, y, s = np.round(X), np.round(y), np.ceil(s)
    if odd == "twice" and d > 2:
        X[:, 2] = X[:, 0] - 1
    l1 = np.where(draw.random(d) < 0.5, 0.0, draw.uniform(0, 5, d))
    found = solve_lad(problem(X, y, 0.0, l1, bias=bias, weights=s))
    objective = s @ np.abs(y - found.b - X @ found.w) + l1 @ np.abs(found.w)
    wanted = least(X, y, s, l1, bias=bias)
    size = 1 + float(s @ np.abs(y))
    assert found.objective == pytest.approx(objective, abs=1e-10 * size)
    assert objective - wanted <= 1e-8 * size
    assert objective - wanted <= found.gap + 1e-8 * size
    assert found.gap <= 2e-9 * size


def test_the_weights_are_those_of_scikit_learn() -> None:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(80, 4))
    y, s = X @ [1.0, 0, -2, 0.1] + draw.laplace(size=80), draw.uniform(0.5, 2, 80)
    peer = QuantileRegressor(quantile=0.5, alpha=0.0).fit(X, y, sample_weight=s)
    for rows in (X, sparse(X)):
        found = solve_lad(problem(rows, y, weights=s))
        np.testing.assert_allclose(found.w, peer.coef_, atol=1e-9)
        assert float(found.b) == pytest.approx(peer.intercept_, abs=1e-9)
    # Its pinball loss at one half is half the deviation, averaged.
    peer = QuantileRegressor(quantile=0.5, alpha=0.05).fit(X, y)
    found = solve_lad(problem(X, y, 0.0, 2 * 80 * 0.05))
    np.testing.assert_allclose(found.w, peer.coef_, atol=1e-9)
    assert (found.w == 0.0).any()


@law
@example(seed=216, n=2, d=2, bias=False)  # where bold steps alone run to and fro
@given(st.integers(0, 10**6), st.integers(2, 25), st.integers(1, 30), st.booleans())
def test_a_smooth_penalty_is_proved_too(seed: int, n: int, d: int, bias: bool) -> None:
    draw = np.random.default_rng(seed)
    X, y = draw.normal(size=(n, d)), draw.normal(size=n)
    l1 = np.where(draw.random(d) < 0.5, 0.0, 1.0)
    stated = problem(X, y, draw.uniform(0.1, 2, d), l1, bias=bias)
    found = solve_lad(stated)
    assert found.gap <= 1e-8 * (1 + np.abs(y).sum())
    for _ in range(20):
        step = 10.0 ** draw.uniform(-6, 0)
        w, b = found.w + step * draw.normal(size=d), found.b + step * draw.normal() * bias
        near = np.abs(y - b - X @ w).sum() + stated.penalty(w)
        assert near >= found.objective - found.gap - 1e-9


def test_any_prices_prove_a_bound_below_the_least_objective() -> None:
    draw = np.random.default_rng(3)
    X, y = draw.normal(size=(20, 3)), draw.normal(size=20)
    l1, s = np.array([0.0, 1.0, 0.0]), draw.uniform(0.5, 2, 20)
    stated = problem(X, y, 0.0, l1, weights=s)
    rows = LadProblem(stated, Moments.from_problem(stated))
    wanted = least(X, y, s, l1, bias=True)
    for _ in range(50):
        assert lad_dual_bound(rows, draw.normal(size=21)) <= wanted + 1e-9


def test_an_offset_is_taken_from_the_targets_and_rows_without_weight_do_not_count() -> None:
    draw = np.random.default_rng(4)
    X, y, o = draw.normal(size=(15, 2)), draw.normal(size=15), draw.normal(size=15)
    s = np.where(np.arange(15) < 3, 0.0, 1.0)
    found = solve_lad(problem(X, y, weights=s, offset=o))
    wanted = solve_lad(problem(X[3:], (y - o)[3:]))
    np.testing.assert_allclose(found.w, wanted.w, atol=1e-12)


def test_the_bias_alone_is_the_median() -> None:
    y = np.array([5.0, 1, 100, 2, 3])
    found = solve_lad(problem(np.zeros((5, 0)), y))
    assert (float(found.b), found.objective, found.gap) == (3.0, 102.0, pytest.approx(0.0, abs=1e-12))
    weighted = solve_lad(problem(np.zeros((5, 0)), y, weights=np.array([1.0, 1, 10, 1, 1])))
    assert float(weighted.b) == 100.0


def test_one_wild_row_does_not_move_the_line() -> None:
    x = np.arange(11.0)
    y = 2 * x + 1
    y[7] = 1e6
    found = solve_lad(problem(x[:, None], y))
    assert found.w[0] == pytest.approx(2.0, rel=1e-9)
    assert float(found.b) == pytest.approx(1.0, rel=1e-8)
    assert found.gap <= 1e-3


def test_features_that_repeat_others_weigh_nothing_and_that_is_told() -> None:
    x = np.arange(9.0)
    X = np.column_stack([x, 2 * x + 1, np.full(9, 3.0)])
    found = solve_lad(problem(X, x + np.sin(x)))
    single = solve_lad(problem(X[:, :1], x + np.sin(x)))
    assert found.objective == pytest.approx(single.objective, rel=1e-12)
    assert found.method.endswith("2 features that are constant or repeat others weigh nothing")


def test_more_features_than_rows_are_interpolated() -> None:
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(5, 12)), draw.normal(size=5)
    found = solve_lad(problem(X, y))
    np.testing.assert_allclose(found.b + X @ found.w, y, atol=1e-8)
    assert found.gap < 1e-7
