"""Conjugate gradients: the same weights without a gram."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learn.linear.designs import law, problem, sparse
from weigh.learn.linear.conjugate_gradient import needs_conjugate_gradient, solve_conjugate_gradient
from weigh.learn.linear.matrix import SparseMatrix
from weigh.learn.linear.ridge import solve_ridge


@law
@given(st.integers(0, 10**6), st.integers(2, 20), st.integers(1, 20), st.booleans(), st.booleans())
def test_gradients_lead_where_the_closed_form_is(
    seed: int, n: int, d: int, bias: bool, weighted: bool
) -> None:
    draw = np.random.default_rng(seed)
    X, y = draw.normal(size=(n, d)) + 1, draw.normal(size=n)
    s = draw.uniform(0.5, 2, n) if weighted else None
    stated = problem(sparse(X), y, draw.uniform(0.5, 2, d), bias=bias, weights=s)
    found, exact = solve_conjugate_gradient(stated), solve_ridge(stated)
    assert found.objective - exact.objective <= found.gap + 1e-12
    assert found.gap <= 1e-10 * (1 + float(y @ y))
    np.testing.assert_allclose(found.w, exact.w, atol=1e-4)
    assert found.method == "conjugate gradients"


@pytest.mark.parametrize("shape", [(40, 6), (6, 40)])
def test_without_a_penalty_the_shortest_solution_is_found(shape: tuple[int, int]) -> None:
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=shape), draw.normal(size=shape[0])
    found, exact = (solve(problem(sparse(X), y)) for solve in (solve_conjugate_gradient, solve_ridge))
    np.testing.assert_allclose(found.w, exact.w, atol=1e-4)
    assert found.method.endswith("estimated, not proved")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("own", [0.0, 1.0])
@pytest.mark.parametrize("l2", [0.0, 2.0])
def test_a_constant_feature_weighs_nothing(l2: float, own: float, weighted: bool) -> None:
    draw = np.random.default_rng(1)
    X, y = draw.normal(size=(40, 3)), draw.normal(size=40)
    s = draw.uniform(0.5, 2, 40) if weighted else None
    with_constant = np.column_stack([X, np.full(40, 1e6 / 3)])
    found = solve_conjugate_gradient(
        problem(sparse(with_constant), y, np.array([l2, l2, l2, own]), weights=s)
    )
    exact = solve_ridge(problem(X, y, l2, weights=s))
    assert found.w[3] == 0.0
    np.testing.assert_allclose(found.w[:3], exact.w, atol=1e-4)
    assert found.objective == pytest.approx(exact.objective, rel=1e-9)
    assert found.gap <= 1e-9 * exact.objective


def test_a_feature_far_from_zero_is_told_from_a_constant_one() -> None:
    draw = np.random.default_rng(2)
    near = draw.normal(size=(60, 3))
    X = near + np.array([0, 0, 1e7])
    y = near @ np.ones(3) + 0.1 * draw.normal(size=60)
    found = solve_conjugate_gradient(problem(sparse(X), y, np.array([0.5, 0.5, 0.0])))
    exact = solve_ridge(problem(near, y, np.array([0.5, 0.5, 0.0])))
    np.testing.assert_allclose(found.w, exact.w, atol=1e-4)


@pytest.mark.parametrize("steps", range(1, 13))
def test_the_gap_is_estimated_after_any_number_of_steps(steps: int) -> None:
    draw = np.random.default_rng(3)
    X, y = draw.normal(size=(60, 30)) * np.geomspace(1, 30, 30), draw.normal(size=60)
    stated = problem(sparse(X), y)
    found = solve_conjugate_gradient(stated, tol=0.0, max_iter=steps)
    assert found.iterations == steps
    assert 0 < found.gap < np.inf


def test_steps_end_before_rounding_swells_along_features_that_repeat_each_other() -> None:
    draw = np.random.default_rng(4)
    X = 100 + draw.normal(size=(16, 3))
    X[:, 0] = X[:, 1]
    y = draw.normal(size=16)
    found, exact = solve_conjugate_gradient(problem(sparse(X), y), tol=0.0), solve_ridge(problem(X, y))
    assert found.iterations < 100
    np.testing.assert_allclose(found.w, exact.w, atol=1e-8)


def test_nothing_to_learn_leaves_no_gap_without_a_penalty() -> None:
    assert solve_conjugate_gradient(problem(sparse(np.eye(4)), np.ones(4))).gap == 0.0


def test_a_target_that_needs_no_weight_gets_none() -> None:
    found = solve_conjugate_gradient(problem(sparse(np.eye(4)), np.ones(4), 1.0))
    assert (found.w == 0).all()
    assert (found.gap, float(found.b)) == (0.0, 1.0)


def test_wide_sparse_rows_are_not_laid_out() -> None:
    width, n = 40_000, 2_000
    draw = np.random.default_rng(0)
    indices = np.sort(draw.choice(width, (n, 1)), axis=1).astype(np.int32)
    X = SparseMatrix(np.arange(n + 1, dtype=np.int64), indices.ravel(), None, width)
    assert needs_conjugate_gradient(X)
    found = solve_ridge(problem(X, draw.normal(size=n), 1.0))
    assert found.method == "conjugate gradients"
    assert found.gap <= 1e-9 * found.objective
