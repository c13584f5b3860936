"""Primal-dual interior point method for least absolute deviations.

    minimise  Σ sᵢ (uᵢ + tᵢ) + ½ Σ l2ⱼ vⱼ²   subject to  X v + u − t = y,  u, t ≥ 0
    maximise  Σ yᵢ aᵢ − ½ Σ l2ⱼ vⱼ²          subject to  Xᵀ a = l2 v,       −s ≤ a ≤ s

Newton steps follow the central path uᵢ (sᵢ − aᵢ) = tᵢ (sᵢ + aᵢ) = μ with Mehrotra's predictor–corrector
choice of μ. Each iteration costs one weighted Gram matrix of the rows.

References: Portnoy and Koenker (1997), "The Gaussian hare and the Laplacian tortoise"; Mehrotra (1992), "On
the implementation of a primal-dual interior point method".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats, Longs
from weigh.learn.linear.matrix import row_blocks, to_dense
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import Problem

_STEP_FRACTION = 0.9995  # of the way to the boundary
_RANK_TOLERANCE = 1e-13  # relative pivot below which a feature counts as linearly dependent


@dataclass
class InteriorPoint:
    """Weights v, positive and negative residual parts u and t, dual variables a, and slacks p, q.

    The slacks p = s − a and q = s + a are updated rather than recomputed, so that they stay positive where
    the difference would round to zero. A direction has the same fields.
    """

    v: Floats
    u: Floats
    t: Floats
    a: Floats
    p: Floats
    q: Floats

    @property
    def theta(self) -> Floats:
        """Row weights in the Newton system, large for rows whose residual tends to zero."""
        return 1 / (self.u / self.p + self.t / self.q)

    @property
    def complementarity_gap(self) -> float:
        """u·p + t·q, which is the duality gap at a feasible point."""
        return float(self.u @ self.p + self.t @ self.q)

    def take_step(self, direction: InteriorPoint, alpha: float, beta: float) -> InteriorPoint:
        """Return the point after a primal step of length alpha and a dual step of length beta."""
        d = direction
        v, u, t = self.v + alpha * d.v, self.u + alpha * d.u, self.t + alpha * d.t
        return InteriorPoint(v, u, t, self.a + beta * d.a, self.p + beta * d.p, self.q + beta * d.q)


def solve_interior_point(
    problem: LadProblem, start: Floats, max_gap: float, max_iter: int
) -> tuple[InteriorPoint, int]:
    """Iterate until the complementarity gap is at most max_gap, or no longer falls.

    Returns the point and the number of iterations.
    """
    point = _initial_point(problem, start)
    for iteration in range(max_iter):
        gap = point.complementarity_gap
        if gap <= max_gap:
            return point, iteration
        newton = _NewtonSystem(problem, point)
        new = newton.predictor_corrector_step()
        for centring in (0.1, 0.5, 0.9):
            if new.complementarity_gap <= 0.8 * gap:
                break
            # The long step may bounce between boundaries; a centred one makes progress.
            new = min(
                new, newton.centring_step(centring), key=lambda candidate: candidate.complementarity_gap
            )
        if not new.complementarity_gap < gap * (1 - 1e-9):
            return point, iteration
        point = new
    return point, max_iter


def _initial_point(problem: LadProblem, start: Floats) -> InteriorPoint:
    r = problem.y - problem.times(start)
    margin = 0.1 * (float(np.abs(r).mean()) or 1.0)
    u, t = np.maximum(r, 0) + margin, np.maximum(-r, 0) + margin
    return InteriorPoint(start, u, t, np.zeros(len(r)), problem.s.copy(), problem.s.copy())


class _NewtonSystem:
    """The Newton system at a point, factored once for all directions."""

    def __init__(self, problem: LadProblem, point: InteriorPoint) -> None:
        self.problem, self.point, self.theta = problem, point, point.theta
        self.primal_residual = problem.y - problem.times(point.v) - point.u + point.t
        self.dual_residual = problem.l2 * point.v - problem.transposed_times(point.a)
        normal_matrix = problem.weighted_gram(self.theta)
        normal_matrix[np.diag_indices_from(normal_matrix)] += problem.l2
        self.cholesky, self.scale = _factor_with_jitter(normal_matrix)

    def direction(self, up_change: Floats, tq_change: Floats) -> InteriorPoint:
        """Return the Newton direction that changes u p and t q as given and removes both residuals."""
        point = self.point
        row_rhs = self.primal_residual - up_change / point.p + tq_change / point.q
        rhs = self.problem.transposed_times(self.theta * row_rhs) - self.dual_residual
        v = algebra.cholesky_solve(self.cholesky, rhs / self.scale) / self.scale
        a = self.theta * (row_rhs - self.problem.times(v))
        u, t = (up_change + point.u * a) / point.p, (tq_change - point.t * a) / point.q
        return InteriorPoint(v, u, t, a, -a, a)

    def predictor_corrector_step(self) -> InteriorPoint:
        """Return the point after Mehrotra's step: the affine predictor sets μ and the correction."""
        point = self.point
        affine = self.direction(-point.u * point.p, -point.t * point.q)
        after = point.take_step(affine, *self.step_lengths(affine, 1.0)).complementarity_gap
        gap = point.complementarity_gap
        mu = gap / (2 * len(point.u)) * (max(after, 0.0) / gap) ** 3
        direction = self.direction(
            mu - point.u * point.p - affine.u * affine.p, mu - point.t * point.q - affine.t * affine.q
        )
        return point.take_step(direction, *self.step_lengths(direction, _STEP_FRACTION))

    def centring_step(self, centring: float) -> InteriorPoint:
        """Return the point after a step towards μ = centring · (current mean of the products)."""
        point = self.point
        mu = centring * point.complementarity_gap / (2 * len(point.u))
        direction = self.direction(mu - point.u * point.p, mu - point.t * point.q)
        return point.take_step(direction, *self.step_lengths(direction, _STEP_FRACTION))

    def step_lengths(self, direction: InteriorPoint, fraction: float) -> tuple[float, float]:
        """Return the primal and dual step lengths, at most one; equal if l2 couples both problems."""
        point = self.point
        alpha = fraction * min(_max_step(point.u, direction.u), _max_step(point.t, direction.t))
        beta = fraction * min(_max_step(point.p, direction.p), _max_step(point.q, direction.q))
        alpha, beta = min(1.0, alpha), min(1.0, beta)
        return (min(alpha, beta),) * 2 if (self.problem.l2 > 0).any() else (alpha, beta)


