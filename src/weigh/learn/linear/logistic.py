"""Rounds of Newton's model for log loss with l1."""

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
from weigh.learn.linear.newton import MAX_DENSE_HESSIAN_SIZE, NewtonSolver, SolverResult
from weigh.learn.linear.problem import Problem, Solution

# Up to so many features the model is a Gram matrix.
_MAX_GRAM_FEATURES = 400
_METHOD = "Newton, coordinate descent"
# Steps that fit the weights without penalty; they double the digits each time.
_MAX_UNPENALISED_STEPS = 30
# Rounds that gain nothing, after which rounding is all that is left.
_MAX_STALLED_ROUNDS = 6
# Of the objective: what is not told from rounding, and what a round gains when few signs still change.
_ROUNDING_TOLERANCE, _NEAR_OPTIMUM_DECREASE = 1e-14, 2e-3
# What it gains when hardly any do: a step is then worth more products.
_VERY_NEAR_OPTIMUM_DECREASE = 1e-6


@dataclass(eq=False)
class ProxNewtonIterate:
    """Weights [d, columns], biases [columns], and the scores of the rows without their offset."""

    W: Floats
    b: Floats
    S: Floats


class ProxNewtonSolver:
    """A problem's rows, and what is known of them from one solution of a path to the next."""

    def __init__(self, problem: Problem, classes: int) -> None:
        self.problem, self.classes = problem, classes
        self.loss = make_loss(problem, classes)
        few = problem.X.width <= _MAX_GRAM_FEATURES
        self._subproblem = GramSubproblem(problem.X) if few else ColumnSubproblem(problem.X)
        self._row_weights = np.ones(problem.X.n_rows) if problem.weights is None else problem.weights

    def null_correlations(self, l1: Floats, l2: Floats) -> Floats:
        """Return how the features pull [d, columns] where the weights without penalty alone are fitted."""
        point = self._zero_iterate()
        self._fit_unpenalised_weights(point, l1, l2)
        return -self.problem.X.transposed_times(self.loss.score_gradient(self.loss.probabilities(point.S)))

    def solve(self, l1: Floats, l2: Floats, tol: float, max_iter: int, start: Solution | None) -> Solution:
        """Return the weights of least objective; see `solve_sparse_logistic`."""
        point = self._zero_iterate()
        self._fit_unpenalised_weights(point, l1, l2)
        goal = tol * self._objective(point, l1, l2)
        if start is not None and start.w.any():
            point = self._warm_start(start)
        bound, past, least, rounds, stalled = -np.inf, np.inf, np.inf, 0, 0
        while True:
            self._fit_unpenalised_weights(point, l1, l2)
            p = self.loss.probabilities(point.S)
            Q = -self.problem.X.transposed_times(self.loss.score_gradient(p))
            objective = self._objective(point, l1, l2)
            bound = max(bound, self._dual_bound(p, Q, l1, l2))
            gap = max(0.0, objective - bound)
            gains = objective < past - _ROUNDING_TOLERANCE * past or gap < 0.9 * least
            least, stalled = min(least, gap), 0 if gains else stalled + 1
            if gap <= goal or rounds >= max_iter or stalled > _MAX_STALLED_ROUNDS:
                return self._to_solution(point, objective, gap, rounds)
            # Near the optimum signs stand, and what sweeps take long for is a linear system.
            is_near = past - objective < max(0.1 * goal, _NEAR_OPTIMUM_DECREASE * objective)
            products = 12 if past - objective > _VERY_NEAR_OPTIMUM_DECREASE * objective else 40
            past = min(past, objective)
            for column in range(self.loss.n_outputs):
                self._coordinate_descent_step(
                    point, column, Q[:, column], l1, l2, SweepBudget(rounds, is_near)
                )
                if is_near:
                    self._active_set_step(point, column, l1, l2, products)
            rounds += 1

    def _zero_iterate(self) -> ProxNewtonIterate:
        X, columns = self.problem.X, self.loss.n_outputs
        return ProxNewtonIterate(
            np.zeros((X.width, columns)), np.zeros(columns), np.zeros((X.n_rows, columns))
        )

    def _warm_start(self, start: Solution) -> ProxNewtonIterate:
        W = np.array(start.w, dtype=np.float64).reshape(self.problem.X.width, -1)
        b = np.array(start.b, dtype=np.float64).reshape(-1)
        return ProxNewtonIterate(W, b, self.problem.X.times(W) + b)

    def _objective(self, point: ProxNewtonIterate, l1: Floats, l2: Floats) -> float:
        return self.loss.value(point.S) + _penalty(point.W, l1[:, None], l2[:, None])

    def _dual_bound(self, p: Floats, Q: Floats, l1: Floats, l2: Floats) -> float:
        """Return a lower bound: slopes are scaled until no feature pulls more than its l1."""
        size, led, soft = np.abs(Q).max(axis=1), l1 > 0, l2 > 0
        truth = p - self.loss.score_gradient(p) / self._row_weights[:, None]
        reached = []
        for tight in (led & ~soft, led):
            over = tight & (size > l1)
            scale = float(np.min(l1[over] / size[over], initial=1.0))
            beyond = np.maximum(scale * np.abs(Q[soft]) - l1[soft, None], 0.0)
            cost = float((beyond**2 / l2[soft, None]).sum()) / 2
            reached.append(self.loss.dual_value(truth + scale * (p - truth)) - cost)
        return max(0.0, *reached)

    def _fit_unpenalised_weights(self, point: ProxNewtonIterate, l1: Floats, l2: Floats) -> None:
        """Fit the bias and the weights without any penalty to what the others leave."""
        free = (l1 == 0) & (l2 == 0)
        if not (self.problem.has_intercept or free.any()):
            return
        U = self._unpenalised_matrix(free)
        none, value = np.zeros(U.width), self.loss.value(point.S)
        for _ in range(_MAX_UNPENALISED_STEPS):
            p = self.loss.probabilities(point.S)
            slopes = self.loss.score_gradient(p)
            gradient = U.transposed_times(slopes)
            if np.abs(gradient).max() <= 1e-13 * self.problem.total_weight:
                return
            step = solve_newton_system(hessian(self.loss, U, none, p), gradient)
            scores, share = U.times(step), 1.0
            while (there := self.loss.value(point.S + share * scores)) > value and share > 1e-6:
                share /= 2
            if there >= value and share < 1:
                return
            value = there
            point.S = point.S + share * scores
            point.W[free] += share * step[: int(free.sum())]
            if self.problem.has_intercept:
                point.b = point.b + share * step[-1]

    def _unpenalised_matrix(self, free: Mask) -> Matrix:
        X = self.problem.X
        some: Matrix = X.select_features(free) if free.any() else DenseMatrix(np.empty((X.n_rows, 0)))
        return InterceptMatrix(some) if self.problem.has_intercept else some

    def _quadratic_model(self, point: ProxNewtonIterate, column: int) -> QuadraticModel:
        p = self.loss.probabilities(point.S)
        bend = p[:, column] * (1 - p[:, column])
        return QuadraticModel(
            self._row_weights * np.maximum(bend, 1e-10),
            -self.loss.score_gradient(p)[:, column],
            self.problem.has_intercept,
        )

    def _coordinate_descent_step(
        self, point: ProxNewtonIterate, column: int, q: Floats, l1: Floats, l2: Floats, effort: SweepBudget
    ) -> None:
        """Lower the model of one column of weights, and go there as far as the objective falls."""
        pull, w = self._quadratic_model(point, column), point.W[:, column]
        there, shift = self._subproblem.minimise(pull, w, q, l1, l2, effort)
        self._line_search(point, column, there, shift, pull, l1, l2)

    def _active_set_step(
        self, point: ProxNewtonIterate, column: int, l1: Floats, l2: Floats, products: int
    ) -> None:
        """Solve for the weights that are not zero as if their signs stood."""
        w = point.W[:, column]
        pull = self._quadratic_model(point, column)
        step, shift = active_set_newton_step(self.problem.X, pull, w, l1, l2, products)
        there = w + step
        there[w * there <= 0] = 0.0
        self._line_search(point, column, there, shift, pull, l1, l2)

    def _line_search(
        self,
        point: ProxNewtonIterate,
        column: int,
        there: Floats,
        shift: float,
        pull: QuadraticModel,
        l1: Floats,
        l2: Floats,
    ) -> None:
        w = point.W[:, column].copy()
        change = there - w
        scores = self.problem.X.times(change) + shift
        before = _penalty(w, l1, l2)
        slope = -float(pull.u @ scores) + _penalty(there, l1, l2) - before
        value, S = self.loss.value(point.S) + before, point.S
        share = 1.0
        while slope < _ROUNDING_TOLERANCE * value and share > 1e-8:
            near = there if share == 1.0 else w + share * change
            S = point.S.copy()
            S[:, column] += share * scores
            if (
                self.loss.value(S) + _penalty(near, l1, l2)
                <= value + 0.01 * share * slope + _ROUNDING_TOLERANCE * value
            ):
                point.W[:, column], point.S = near, S
                point.b = point.b + share * shift * (np.arange(len(point.b)) == column)
                return
            share /= 2

    def _to_solution(self, point: ProxNewtonIterate, objective: float, gap: float, rounds: int) -> Solution:
        W, b = (point.W[:, 0], point.b[0]) if self.classes == 2 else (point.W, point.b)
        return Solution(W, np.asarray(b), objective, gap, rounds, _METHOD)


