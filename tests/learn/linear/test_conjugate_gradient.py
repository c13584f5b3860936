"""Conjugate gradients: the solutions of the closed form, without a Gram matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learn.linear.designs import law, make_problem, to_sparse
from weigh.learn.linear.conjugate_gradient import (
    active_set_newton_step,
    needs_conjugate_gradient,
    solve_conjugate_gradient,
)
from weigh.learn.linear.coordinate_descent import QuadraticModel
from weigh.learn.linear.matrix import SparseMatrix
from weigh.learn.linear.ridge import solve_ridge
from weigh.source.sparse_rows import SparseRows


@law
@given(st.integers(0, 10**6), st.integers(2, 20), st.integers(1, 20), st.booleans(), st.booleans())
def test_conjugate_gradients_reach_the_closed_form_solution(
    seed: int, n: int, d: int, bias: bool, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)) + 1, rng.normal(size=n)
    s = rng.uniform(0.5, 2, n) if weighted else None
    problem = make_problem(to_sparse(X), y, rng.uniform(0.5, 2, d), bias=bias, weights=s)
    result, exact = solve_conjugate_gradient(problem), solve_ridge(problem)
    assert result.objective - exact.objective <= result.gap + 1e-12
    assert result.gap <= 1e-10 * (1 + float(y @ y))
    np.testing.assert_allclose(result.w, exact.w, atol=1e-4)
    assert result.method == "conjugate gradients"


@pytest.mark.parametrize("shape", [(40, 6), (6, 40)])
def test_without_a_penalty_the_minimum_norm_solution_is_returned(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=shape), rng.normal(size=shape[0])
    result, exact = (
        solve(make_problem(to_sparse(X), y)) for solve in (solve_conjugate_gradient, solve_ridge)
    )
    np.testing.assert_allclose(result.w, exact.w, atol=1e-4)
    assert result.method.endswith("estimated, not proved")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("constant_l2", [0.0, 1.0])
@pytest.mark.parametrize("l2", [0.0, 2.0])
def test_a_constant_feature_has_weight_zero(l2: float, constant_l2: float, weighted: bool) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    s = rng.uniform(0.5, 2, 40) if weighted else None
    with_constant = np.column_stack([X, np.full(40, 1e6 / 3)])
    result = solve_conjugate_gradient(
        make_problem(to_sparse(with_constant), y, np.array([l2, l2, l2, constant_l2]), weights=s)
    )
    exact = solve_ridge(make_problem(X, y, l2, weights=s))
    assert result.w[3] == 0.0
    np.testing.assert_allclose(result.w[:3], exact.w, atol=1e-4)
    assert result.objective == pytest.approx(exact.objective, rel=1e-9)
    assert result.gap <= 1e-9 * exact.objective


def test_a_feature_far_from_zero_is_not_taken_for_constant() -> None:
    rng = np.random.default_rng(2)
    near = rng.normal(size=(60, 3))
    X = near + np.array([0, 0, 1e7])
    y = near @ np.ones(3) + 0.1 * rng.normal(size=60)
    result = solve_conjugate_gradient(make_problem(to_sparse(X), y, np.array([0.5, 0.5, 0.0])))
    exact = solve_ridge(make_problem(near, y, np.array([0.5, 0.5, 0.0])))
    np.testing.assert_allclose(result.w, exact.w, atol=1e-4)


@pytest.mark.parametrize("steps", range(1, 13))
def test_the_gap_is_estimated_after_any_number_of_steps(steps: int) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 30)) * np.geomspace(1, 30, 30), rng.normal(size=60)
    problem = make_problem(to_sparse(X), y)
    result = solve_conjugate_gradient(problem, tol=0.0, max_iter=steps)
    assert result.iterations == steps
    assert 0 < result.gap < np.inf


def test_iterations_stop_before_rounding_grows_along_collinear_features() -> None:
    rng = np.random.default_rng(4)
    X = 100 + rng.normal(size=(16, 3))
    X[:, 0] = X[:, 1]
    y = rng.normal(size=16)
    result, exact = (
        solve_conjugate_gradient(make_problem(to_sparse(X), y), tol=0.0),
        solve_ridge(make_problem(X, y)),
    )
    assert result.iterations < 100
    np.testing.assert_allclose(result.w, exact.w, atol=1e-8)


def test_constant_targets_leave_no_gap_without_a_penalty() -> None:
    assert solve_conjugate_gradient(make_problem(to_sparse(np.eye(4)), np.ones(4))).gap == 0.0


def test_constant_targets_give_zero_weights() -> None:
    result = solve_conjugate_gradient(make_problem(to_sparse(np.eye(4)), np.ones(4), 1.0))
    assert (result.w == 0).all()
    assert (result.gap, float(result.b)) == (0.0, 1.0)


def test_wide_sparse_rows_are_solved_by_conjugate_gradients() -> None:
    width, n = 40_000, 2_000
    rng = np.random.default_rng(0)
    indices = np.sort(rng.choice(width, (n, 1)), axis=1).astype(np.int32)
    X = SparseMatrix(SparseRows(np.arange(n + 1, dtype=np.int64), indices.ravel(), None, width))
    assert needs_conjugate_gradient(X)
    result = solve_ridge(make_problem(X, rng.normal(size=n), 1.0))
    assert result.method == "conjugate gradients"
    assert result.gap <= 1e-9 * result.objective


def test_a_direction_without_curvature_ends_an_active_set_step() -> None:
    X = to_sparse(np.repeat([[1.0], [2.0]], 2, axis=1))
    quadratic = QuadraticModel(np.ones(2), np.zeros(2), has_intercept=False)
    # Weights of opposite signs of two equal columns cancel: only l1 changes along the step.
    step, b = active_set_newton_step(X, quadratic, np.array([1.0, -1.0]), np.ones(2), np.zeros(2), 10)
    assert (step.tolist(), b) == ([0.0, 0.0], 0.0)
