"""Linear programs, the only caller of scipy's solver."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class NearestMeansSolution(NamedTuple):
    """Convex weights of the points, and the dual price of each coordinate."""

    weights: Floats
    dual_prices: Floats


def solve_nearest_means(
    values: Floats,
    indices: NDArray[np.int32],
    indptr: NDArray[np.int64],
    width: int,
    groups: NDArray[np.int64],
) -> NearestMeansSolution | None:
    """Minimise ‖Σ λₖ xₖ‖₁ over convex weights λ of two groups of points.

    The points x are the columns of a compressed sparse matrix [width, points], each in group 0 or 1. The
    weights of each group are non-negative and sum to one. Returns None if the solver fails.
    """
    # The import takes half a second, and only data that is not separable needs it.
    from scipy.optimize import linprog
    from scipy.sparse import csc_array, eye_array, hstack, vstack

    n = len(groups)
    coordinates = csc_array((values, indices, indptr), shape=(width, n))
    group_sums = csc_array((np.ones(n), (groups, np.arange(n))), shape=(2, n))
    slack = eye_array(width, format="csc")
    no_slack = csc_array((2, 2 * width))
    A_eq = vstack([hstack([coordinates, slack, -slack]), hstack([group_sums, no_slack])], format="csc")
    b_eq = np.concatenate([np.zeros(width), [1.0, 1.0]])
    cost = np.concatenate([np.zeros(n), np.ones(2 * width)])
    result = linprog(cost, A_eq=A_eq, b_eq=b_eq, method="highs")
    if result.x is None:
        return None
    return NearestMeansSolution(np.asarray(result.x[:n]), np.asarray(result.eqlin.marginals[:width]))
