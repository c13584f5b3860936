"""Logistic and softmax regression with l1 and l2 penalties.

    minimise  Σ sᵢ logloss(yᵢ, xᵢ·W + b + oᵢ) + Σ l1ⱼ |wⱼ| + ½ Σ l2ⱼ wⱼ²

Without l1: Newton's method, or dual coordinate ascent for many sparse penalised features.
With l1: proximal Newton, with coordinate descent on the quadratic model and, near the optimum, Newton steps
on the active set; several classes take steps together (`softmax`). With two classes w is [d] and b a number,
with more w is [d, classes] and b [classes].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from weigh.errors import Separated
from weigh.features.blocks import Floats, Mask
from weigh.learn.linear.conjugate_gradient import active_set_newton_step
from weigh.learn.linear.coordinate_descent import (
    ColumnSubproblem,
    GramSubproblem,
    QuadraticModel,
    SweepBudget,
)
from weigh.learn.linear.dual_ascent import solve_dual_ascent
from weigh.learn.linear.losses import hessian, make_loss, solve_newton_system
from weigh.learn.linear.matrix import DenseMatrix, InterceptMatrix, Matrix, SparseMatrix
from weigh.learn.linear.newton import (
    MAX_DENSE_HESSIAN_SIZE,
    ROUNDING_TOLERANCE,
    NewtonSolver,
    SolverResult,
)
from weigh.learn.linear.problem import Problem, Solution, centre_offset
from weigh.learn.linear.softmax import SoftmaxSubproblem, centre_weights

_MAX_GRAM_FEATURES = 400  # up to which the quadratic model is a Gram matrix
# Cubes of the number of unknowns, to compare a factorisation with passes of dual ascent: measured crossover.
MIN_FACTORISATION = 1e8
FACTORISATIONS_PER_ENTRY = 2000
_MAX_UNPENALISED_STEPS = 30
_MAX_STALLED_ROUNDS = 6
# Relative decreases of the objective per round: below the first few signs still change, below the second
# hardly any, so that more products per active-set step pay off.
_NEAR_OPTIMUM_DECREASE = 2e-3
_VERY_NEAR_OPTIMUM_DECREASE = 1e-6
_METHOD = "Newton, coordinate descent"


def solve_logistic(
    problem: Problem, n_classes: int, tol: float = 1e-6, max_iter: int = 1000, start: Solution | None = None
) -> Solution:
    """Minimise log loss with l2; stops when the gap is at most tol times the null model's objective."""
    problem = problem.drop_zero_weights()
    target = tol * null_model(problem, n_classes).objective
    passes = 0
    if isinstance(problem.X, SparseMatrix) and _prefers_dual(problem, problem.X, n_classes):
        result, is_converged = solve_dual_ascent(problem, problem.X, n_classes, target, max_iter, start)
        start, passes = _to_solution(result, problem, n_classes), result.iterations
        if is_converged or passes >= max_iter:
            return start
    solution = _solve_newton(problem, n_classes, target, max_iter - passes, start)
    return replace(solution, iterations=passes + solution.iterations)


def null_model(problem: Problem, n_classes: int) -> Solution:
    """Return the solution with all weights zero and the optimal intercept."""
    problem = problem.drop_zero_weights()
    if problem.has_intercept and len(np.unique(problem.y)) < n_classes:
        raise Separated(
            f"The rows contain only {len(np.unique(problem.y))} of {n_classes} classes, so the bias has no "
            "finite optimum. Give rows of every class.",
            None,
        )
    shape = (problem.X.width,) if n_classes == 2 else (problem.X.width, n_classes)
    if problem.offset is None and problem.has_intercept:
        class_weights = np.bincount(problem.y.astype(np.int64), problem.weights, n_classes)
        log_p = np.log(class_weights / class_weights.sum())
        b = log_p[1] - log_p[0] if n_classes == 2 else log_p - log_p.mean()
        return Solution(np.zeros(shape), np.asarray(b), -float(class_weights @ log_p), 0.0, 0, "closed form")
    empty = replace(problem, X=DenseMatrix(np.empty((problem.X.n_rows, 0))), l1=np.empty(0), l2=np.empty(0))
    empty, mean = centre_offset(empty)
    solution = _solve_newton(empty, n_classes, 0.0, 100, None)
    return replace(solution, w=np.zeros(shape), b=np.asarray(solution.b - mean))


