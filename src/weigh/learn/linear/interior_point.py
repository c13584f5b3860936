"""Interior points of least absolute deviations: from inside the dual's box to its face.

    minimise Σ sᵢ (uᵢ + tᵢ) + ½ Σ l2ⱼ vⱼ²   where  X v + u − t = y,  u, t ≥ 0
    maximise Σ yᵢ aᵢ − ½ Σ l2ⱼ vⱼ²          where  Xᵀ a = l2 v,      −s ≤ a ≤ s

Newton's steps for uᵢ (sᵢ − aᵢ) = tᵢ (sᵢ + aᵢ) = μ, with μ falling as fast as a trial step allows (predictor
and corrector), each at the cost of one weighted gram of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats, Longs
from weigh.learn.linear.matrix import row_blocks, to_dense
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import Problem

_STEP_FRACTION = 0.9995


@dataclass
class InteriorPoint:
    """Weights v, both parts of the residuals, the rows' prices a, and the room they have: s − a and s + a.

    The room is kept, not subtracted anew: so it stays above zero where the difference would be rounded to it.
    """

    v: Floats
    u: Floats
    t: Floats
    a: Floats
    p: Floats
    q: Floats

    @property
    def theta(self) -> Floats:
        """How far each row is from having a residual: its share in Newton's equations."""
        return 1 / (self.u / self.p + self.t / self.q)

    @property
    def complementarity_gap(self) -> float:
        """What the objectives of both problems differ by, once their equations hold."""
        return float(self.u @ self.p + self.t @ self.q)

    def take_step(self, by: InteriorPoint, alpha: float, beta: float) -> InteriorPoint:
        """Return the point after a step of the residuals and one of the prices."""
        v, u, t = self.v + alpha * by.v, self.u + alpha * by.u, self.t + alpha * by.t
        return InteriorPoint(v, u, t, self.a + beta * by.a, self.p + beta * by.p, self.q + beta * by.q)


def solve_interior_point(
    rows: LadProblem, start: Floats, tol: float, max_iter: int
) -> tuple[InteriorPoint, int]:
    """Return a point whose products u (s − a) and t (s + a) sum to at most tol, and the number of steps."""
    at = _initial_point(rows, start)
    for step in range(max_iter):
        apart = at.complementarity_gap
        if apart <= tol:
            return at, step
        newton = _NewtonSystem(rows, at)
        found = newton.predictor_corrector_step()
        for share in (0.1, 0.5, 0.9):
            if found.complementarity_gap <= 0.8 * apart:
                break
            # The bold step may run to and fro between walls; one that keeps away from them gets on.
            found = min(found, newton.centring_step(share), key=lambda each: each.complementarity_gap)
        if not found.complementarity_gap < apart * (1 - 1e-9):
            return at, step
        at = found
    return at, max_iter


def _initial_point(rows: LadProblem, start: Floats) -> InteriorPoint:
    r = rows.y - rows.times(start)
    away = 0.1 * (float(np.abs(r).mean()) or 1.0)
    u, t = np.maximum(r, 0) + away, np.maximum(-r, 0) + away
    return InteriorPoint(start, u, t, np.zeros(len(r)), rows.s.copy(), rows.s.copy())


