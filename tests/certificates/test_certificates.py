"""Certificates against exact arithmetic and against the weights of other methods."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.certificates.checking import check_problem, find_fault, fit
from tests.certificates.exact_objectives import ExactProblem
from tests.certificates.random_problems import DIFFICULTIES, random_problem
from weigh import Laplace, LinearRegression, LogisticRegression, Normal
from weigh.errors import NotOptimal
from weigh.learn.linear.double_double import exact, two_product
from weigh.learn.linear.matrix import DenseMatrix
from weigh.learn.linear.unpenalised_span import UnpenalisedSpan

N_QUICK = 3 * 4 * len(DIFFICULTIES)  # every loss, penalty and difficulty once


@pytest.mark.parametrize("seed", range(N_QUICK))
def test_no_certificate_is_beaten(seed: int) -> None:
    case = random_problem(seed)
    outcome = check_problem(case.problem)
    assert not outcome.fault
    assert case.difficulty != "ordinary" or outcome.is_optimal


def test_the_checker_finds_a_gap_that_is_too_small() -> None:
    problem = random_problem(0).problem
    w, b, certificate = fit(problem)
    moved = w + 1e-3
    assert find_fault(problem, moved, b, certificate)
    low, _ = problem.objective(moved, b)
    stated = type(certificate)(float(low), 1e-12, certificate.null, certificate.tol, 1, "")
    assert "finds" in find_fault(problem, moved, b, stated)


@pytest.mark.parametrize("factor", [1e5, 1e7])
def test_the_certificate_of_a_lasso_holds_with_one_large_row(factor: float) -> None:
    rng = np.random.default_rng(48)
    X = rng.normal(size=(6, 2))
    X[0] *= factor
    outcome = check_problem(ExactProblem("squared", X, rng.normal(size=6), 0.1, 0.0, True))
    assert not outcome.fault
    assert outcome.is_optimal


@pytest.mark.parametrize(("n", "d"), [(5, 8), (27, 38)])
def test_absolute_loss_of_wide_rows_far_from_zero_is_minimised_without_a_bias(n: int, d: int) -> None:
    rng = np.random.default_rng(2)
    problem = ExactProblem("absolute", 1e5 + rng.normal(size=(n, d)), rng.normal(size=n), 0.0, 0.0, False)
    w, b, certificate = fit(problem)
    assert not find_fault(problem, w, b, certificate)
    assert certificate.converged
    assert certificate.objective < 1e-8


def test_the_certificate_of_absolute_loss_holds_with_nearly_collinear_columns() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(8, 3))
    X[:, 2] = X[:, 0] + 1e-9 * rng.normal(size=8)
    for bias in (True, False):
        assert not check_problem(ExactProblem("absolute", X, rng.normal(size=8), 0.0, 0.0, bias)).fault


def test_wide_ridge_with_mixed_scales_is_optimal() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(22, 36)) * 10 ** rng.uniform(-3, 3, 36)
    outcome = check_problem(ExactProblem("squared", X, rng.normal(size=22), 0.0, 1e-6, True))
    assert not outcome.fault
    assert outcome.is_optimal


def test_a_column_that_nearly_collinear_ones_combine_to_but_for_rounding_is_part_of_the_gap() -> None:
    outcome = check_problem(random_problem(502_189).problem)
    assert not outcome.fault
    assert not outcome.is_optimal


def test_a_column_that_repeats_others_but_for_rounding_is_part_of_the_gap() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    y = rng.normal(size=50)
    exact_copy = ExactProblem("squared", np.column_stack([X, X[:, 0]]), y, 0.0, 0.0, True)
    rounded_sum = ExactProblem("squared", np.column_stack([X, X.sum(axis=1)]), y, 0.0, 0.0, True)
    assert check_problem(exact_copy).is_optimal
    assert not check_problem(rounded_sum).is_optimal


def test_softmax_without_a_prior_bounds_what_nearly_equal_columns_could_still_fit() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(12, 2))
    X[:, 1] = 3 * X[:, 0] + 1e-13 * rng.normal(size=12)
    y = np.arange(12) % 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotOptimal)
        model = LogisticRegression(None, columns="number").fit(X, y)
    certificate = model.certificate_
    # In units in which the difference of the columns is visible, the same rows can be fitted better.
    rest = np.array([float((Fraction(b) - 3 * Fraction(a)) * 10**13) for a, b in X.tolist()])
    better = LogisticRegression(None, columns="number").fit(np.column_stack([X[:, 0], rest]), y)
    assert better.certificate_.converged
    assert certificate.objective - certificate.gap <= better.certificate_.objective


@pytest.mark.parametrize("loss", ["squared", "absolute", "log"])
@pytest.mark.parametrize("l1", [0.0, 1.0])
def test_the_objective_is_that_of_the_weights_around_a_prior_mean(loss: str, l1: float) -> None:
    rng = np.random.default_rng(4)
    X, mean = 1e8 + rng.normal(size=(30, 2)), 0.3
    y = X @ [mean, mean] + rng.normal(size=30) if loss != "log" else (X[:, 0] > 1e8).astype(float)
    problem = ExactProblem(loss, X, y, l1, 1.0 - l1, True, prior_mean=mean)
    prior = Laplace(1.0, mean=mean) if l1 else Normal(1.0, mean=mean)
    learner: Any = LogisticRegression(prior, columns="number")
    if loss != "log":
        noise = Laplace(1.0) if loss == "absolute" else Normal(1.0)
        learner = LinearRegression(prior, noise=noise, columns="number")
    learner.fit(X, y.astype(int) if loss == "log" else y)
    certificate = learner.certificate_
    low, high = problem.objective(np.ravel(learner.coef_), float(np.ravel(learner.intercept_)[0]))
    assert abs(low - Fraction(certificate.objective)) <= Fraction(certificate.gap)
    assert abs(high - Fraction(certificate.objective)) <= Fraction(certificate.gap)


def test_products_and_sums_in_extended_precision_are_exact_where_doubles_cancel() -> None:
    values = np.array([1e16, 1.0, -1e16, 2.0**-40])
    total = two_product(values, np.ones(4)).sum()
    assert float(total.high) + float(total.low) == 1.0 + 2.0**-40
    product = two_product(np.array([1 + 2.0**-30]), np.array([1 - 2.0**-30]))
    assert (product.high[0] - 1, product.low[0]) == (0.0, -(2.0**-60))
    assert exact(values).minus(exact(values)).high.tolist() == [0.0] * 4


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_the_inverse_root_makes_columns_orthonormal(offset: float) -> None:
    rng = np.random.default_rng(0)
    columns, t = np.column_stack([np.ones(30), offset + rng.normal(size=(30, 2))]), rng.random(30) + 0.1
    span = UnpenalisedSpan.decompose(DenseMatrix(columns), t)
    AC = np.sqrt(t)[:, None] * columns[:, span.kept] @ span.inverse_root
    np.testing.assert_allclose(AC.T @ AC, np.eye(3), atol=1e-5)
    assert span.error < 0.5
