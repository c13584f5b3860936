"""Proofs by duality for squared loss with l1: residuals, scaled until no feature pulls more than its l1."""

from __future__ import annotations

import numpy as np

from weigh.features.blocks import Floats


def residual_bound(rr: float, yr: float, q: Floats, l1: Floats, l2: Floats) -> float:
    """Return a lower bound of the objective.

    `rr` is rᵀr and `yr` is yᵀr of the residual r, `q` is Xᵀr. Features without any penalty must have been
    fitted: their q is zero but for rounding, and is not looked at. Every s with s |qⱼ| ≤ l1ⱼ where l2ⱼ = 0
    proves s yᵀr − ½ s² rᵀr − Σ (s |qⱼ| − l1ⱼ)₊² / 2 l2ⱼ.
    """
    size = np.abs(q)
    pulls, soft = l1 > 0, l2 > 0
    tightest = _scale(size[pulls], l1[pulls])
    bound = _scale(size[pulls & ~soft], l1[pulls & ~soft])
    # A residual turned against the targets proves nothing at any scale.
    best = max(0.0, yr / rr) if rr > 0 else 1.0
    scales = {min(best, tightest), min(1.0, bound)}

    def reached(scale: float) -> float:
        beyond = np.maximum(scale * size[soft] - l1[soft], 0.0)
        return scale * yr - scale**2 * rr / 2 - float((beyond**2 / l2[soft]).sum()) / 2

    return max(0.0, *(reached(scale) for scale in scales))


def _scale(size: Floats, l1: Floats) -> float:
    pulling = size > 0
    return float(np.min(l1[pulling] / size[pulling], initial=np.inf))
