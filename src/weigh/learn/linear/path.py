"""Regularisation paths: solutions and cross-validation for the penalties scale · (l1, l2) at many scales.

Scales descend, and each solution starts from the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce

import numpy as np

from weigh import errors
from weigh.advice import Call, Setting
from weigh.features.blocks import Floats, Mask
from weigh.learn.linear.conjugate_gradient import needs_conjugate_gradient
from weigh.learn.linear.cross_validation import ValidationCurve, consecutive_folds, stratified_folds
from weigh.learn.linear.lasso import lasso_lambda_max, lasso_path, lasso_path_from_moments, prefers_gram
from weigh.learn.linear.logistic import l1_logistic_path, logistic_lambda_max, solve_logistic
from weigh.learn.linear.losses import make_loss
from weigh.learn.linear.matrix import EPS
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import Problem, Solution
from weigh.learn.linear.ridge import RowEigendecomposition, default_scales, ridge_path
from weigh.model.parallel import available_cores

MAX_RISES = 3  # scales in a row with a higher validation loss than the best one before selection stops


@dataclass(frozen=True, eq=False)
class SolutionPath:
    """Weights [k, d] or [k, d, classes], intercepts and gaps for k scales of a penalty."""

    scales: Floats
    weights: Floats
    intercepts: Floats
    gaps: Floats

    @classmethod
    def from_solutions(cls, scales: Floats, solutions: list[Solution]) -> SolutionPath:
        """Stack the solutions of the scales."""
        W, b = (
            np.array([solution.w for solution in solutions]),
            np.array([solution.b for solution in solutions]),
        )
        return cls(scales, W, b, np.array([solution.gap for solution in solutions]))


class LinearPathSolver:
    """Path of squared loss, from moments, from the rows' eigendecomposition or by a working set."""

    def __init__(self, problem: Problem, l1: Floats, l2: Floats, tol: float, max_iter: int) -> None:
        self.problem, self.l1, self.l2 = problem, l1, l2
        self.tol, self.max_iter = tol, max_iter
        # With fewer rows than features A Aᵀ is the smaller matrix.
        self.uses_rows = not l1.any() and problem.X.n_rows < problem.X.width
        self.uses_moments = not self.uses_rows if not l1.any() else prefers_gram(problem.X)
        if not l1.any() and needs_conjugate_gradient(problem.X):
            raise errors.DataError(
                f"{problem.X.n_rows:,} rows of {problem.X.width:,} features are too many for a path of ridge "
                "penalties.",
                hint=("Give one penalty: ", Setting("", Call("Penalty", l2=...)), "."),
            )

    def make_scales(self, n: int, ratio: float, moments: Moments | None = None) -> Floats:
        """Return n descending scales; with l1 they start where all penalised weights become zero."""
        if self.l1.any():
            largest = lasso_lambda_max(self.problem.with_penalties(self.l1, np.zeros_like(self.l2)))
            return np.asarray((largest or 1.0) * np.geomspace(1.0, ratio, n))
        squares = _feature_squares(self.problem) if moments is None else np.diagonal(moments.gram)
        return default_scales(squares, self.l2, n)

    def solve(self, scales: Floats, moments: Moments | None = None) -> SolutionPath:
        """Return the solutions at all scales."""
        if self.uses_rows and moments is None:
            return self._solve_by_rows(scales)
        arguments = (self.l1, self.l2, scales, self.tol, self.max_iter)
        if not self.uses_moments:
            return SolutionPath.from_solutions(scales, lasso_path(self.problem, *arguments))
        moments = Moments.from_problem(self.problem) if moments is None else moments
        if self.l1.any():
            W, gaps = lasso_path_from_moments(moments, *arguments)
        else:
            W = ridge_path(moments, self.l2, scales)
            gaps = self._gaps(scales, W, moments.cross - W @ moments.gram, moments.yy)
        return SolutionPath(scales, W, moments.intercept(W.T), gaps)

    def _solve_by_rows(self, scales: Floats) -> SolutionPath:
        decomposition, problem = RowEigendecomposition(self.problem, self.l2), self.problem
        W = decomposition.weights(scales)
        b = decomposition.mean_y - W @ decomposition.mean_x
        residuals = _residuals(problem, W, b)
        residuals *= 1.0 if problem.weights is None else problem.weights[:, None]
        yy = float(np.square(decomposition.target).sum())
        return SolutionPath(scales, W, b, self._gaps(scales, W, problem.X.transposed_times(residuals).T, yy))

    def _gaps(self, scales: Floats, W: Floats, correlations: Floats, yy: float) -> Floats:
        """Bound objective − minimum of ridge by ½ Σ gⱼ² / l2ⱼ, at least the rounding of sums of this size.

        `correlations` [k, d] are Xᵀr. Unpenalised weights are fitted exactly.
        """
        penalised = self.l2 > 0
        l2 = scales[:, None] * self.l2[penalised]
        gaps = 0.5 * (np.square(correlations[:, penalised] - l2 * W[:, penalised]) / l2).sum(axis=1)
        return np.asarray(np.maximum(gaps, 0.5 * EPS * yy))

    def cross_validate(self, scales: Floats, folds: int) -> ValidationCurve:
        """Cross-validate every scale on folds of consecutive rows."""
        bounds = consecutive_folds(self.problem.X.n_rows, folds)
        if self.uses_moments:
            return self.cross_validate_moments(
                scales, [Moments.from_problem(self.problem.slice_rows(*fold)) for fold in bounds]
            )

        def held_out_error(fold: tuple[int, int]) -> tuple[Floats, float]:
            in_training = np.ones(self.problem.X.n_rows, dtype=bool)
            in_training[slice(*fold)] = False
            training = self.problem.select_rows(in_training)
            path = LinearPathSolver(training, self.l1, self.l2, self.tol, self.max_iter).solve(scales)
            held_out = self.problem.slice_rows(*fold)
            residuals = _residuals(held_out, path.weights, path.intercepts)
            s = np.ones(len(residuals)) if held_out.weights is None else held_out.weights
            return s @ np.square(residuals), held_out.total_weight

        return _validation_curve(scales, [held_out_error(fold) for fold in bounds])

    def cross_validate_moments(self, scales: Floats, folds: list[Moments]) -> ValidationCurve:
        """Cross-validate every scale from the moments of the folds alone."""
        total = reduce(Moments.plus, folds)

        def held_out_error(fold: Moments) -> tuple[Floats, float]:
            path = self.solve(scales, total.minus(fold))
            error = fold.squared_error(np.ascontiguousarray(path.weights.T), path.intercepts)
            return error, fold.total_weight

        with ThreadPoolExecutor(available_cores()) as pool:
            return _validation_curve(scales, list(pool.map(held_out_error, folds)))


