"""Random problems of logistic regression, and their optima by a general-purpose optimiser."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from tests.learn.linear.designs import to_sparse
from weigh.learn.linear.logistic import gradient
from weigh.learn.linear.losses import make_loss
from weigh.learn.linear.matrix import DenseMatrix, Matrix
from weigh.learn.linear.problem import Problem


def random_problem(
    seed: int,
    n: int = 120,
    d: int = 5,
    classes: int = 2,
    *,
    bias: bool = True,
    weighted: bool = False,
    offset: bool = False,
    l2: Any = 1.0,
    sparse: bool = False,
) -> Problem:
    """Return rows with half of the cells zero, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    scores = X @ rng.normal(size=(d, classes)) + rng.gumbel(size=(n, classes))
    y = np.argmax(scores, axis=1)
    y[:classes] = np.arange(classes)
    matrix: Matrix = to_sparse(X) if sparse else DenseMatrix(X)
    shape = (n,) if classes == 2 else (n, classes)
    return Problem(
        matrix,
        y.astype(np.float64),
        np.zeros(d),
        np.broadcast_to(np.asarray(l2, np.float64), d).copy(),
        bias,
        rng.integers(0, 4, n).astype(np.float64) if weighted else None,
        rng.normal(size=shape) if offset else None,
    )


def objective(problem: Problem, classes: int, w: Any, b: Any) -> float:
    """Return the objective at the weights."""
    S = problem.X.times(w.reshape(problem.X.width, -1)) + b
    return make_loss(problem, classes).value(S) + problem.penalty(w)


def minimum(problem: Problem, classes: int) -> float:
    """Return the minimum found by BFGS."""
    d, k = problem.X.width, 1 if classes == 2 else classes
    shape = (d,) if k == 1 else (d, k)

    def unpack(v: Any) -> tuple[Any, Any]:
        b = v[d * k :].reshape(shape[1:]) if problem.has_intercept else np.zeros(shape[1:])
        return v[: d * k].reshape(shape), b

    def value(v: Any) -> tuple[float, Any]:
        w_grad, b_grad = gradient(problem, classes, *unpack(v))
        grad = np.concatenate([w_grad.ravel(), np.atleast_1d(b_grad) if problem.has_intercept else []])
        return objective(problem, classes, *unpack(v)), grad

    result = optimize.minimize(
        value,
        np.zeros((d + problem.has_intercept) * k),
        jac=True,
        method="BFGS",
        options={"gtol": 1e-9, "maxiter": 5000},
    )
    return float(result.fun)
