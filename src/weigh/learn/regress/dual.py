"""Logistic regression of two classes by its dual: for many sparse features, each with a penalty."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Ints
from weigh.learn.regress.dual_bound import lower_bound
from weigh.learn.regress.logistic_loss import LogisticLoss
from weigh.learn.regress.matrix import Matrix, SparseMatrix, WithOnes
from weigh.learn.regress.newton import ROUNDING, Found
from weigh.learn.regress.problem import Problem, Solution
from weigh.model.pipeline import cores

ROUNDS = 4  # how often per pass threads tell each other
MOST_THREADS = 4  # each one's steps are the shorter, the more there are
TOGETHER = 16  # rows that stay neighbours when the order is changed
FEW = 0.2  # of the rows: if so few decide the weights, they are gone through again
AGAIN = 2  # times
HOPELESS = 150  # passes; Newton's method is the better one if more are left
BIAS_SPREAD = 0.01  # of a row's square: with more the bias, which all rows move, would not come to rest
UNBALANCED = 0.1  # of how far off rows are: what they leave unbalanced for the bias's prior to be moved


class Dual:
    """A run over the rows of a problem, in units in which all features have the same penalty."""

    def __init__(self, problem: Problem, X: SparseMatrix) -> None:
        self.problem, self.X = problem, X
        even = bool((problem.l2 == problem.l2[0]).all())
        self._unit = np.ones(1) if even else np.sqrt(problem.l2)
        values = X.values if even else _scaled(X, 1 / self._unit)
        self.spread = 1 / float(problem.l2[0]) if even else 1.0
        entries = int(X.indptr[-1] - X.indptr[0])
        self.bias_spread = 0.0
        if problem.bias:
            held = None if values is None else values[X.indptr[0] : X.indptr[-1]]
            squares = entries if held is None else float(held @ held)
            self.bias_spread = BIAS_SPREAD * (self.spread * squares + 1) / max(1, X.n_rows)
        threads = min(cores(), MOST_THREADS) if entries > max(300_000, 4 * X.width) else 1
        self._core = _core.LogisticDual(
            X.indptr,
            X.indices,
            values,
            X.width,
            problem.y,
            problem.weights,
            problem.offset,
            self.spread,
            self.bias_spread,
            ROUNDS if threads > 1 else 1,
            threads,
        )
        self._balance, self._times = 0.0, 1.0
        self.is_uneven = False
        self._random = np.random.default_rng(0)
        self._order = self._random.permutation(X.n_rows).astype(np.int32)

    def begin(self, start: Solution) -> None:
        """Begin near given weights."""
        y, weights = self.problem.y, self.problem.weights
        scores = self.X.times(start.w) + start.b
        scores += 0.0 if self.problem.offset is None else self.problem.offset
        alphas = y - 1 / (1 + np.exp(-np.clip(scores, -700, 700)))
        alphas *= 1.0 if weights is None else weights
        w = self.X.transposed_times(alphas) / self.problem.l2
        self._core.warm_start(scores, w * self._unit, float(start.b))

    def run(self) -> float:
        """Take a step for every row, and more for some; return about how far off they all were."""
        apart = self._core.run_pass(self._order)
        weighty = self._weighty()
        self.is_uneven = 0 < len(weighty) <= FEW * self.X.n_rows
        if self.is_uneven:
            for _ in range(AGAIN):
                self._core.run_pass(weighty)
        self._order = _mixed(self._order, self._random)
        if self.problem.bias:
            self._centre_bias(apart)
        return apart

    def _weighty(self) -> Ints:
        """Return the rows whose loss is bent by more than the mean: those that decide the weights."""
        alphas = np.abs(self._core.signed_alphas())
        weights = self.problem.weights
        bends = alphas * (1 - (alphas if weights is None else alphas / weights))
        return np.asarray(self._order[(bends > bends.mean())[self._order]])

    def _centre_bias(self, apart: float) -> None:
        """Move the centre of the bias's prior, once the problem is solved well enough for that centre.

        What the rows leave unbalanced falls in proportion to how far the centre moves, so two such moves tell
        how far it has to go.
        """
        balance = float(self._core.signed_alphas().sum())
        if self.bias_spread * balance**2 <= UNBALANCED * apart:
            return
        left = balance / self._balance if self._balance else 0.0
        self._times = min(max(self._times / max(1 - left, 0.02), 1.0), 50.0)
        self._balance = balance
        self._core.recentre_bias_prior(self._times)

    def found(self, iterations: int) -> Found:
        """Return the weights [width, 1], the bias last if there is one, and how good they are."""
        problem, loss = self.problem, LogisticLoss(self.problem)
        X: Matrix = WithOnes(self.X) if problem.bias else self.X
        w = self._core.weights() / self._unit
        S = self.X.times(w)[:, None]
        bias = self._best_bias(loss, S) if problem.bias else 0.0
        p = np.clip(problem.y - self._core.signed_alphas() / loss.weights[:, 0], 0.0, 1.0)[:, None]
        l2 = np.append(problem.l2, 0.0) if problem.bias else problem.l2
        objective = loss.value(S + bias) + problem.penalty(w)
        W = np.append(w, bias) if problem.bias else w
        # Without a bias no step is needed to a point of the dual, and its features' part is known.
        v = None if problem.bias else -(problem.l2 * w)[:, None]
        gap = max(0.0, objective - lower_bound(loss, X, l2, p, v))
        return Found(W[:, None], objective, gap, iterations, "dual coordinate ascent")

    def _best_bias(self, loss: LogisticLoss, S: Floats) -> float:
        bias = self._core.bias
        for _ in range(3):
            p = loss.probabilities(S + bias)
            bend = float(loss.bent(p, np.ones_like(p)).sum())
            step = -float(loss.slopes(p).sum()) / bend if bend > 0 else 0.0
            bias += step
            if abs(step) < 1e-12:
                break
        near = loss.value(S + bias) < loss.value(S + self._core.bias)
        return bias if near else self._core.bias


@dataclass
class Pace:
    """When to look at the gap: it costs as much as a pass."""

    target: float
    before: float = math.inf
    apart: float = math.inf
    rate: float = 1.0
    passes: int = 0

    expected: float = math.inf

    def tell(self, apart: float, went_on: bool) -> None:
        """Take in how far off rows were when it was their turn, and whether more steps followed the pass."""
        self.before, self.apart = self.apart, apart
        self.passes += 1
        if self.passes > 2:
            now = apart / self.before if self.before > 0 else 0.0
            self.rate = now if self.passes == 3 else self.rate**0.7 * now**0.3
        rate = min(self.rate, 1.0)
        self.expected = apart * (rate if went_on else math.sqrt(rate))

    @property
    def is_near(self) -> bool:
        """Whether the gap may be below the target."""
        return self.expected <= self.target

    @property
    def is_hopeless(self) -> bool:
        """Whether so many passes are left that another method is the better one."""
        if self.passes < 10 or self.apart <= self.target:
            return False
        left = math.log(max(self.target, ROUNDING * self.apart) / self.apart)
        return self.rate >= 1 or left / math.log(self.rate) > HOPELESS


def solve_dual(
    problem: Problem, X: SparseMatrix, target: float, max_iter: int, start: Solution | None
) -> tuple[Found, bool]:
    """Return weights, and whether they are good enough: the gap is the target at most, or rounding."""
    dual = Dual(problem, X)
    if start is not None:
        dual.begin(start)
    pace = Pace(target)
    while pace.passes < max_iter:
        apart = dual.run()
        pace.tell(apart, dual.is_uneven)
        if pace.is_near:
            found = dual.found(pace.passes)
            if found.gap <= target or pace.apart <= ROUNDING * found.objective:
                return found, True
        if pace.is_hopeless:
            break
    found = dual.found(pace.passes)
    return found, found.gap <= target


def _scaled(X: SparseMatrix, scale: Floats) -> Floats:
    factors = scale[X.indices]
    return factors if X.values is None else X.values * factors


def _mixed(order: Ints, random: np.random.Generator) -> Ints:
    """Return the order with runs of neighbours in other places: all but as good as shuffled, and faster."""
    whole = len(order) // TOGETHER * TOGETHER
    runs = order[:whole].reshape(-1, TOGETHER)[random.permutation(whole // TOGETHER)]
    return np.concatenate([order[whole:], runs.ravel()])
