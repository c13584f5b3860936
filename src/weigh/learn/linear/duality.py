"""How far above its minimum a smooth problem can be, proved by a point of its dual.

With the probabilities p, the slopes r they stand for and v = Xᵀ r, the dual's value is

    Σ (r·o − s Σ p log p) − ½ Σ vⱼ² / l2ⱼ,

never above the minimum if vⱼ = 0 for every feature that has no penalty, the bias among them. Any p are
brought there by a Newton step t = U c over those features U: p + p (t − p·t) are probabilities if within a
row no t exceeds another by more than one.
"""

from __future__ import annotations

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.linear.losses import CrossEntropyLoss, hessian, solve_newton_system
from weigh.learn.linear.matrix import Matrix

MAX_UNPENALISED_UNKNOWNS = 2000  # unknowns of the step over the features without penalty


DUAL_FEASIBILITY_TOLERANCE = 1e-9  # of what pulls a weight: so little may be left of it


def has_dual_bound(loss: CrossEntropyLoss, l2: Floats) -> bool:
    """Tell whether there are few enough features without penalty for a bound by the dual."""
    return int((l2 == 0).sum()) * loss.n_outputs <= MAX_UNPENALISED_UNKNOWNS


def dual_lower_bound(
    loss: CrossEntropyLoss, X: Matrix, l2: Floats, p: Floats, v: Floats | None = None
) -> float:
    """Return a number that the minimum is not below; v may be given if all features have a penalty."""
    free = l2 == 0
    if free.any():
        brought = _make_feasible(loss, X.select_features(free), p)
        if brought is None:
            return 0.0  # a loss of probabilities is never negative
        p = brought
    if v is None:
        v = X.transposed_times(loss.score_gradient(p))
    squares = np.square(v[~free]) / l2[~free, None]
    return max(0.0, loss.dual_value(p) - 0.5 * float(squares.sum()))


def _make_feasible(loss: CrossEntropyLoss, U: Matrix, p: Floats) -> Floats | None:
    # A second step takes away what the first left by rounding.
    for _ in range(2):
        wrong = U.transposed_times(loss.score_gradient(p))
        t = U.times(solve_newton_system(hessian(loss, U, np.zeros(U.width), p), wrong))
        several = loss.n_outputs > 1
        apart = np.ptp(t, axis=1) if several else np.abs(t)
        if apart.max(initial=0.0) > 1:
            return None
        p = p + p * (t - (p * t).sum(axis=1, keepdims=True)) if several else p + p * (1 - p) * t
    slopes = loss.score_gradient(p)
    left, whole = np.abs(U.transposed_times(slopes)), U.absolute_transposed_times(np.abs(slopes))
    # Directions in which the loss hardly bends are stepped over: then this is no point of the dual.
    return p if (left <= DUAL_FEASIBILITY_TOLERANCE * whole).all() else None


def lasso_dual_bound(rr: float, yr: float, q: Floats, l1: Floats, l2: Floats) -> float:
    """Return a lower bound of the objective.

    `rr` is rᵀr and `yr` is yᵀr of the residual r, `q` is Xᵀr. Features without any penalty must have been
    fitted: their q is zero but for rounding, and is not looked at. Every s with s |qⱼ| ≤ l1ⱼ where l2ⱼ = 0
    proves s yᵀr − ½ s² rᵀr − Σ (s |qⱼ| − l1ⱼ)₊² / 2 l2ⱼ.
    """
    size = np.abs(q)
    pulls, soft = l1 > 0, l2 > 0
    tightest = _feasible_scale(size[pulls], l1[pulls])
    bound = _feasible_scale(size[pulls & ~soft], l1[pulls & ~soft])
    # A residual turned against the targets proves nothing at any scale.
    best = max(0.0, yr / rr) if rr > 0 else 1.0
    scales = {min(best, tightest), min(1.0, bound)}

    def reached(scale: float) -> float:
        beyond = np.maximum(scale * size[soft] - l1[soft], 0.0)
        return scale * yr - scale**2 * rr / 2 - float((beyond**2 / l2[soft]).sum()) / 2

    return max(0.0, *(reached(scale) for scale in scales))


def _feasible_scale(size: Floats, l1: Floats) -> float:
    pulling = size > 0
    return float(np.min(l1[pulling] / size[pulling], initial=np.inf))
