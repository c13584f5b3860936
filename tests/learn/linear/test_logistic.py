"""Logistic regression with l2: the optimum of other solvers, and a valid gap."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from tests.learn.linear.designs import to_sparse
from tests.learn.linear.problems import minimum, objective, random_problem
from weigh.learn.linear.logistic import gradient, null_model, solve_logistic
from weigh.learn.linear.losses import SoftmaxLoss
from weigh.learn.linear.matrix import DenseMatrix
from weigh.learn.linear.problem import Problem, Solution

CLASSES = [2, 3]


def scikit_learn_objective(problem: Problem, classes: int) -> float:
    """Return the objective of scikit-learn's solution."""
    assert isinstance(problem.X, DenseMatrix)
    model = LogisticRegression(
        C=1 / problem.l2[0],
        fit_intercept=problem.has_intercept,
        tol=1e-13,
        solver="newton-cg",
        max_iter=10_000,
    ).fit(problem.X.array, problem.y, sample_weight=problem.weights)
    w = model.coef_.T.reshape(-1) if classes == 2 else model.coef_.T
    b = model.intercept_[0] if classes == 2 else model.intercept_
    return objective(problem, classes, w, b)


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_optimum_equals_scikit_learns(classes: int, bias: bool, weighted: bool) -> None:
    problem = random_problem(1, classes=classes, bias=bias, weighted=weighted, l2=0.7)
    result = solve_logistic(problem, classes, tol=1e-13)
    assert result.objective == pytest.approx(scikit_learn_objective(problem, classes), rel=1e-10)
    assert result.objective == pytest.approx(objective(problem, classes, result.w, result.b), rel=1e-14)
    assert result.gap <= 1e-12 * result.objective


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("sparse", [True, False])
def test_the_optimum_with_offset_and_uneven_penalties_equals_that_of_bfgs(classes: int, sparse: bool) -> None:
    problem = random_problem(
        2, classes=classes, weighted=True, offset=True, l2=[0, 0.5, 2, 30, 0], sparse=sparse
    )
    result = solve_logistic(problem, classes, tol=1e-13)
    assert result.objective == pytest.approx(minimum(problem, classes), rel=1e-9)
    assert result.gap <= 1e-11 * result.objective


