"""Certificates of log loss at points that fits rarely reach."""

from __future__ import annotations

import numpy as np
import pytest

from weigh.learn.linear.log_certificate import certify_log
from weigh.learn.linear.losses import decrement_bound
from weigh.learn.linear.matrix import DenseMatrix
from weigh.learn.linear.problem import Problem, Solution


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
    shared = rng.normal(size=(50, 1))
    A = shared + 1e-3 * rng.normal(size=(50, 4))
    hess = A.T @ A
    for _ in range(20):
        grad, errors = rng.normal(size=(2, 2)), rng.uniform(0, 1e-2, (2, 2))
        moved = (grad + errors * rng.choice([-1, 1], size=(2, 2))).T.ravel()
        exact = np.sqrt(moved @ np.linalg.solve(hess, moved))
        assert decrement_bound(hess, grad, errors, 50) >= exact * (1 - 1e-6)
    g = grad.T.ravel()
    assert decrement_bound(hess, grad, 0 * grad, 50) == pytest.approx(
        np.sqrt(g @ np.linalg.solve(hess, g)), rel=1e-4
    )
    hess[:, -1], hess[-1] = hess[:, 0] * (1 + 1e-13), hess[0] * (1 + 1e-13)  # equal but for rounding
    hess[-1, -1] = hess[0, 0]
    assert decrement_bound(hess, grad, 0 * grad, 50) == np.inf
