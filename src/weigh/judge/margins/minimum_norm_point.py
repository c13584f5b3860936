"""The minimum-norm point of a convex hull, or of the difference of two, by Wolfe's algorithm (1976).

A corral is an affinely independent set of vertices whose minimum-norm point has positive weights. The point
of its affine hull comes from a QR factorisation (few features) or from an updated inverse (many features).
The weights of each group sum to one.
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

MAX_PROJECTION_FEATURES = 200  # with more features vertices are too long to store densely
# A vertex must lie outside the affine hull of the others by this share of its norm (of its squared norm for
# `InverseHull`); below that its position is rounding error.
INDEPENDENCE_TOLERANCE = 1e-13
# For iterative refinement; if the last correction exceeds the tolerance, the inverse is recomputed.
MAX_CORRECTIONS = 4
DRIFT_TOLERANCE = 1e-13
# Relative to the longest vertex. A shorter point counts as zero, and a linear program decides separability.
ZERO_TOLERANCE = 1e-10
# Consecutive iterations without progress: near the optimum, rounding hides small decreases.
MAX_STALLED_STEPS = 10
MAX_SINGLE_STEP_SIZE = 20  # larger corrals add several vertices at once


@dataclass(frozen=True, eq=False)
class MinimumNormPoint:
    """A certified interval [lower, upper] of the distance from zero.

    The smallest products of `direction` with the vertices prove `lower` (which is not positive if no
    separating direction was found); the convex combination `weights` of the vertices proves `upper`.
    """

    lower: float
    upper: float
    direction: Floats
    weights: Floats
    iterations: int


def minimum_norm_point(vertices: HullVertices, tol: float = 1e-9, max_iter: int = 10_000) -> MinimumNormPoint:
    """Find the smallest ‖z‖, where z is the sum of one convex combination of the vertices per group.

    Each iteration adds vertices that violate optimality, v·z below the level of their group, and drops those
    whose weights would become negative. Stops when the gap ‖z‖² − Σ min v_i·z is at most tol·‖z‖², after
    `max_iter` iterations, or without progress.
    """
    corral = Corral(vertices)
    best_lower, direction = -np.inf, np.zeros(vertices.width)
    min_square, stalls, iteration = np.inf, 0, 0
    while True:
        z, square = corral.z, float(corral.z @ corral.z)
        if square <= (ZERO_TOLERANCE * vertices.norms.max(initial=0.0)) ** 2:
            break
        scores = vertices.dot(z)
        lower = sum(vertices.group_minima(scores)) / np.sqrt(square)
        stalls = 0 if lower > best_lower or square < min_square else stalls + 1
        min_square = min(min_square, square)
        if lower > best_lower:
            best_lower, direction = lower, z
        iteration += 1
        violators = corral.violators(scores)
        is_optimal = square - np.sqrt(square) * lower <= tol * square or not len(violators)
        if is_optimal or iteration > max_iter or stalls > MAX_STALLED_STEPS:
            break
        if stalls:
            corral.hull.recompute()
        # Adding several vertices saves iterations of a large corral; adding one guarantees a decrease.
        is_single = stalls or len(corral) <= MAX_SINGLE_STEP_SIZE
        corral.add_vertices(violators[: 1 if is_single else len(corral) // 4])
    return _certify(vertices, corral, direction, iteration)


def _certify(vertices: HullVertices, corral: Corral, direction: Floats, iterations: int) -> MinimumNormPoint:
    """Return the interval, widened by its rounding errors."""
    weights = np.zeros(vertices.n_vertices)
    weights[corral.hull.rows] = corral.weights
    lower = -math.inf
    if direction.any():
        lower = sum(vertices.group_minima(product_lower_bounds(vertices, direction)))
    return MinimumNormPoint(lower, norm_upper_bound(vertices, weights), direction, weights, iterations)


class Corral:
    """Affinely independent vertices with positive weights, at the minimum-norm point of their affine hull."""

    def __init__(self, vertices: HullVertices) -> None:
        self.vertices = vertices
        uniform = np.zeros(vertices.n_vertices)
        for members in vertices.group_members:
            uniform[members] = 1.0 / len(members)
        scores = vertices.dot(vertices.combine(uniform))
        rows: Longs = np.array(
            [members[scores[members].argmin()] for members in vertices.group_members], dtype=np.int64
        )
        hull_class = ProjectionHull if vertices.width <= MAX_PROJECTION_FEATURES else InverseHull
        self.hull: AffineHull = hull_class(vertices, rows)
        self.weights = np.ones(len(rows))
        self.z = self.hull.point(self.weights)

    def __len__(self) -> int:
        return len(self.hull.rows)

    def violators(self, scores: Floats) -> Longs:
        """Return the vertices whose score v·z is below the level of their group, worst first."""
        rows = self.hull.rows
        violation = np.zeros(self.vertices.n_vertices)
        rounding = 4 * FLOAT64_EPSILON * self.vertices.norms * np.linalg.norm(self.z)
        groups = self.vertices.group[rows]
        for g, members in enumerate(self.vertices.group_members):
            in_group = groups == g
            level = float(self.weights[in_group] @ scores[rows[in_group]])
            violation[members] = np.maximum(level - scores[members] - rounding[members], 0.0)
        violation[rows] = 0.0
        violators = np.flatnonzero(violation)
        return violators[np.argsort(-violation[violators], kind="stable")]

    def add_vertices(self, rows: Longs) -> None:
        """Add vertices, then move to the minimum-norm point, dropping vertices whose weights reach zero."""
        if self.hull.add(rows) or (len(rows) > 1 and self.hull.add(rows[:1])):
            self.weights = np.concatenate([self.weights, np.zeros(len(self) - len(self.weights))])
        while True:
            target = self._normalise_weights(self.hull.weights())
            blocking = target <= FLOAT64_EPSILON
            if not blocking.any():
                self.weights = target
                break
            # The step ratio is zero for a new vertex whose weight would decrease: it is dropped at once.
            decrease = np.maximum(self.weights[blocking] - target[blocking], FLOAT64_EPSILON**2)
            ratio = self.weights[blocking] / decrease
            step = min(1.0, float(ratio.min()))
            self.weights = np.maximum(self.weights + step * (target - self.weights), 0.0)
            dropped = blocking & (self.weights <= FLOAT64_EPSILON)
            dropped[np.flatnonzero(blocking)[ratio.argmin()]] = True
            self.hull.keep(~dropped)
            self.weights = self._normalise_weights(self.weights[~dropped])
        self.z = self.hull.point(self.weights)

    def _normalise_weights(self, weights: Floats) -> Floats:
        """Scale the weights of each group to sum to one."""
        group = self.vertices.group[self.hull.rows]
        return weights / np.bincount(group, weights)[group]


class AffineHull(Protocol):
    """The affine hull of a corral's vertices."""

    rows: Longs

    def add(self, rows: Longs) -> bool:
        """Add vertices; return False, without adding them, if they are affinely dependent."""

    def keep(self, mask: npt.NDArray[np.bool_]) -> None:
        """Drop the vertices outside the mask."""

    def weights(self) -> Floats:
        """Return the weights of the minimum-norm point."""

    def point(self, weights: Floats) -> Floats:
        """Return the minimum-norm point, given its weights."""

    def recompute(self) -> None:
        """Recompute the factorisation, to remove accumulated rounding errors."""


