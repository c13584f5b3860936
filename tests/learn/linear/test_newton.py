"""Newton's method in difficult cases: collinear or badly scaled columns, and separable classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.learn.linear.designs import to_sparse
from tests.learn.linear.problems import minimum, random_problem
from weigh.errors import DataError, Separated
from weigh.learn.linear.logistic import null_model, solve_logistic
from weigh.learn.linear.matrix import DenseMatrix, Matrix
from weigh.learn.linear.problem import Problem
from weigh.learn.logistic_regression import solve_logistic_regression


def make_problem(
    X: list[list[float]], y: list[float], bias: bool = True, l2: float = 0.0, sparse: bool = False
) -> Problem:
    array = np.array(X, np.float64)
    matrix: Matrix = to_sparse(array) if sparse else DenseMatrix(array)
    return Problem(
        matrix, np.array(y, np.float64), np.zeros(array.shape[1]), np.full(array.shape[1], l2), bias
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_without_penalty_the_optimum_equals_that_of_bfgs(classes: int) -> None:
    problem = random_problem(1, 200, 4, classes, l2=0.0)
    result = solve_logistic(problem, classes, tol=1e-13)
    assert result.objective == pytest.approx(minimum(problem, classes), rel=1e-10)
    assert result.gap <= 1e-10 * result.objective


def test_without_penalty_weights_sum_to_zero_over_classes() -> None:
    result = solve_logistic(random_problem(2, 200, 4, 3, l2=0.0), 3, tol=1e-12)
    np.testing.assert_allclose(result.w.sum(axis=1), 0, atol=1e-12)
    assert result.b.sum() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_duplicate_constant_and_empty_columns_do_not_change_the_fit(classes: int) -> None:
    problem = random_problem(3, 150, 3, classes, l2=0.0)
    assert isinstance(problem.X, DenseMatrix)
    X = problem.X.array
    wider = np.column_stack([X, X[:, 0], X @ np.ones(3), np.ones(150), np.zeros(150)])
    degenerate = Problem(DenseMatrix(wider), problem.y, np.zeros(7), np.zeros(7))
    result, original = (solve_logistic(p, classes, tol=1e-12) for p in (degenerate, problem))
    assert result.objective == pytest.approx(original.objective, rel=1e-10)
    assert result.gap <= 1e-9 * result.objective
    assert np.abs(result.w).max() < 10


def test_weights_scale_with_columns_of_very_different_scales() -> None:
    problem = random_problem(4, 150, 3, l2=0.0)
    assert isinstance(problem.X, DenseMatrix)
    scales = np.array([1e-6, 1.0, 1e6])
    scaled = Problem(DenseMatrix(problem.X.array * scales), problem.y, problem.l1, problem.l2)
    result, original = (solve_logistic(p, 2, tol=1e-12) for p in (scaled, problem))
    np.testing.assert_allclose(result.w * scales, original.w, rtol=1e-5)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_separable_classes_are_an_error_without_a_prior(sparse: bool, bias: bool) -> None:
    problem = make_problem([[1.0], [2.0], [-1.0], [-3.0]], [1, 1, 0, 0], bias, sparse=sparse)
    with pytest.raises(DataError, match=r"A plane separates the classes.*prior=1"):
        solve_logistic(problem, 2)


def test_three_separable_classes_are_an_error_without_a_prior() -> None:
    with pytest.raises(Separated, match="A plane separates the classes"):
        solve_logistic(make_problem([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2]), 3)


def test_separable_classes_have_an_optimum_with_a_prior() -> None:
    result = solve_logistic(make_problem([[1.0], [2.0], [-1.0], [-3.0]], [1, 1, 0, 0], l2=1.0), 2, tol=1e-12)
    assert result.gap <= 1e-11
    assert 0.5 < result.w[0] < 2


def test_a_feature_of_one_class_only_is_reported() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), (rng.random(200) < 0.5).astype(np.float64)
    X[:, 1] = (np.arange(200) < 20) & (y > 0)
    with pytest.raises(Separated, match=r"\(numbers 1\).*prior=1") as error:
        solve_logistic(Problem(DenseMatrix(X), y, np.zeros(3), np.zeros(3)), 2)
    assert error.value.features == [1]


def test_a_prior_on_the_feature_of_one_class_gives_an_optimum() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), (rng.random(200) < 0.5).astype(np.float64)
    X[:, 1] = (np.arange(200) < 20) & (y > 0)
    result = solve_logistic(Problem(DenseMatrix(X), y, np.zeros(3), np.array([0, 1.0, 0])), 2, tol=1e-12)
    assert result.gap <= 1e-9


def test_rows_of_one_class_are_an_error_with_an_intercept() -> None:
    with pytest.raises(DataError, match="1 of 2 classes"):
        null_model(make_problem([[1.0], [2.0]], [1, 1]), 2)
    assert solve_logistic(make_problem([[1.0], [2.0]], [1, 1], bias=False, l2=1.0), 2).w[0] > 0


def test_rows_without_features_have_only_an_intercept() -> None:
    result = solve_logistic(
        Problem(DenseMatrix(np.empty((4, 0))), np.array([0, 1, 1, 1.0]), np.empty(0), np.empty(0)),
        2,
        tol=1e-12,
    )
    assert result.b == pytest.approx(np.log(3))
    assert result.w.shape == (0,)


@pytest.mark.parametrize("distance", [1e-3, 1e-5, 1e-6, 1e-7, 1e-8])
def test_nearly_collinear_columns_reach_the_optimum(distance: float) -> None:
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=(2, 100))
    y = (u + 0.5 * v + rng.logistic(size=100) > 0).astype(float)
    none = np.zeros(2)
    best = solve_logistic_regression(
        Problem(DenseMatrix(np.column_stack([u, v])), y, none, none), 2, 1e-12, 100
    )
    collinear = Problem(DenseMatrix(np.column_stack([u, u + distance * v])), y, none, none)
    result = solve_logistic_regression(collinear, 2, 1e-9, 100)
    # Rounding of u + distance · v changes the problem slightly.
    assert result.objective == pytest.approx(best.objective, abs=1e-7)
    scores = collinear.X.times(result.w) + result.b
    loss = np.logaddexp(0, np.where(y > 0, -scores, scores)).sum()
    assert loss == pytest.approx(result.objective, abs=1e-5)


def test_one_class_that_a_plane_separates_from_two_others_is_an_error() -> None:
    X = [[3, -1], [3, 1], [-1, 3], [2, -3], [-1, 1], [-2, -1], [0, 1], [-2, -2]]
    with pytest.raises(Separated):
        solve_logistic_regression(make_problem(X, [0, 1, 2, 2, 0, 0, 0, 0]), 3, 1e-6, 1000)


def test_a_class_at_the_end_of_a_column_beside_another_has_no_finite_optimum() -> None:
    X = [[-3], [-1], [1], [-2], [-1], [-3], [3], [-2], [-1]]
    with pytest.raises(Separated):
        solve_logistic_regression(make_problem(X, [0, 1, 2, 1, 1, 2, 1, 1, 2]), 3, 1e-6, 1000)


def test_an_offset_far_from_zero_is_left_to_the_intercept() -> None:
    rng = np.random.default_rng(0)
    problem = random_problem(3, 100, 3, 2, l2=1.0)
    offset = rng.normal(size=100)
    near, far = (
        solve_logistic_regression(replace(problem, offset=offset + shift), 2, 1e-10, 100)
        for shift in (0.0, 1e6)
    )
    np.testing.assert_allclose(far.w, near.w, atol=1e-8)
    assert float(far.b) + 1e6 == pytest.approx(float(near.b), abs=1e-8)
    nulls = [null_model(replace(problem, offset=offset + shift), 2) for shift in (0.0, 1e6)]
    assert nulls[1].objective == pytest.approx(nulls[0].objective)
