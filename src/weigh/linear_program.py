"""Linear programs: the only place that asks scipy to solve one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class NearestMeansSolution(NamedTuple):
    """Weights of the points of two groups, and the price of each coordinate."""

    weights: Floats
    dual_prices: Floats


def solve_nearest_means(
    values: Floats,
    indices: NDArray[np.int64],
    indptr: NDArray[np.int64],
    width: int,
    points: NDArray[np.int64],
    groups: NDArray[np.int64],
) -> NearestMeansSolution | None:
    """Return convex weights of two groups of points that bring the sum of both nearest to zero.

    Point k has the given values at the given coordinates; those of `points` take part, each in the
    group 0 or 1, whose weights sum to one. Minimises Σ|coordinates of the sum|.
    """
    # Half a second that only rows without a plane should cost.
    from scipy.optimize import linprog
    from scipy.sparse import csc_array, eye_array, hstack, vstack

    n = len(points)
    table = csc_array((values, indices, indptr), shape=(width, len(indptr) - 1))[:, points]
    sums = csc_array((np.ones(n), (groups, np.arange(n))), shape=(2, n))
    slack = eye_array(width, format="csc")
    blank = csc_array((2, 2 * width))
    equations = vstack([hstack([table, slack, -slack]), hstack([sums, blank])], format="csc")
    cost = np.concatenate([np.zeros(n), np.ones(2 * width)])
    wanted = np.concatenate([np.zeros(width), [1.0, 1.0]])
    found = linprog(cost, A_eq=equations, b_eq=wanted, method="highs")
    if found.x is None:
        return None
    return NearestMeansSolution(np.asarray(found.x[:n]), np.asarray(found.eqlin.marginals[:width]))