@pytest.mark.parametrize("classes", CLASSES)
def test_dense_and_sparse_rows_have_the_same_optimum(classes: int) -> None:
    dense, sparse = (random_problem(3, classes=classes, sparse=sparse) for sparse in (False, True))
    results = [solve_logistic(p, classes, tol=1e-13) for p in (dense, sparse)]
    np.testing.assert_allclose(results[0].w, results[1].w, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(results[0].b, results[1].b, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("classes", CLASSES)
def test_an_integer_weight_equals_repeated_rows(classes: int) -> None:
    problem = random_problem(4, classes=classes, weighted=True, offset=True)
    assert isinstance(problem.X, DenseMatrix)
    assert problem.weights is not None
    assert problem.offset is not None
    times = problem.weights.astype(int)
    repeated = replace(
        problem,
        X=DenseMatrix(np.repeat(problem.X.array, times, axis=0)),
        y=np.repeat(problem.y, times),
        weights=None,
        offset=np.repeat(problem.offset, times, axis=0),
    )
    results = [solve_logistic(p, classes, tol=1e-13) for p in (problem, repeated)]
    assert results[0].objective == pytest.approx(results[1].objective, rel=1e-12)
    np.testing.assert_allclose(results[0].w, results[1].w, rtol=1e-6, atol=1e-9)


def test_binary_logistic_regression_is_a_symmetric_softmax() -> None:
    problem = random_problem(5)
    two = solve_logistic(problem, 2, tol=1e-13)
    loss = SoftmaxLoss(problem, 2)
    halves = np.stack([-two.w, two.w], axis=1) / 2
    biases = np.array([-two.b, two.b]) / 2
    assert loss.value(problem.X.times(halves) + biases) == pytest.approx(
        objective(problem.with_penalties(problem.l1, 0 * problem.l2), 2, two.w, two.b), rel=1e-13
    )
    grad = problem.X.transposed_times(
        loss.score_gradient(loss.probabilities(problem.X.times(halves) + biases))
    )
    # At the optimum the loss has the gradient −l2 w, which is that of the penalty 2 · l2 on both halves.
    np.testing.assert_allclose(grad, -2 * problem.l2[:, None] * halves, atol=1e-9)


@pytest.mark.parametrize("classes", CLASSES)
def test_the_gradient_equals_finite_differences(classes: int) -> None:
    problem = random_problem(6, classes=classes, weighted=True, offset=True, l2=[0, 1, 2, 3, 4])
    rng = np.random.default_rng(0)
    shape = () if classes == 2 else (classes,)
    w, b = rng.normal(size=(5, *shape)), rng.normal(size=shape)
    w_grad, b_grad = gradient(problem, classes, w, b)

    def finite_difference(dw: Any, db: Any) -> float:
        step = 1e-6
        ahead = objective(problem, classes, w + step * dw, b + step * db)
        return (ahead - objective(problem, classes, w - step * dw, b - step * db)) / (2 * step)

    for index in np.ndindex(w.shape):
        unit = np.zeros_like(w)
        unit[index] = 1
        assert finite_difference(unit, 0.0) == pytest.approx(w_grad[index], rel=1e-6, abs=1e-6)
    for index in np.ndindex(shape):
        unit = np.zeros(shape)
        unit[index] = 1
        assert finite_difference(np.zeros_like(w), unit) == pytest.approx(b_grad[index], rel=1e-6, abs=1e-6)


@given(
    seed=st.integers(0, 10_000),
    classes=st.sampled_from(CLASSES),
    bias=st.booleans(),
    sparse=st.booleans(),
    strength=st.sampled_from([0.01, 1.0, 100.0]),
    passes=st.integers(0, 3),
)
def test_the_gap_bounds_the_suboptimality(
    seed: int, classes: int, bias: bool, sparse: bool, strength: float, passes: int
) -> None:
    problem = random_problem(seed, 40, 3, classes, bias=bias, sparse=sparse, offset=True, l2=strength)
    early = solve_logistic(problem, classes, tol=1e-13, max_iter=passes)
    best = solve_logistic(problem, classes, tol=1e-13)
    assert -1e-9 <= early.objective - best.objective <= early.gap + 1e-9


@pytest.mark.parametrize("classes", CLASSES)
def test_a_warm_start_at_the_optimum_stays_there(classes: int) -> None:
    problem = random_problem(7, classes=classes)
    result = solve_logistic(problem, classes, tol=1e-13)
    again = solve_logistic(problem, classes, tol=1e-10, start=result)
    assert again.iterations == 0
    np.testing.assert_allclose(again.w, result.w, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("classes", CLASSES)
def test_the_null_model_predicts_class_frequencies(classes: int) -> None:
    problem = random_problem(8, classes=classes, weighted=True)
    result = null_model(problem, classes)
    assert problem.weights is not None
    shares = np.bincount(problem.y.astype(int), problem.weights) / problem.total_weight
    scores = np.stack([np.zeros(()), result.b]) if classes == 2 else result.b
    np.testing.assert_allclose(np.exp(scores) / np.exp(scores).sum(), shares, rtol=1e-9)
    assert result.objective == pytest.approx(
        -problem.total_weight * (shares * np.log(shares)).sum(), rel=1e-12
    )
    assert not result.w.any()


def test_the_null_model_without_intercept_predicts_one_half() -> None:
    problem = random_problem(8, bias=False)
    assert null_model(problem, 2).objective == pytest.approx(120 * np.log(2), rel=1e-14)


def test_newton_cg_and_dual_ascent_agree_on_many_features() -> None:
    problem = random_problem(9, 60, 2500, bias=True, l2=3.0)
    by_newton = solve_logistic(problem, 2, tol=1e-11)
    assert isinstance(problem.X, DenseMatrix)
    by_dual = solve_logistic(replace(problem, X=to_sparse(problem.X.array)), 2, tol=1e-11)
    assert by_newton.method == "Newton by conjugate gradients"
    assert by_dual.method == "dual coordinate ascent"
    assert by_newton.objective == pytest.approx(by_dual.objective, rel=1e-9)
    for result in (by_newton, by_dual):
        assert result.gap <= 1e-11 * 60


def test_many_weights_of_several_classes_are_solved_by_newton_cg() -> None:
    problem = random_problem(12, 100, 800, 3, l2=2.0)
    result = solve_logistic(problem, 3, tol=1e-11)
    assert result.method == "Newton by conjugate gradients"
    assert result.objective == pytest.approx(scikit_learn_objective(problem, 3), rel=1e-9)
    assert result.gap <= 1e-11 * 200
    np.testing.assert_allclose(result.w.sum(axis=1), 0, atol=1e-6)


def test_solvers_stop_at_rounding_level_with_zero_tolerance() -> None:
    sparse = solve_logistic(random_problem(13, 60, 2100, l2=5.0, sparse=True), 2, tol=0.0)
    dense = solve_logistic(random_problem(13, 60, 4, l2=5.0), 2, tol=0.0)
    assert sparse.iterations < 200
    assert dense.iterations < 20
    assert max(sparse.gap / sparse.objective, dense.gap / dense.objective) < 1e-12


def test_slow_dual_ascent_hands_over_to_newton() -> None:
    problem = random_problem(10, 300, 2500, l2=1e-7, sparse=True)
    result = solve_logistic(problem, 2, tol=1e-9)
    assert result.method == "Newton by conjugate gradients"
    assert result.gap <= 1e-9 * 300


def test_solutions_have_the_documented_shapes() -> None:
    two: Solution = solve_logistic(random_problem(11), 2)
    three = solve_logistic(random_problem(11, classes=3), 3)
    assert (two.w.shape, two.b.shape) == ((5,), ())
    assert (three.w.shape, three.b.shape) == ((5, 3), (3,))
