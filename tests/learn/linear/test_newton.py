"""Newton's method where it is difficult: collinear, empty, unlike columns; classes that a plane separates."""

from __future__ import annotations

import numpy as np
import pytest

from tests.learn.linear.problems import compressed, minimum, random_problem
from weigh.errors import DataError, Separated
from weigh.learn.linear.logistic import null_model, solve_logistic
from weigh.learn.linear.matrix import DenseMatrix, Matrix
from weigh.learn.linear.problem import Problem
from weigh.learn.logistic_regression import solve_logistic_regression


def plain(
    X: list[list[float]], y: list[float], bias: bool = True, l2: float = 0.0, sparse: bool = False
) -> Problem:
    array = np.array(X, np.float64)
    matrix: Matrix = compressed(array) if sparse else DenseMatrix(array)
    return Problem(
        matrix, np.array(y, np.float64), np.zeros(array.shape[1]), np.full(array.shape[1], l2), bias
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_without_any_penalty_the_optimum_is_that_of_a_general_method(classes: int) -> None:
    problem = random_problem(1, 200, 4, classes, l2=0.0)
    found = solve_logistic(problem, classes, tol=1e-13)
    assert found.objective == pytest.approx(minimum(problem, classes), rel=1e-10)
    assert found.gap <= 1e-10 * found.objective


def test_without_any_penalty_weights_of_classes_have_a_mean_of_zero() -> None:
    found = solve_logistic(random_problem(2, 200, 4, 3, l2=0.0), 3, tol=1e-12)
    np.testing.assert_allclose(found.w.sum(axis=1), 0, atol=1e-12)
    assert found.b.sum() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_repeated_constant_and_empty_columns_do_no_harm(classes: int) -> None:
    problem = random_problem(3, 150, 3, classes, l2=0.0)
    assert isinstance(problem.X, DenseMatrix)
    X = problem.X.array
    odd = np.column_stack([X, X[:, 0], X @ np.ones(3), np.ones(150), np.zeros(150)])
    harder = Problem(DenseMatrix(odd), problem.y, np.zeros(7), np.zeros(7))
    found, plainer = (solve_logistic(each, classes, tol=1e-12) for each in (harder, problem))
    assert found.objective == pytest.approx(plainer.objective, rel=1e-10)
    assert found.gap <= 1e-9 * found.objective
    assert np.abs(found.w).max() < 10


def test_columns_of_unlike_sizes_are_no_trouble() -> None:
    problem = random_problem(4, 150, 3, l2=0.0)
    assert isinstance(problem.X, DenseMatrix)
    sizes = np.array([1e-6, 1.0, 1e6])
    scaled = Problem(DenseMatrix(problem.X.array * sizes), problem.y, problem.l1, problem.l2)
    found, before = (solve_logistic(each, 2, tol=1e-12) for each in (scaled, problem))
    np.testing.assert_allclose(found.w * sizes, before.w, rtol=1e-5)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_classes_that_a_plane_separates_are_refused_without_a_prior(sparse: bool, bias: bool) -> None:
    problem = plain([[1.0], [2.0], [-1.0], [-3.0]], [1, 1, 0, 0], bias, sparse=sparse)
    with pytest.raises(DataError, match=r"Some plane separates the classes.*Give prior=1"):
        solve_logistic(problem, 2)


def test_three_separable_classes_are_refused_without_a_prior() -> None:
    with pytest.raises(Separated, match="Some plane separates"):
        solve_logistic(plain([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2]), 3)


def test_classes_that_a_plane_separates_have_an_optimum_with_a_prior() -> None:
    found = solve_logistic(plain([[1.0], [2.0], [-1.0], [-3.0]], [1, 1, 0, 0], l2=1.0), 2, tol=1e-12)
    assert found.gap <= 1e-11
    assert 0.5 < found.w[0] < 2


def test_a_feature_of_one_class_only_is_named() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), (rng.random(200) < 0.5).astype(np.float64)
    X[:, 1] = (np.arange(200) < 20) & (y > 0)
    with pytest.raises(Separated, match=r"\(numbers 1\).*Give prior=1") as refusal:
        solve_logistic(Problem(DenseMatrix(X), y, np.zeros(3), np.zeros(3)), 2)
    assert refusal.value.features == [1]


def test_a_prior_on_the_feature_of_one_class_is_enough() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), (rng.random(200) < 0.5).astype(np.float64)
    X[:, 1] = (np.arange(200) < 20) & (y > 0)
    found = solve_logistic(Problem(DenseMatrix(X), y, np.zeros(3), np.array([0, 1.0, 0])), 2, tol=1e-12)
    assert found.gap <= 1e-9


def test_rows_of_one_class_are_refused_where_a_bias_is_free() -> None:
    with pytest.raises(DataError, match="1 of 2 classes"):
        null_model(plain([[1.0], [2.0]], [1, 1]), 2)
    assert solve_logistic(plain([[1.0], [2.0]], [1, 1], bias=False, l2=1.0), 2).w[0] > 0


def test_rows_without_features_have_only_a_bias() -> None:
    found = solve_logistic(
        Problem(DenseMatrix(np.empty((4, 0))), np.array([0, 1, 1, 1.0]), np.empty(0), np.empty(0)),
        2,
        tol=1e-12,
    )
    assert found.b == pytest.approx(np.log(3))
    assert found.w.shape == (0,)


@pytest.mark.parametrize("apart", [1e-3, 1e-5, 1e-6, 1e-7, 1e-8])
def test_columns_that_are_nearly_alike_are_told_apart(apart: float) -> None:
    draw = np.random.default_rng(0)
    u, v = draw.normal(size=(2, 100))
    y = (u + 0.5 * v + draw.logistic(size=100) > 0).astype(float)
    none = np.zeros(2)
    best = solve_logistic_regression(
        Problem(DenseMatrix(np.column_stack([u, v])), y, none, none), 2, 1e-12, 100
    )
    alike = Problem(DenseMatrix(np.column_stack([u, u + apart * v])), y, none, none)
    found = solve_logistic_regression(alike, 2, 1e-9, 100)
    # Rounding u + apart · v makes it another problem, by so little.
    assert found.objective == pytest.approx(best.objective, abs=1e-7)
    scores = alike.X.times(found.w) + found.b
    loss = np.logaddexp(0, np.where(y > 0, -scores, scores)).sum()
    assert loss == pytest.approx(found.objective, abs=1e-5)
