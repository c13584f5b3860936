"""Second derivatives as tables, and the steps of Newton that they give."""

from __future__ import annotations

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats
from weigh.learn.regress.logistic_loss import Loss
from weigh.learn.regress.matrix import Matrix

# Of a table with ones in its diagonal: directions that bend less are not told from those that do not bend.
LEAST_BEND = 1e-12


def hessian(loss: Loss, X: Matrix, l2: Floats, p: Floats) -> Floats:
    """Return the second derivative [k · width, k · width] of loss and penalty, column of scores by column.

    Of several classes the loss does not change when the same is added to a weight of all classes; where no
    penalty forbids that, the table is bent in that direction, so that a step does not go there.
    """
    k, width = loss.columns, X.width
    table = np.zeros((k, width, k, width))
    features = np.arange(width)
    for a, b, sign, weights in loss.bends(p):
        table[a, :, b, :] = table[b, :, a, :] = sign * X.weighted_gram(weights)
    for a in range(k):
        table[a, features, a, features] += l2
    if k > 1:
        free = features[l2 == 0]
        bend = sum(table[a, free, a, free] for a in range(k)) / k**2
        for a in range(k):
            for b in range(k):
                table[a, free, b, free] += bend
    return table.reshape(k * width, k * width)


def newton_step(table: Floats, gradient: Floats) -> Floats:
    """Return −table⁻¹ gradient for a gradient [width, k]; directions that do not bend are left out."""
    right = -gradient.T.ravel()
    diagonal = np.diagonal(table)
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = table * scale * scale[:, None]
    np.fill_diagonal(scaled, 1 + LEAST_BEND)
    lower = algebra.factor(scaled) if len(scaled) else scaled
    if lower is not None:
        step = algebra.solved(lower, scale * right) if len(scaled) else right
    else:
        values, vectors = algebra.eigen(scaled)
        bent = values > LEAST_BEND * values[-1]
        step = vectors[:, bent] @ ((vectors[:, bent].T @ (scale * right)) / values[bent])
    return np.asarray((scale * step).reshape(gradient.shape[::-1]).T)
