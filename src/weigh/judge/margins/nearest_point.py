"""The point of a convex hull that is nearest to zero, with a proved interval for its distance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weigh.features.blocks import Floats
from weigh.judge.margins.corral import Corral
from weigh.judge.margins.vertices import Vertices
from weigh.judge.verifying.rounding import at_least, at_most

# Below this share of the longest corner a point is taken for zero: a linear program must decide.
TOUCHING = 1e-10
# Steps in a row that may change nothing: near the end, rounding hides how much nearer a step comes.
PATIENCE = 10
FEW = 20


@dataclass(frozen=True, eq=False)
class NearestPoint:
    """What was found: the distance from zero lies between `lower` and `upper`.

    `plane` is the direction whose smallest products with the corners prove `lower` (which is not
    positive where none was found); the convex combination `weights` of the corners proves `upper`.
    """

    lower: float
    upper: float
    plane: Floats
    weights: Floats
    iterations: int


def nearest_point(vertices: Vertices, tol: float = 1e-9, max_iter: int = 10_000) -> NearestPoint:
    """Find the convex combination of the corners (one per group, added) of smallest norm.

    Wolfe's method: a few corners carry the point, as the nearest one of their affine hull; a corner
    beyond the plane through it joins, and corners whose weights would become negative leave. It ends
    when the plane through the point leaves no room: ‖z‖² − Σ min v_i·z ≤ tol·‖z‖².
    """
    corral = Corral(vertices)
    best, plane = -np.inf, np.zeros(vertices.width)
    nearest, stalls, iteration = np.inf, 0, 0
    while True:
        z, square = corral.z, float(corral.z @ corral.z)
        if square <= (TOUCHING * vertices.lengths.max(initial=0.0)) ** 2:
            break
        scores = vertices.dot(z)
        lower = sum(vertices.least(scores)) / np.sqrt(square)
        stalls = 0 if lower > best or square < nearest else stalls + 1
        nearest = min(nearest, square)
        if lower > best:
            best, plane = lower, z
        iteration += 1
        violators = corral.violators(scores)
        open_by = square - np.sqrt(square) * lower
        if open_by <= tol * square or iteration > max_iter or stalls > PATIENCE or not len(violators):
            break
        if stalls:
            corral.hull.renew()
        # Many at a time, where many carry the point; one at a time cannot fail to come nearer.
        corral.join(violators[: 1 if stalls or len(corral) <= FEW else len(corral) // 4])
    return _proved(vertices, corral, plane, iteration)


def _proved(vertices: Vertices, corral: Corral, plane: Floats, iterations: int) -> NearestPoint:
    """The interval with its rounding errors taken against us."""
    weights = np.zeros(vertices.n)
    weights[corral.hull.rows] = corral.weights
    lower = sum(vertices.least(at_least(vertices, plane))) if plane.any() else -math.inf
    return NearestPoint(lower, at_most(vertices, weights), plane, weights, iterations)
