"""Softmax regression with l1 converges as well as that of two classes, and its certificate holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression as ScikitLearn

from tests.learn.linear.designs import to_sparse
from tests.learn.linear.problems import objective
from weigh import Laplace, LogisticRegression, Penalty
from weigh.learn.linear import softmax
from weigh.learn.linear.logistic import null_model, solve_l1_logistic
from weigh.learn.linear.losses import hessian, make_loss
from weigh.learn.linear.matrix import DenseMatrix, InterceptMatrix
from weigh.learn.linear.problem import Problem
from weigh.learn.linear.softmax import SoftmaxSubproblem, centre_weights

MAX_ROUNDS = 60


def mixed_scales() -> tuple[Any, Any]:
    """Return 58 rows of 37 numbers whose sizes differ by six orders of magnitude."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(58, 37)) * 10.0 ** rng.uniform(-3, 3, 37), rng.integers(0, 3, 58)


def random_problem(seed: int, *, sparse: bool) -> tuple[Problem, int]:
    """Return rows, penalties, weights, offsets and an intercept that depend on the seed."""
    rng = np.random.default_rng(seed)
    n, d, classes = int(rng.integers(15, 80)), int(rng.integers(1, 25)), int(rng.integers(3, 7))
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < rng.choice([0.3, 1.0]))
    if seed % 3 == 0:
        X[:, 0] = X[:, -1]
    y = (X @ rng.normal(size=(d, classes)) * rng.choice([0, 1, 5]) + rng.gumbel(size=(n, classes))).argmax(1)
    y[:classes] = np.arange(classes)
    l1 = np.full(d, 10.0 ** rng.uniform(-2, 0.7))
    l2 = np.full(d, 10.0 ** rng.uniform(-2, 0.7) if rng.random() < 0.5 else 0.0)
    weights = rng.integers(1, 4, n).astype(float) if rng.random() < 0.3 else None
    offset = rng.normal(size=(n, classes)) if rng.random() < 0.3 else None
    matrix = to_sparse(X) if sparse else DenseMatrix(X)
    return Problem(matrix, y.astype(float), l1, l2, bool(rng.random() < 0.7), weights, offset), classes


def proximal_gradient(problem: Problem, classes: int, W: Any, b: Any, steps: int) -> tuple[Any, Any]:
    """Return the weights after FISTA with restarts, in plain NumPy."""
    X = problem.X.dense_columns(np.arange(problem.X.width))
    X = np.column_stack([X, np.ones(len(X))]) if problem.has_intercept else X
    l1, l2 = (np.append(a, 0.0)[: X.shape[1], None] for a in (problem.l1, problem.l2))
    s = np.ones(len(X)) if problem.weights is None else problem.weights
    step = 1 / (np.linalg.norm(np.sqrt(s)[:, None] * X, 2) ** 2 / 2 + l2.max())
    targets = np.eye(classes)[problem.y.astype(int)]
    V = U = np.vstack([W, b]) if problem.has_intercept else W
    momentum = 1.0
    for _ in range(steps):
        Z = X @ U + (0 if problem.offset is None else problem.offset)
        p = np.exp(Z - Z.max(axis=1, keepdims=True))
        grad = X.T @ (s[:, None] * (p / p.sum(axis=1, keepdims=True) - targets)) + l2 * U
        T = U - step * grad
        new = np.sign(T) * np.maximum(np.abs(T) - step * l1, 0)
        if ((U - new) * (new - V)).sum() > 0:
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        U, V, momentum = new + (momentum - 1) / following * (new - V), new, following
    return (V[:-1], V[-1]) if problem.has_intercept else (V, np.zeros(classes))


