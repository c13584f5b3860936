"""The point nearest to zero in the affine hull of a few corners: two ways for two sizes.

Both keep independent corners, take in and drop some, and give the weights of the nearest point. The
weights of each group sum to one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from weigh.features.blocks import Floats, Longs
from weigh.judge.margins.convex_hulls import (
    FLOAT64_EPSILON,
    HullVertices,
    norm_upper_bound,
    product_lower_bounds,
)

# A corner must stand out of the hull of the others by this share of its length (its square, where
# products are all that is kept), or rounding alone would place it.
INDEPENDENCE_TOLERANCE = 1e-13
# Weights are corrected so many times at most; a last correction beyond this says that the inverse has
# gathered too many rounding errors.
MAX_CORRECTIONS = 4
DRIFT_TOLERANCE = 1e-13


class AffineHull(Protocol):
    """What a corral needs to know of the affine hull of its corners."""

    rows: Longs

    def add(self, rows: Longs) -> bool:
        """Take in corners, or return False if they depend on the others."""

    def keep(self, staying: npt.NDArray[np.bool_]) -> None:
        """Drop all others."""

    def weights(self) -> Floats:
        """Return the weights of the nearest point."""

    def point(self, weights: Floats) -> Floats:
        """Return the nearest point, given its weights."""

    def recompute(self) -> None:
        """Forget gathered rounding errors."""


class ProjectionHull:
    """Orthogonal projection on the differences of whole corners: few features, of any scales."""

    def __init__(self, vertices: HullVertices, rows: Longs) -> None:
        self.vertices, self.rows = vertices, rows
        self.dense_vertices = vertices.dense_rows(rows)
        self.recompute()

    def recompute(self) -> None:
        """Find the orthogonal directions afresh."""
        group = self.vertices.group[self.rows]
        self.bases = np.unique(group, return_index=True)[1]
        self.nonbases = np.delete(np.arange(len(group)), self.bases)
        differences = (
            self.dense_vertices[self.nonbases] - self.dense_vertices[self.bases[group[self.nonbases]]]
        )
        self.difference_norms = np.linalg.norm(differences, axis=1)
        self.difference_norms[self.difference_norms == 0.0] = 1.0
        self.base_point: Floats = self.dense_vertices[self.bases].sum(axis=0)
        self.directions = differences / self.difference_norms[:, None]
        self.q, self.r = np.linalg.qr(self.directions.T)

    def add(self, rows: Longs) -> bool:
        """Take in corners, or return False if they depend on the others."""
        before = self.rows, self.dense_vertices
        self.rows = np.concatenate([self.rows, rows])
        self.dense_vertices = np.concatenate([self.dense_vertices, self.vertices.dense_rows(rows)])
        self.recompute()
        wide, tall = self.r.shape[::-1]
        apart = wide == tall and bool(np.all(np.abs(np.diagonal(self.r)) > INDEPENDENCE_TOLERANCE))
        if not apart:
            self.rows, self.dense_vertices = before
            self.recompute()
        return apart

    def keep(self, staying: npt.NDArray[np.bool_]) -> None:
        """Drop all others."""
        self.rows, self.dense_vertices = self.rows[staying], self.dense_vertices[staying]
        self.recompute()

    def weights(self) -> Floats:
        """Return the weights of the nearest point."""
        moves = -np.linalg.solve(self.r, self.q.T @ self.base_point)
        # A second solve takes away what rounding left of the first.
        moves -= np.linalg.solve(self.r, self.q.T @ (self.base_point + moves @ self.directions))
        group = self.vertices.group[self.rows]
        weights = np.zeros(len(group))
        weights[self.nonbases] = moves / self.difference_norms
        weights[self.bases] = 1.0 - np.bincount(group, weights)
        return weights

    def point(self, weights: Floats) -> Floats:
        """Return the nearest point: what a projection leaves of any point of the hull.

        A sum of corners would keep rounding errors as large as their largest values; a repeated
        projection keeps only such as no difference of corners can see.
        """
        z = self.base_point
        for _ in range(3):
            z = z - self.q @ (self.q.T @ z)
        return z


class InverseHull:
    """The inverse of H = G + EEᵀ, G the products of the corners and E their groups.

    The weights are H⁻¹E(EᵀH⁻¹E)⁻¹1: many corners, each as long as a text is.
    """

    def __init__(self, vertices: HullVertices, rows: Longs) -> None:
        self.vertices, self.rows = vertices, rows
        self.recompute()

    def recompute(self) -> None:
        """Forget gathered rounding errors."""
        lifted = self._augmented_gram(self.rows, self.rows)
        try:
            self.inverse = np.linalg.inv(lifted)
        except np.linalg.LinAlgError:
            self.inverse = np.linalg.pinv(lifted, hermitian=True)

    def add(self, rows: Longs) -> bool:
        """Take in corners, or return False if they depend on the others."""
        side, own = self._augmented_gram(rows, self.rows), self._augmented_gram(rows, rows)
        solved = side @ self.inverse
        rest = own - solved @ side.T
        try:
            pivots = np.diagonal(np.linalg.cholesky(rest)) ** 2
        except np.linalg.LinAlgError:
            return False
        if np.any(pivots <= INDEPENDENCE_TOLERANCE * np.diagonal(own)):
            return False
        inner = np.linalg.inv(rest)
        cross = inner @ solved
        self.inverse = np.block([[self.inverse + solved.T @ cross, -cross.T], [-cross, inner]])
        self.rows = np.concatenate([self.rows, rows])
        return True

    def keep(self, staying: npt.NDArray[np.bool_]) -> None:
        """Drop all others."""
        cross = self.inverse[np.ix_(staying, ~staying)]
        inner = np.linalg.pinv(self.inverse[np.ix_(~staying, ~staying)], hermitian=True)
        self.inverse = self.inverse[np.ix_(staying, staying)] - cross @ inner @ cross.T
        self.rows = self.rows[staying]

    def weights(self) -> Floats:
        """Return the weights of the nearest point, mended by what its own products say."""
        groups = np.eye(len(self.vertices.group_members))[self.vertices.group[self.rows]]
        for _ in range(2):
            columns = self.inverse @ groups
            solve = np.linalg.inv(groups.T @ columns)
            weights: Floats = columns @ solve.sum(axis=1)
            for _ in range(MAX_CORRECTIONS):
                along = (
                    self.inverse
                    @ self.vertices.dot(self.vertices.combine_rows(self.rows, weights))[self.rows]
                )
                change = along - columns @ (solve @ (groups.T @ along))
                weights = weights - change
                if np.abs(change).max() <= FLOAT64_EPSILON:
                    break
            if np.abs(change).max() <= DRIFT_TOLERANCE:
                break
            self.recompute()
        return weights

    def point(self, weights: Floats) -> Floats:
        """Return the nearest point, given its weights."""
        return self.vertices.combine_rows(self.rows, weights)

    def _augmented_gram(self, rows: Longs, others: Longs) -> Floats:
        group = self.vertices.group
        same: Floats = (group[rows][:, None] == group[others]).astype(np.float64)
        return self.vertices.gram(rows, others) + same


# Up to so many features corners are kept whole.
MAX_PROJECTION_FEATURES = 200


class Corral:
    """Independent corners with positive weights, whose point is the nearest of their affine hull."""

    def __init__(self, vertices: HullVertices) -> None:
        self.vertices = vertices
        even = np.zeros(vertices.n_vertices)
        for side in vertices.group_members:
            even[side] = 1.0 / len(side)
        scores = vertices.dot(vertices.combine(even))
        rows: Longs = np.array(
            [side[scores[side].argmin()] for side in vertices.group_members], dtype=np.int64
        )
        make = ProjectionHull if vertices.width <= MAX_PROJECTION_FEATURES else InverseHull
        self.hull: AffineHull = make(vertices, rows)
        self.weights = np.ones(len(rows))
        self.z = self.hull.point(self.weights)

    def __len__(self) -> int:
        return len(self.hull.rows)

    def violators(self, scores: Floats) -> Longs:
        """Return the corners beyond the planes through the point, the farthest first."""
        rows = self.hull.rows
        beyond = np.zeros(self.vertices.n_vertices)
        slack = 4 * FLOAT64_EPSILON * self.vertices.norms * np.linalg.norm(self.z)
        groups = self.vertices.group[rows]
        for g, side in enumerate(self.vertices.group_members):
            mine = groups == g
            level = float(self.weights[mine] @ scores[rows[mine]])
            beyond[side] = np.maximum(level - scores[side] - slack[side], 0.0)
        beyond[rows] = 0.0
        found = np.flatnonzero(beyond)
        return found[np.argsort(-beyond[found], kind="stable")]

    def join(self, rows: Longs) -> None:
        """Take in corners, then move to the nearest point and drop what stands in the way."""
        if self.hull.add(rows) or (len(rows) > 1 and self.hull.add(rows[:1])):
            self.weights = np.concatenate([self.weights, np.zeros(len(self) - len(self.weights))])
        while True:
            target = self._normalise_weights(self.hull.weights())
            falling = target <= FLOAT64_EPSILON
            if not falling.any():
                self.weights = target
                break
            # A newcomer that wants to fall at once leaves without a step.
            room = self.weights[falling] / np.maximum(
                self.weights[falling] - target[falling], FLOAT64_EPSILON**2
            )
            step = min(1.0, float(room.min()))
            self.weights = np.maximum(self.weights + step * (target - self.weights), 0.0)
            leaving = falling & (self.weights <= FLOAT64_EPSILON)
            leaving[np.flatnonzero(falling)[room.argmin()]] = True
            self.hull.keep(~leaving)
            self.weights = self._normalise_weights(self.weights[~leaving])
        self.z = self.hull.point(self.weights)

    def _normalise_weights(self, weights: Floats) -> Floats:
        """The weights, those of each group summing to one."""
        group = self.vertices.group[self.hull.rows]
        return weights / np.bincount(group, weights)[group]


# Below this share of the longest corner a point is taken for zero: a linear program must decide.
ZERO_TOLERANCE = 1e-10
# Steps in a row that may change nothing: near the end, rounding hides how much nearer a step comes.
MAX_STALLED_STEPS = 10
MAX_SINGLE_STEP_SIZE = 20


@dataclass(frozen=True, eq=False)
class MinimumNormPoint:
    """What was found: the distance from zero lies between `lower` and `upper`.

    `plane` is the direction whose smallest products with the corners prove `lower` (which is not
    positive where none was found); the convex combination `weights` of the corners proves `upper`.
    """

    lower: float
    upper: float
    direction: Floats
    weights: Floats
    iterations: int


def minimum_norm_point(vertices: HullVertices, tol: float = 1e-9, max_iter: int = 10_000) -> MinimumNormPoint:
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
        if square <= (ZERO_TOLERANCE * vertices.norms.max(initial=0.0)) ** 2:
            break
        scores = vertices.dot(z)
        lower = sum(vertices.group_minima(scores)) / np.sqrt(square)
        stalls = 0 if lower > best or square < nearest else stalls + 1
        nearest = min(nearest, square)
        if lower > best:
            best, plane = lower, z
        iteration += 1
        violators = corral.violators(scores)
        open_by = square - np.sqrt(square) * lower
        if (
            open_by <= tol * square
            or iteration > max_iter
            or stalls > MAX_STALLED_STEPS
            or not len(violators)
        ):
            break
        if stalls:
            corral.hull.recompute()
        # Many at a time, where many carry the point; one at a time cannot fail to come nearer.
        corral.join(violators[: 1 if stalls or len(corral) <= MAX_SINGLE_STEP_SIZE else len(corral) // 4])
    return _certify(vertices, corral, plane, iteration)


def _certify(vertices: HullVertices, corral: Corral, plane: Floats, iterations: int) -> MinimumNormPoint:
    """The interval with its rounding errors taken against us."""
    weights = np.zeros(vertices.n_vertices)
    weights[corral.hull.rows] = corral.weights
    lower = sum(vertices.group_minima(product_lower_bounds(vertices, plane))) if plane.any() else -math.inf
    return MinimumNormPoint(lower, norm_upper_bound(vertices, weights), plane, weights, iterations)