def _penalty(W: Floats, l1: Floats, l2: Floats) -> float:
    return float((l1 * np.abs(W)).sum() + 0.5 * (l2 * np.square(W)).sum())


def solve_logistic(
    problem: Problem, classes: int, tol: float = 1e-6, max_iter: int = 1000, start: Solution | None = None
) -> Solution:
    """Return the best weights; the gap is at most tol times the objective of the model without features.

    Of two classes w is [d] and b a number, of more w is [d, classes] and b [classes].
    """
    problem = problem.drop_zero_weights()
    target = tol * null_model(problem, classes).objective
    begun = start
    passes = 0
    if classes == 2 and isinstance(problem.X, SparseMatrix) and _prefers_dual(problem):
        found, done = solve_dual_ascent(problem, problem.X, target, max_iter, start)
        begun, passes = _to_solution(found, problem, classes), found.iterations
        if done or passes >= max_iter:
            return begun
    solution = _solve_newton(problem, classes, target, max_iter - passes, begun)
    return replace(solution, iterations=passes + solution.iterations)


def null_model(problem: Problem, classes: int) -> Solution:
    """Return the model without features: its bias is the best one, its weights are zero."""
    problem = problem.drop_zero_weights()
    if problem.has_intercept and len(np.unique(problem.y)) < classes:
        raise Separated(
            f"The rows are of {len(np.unique(problem.y))} of {classes} classes, so the best bias is without "
            "bound. Give rows of every class.",
            None,
        )
    shape = (problem.X.width,) if classes == 2 else (problem.X.width, classes)
    if problem.offset is None and problem.has_intercept:
        sums = np.bincount(problem.y.astype(np.int64), problem.weights, classes)
        logs = np.log(sums / sums.sum())
        b = logs[1] - logs[0] if classes == 2 else logs - logs.mean()
        return Solution(np.zeros(shape), np.asarray(b), -float(sums @ logs), 0.0, 0, "counted")
    empty = replace(problem, X=DenseMatrix(np.empty((problem.X.n_rows, 0))), l1=np.empty(0), l2=np.empty(0))
    return replace(_solve_newton(empty, classes, 0.0, 100, None), w=np.zeros(shape))


