"""Lasso and elastic net where only the moments of the rows are known.

The objective is

    ½ yy − cᵀw + ½ wᵀGw + Σ l1ⱼ |wⱼ| + ½ Σ l2ⱼ wⱼ²

with G = XᵀX, c = Xᵀy and yy = yᵀy of centred rows. Features with l1 = 0 are taken out first: for given other
weights theirs solve a linear system, and what is left is a problem of the same form.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from weigh import _core, algebra
from weigh.features.blocks import Floats, Longs

# Sweeps before the first exact solution of a support, and between further ones.
_FIRST, _BETWEEN = 25, 4
# Rounds without any gain after which rounding is all that is left.
_STALLED = 50


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The loss ½ yy − cᵀw + ½ wᵀGw, where G is symmetric."""

    gram: Floats
    cross: Floats
    yy: float


@dataclass(frozen=True, eq=False)
class GramPoint:
    """Weights, q = c − Gw, and how far the objective may be above its minimum."""

    w: Floats
    q: Floats
    gap: float
    sweeps: int


def solve_gram(
    loss: Quadratic,
    l1: Floats,
    l2: Floats,
    *,
    tol: float,
    max_iter: int = 10_000,
    start: Floats | None = None,
) -> GramPoint:
    """Return the weights of least objective; the gap is to be below tol times what w = 0 costs."""
    taken = TakenOut.of(loss, l1, l2)
    inner = _started(taken.loss, None if start is None else start[taken.kept])
    return taken.put_back(_solved(taken, inner, tol, max_iter))


def quadratic_path(
    loss: Quadratic, penalties: Iterable[tuple[Floats, Floats]], *, tol: float, max_iter: int = 10_000
) -> list[GramPoint]:
    """Return the best weights for one pair (l1, l2) after the other.

    While support and signs stay, weights are linear in l1: where the last two solutions point to is where
    the next one begins.
    """
    found: list[GramPoint] = []
    past: list[tuple[float, GramPoint]] = []
    kept: Longs | None = None
    for l1, l2 in penalties:
        taken = TakenOut.of(loss, l1, l2)
        if kept is None or not np.array_equal(kept, taken.kept) or l2[l1 == 0].any():
            past, kept = past[:0], taken.kept
        scale = float(taken.l1.sum())
        if len(past) == 2 and past[0][0] != past[1][0]:
            begin = _extrapolated(taken.loss, past, scale)
        elif past:
            begin = past[-1][1]
        else:
            begin = _started(taken.loss, found[-1].w[taken.kept] if found else None)
        inner = _solved(taken, begin, tol, max_iter)
        past = [*past[-1:], (scale, inner)]
        found.append(taken.put_back(inner))
    return found


@dataclass(frozen=True, eq=False)
class TakenOut:
    """A problem without the features that have no l1, and the way back."""

    loss: Quadratic
    l1: Floats
    l2: Floats
    whole: Quadratic
    kept: Longs
    others: Longs
    inverse: Floats

    @classmethod
    def of(cls, loss: Quadratic, l1: Floats, l2: Floats) -> TakenOut:
        """Return what is left when weights without l1 follow the others."""
        others, kept = np.flatnonzero(l1 == 0), np.flatnonzero(l1)
        if not len(others):
            return cls(loss, l1, l2, loss, kept, others, np.zeros((0, 0)))
        inverse = _pseudo_inverse(loss.gram[np.ix_(others, others)] + np.diag(l2[others]))
        between, cross = loss.gram[np.ix_(kept, others)], loss.cross[others]
        led = between @ inverse
        gram = loss.gram[np.ix_(kept, kept)] - led @ between.T
        yy = float(loss.yy - cross @ inverse @ cross)
        left = Quadratic((gram + gram.T) / 2, loss.cross[kept] - led @ cross, yy)
        return cls(left, l1[kept], l2[kept], loss, kept, others, inverse)

    def put_back(self, point: GramPoint) -> GramPoint:
        """Return the same point with all its weights."""
        if not len(self.others):
            return point
        w = np.zeros(len(self.whole.cross))
        w[self.kept] = point.w
        w[self.others] = self.inverse @ (self.whole.cross[self.others] - self.whole.gram[self.others] @ w)
        return GramPoint(w, self.whole.cross - self.whole.gram @ w, point.gap, point.sweeps)


