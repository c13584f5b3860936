"""Dual coordinate ascent against a reference implementation, and the optimum it reaches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learn.linear.problems import minimum, random_problem
from weigh import _core
from weigh.learn.linear.dual_ascent import DualCoordinateAscent, solve_dual_ascent
from weigh.learn.linear.logistic import solve_logistic
from weigh.learn.linear.matrix import SparseMatrix
from weigh.learn.linear.problem import Problem


def optimal_alpha(a: float, c: float, s: float, alpha: float) -> float:
    """Return α = s / (1 + e⁻ᵘ), with u from Newton steps until u + a α − c has dropped to a hundredth."""
    u = np.log(alpha / (s - alpha)) if alpha else c - np.log1p(a * s)
    low, high = c - a * s, c
    residual = u + a * s / (1 + np.exp(-u)) - c
    target = abs(residual) / 100
    while abs(residual) > max(target, 1e-13 * (a * s + abs(c))):
        low, high = (low, u) if residual > 0 else (u, high)
        p = 1 / (1 + np.exp(-u))
        u -= residual / (1 + a * s * p * (1 - p))
        u = u if low < u < high else (low + high) / 2
        residual = u + a * s / (1 + np.exp(-u)) - c
    return float(s / (1 + np.exp(-u)))


def reference_passes(
    X: Any, problem: Problem, order: Any, variance: float, bias_variance: float, passes: int
) -> tuple[Any, Any]:
    """Return the weights, the bias last, and ±α after a number of passes in one thread."""
    X = np.column_stack([X, np.ones(len(X))])
    variances = np.append(np.full(X.shape[1] - 1, variance), bias_variance)
    signs = np.where(problem.y > 0, 1, -1)
    s = np.ones(len(X)) if problem.weights is None else problem.weights
    o = np.zeros(len(X)) if problem.offset is None else problem.offset
    alpha, w = np.zeros(len(X)), np.zeros(X.shape[1])
    for i in np.tile(order, passes):
        if s[i] > 0:
            a = (variances * X[i] ** 2).sum()
            new_alpha = optimal_alpha(a, a * alpha[i] - signs[i] * (o[i] + X[i] @ w), s[i], alpha[i])
            w += variances * X[i] * signs[i] * (new_alpha - alpha[i])
            alpha[i] = new_alpha
    return w, signs * alpha


@pytest.mark.parametrize("bias_variance", [0.0, 0.7])
@pytest.mark.parametrize("has_values", [True, False])
@pytest.mark.parametrize("offset", [True, False])
def test_passes_equal_the_reference_implementation(
    bias_variance: float, has_values: bool, offset: bool
) -> None:
    problem = random_problem(1, 30, 6, weighted=offset, offset=offset, sparse=True)
    X = problem.X
    assert isinstance(X, SparseMatrix)
    X = X if has_values else SparseMatrix(replace(X.rows, values=None))
    core = _core.LogisticDual(
        *X.rows.csr, 6, problem.y, problem.weights, problem.offset, 0.5, bias_variance, 1, 1
    )
    order = np.random.default_rng(0).permutation(30).astype(np.int32)
    for _ in range(4):
        core.run_pass(order)
    w, alphas = reference_passes(X.dense_columns(np.arange(6)), problem, order, 0.5, bias_variance, 4)
    np.testing.assert_allclose(core.weights(), w[:-1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(core.signed_alphas(), alphas, rtol=1e-9, atol=1e-12)
    assert core.bias == pytest.approx(w[-1] if bias_variance else 0.0, rel=1e-9)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_weights_match_the_dual_variables_for_any_number_of_threads(threads: int) -> None:
    problem = random_problem(2, 200, 40, weighted=True, sparse=True)
    X = problem.X
    assert isinstance(X, SparseMatrix)
    core = _core.LogisticDual(*X.rows.csr, 40, problem.y, problem.weights, None, 0.1, 0.0, 3, threads)
    order = np.arange(200, dtype=np.int32)
    suboptimality = [core.run_pass(order) for _ in range(60)]
    np.testing.assert_allclose(core.weights(), 0.1 * X.transposed_times(core.signed_alphas()), atol=1e-11)
    signs = np.where(problem.y > 0, 1, -1)
    assert problem.weights is not None
    counted = problem.weights > 0
    margins = signs * X.times(core.weights())
    np.testing.assert_allclose(core.logits()[counted], -margins[counted], atol=1e-4)
    assert suboptimality[-1] < 1e-8 * suboptimality[1]
    assert 1 <= core.subproblem_scale <= threads


@pytest.mark.parametrize("l2", [2.0, [0.5, 1.0, 2.0, 3.0, 4.0]])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_dual_ascent_reaches_the_optimum(l2: Any, bias: bool, weighted: bool) -> None:
    problem = random_problem(3, bias=bias, weighted=weighted, offset=True, l2=l2, sparse=True)
    if problem.weights is not None:
        problem = replace(problem, weights=problem.weights + 0.5)
    assert isinstance(problem.X, SparseMatrix)
    result, is_converged = solve_dual_ascent(problem, problem.X, 2, 1e-10, 1000, None)
    assert is_converged
    assert result.gap <= 1e-10
    assert result.objective == pytest.approx(minimum(problem, 2), abs=1e-8)


@given(seed=st.integers(0, 10_000), passes=st.integers(1, 6), bias=st.booleans())
def test_the_gap_of_dual_ascent_bounds_the_suboptimality(seed: int, passes: int, bias: bool) -> None:
    problem = random_problem(seed, 40, 6, bias=bias, offset=True, sparse=True)
    assert isinstance(problem.X, SparseMatrix)
    early, _ = solve_dual_ascent(problem, problem.X, 2, 0.0, passes, None)
    best, _ = solve_dual_ascent(problem, problem.X, 2, 1e-11, 1000, None)
    assert -1e-10 <= early.objective - best.objective <= early.gap + 1e-10


def test_a_warm_start_at_the_optimum_has_hardly_any_gap() -> None:
    problem = random_problem(4, l2=[1, 1, 2, 2, 3], offset=True, sparse=True)
    assert isinstance(problem.X, SparseMatrix)
    cold, _ = solve_dual_ascent(problem, problem.X, 2, 1e-9, 1000, None)
    solution = solve_logistic(problem, 2, tol=1e-13)
    dual = DualCoordinateAscent(problem, problem.X)
    dual.warm_start(solution)
    warm = dual.result(0)
    assert warm.objective == pytest.approx(cold.objective, abs=1e-8)
    assert warm.gap <= 1e-8


def test_invalid_arrays_are_errors() -> None:
    problem = random_problem(5, sparse=True)
    X = problem.X
    assert isinstance(X, SparseMatrix)
    with pytest.raises(ValueError, match="arrays of rows differ in length"):
        _core.LogisticDual(*X.rows.csr, 5, problem.y, np.ones(3), None, 1.0, 0.0, 1, 1)
    core = _core.LogisticDual(*X.rows.csr, 5, problem.y, None, None, 1.0, 0.0, 1, 1)
    with pytest.raises(ValueError, match="the order has a wrong place"):
        core.run_pass(np.array([0, 120], np.int32))
    with pytest.raises(ValueError, match="the order has a place twice"):
        core.run_pass(np.array([7, 3, 7], np.int32))
    with pytest.raises(ValueError, match="one score per row"):
        core.warm_start(np.ones(3), np.ones(5), 0.0)
