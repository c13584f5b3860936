"""The step to the best weights of given signs, by conjugate gradients."""

from __future__ import annotations

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.regress.logistic_model import Pull
from weigh.learn.regress.matrix import Matrix

# The part of the pull that a step may leave.
_LEFT = 1e-5


def face_step(
    X: Matrix, pull: Pull, w: Floats, l1: Floats, l2: Floats, products: int
) -> tuple[Floats, float]:
    """Return the change of the weights that are not zero, and of the bias, that brings the model to rest.

    `products` is how many products with all rows it is worth. The last of the unknowns is the bias; without
    one it has no part.
    """
    moves = np.append(w != 0, pull.bias)
    bend = np.append(X.squared_times(pull.h) + l2, pull.h.sum())
    scale = np.where(moves & (bend > 0), 1 / np.where(bend > 0, bend, 1.0), 0.0)

    def product(change: Floats) -> Floats:
        scores = pull.h * (X.times(change[:-1]) + change[-1])
        return np.asarray(np.append(X.transposed_times(scores) + l2 * change[:-1], scores.sum()) * moves)

    rest = np.append(X.transposed_times(pull.u) - l1 * np.sign(w) - l2 * w, pull.u.sum()) * moves
    step, along = np.zeros(len(w) + 1), scale * rest
    size = first = float(rest @ along)
    for _ in range(products):
        if not size > _LEFT**2 * first:
            break
        led = product(along)
        share = size / float(along @ led)
        step += share * along
        rest -= share * led
        past, size = size, float(rest @ (scale * rest))
        along = scale * rest + size / past * along
    return step[:-1], float(step[-1])
