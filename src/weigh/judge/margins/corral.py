"""The few corners that carry the nearest point of a hull, and their weights."""

from __future__ import annotations

import numpy as np

from weigh.features.blocks import Floats, Longs
from weigh.judge.margins.affine import Affine, ByInverse, ByProjection
from weigh.judge.margins.vertices import EPS, Vertices

# Up to so many features corners are kept whole.
NARROW = 200


class Corral:
    """Independent corners with positive weights, whose point is the nearest of their affine hull."""

    def __init__(self, vertices: Vertices) -> None:
        self.vertices = vertices
        even = np.zeros(vertices.n)
        for side in vertices.sides:
            even[side] = 1.0 / len(side)
        scores = vertices.dot(vertices.combine(even))
        rows: Longs = np.array([side[scores[side].argmin()] for side in vertices.sides], dtype=np.int64)
        make = ByProjection if vertices.width <= NARROW else ByInverse
        self.hull: Affine = make(vertices, rows)
        self.weights = np.ones(len(rows))
        self.z = self.hull.point(self.weights)

    def __len__(self) -> int:
        return len(self.hull.rows)

    def violators(self, scores: Floats) -> Longs:
        """Return the corners beyond the planes through the point, the farthest first."""
        rows = self.hull.rows
        beyond = np.zeros(self.vertices.n)
        slack = 4 * EPS * self.vertices.lengths * np.linalg.norm(self.z)
        groups = self.vertices.group[rows]
        for g, side in enumerate(self.vertices.sides):
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
            target = self._even(self.hull.weights())
            falling = target <= EPS
            if not falling.any():
                self.weights = target
                break
            # A newcomer that wants to fall at once leaves without a step.
            room = self.weights[falling] / np.maximum(self.weights[falling] - target[falling], EPS**2)
            step = min(1.0, float(room.min()))
            self.weights = np.maximum(self.weights + step * (target - self.weights), 0.0)
            leaving = falling & (self.weights <= EPS)
            leaving[np.flatnonzero(falling)[room.argmin()]] = True
            self.hull.keep(~leaving)
            self.weights = self._even(self.weights[~leaving])
        self.z = self.hull.point(self.weights)

    def _even(self, weights: Floats) -> Floats:
        """The weights, those of each group summing to one."""
        group = self.vertices.group[self.hull.rows]
        return weights / np.bincount(group, weights)[group]