class _NewtonSystem:
    """Newton's equations at a point, factored once for both directions."""

    def __init__(self, rows: LadProblem, at: InteriorPoint) -> None:
        self.rows, self.at, self.theta = rows, at, at.theta
        self.primal_residual = rows.y - rows.times(at.v) - at.u + at.t
        self.dual_residual = rows.l2 * at.v - rows.transposed_times(at.a)
        table = rows.weighted_gram(self.theta)
        table[np.diag_indices_from(table)] += rows.l2
        self.cholesky, self.scale = _factor_with_jitter(table)

    def direction(self, to_u: Floats, to_t: Floats) -> InteriorPoint:
        """Return the step that changes u (s − a) and t (s + a) by so much and mends what else is wrong."""
        at = self.at
        wanted = self.primal_residual - to_u / at.p + to_t / at.q
        right = self.rows.transposed_times(self.theta * wanted) - self.dual_residual
        v = algebra.cholesky_solve(self.cholesky, right / self.scale) / self.scale
        a = self.theta * (wanted - self.rows.times(v))
        return InteriorPoint(v, (to_u + at.u * a) / at.p, (to_t - at.t * a) / at.q, a, -a, a)

    def predictor_corrector_step(self) -> InteriorPoint:
        """Return the point after a step as far as a trial step allows, mended by what that one met."""
        at = self.at
        trial = self.direction(-at.u * at.p, -at.t * at.q)
        after = at.take_step(trial, *self.step_lengths(trial, 1.0)).complementarity_gap
        mu = at.complementarity_gap / (2 * len(at.u)) * (max(after, 0.0) / at.complementarity_gap) ** 3
        move = self.direction(mu - at.u * at.p - trial.u * trial.p, mu - at.t * at.q - trial.t * trial.q)
        return at.take_step(move, *self.step_lengths(move, _STEP_FRACTION))

    def centring_step(self, share: float) -> InteriorPoint:
        """Return the point after a step towards a share of the present mean of all products."""
        at = self.at
        mu = share * at.complementarity_gap / (2 * len(at.u))
        move = self.direction(mu - at.u * at.p, mu - at.t * at.q)
        return at.take_step(move, *self.step_lengths(move, _STEP_FRACTION))

    def step_lengths(self, move: InteriorPoint, share: float) -> tuple[float, float]:
        """Return how far the residuals and the prices can go; the same where l2 ties them."""
        alpha = share * min(_max_step(self.at.u, move.u), _max_step(self.at.t, move.t))
        beta = share * min(_max_step(self.at.p, move.p), _max_step(self.at.q, move.q))
        alpha, beta = min(1.0, alpha), min(1.0, beta)
        return (min(alpha, beta),) * 2 if (self.rows.l2 > 0).any() else (alpha, beta)


def _max_step(x: Floats, step: Floats) -> float:
    """Return how many steps x can go and stay positive."""
    fastest = float((-step / x).max(initial=0.0))
    return 1 / fastest if fastest > 0 else np.inf


def _factor_with_jitter(table: Floats) -> tuple[Floats, Floats]:
    """Return the factor of a table scaled to a unit diagonal, firmer where rounding has spoilt it."""
    scale = np.sqrt(np.maximum(np.diagonal(table), np.finfo(np.float64).tiny))
    unit = table / scale[:, None] / scale[None, :]
    for firm in (0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-6, 1.0):
        unit[np.diag_indices_from(unit)] = 1.0 + firm * len(unit)
        lower = algebra.cholesky(unit)
        if lower is not None:
            return lower, scale
    raise np.linalg.LinAlgError("a table of squares that has no factor")


# Of a feature that others leave so little of, moments can say nothing.
_RANK_TOLERANCE = 1e-13