def _pseudo_inverse(table: Floats) -> Floats:
    """Return the inverse where there is one; columns that repeat others share their weight."""
    scale = 1 / np.sqrt(np.maximum(np.diagonal(table), np.finfo(np.float64).tiny))
    values, vectors = algebra.eigen(table * scale * scale[:, None])
    sure = values > len(table) * 1e-13
    turned = vectors[:, sure] * scale[:, None]
    return np.asarray((turned / values[sure]) @ turned.T)


def _started(loss: Quadratic, w: Floats | None) -> GramPoint:
    if w is None or not w.any():
        return GramPoint(np.zeros(len(loss.cross)), loss.cross.copy(), np.inf, 0)
    return GramPoint(w, loss.cross - loss.gram @ w, np.inf, 0)


def _extrapolated(loss: Quadratic, past: list[tuple[float, GramPoint]], scale: float) -> GramPoint:
    (far_scale, far), (near_scale, near) = past
    step = (scale - near_scale) / (near_scale - far_scale)
    w, q = near.w + step * (near.w - far.w), near.q + step * (near.q - far.q)
    turned = np.flatnonzero(w * near.w < 0)
    q += w[turned] @ loss.gram[turned]
    w[turned] = 0.0
    return GramPoint(w, q, np.inf, 0)


def _solved(taken: TakenOut, begin: GramPoint, tol: float, max_iter: int) -> GramPoint:
    """Sweep; where sweeps do not do, solve for the support exactly in between."""
    loss, goal = taken.loss, tol * taken.loss.yy / 2
    gram, cross = np.ascontiguousarray(loss.gram), np.ascontiguousarray(loss.cross)
    w, q, sweeps = begin.w.copy(), begin.q.copy(), 0
    least, stalled = np.inf, 0
    while True:
        most = min(_BETWEEN if sweeps else _FIRST, max_iter - sweeps)
        done, gap = _core.coordinate_descent_gram(gram, cross, loss.yy, taken.l1, taken.l2, goal, most, w, q)
        sweeps += done
        least, stalled = (gap, 0) if gap < 0.99 * least else (least, stalled + 1)
        if gap <= goal or sweeps >= max_iter or stalled > _STALLED:
            return GramPoint(w, q, gap, sweeps)
        w, q = _newton(taken, w, q)
        sweeps += 1


def _newton(taken: TakenOut, w: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Return the best point of the support's signs, without the features whose sign would turn on the way."""
    support = np.flatnonzero(w)
    part = taken.loss.gram[np.ix_(support, support)]
    part[np.diag_indices_from(part)] += taken.l2[support]
    lower = algebra.factor(part)
    if lower is None:
        # Columns that repeat each other: any of their best weights will do.
        part[np.diag_indices_from(part)] += 1e-9 * np.diagonal(part).max()
        lower = algebra.factor(part)
    if lower is None:
        return w, q
    past = w[support]
    slope = q[support] - taken.l1[support] * np.sign(past) - taken.l2[support] * past
    step = algebra.solved(lower, slope)
    if (past * (past + step) <= 0).any():
        step = _stopped(algebra.inverse(lower), past, slope) - past
    there = w.copy()
    there[support] = past + step
    gradient = q - step @ taken.loss.gram[support]
    return (there, gradient) if _cost(taken, there, gradient) < _cost(taken, w, q) else (w, q)


def _stopped(inverse: Floats, w: Floats, slope: Floats) -> Floats:
    """Go to the best point of a support; each feature that reaches zero on the way stays there.

    What is left of the inverse when a feature is taken out follows from the inverse itself.
    """
    w, left, product = w.copy(), np.ones(len(w), dtype=bool), np.empty_like(inverse)
    for _ in range(len(w)):
        step = inverse @ np.where(left, slope, 0.0)
        turning = np.flatnonzero(left & (w * (w + step) <= 0) & (w != 0))
        if not len(turning):
            return w + step
        lengths = -w[turning] / step[turning]
        length = float(lengths.min())
        gone = turning[lengths <= length * (1 + 1e-12)]
        w += length * step
        slope = slope * (1 - length)
        for each in gone:
            w[each], left[each] = 0.0, False
            column = inverse[each].copy()
            inverse -= np.multiply.outer(column, column / column[each], out=product)
            inverse[each], inverse[:, each] = 0.0, 0.0
    return w


def _cost(taken: TakenOut, w: Floats, q: Floats) -> float:
    squares = taken.loss.yy - (taken.loss.cross + q) @ w
    return float(squares / 2 + taken.l1 @ np.abs(w) + taken.l2 @ np.square(w) / 2)
