"""Lower bounds on the minimum of a penalised loss, from points of its dual.

For log loss with l2, let s be the row weights, y the one-hot targets, o the offsets, p the probabilities,
g = s (p − y) the gradient with respect to the scores and v = Xᵀg. The dual objective is

    Σ (g·o − s Σ p log p) − ½ Σ vⱼ² / l2ⱼ,

a lower bound if vⱼ = 0 for every unpenalised feature, the intercept included. Any p becomes feasible by a
Newton step d = U c over those features U: p + p (d − p·d) are probabilities as long as the range of d within
a row is at most one.
"""

from __future__ import annotations

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.linear.losses import CrossEntropyLoss, hessian, solve_newton_system
from weigh.learn.linear.matrix import Matrix

MAX_UNPENALISED_UNKNOWNS = 2000  # unknowns of the Newton step over the unpenalised features
DUAL_FEASIBILITY_TOLERANCE = 1e-9  # of Σ |xᵢⱼ gᵢ|: the largest |vⱼ| that counts as zero


def has_dual_bound(loss: CrossEntropyLoss, l2: Floats) -> bool:
    """Check whether the unpenalised features are few enough to compute a dual bound."""
    return int((l2 == 0).sum()) * loss.n_outputs <= MAX_UNPENALISED_UNKNOWNS


def dual_lower_bound(
    loss: CrossEntropyLoss, X: Matrix, l2: Floats, p: Floats, v: Floats | None = None
) -> float:
    """Return a lower bound on the minimum; v = Xᵀg may be given if all features are penalised."""
    without_l2 = l2 == 0
    if without_l2.any():
        feasible = _make_feasible(loss, X.select_features(without_l2), p)
        if feasible is None:
            return 0.0  # log loss is never negative
        p = feasible
    if v is None:
        v = X.transposed_times(loss.score_gradient(p))
    squares = np.einsum("jk,jk->j", v, v)[~without_l2] / l2[~without_l2]
    return max(0.0, loss.dual_value(p) - 0.5 * float(squares.sum()))


def _make_feasible(loss: CrossEntropyLoss, U: Matrix, p: Floats) -> Floats | None:
    """Return probabilities with Uᵀg = 0 near p, or None if a Newton step does not lead there."""
    # The second step removes the rounding errors of the first.
    for _ in range(2):
        violation = U.transposed_times(loss.score_gradient(p))
        d = U.times(solve_newton_system(hessian(loss, U, np.zeros(U.width), p), violation))
        is_softmax = loss.n_outputs > 1
        step_range = np.ptp(d, axis=1) if is_softmax else np.abs(d)
        if step_range.max(initial=0.0) > 1:
            return None
        p = p + p * (d - (p * d).sum(axis=1, keepdims=True)) if is_softmax else p + p * (1 - p) * d
    g = loss.score_gradient(p)
    violation, scale = np.abs(U.transposed_times(g)), U.absolute_transposed_times(np.abs(g))
    # The Newton step leaves out directions of hardly any curvature, so p may still be infeasible.
    return p if (violation <= DUAL_FEASIBILITY_TOLERANCE * scale).all() else None


def lasso_dual_bound(rr: float, yr: float, q: Floats, l1: Floats, l2: Floats) -> float:
    """Return a lower bound on the minimum of ½ Σ sᵢ (yᵢ − xᵢ·w)² + Σ l1ⱼ |wⱼ| + ½ Σ l2ⱼ wⱼ².

    With the residuals r = y − Xw, rr = Σ sᵢ rᵢ², yr = Σ sᵢ yᵢ rᵢ and q = Xᵀ(s r) [d]. The sign differs
    from v above: q = −gradient of the loss. Unpenalised features must have been fitted: their q is zero but
    for rounding and is ignored. Every scale c with c |qⱼ| ≤ l1ⱼ where l2ⱼ = 0 gives the bound
    c yr − ½ c² rr − Σ (c |qⱼ| − l1ⱼ)₊² / (2 l2ⱼ); two scales are tried.
    """
    q = np.abs(q)
    has_l1, has_l2 = l1 > 0, l2 > 0
    largest_all = _feasible_scale(q[has_l1], l1[has_l1])
    largest = _feasible_scale(q[has_l1 & ~has_l2], l1[has_l1 & ~has_l2])
    # A residual with yr < 0 gives no positive bound at any scale.
    best = max(0.0, yr / rr) if rr > 0 else 1.0

    def bound(scale: float) -> float:
        excess = np.maximum(scale * q[has_l2] - l1[has_l2], 0.0)
        return scale * yr - scale**2 * rr / 2 - float((excess**2 / l2[has_l2]).sum()) / 2

    scales = {min(best, largest_all), min(1.0, largest)}
    return max(0.0, *(bound(scale) for scale in scales))


def _feasible_scale(q: Floats, l1: Floats) -> float:
    """Return the largest c with c qⱼ ≤ l1ⱼ for all j."""
    is_positive = q > 0
    return float(np.min(l1[is_positive] / q[is_positive], initial=np.inf))
