"""Slopes that prove how good a point is: those of a point nearby that is better still.

The slopes at a point bound what it is above the minimum, but only to first order. Those of a point after a
few steps towards the minimum, over the features that have a weight, bound it to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from weigh.features.blocks import Floats, Longs, Mask
from weigh.judge.verifying.objectives import AbsoluteLoss, Objective

MOST = 1_000  # unknowns that are solved for at once
CELLS = 50_000_000  # numbers of the rows laid out for it
STEPS, TURNS = 8, 100
NEAR = (1e-13, 1e-11, 1e-9, 1e-7)  # shares of the largest target below which a row counts as met
TRIED = 60  # numbers of rows that may be met


def gap(objective: Objective, W: Floats, b: Floats) -> float | None:
    """Return how far (W, b) is above the minimum at most; None if there is too much to be solved for."""
    free = (objective.l1 == 0) & (objective.l2 == 0)
    if not _is_small(objective, free):
        return None
    if isinstance(objective.loss, AbsoluteLoss):
        return _absolute_gap(objective, objective.loss, W, b)
    found = [_bound(objective, W, b, *_refined(objective, W, b, free))]
    held = (objective.l1 == 0)[:, None] | (W != 0)
    if (~free).any():
        near = _refined(objective, W, b, held.any(axis=1), held)
        found.append(_bound(objective, W, b, *_refined(objective, *near, free)))
    return min(found)


def _is_small(objective: Objective, features: Mask) -> bool:
    n = int(features.sum()) + objective.bias
    return n * objective.columns <= MOST and n * objective.rows.n_rows <= CELLS


def _bound(objective: Objective, W: Floats, b: Floats, to_W: Floats, to_b: Floats) -> float:
    found = objective.bound(W, b, objective.loss.slopes(objective.scores(to_W, to_b)))
    return found if np.isfinite(found) else np.inf


def _refined(
    objective: Objective, W: Floats, b: Floats, features: Mask, held: Mask | None = None
) -> tuple[Floats, Floats]:
    """Return a point after Newton's steps over some features and the bias, signs kept."""
    if not features.any() and not objective.bias:
        return W, b
    solve = _dense_step if _is_small(objective, features) else _sparse_step
    steps = STEPS if solve is _dense_step else 3
    signs = np.sign(W)
    for _ in range(steps):
        Z = objective.scores(W, b)
        v = objective.loss.slopes(Z)
        slope = objective.back(v) + objective.l1[:, None] * signs + objective.l2[:, None] * W
        slope[~features] = 0.0
        if held is not None:
            slope[~held] = 0.0
        by_bias = v.sum(axis=0) if objective.bias else np.zeros(objective.columns)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            to_W, to_b = solve(objective, Z, np.flatnonzero(features), held, slope, by_bias)
        if not (np.isfinite(to_W).all() and np.isfinite(to_b).all()):
            break
        W, b = W - to_W, b - to_b
    return W, b


def _dense_step(
    objective: Objective, Z: Floats, places: Longs, held: Mask | None, slope: Floats, by_bias: Floats
) -> tuple[Floats, Floats]:
    """Solve for the step at once, the rows laid out."""
    k, table = objective.columns, _laid_out(objective, places)
    m = table.shape[1]
    H = _curvature(objective, Z, table)
    own = np.append(objective.l2[places], [0.0] * objective.bias)
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
    return to_W, found[-1] if objective.bias else np.zeros(k)


def _laid_out(objective: Objective, places: Longs) -> Floats:
    """Return the rows of some features with all their zeros, and a column of ones if there is a bias."""
    rows = objective.rows
    number = np.full(rows.width, -1)
    number[places] = np.arange(len(places))
    table = np.zeros((rows.n_rows, len(places) + objective.bias))
    row = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    at = number[rows.indices]
    table[row[at >= 0], at[at >= 0]] = rows.values[at >= 0]
    table[:, len(places) :] = 1.0
    return table


def _curvature(objective: Objective, Z: Floats, table: Floats) -> Floats:
    """Return the second derivative of the loss by pairs of unknowns."""
    k, m = objective.columns, table.shape[1]
    H = np.zeros((m * k, m * k))
    for c in range(k):
        one = np.zeros((len(table), k))
        one[:, c] = 1.0
        bends = objective.loss.bent(Z, one)
        for d in range(k):
            H[d::k, c::k] = table.T @ (bends[:, d, None] * table)
    return H


def _sparse_step(
    objective: Objective, Z: Floats, places: Longs, held: Mask | None, slope: Floats, by_bias: Floats
) -> tuple[Floats, Floats]:
    """Solve for the step by conjugate gradients, the rows as they are."""
    mask = np.zeros_like(slope)
    mask[places] = 1.0
    if held is not None:
        mask *= held

    def bent(part: Floats) -> Floats:
        V = objective.loss.bent(Z, objective.times(part[:-1]) + part[-1])
        rise = objective.back(V) + objective.l2[:, None] * part[:-1]
        return np.vstack([rise * mask, V.sum(axis=0)[None, :] * objective.bias])

    left = np.vstack([slope * mask, by_bias[None, :]])
    step, way = np.zeros_like(left), left.copy()
    size = first = float((left * left).sum())
    for _ in range(TURNS):
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
    rows, Z = _laid_out(objective, features), objective.scores(W, b)
    held = np.flatnonzero(objective.l1 > 0)
    table = np.vstack([rows, np.eye(rows.shape[1])[held]])
    sizes = np.sqrt(np.square(rows).mean(axis=0))[held]
    left = np.concatenate([np.abs(Z[:, 0] - loss.y), np.abs(w[held]) * sizes])
    slopes = np.concatenate([loss.slopes(Z)[:, 0], objective.l1[held] * np.sign(w[held])])
    limits = np.concatenate([loss.s, objective.l1[held]])
    wanted = -np.append(objective.l2 * w, [0.0] * objective.bias)
    found = []
    for met in _perhaps_met(left, float(np.abs(loss.y).max(initial=0.0)), table):
        v = _balanced(table, limits, np.where(met, 0.0, slopes), met, wanted)[: len(loss.y)]
        found.append(objective.bound(W, b, v[:, None]))
    return min(found)


def _perhaps_met(left: Floats, largest: float, table: Floats) -> Iterator[Mask]:
    """Yield the rows that the optimum may go through: those within a limit, or so many of the nearest.

    It goes through as many as there are directions, or fewer where weights are penalised; of rows that tie
    it goes through more.
    """
    for share in NEAR:
        yield left <= share * largest
    most = min(len(left), int(np.linalg.matrix_rank(table)) + 2)
    place = np.empty(len(left), dtype=np.int64)
    place[np.argsort(left, kind="stable")] = np.arange(len(left))
    for number in np.unique(np.linspace(0, most, TRIED).astype(np.int64)).tolist():
        yield place < number


def _balanced(table: Floats, s: Floats, v: Floats, met: Mask, wanted: Floats) -> Floats:
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