def gradient(problem: Problem, n_classes: int, w: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the gradient of log loss and l2 with respect to the weights and the intercept."""
    loss = make_loss(problem, n_classes)
    S = problem.X.times(w.reshape(problem.X.width, -1)) + b
    score_grad = loss.score_gradient(loss.probabilities(S))
    l2 = problem.l2.reshape(-1, *[1] * (w.ndim - 1))
    w_grad = problem.X.transposed_times(score_grad).reshape(w.shape) + l2 * w
    return w_grad, score_grad.sum(axis=0).reshape(np.shape(b))


def _prefers_dual(problem: Problem, X: SparseMatrix, n_classes: int) -> bool:
    """Check whether passes over the entries cost less than factorising a Hessian."""
    n_outputs = 1 if n_classes == 2 else n_classes
    n_unknowns, n_entries = X.width * n_outputs, len(X.rows.indices) * n_outputs
    costs_less = n_unknowns**3 > MIN_FACTORISATION + FACTORISATIONS_PER_ENTRY * n_entries
    return bool(problem.l2.all()) and (n_unknowns > MAX_DENSE_HESSIAN_SIZE or costs_less)


def _solve_newton(
    problem: Problem, n_classes: int, target: float, max_iter: int, start: Solution | None
) -> Solution:
    loss = make_loss(problem, n_classes)
    X: Matrix = InterceptMatrix(problem.X) if problem.has_intercept else problem.X
    l2 = np.append(problem.l2, 0.0) if problem.has_intercept else problem.l2
    newton = NewtonSolver(loss, X, l2, problem.X.width)
    W = np.zeros((X.width, loss.n_outputs))
    if start is not None:
        start_W = np.concatenate(
            [start.w.reshape(problem.X.width, -1), *[np.reshape(start.b, (1, -1))] * problem.has_intercept]
        )
        # Far from the optimum the loss is nearly linear, and Newton steps are useless there.
        if newton.objective(start_W, X.times(start_W)) < newton.objective(W, X.times(W)):
            W = start_W
    return _to_solution(newton.minimise(W, target, max_iter), problem, n_classes)


def _to_solution(result: SolverResult, problem: Problem, n_classes: int) -> Solution:
    W = result.W[: problem.X.width]
    b = result.W[-1] if problem.has_intercept else np.zeros(result.W.shape[1])
    if n_classes == 2:
        W, b = W[:, 0], b[0]
    b = np.asarray(b)
    return Solution(W, b, result.objective, result.gap, result.iterations, result.method, result.dual)


def solve_l1_logistic(
    problem: Problem, n_classes: int, tol: float = 1e-6, max_iter: int = 200, start: Solution | None = None
) -> Solution:
    """Minimise log loss with l1 and l2 by proximal Newton.

    Stops when the gap is at most `tol` times the objective of the model whose l1-penalised weights are all
    zero, or after `max_iter` rounds.
    """
    problem = problem.drop_zero_weights()
    exponent = _binary_exponent(problem.X)
    if not exponent:
        return ProxNewtonSolver(problem, n_classes).solve(problem.l1, problem.l2, tol, max_iter, start)
    # Coordinate descent runs in single precision, which cannot represent numbers this large or small.
    X = problem.X.rescale(2.0**-exponent)
    l1, l2 = problem.l1 * 2.0**-exponent, problem.l2 * 4.0**-exponent
    scaled_start = None if start is None else replace(start, w=start.w * 2.0**exponent)
    solver = ProxNewtonSolver(replace(problem, X=X), n_classes)
    solution = solver.solve(l1, l2, tol, max_iter, scaled_start)
    return replace(solution, w=solution.w * 2.0**-exponent)


def _binary_exponent(X: Matrix) -> int:
    """Return the binary exponent of the largest entry, or zero if single precision can represent it."""
    largest = X.max_abs()
    return 0 if not largest or 1e-15 < largest < 1e15 else round(math.log2(largest))


def l1_logistic_path(
    problem: Problem,
    l1: Floats,
    l2: Floats,
    scales: Floats,
    n_classes: int,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> list[Solution]:
    """Return the solutions for the penalties scale · (l1, l2); descending scales are fastest."""
    solver = ProxNewtonSolver(problem.drop_zero_weights(), n_classes)
    solutions: list[Solution] = []
    for scale in np.asarray(scales).tolist():
        start = solutions[-1] if solutions else None
        solutions.append(solver.solve(scale * l1, scale * l2, tol, max_iter, start))
    return solutions


def logistic_lambda_max(problem: Problem, n_classes: int) -> float:
    """Return the smallest factor of l1 at which all l1-penalised weights are zero."""
    solver = ProxNewtonSolver(problem.drop_zero_weights(), n_classes)
    Q = np.abs(solver.null_correlations(problem.l1, problem.l2))
    penalised = problem.l1 > 0
    return float(np.max(Q[penalised] / problem.l1[penalised, None], initial=0.0))


@dataclass(eq=False)
class ProxNewtonIterate:
    """Weights [d, k], intercepts [k], and the rows' scores [n, k] without their offset."""

    W: Floats
    b: Floats
    S: Floats


class ProxNewtonSolver:
    """Proximal Newton for log loss with l1 and l2, in all score columns at once or, if too large, one by one.

    Each round minimises a quadratic model of the loss plus the penalty and takes a line search towards the
    minimum. The solver keeps its working set from one solution of a path to the next.
    """

    def __init__(self, problem: Problem, n_classes: int) -> None:
        self.problem, self.n_classes = problem, n_classes
        self.loss = make_loss(problem, n_classes)
        is_narrow = problem.X.width <= _MAX_GRAM_FEATURES
        self._subproblem = GramSubproblem(problem.X) if is_narrow else ColumnSubproblem(problem.X)
        self._softmax = SoftmaxSubproblem(problem, self.loss) if n_classes > 2 else None
        self._row_weights = np.ones(problem.X.n_rows) if problem.weights is None else problem.weights

    def null_correlations(self, l1: Floats, l2: Floats) -> Floats:
        """Return the negative gradient [d, k] of the loss where only unpenalised weights are fitted."""
        point = self._zero_iterate()
        self._fit_unpenalised_weights(point, l1, l2)
        return -self.problem.X.transposed_times(self.loss.score_gradient(self.loss.probabilities(point.S)))

    def solve(self, l1: Floats, l2: Floats, tol: float, max_iter: int, start: Solution | None) -> Solution:
        """Minimise for the penalties l1 and l2; see `solve_l1_logistic`."""
        point = self._zero_iterate()
        self._fit_unpenalised_weights(point, l1, l2)
        target = tol * self._objective(point, l1, l2)
        if start is not None and start.w.any():
            point = self._warm_start(start)
        bound, previous, best_gap, rounds, n_stalled = -np.inf, np.inf, np.inf, 0, 0
        while True:
            self._fit_unpenalised_weights(point, l1, l2)
            p = self.loss.probabilities(point.S)
            Q = -self.problem.X.transposed_times(self.loss.score_gradient(p))
            objective = self._objective(point, l1, l2)
            bound = max(bound, self._dual_bound(p, Q, l1, l2))
            gap = max(0.0, objective - bound)
            has_improved = objective < previous - ROUNDING_TOLERANCE * previous or gap < 0.9 * best_gap
            best_gap, n_stalled = min(best_gap, gap), 0 if has_improved else n_stalled + 1
            if gap <= target or rounds >= max_iter or n_stalled > _MAX_STALLED_ROUNDS:
                return self._to_solution(point, objective, gap, rounds)
            # Near the optimum the signs are settled, and a linear system converges faster than sweeps.
            is_near = previous - objective < max(0.1 * target, _NEAR_OPTIMUM_DECREASE * objective)
            max_products = 12 if previous - objective > _VERY_NEAR_OPTIMUM_DECREASE * objective else 40
            previous = min(previous, objective)
            # Of nearly collinear features the joint Hessian may lose the digits that a step needs.
            if n_stalled % 2 or not self._joint_step(point, Q, l1, l2, gap):
                budget = SweepBudget(rounds, is_near)
                for column in range(self.loss.n_outputs):
                    self._coordinate_descent_step(point, column, Q[:, column], l1, l2, budget)
                    if is_near:
                        self._active_set_step(point, column, l1, l2, max_products)
            rounds += 1

    def _zero_iterate(self) -> ProxNewtonIterate:
        X, k = self.problem.X, self.loss.n_outputs
        return ProxNewtonIterate(np.zeros((X.width, k)), np.zeros(k), np.zeros((X.n_rows, k)))

    def _warm_start(self, start: Solution) -> ProxNewtonIterate:
        W = np.array(start.w, dtype=np.float64).reshape(self.problem.X.width, -1)
        b = np.array(start.b, dtype=np.float64).reshape(-1)
        return ProxNewtonIterate(W, b, self.problem.X.times(W) + b)

    def _objective(self, point: ProxNewtonIterate, l1: Floats, l2: Floats) -> float:
        return self.loss.value(point.S) + _penalty(point.W, l1[:, None], l2[:, None])

    def _dual_bound(self, p: Floats, Q: Floats, l1: Floats, l2: Floats) -> float:
        """Return a lower bound on the minimum from score gradients scaled until |Q| ≤ l1.

        Features with l2 may exceed their l1 at a cost, so both sets of constraints are tried.
        """
        q_max, has_l1, has_l2 = np.abs(Q).max(axis=1), l1 > 0, l2 > 0
        t = p - self.loss.score_gradient(p) / self._row_weights[:, None]
        bounds = []
        for constrained in (has_l1 & ~has_l2, has_l1):
            violated = constrained & (q_max > l1)
            scale = float(np.min(l1[violated] / q_max[violated], initial=1.0))
            excess = np.maximum(scale * np.abs(Q[has_l2]) - l1[has_l2, None], 0.0)
            cost = float((excess**2 / l2[has_l2, None]).sum()) / 2
            bounds.append(self.loss.dual_value(t + scale * (p - t)) - cost)
        return max(0.0, *bounds)

    def _fit_unpenalised_weights(self, point: ProxNewtonIterate, l1: Floats, l2: Floats) -> None:
        """Fit the intercept and the unpenalised weights by damped Newton steps, the other weights fixed."""
        free = (l1 == 0) & (l2 == 0)
        if not (self.problem.has_intercept or free.any()):
            return
        U = self._unpenalised_matrix(free)
        none, value = np.zeros(U.width), self.loss.value(point.S)
        for _ in range(_MAX_UNPENALISED_STEPS):
            p = self.loss.probabilities(point.S)
            grad = U.transposed_times(self.loss.score_gradient(p))
            if np.abs(grad).max() <= 1e-13 * self.problem.total_weight:
                return
            step = solve_newton_system(hessian(self.loss, U, none, p), grad)
            step_scores, alpha = U.times(step), 1.0
            while (new_value := self.loss.value(point.S + alpha * step_scores)) > value and alpha > 1e-6:
                alpha /= 2
            if new_value >= value and alpha < 1:
                return
            value = new_value
            point.S = point.S + alpha * step_scores
            point.W[free] += alpha * step[: int(free.sum())]
            if self.problem.has_intercept:
                point.b = point.b + alpha * step[-1]

    def _unpenalised_matrix(self, free: Mask) -> Matrix:
        X = self.problem.X
        U: Matrix = X.select_features(free) if free.any() else DenseMatrix(np.empty((X.n_rows, 0)))
        return InterceptMatrix(U) if self.problem.has_intercept else U

    def _quadratic_model(self, point: ProxNewtonIterate, column: int) -> QuadraticModel:
        p = self.loss.probabilities(point.S)
        variance = p[:, column] * (1 - p[:, column])
        return QuadraticModel(
            self._row_weights * np.maximum(variance, 1e-10),
            -self.loss.score_gradient(p)[:, column],
            self.problem.has_intercept,
        )

    def _joint_step(self, point: ProxNewtonIterate, Q: Floats, l1: Floats, l2: Floats, gap: float) -> bool:
        """Take a step of all classes at once; return False if there are two or too many unknowns for it."""
        selected = None if self._softmax is None else self._softmax.select(point.W, Q, l1)
        if self._softmax is None or selected is None:
            return False
        new_W, b_step = self._softmax.minimise(point.S, point.W, Q, selected, l1, l2, gap)
        U = -self.loss.score_gradient(self.loss.probabilities(point.S))
        self._line_search(point, slice(None), new_W, b_step, U, l1, l2)
        point.W, point.b = centre_weights(point.W, l1, l2), point.b - point.b.mean()
        point.S = self.problem.X.times(point.W) + point.b
        return True

    def _coordinate_descent_step(
        self, point: ProxNewtonIterate, column: int, q: Floats, l1: Floats, l2: Floats, budget: SweepBudget
    ) -> None:
        """Lower the quadratic model of one score column, then search along the line."""
        quadratic, w = self._quadratic_model(point, column), point.W[:, column]
        new_w, intercept_step = self._subproblem.minimise(quadratic, w, q, l1, l2, budget)
        self._search_column(point, column, new_w, intercept_step, quadratic, l1, l2)

    def _active_set_step(
        self, point: ProxNewtonIterate, column: int, l1: Floats, l2: Floats, max_products: int
    ) -> None:
        """Take a Newton step on the non-zero weights; those that would change sign become zero."""
        w = point.W[:, column]
        quadratic = self._quadratic_model(point, column)
        step, intercept_step = active_set_newton_step(self.problem.X, quadratic, w, l1, l2, max_products)
        new_w = w + step
        new_w[w * new_w <= 0] = 0.0
        self._search_column(point, column, new_w, intercept_step, quadratic, l1, l2)

    def _search_column(
        self,
        point: ProxNewtonIterate,
        column: int,
        new_w: Floats,
        intercept_step: float,
        quadratic: QuadraticModel,
        l1: Floats,
        l2: Floats,
    ) -> None:
        columns, b_step = slice(column, column + 1), np.array([intercept_step])
        self._line_search(point, columns, new_w[:, None], b_step, quadratic.u[:, None], l1, l2)

    def _line_search(
        self,
        point: ProxNewtonIterate,
        columns: slice,
        new_W: Floats,
        b_step: Floats,
        U: Floats,
        l1: Floats,
        l2: Floats,
    ) -> None:
        """Halve the step until the objective decreases sufficiently, else leave the point unchanged.

        `U` is the negative gradient of the loss with respect to the scores of the columns.
        """
        W, l1, l2 = point.W[:, columns].copy(), l1[:, None], l2[:, None]
        step = new_W - W
        step_scores = self.problem.X.times(step) + b_step
        old_penalty = _penalty(W, l1, l2)
        slope = -float((U * step_scores).sum()) + _penalty(new_W, l1, l2) - old_penalty
        value = self.loss.value(point.S) + old_penalty
        alpha = 1.0
        while slope < ROUNDING_TOLERANCE * value and alpha > 1e-8:
            W_alpha = new_W if alpha == 1.0 else W + alpha * step
            S = point.S.copy()
            S[:, columns] += alpha * step_scores
            max_value = value + 0.01 * alpha * slope + ROUNDING_TOLERANCE * value
            if self.loss.value(S) + _penalty(W_alpha, l1, l2) <= max_value:
                point.W[:, columns], point.S = W_alpha, S
                point.b[columns] += alpha * b_step
                return
            alpha /= 2

    def _to_solution(self, point: ProxNewtonIterate, objective: float, gap: float, rounds: int) -> Solution:
        W, b = (point.W[:, 0], point.b[0]) if self.n_classes == 2 else (point.W, point.b)
        return Solution(W, np.asarray(b), objective, gap, rounds, _METHOD)


def _penalty(W: Floats, l1: Floats, l2: Floats) -> float:
    return float((l1 * np.abs(W)).sum() + 0.5 * (l2 * np.square(W)).sum())