def _feature_squares(problem: Problem) -> Floats:
    """Return the sum of squares of each feature, centred if there is an intercept."""
    X, s = problem.X, problem.weights
    s = np.ones(X.n_rows) if s is None else s
    squares = X.squared_times(s)
    if problem.has_intercept:
        squares -= np.square(X.transposed_times(s)) / s.sum()
    return np.maximum(squares, 0.0)


def _residuals(problem: Problem, W: Floats, b: Floats) -> Floats:
    """Return the residuals [n, k] of weights [k, d] and intercepts [k]."""
    o = 0.0 if problem.offset is None else problem.offset[:, None]
    return np.asarray(problem.y[:, None] - o - b - problem.X.times(np.ascontiguousarray(W.T)))


class LogisticPathSolver:
    """Path of log loss."""

    def __init__(
        self, problem: Problem, l1: Floats, l2: Floats, n_classes: int, tol: float, max_iter: int
    ) -> None:
        self.problem, self.l1, self.l2, self.n_classes = problem, l1, l2, n_classes
        self.tol, self.max_iter = tol, max_iter

    def make_scales(self, n: int, ratio: float) -> Floats:
        """Return n descending scales; with l1 they start where all penalised weights become zero."""
        if self.l1.any():
            none = np.zeros_like(self.l2)
            largest = logistic_lambda_max(self.problem.with_penalties(self.l1, none), self.n_classes)
            return np.asarray((largest or 1.0) * np.geomspace(1.0, ratio, n))
        squares = _feature_squares(self.problem)
        penalised = self.l2 > 0
        curvature = float((squares[penalised] / self.l2[penalised]).mean()) / 4 if penalised.any() else 1.0
        return np.asarray((curvature or 1.0) * np.geomspace(1e2, 1e2 * min(ratio, 1e-6), n))

    def solve(self, scales: Floats) -> SolutionPath:
        """Return the solutions at all scales."""
        if self.l1.any():
            arguments = (self.problem, self.l1, self.l2, scales, self.n_classes, self.tol, self.max_iter)
            return SolutionPath.from_solutions(scales, l1_logistic_path(*arguments))
        return SolutionPath.from_solutions(scales, list(self._iterate_solutions(scales)))

    def _iterate_solutions(self, scales: Floats) -> Iterator[Solution]:
        """Yield the solutions of an l2 penalty, each one started from the one before."""
        start = None
        for scale in scales.tolist():
            problem = self.problem.with_penalties(self.l1 * scale, self.l2 * scale)
            start = solve_logistic(problem, self.n_classes, self.tol, self.max_iter, start)
            yield start

    def cross_validate(self, scales: Floats, folds: int) -> ValidationCurve:
        """Cross-validate every scale on stratified folds."""

        def held_out_loss(mask: Mask) -> tuple[Floats, float]:
            held_out = self.problem.select_rows(mask)
            return np.array(list(self._iterate_losses(scales, mask))), held_out.total_weight

        masks = stratified_folds(self.problem.y, folds)
        with ThreadPoolExecutor(available_cores()) as pool:
            return _validation_curve(scales, list(pool.map(held_out_loss, masks)))

    def select_scale(self, scales: Floats, folds: int) -> float:
        """Return the scale with the smallest cross-validated loss.

        The folds advance together along an l2 path, from the strongest penalty on. Once the loss has risen
        `MAX_RISES` scales in a row, the weaker penalties are left out: they only fit better to the training
        rows, and take longest.
        """
        if self.l1.any():
            return self.cross_validate(scales, folds).best_scale
        fold_losses = [self._iterate_losses(scales, mask) for mask in stratified_folds(self.problem.y, folds)]
        losses: list[float] = []
        with ThreadPoolExecutor(available_cores()) as pool:
            for _ in scales:
                losses.append(sum(pool.map(next, fold_losses)))
                if len(losses) - 1 - int(np.argmin(losses)) >= MAX_RISES:
                    break
        return float(scales[np.argmin(losses)])

    def _iterate_losses(self, scales: Floats, mask: Mask) -> Iterator[float]:
        """Yield the loss of the rows in the mask for every scale, learned from the other rows."""
        training = self.problem.select_rows(~mask)
        held_out, width = self.problem.select_rows(mask), self.problem.X.width
        loss = make_loss(held_out, self.n_classes)
        if self.l1.any():
            solutions: Iterable[Solution] = l1_logistic_path(
                training, self.l1, self.l2, scales, self.n_classes, self.tol, self.max_iter
            )
        else:
            # Not a list: the weights of all words, classes and scales would not fit into memory.
            arguments = (training, self.l1, self.l2, self.n_classes, self.tol, self.max_iter)
            solutions = LogisticPathSolver(*arguments)._iterate_solutions(scales)
        for solution in solutions:
            yield loss.value(held_out.X.times(solution.w.reshape(width, -1)) + solution.b)


def _validation_curve(scales: Floats, folds: list[tuple[Floats, float]]) -> ValidationCurve:
    sums, totals = (np.array(values) for values in zip(*folds, strict=True))
    return ValidationCurve.from_fold_sums(scales, sums, totals)
