"""Logistic regression of two classes by its dual: for many sparse features, each with a penalty."""

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

SYNCS_PER_PASS = 4  # how often per pass threads tell each other
MAX_THREADS = 4  # each one's steps are the shorter, the more there are
SHUFFLE_BLOCK_ROWS = 16  # rows that stay neighbours when the order is changed
MAX_ACTIVE_FRACTION = 0.2  # of the rows: if so few decide the weights, they are gone through again
N_ACTIVE_PASSES = 2  # times
MAX_EXPECTED_PASSES = 150  # passes; Newton's method is the better one if more are left
INTERCEPT_VARIANCE_RATIO = (
    0.01  # of a row's square: with more the bias, which all rows move, would not come to rest
)
INTERCEPT_TOLERANCE = (
    0.1  # of how far off rows are: what they leave unbalanced for the bias's prior to be moved
)


class DualCoordinateAscent:
    """A run over the rows of a problem, in units in which all features have the same penalty."""

    def __init__(self, problem: Problem, X: SparseMatrix) -> None:
        self.problem, self.X = problem, X
        even = bool((problem.l2 == problem.l2[0]).all())
        self._feature_scales = np.ones(1) if even else np.sqrt(problem.l2)
        values = X.values if even else _scale_values(X, 1 / self._feature_scales)
        self.prior_variance = 1 / float(problem.l2[0]) if even else 1.0
        entries = int(X.indptr[-1] - X.indptr[0])
        self.intercept_variance = 0.0
        if problem.has_intercept:
            held = None if values is None else values[X.indptr[0] : X.indptr[-1]]
            squares = entries if held is None else float(held @ held)
            self.intercept_variance = (
                INTERCEPT_VARIANCE_RATIO * (self.prior_variance * squares + 1) / max(1, X.n_rows)
            )
        threads = min(available_cores(), MAX_THREADS) if entries > max(300_000, 4 * X.width) else 1
        self._core = _core.LogisticDual(
            X.indptr,
            X.indices,
            values,
            X.width,
            problem.y,
            problem.weights,
            problem.offset,
            self.prior_variance,
            self.intercept_variance,
            SYNCS_PER_PASS if threads > 1 else 1,
            threads,
        )
        self._imbalance, self._recentre_factor = 0.0, 1.0
        self.has_active_rows = False
        self._random = np.random.default_rng(0)
        self._order = self._random.permutation(X.n_rows).astype(np.int32)

    def warm_start(self, start: Solution) -> None:
        """Begin near given weights."""
        y, weights = self.problem.y, self.problem.weights
        scores = self.X.times(start.w) + start.b
        scores += 0.0 if self.problem.offset is None else self.problem.offset
        alphas = y - 1 / (1 + np.exp(-np.clip(scores, -700, 700)))
        alphas *= 1.0 if weights is None else weights
        w = self.X.transposed_times(alphas) / self.problem.l2
        self._core.warm_start(scores, w * self._feature_scales, float(start.b))

    def run_pass(self) -> float:
        """Take a step for every row, and more for some; return about how far off they all were."""
        apart = self._core.run_pass(self._order)
        weighty = self._active_rows()
        self.has_active_rows = 0 < len(weighty) <= MAX_ACTIVE_FRACTION * self.X.n_rows
        if self.has_active_rows:
            for _ in range(N_ACTIVE_PASSES):
                self._core.run_pass(weighty)
        self._order = _shuffle_blocks(self._order, self._random)
        if self.problem.has_intercept:
            self._recentre_intercept(apart)
        return apart

    def _active_rows(self) -> Ints:
        """Return the rows whose loss is bent by more than the mean: those that decide the weights."""
        alphas = np.abs(self._core.signed_alphas())
        weights = self.problem.weights
        bends = alphas * (1 - (alphas if weights is None else alphas / weights))
        return np.asarray(self._order[(bends > bends.mean())[self._order]])

    def _recentre_intercept(self, apart: float) -> None:
        """Move the centre of the bias's prior, once the problem is solved well enough for that centre.

        What the rows leave unbalanced falls in proportion to how far the centre moves, so two such moves tell
        how far it has to go.
        """
        balance = float(self._core.signed_alphas().sum())
        if self.intercept_variance * balance**2 <= INTERCEPT_TOLERANCE * apart:
            return
        left = balance / self._imbalance if self._imbalance else 0.0
        self._recentre_factor = min(max(self._recentre_factor / max(1 - left, 0.02), 1.0), 50.0)
        self._imbalance = balance
        self._core.recentre_bias_prior(self._recentre_factor)

    def result(self, iterations: int) -> SolverResult:
        """Return the weights [width, 1], the bias last if there is one, and how good they are."""
        problem, loss = self.problem, LogisticLoss(self.problem)
        X: Matrix = InterceptMatrix(self.X) if problem.has_intercept else self.X
        w = self._core.weights() / self._feature_scales
        S = self.X.times(w)[:, None]
        bias = self._optimise_intercept(loss, S) if problem.has_intercept else 0.0
        p = np.clip(problem.y - self._core.signed_alphas() / loss.weights[:, 0], 0.0, 1.0)[:, None]
        l2 = np.append(problem.l2, 0.0) if problem.has_intercept else problem.l2
        objective = loss.value(S + bias) + problem.penalty(w)
        W = np.append(w, bias) if problem.has_intercept else w
        # Without a bias no step is needed to a point of the dual, and its features' part is known.
        v = None if problem.has_intercept else -(problem.l2 * w)[:, None]
        gap = max(0.0, objective - dual_lower_bound(loss, X, l2, p, v))
        return SolverResult(W[:, None], objective, gap, iterations, "dual coordinate ascent")

    def _optimise_intercept(self, loss: LogisticLoss, S: Floats) -> float:
        bias = self._core.bias
        for _ in range(3):
            p = loss.probabilities(S + bias)
            bend = float(loss.hessian_times(p, np.ones_like(p)).sum())
            step = -float(loss.score_gradient(p).sum()) / bend if bend > 0 else 0.0
            bias += step
            if abs(step) < 1e-12:
                break
        near = loss.value(S + bias) < loss.value(S + self._core.bias)
        return bias if near else self._core.bias


