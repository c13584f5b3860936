"""Bounds on the Newton decrement of softmax loss over its unpenalised weights.

With the gradients g of the unpenalised weights and the Hessian H at the dual point, the Newton step c = H⁻¹g
makes a dual point orthogonal to the columns U. Its size is the decrement √(gᵀH⁻¹g), which is the norm of the
change, weighted by the inverse curvatures.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats
from weigh.learn.linear.losses import MIN_CURVATURE, CrossEntropyLoss, hessian, scale_to_unit_diagonal
from weigh.learn.linear.matrix import EPS, Matrix
from weigh.learn.linear.row_products import column_terms

_MAX_ERROR = 0.5  # of a Hessian, relative to itself


class Decrement(NamedTuple):
    """Upper bounds on the decrement, and on the change of any log-odds by the Newton step."""

    norm: float
    largest_step: float


def bound_decrement(
    loss: CrossEntropyLoss, U: Matrix, p: Floats, products: Floats, errors: Floats, rounding: float = 0.0
) -> Decrement | None:
    """Bound the decrement for gradients within `errors` of the products [width, k], or return None.

    `rounding` bounds the norms of the rounding errors of the columns of U, weighted by the row weights. None
    says that rounding may have changed the Hessian by half of itself.
    """
    hess = hessian(loss, U, np.zeros(U.width), p)
    scale, scaled = scale_to_unit_diagonal(hess)
    lower = algebra.cholesky(scaled)
    if lower is None or not np.isfinite(hess).all():
        return None
    root = algebra.triangular_inverse(lower).T
    # Of sums over the rows, of the probabilities and of the decomposition; then of 1 − p.
    n_terms = (U.n_rows if U.width == 1 else column_terms(U)) + loss.n_outputs + len(hess)
    relative = 2 * n_terms * EPS + 2 * rounding * float(scale.max()) + (rounding * float(scale.max())) ** 2
    squares = np.tile(U.squared_times(loss.weights[:, 0]), loss.n_outputs) * np.square(scale)
    diagonal = MIN_CURVATURE + 2 * loss.n_outputs * EPS * squares
    error = relative * float(np.square(np.abs(root).sum(axis=0)).sum())
    error += float((diagonal[:, None] * np.square(root)).sum())
    if not error <= _MAX_ERROR:
        return None
    root = scale[:, None] * root
    along = root.T @ products.T.ravel()
    slack = np.abs(root).T @ (errors.T.ravel() + (len(root) + 2) * EPS * np.abs(products.T.ravel()))
    norm = float(np.linalg.norm(along) + np.linalg.norm(slack)) / (1 - error)
    # |c| ≤ ‖root‖ · norm for each weight, and twice the largest score for the log-odds.
    sizes = np.sqrt(U.squared_times(np.ones(U.n_rows)))
    weights = np.sqrt(np.square(root).sum(axis=1)).reshape(loss.n_outputs, -1)
    largest = 2 * norm * float((weights @ sizes).max()) / math.sqrt(1 - error)
    return Decrement(norm, largest * (1 + (U.n_rows + U.width) * EPS))
