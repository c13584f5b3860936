"""Dual coordinate ascent of several classes against a reference implementation, and its optimum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special

from tests.learn.linear.designs import to_sparse
from tests.learn.linear.problems import minimum, random_problem
from weigh import _core
from weigh.learn.linear import dual_ascent
from weigh.learn.linear.dual_ascent import DualCoordinateAscent, solve_dual_ascent
from weigh.learn.linear.logistic import solve_logistic
from weigh.learn.linear.matrix import DenseMatrix, SparseMatrix
from weigh.learn.linear.problem import Problem


def optimal_probabilities(z: Any, p_old: Any, c: float) -> Any:
    """Minimise Σ p log p − z p + ½ c (p − p_old)² over p ≥ 0 with Σ p = 1."""
    t = z + c * p_old

    def probabilities(mu: float) -> Any:
        # q = c p solves log q + q = t + log c − μ, which is the definition of Wright's omega function.
        return special.wrightomega(t - mu + np.log(c)) / c

    top = t.max()
    mu = optimize.brentq(
        lambda mu: probabilities(mu).sum() - 1, top - c - 1, top + np.log(len(t)), xtol=1e-14
    )
    return probabilities(mu)


def reference_passes(problem: Problem, X: Any, k: int, bias_variance: float, passes: int) -> tuple[Any, Any]:
    """Return the weights, the biases last, and the probabilities after exact steps for one row at a time."""
    X = np.column_stack([X, np.ones(len(X))])
    variances = np.append(np.full(X.shape[1] - 1, 0.5), bias_variance)[:, None]
    s = np.ones(len(X)) if problem.weights is None else problem.weights
    o = np.zeros((len(X), k)) if problem.offset is None else problem.offset
    p, W = np.eye(k)[problem.y.astype(int)], np.zeros((X.shape[1], k))
    for i in np.tile(np.arange(len(X)), passes):
        if s[i] > 0:
            c = s[i] * float((variances[:, 0] * X[i] ** 2).sum())
            new = optimal_probabilities(o[i] + X[i] @ W, p[i], c)
            W += variances * np.outer(X[i], s[i] * (p[i] - new))
            p[i] = new
    return W, p


def make_core(problem: Problem, k: int, bias_variance: float, threads: int = 1) -> Any:
    X = problem.X
    assert isinstance(X, SparseMatrix)
    y = problem.y.astype(np.int32)
    variances = (0.5, bias_variance)
    return _core.SoftmaxDual(
        *X.rows.csr, X.width, k, y, problem.weights, problem.offset, *variances, 1, threads
    )


@pytest.mark.parametrize("bias_variance", [0.0, 0.7])
@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("classes", [3, 4, 6])
def test_converged_passes_equal_exact_steps(bias_variance: float, offset: bool, classes: int) -> None:
    problem = random_problem(1, 30, 6, classes, weighted=offset, offset=offset, sparse=True)
    core, order = make_core(problem, classes, bias_variance), np.arange(30, dtype=np.int32)
    gaps = [core.run_pass(order) for _ in range(40)]
    W, p = reference_passes(problem, problem.X.dense_columns(np.arange(6)), classes, bias_variance, 40)
    np.testing.assert_allclose(core.weights(), W[:-1], atol=1e-6)
    np.testing.assert_allclose(core.bias(), W[-1], atol=1e-6)
    np.testing.assert_allclose(core.probabilities(), p, atol=1e-6)
    assert gaps[-1] < 1e-9 * gaps[0]


@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
def test_one_step_is_close_to_the_exact_one(scale: float) -> None:
    problem = random_problem(2, 5, 6, 5, sparse=True, bias=False)
    problem = replace(problem, X=problem.X.rescale(scale))
    core, order = make_core(problem, 5, 0.0), np.arange(5, dtype=np.int32)
    core.run_pass(order)
    _, p = reference_passes(problem, problem.X.dense_columns(np.arange(6)), 5, 0.0, 1)
    np.testing.assert_allclose(core.probabilities(), p, atol=0.02)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_weights_and_gap_match_the_probabilities_for_any_number_of_threads(threads: int) -> None:
    problem = random_problem(3, 200, 40, 5, bias=False, sparse=True)
    core, order = make_core(problem, 5, 0.0, threads), np.arange(200, dtype=np.int32)
    for _ in range(5):
        core.run_pass(order)
    p, y = core.probabilities(), np.eye(5)[problem.y.astype(int)]
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(core.weights(), 0.5 * problem.X.transposed_times(y - p), atol=1e-11)
    assert 1 <= core.subproblem_scale <= threads
    # Visits without a change of the weights report the divergence of p from the model's probabilities.
    q = special.softmax(problem.X.times(core.weights()), axis=1)
    first = np.zeros(1, np.int32)
    assert core.run_pass(first) == pytest.approx(special.rel_entr(p[0], q[0]).sum(), rel=1e-6, abs=1e-12)
    assert core.gaps()[0] == pytest.approx(special.rel_entr(p[0], q[0]).sum(), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("l2", [2.0, [0.5, 1.0, 2.0, 3.0, 4.0]])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_dual_ascent_reaches_the_optimum(l2: Any, bias: bool, weighted: bool) -> None:
    problem = random_problem(3, 120, 5, 4, bias=bias, weighted=weighted, offset=True, l2=l2, sparse=True)
    problem = problem.drop_zero_weights()
    assert isinstance(problem.X, SparseMatrix)
    result, is_converged = solve_dual_ascent(problem, problem.X, 4, 1e-10, 1000, None)
    assert is_converged
    assert result.gap <= 1e-10
    assert result.objective == pytest.approx(minimum(problem, 4), abs=1e-8)


@given(seed=st.integers(0, 10_000), passes=st.integers(1, 6), bias=st.booleans())
def test_the_gap_bounds_the_suboptimality(seed: int, passes: int, bias: bool) -> None:
    problem = random_problem(seed, 40, 6, 3, bias=bias, offset=True, sparse=True)
    assert isinstance(problem.X, SparseMatrix)
    early, _ = solve_dual_ascent(problem, problem.X, 3, 0.0, passes, None)
    best, _ = solve_dual_ascent(problem, problem.X, 3, 1e-11, 1000, None)
    assert -1e-10 <= early.objective - best.objective <= early.gap + 1e-10


def test_a_warm_start_at_the_optimum_has_hardly_any_gap() -> None:
    problem = random_problem(4, 120, 5, 4, l2=[1, 1, 2, 2, 3], offset=True, sparse=True)
    assert isinstance(problem.X, SparseMatrix)
    solution = solve_logistic(problem, 4, tol=1e-13)
    dual = DualCoordinateAscent(problem, problem.X, 4)
    dual.warm_start(solution)
    warm = dual.result(0)
    assert warm.objective == pytest.approx(solution.objective, abs=1e-8)
    assert warm.gap <= 1e-8


def test_a_weaker_penalty_starts_nearer_to_the_targets() -> None:
    problem = random_problem(5, 120, 5, 4, l2=10.0, sparse=True)
    solution = solve_logistic(problem, 4, tol=1e-13)
    weaker = replace(problem, l2=problem.l2 / 100)
    assert isinstance(weaker.X, SparseMatrix)
    dual = DualCoordinateAscent(weaker, weaker.X, 4)
    dual.warm_start(solution)
    cold = DualCoordinateAscent(weaker, weaker.X, 4)
    assert dual.run_pass() < cold.run_pass()


def test_extra_passes_over_a_few_long_rows_speed_up_convergence(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    dense = rng.poisson(0.02, (300, 3000)).astype(float)
    dense[:10] = rng.poisson(2.0, (10, 3000))
    X, y = to_sparse(dense), rng.integers(0, 4, 300).astype(float)
    problem = Problem(X, y, np.zeros(3000), np.ones(3000), True)

    def gap_after_passes() -> float:
        dual = DualCoordinateAscent(problem, X, 4)
        return [dual.run_pass() for _ in range(8)][-1]

    with_extra_passes = gap_after_passes()
    monkeypatch.setattr(dual_ascent, "MAX_ACTIVE_PASSES", 0)
    assert with_extra_passes < 0.3 * gap_after_passes()


@pytest.mark.parametrize("classes", [2, 5])
def test_few_rows_of_many_words_use_the_dual(classes: int) -> None:
    rng = np.random.default_rng(7)
    dense = rng.poisson(0.01, (200, 1500)).astype(float)
    y = (rng.integers(0, classes, 200)).astype(float)
    y[:classes] = np.arange(classes)
    penalties = (np.zeros(1500), np.ones(1500))
    sparse = solve_logistic(Problem(to_sparse(dense), y, *penalties), classes, tol=1e-10)
    newton = solve_logistic(Problem(DenseMatrix(dense), y, *penalties), classes, tol=1e-10)
    assert sparse.method == "dual coordinate ascent"
    assert newton.method.startswith("Newton")
    assert sparse.objective == pytest.approx(newton.objective, rel=1e-8)


def test_invalid_arrays_are_errors() -> None:
    problem = random_problem(5, 20, 5, 3, sparse=True)
    X = problem.X
    assert isinstance(X, SparseMatrix)
    y = problem.y.astype(np.int32)
    with pytest.raises(ValueError, match="arrays of rows differ in length"):
        _core.SoftmaxDual(*X.rows.csr, 5, 3, y, np.ones(3), None, 1.0, 0.0, 1, 1)
    with pytest.raises(ValueError, match="a label is not one of the classes"):
        _core.SoftmaxDual(*X.rows.csr, 5, 2, y, None, None, 1.0, 0.0, 1, 1)
    with pytest.raises(ValueError, match="the offset has one value per row and class"):
        _core.SoftmaxDual(*X.rows.csr, 5, 3, y, None, np.ones((20, 2)), 1.0, 0.0, 1, 1)
    core = _core.SoftmaxDual(*X.rows.csr, 5, 3, y, None, None, 1.0, 0.0, 1, 1)
    with pytest.raises(ValueError, match="the order has a place twice"):
        core.run_pass(np.array([7, 3, 7], np.int32))
    with pytest.raises(ValueError, match="one probability per row and class"):
        core.warm_start(np.ones((3, 3)), np.ones((5, 3)), np.ones(3))
    with pytest.raises(ValueError, match="one value per feature and class"):
        core.warm_start(np.ones((20, 3)), np.ones((5, 2)), np.ones(3))
