"""Logistic regression of rows in partitions: the problem from a summary of them, its solution by folds."""

from __future__ import annotations

import numpy as np

from weigh.features.blocks import Floats
from weigh.features.schema import Schema
from weigh.learn.chunk_encoder import MissingCounts
from weigh.learn.feature_index import FeatureIndex
from weigh.learn.folds.encoded import EncodedRows, SummarySum, read_ranges
from weigh.learn.folds.log_loss import FoldPoint, FoldSurface, LaplaceSum, RowLoss, Sum
from weigh.learn.folds.moments import read_training_rows
from weigh.learn.linear.matrix import EPS, DenseMatrix
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.newton import NewtonSolver
from weigh.learn.linear.posterior import MAX_LAPLACE_FEATURES, LaplaceApproximation
from weigh.learn.linear.problem import MAX_MEAN_TO_STD, Problem, Solution
from weigh.learn.linear.problem_setup import ProblemSetup
from weigh.learn.linear.training_data import TrainingData
from weigh.model.counts.bayes_counts import Label

TOLERANCE_SHARE = 0.9  # of the tolerance for the solver; the rest is for rounding errors


class FoldedRows:
    """Encoded rows that workers keep, known here by a summary; `sum_rows` folds a job over them."""

    def __init__(
        self,
        schema: Schema,
        feature_index: FeatureIndex,
        classes: list[Label],
        counts: Floats,
        class_weights: Floats | None,
        sum_rows: Sum,
    ) -> None:
        self._sum, self._counts, self._class_weights = sum_rows, counts, class_weights
        stored = sum_rows(SummarySum(schema))
        self._sample = EncodedRows.from_file(stored)
        self._ranges = read_ranges(stored)
        self.n_rows = int(self._ranges["n"][0])
        record = read_training_rows(stored, schema).finish(feature_index.feature_orders())
        # The rows themselves are elsewhere: the matrix has the features and no rows.
        self.data = TrainingData(
            schema,
            feature_index,
            DenseMatrix(np.empty((0, feature_index.width))),
            np.empty(0),
            None,
            classes,
            MissingCounts(stored.meta["missing"]),
            [],
            record,
            self._ranges["binary"],
        )

    @property
    def total_weight(self) -> float:
        """Sum of the weights of the rows."""
        return float((self._counts * (1.0 if self._class_weights is None else self._class_weights)).sum())

    @property
    def stds(self) -> Floats:
        """Standard deviation of each feature, zero if only rounding varies."""
        std = np.sqrt(self._ranges["squares"] / self.n_rows)
        return np.where(std > 8 * EPS * np.abs(self._ranges["mean"]), std, 0.0)

    def sample_problem(self, has_intercept: bool) -> Problem:
        """Return the problem of a sample of the rows, without penalties."""
        none = np.zeros(self._sample.X.width)
        y = self._sample.y.astype(np.float64)
        weights = None if self._class_weights is None else self._class_weights[self._sample.y]
        return Problem(self._sample.X, y, none, none, has_intercept, weights)

    def solve(
        self, setup: ProblemSetup, l2: Floats, has_intercept: bool, tol: float, max_iter: int
    ) -> tuple[Solution, float]:
        """Return the solution with its certificate, and the objective without features."""
        n_classes = len(self.data.classes)
        shift = self._shift if has_intercept else None
        loss = RowLoss(n_classes, has_intercept, self._class_weights, shift, setup.centre)
        surface = FoldSurface(self._sum, loss, l2, len(l2), self.n_rows)
        start = np.zeros((len(surface.l2), surface.n_outputs))
        if has_intercept:
            start[-1] = self._null_intercept(n_classes)
        null = surface.point(start).value
        target = tol * null
        result = NewtonSolver(surface).minimise(start, TOLERANCE_SHARE * target, max_iter)
        point = surface.point(self._absorb_constants(setup, result.W, has_intercept, shift))
        grad = surface.gradient(point)
        decrement = -float((grad * surface.newton_step(point, grad, 0.1)).sum())
        gap = surface.gap(point, decrement)
        return self._to_solution(point, gap, result.iterations, surface, has_intercept, shift), null

    @property
    def _shift(self) -> Floats | None:
        """The means of features far from zero, whose products would lose digits; None without any."""
        mean, std = self._ranges["mean"], self.stds
        is_distant = (np.abs(mean) > MAX_MEAN_TO_STD * std) & (std > 0)
        is_dense = isinstance(self._sample.X, DenseMatrix)
        return np.where(is_distant, mean, 0.0) if is_dense and is_distant.any() else None

    def _null_intercept(self, n_classes: int) -> Floats:
        weights = self._counts * (1.0 if self._class_weights is None else self._class_weights)
        log_p = np.log(weights / weights.sum())
        return np.asarray([log_p[1] - log_p[0]] if n_classes == 2 else log_p - log_p.mean())

    def _absorb_constants(
        self, setup: ProblemSetup, W: Floats, has_intercept: bool, shift: Floats | None
    ) -> Floats:
        """Move the weights of constant features of a named table into the intercept."""
        low, high = self._ranges["low"], self._ranges["high"]
        is_constant = (low == high) & (low != 0)
        if not (setup.data.schema.named and has_intercept and setup.centre is None and is_constant.any()):
            return W
        W = W.copy()
        values = low[is_constant] - (0.0 if shift is None else shift[is_constant])
        features = np.flatnonzero(is_constant)
        W[-1] += values @ W[features]
        W[features] = 0.0
        return W

    def _to_solution(
        self,
        point: FoldPoint,
        gap: float,
        iterations: int,
        surface: FoldSurface,
        has_intercept: bool,
        shift: Floats | None,
    ) -> Solution:
        w = point.W[:-1] if has_intercept else point.W
        b = point.W[-1] if has_intercept else np.zeros(point.W.shape[1])
        b = b if shift is None else b - shift @ w
        if surface.n_outputs == 1:
            w, b = w[:, 0], b[0]
        return Solution(w, np.asarray(b), point.value, gap, iterations, surface.method)

    def posterior(
        self, setup: ProblemSetup, solution: Solution, l2: Floats, has_intercept: bool
    ) -> LaplaceApproximation | None:
        """Return the Laplace approximation of the posterior, or None for too many features."""
        if len(l2) > MAX_LAPLACE_FEATURES:
            return None
        W = np.append(solution.w, solution.b) if has_intercept else solution.w
        loss = RowLoss(2, has_intercept, self._class_weights, None, setup.centre)
        moments = Moments.read_arrays(self._sum(LaplaceSum(loss, W[:, None])), "moments")
        return LaplaceApproximation(moments, l2, solution.w, float(solution.b))
