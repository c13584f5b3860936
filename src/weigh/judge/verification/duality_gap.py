"""Slopes that prove how good a point is: those of a point nearby that is better still.

The slopes at a point bound what it is above the minimum, but only to first order. Those of a point after a
few steps towards the minimum, over the features that have a weight, bound it to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from weigh.features.blocks import Floats, Longs, Mask
from weigh.judge.verification.objectives import AbsoluteLoss, Objective

MAX_DENSE_UNKNOWNS = 1_000  # unknowns that are solved for at once
MAX_DENSE_CELLS = 50_000_000  # numbers of the rows laid out for it
MAX_NEWTON_STEPS, MAX_CG_ITERATIONS = 8, 100
INTERPOLATION_TOLERANCES = (
    1e-13,
    1e-11,
    1e-9,
    1e-7,
)  # shares of the largest target below which a row counts as met
MAX_INTERPOLATION_TRIALS = 60  # numbers of rows that may be met


def duality_gap(objective: Objective, W: Floats, b: Floats) -> float | None:
    """Return how far (W, b) is above the minimum at most; None if there is too much to be solved for."""
    free = (objective.l1 == 0) & (objective.l2 == 0)
    if not _is_small(objective, free):
        return None
    if isinstance(objective.loss, AbsoluteLoss):
        return _absolute_gap(objective, objective.loss, W, b)
    found = [_gap_bound(objective, W, b, *_refine_by_newton(objective, W, b, free))]
    held = (objective.l1 == 0)[:, None] | (W != 0)
    if (~free).any():
        near = _refine_by_newton(objective, W, b, held.any(axis=1), held)
        found.append(_gap_bound(objective, W, b, *_refine_by_newton(objective, *near, free)))
    return min(found)


def _is_small(objective: Objective, features: Mask) -> bool:
    n = int(features.sum()) + objective.has_intercept
    return n * objective.columns <= MAX_DENSE_UNKNOWNS and n * objective.rows.n_rows <= MAX_DENSE_CELLS


def _gap_bound(objective: Objective, W: Floats, b: Floats, to_W: Floats, to_b: Floats) -> float:
    found = objective.suboptimality_bound(W, b, objective.loss.gradient(objective.scores(to_W, to_b)))
    return found if np.isfinite(found) else np.inf


def _refine_by_newton(
    objective: Objective, W: Floats, b: Floats, features: Mask, held: Mask | None = None
) -> tuple[Floats, Floats]:
    """Return a point after Newton's steps over some features and the bias, signs kept."""
    if not features.any() and not objective.has_intercept:
        return W, b
    solve = _dense_newton_step if _is_small(objective, features) else _cg_newton_step
    steps = MAX_NEWTON_STEPS if solve is _dense_newton_step else 3
    signs = np.sign(W)
    for _ in range(steps):
        Z = objective.scores(W, b)
        v = objective.loss.gradient(Z)
        slope = objective.transposed_times(v) + objective.l1[:, None] * signs + objective.l2[:, None] * W
        slope[~features] = 0.0
        if held is not None:
            slope[~held] = 0.0
        by_bias = v.sum(axis=0) if objective.has_intercept else np.zeros(objective.columns)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            to_W, to_b = solve(objective, Z, np.flatnonzero(features), held, slope, by_bias)
        if not (np.isfinite(to_W).all() and np.isfinite(to_b).all()):
            break
        W, b = W - to_W, b - to_b
    return W, b


def _dense_newton_step(
    objective: Objective, Z: Floats, places: Longs, held: Mask | None, slope: Floats, by_bias: Floats
) -> tuple[Floats, Floats]:
    """Solve for the step at once, the rows laid out."""
    k, table = objective.columns, _dense_design(objective, places)
    m = table.shape[1]
    H = _loss_hessian(objective, Z, table)
    own = np.append(objective.l2[places], [0.0] * objective.has_intercept)
    H[np.diag_indices(m * k)] += np.repeat(own, k)
    wanted = np.vstack([slope[places], by_bias[None, :]])[:m].ravel()
    kept = np.ones(m * k, dtype=bool)
    if held is not None:
        kept = np.vstack([held[places], np.ones((1, k), dtype=bool)])[:m].ravel()
    step = np.zeros(m * k)
    step[kept] = np.linalg.lstsq(H[np.ix_(kept, kept)], wanted[kept], rcond=1e-14)[0]
    found = step.reshape(m, k)
    to_W = np.zeros_like(slope)
    to_W[places] = found[: len(places)]
    return to_W, found[-1] if objective.has_intercept else np.zeros(k)


