"""Dual coordinate ascent for logistic regression of two classes with l2, for many sparse features.

Each row has a dual variable αᵢ in [0, sᵢ], and w = Σ (2yᵢ − 1) αᵢ xᵢ / l2. A pass maximises the dual over one
αᵢ after the other. The intercept has a normal prior whose mean follows the intercept (method of multipliers),
so that in the limit the intercept is unpenalised.

Reference: Yu, Huang, Lin (2011), "Dual coordinate descent methods for logistic regression and maximum entropy
models".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Ints
from weigh.learn.linear.duality import dual_lower_bound
from weigh.learn.linear.losses import LogisticLoss
from weigh.learn.linear.matrix import InterceptMatrix, Matrix, SparseMatrix
from weigh.learn.linear.newton import ROUNDING_TOLERANCE, SolverResult
from weigh.learn.linear.problem import Problem, Solution
from weigh.model.parallel import available_cores

SYNCS_PER_PASS = 4  # how often threads exchange their weights
MAX_THREADS = 4  # more threads need shorter steps
SHUFFLE_BLOCK_ROWS = 16  # rows that stay together when the order is shuffled
MAX_ACTIVE_FRACTION = 0.2  # of the rows: if no more are active, they get extra passes
N_ACTIVE_PASSES = 2
MAX_EXPECTED_PASSES = 150  # if more remain, Newton's method is faster
# Intercept prior variance, as a ratio to the mean of prior_variance · ‖xᵢ‖²; a larger one converges slowly
# because every row moves the intercept.
INTERCEPT_VARIANCE_RATIO = 0.01
INTERCEPT_TOLERANCE = 0.1  # of the estimated gap: a smaller effect of the intercept's prior is ignored


def solve_dual_ascent(
    problem: Problem, X: SparseMatrix, target: float, max_iter: int, start: Solution | None
) -> tuple[SolverResult, bool]:
    """Run passes until the gap is at most the target or at rounding level.

    Returns the result and whether it has converged. Gives up early if convergence is too slow.
    """
    dual = DualCoordinateAscent(problem, X)
    if start is not None:
        dual.warm_start(start)
    monitor = ConvergenceMonitor(target)
    while monitor.passes < max_iter:
        monitor.update(dual.run_pass(), dual.has_active_rows)
        if monitor.should_check_gap:
            result = dual.result(monitor.passes)
            if result.gap <= target or monitor.estimated_gap <= ROUNDING_TOLERANCE * result.objective:
                return result, True
        if monitor.is_too_slow:
            break
    result = dual.result(monitor.passes)
    return result, result.gap <= target


class DualCoordinateAscent:
    """Dual variables and weights of a problem, in units in which all features have the same penalty."""

    def __init__(self, problem: Problem, X: SparseMatrix) -> None:
        self.problem, self.X = problem, X
        is_uniform = bool((problem.l2 == problem.l2[0]).all())
        self._feature_scales = np.ones(1) if is_uniform else np.sqrt(problem.l2)
        values = (
            X.rows.values
            if is_uniform
            else X.rows.entry_values() * (1 / self._feature_scales)[X.rows.indices]
        )
        self.prior_variance = 1 / float(problem.l2[0]) if is_uniform else 1.0
        n_entries = len(X.rows.indices)
        self.intercept_variance = 0.0
        if problem.has_intercept:
            squares = n_entries if values is None else float(values @ values)
            # The 1 keeps the variance positive if all rows are empty.
            self.intercept_variance = (
                INTERCEPT_VARIANCE_RATIO * (self.prior_variance * squares + 1) / max(1, X.n_rows)
            )
        n_threads = min(available_cores(), MAX_THREADS) if n_entries > max(300_000, 4 * X.width) else 1
        self._dual = _core.LogisticDual(
            X.rows.indptr,
            X.rows.indices,
            values,
            X.width,
            problem.y,
            problem.weights,
            problem.offset,
            self.prior_variance,
            self.intercept_variance,
            SYNCS_PER_PASS if n_threads > 1 else 1,
            n_threads,
        )
        self._imbalance, self._recentre_factor = 0.0, 1.0
        self.has_active_rows = False
        self._random = np.random.default_rng(0)
        self._order = self._random.permutation(X.n_rows).astype(np.int32)

    def warm_start(self, start: Solution) -> None:
        """Set the dual variables that correspond to the weights of a solution."""
        y, weights = self.problem.y, self.problem.weights
        scores = self.X.times(start.w) + start.b
        scores += 0.0 if self.problem.offset is None else self.problem.offset
        signed_alphas = y - 1 / (1 + np.exp(-np.clip(scores, -700, 700)))
        signed_alphas *= 1.0 if weights is None else weights
        w = self.X.transposed_times(signed_alphas) / self.problem.l2
        self._dual.warm_start(scores, w * self._feature_scales, float(start.b))

    def run_pass(self) -> float:
        """Update every row once, and active rows again; return the estimated duality gap before the pass.

        Each row's part of the estimate is taken just before the row's own step.
        """
        estimated_gap = self._dual.run_pass(self._order)
        active = self._active_rows()
        self.has_active_rows = 0 < len(active) <= MAX_ACTIVE_FRACTION * self.X.n_rows
        if self.has_active_rows:
            for _ in range(N_ACTIVE_PASSES):
                self._dual.run_pass(active)
        self._order = _shuffle_blocks(self._order, self._random)
        if self.problem.has_intercept:
            self._recentre_intercept(estimated_gap)
        return estimated_gap

    def _active_rows(self) -> Ints:
        """Return the rows with more than the mean curvature: those that determine the weights."""
        alphas = np.abs(self._dual.signed_alphas())
        weights = self.problem.weights
        curvature = alphas * (1 - (alphas if weights is None else alphas / weights))
        return np.asarray(self._order[(curvature > curvature.mean())[self._order]])

    def _recentre_intercept(self, estimated_gap: float) -> None:
        """Move the mean of the intercept's prior once the problem is nearly solved for the current mean.

        The imbalance Σ (2yᵢ − 1) αᵢ falls in proportion to the move, so two moves determine how far the mean
        has to go.
        """
        imbalance = float(self._dual.signed_alphas().sum())
        if self.intercept_variance * imbalance**2 <= INTERCEPT_TOLERANCE * estimated_gap:
            return
        ratio = imbalance / self._imbalance if self._imbalance else 0.0
        self._recentre_factor = min(max(self._recentre_factor / max(1 - ratio, 0.02), 1.0), 50.0)
        self._imbalance = imbalance
        self._dual.recentre_bias_prior(self._recentre_factor)

    def result(self, iterations: int) -> SolverResult:
        """Return the weights [width, 1], or [width + 1, 1] with the intercept last, and their duality gap."""
        problem, loss = self.problem, LogisticLoss(self.problem)
        X: Matrix = InterceptMatrix(self.X) if problem.has_intercept else self.X
        w = self._dual.weights() / self._feature_scales
        S = self.X.times(w)[:, None]
        b = self._optimise_intercept(loss, S) if problem.has_intercept else 0.0
        p = np.clip(problem.y - self._dual.signed_alphas() / loss.weights[:, 0], 0.0, 1.0)[:, None]
        l2 = np.append(problem.l2, 0.0) if problem.has_intercept else problem.l2
        objective = loss.value(S + b) + problem.penalty(w)
        W = np.append(w, b) if problem.has_intercept else w
        # Without an intercept the point is already feasible, and Xᵀg = −l2 w is known.
        v = None if problem.has_intercept else -(problem.l2 * w)[:, None]
        gap = max(0.0, objective - dual_lower_bound(loss, X, l2, p, v))
        return SolverResult(W[:, None], objective, gap, iterations, "dual coordinate ascent")

    def _optimise_intercept(self, loss: LogisticLoss, S: Floats) -> float:
        """Take up to three Newton steps for the intercept; keep the old one if they do not lower the loss."""
        b = self._dual.bias
        for _ in range(3):
            p = loss.probabilities(S + b)
            curvature = float(loss.hessian_times(p, np.ones_like(p)).sum())
            step = -float(loss.score_gradient(p).sum()) / curvature if curvature > 0 else 0.0
            b += step
            if abs(step) < 1e-12:
                break
        return b if loss.value(S + b) < loss.value(S + self._dual.bias) else self._dual.bias


@dataclass
class ConvergenceMonitor:
    """Decides when to compute the gap, which costs as much as a pass, and when to give up."""

    target: float
    previous_gap: float = math.inf
    estimated_gap: float = math.inf
    rate: float = 1.0
    passes: int = 0

    expected_gap: float = math.inf

    def update(self, estimated_gap: float, has_active_passes: bool) -> None:
        """Record the gap estimated by a pass, and whether passes over active rows followed."""
        self.previous_gap, self.estimated_gap = self.estimated_gap, estimated_gap
        self.passes += 1
        if self.passes > 2:
            previous = self.previous_gap
            rate = estimated_gap / previous if previous > 0 else 0.0
            self.rate = rate if self.passes == 3 else self.rate**0.7 * rate**0.3
        rate = min(self.rate, 1.0)
        # The rows' parts of the estimate are taken as the pass goes on, so on average it is half a pass old;
        # passes over active rows are worth about another half.
        self.expected_gap = estimated_gap * (rate if has_active_passes else math.sqrt(rate))

    @property
    def should_check_gap(self) -> bool:
        """Whether the gap may be below the target."""
        return self.expected_gap <= self.target

    @property
    def is_too_slow(self) -> bool:
        """Whether so many passes remain that another method is faster."""
        if self.passes < 10 or self.estimated_gap <= self.target:
            return False
        log_ratio = math.log(max(self.target, ROUNDING_TOLERANCE * self.estimated_gap) / self.estimated_gap)
        return self.rate >= 1 or log_ratio / math.log(self.rate) > MAX_EXPECTED_PASSES


def _shuffle_blocks(order: Ints, random: np.random.Generator) -> Ints:
    """Permute blocks of neighbouring rows: nearly as good as a full shuffle, and faster."""
    whole = len(order) // SHUFFLE_BLOCK_ROWS * SHUFFLE_BLOCK_ROWS
    blocks = order[:whole].reshape(-1, SHUFFLE_BLOCK_ROWS)[random.permutation(whole // SHUFFLE_BLOCK_ROWS)]
    return np.concatenate([order[whole:], blocks.ravel()])