class LadProblem:
    """A problem's rows of positive weight, followed by one row for every feature with a penalty l1.

    `y` and `s` are targets and weights of all of them, `l2` the penalties of `v`, the weights in these units.
    Features that others without a penalty make up are left out: they weigh nothing.
    """

    def __init__(self, problem: Problem, moments: Moments) -> None:
        self.problem, self.X = problem, problem.X
        self.mean = moments.mean_x
        self.scale = np.where(moments.std > 0, moments.std, 1.0)
        self.feature_indices = _independent_features(problem, moments, self.scale)
        self.has_intercept = problem.has_intercept
        self.width = len(self.feature_indices) + self.has_intercept
        units = self.scale[self.feature_indices]
        self.l1 = np.append(problem.l1[self.feature_indices] / units, [0.0] * self.has_intercept)
        self.l2 = np.append(problem.l2[self.feature_indices] / units**2, [0.0] * self.has_intercept)
        self.l1_indices: Longs = np.flatnonzero(self.l1 > 0)
        y = problem.y if problem.offset is None else problem.y - problem.offset
        s = np.ones(len(y)) if problem.weights is None else problem.weights
        more = len(self.l1_indices)
        self.y, self.s = np.append(y - moments.mean_y, np.zeros(more)), np.append(s, np.ones(more))
        self.mean_y = moments.mean_y

    def times(self, v: Floats) -> Floats:
        """Return what the weights make of every row."""
        w = self.unscale_weights(v)
        scores = self.X.times(w) - self.mean @ w
        if self.has_intercept:
            scores += v[-1]
        return np.append(scores, self.l1[self.l1_indices] * v[self.l1_indices])

    def transposed_times(self, a: Floats) -> Floats:
        """Return the sum of all rows, each times its number."""
        found = self.data_transposed_times(a[: self.X.n_rows])
        found[self.l1_indices] += self.l1[self.l1_indices] * a[self.X.n_rows :]
        return found

    def data_transposed_times(self, a: Floats) -> Floats:
        """Return the sum of the problem's own rows, each times its number."""
        total = float(a.sum())
        inside = (self.X.transposed_times(a) - total * self.mean) / self.scale
        return np.append(inside[self.feature_indices], [total] * self.has_intercept)

    def weighted_gram(self, theta: Floats) -> Floats:
        """Return the sum of all rows' squares and products, each times its number."""
        n, d = self.X.n_rows, self.X.width
        root = np.sqrt(theta[:n])
        table, spare, sums = np.zeros((d, d)), np.empty((d, d)), np.zeros(d)
        for which, block in row_blocks(self.X, self.mean if self.has_intercept else None, root):
            table += np.matmul(block.T, block, out=spare)
            sums += block.T @ root[which]
        found = np.empty((self.width, self.width))
        inside = len(self.feature_indices)
        units = self.scale[self.feature_indices]
        found[:inside, :inside] = (
            table[np.ix_(self.feature_indices, self.feature_indices)] / units[:, None] / units[None, :]
        )
        if self.has_intercept:
            found[inside, :inside] = found[:inside, inside] = sums[self.feature_indices] / units
            found[inside, inside] = theta[:n].sum()
        found[self.l1_indices, self.l1_indices] += np.square(self.l1[self.l1_indices]) * theta[n:]
        return found

    def dense_rows(self, which: Longs) -> Floats:
        """Return some rows as an array."""
        n = self.X.n_rows
        found = np.zeros((len(which), self.width))
        own = which < n
        mask = np.zeros(n, dtype=np.bool_)
        mask[which[own]] = True
        rows = (
            to_dense(self.X.select_rows(mask), self.mean)[:, self.feature_indices]
            / self.scale[self.feature_indices]
        )
        found[own, : len(self.feature_indices)] = rows[np.argsort(np.argsort(which[own]))]
        if self.has_intercept:
            found[own, -1] = 1.0
        features = self.l1_indices[which[~own] - n]
        found[np.flatnonzero(~own), features] = self.l1[features]
        return found

    def unscale_weights(self, v: Floats) -> Floats:
        """Return the weights in the features' own units."""
        w = np.zeros(self.X.width)
        w[self.feature_indices] = v[: len(self.feature_indices)] / self.scale[self.feature_indices]
        return w

    def intercept(self, v: Floats) -> float:
        """Return the bias in the targets' own units."""
        if not self.has_intercept:
            return 0.0
        return float(self.mean_y + v[-1] - self.mean @ self.unscale_weights(v))

    def objective(self, v: Floats, residuals: Floats) -> float:
        """Return what is minimised."""
        return float(self.s @ np.abs(residuals) + 0.5 * (self.l2 @ np.square(v)))


def _independent_features(problem: Problem, moments: Moments, scale: Floats) -> Longs:
    """Return the features that are neither constant nor made up of others without a penalty."""
    useful = moments.std > 0
    free = np.flatnonzero(useful & (problem.l1 == 0) & (problem.l2 == 0))
    if len(free):
        table = moments.gram[np.ix_(free, free)] / scale[free, None] / scale[None, free]
        order, adds = algebra.pivoted_qr(table)
        useful[free[order[adds <= _RANK_TOLERANCE * len(free) * adds.max()]]] = False
    return np.flatnonzero(useful)
