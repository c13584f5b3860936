"""Certificates of log loss at points that fits rarely reach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from weigh.features.blocks import Floats
from weigh.learn.linear.log_certificate import certify_log
from weigh.learn.linear.logistic import solve_logistic
from weigh.learn.linear.losses import hessian, make_loss
from weigh.learn.linear.matrix import DenseMatrix
from weigh.learn.linear.problem import Problem, Solution
from weigh.learn.linear.softmax_decrement import bound_decrement


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_dual_probability_where_the_model_has_none_costs_its_score(n_classes: int) -> None:
    l2 = 1e-3
    one = np.ones(1)
    problem = Problem(DenseMatrix(one[:, None]), one, 0 * one, l2 * one, has_intercept=False)
    w = np.array([-2000.0]) if n_classes == 2 else np.array([[2000.0, 0.0, 0.0]])
    dual = np.eye(n_classes)[[1]][:, -1:] if n_classes == 2 else np.eye(n_classes)[[1]]
    solution = Solution(w, np.zeros(w.shape[1:]), 0.0, 0.0, 1, "stated", dual)
    certified = certify_log(problem, solution, n_classes, 0.0)
    # A weight of 7 for the true class has an objective below 0.1.
    assert certified.objective - certified.gap < 0.1


def test_the_bound_of_the_decrement_holds_whatever_the_signs_of_the_gradient() -> None:
    rng = np.random.default_rng(0)
    U = DenseMatrix(rng.normal(size=(50, 1)) + 1e-3 * rng.normal(size=(50, 2)))
    problem = Problem(U, np.arange(50.0) % 3, np.zeros(2), np.zeros(2))
    loss = make_loss(problem, 3)
    p = loss.probabilities(rng.normal(size=(50, 3)))
    hess = hessian(loss, U, np.zeros(2), p)
    for _ in range(20):
        grad = rng.normal(size=(2, 3))
        grad -= grad.mean(axis=1, keepdims=True)
        errors = rng.uniform(0, 1e-2, (2, 3))
        moved = (grad + errors * rng.choice([-1, 1], size=(2, 3))).T.ravel()
        bound = bound_decrement(loss, U, p, grad, errors)
        assert bound is not None
        assert bound.norm >= np.sqrt(moved @ np.linalg.solve(hess, moved))
    bound, g = bound_decrement(loss, U, p, grad, 0 * grad), grad.T.ravel()
    assert bound is not None
    assert bound.norm == pytest.approx(np.sqrt(g @ np.linalg.solve(hess, g)), rel=1e-4)
    step = np.linalg.solve(hess, g).reshape(3, 2).T
    assert np.ptp(U.times(step), axis=1).max() <= bound.largest_step


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("exponent", [10, 20, 29, 31, 36, 45])
def test_a_column_that_nearly_repeats_another_is_part_of_the_gap(n_classes: int, exponent: int) -> None:
    rng = np.random.default_rng(0)
    first, second = np.round(64 * rng.normal(size=(2, 200))) / 64  # so that the sum below is exact
    scores = np.column_stack([0 * first, first - second, first + second])
    y = (scores + rng.gumbel(size=(200, 3))).argmax(axis=1)
    y = np.minimum(y, n_classes - 1).astype(float)

    def problem(*columns: Floats) -> Problem:
        none = np.zeros(len(columns))
        return Problem(DenseMatrix(np.column_stack(columns)), y, none, none)

    minimum = solve_logistic(problem(first, second), n_classes, 1e-10, 100).objective
    fit = solve_logistic(problem(first), n_classes, 1e-10, 100)
    w = np.concatenate([fit.w, 0 * fit.w])
    close = problem(first, first + 2.0**-exponent * second)
    certified = certify_log(close, replace(fit, w=w), n_classes, 1e-8)
    assert certified.objective > minimum + 0.01
    assert certified.objective - certified.gap <= minimum