class ProjectionHull:
    """Minimum-norm point by QR factorisation of vertex differences: few features, of any scales."""

    def __init__(self, vertices: HullVertices, rows: Longs) -> None:
        self.vertices, self.rows = vertices, rows
        self.dense_vertices = vertices.dense_rows(rows)
        self.recompute()

    def recompute(self) -> None:
        """Recompute the QR factorisation."""
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
        """Add vertices; return False, without adding them, if they are affinely dependent."""
        old = self.rows, self.dense_vertices
        self.rows = np.concatenate([self.rows, rows])
        self.dense_vertices = np.concatenate([self.dense_vertices, self.vertices.dense_rows(rows)])
        self.recompute()
        is_square = self.r.shape[0] == self.r.shape[1]
        is_independent = is_square and bool(np.all(np.abs(np.diagonal(self.r)) > INDEPENDENCE_TOLERANCE))
        if not is_independent:
            self.rows, self.dense_vertices = old
            self.recompute()
        return is_independent

    def keep(self, mask: npt.NDArray[np.bool_]) -> None:
        """Drop the vertices outside the mask."""
        self.rows, self.dense_vertices = self.rows[mask], self.dense_vertices[mask]
        self.recompute()

    def weights(self) -> Floats:
        """Return the weights of the minimum-norm point, with one step of iterative refinement."""
        moves = -np.linalg.solve(self.r, self.q.T @ self.base_point)
        moves -= np.linalg.solve(self.r, self.q.T @ (self.base_point + moves @ self.directions))
        group = self.vertices.group[self.rows]
        weights = np.zeros(len(group))
        weights[self.nonbases] = moves / self.difference_norms
        weights[self.bases] = 1.0 - np.bincount(group, weights)
        return weights

    def point(self, weights: Floats) -> Floats:
        """Return the minimum-norm point: a point of the hull projected orthogonally to the directions.

        A sum of vertices would have rounding errors relative to their largest values; repeated projection
        removes all errors along the directions.
        """
        z = self.base_point
        for _ in range(3):
            z = z - self.q @ (self.q.T @ z)
        return z


