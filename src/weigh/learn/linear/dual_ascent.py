"""Dual coordinate ascent for logistic and softmax regression with l2, for many sparse features.

With two classes each row has a dual variable αᵢ in [0, sᵢ], and w = Σ (2yᵢ − 1) αᵢ xᵢ / l2. With more classes
the dual variables of a row are probabilities pᵢ, and W = Σ sᵢ xᵢ (yᵢ − pᵢ)ᵀ / l2 with one-hot yᵢ. A pass
maximises the dual over the variables of one row after the other. The intercept has a normal prior whose mean
follows the intercept (method of multipliers), so that in the limit the intercept is unpenalised.

Reference: Yu, Huang, Lin (2011), "Dual coordinate descent methods for logistic regression and maximum entropy
models".
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Ints, Mask
from weigh.learn.linear.duality import dual_lower_bound
from weigh.learn.linear.loss_surface import ROUNDING_TOLERANCE
from weigh.learn.linear.losses import SoftmaxLoss, hessian, make_loss, solve_newton_system
from weigh.learn.linear.matrix import DenseMatrix, InterceptMatrix, Matrix, SparseMatrix
from weigh.learn.linear.newton import SolverResult
from weigh.learn.linear.problem import Problem, Solution
from weigh.model.parallel import available_cores

SYNCS_PER_PASS = 4  # how often threads exchange their weights
MAX_THREADS = 4  # more threads need shorter steps
SHUFFLE_BLOCK_ROWS = 16  # rows that stay together when the order is shuffled
MAX_ACTIVE_FRACTION = 0.2  # of the rows: if no more are active, they get extra passes
N_ACTIVE_PASSES = 2
ACTIVE_EFFORT = 2.0  # of several classes: steps in passes over active rows, relative to the number of rows
MAX_ACTIVE_PASSES = 60
MAX_EXPECTED_PASSES = 150  # if more remain, Newton's method is faster
SLOWNESS_WINDOW = 10  # passes from which their number is predicted
N_START_SHARES = 12  # points that are tried for a warm start, each half as far from the targets as the last
# Intercept prior variance, as a ratio to the mean of prior_variance · ‖xᵢ‖²; a larger one converges slowly
# because every row moves the intercept.
INTERCEPT_VARIANCE_RATIO = 0.01
INTERCEPT_TOLERANCE = 0.1  # of the estimated gap: a smaller effect of the intercept's prior is ignored


def solve_dual_ascent(
    problem: Problem, X: SparseMatrix, n_classes: int, target: float, max_iter: int, start: Solution | None
) -> tuple[SolverResult, bool]:
    """Run passes until the gap is at most the target or at rounding level.

    Returns the result and whether it has converged. Gives up early if convergence is too slow.
    """
    dual = DualCoordinateAscent(problem, X, n_classes)
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


class DualVariables(Protocol):
    """The native state of dual ascent: one table for any number of score columns k."""

    @property
    def core(self) -> _core.LogisticDual | _core.SoftmaxDual:
        """The native solver."""

    def weights(self) -> Floats:
        """Return the weights [d, k]."""

    def bias(self) -> Floats:
        """Return the intercepts [k]."""

    def probabilities(self) -> Floats:
        """Return the probabilities [n, k] that the dual variables stand for."""

    def active_rows(self) -> tuple[Mask, int]:
        """Return which rows [n] get extra passes, and how many."""

    def warm_start(self, start: Solution, scores: Floats) -> None:
        """Set the dual variables that correspond to a solution and its scores [n, k]."""


@dataclass(frozen=True)
class DualSetup:
    """Rows in units in which all features have the same penalty, and the variances of the priors."""

    problem: Problem
    X: SparseMatrix
    feature_scales: Floats
    values: Floats | None
    prior_variance: float
    intercept_variance: float

    @classmethod
    def from_problem(cls, problem: Problem, X: SparseMatrix) -> DualSetup:
        """Rescale the features of a problem unless their penalties are equal."""
        is_uniform = bool((problem.l2 == problem.l2[0]).all())
        feature_scales = np.ones(1) if is_uniform else np.sqrt(problem.l2)
        values = X.rows.values if is_uniform else X.rows.entry_values() * (1 / feature_scales)[X.rows.indices]
        prior_variance = 1 / float(problem.l2[0]) if is_uniform else 1.0
        squares = len(X.rows.indices) if values is None else float(values @ values)
        # The 1 keeps the variance positive if all rows are empty.
        intercept_variance = INTERCEPT_VARIANCE_RATIO * (prior_variance * squares + 1) / max(1, X.n_rows)
        has_intercept = problem.has_intercept
        return cls(
            problem, X, feature_scales, values, prior_variance, intercept_variance if has_intercept else 0.0
        )

    def threads(self, entries_per_feature: int) -> int:
        """Return how many threads pay off; each one has its own copy of the weights."""
        min_entries = max(300_000, entries_per_feature * self.X.width)
        return min(available_cores(), MAX_THREADS) if len(self.X.rows.indices) > min_entries else 1


class LogisticVariables:
    """One dual variable αᵢ per row: two classes."""

    def __init__(self, setup: DualSetup) -> None:
        self.setup, problem, rows = setup, setup.problem, setup.X.rows
        n_threads = setup.threads(entries_per_feature=4)
        self.core = _core.LogisticDual(
            rows.indptr,
            rows.indices,
            setup.values,
            setup.X.width,
            problem.y,
            problem.weights,
            problem.offset,
            setup.prior_variance,
            setup.intercept_variance,
            SYNCS_PER_PASS if n_threads > 1 else 1,
            n_threads,
        )

    def weights(self) -> Floats:
        """Return the weights [d, k]."""
        return np.asarray(self.core.weights() / self.setup.feature_scales)[:, None]

    def bias(self) -> Floats:
        """Return the intercepts [k]."""
        return np.array([self.core.bias])

    def probabilities(self) -> Floats:
        """Return the probabilities [n, k] that the dual variables stand for."""
        problem, alphas = self.setup.problem, self.core.signed_alphas()
        alphas = alphas if problem.weights is None else alphas / problem.weights
        return np.clip(problem.y - alphas, 0.0, 1.0)[:, None]

    def active_rows(self) -> tuple[Mask, int]:
        """Return which rows [n] get extra passes, and how many.

        Rows with more than the mean curvature determine the weights.
        """
        p, weights = self.probabilities()[:, 0], self.setup.problem.weights
        curvature = p * (1 - p) if weights is None else weights * p * (1 - p)
        is_active = np.asarray(curvature > curvature.mean())
        return is_active, N_ACTIVE_PASSES if is_active.sum() <= MAX_ACTIVE_FRACTION * len(p) else 0

    def warm_start(self, start: Solution, scores: Floats) -> None:
        """Set the dual variables that correspond to a solution and its scores [n, k]."""
        problem, scores = self.setup.problem, scores[:, 0]
        scores = scores if problem.offset is None else scores + problem.offset
        signed_alphas = problem.y - 1 / (1 + np.exp(-np.clip(scores, -700, 700)))
        signed_alphas *= 1.0 if problem.weights is None else problem.weights
        w = self.setup.X.transposed_times(signed_alphas) / problem.l2
        self.core.warm_start(scores, w * self.setup.feature_scales, float(start.b))


class SoftmaxVariables:
    """The probabilities of all classes as the dual variables of a row."""

    def __init__(self, setup: DualSetup, n_classes: int) -> None:
        self.setup, problem, rows = setup, setup.problem, setup.X.rows
        self._loss = SoftmaxLoss(problem, n_classes)
        self.core = _core.SoftmaxDual(
            rows.indptr,
            rows.indices,
            setup.values,
            setup.X.width,
            n_classes,
            problem.y.astype(np.int32),
            problem.weights,
            # An offset that all classes share has no effect.
            None if problem.offset is None or problem.offset.ndim == 1 else problem.offset,
            setup.prior_variance,
            setup.intercept_variance,
            1,
            setup.threads(entries_per_feature=20),
        )

    def weights(self) -> Floats:
        """Return the weights [d, k]."""
        return np.asarray(self.core.weights() / self.setup.feature_scales[:, None])

    def bias(self) -> Floats:
        """Return the intercepts [k]."""
        return self.core.bias()

    def probabilities(self) -> Floats:
        """Return the probabilities [n, k] that the dual variables stand for."""
        return self.core.probabilities()

    def active_rows(self) -> tuple[Mask, int]:
        """Return which rows [n] get extra passes, and how many.

        Of raw counts a few long rows have nearly all of the gap, so visiting them often costs little.
        """
        gaps = self.core.gaps()
        is_active = np.asarray(gaps > gaps.mean())
        n_active, n_rows = max(1, int(is_active.sum())), len(gaps)
        n_passes = min(MAX_ACTIVE_PASSES, int(ACTIVE_EFFORT * n_rows / n_active))
        return is_active, n_passes if n_active <= MAX_ACTIVE_FRACTION * n_rows else 0

    def warm_start(self, start: Solution, scores: Floats) -> None:
        """Set the dual variables that correspond to a solution and its scores [n, k].

        Any point between the targets and the probabilities is feasible. The one with the largest dual value
        is the start: if the penalty has become weaker, the residuals have to become smaller.
        """
        l2 = self.setup.problem.l2[:, None]
        p = self._loss.probabilities(scores)
        V = -self.setup.X.transposed_times(self._loss.score_gradient(p))
        cost = 0.5 * float((np.square(V) / l2).sum())
        y = np.zeros_like(p)
        y[np.arange(len(y)), self._loss.y] = 1.0
        shares = 0.5 ** np.arange(N_START_SHARES)
        values = [self._loss.dual_value(y + t * (p - y)) - t**2 * cost for t in shares.tolist()]
        share = float(shares[np.argmax(values)])
        scaled = share * V / l2 * self.setup.feature_scales[:, None]
        self.core.warm_start(y + share * (p - y), np.ascontiguousarray(scaled), np.asarray(start.b))


class DualCoordinateAscent:
    """Passes over the rows of a problem, in an order that is shuffled, and their result."""

    def __init__(self, problem: Problem, X: SparseMatrix, n_classes: int = 2) -> None:
        self.problem, self.X = problem, X
        setup = DualSetup.from_problem(problem, X)
        self.loss = make_loss(problem, n_classes)
        self._variables: DualVariables = (
            LogisticVariables(setup) if n_classes == 2 else SoftmaxVariables(setup, n_classes)
        )
        self.intercept_variance = setup.intercept_variance
        self._imbalance, self._recentre_factor = np.zeros(self.loss.n_outputs), 1.0
        self.has_active_rows = False
        self._random = np.random.default_rng(0)
        self._order = self._random.permutation(X.n_rows).astype(np.int32)

    def warm_start(self, start: Solution) -> None:
        """Set the dual variables that correspond to the weights of a solution."""
        scores = self.X.times(start.w.reshape(self.X.width, -1)) + start.b
        self._variables.warm_start(start, scores)

    def run_pass(self) -> float:
        """Update every row once, and active rows again; return the estimated duality gap before the pass.

        Each row's part of the estimate is taken just before the row's own step.
        """
        core = self._variables.core
        estimated_gap = core.run_pass(self._order)
        is_active, n_passes = self._variables.active_rows()
        active = self._order[is_active[self._order]]
        self.has_active_rows = len(active) > 0 and n_passes > 0
        if self.has_active_rows:
            for _ in range(n_passes):
                core.run_pass(active)
                active = _shuffle_blocks(active, self._random)
        self._order = _shuffle_blocks(self._order, self._random)
        if self.problem.has_intercept:
            self._recentre_intercept(estimated_gap)
        return estimated_gap

    def _recentre_intercept(self, estimated_gap: float) -> None:
        """Move the mean of the intercepts' prior once the problem is nearly solved for the current mean.

        The imbalance Σ sᵢ (yᵢ − pᵢ) falls in proportion to the move, so two moves determine how far the mean
        has to go.
        """
        imbalance = -self.loss.score_gradient(self._variables.probabilities()).sum(axis=0)
        if self.intercept_variance * float(imbalance @ imbalance) <= INTERCEPT_TOLERANCE * estimated_gap:
            return
        previous = float(self._imbalance @ self._imbalance)
        ratio = float(imbalance @ self._imbalance) / previous if previous else 0.0
        self._recentre_factor = min(max(self._recentre_factor / max(1 - ratio, 0.02), 1.0), 50.0)
        self._imbalance = imbalance
        self._variables.core.recentre_bias_prior(self._recentre_factor)

    def result(self, iterations: int) -> SolverResult:
        """Return the weights [width, k], or [width + 1, k] with the intercept last, and their duality gap."""
        problem, loss = self.problem, self.loss
        X: Matrix = InterceptMatrix(self.X) if problem.has_intercept else self.X
        W = self._variables.weights()
        S = self.X.times(W)
        l2, v = problem.l2, None
        if problem.has_intercept:
            b = self._optimise_intercept(S)
            S, W, l2 = S + b, np.concatenate([W, b[None]]), np.append(l2, 0.0)
        else:
            # The point is already feasible, and Xᵀg = −l2 w is known.
            v = -l2[:, None] * W
        objective = loss.value(S) + problem.penalty(W[: self.X.width])
        p = self._variables.probabilities()
        gap = max(0.0, objective - dual_lower_bound(loss, X, l2, p, v))
        return SolverResult(W, objective, gap, iterations, "dual coordinate ascent", p)

    def _optimise_intercept(self, S: Floats) -> Floats:
        """Take up to three Newton steps for the intercept; keep the old one if they do not lower the loss."""
        ones = InterceptMatrix(DenseMatrix(np.empty((len(S), 0))))
        first = b = self._variables.bias()
        for _ in range(3):
            p = self.loss.probabilities(S + b)
            grad = self.loss.score_gradient(p).sum(axis=0)[None]
            step = solve_newton_system(hessian(self.loss, ones, np.zeros(1), p), grad)[0]
            b = b + step
            if np.abs(step).max() < 1e-12:
                break
        return b if self.loss.value(S + b) < self.loss.value(S + first) else first


@dataclass
class ConvergenceMonitor:
    """Decides when to compute the gap, which costs as much as a pass, and when to give up."""

    target: float
    previous_gap: float = math.inf
    estimated_gap: float = math.inf
    rate: float = 1.0
    passes: int = 0
    expected_gap: float = math.inf
    recent_gaps: deque[float] = field(default_factory=lambda: deque(maxlen=SLOWNESS_WINDOW))

    def update(self, estimated_gap: float, has_active_passes: bool) -> None:
        """Record the gap estimated by a pass, and whether passes over active rows followed."""
        self.previous_gap, self.estimated_gap = self.estimated_gap, estimated_gap
        self.passes += 1
        self.recent_gaps.append(estimated_gap)
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
        if len(self.recent_gaps) < SLOWNESS_WINDOW or self.estimated_gap <= self.target:
            return False
        # Over several passes: the gap grows for a pass or two whenever the intercept moves.
        log_rate = math.log(self.estimated_gap / self.recent_gaps[0]) / (SLOWNESS_WINDOW - 1)
        log_ratio = math.log(max(self.target, ROUNDING_TOLERANCE * self.estimated_gap) / self.estimated_gap)
        return log_rate >= 0 or log_ratio / log_rate > MAX_EXPECTED_PASSES


def _shuffle_blocks(order: Ints, random: np.random.Generator) -> Ints:
    """Permute blocks of neighbouring rows: nearly as good as a full shuffle, and faster."""
    whole = len(order) // SHUFFLE_BLOCK_ROWS * SHUFFLE_BLOCK_ROWS
    blocks = order[:whole].reshape(-1, SHUFFLE_BLOCK_ROWS)[random.permutation(whole // SHUFFLE_BLOCK_ROWS)]
    return np.concatenate([order[whole:], blocks.ravel()])