def _max_step(x: Floats, direction: Floats) -> float:
    """Return the largest step that keeps x non-negative."""
    fastest = float((-direction / x).max(initial=0.0))
    return 1 / fastest if fastest > 0 else np.inf


def _factor_with_jitter(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the Cholesky factor of the matrix scaled to a unit diagonal, and the scale.

    If rounding has made the matrix indefinite, growing multiples of the identity are added.
    """
    scale = np.sqrt(np.maximum(np.diagonal(matrix), np.finfo(np.float64).tiny))
    scaled = matrix / scale[:, None] / scale[None, :]
    for jitter in (0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-6, 1.0):
        scaled[np.diag_indices_from(scaled)] = 1.0 + jitter * len(scaled)
        lower = algebra.cholesky(scaled)
        if lower is not None:
            return lower, scale
    raise np.linalg.LinAlgError("the Newton system has no Cholesky factor")


class LadProblem:
    """Least absolute deviations with l1 as extra rows, in centred and scaled features.

    The rows are those of the problem, followed by one row l1ⱼ eⱼ with target zero per feature with l1. `y`
    and `s` are the targets and weights of all rows; `l2` are the penalties of `v`, the weights in these
    units, the intercept last. Constant features, and unpenalised ones that depend linearly on others, have
    weight zero.
    """

    def __init__(self, problem: Problem, moments: Moments) -> None:
        self.problem, self.X = problem, problem.X
        self.mean = moments.mean_x
        self.scale = np.where(moments.std > 0, moments.std, 1.0)
        self.feature_indices = _independent_features(problem, moments, self.scale)
        self.has_intercept = problem.has_intercept
        self.width = len(self.feature_indices) + self.has_intercept
        scale = self.scale[self.feature_indices]
        self.l1 = np.append(problem.l1[self.feature_indices] / scale, [0.0] * self.has_intercept)
        self.l2 = np.append(problem.l2[self.feature_indices] / scale**2, [0.0] * self.has_intercept)
        self.l1_indices: Longs = np.flatnonzero(self.l1 > 0)
        y = problem.y if problem.offset is None else problem.y - problem.offset
        s = np.ones(len(y)) if problem.weights is None else problem.weights
        n_extra = len(self.l1_indices)
        self.y, self.s = np.append(y - moments.mean_y, np.zeros(n_extra)), np.append(s, np.ones(n_extra))
        self.mean_y = moments.mean_y

    def times(self, v: Floats) -> Floats:
        """Return X v for all rows."""
        w = self.unscale_weights(v)
        scores = self.X.times(w) - self.mean @ w
        if self.has_intercept:
            scores += v[-1]
        return np.append(scores, self.l1[self.l1_indices] * v[self.l1_indices])

    def transposed_times(self, a: Floats) -> Floats:
        """Return Xᵀ a over all rows."""
        out = self.data_transposed_times(a[: self.X.n_rows])
        out[self.l1_indices] += self.l1[self.l1_indices] * a[self.X.n_rows :]
        return out

    def data_transposed_times(self, a: Floats) -> Floats:
        """Return Xᵀ a over the data rows alone."""
        total = float(a.sum())
        out = (self.X.transposed_times(a) - total * self.mean) / self.scale
        return np.append(out[self.feature_indices], [total] * self.has_intercept)

    def weighted_gram(self, theta: Floats) -> Floats:
        """Return Xᵀ diag(theta) X over all rows."""
        n, d = self.X.n_rows, self.X.width
        root = np.sqrt(theta[:n])
        gram, buffer, sums = np.zeros((d, d)), np.empty((d, d)), np.zeros(d)
        for rows, block in row_blocks(self.X, self.mean if self.has_intercept else None, root):
            gram += np.matmul(block.T, block, out=buffer)
            sums += block.T @ root[rows]
        out = np.empty((self.width, self.width))
        features, k = self.feature_indices, len(self.feature_indices)
        scale = self.scale[features]
        out[:k, :k] = gram[np.ix_(features, features)] / scale[:, None] / scale[None, :]
        if self.has_intercept:
            out[k, :k] = out[:k, k] = sums[features] / scale
            out[k, k] = theta[:n].sum()
        out[self.l1_indices, self.l1_indices] += np.square(self.l1[self.l1_indices]) * theta[n:]
        return out

    def dense_rows(self, indices: Longs) -> Floats:
        """Return a subset of all rows as an array."""
        n, features = self.X.n_rows, self.feature_indices
        out = np.zeros((len(indices), self.width))
        is_data = indices < n
        mask = np.zeros(n, dtype=np.bool_)
        mask[indices[is_data]] = True
        rows = to_dense(self.X.select_rows(mask), self.mean)[:, features] / self.scale[features]
        out[is_data, : len(features)] = rows[np.argsort(np.argsort(indices[is_data]))]
        if self.has_intercept:
            out[is_data, -1] = 1.0
        l1_features = self.l1_indices[indices[~is_data] - n]
        out[np.flatnonzero(~is_data), l1_features] = self.l1[l1_features]
        return out

    def unscale_weights(self, v: Floats) -> Floats:
        """Return the weights of all features in their own units."""
        w = np.zeros(self.X.width)
        w[self.feature_indices] = v[: len(self.feature_indices)] / self.scale[self.feature_indices]
        return w

    def intercept(self, v: Floats) -> float:
        """Return the intercept for the uncentred features and targets."""
        if not self.has_intercept:
            return 0.0
        return float(self.mean_y + v[-1] - self.mean @ self.unscale_weights(v))

    def objective(self, v: Floats, residuals: Floats) -> float:
        """Return Σ sᵢ |rᵢ| + ½ Σ l2ⱼ vⱼ²."""
        return float(self.s @ np.abs(residuals) + 0.5 * (self.l2 @ np.square(v)))


def _independent_features(problem: Problem, moments: Moments, scale: Floats) -> Longs:
    """Return the features that are neither constant nor, if unpenalised, linearly dependent on others."""
    is_used = moments.std > 0
    unpenalised = np.flatnonzero(is_used & (problem.l1 == 0) & (problem.l2 == 0))
    if len(unpenalised):
        gram = (
            moments.gram[np.ix_(unpenalised, unpenalised)]
            / scale[unpenalised, None]
            / scale[None, unpenalised]
        )
        order, norms = algebra.pivoted_qr(gram)
        is_used[unpenalised[order[norms <= _RANK_TOLERANCE * len(unpenalised) * norms.max()]]] = False
    return np.flatnonzero(is_used)
