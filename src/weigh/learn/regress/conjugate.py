"""Steps of Newton by conjugate gradients, for more features than a table of second derivatives can hold."""

from __future__ import annotations

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.regress.logistic_loss import Loss
from weigh.learn.regress.matrix import Matrix

MOST = 500  # products with the second derivative per step


def conjugate_step(loss: Loss, X: Matrix, l2: Floats, p: Floats, gradient: Floats, enough: float) -> Floats:
    """Return about −H⁻¹ gradient, until `enough` of the gradient is left; both are scaled by H's diagonal."""
    diagonal = np.stack([X.squared_times(w) for a, b, _, w in loss.bends(p) if a == b], axis=1) + l2[:, None]
    inverse = 1 / np.where(diagonal > 0, diagonal, 1.0)
    step = np.zeros_like(gradient)
    left = -gradient
    scaled = inverse * left
    direction = scaled
    size = first = float((left * scaled).sum())
    for _ in range(MOST):
        if size <= enough**2 * first:
            break
        product = X.transposed_times(loss.bent(p, X.times(direction))) + l2[:, None] * direction
        bend = float((direction * product).sum())
        if bend <= 0:
            break
        length = size / bend
        step += length * direction
        left = left - length * product
        scaled = inverse * left
        size, before = float((left * scaled).sum()), size
        direction = scaled + size / before * direction
    return step if step.any() else inverse * -gradient
