"""Dual points that certify the duality gap of a regression's weights.

The gradient of the loss at the weights is a dual point, but its gap is tight only to first order. The
gradient after a few Newton steps on the active set gives a gap that is tight up to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from weigh.features.blocks import Floats, Longs, Mask
from weigh.judge.verification.objectives import AbsoluteLoss, Objective

MAX_DENSE_UNKNOWNS = 1_000  # unknowns of a dense Newton step
MAX_DENSE_CELLS = 50_000_000  # cells of its dense design matrix
MAX_NEWTON_STEPS, MAX_CG_ITERATIONS = 8, 100
# A row counts as interpolated if its residual is below this share of the largest target.
INTERPOLATION_TOLERANCES = (1e-13, 1e-11, 1e-9, 1e-7)
MAX_INTERPOLATION_TRIALS = 60  # numbers of interpolated rows that are tried


def duality_gap(objective: Objective, W: Floats, b: Floats) -> float | None:
    """Bound how far (W, b) is above the minimum; None if there are too many unpenalised features."""
    free = (objective.l1 == 0) & (objective.l2 == 0)
    if not _is_small(objective, free):
        return None
    if isinstance(objective.loss, AbsoluteLoss):
        return _absolute_gap(objective, objective.loss, W, b)
    gaps = [_gap_bound(objective, W, b, *_refine_by_newton(objective, W, b, free))]
    active = (objective.l1 == 0)[:, None] | (W != 0)
    if (~free).any():
        refined = _refine_by_newton(objective, W, b, active.any(axis=1), active)
        gaps.append(_gap_bound(objective, W, b, *_refine_by_newton(objective, *refined, free)))
    return min(gaps)


def _is_small(objective: Objective, features: Mask) -> bool:
    n = int(features.sum()) + objective.has_intercept
    return n * objective.n_outputs <= MAX_DENSE_UNKNOWNS and n * objective.rows.n_rows <= MAX_DENSE_CELLS


def _gap_bound(objective: Objective, W: Floats, b: Floats, refined_W: Floats, refined_b: Floats) -> float:
    """Bound the suboptimality of (W, b) by the dual point of the refined weights."""
    dual = objective.loss.gradient(objective.scores(refined_W, refined_b))
    gap = objective.suboptimality_bound(W, b, dual)
    return gap if np.isfinite(gap) else np.inf


def _refine_by_newton(
    objective: Objective, W: Floats, b: Floats, features: Mask, active: Mask | None = None
) -> tuple[Floats, Floats]:
    """Take Newton steps in the given features and the intercept, with the signs of the weights fixed.

    `active` [d, k] restricts the steps further to single weights.
    """
    if not features.any() and not objective.has_intercept:
        return W, b
    solve = _dense_newton_step if _is_small(objective, features) else _cg_newton_step
    steps = MAX_NEWTON_STEPS if solve is _dense_newton_step else 3
    signs = np.sign(W)
    for _ in range(steps):
        Z = objective.scores(W, b)
        v = objective.loss.gradient(Z)
        grad_W = objective.transposed_times(v) + objective.l1[:, None] * signs + objective.l2[:, None] * W
        grad_W[~features] = 0.0
        if active is not None:
            grad_W[~active] = 0.0
        grad_b = v.sum(axis=0) if objective.has_intercept else np.zeros(objective.n_outputs)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            step_W, step_b = solve(objective, Z, np.flatnonzero(features), active, grad_W, grad_b)
        if not (np.isfinite(step_W).all() and np.isfinite(step_b).all()):
            break
        W, b = W - step_W, b - step_b
    return W, b


def _dense_newton_step(
    objective: Objective, Z: Floats, features: Longs, active: Mask | None, grad_W: Floats, grad_b: Floats
) -> tuple[Floats, Floats]:
    """Solve the Newton system H step = grad with a dense Hessian."""
    k, X = objective.n_outputs, _dense_design(objective, features)
    m = X.shape[1]
    H = _loss_hessian(objective, Z, X)
    l2 = np.append(objective.l2[features], [0.0] * objective.has_intercept)
    H[np.diag_indices(m * k)] += np.repeat(l2, k)
    grad = np.vstack([grad_W[features], grad_b[None, :]])[:m].ravel()
    mask = np.ones(m * k, dtype=bool)
    if active is not None:
        mask = np.vstack([active[features], np.ones((1, k), dtype=bool)])[:m].ravel()
    solution = np.zeros(m * k)
    solution[mask] = np.linalg.lstsq(H[np.ix_(mask, mask)], grad[mask], rcond=1e-14)[0]
    step = solution.reshape(m, k)
    step_W = np.zeros_like(grad_W)
    step_W[features] = step[: len(features)]
    return step_W, step[-1] if objective.has_intercept else np.zeros(k)


def _dense_design(objective: Objective, features: Longs) -> Floats:
    """Return the dense design matrix of the given features, with a column of ones for the intercept."""
    rows = objective.rows.X
    column_of_feature = np.full(rows.width, -1, dtype=np.int32)
    column_of_feature[features] = np.arange(len(features))
    X = rows.renumber(column_of_feature, len(features) + objective.has_intercept).to_dense()
    X[:, len(features) :] = 1.0
    return X


def _loss_hessian(objective: Objective, Z: Floats, X: Floats) -> Floats:
    """Return the Hessian of the loss [m k, m k] with respect to the weights of X [n, m]."""
    k, m = objective.n_outputs, X.shape[1]
    H = np.zeros((m * k, m * k))
    for c in range(k):
        unit = np.zeros((len(X), k))
        unit[:, c] = 1.0
        row_hessian = objective.loss.hessian_times(Z, unit)
        for d in range(k):
            H[d::k, c::k] = X.T @ (row_hessian[:, d, None] * X)
    return H


def _cg_newton_step(
    objective: Objective, Z: Floats, features: Longs, active: Mask | None, grad_W: Floats, grad_b: Floats
) -> tuple[Floats, Floats]:
    """Solve the Newton system H step = grad by conjugate gradients."""
    mask = np.zeros_like(grad_W)
    mask[features] = 1.0
    if active is not None:
        mask *= active

    def hessian_times(direction: Floats) -> Floats:
        V = objective.loss.hessian_times(Z, objective.times(direction[:-1]) + direction[-1])
        product = objective.transposed_times(V) + objective.l2[:, None] * direction[:-1]
        return np.vstack([product * mask, V.sum(axis=0)[None, :] * objective.has_intercept])

    residual = np.vstack([grad_W * mask, grad_b[None, :]])
    step, direction = np.zeros_like(residual), residual.copy()
    rho = rho_0 = float((residual * residual).sum())
    for _ in range(MAX_CG_ITERATIONS):
        if rho <= 1e-24 * rho_0 or not rho:
            break
        product = hessian_times(direction)
        alpha = rho / float((direction * product).sum())
        step, residual = step + alpha * direction, residual - alpha * product
        rho_old, rho = rho, float((residual * residual).sum())
        direction = residual + direction * (rho / rho_old)
    return step[:-1], step[-1]


def _absolute_gap(objective: Objective, loss: AbsoluteLoss, W: Floats, b: Floats) -> float | None:
    """Bound the suboptimality under absolute loss.

    The subgradient of an interpolated row is any number in [−s, s], chosen to balance the gradients of the
    others. A penalty l1 |w| is the absolute loss of an additional row that has only this feature and the
    target zero, so weights close to zero are treated like interpolated rows.
    """
    w, features = W[:, 0], np.arange(objective.rows.width)
    if not _is_small(objective, np.ones(len(w), dtype=bool)):
        return None
    X, Z = _dense_design(objective, features), objective.scores(W, b)
    penalised = np.flatnonzero(objective.l1 > 0)
    augmented = np.vstack([X, np.eye(X.shape[1])[penalised]])
    scales = np.sqrt(np.square(X).mean(axis=0))[penalised]
    residuals = np.concatenate([np.abs(Z[:, 0] - loss.y), np.abs(w[penalised]) * scales])
    gradients = np.concatenate([loss.gradient(Z)[:, 0], objective.l1[penalised] * np.sign(w[penalised])])
    limits = np.concatenate([loss.s, objective.l1[penalised]])
    target = -np.append(objective.l2 * w, [0.0] * objective.has_intercept)
    gaps = []
    for mask in _interpolation_candidates(residuals, float(np.abs(loss.y).max(initial=0.0)), augmented):
        v = _balance_gradient(augmented, limits, np.where(mask, 0.0, gradients), mask, target)
        gaps.append(objective.suboptimality_bound(W, b, v[: len(loss.y), None]))
    return min(gaps)


def _interpolation_candidates(residuals: Floats, largest_target: float, X: Floats) -> Iterator[Mask]:
    """Yield masks of the rows that the optimum may interpolate: by tolerance, or the n nearest.

    The optimum interpolates rank(X) rows, fewer if weights are penalised, and more if rows tie.
    """
    for tolerance in INTERPOLATION_TOLERANCES:
        yield residuals <= tolerance * largest_target
    max_rows = min(len(residuals), int(np.linalg.matrix_rank(X)) + 2)
    rank = np.empty(len(residuals), dtype=np.int64)
    rank[np.argsort(residuals, kind="stable")] = np.arange(len(residuals))
    for n in np.unique(np.linspace(0, max_rows, MAX_INTERPOLATION_TRIALS).astype(np.int64)).tolist():
        yield rank < n


def _balance_gradient(X: Floats, limits: Floats, v: Floats, interpolated: Mask, target: Floats) -> Floats:
    """Choose v of the interpolated rows within ±limits so that Xᵀv is close to the target."""
    free = np.flatnonzero(interpolated)
    for _ in range(20):
        if not len(free):
            break
        step = np.linalg.lstsq(X[free].T, target - X.T @ v, rcond=None)[0]
        unclipped = v[free] + step
        v[free] = np.clip(unclipped, -limits[free], limits[free])
        inside = np.abs(unclipped) <= limits[free]
        if inside.all():
            break
        free = free[inside]
    return v
