"""Rows around their weighted means, without ever being changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.regress.matrix import Matrix
from weigh.learn.regress.problem import Problem

# Squares around a mean have lost most digits when they are this share of the squares around zero.
_BLURRED = 1e-9
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class CentredRows:
    """Rows, weights and targets around their means, which are zero without a bias.

    `cross` is how the targets pull at the features.
    """

    X: Matrix
    target: Floats
    weights: Floats | None
    mean_x: Floats
    mean_y: float
    cross: Floats
    total: float
    bias: bool

    @classmethod
    def of(cls, problem: Problem) -> CentredRows:
        """Return the rows of a problem; its offset is taken from the targets."""
        X, s, total = problem.X, problem.weights, problem.total
        y = problem.y if problem.offset is None else problem.y - problem.offset
        if not problem.bias or not total > 0:
            cross = X.transposed_times(y if s is None else s * y)
            return cls(X, y, s, np.zeros(X.width), 0.0, cross, total, problem.bias)
        ones = np.ones(X.n_rows) if s is None else s
        mean_y = float(ones @ y) / total
        both = X.transposed_times(np.column_stack([ones, ones * (y - mean_y)]))
        mean_x = both[:, 0] / total
        left = float((ones * (y - mean_y)).sum())
        return cls(X, y - mean_y, s, mean_x, mean_y, both[:, 1] - left * mean_x, total, problem.bias)

    @property
    def yy(self) -> float:
        """The squares of the targets."""
        return self.dot(self.target, self.target)

    def dot(self, a: Floats, b: Floats) -> float:
        """Return Σ sᵢ aᵢ bᵢ."""
        return float(a @ b if self.weights is None else (self.weights * a) @ b)

    def weighted(self, r: Floats) -> Floats:
        """Return sᵢ rᵢ."""
        return r if self.weights is None else self.weights * r

    def times(self, w: Floats) -> Floats:
        """Return (xᵢ − m)·w."""
        return self.X.times(w) - float(self.mean_x @ w)

    def pulls(self, r: Floats) -> Floats:
        """Return Σ sᵢ (xᵢ − m) rᵢ, feature by feature."""
        u = self.weighted(r)
        found = self.X.transposed_times(u)
        return found - float(u.sum()) * self.mean_x if self.bias else found

    def intercept(self, w: Floats) -> float:
        """Return the bias that goes with the weights."""
        return self.mean_y - float(self.mean_x @ w)

    def diagonal(self) -> Floats:
        """Return Σ sᵢ (xᵢⱼ − mⱼ)² for every feature; that of a constant one is zero, without rounding."""
        squares = self.X.squared_times(np.ones(self.X.n_rows) if self.weights is None else self.weights)
        found = squares - self.total * np.square(self.mean_x)
        for feature in np.flatnonzero(found < _BLURRED * squares):
            x = self.X.columns(np.array([feature]))[:, 0]
            # The first entry is exact, as no mean is: a constant column is zero around it.
            x = x - x[0]
            x = x - float(self.weighted(x).sum()) / self.total
            length = self.dot(x, x)
            found[feature] = length if length > np.square(8 * _EPS) * squares[feature] else 0.0
        return found