class InverseHull:
    """Minimum-norm point by the inverse of H = G + EEᵀ, G the Gram matrix and E the one-hot groups.

    The weights are H⁻¹E(EᵀH⁻¹E)⁻¹1. For many features, such as those of text.
    """

    def __init__(self, vertices: HullVertices, rows: Longs) -> None:
        self.vertices, self.rows = vertices, rows
        self.recompute()

    def recompute(self) -> None:
        """Recompute the inverse, to remove accumulated rounding errors."""
        H = self._augmented_gram(self.rows, self.rows)
        try:
            self.inverse = np.linalg.inv(H)
        except np.linalg.LinAlgError:
            self.inverse = np.linalg.pinv(H, hermitian=True)

    def add(self, rows: Longs) -> bool:
        """Add vertices; return False, without adding them, if they are affinely dependent."""
        border, block = self._augmented_gram(rows, self.rows), self._augmented_gram(rows, rows)
        solved = border @ self.inverse
        schur = block - solved @ border.T
        try:
            pivots = np.diagonal(np.linalg.cholesky(schur)) ** 2
        except np.linalg.LinAlgError:
            return False
        if np.any(pivots <= INDEPENDENCE_TOLERANCE * np.diagonal(block)):
            return False
        inner = np.linalg.inv(schur)
        cross = inner @ solved
        self.inverse = np.block([[self.inverse + solved.T @ cross, -cross.T], [-cross, inner]])
        self.rows = np.concatenate([self.rows, rows])
        return True

    def keep(self, mask: npt.NDArray[np.bool_]) -> None:
        """Drop the vertices outside the mask."""
        cross = self.inverse[np.ix_(mask, ~mask)]
        inner = np.linalg.pinv(self.inverse[np.ix_(~mask, ~mask)], hermitian=True)
        self.inverse = self.inverse[np.ix_(mask, mask)] - cross @ inner @ cross.T
        self.rows = self.rows[mask]

    def weights(self) -> Floats:
        """Return the weights of the minimum-norm point, with iterative refinement."""
        groups = np.eye(len(self.vertices.group_members))[self.vertices.group[self.rows]]
        for _ in range(2):
            columns = self.inverse @ groups
            group_inverse = np.linalg.inv(groups.T @ columns)
            weights: Floats = columns @ group_inverse.sum(axis=1)
            for _ in range(MAX_CORRECTIONS):
                point = self.vertices.combine_rows(self.rows, weights)
                solved = self.inverse @ self.vertices.dot(point)[self.rows]
                correction = solved - columns @ (group_inverse @ (groups.T @ solved))
                weights = weights - correction
                if np.abs(correction).max() <= FLOAT64_EPSILON:
                    break
            if np.abs(correction).max() <= DRIFT_TOLERANCE:
                break
            self.recompute()
        return weights

    def point(self, weights: Floats) -> Floats:
        """Return the minimum-norm point, given its weights."""
        return self.vertices.combine_rows(self.rows, weights)

    def _augmented_gram(self, rows: Longs, others: Longs) -> Floats:
        group = self.vertices.group
        same_group: Floats = (group[rows][:, None] == group[others]).astype(np.float64)
        return self.vertices.gram(rows, others) + same_group
