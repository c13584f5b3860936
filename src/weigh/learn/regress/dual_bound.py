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
from weigh.learn.regress.curvature import hessian, newton_step
from weigh.learn.regress.logistic_loss import Loss
from weigh.learn.regress.matrix import Matrix

MOST_FREE = 2000  # unknowns of the step over the features without penalty


STILL = 1e-9  # of what pulls a weight: so little may be left of it


def can_be_bounded(loss: Loss, l2: Floats) -> bool:
    """Tell whether there are few enough features without penalty for a bound by the dual."""
    return int((l2 == 0).sum()) * loss.columns <= MOST_FREE


def lower_bound(loss: Loss, X: Matrix, l2: Floats, p: Floats, v: Floats | None = None) -> float:
    """Return a number that the minimum is not below; v may be given if all features have a penalty."""
    free = l2 == 0
    if free.any():
        brought = _balanced(loss, X.features(free), p)
        if brought is None:
            return 0.0  # a loss of probabilities is never negative
        p = brought
    if v is None:
        v = X.transposed_times(loss.slopes(p))
    squares = np.square(v[~free]) / l2[~free, None]
    return max(0.0, loss.dual(p) - 0.5 * float(squares.sum()))


def _balanced(loss: Loss, U: Matrix, p: Floats) -> Floats | None:
    # A second step takes away what the first left by rounding.
    for _ in range(2):
        wrong = U.transposed_times(loss.slopes(p))
        t = U.times(newton_step(hessian(loss, U, np.zeros(U.width), p), wrong))
        several = loss.columns > 1
        apart = np.ptp(t, axis=1) if several else np.abs(t)
        if apart.max(initial=0.0) > 1:
            return None
        p = p + p * (t - (p * t).sum(axis=1, keepdims=True)) if several else p + p * (1 - p) * t
    slopes = loss.slopes(p)
    left, whole = np.abs(U.transposed_times(slopes)), U.absolute_times(np.abs(slopes))
    # Directions in which the loss hardly bends are stepped over: then this is no point of the dual.
    return p if (left <= STILL * whole).all() else None
