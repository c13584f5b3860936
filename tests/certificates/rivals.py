"""Weights that other methods find, to compare their exact objectives with a certificate."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import linalg, optimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression

from tests.certificates.exact_objectives import ExactProblem, Floats, to_integers

Weights = tuple[Floats, float]
MAX_EXACT_UNKNOWNS = 9


def rivals(problem: ExactProblem, w: Floats, b: float) -> Iterator[tuple[str, Weights]]:
    """Yield the weights of other methods, some of which start from the weights given."""
    finders: dict[str, list[tuple[str, Callable[..., Weights | None]]]] = {
        "squared": [("exact", exact_least_squares), ("scipy", least_squares), ("scikit-learn", elastic_net)],
        "absolute": [("HiGHS", linear_program), ("interpolation", interpolate)],
        "log": [("BFGS", bfgs), ("scikit-learn", logistic)],
    }
    for name, find in finders[problem.loss]:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", (RuntimeWarning, ConvergenceWarning, linalg.LinAlgWarning))
            warnings.simplefilter("ignore", optimize.OptimizeWarning)
            found = find(problem, w, b)
        if found is not None and np.isfinite(found[0]).all() and np.isfinite(found[1]):
            yield name, found


def exact_least_squares(problem: ExactProblem, w: Floats, b: float) -> Weights | None:
    """Solve for the non-zero weights with their signs in fractions, rounded to doubles at the end."""
    active = np.flatnonzero(w) if problem.l1 else np.arange(len(w))
    if not 0 < len(active) + problem.has_intercept <= MAX_EXACT_UNKNOWNS:
        return None
    one = np.ones((len(problem.y), int(problem.has_intercept)))
    table, power = to_integers(np.column_stack([problem.X[:, active], one, problem.y]))
    weights, weight_power = to_integers(problem.s)
    *columns, y = zip(*table, strict=True)
    unit = Fraction(2) ** (2 * power + weight_power)
    system = []
    for k, left in enumerate(columns):
        weighted = [a * t for a, t in zip(left, weights, strict=True)]
        row = [unit * sum(a * c for a, c in zip(weighted, right, strict=True)) for right in (*columns, y)]
        if k < len(active):
            row[k] += Fraction(problem.l2)
            row[-1] -= Fraction(problem.l1) * int(np.sign(w[active[k]]))
        system.append(row)
    solution = solve_exactly(system)
    found = np.zeros(len(w))
    found[active] = [float(v) for v in solution[: len(active)]]
    return found, float(solution[-1]) if problem.has_intercept else 0.0


def solve_exactly(system: list[list[Fraction]]) -> list[Fraction]:
    """Solve a symmetric positive semi-definite system [A | c] by elimination; free unknowns are zero."""
    n, pivots = len(system), []
    for k in range(n):
        if not system[k][k]:
            continue
        pivots.append(k)
        for i in range(n):
            if i != k and system[i][k]:
                factor = system[i][k] / system[k][k]
                system[i] = [a - factor * c for a, c in zip(system[i], system[k], strict=True)]
    return [system[k][-1] / system[k][k] if k in pivots else Fraction(0) for k in range(n)]


def least_squares(problem: ExactProblem, w: Floats, b: float) -> Weights | None:
    """Solve by LAPACK, with scaled columns."""
    if problem.l1:
        return None
    rows = np.column_stack([problem.X, np.ones(len(problem.y))]) if problem.has_intercept else problem.X
    root = np.sqrt(problem.s)
    A = np.vstack([root[:, None] * rows, np.sqrt(problem.l2) * np.eye(rows.shape[1])[: len(w)]])
    scale = np.linalg.norm(A, axis=0)
    scale[scale == 0] = 1.0
    found = linalg.lstsq(A / scale, np.append(root * problem.y, np.zeros(len(w))))[0] / scale
    return found[: len(w)], float(found[-1]) if problem.has_intercept else 0.0


def elastic_net(problem: ExactProblem, w: Floats, b: float) -> Weights | None:
    """Fit scikit-learn's lasso or elastic net, where there is an l1 penalty."""
    if not problem.l1:
        return None
    total = float(problem.s.sum())
    alpha, settings = (problem.l1 + problem.l2) / total, {"fit_intercept": problem.has_intercept}
    share = problem.l1 / (problem.l1 + problem.l2)
    model: Any = Lasso(alpha, tol=1e-12, max_iter=2000, **settings)
    if problem.l2:
        model = ElasticNet(alpha, l1_ratio=share, tol=1e-12, max_iter=2000, **settings)
    model.fit(problem.X, problem.y, sample_weight=problem.weights)
    return np.asarray(model.coef_), float(model.intercept_)


