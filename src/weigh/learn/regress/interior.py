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
    """Weights v, both parts of the residuals, and the rows' prices a."""

    v: Floats
    u: Floats
    t: Floats
    a: Floats


def interior_point(rows: AbsoluteRows, start: Floats, tol: float, max_iter: int) -> tuple[Point, int]:
    """Return a point whose products u (s − a) and t (s + a) sum to at most tol, and the number of steps."""
    at = _begun(rows, start)
    n = 2 * len(rows.y)
    for step in range(max_iter):
        p, q = rows.s - at.a, rows.s + at.a
        apart = float(at.u @ p + at.t @ q)
        if apart <= tol:
            return at, step
        theta = 1 / (at.u / p + at.t / q)
        newton = _Newton(rows, at, theta, p, q)
        trial = newton.direction(-at.u * p, -at.t * q)
        alpha, beta = newton.lengths(trial, 1.0)
        after = (at.u + alpha * trial.u) @ (p - beta * trial.a) + (at.t + alpha * trial.t) @ (
            q + beta * trial.a
        )
        mu = apart / n * (max(float(after), 0.0) / apart) ** 3
        move = newton.direction(
            mu - at.u * p + trial.u * trial.a,
            mu - at.t * q - trial.t * trial.a,
        )
        alpha, beta = newton.lengths(move, _NEARLY)
        if max(alpha, beta) < 1e-12:
            return at, step
        at = Point(at.v + alpha * move.v, at.u + alpha * move.u, at.t + alpha * move.t, at.a + beta * move.a)
    return at, max_iter


def _begun(rows: AbsoluteRows, start: Floats) -> Point:
    r = rows.y - rows.times(start)
    away = float(np.abs(r).mean()) or 1.0
    return Point(start, np.maximum(r, 0) + 0.1 * away, np.maximum(-r, 0) + 0.1 * away, np.zeros(len(r)))


class _Newton:
    """Newton's equations at a point, factored once for both directions."""

    def __init__(self, rows: AbsoluteRows, at: Point, theta: Floats, p: Floats, q: Floats) -> None:
        self.rows, self.at, self.theta, self.p, self.q = rows, at, theta, p, q
        self.short = rows.y - rows.times(at.v) - at.u + at.t
        self.slope = rows.l2 * at.v - rows.transposed_times(at.a)
        table = rows.gram(theta)
        table[np.diag_indices_from(table)] += rows.l2
        self.lower, self.scale = _factored(table)

    def direction(self, to_u: Floats, to_t: Floats) -> Point:
        """Return the step that changes u (s − a) and t (s + a) by so much and mends what else is wrong."""
        wanted = self.short - to_u / self.p + to_t / self.q
        right = self.rows.transposed_times(self.theta * wanted) - self.slope
        v = algebra.solved(self.lower, right / self.scale) / self.scale
        a = self.theta * (wanted - self.rows.times(v))
        u, t = (to_u + self.at.u * a) / self.p, (to_t - self.at.t * a) / self.q
        return Point(v, u, t, a)

    def lengths(self, move: Point, share: float) -> tuple[float, float]:
        """Return how far the residuals and the prices can go; the same where l2 ties them."""
        alpha = min(_room(self.at.u, move.u), _room(self.at.t, move.t))
        beta = min(_room(self.p, -move.a), _room(self.q, move.a))
        alpha, beta = min(1.0, share * alpha), min(1.0, share * beta)
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
