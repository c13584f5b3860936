"""Corners of least absolute deviations: as many rows without a residual as there are weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats, Longs
from weigh.learn.regress.absolute_rows import AbsoluteRows
from weigh.learn.regress.interior import Point

_EXACT = 1e-12


@dataclass(frozen=True, eq=False)
class Corner:
    """Weights, the rows they meet, the prices of all rows, and what the weights cost."""

    v: Floats
    basis: Longs
    a: Floats
    residuals: Floats
    objective: float


def cornered(rows: AbsoluteRows, at: Point, most: int = 50) -> Corner | None:
    """Return the corner next to an interior point, or better ones along the edges that go down from it."""
    corner = _nearest(rows, at)
    for _ in range(most):
        if corner is None:
            return None
        basis = _next_basis(rows, corner)
        found = None if basis is None else _corner(rows, basis)
        if found is None or found.objective >= corner.objective:
            return corner
        corner = found
    return corner


def _nearest(rows: AbsoluteRows, at: Point) -> Corner | None:
    """Return the corner of the independent rows whose prices are farthest from their limits."""
    theta = at.theta
    several = min(len(theta), 3 * rows.width + 20)
    likely = np.sort(np.argpartition(-theta, several - 1)[:several])
    root = np.sqrt(theta[likely] / theta[likely].max())
    order, adds = algebra.pivots((rows.some(likely) * root[:, None]).T)
    if len(adds) < rows.width or not adds[rows.width - 1] > 0:
        return None
    return _corner(rows, likely[order[: rows.width]])


def _corner(rows: AbsoluteRows, basis: Longs) -> Corner | None:
    table = rows.some(basis)
    v = algebra.solved_exactly(table, rows.y[basis])
    if v is None or not np.isfinite(v).all():
        return None
    r = rows.y - rows.times(v)
    r[np.abs(r) <= _EXACT * (np.abs(rows.y) + float(np.abs(rows.y).mean()))] = 0.0
    r[basis] = 0.0
    a = rows.s * np.sign(r)
    prices = algebra.solved_exactly(table.T, -rows.transposed_times(a))
    if prices is None:
        return None
    a[basis] = prices
    return Corner(v, basis, a, r, rows.objective(v, r))


def _next_basis(rows: AbsoluteRows, corner: Corner) -> Longs | None:
    """Return the rows of a lower corner: one whose price is over its limit gives way; None if none does."""
    basis = corner.basis
    over = np.abs(corner.a[basis]) / rows.s[basis]
    table = rows.some(basis)
    for leaving in np.argsort(-over)[:8].tolist():
        if over[leaving] <= 1 + _EXACT:
            return None
        price, s = corner.a[basis[leaving]], rows.s[basis[leaving]]
        side = np.zeros(len(basis))
        side[leaving] = -np.sign(price)
        way = algebra.solved_exactly(table, side)
        if way is None:
            continue
        entering = _turning(rows, corner, way, s - abs(price))
        if entering is not None:
            found = basis.copy()
            found[leaving] = entering
            return found
    return None


def _turning(rows: AbsoluteRows, corner: Corner, way: Floats, slope: float) -> int | None:
    """Return the row at which the objective stops falling along a way; None if it does not fall."""
    speed = rows.times(way)
    speed[corner.basis] = 0.0
    gain = 2 * rows.s * np.abs(speed)
    touching = corner.residuals == 0
    slope += float(gain[touching].sum()) / 2
    if slope >= 0:
        return None
    ahead = np.flatnonzero(~touching & (corner.residuals * speed > 0))
    order = ahead[np.argsort(corner.residuals[ahead] / speed[ahead])]
    stop = int(np.searchsorted(np.cumsum(gain[order]), -slope))
    return int(order[stop]) if stop < len(order) else None