def linear_program(problem: ExactProblem, w: Floats, b: float) -> Weights | None:
    """Solve absolute loss with l1 as a linear program, with scaled columns."""
    if problem.l2:
        return None
    (n, d), s = problem.X.shape, problem.s
    scale = np.abs(problem.X).max(axis=0)
    scale[scale == 0] = 1.0
    X, l1 = problem.X / scale, problem.l1 / scale
    one = np.ones((n, 1)) * problem.has_intercept
    A = np.hstack([X, -X, one, -one, np.eye(n), -np.eye(n)])
    cost = np.concatenate([l1, l1, [0.0, 0.0], s, s])
    result = optimize.linprog(cost, A_eq=A, b_eq=problem.y, method="highs")
    if result.x is None:
        return None
    return (result.x[:d] - result.x[d : 2 * d]) / scale, float(result.x[2 * d] - result.x[2 * d + 1])


def interpolate(problem: ExactProblem, w: Floats, b: float) -> Weights | None:
    """Interpolate the rows of smallest residuals exactly: a vertex, if these are the right rows."""
    active = np.flatnonzero(w) if problem.l1 else np.arange(len(w))
    k = len(active) + problem.has_intercept
    if problem.l2 or not 0 < k <= MAX_EXACT_UNKNOWNS:
        return None
    rows = np.argsort(np.abs(problem.y - problem.X @ w - b), kind="stable")[:k]
    part = ExactProblem(
        "squared", problem.X[rows][:, active], problem.y[rows], 0.0, 0.0, problem.has_intercept
    )
    found = exact_least_squares(part, w[active], b)
    if found is None:
        return None
    full = np.zeros(len(w))
    full[active] = found[0]
    return full, found[1]


def bfgs(problem: ExactProblem, w: Floats, b: float) -> Weights | None:
    """Minimise log loss from the weights, in scaled columns; none with l1, which has no gradient at zero."""
    if problem.l1:
        return None
    scale = np.sqrt(problem.s @ np.square(problem.X) / 4 + problem.l2)
    scale[scale == 0] = 1.0
    sign = np.where(problem.y > 0, 1.0, -1.0)

    def value(v: Floats) -> tuple[float, Floats]:
        u = v[:-1] / scale
        margin = sign * (problem.X @ u + v[-1] * problem.has_intercept)
        p = np.exp(-np.logaddexp(0, margin))
        g = -problem.s * sign * p
        gradient = np.append((problem.X.T @ g + problem.l2 * u) / scale, g.sum() * problem.has_intercept)
        return float(problem.s @ np.logaddexp(0, -margin) + problem.l2 * u @ u / 2), gradient

    found = optimize.minimize(value, np.append(w * scale, b), jac=True, options={"gtol": 1e-12}).x
    return found[:-1] / scale, float(found[-1]) * problem.has_intercept


def logistic(problem: ExactProblem, w: Floats, b: float) -> Weights | None:
    """Fit scikit-learn's logistic regression with l2."""
    if problem.l1 or not problem.l2:
        return None
    model = LogisticRegression(
        C=1 / problem.l2,
        fit_intercept=problem.has_intercept,
        tol=1e-10,
        max_iter=200,
        solver="newton-cholesky",
    )
    model.fit(problem.X, problem.y, sample_weight=problem.weights)
    return np.asarray(model.coef_[0]), float(np.atleast_1d(model.intercept_)[0])