@dataclass
class ConvergenceMonitor:
    """When to look at the gap: it costs as much as a pass."""

    target: float
    previous_suboptimality: float = math.inf
    suboptimality: float = math.inf
    rate: float = 1.0
    passes: int = 0

    expected_gap: float = math.inf

    def update(self, apart: float, went_on: bool) -> None:
        """Take in how far off rows were when it was their turn, and whether more steps followed the pass."""
        self.previous_suboptimality, self.suboptimality = self.suboptimality, apart
        self.passes += 1
        if self.passes > 2:
            now = apart / self.previous_suboptimality if self.previous_suboptimality > 0 else 0.0
            self.rate = now if self.passes == 3 else self.rate**0.7 * now**0.3
        rate = min(self.rate, 1.0)
        self.expected_gap = apart * (rate if went_on else math.sqrt(rate))

    @property
    def should_check_gap(self) -> bool:
        """Whether the gap may be below the target."""
        return self.expected_gap <= self.target

    @property
    def is_too_slow(self) -> bool:
        """Whether so many passes are left that another method is the better one."""
        if self.passes < 10 or self.suboptimality <= self.target:
            return False
        left = math.log(max(self.target, ROUNDING_TOLERANCE * self.suboptimality) / self.suboptimality)
        return self.rate >= 1 or left / math.log(self.rate) > MAX_EXPECTED_PASSES


def solve_dual_ascent(
    problem: Problem, X: SparseMatrix, target: float, max_iter: int, start: Solution | None
) -> tuple[SolverResult, bool]:
    """Return weights, and whether they are good enough: the gap is the target at most, or rounding."""
    dual = DualCoordinateAscent(problem, X)
    if start is not None:
        dual.warm_start(start)
    pace = ConvergenceMonitor(target)
    while pace.passes < max_iter:
        apart = dual.run_pass()
        pace.update(apart, dual.has_active_rows)
        if pace.should_check_gap:
            found = dual.result(pace.passes)
            if found.gap <= target or pace.suboptimality <= ROUNDING_TOLERANCE * found.objective:
                return found, True
        if pace.is_too_slow:
            break
    found = dual.result(pace.passes)
    return found, found.gap <= target


def _scale_values(X: SparseMatrix, scale: Floats) -> Floats:
    factors = scale[X.indices]
    return factors if X.values is None else X.values * factors


def _shuffle_blocks(order: Ints, random: np.random.Generator) -> Ints:
    """Return the order with runs of neighbours in other places: all but as good as shuffled, and faster."""
    whole = len(order) // SHUFFLE_BLOCK_ROWS * SHUFFLE_BLOCK_ROWS
    runs = order[:whole].reshape(-1, SHUFFLE_BLOCK_ROWS)[random.permutation(whole // SHUFFLE_BLOCK_ROWS)]
    return np.concatenate([order[whole:], runs.ravel()])
