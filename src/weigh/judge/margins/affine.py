"""The point nearest to zero in the affine hull of a few corners: two ways for two sizes.

Both keep independent corners, take in and drop some, and give the weights of the nearest point. The
weights of each group sum to one.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from weigh.features.blocks import Floats, Longs
from weigh.judge.margins.vertices import EPS, Vertices

# A corner must stand out of the hull of the others by this share of its length (its square, where
# products are all that is kept), or rounding alone would place it.
APART = 1e-13
# Weights are corrected so many times at most; a last correction beyond this says that the inverse has
# gathered too many rounding errors.
MENDED = 4
DRIFTED = 1e-13


class Affine(Protocol):
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

    def renew(self) -> None:
        """Forget gathered rounding errors."""


class ByProjection:
    """Orthogonal projection on the differences of whole corners: few features, of any scales."""

    def __init__(self, vertices: Vertices, rows: Longs) -> None:
        self.vertices, self.rows = vertices, rows
        self.corners = vertices.corners(rows)
        self.renew()

    def renew(self) -> None:
        """Find the orthogonal directions afresh."""
        group = self.vertices.group[self.rows]
        self.bases = np.unique(group, return_index=True)[1]
        self.others = np.delete(np.arange(len(group)), self.bases)
        differences = self.corners[self.others] - self.corners[self.bases[group[self.others]]]
        self.lengths = np.linalg.norm(differences, axis=1)
        self.lengths[self.lengths == 0.0] = 1.0
        self.start: Floats = self.corners[self.bases].sum(axis=0)
        self.directions = differences / self.lengths[:, None]
        self.q, self.r = np.linalg.qr(self.directions.T)

    def add(self, rows: Longs) -> bool:
        """Take in corners, or return False if they depend on the others."""
        before = self.rows, self.corners
        self.rows = np.concatenate([self.rows, rows])
        self.corners = np.concatenate([self.corners, self.vertices.corners(rows)])
        self.renew()
        wide, tall = self.r.shape[::-1]
        apart = wide == tall and bool(np.all(np.abs(np.diagonal(self.r)) > APART))
        if not apart:
            self.rows, self.corners = before
            self.renew()
        return apart

    def keep(self, staying: npt.NDArray[np.bool_]) -> None:
        """Drop all others."""
        self.rows, self.corners = self.rows[staying], self.corners[staying]
        self.renew()

    def weights(self) -> Floats:
        """Return the weights of the nearest point."""
        moves = -np.linalg.solve(self.r, self.q.T @ self.start)
        # A second solve takes away what rounding left of the first.
        moves -= np.linalg.solve(self.r, self.q.T @ (self.start + moves @ self.directions))
        group = self.vertices.group[self.rows]
        weights = np.zeros(len(group))
        weights[self.others] = moves / self.lengths
        weights[self.bases] = 1.0 - np.bincount(group, weights)
        return weights

    def point(self, weights: Floats) -> Floats:
        """Return the nearest point: what a projection leaves of any point of the hull.

        A sum of corners would keep rounding errors as large as their largest values; a repeated
        projection keeps only such as no difference of corners can see.
        """
        z = self.start
        for _ in range(3):
            z = z - self.q @ (self.q.T @ z)
        return z


class ByInverse:
    """The inverse of H = G + EEᵀ, G the products of the corners and E their groups.

    The weights are H⁻¹E(EᵀH⁻¹E)⁻¹1: many corners, each as long as a text is.
    """

    def __init__(self, vertices: Vertices, rows: Longs) -> None:
        self.vertices, self.rows = vertices, rows
        self.renew()

    def renew(self) -> None:
        """Forget gathered rounding errors."""
        lifted = self._lifted(self.rows, self.rows)
        try:
            self.inverse = np.linalg.inv(lifted)
        except np.linalg.LinAlgError:
            self.inverse = np.linalg.pinv(lifted, hermitian=True)

    def add(self, rows: Longs) -> bool:
        """Take in corners, or return False if they depend on the others."""
        side, own = self._lifted(rows, self.rows), self._lifted(rows, rows)
        solved = side @ self.inverse
        rest = own - solved @ side.T
        try:
            pivots = np.diagonal(np.linalg.cholesky(rest)) ** 2
        except np.linalg.LinAlgError:
            return False
        if np.any(pivots <= APART * np.diagonal(own)):
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
        groups = np.eye(len(self.vertices.sides))[self.vertices.group[self.rows]]
        for _ in range(2):
            columns = self.inverse @ groups
            solve = np.linalg.inv(groups.T @ columns)
            weights: Floats = columns @ solve.sum(axis=1)
            for _ in range(MENDED):
                along = self.inverse @ self.vertices.dot(self.vertices.point(self.rows, weights))[self.rows]
                change = along - columns @ (solve @ (groups.T @ along))
                weights = weights - change
                if np.abs(change).max() <= EPS:
                    break
            if np.abs(change).max() <= DRIFTED:
                break
            self.renew()
        return weights

    def point(self, weights: Floats) -> Floats:
        """Return the nearest point, given its weights."""
        return self.vertices.point(self.rows, weights)

    def _lifted(self, rows: Longs, others: Longs) -> Floats:
        group = self.vertices.group
        same: Floats = (group[rows][:, None] == group[others]).astype(np.float64)
        return self.vertices.gram(rows, others) + same