def gradient(problem: Problem, classes: int, w: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the slopes of the objective: for every weight, and for the bias."""
    loss = make_loss(problem, classes)
    S = problem.X.times(w.reshape(problem.X.width, -1)) + b
    slopes = loss.score_gradient(loss.probabilities(S))
    l2 = problem.l2.reshape(-1, *[1] * (w.ndim - 1))
    return problem.X.transposed_times(slopes).reshape(w.shape) + l2 * w, slopes.sum(axis=0).reshape(
        np.shape(b)
    )


def _prefers_dual(problem: Problem) -> bool:
    return problem.X.width > MAX_DENSE_HESSIAN_SIZE and bool(problem.l2.all())


def _solve_newton(
    problem: Problem, classes: int, target: float, max_iter: int, start: Solution | None
) -> Solution:
    loss = make_loss(problem, classes)
    X: Matrix = InterceptMatrix(problem.X) if problem.has_intercept else problem.X
    l2 = np.append(problem.l2, 0.0) if problem.has_intercept else problem.l2
    newton = NewtonSolver(loss, X, l2, problem.X.width)
    W = np.zeros((X.width, loss.n_outputs))
    if start is not None:
        begun = np.concatenate(
            [start.w.reshape(problem.X.width, -1), *[np.reshape(start.b, (1, -1))] * problem.has_intercept]
        )
        # Far off the loss is all but a straight line, which gives Newton's method nothing to go by.
        if newton.objective(begun, X.times(begun)) < newton.objective(W, X.times(W)):
            W = begun
    return _to_solution(newton.minimise(W, target, max_iter), problem, classes)


def _to_solution(found: SolverResult, problem: Problem, classes: int) -> Solution:
    W = found.W[: problem.X.width]
    b = found.W[-1] if problem.has_intercept else np.zeros(found.W.shape[1])
    if classes == 2:
        W, b = W[:, 0], b[0]
    return Solution(W, np.asarray(b), found.objective, found.gap, found.iterations, found.method)


def solve_l1_logistic(
    problem: Problem, classes: int, tol: float = 1e-6, max_iter: int = 200, start: Solution | None = None
) -> Solution:
    """Return the weights of least log loss with l1 and l2.

    The gap is at most `tol` times the objective of the model whose weights with l1 are all zero, unless
    `max_iter` rounds did not do. Of two classes w is [d] and b a number, of more w is [d, classes].
    """
    problem = problem.drop_zero_weights()
    size = _binary_exponent(problem.X)
    if not size:
        return ProxNewtonSolver(problem, classes).solve(problem.l1, problem.l2, tol, max_iter, start)
    # Columns are swept over in single precision, which numbers as large or small as these do not have.
    X = problem.X.rescale(2.0**-size)
    l1, l2 = problem.l1 * 2.0**-size, problem.l2 * 4.0**-size
    begun = None if start is None else replace(start, w=start.w * 2.0**size)
    found = ProxNewtonSolver(replace(problem, X=X), classes).solve(l1, l2, tol, max_iter, begun)
    return replace(found, w=found.w * 2.0**-size)


def _binary_exponent(X: Matrix) -> int:
    """Return the power of two that entries are about, or zero if single precision holds them."""
    largest = X.max_abs()
    return 0 if not largest or 1e-15 < largest < 1e15 else round(math.log2(largest))


def l1_logistic_path(
    problem: Problem,
    l1: Floats,
    l2: Floats,
    scales: Floats,
    classes: int,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> list[Solution]:
    """Return the solutions for the penalties scale · (l1, l2); scales are best given falling."""
    rounds = ProxNewtonSolver(problem.drop_zero_weights(), classes)
    found: list[Solution] = []
    for scale in np.asarray(scales).tolist():
        found.append(rounds.solve(scale * l1, scale * l2, tol, max_iter, found[-1] if found else None))
    return found


def logistic_lambda_max(problem: Problem, classes: int) -> float:
    """Return the least factor of l1 for which all weights with l1 are zero."""
    pulls = np.abs(
        ProxNewtonSolver(problem.drop_zero_weights(), classes).null_correlations(problem.l1, problem.l2)
    )
    led = problem.l1 > 0
    return float(np.max(pulls[led] / problem.l1[led, None], initial=0.0))