@pytest.mark.parametrize("rows", [load_iris, load_wine, mixed_scales], ids=lambda rows: rows.__name__)
@pytest.mark.parametrize(
    "prior", [Laplace(100), Laplace(1), Penalty(l1=0.1), Penalty(l1=0.1, l2=0.01)], ids=repr
)
@pytest.mark.parametrize("tol", [1e-6, 1e-10])
def test_tables_of_three_classes_converge(rows, prior, tol):
    X, y = rows() if rows is mixed_scales else rows(return_X_y=True)
    model = LogisticRegression(prior=prior, columns="number", scale=None, tol=tol).fit(X, y).model_
    assert model.certificate.converged
    assert model.certificate.iterations <= MAX_ROUNDS


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_no_certificate_is_beaten_by_proximal_gradients(seed, sparse):
    problem, classes = random_problem(seed, sparse=sparse)
    null = null_model(problem, classes).objective
    solution = solve_l1_logistic(problem, classes, tol=1e-9)
    assert solution.gap <= 1e-9 * null
    assert solution.objective == pytest.approx(objective(problem, classes, solution.w, solution.b), rel=1e-12)
    cold = np.zeros_like(solution.w), np.zeros(classes)
    for steps, start in ((1_000, cold), (300, (solution.w, solution.b))):
        peer = objective(problem, classes, *proximal_gradient(problem, classes, *start, steps))
        assert peer >= solution.objective - solution.gap - 1e-13 * null
        assert peer <= solution.objective + 1e-3 * null
    early = solve_l1_logistic(problem, classes, tol=1e-9, max_iter=1)
    assert solution.objective >= early.objective - early.gap


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("l2", [0.0, 0.5])
def test_the_optimum_equals_that_of_scikit_learns_saga(seed, l2):
    problem, classes = random_problem(seed, sparse=False)
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 8)), np.arange(60.0) % classes
    problem = Problem(DenseMatrix(X), y, np.full(8, 0.7), np.full(8, l2))
    solution = solve_l1_logistic(problem, classes, tol=1e-11)
    settings = {"C": 1 / (0.7 + l2), "l1_ratio": 0.7 / (0.7 + l2), "tol": 1e-11, "max_iter": 50_000}
    peer = ScikitLearn(solver="saga", random_state=0, **settings).fit(X, y)
    assert solution.objective == pytest.approx(
        objective(problem, classes, peer.coef_.T, peer.intercept_), rel=1e-9
    )
    # With an even number of classes several constants have the same penalty.
    theirs = peer.coef_.T - peer.coef_.T.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(solution.w - solution.w.mean(axis=1, keepdims=True), theirs, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_dense_and_sparse_rows_and_single_classes_have_the_same_optimum(seed, monkeypatch):
    problems = [random_problem(seed, sparse=sparse)[0] for sparse in (False, True)]
    classes = random_problem(seed, sparse=False)[1]
    solutions = [solve_l1_logistic(problem, classes, tol=1e-9) for problem in problems]
    monkeypatch.setattr(softmax, "MAX_UNKNOWNS", 0)
    solutions.append(solve_l1_logistic(problems[0], classes, tol=1e-9, max_iter=2_000))
    null = null_model(problems[0], classes).objective
    for solution in solutions[1:]:
        assert solution.objective == pytest.approx(solutions[0].objective, abs=2e-9 * null)


def test_the_hessian_of_some_weights_is_a_part_of_the_whole_one():
    problem, classes = random_problem(1, sparse=False)
    loss, width = make_loss(problem, classes), problem.X.width
    rng = np.random.default_rng(1)
    p = loss.probabilities(rng.normal(size=(problem.X.n_rows, classes)))
    X = InterceptMatrix(problem.X) if problem.has_intercept else problem.X
    # With l2 = 1 no curvature is added for constants; the diagonal one is subtracted again.
    whole = hessian(loss, X, np.ones(X.width), p) - np.eye(X.width * classes)
    selected = rng.random((X.width, classes)) < 0.6
    selected[:, 0] = False
    column, feature = np.nonzero(selected.T)
    part = SoftmaxSubproblem(problem, loss)._hessian(p, feature, column)
    indices = column * X.width + feature
    np.testing.assert_allclose(part, whole[np.ix_(indices, indices)], rtol=1e-8, atol=1e-9)
    assert width > 3


def test_one_weight_waits_if_those_of_all_classes_could_change():
    problem = Problem(DenseMatrix(np.eye(3)), np.arange(3.0), np.ones(3), np.zeros(3))
    subproblem = SoftmaxSubproblem(problem, make_loss(problem, 3))
    W = np.array([[1.0, 0.0, -1.0], [0.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    Q = np.array([[1.0, 0.95, -1.0], [0.5, 0.95, -1.2], [0.1, 1.0, 0.2]])
    selected = subproblem.select(W, Q, problem.l1)
    assert selected is not None
    assert selected.tolist() == [[True, False, True], [False, True, True], [False, True, False]]


def test_centring_makes_the_penalty_smallest_and_keeps_weights_with_l2():
    W = np.array([[3.0, 1.0, 2.0], [3.0, 1.0, 2.0], [3.0, 1.0, 2.0]])
    centred = centre_weights(W, np.array([1.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0]))
    assert centred.tolist() == [[1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [3.0, 1.0, 2.0]]
    even = np.array([[-1.0, 2.0, 3.0, 4.0], [-2.0, -1.0, 1.0, 4.0]])
    assert centre_weights(even, np.ones(2), np.zeros(2)).tolist() == [[-3.0, 0.0, 1.0, 2.0], even[1].tolist()]
