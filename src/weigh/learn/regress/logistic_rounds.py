"""Rounds of Newton's model for log loss with l1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.features.blocks import Floats, Mask
from weigh.learn.regress.curvature import hessian, newton_step
from weigh.learn.regress.face import face_step
from weigh.learn.regress.logistic_loss import loss_of
from weigh.learn.regress.logistic_model import ColumnModel, Effort, GramModel, Pull
from weigh.learn.regress.matrix import DenseMatrix, Matrix, WithOnes
from weigh.learn.regress.problem import Problem, Solution

# Up to so many features the model is a Gram matrix.
_FEW = 400
_METHOD = "Newton, coordinate descent"
# Steps that fit the weights without penalty; they double the digits each time.
_FITTING = 30
# Rounds that gain nothing, after which rounding is all that is left.
_STALLED = 6
# Of the objective: what is not told from rounding, and what a round gains when few signs still change.
_ROUNDING, _NEAR = 1e-14, 2e-3
# What it gains when hardly any do: a step is then worth more products.
_NEARER = 1e-6


@dataclass(eq=False)
class Point:
    """Weights [d, columns], biases [columns], and the scores of the rows without their offset."""

    W: Floats
    b: Floats
    S: Floats


class LogisticRounds:
    """A problem's rows, and what is known of them from one solution of a path to the next."""

    def __init__(self, problem: Problem, classes: int) -> None:
        self.problem, self.classes = problem, classes
        self.loss = loss_of(problem, classes)
        few = problem.X.width <= _FEW
        self._model = GramModel(problem.X) if few else ColumnModel(problem.X)
        self._s = np.ones(problem.X.n_rows) if problem.weights is None else problem.weights

    def null_pulls(self, l1: Floats, l2: Floats) -> Floats:
        """Return how the features pull [d, columns] where the weights without penalty alone are fitted."""
        point = self._empty()
        self._fit_free(point, l1, l2)
        return -self.problem.X.transposed_times(self.loss.slopes(self.loss.probabilities(point.S)))

    def solve(self, l1: Floats, l2: Floats, tol: float, max_iter: int, start: Solution | None) -> Solution:
        """Return the weights of least objective; see `solve_sparse_logistic`."""
        point = self._empty()
        self._fit_free(point, l1, l2)
        goal = tol * self._objective(point, l1, l2)
        if start is not None and start.w.any():
            point = self._begun(start)
        bound, past, least, rounds, stalled = -np.inf, np.inf, np.inf, 0, 0
        while True:
            self._fit_free(point, l1, l2)
            p = self.loss.probabilities(point.S)
            Q = -self.problem.X.transposed_times(self.loss.slopes(p))
            objective = self._objective(point, l1, l2)
            bound = max(bound, self._bound(p, Q, l1, l2))
            gap = max(0.0, objective - bound)
            gains = objective < past - _ROUNDING * past or gap < 0.9 * least
            least, stalled = min(least, gap), 0 if gains else stalled + 1
            if gap <= goal or rounds >= max_iter or stalled > _STALLED:
                return self._told(point, objective, gap, rounds)
            # Near the optimum signs stand, and what sweeps take long for is a linear system.
            is_near = past - objective < max(0.1 * goal, _NEAR * objective)
            products = 12 if past - objective > _NEARER * objective else 40
            past = min(past, objective)
            for column in range(self.loss.columns):
                self._improve(point, column, Q[:, column], l1, l2, Effort(rounds, is_near))
                if is_near:
                    self._settle(point, column, l1, l2, products)
            rounds += 1

    def _empty(self) -> Point:
        X, columns = self.problem.X, self.loss.columns
        return Point(np.zeros((X.width, columns)), np.zeros(columns), np.zeros((X.n_rows, columns)))

    def _begun(self, start: Solution) -> Point:
        W = np.array(start.w, dtype=np.float64).reshape(self.problem.X.width, -1)
        b = np.array(start.b, dtype=np.float64).reshape(-1)
        return Point(W, b, self.problem.X.times(W) + b)

    def _objective(self, point: Point, l1: Floats, l2: Floats) -> float:
        return self.loss.value(point.S) + _cost(point.W, l1[:, None], l2[:, None])

    def _bound(self, p: Floats, Q: Floats, l1: Floats, l2: Floats) -> float:
        """Return a lower bound: slopes are scaled until no feature pulls more than its l1."""
        size, led, soft = np.abs(Q).max(axis=1), l1 > 0, l2 > 0
        truth = p - self.loss.slopes(p) / self._s[:, None]
        reached = []
        for tight in (led & ~soft, led):
            over = tight & (size > l1)
            scale = float(np.min(l1[over] / size[over], initial=1.0))
            beyond = np.maximum(scale * np.abs(Q[soft]) - l1[soft, None], 0.0)
            cost = float((beyond**2 / l2[soft, None]).sum()) / 2
            reached.append(self.loss.dual(truth + scale * (p - truth)) - cost)
        return max(0.0, *reached)

    def _fit_free(self, point: Point, l1: Floats, l2: Floats) -> None:
        """Fit the bias and the weights without any penalty to what the others leave."""
        free = (l1 == 0) & (l2 == 0)
        if not (self.problem.bias or free.any()):
            return
        U = self._free_part(free)
        none, value = np.zeros(U.width), self.loss.value(point.S)
        for _ in range(_FITTING):
            p = self.loss.probabilities(point.S)
            slopes = self.loss.slopes(p)
            gradient = U.transposed_times(slopes)
            if np.abs(gradient).max() <= 1e-13 * self.problem.total:
                return
            step = newton_step(hessian(self.loss, U, none, p), gradient)
            scores, share = U.times(step), 1.0
            while (there := self.loss.value(point.S + share * scores)) > value and share > 1e-6:
                share /= 2
            if there >= value and share < 1:
                return
            value = there
            point.S = point.S + share * scores
            point.W[free] += share * step[: int(free.sum())]
            if self.problem.bias:
                point.b = point.b + share * step[-1]

    def _free_part(self, free: Mask) -> Matrix:
        X = self.problem.X
        some: Matrix = X.features(free) if free.any() else DenseMatrix(np.empty((X.n_rows, 0)))
        return WithOnes(some) if self.problem.bias else some

    def _pull(self, point: Point, column: int) -> Pull:
        p = self.loss.probabilities(point.S)
        bend = p[:, column] * (1 - p[:, column])
        return Pull(self._s * np.maximum(bend, 1e-10), -self.loss.slopes(p)[:, column], self.problem.bias)

    def _improve(self, point: Point, column: int, q: Floats, l1: Floats, l2: Floats, effort: Effort) -> None:
        """Lower the model of one column of weights, and go there as far as the objective falls."""
        pull, w = self._pull(point, column), point.W[:, column]
        there, shift = self._model.lowered(pull, w, q, l1, l2, effort)
        self._go(point, column, there, shift, pull, l1, l2)

    def _settle(self, point: Point, column: int, l1: Floats, l2: Floats, products: int) -> None:
        """Solve for the weights that are not zero as if their signs stood."""
        w = point.W[:, column]
        pull = self._pull(point, column)
        step, shift = face_step(self.problem.X, pull, w, l1, l2, products)
        there = w + step
        there[w * there <= 0] = 0.0
        self._go(point, column, there, shift, pull, l1, l2)

    def _go(
        self, point: Point, column: int, there: Floats, shift: float, pull: Pull, l1: Floats, l2: Floats
    ) -> None:
        w = point.W[:, column].copy()
        change = there - w
        scores = self.problem.X.times(change) + shift
        before = _cost(w, l1, l2)
        slope = -float(pull.u @ scores) + _cost(there, l1, l2) - before
        value, S = self.loss.value(point.S) + before, point.S
        share = 1.0
        while slope < _ROUNDING * value and share > 1e-8:
            near = there if share == 1.0 else w + share * change
            S = point.S.copy()
            S[:, column] += share * scores
            if self.loss.value(S) + _cost(near, l1, l2) <= value + 0.01 * share * slope + _ROUNDING * value:
                point.W[:, column], point.S = near, S
                point.b = point.b + share * shift * (np.arange(len(point.b)) == column)
                return
            share /= 2

    def _told(self, point: Point, objective: float, gap: float, rounds: int) -> Solution:
        W, b = (point.W[:, 0], point.b[0]) if self.classes == 2 else (point.W, point.b)
        return Solution(W, np.asarray(b), objective, gap, rounds, _METHOD)


def _cost(W: Floats, l1: Floats, l2: Floats) -> float:
    return float((l1 * np.abs(W)).sum() + 0.5 * (l2 * np.square(W)).sum())