def _dense_design(objective: Objective, places: Longs) -> Floats:
    """Return the rows of some features with all their zeros, and a column of ones if there is a bias."""
    rows = objective.rows
    number = np.full(rows.width, -1)
    number[places] = np.arange(len(places))
    table = np.zeros((rows.n_rows, len(places) + objective.has_intercept))
    row = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    at = number[rows.indices]
    table[row[at >= 0], at[at >= 0]] = rows.values[at >= 0]
    table[:, len(places) :] = 1.0
    return table


def _loss_hessian(objective: Objective, Z: Floats, table: Floats) -> Floats:
    """Return the second derivative of the loss by pairs of unknowns."""
    k, m = objective.columns, table.shape[1]
    H = np.zeros((m * k, m * k))
    for c in range(k):
        one = np.zeros((len(table), k))
        one[:, c] = 1.0
        bends = objective.loss.hessian_times(Z, one)
        for d in range(k):
            H[d::k, c::k] = table.T @ (bends[:, d, None] * table)
    return H


def _cg_newton_step(
    objective: Objective, Z: Floats, places: Longs, held: Mask | None, slope: Floats, by_bias: Floats
) -> tuple[Floats, Floats]:
    """Solve for the step by conjugate gradients, the rows as they are."""
    mask = np.zeros_like(slope)
    mask[places] = 1.0
    if held is not None:
        mask *= held

    def bent(part: Floats) -> Floats:
        V = objective.loss.hessian_times(Z, objective.times(part[:-1]) + part[-1])
        rise = objective.transposed_times(V) + objective.l2[:, None] * part[:-1]
        return np.vstack([rise * mask, V.sum(axis=0)[None, :] * objective.has_intercept])

    left = np.vstack([slope * mask, by_bias[None, :]])
    step, way = np.zeros_like(left), left.copy()
    size = first = float((left * left).sum())
    for _ in range(MAX_CG_ITERATIONS):
        if size <= 1e-24 * first or not size:
            break
        rise = bent(way)
        length = size / float((way * rise).sum())
        step, left = step + length * way, left - length * rise
        size, before = float((left * left).sum()), size
        way = left + way * (size / before)
    return step[:-1], step[-1]


def _absolute_gap(objective: Objective, loss: AbsoluteLoss, W: Floats, b: Floats) -> float | None:
    """Return the bound of absolute loss: rows that are met have any slopes that balance the others.

    A penalty l1 |w| is the absolute loss of one more row, which has nothing but this feature and should be
    zero; so weights that are all but zero are met like rows.
    """
    w, features = W[:, 0], np.arange(objective.rows.width)
    if not _is_small(objective, np.ones(len(w), dtype=bool)):
        return None
    rows, Z = _dense_design(objective, features), objective.scores(W, b)
    held = np.flatnonzero(objective.l1 > 0)
    table = np.vstack([rows, np.eye(rows.shape[1])[held]])
    sizes = np.sqrt(np.square(rows).mean(axis=0))[held]
    left = np.concatenate([np.abs(Z[:, 0] - loss.y), np.abs(w[held]) * sizes])
    slopes = np.concatenate([loss.gradient(Z)[:, 0], objective.l1[held] * np.sign(w[held])])
    limits = np.concatenate([loss.s, objective.l1[held]])
    wanted = -np.append(objective.l2 * w, [0.0] * objective.has_intercept)
    found = []
    for met in _interpolation_candidates(left, float(np.abs(loss.y).max(initial=0.0)), table):
        v = _balance_gradient(table, limits, np.where(met, 0.0, slopes), met, wanted)[: len(loss.y)]
        found.append(objective.suboptimality_bound(W, b, v[:, None]))
    return min(found)


def _interpolation_candidates(left: Floats, largest: float, table: Floats) -> Iterator[Mask]:
    """Yield the rows that the optimum may go through: those within a limit, or so many of the nearest.

    It goes through as many as there are directions, or fewer where weights are penalised; of rows that tie
    it goes through more.
    """
    for share in INTERPOLATION_TOLERANCES:
        yield left <= share * largest
    most = min(len(left), int(np.linalg.matrix_rank(table)) + 2)
    place = np.empty(len(left), dtype=np.int64)
    place[np.argsort(left, kind="stable")] = np.arange(len(left))
    for number in np.unique(np.linspace(0, most, MAX_INTERPOLATION_TRIALS).astype(np.int64)).tolist():
        yield place < number


def _balance_gradient(table: Floats, s: Floats, v: Floats, met: Mask, wanted: Floats) -> Floats:
    """Return slopes v of which those of met rows make up for the others, within their limits."""
    open_rows = np.flatnonzero(met)
    for _ in range(20):
        if not len(open_rows):
            break
        step = np.linalg.lstsq(table[open_rows].T, wanted - table.T @ v, rcond=None)[0]
        tried = v[open_rows] + step
        v[open_rows] = np.clip(tried, -s[open_rows], s[open_rows])
        inside = np.abs(tried) <= s[open_rows]
        if inside.all():
            break
        open_rows = open_rows[inside]
    return v
