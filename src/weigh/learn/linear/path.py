"""The weights along a path of penalties, from strong to weak, each fit beginning where the last one ended."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats, Mask
from weigh.learn.linear.conjugate_gradient import needs_conjugate_gradient
from weigh.learn.linear.cross_validation import ValidationCurve, consecutive_folds, stratified_folds
from weigh.learn.linear.lasso import lasso_lambda_max, lasso_path, lasso_path_from_moments, prefers_gram
from weigh.learn.linear.logistic import l1_logistic_path, logistic_lambda_max, solve_logistic
from weigh.learn.linear.losses import make_loss
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import Problem, Solution
from weigh.learn.linear.ridge import RowEigendecomposition, default_scales, ridge_path
from weigh.model.parallel import available_cores


@dataclass(frozen=True, eq=False)
class SolutionPath:
    """Weights [k, d] or [k, d, classes], biases and gaps for k scales of a penalty."""

    scales: Floats
    weights: Floats
    intercepts: Floats
    gaps: Floats

    @classmethod
    def from_solutions(cls, scales: Floats, found: list[Solution]) -> SolutionPath:
        """Return the track of solutions."""
        W, b = (np.array([getattr(each, name) for each in found]) for name in ("w", "b"))
        return cls(scales, W, b, np.array([each.gap for each in found]))


class LinearPathSolver:
    """Squared loss along the penalties scale · (l1, l2)."""

    def __init__(self, problem: Problem, l1: Floats, l2: Floats, tol: float, max_iter: int) -> None:
        self.problem, self.l1, self.l2 = problem, l1, l2
        self.tol, self.max_iter = tol, max_iter
        # Fewer rows than features: rows by rows is the smaller table.
        self.uses_rows = not l1.any() and problem.X.n_rows < problem.X.width
        self.uses_moments = not self.uses_rows if not l1.any() else prefers_gram(problem.X)
        if not l1.any() and needs_conjugate_gradient(problem.X):
            raise errors.DataError(
                f"{problem.X.n_rows:,} rows of {problem.X.width:,} features are too many for ridge at many "
                f"strengths at once. Give one: Penalty(l2=...)."
            )

    def make_scales(self, n: int, ratio: float, moments: Moments | None = None) -> Floats:
        """Return n scales, falling: of lasso from the least that leaves no weight."""
        if self.l1.any():
            largest = lasso_lambda_max(self.problem.with_penalties(self.l1, np.zeros_like(self.l2)))
            return np.asarray((largest or 1.0) * np.geomspace(1.0, ratio, n))
        squares = self._feature_squares() if moments is None else np.diagonal(moments.gram)
        return default_scales(squares, self.l2, n)

    def _feature_squares(self) -> Floats:
        """Return the sum of squares of every feature, from its mean if there is a bias."""
        X, s = self.problem.X, self.problem.weights
        s = np.ones(X.n_rows) if s is None else s
        found = X.squared_times(s)
        if self.problem.has_intercept:
            found -= np.square(X.transposed_times(s)) / s.sum()
        return np.maximum(found, 0.0)

    def solve(self, scales: Floats, moments: Moments | None = None) -> SolutionPath:
        """Return the weights of all scales."""
        if self.uses_rows and moments is None:
            return self._solve_by_rows(scales)
        path = (self.l1, self.l2, scales, self.tol, self.max_iter)
        if not self.uses_moments:
            return SolutionPath.from_solutions(scales, lasso_path(self.problem, *path))
        moments = Moments.from_problem(self.problem) if moments is None else moments
        if self.l1.any():
            W, gaps = lasso_path_from_moments(moments, *path)
        else:
            W = ridge_path(moments, self.l2, scales)
            gaps = self._gaps(scales, W, moments.cross - W @ moments.gram, moments.yy)
        return SolutionPath(scales, W, moments.intercept(W.T), gaps)

    def _solve_by_rows(self, scales: Floats) -> SolutionPath:
        spectrum, problem = RowEigendecomposition(self.problem, self.l2), self.problem
        W = spectrum.weights(scales)
        b = spectrum.mean_y - W @ spectrum.mean_x
        o = 0.0 if problem.offset is None else problem.offset[:, None]
        left = problem.y[:, None] - o - b - problem.X.times(np.ascontiguousarray(W.T))
        left *= 1.0 if problem.weights is None else problem.weights[:, None]
        yy = float(np.square(spectrum.target).sum())
        return SolutionPath(scales, W, b, self._gaps(scales, W, problem.X.transposed_times(left).T, yy))

    def _gaps(self, scales: Floats, W: Floats, pulls: Floats, yy: float) -> Floats:
        """Return how far ridge may be above its minimum, at least what sums of such a size are rounded by.

        Weights without a penalty are fitted exactly.
        """
        held = self.l2 > 0
        l2 = scales[:, None] * self.l2[held]
        gaps = 0.5 * (np.square(pulls[:, held] - l2 * W[:, held]) / l2).sum(axis=1)
        return np.asarray(np.maximum(gaps, 0.5 * float(np.finfo(np.float64).eps) * yy))

    def cross_validate(self, scales: Floats, folds: int) -> ValidationCurve:
        """Judge every scale on folds of consecutive rows, each by what the others teach."""
        places = consecutive_folds(self.problem.X.n_rows, folds)
        if self.uses_moments:
            return self.cross_validate_moments(
                scales, [Moments.from_problem(self.problem.slice_rows(*fold)) for fold in places]
            )

        def error(fold: tuple[int, int]) -> tuple[Floats, float]:
            rest = np.ones(self.problem.X.n_rows, dtype=bool)
            rest[slice(*fold)] = False
            own = (self.problem.select_rows(rest), self.l1, self.l2, self.tol, self.max_iter)
            track = LinearPathSolver(*own).solve(scales)
            out = self.problem.slice_rows(*fold)
            o = 0.0 if out.offset is None else out.offset[:, None]
            left = out.y[:, None] - o - track.intercepts - out.X.times(np.ascontiguousarray(track.weights.T))
            s = np.ones(len(left)) if out.weights is None else out.weights
            return s @ np.square(left), out.total_weight

        return _validation_curve(scales, [error(fold) for fold in places])

    def cross_validate_moments(self, scales: Floats, folds: list[Moments]) -> ValidationCurve:
        """Judge every scale from the moments of the folds alone."""
        everything = reduce(Moments.plus, folds)

        def error(fold: Moments) -> tuple[Floats, float]:
            track = self.solve(scales, everything.minus(fold))
            return fold.squared_error(
                np.ascontiguousarray(track.weights.T), track.intercepts
            ), fold.total_weight

        with ThreadPoolExecutor(available_cores()) as pool:
            return _validation_curve(scales, list(pool.map(error, folds)))


class LogisticPathSolver:
    """Log loss along the penalties scale · (l1, l2)."""

    def __init__(
        self, problem: Problem, l1: Floats, l2: Floats, classes: int, tol: float, max_iter: int
    ) -> None:
        self.problem, self.l1, self.l2, self.classes = problem, l1, l2, classes
        self.tol, self.max_iter = tol, max_iter

    def make_scales(self, n: int, ratio: float) -> Floats:
        """Return n scales, falling: with l1 from the least that leaves no weight."""
        if self.l1.any():
            none = np.zeros_like(self.l2)
            largest = logistic_lambda_max(self.problem.with_penalties(self.l1, none), self.classes)
            return np.asarray((largest or 1.0) * np.geomspace(1.0, ratio, n))
        s = np.ones(self.problem.X.n_rows) if self.problem.weights is None else self.problem.weights
        sums = self.problem.X.squared_times(s)
        held = self.l2 > 0
        size = float((sums[held] / self.l2[held]).mean()) / 4 if held.any() else 1.0
        return np.asarray((size or 1.0) * np.geomspace(1e2, 1e2 * min(ratio, 1e-6), n))

    def solve(self, scales: Floats) -> SolutionPath:
        """Return the weights of all scales."""
        if self.l1.any():
            path = (self.problem, self.l1, self.l2, scales, self.classes, self.tol, self.max_iter)
            return SolutionPath.from_solutions(scales, l1_logistic_path(*path))
        found: list[Solution] = []
        for scale in scales.tolist():
            problem = self.problem.with_penalties(self.l1 * scale, self.l2 * scale)
            start = found[-1] if found else None
            found.append(solve_logistic(problem, self.classes, self.tol, self.max_iter, start))
        return SolutionPath.from_solutions(scales, found)

    def cross_validate(self, scales: Floats, folds: int) -> ValidationCurve:
        """Judge every scale on folds that rows of every class are dealt to in turn."""

        def error(held: Mask) -> tuple[Floats, float]:
            rest = self.problem.select_rows(~held)
            own = (rest, self.l1, self.l2, self.classes, self.tol, self.max_iter)
            track = LogisticPathSolver(*own).solve(scales)
            out = self.problem.select_rows(held)
            return self._validation_losses(out, track), out.total_weight

        with ThreadPoolExecutor(available_cores()) as pool:
            return _validation_curve(scales, list(pool.map(error, stratified_folds(self.problem.y, folds))))

    def _validation_losses(self, problem: Problem, track: SolutionPath) -> Floats:
        loss = make_loss(problem, self.classes)
        pairs = zip(track.weights, track.intercepts, strict=True)
        width = problem.X.width
        return np.array([loss.value(problem.X.times(w.reshape(width, -1)) + b) for w, b in pairs])


def _validation_curve(scales: Floats, found: list[tuple[Floats, float]]) -> ValidationCurve:
    sums, totals = (np.array(each) for each in zip(*found, strict=True))
    return ValidationCurve.from_fold_sums(scales, sums, totals)
