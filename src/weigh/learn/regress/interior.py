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
from weigh.features.blocks import Floats
from weigh.learn.regress.absolute_rows import AbsoluteRows

_NEARLY = 0.9995


@dataclass
class Point:
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
    def apart(self) -> float:
        """What the objectives of both problems differ by, once their equations hold."""
        return float(self.u @ self.p + self.t @ self.q)

    def moved(self, by: Point, alpha: float, beta: float) -> Point:
        """Return the point after a step of the residuals and one of the prices."""
        v, u, t = self.v + alpha * by.v, self.u + alpha * by.u, self.t + alpha * by.t
        return Point(v, u, t, self.a + beta * by.a, self.p + beta * by.p, self.q + beta * by.q)


def interior_point(rows: AbsoluteRows, start: Floats, tol: float, max_iter: int) -> tuple[Point, int]:
    """Return a point whose products u (s − a) and t (s + a) sum to at most tol, and the number of steps."""
    at = _begun(rows, start)
    for step in range(max_iter):
        apart = at.apart
        if apart <= tol:
            return at, step
        newton = _Newton(rows, at)
        found = newton.bold()
        for share in (0.1, 0.5, 0.9):
            if found.apart <= 0.8 * apart:
                break
            # The bold step may run to and fro between walls; one that keeps away from them gets on.
            found = min(found, newton.careful(share), key=lambda each: each.apart)
        if not found.apart < apart * (1 - 1e-9):
            return at, step
        at = found
    return at, max_iter


def _begun(rows: AbsoluteRows, start: Floats) -> Point:
    r = rows.y - rows.times(start)
    away = 0.1 * (float(np.abs(r).mean()) or 1.0)
    u, t = np.maximum(r, 0) + away, np.maximum(-r, 0) + away
    return Point(start, u, t, np.zeros(len(r)), rows.s.copy(), rows.s.copy())


class _Newton:
    """Newton's equations at a point, factored once for both directions."""

    def __init__(self, rows: AbsoluteRows, at: Point) -> None:
        self.rows, self.at, self.theta = rows, at, at.theta
        self.short = rows.y - rows.times(at.v) - at.u + at.t
        self.slope = rows.l2 * at.v - rows.transposed_times(at.a)
        table = rows.gram(self.theta)
        table[np.diag_indices_from(table)] += rows.l2
        self.lower, self.scale = _factored(table)

    def direction(self, to_u: Floats, to_t: Floats) -> Point:
        """Return the step that changes u (s − a) and t (s + a) by so much and mends what else is wrong."""
        at = self.at
        wanted = self.short - to_u / at.p + to_t / at.q
        right = self.rows.transposed_times(self.theta * wanted) - self.slope
        v = algebra.solved(self.lower, right / self.scale) / self.scale
        a = self.theta * (wanted - self.rows.times(v))
        return Point(v, (to_u + at.u * a) / at.p, (to_t - at.t * a) / at.q, a, -a, a)

    def bold(self) -> Point:
        """Return the point after a step as far as a trial step allows, mended by what that one met."""
        at = self.at
        trial = self.direction(-at.u * at.p, -at.t * at.q)
        after = at.moved(trial, *self.lengths(trial, 1.0)).apart
        mu = at.apart / (2 * len(at.u)) * (max(after, 0.0) / at.apart) ** 3
        move = self.direction(mu - at.u * at.p - trial.u * trial.p, mu - at.t * at.q - trial.t * trial.q)
        return at.moved(move, *self.lengths(move, _NEARLY))

    def careful(self, share: float) -> Point:
        """Return the point after a step towards a share of the present mean of all products."""
        at = self.at
        mu = share * at.apart / (2 * len(at.u))
        move = self.direction(mu - at.u * at.p, mu - at.t * at.q)
        return at.moved(move, *self.lengths(move, _NEARLY))

    def lengths(self, move: Point, share: float) -> tuple[float, float]:
        """Return how far the residuals and the prices can go; the same where l2 ties them."""
        alpha = share * min(_room(self.at.u, move.u), _room(self.at.t, move.t))
        beta = share * min(_room(self.at.p, move.p), _room(self.at.q, move.q))
        alpha, beta = min(1.0, alpha), min(1.0, beta)
        return (min(alpha, beta),) * 2 if (self.rows.l2 > 0).any() else (alpha, beta)


def _room(x: Floats, step: Floats) -> float:
    """Return how many steps x can go and stay positive."""
    fastest = float((-step / x).max(initial=0.0))
    return 1 / fastest if fastest > 0 else np.inf


def _factored(table: Floats) -> tuple[Floats, Floats]:
    """Return the factor of a table scaled to a unit diagonal, firmer where rounding has spoilt it."""
    scale = np.sqrt(np.maximum(np.diagonal(table), np.finfo(np.float64).tiny))
    unit = table / scale[:, None] / scale[None, :]
    for firm in (0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-6, 1.0):
        unit[np.diag_indices_from(unit)] = 1.0 + firm * len(unit)
        lower = algebra.factor(unit)
        if lower is not None:
            return lower, scale
    raise np.linalg.LinAlgError("a table of squares that has no factor")
