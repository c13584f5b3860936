"""Log loss with l2 as a function of the weights: what Newton's method asks of it, and the rows in memory.

    f(W) = loss(X W) + ½ Σ l2ⱼ wⱼ²

`MatrixSurface` has the rows in this process. `folds.log_loss` has rows in partitions, where every answer is a
fold; Newton's method is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.linear.conjugate_gradient import newton_cg_step
from weigh.learn.linear.duality import dual_lower_bound, has_dual_bound
from weigh.learn.linear.losses import CrossEntropyLoss, hessian, solve_newton_system
from weigh.learn.linear.matrix import Matrix

MAX_DENSE_HESSIAN_SIZE = 2000  # unknowns up to which the Hessian is formed
ROUNDING_TOLERANCE = 1e-14  # relative to the objective: smaller changes are rounding


class Margins(NamedTuple):
    """The smallest margin of some rows, and the largest lead of a row's class."""

    smallest: float
    largest_lead: float


class Point(Protocol):
    """Weights [width, k], the intercept among them, with the objective there."""

    @property
    def W(self) -> Floats:
        """The weights."""

    @property
    def value(self) -> float:
        """The objective."""


class LossSurface(Protocol):
    """Log loss with l2; the intercept, if any, follows the `n_features` features."""

    @property
    def l2(self) -> Floats:
        """The penalty of each row of W, zero for the intercept."""

    @property
    def n_features(self) -> int:
        """Number of features without the intercept."""

    @property
    def n_outputs(self) -> int:
        """Number of score columns k."""

    @property
    def method(self) -> str:
        """How steps are computed, and what certifies the gap."""

    def point(self, W: Floats) -> Any:
        """Return the point of some weights."""

    def line(self, point: Any, step: Floats) -> Callable[[float], Any]:
        """Return the function of α that returns the point W + α · step."""

    def gradient(self, point: Any) -> Floats:
        """Return the gradient [width, k]."""

    def newton_step(self, point: Any, grad: Floats, forcing: float) -> Floats:
        """Return the Newton step, or an approximation whose residual has dropped by the factor `forcing`."""

    def gap(self, point: Any, decrement: float) -> float:
        """Return a bound on objective − minimum, or the Newton decrement where there is none."""

    def margins(self, W: Floats) -> Margins | None:
        """Return the margins of the rows under some weights; None without rows."""


class MatrixPoint:
    """A point with the scores S = X W of its rows."""

    def __init__(self, loss: CrossEntropyLoss, l2: Floats, W: Floats, S: Floats) -> None:
        self.W, self.S, self._loss = W, S, loss
        self.value = loss.value(S) + 0.5 * float((l2[:, None] * np.square(W)).sum())

    @cached_property
    def probabilities(self) -> Floats:
        """The predictions of the scores."""
        return self._loss.probabilities(self.S)


class MatrixSurface:
    """The loss of rows in memory; X includes the intercept column."""

    def __init__(self, loss: CrossEntropyLoss, X: Matrix, l2: Floats, n_features: int) -> None:
        self.loss, self.X, self.l2, self.n_features = loss, X, l2, n_features
        self.n_outputs = loss.n_outputs
        self._has_dual_bound = has_dual_bound(loss, l2)

    @property
    def _uses_dense_hessian(self) -> bool:
        return self.X.width * self.loss.n_outputs <= MAX_DENSE_HESSIAN_SIZE

    @property
    def method(self) -> str:
        """How steps are computed, and what certifies the gap."""
        return describe_method(self._uses_dense_hessian, self._has_dual_bound)

    def point(self, W: Floats) -> MatrixPoint:
        """Return the point of some weights."""
        return MatrixPoint(self.loss, self.l2, W, self.X.times(W))

    def line(self, point: MatrixPoint, step: Floats) -> Callable[[float], MatrixPoint]:
        """Return the function of α that returns the point W + α · step."""
        step_scores = self.X.times(step)

        def point_at(alpha: float) -> MatrixPoint:
            return MatrixPoint(self.loss, self.l2, point.W + alpha * step, point.S + alpha * step_scores)

        return point_at

    def gradient(self, point: MatrixPoint) -> Floats:
        """Return the gradient [width, k]."""
        score_grad = self.loss.score_gradient(point.probabilities)
        return self.X.transposed_times(score_grad) + self.l2[:, None] * point.W

    def newton_step(self, point: MatrixPoint, grad: Floats, forcing: float) -> Floats:
        """Return the Newton step, by conjugate gradients if the unknowns are many."""
        p = point.probabilities
        if self._uses_dense_hessian:
            return solve_newton_system(hessian(self.loss, self.X, self.l2, p), grad)
        loss, X, l2 = self.loss, self.X, self.l2

        def hessian_times(V: Floats) -> Floats:
            return X.transposed_times(loss.hessian_times(p, X.times(V))) + l2[:, None] * V

        pairs = (weights for a, b, _, weights in loss.hessian_blocks(p) if a == b)
        diagonal = np.stack([X.squared_times(weights) for weights in pairs], axis=1) + l2[:, None]
        return newton_cg_step(hessian_times, diagonal, grad, forcing)

    def gap(self, point: MatrixPoint, decrement: float) -> float:
        """Return a bound on objective − minimum, or the Newton decrement where there is none."""
        if not self._has_dual_bound:
            return decrement
        value = point.value
        gap = value - dual_lower_bound(self.loss, self.X, self.l2, point.probabilities)
        # A bound above the objective is invalid; then all that is certain is that the loss is non-negative.
        return gap if gap >= -ROUNDING_TOLERANCE * value else value

    def margins(self, W: Floats) -> Margins | None:
        """Return the margins of the rows under some weights; None without rows."""
        T = self.X.times(W)
        if not len(T):
            return None
        return Margins(float(self.loss.margins(T).min()), float(self.loss.leads(T).max()))


def describe_method(uses_dense_hessian: bool, has_bound: bool) -> str:
    """Return how Newton steps are computed, and what certifies the gap."""
    method = "Newton" if uses_dense_hessian else "Newton by conjugate gradients"
    return method if has_bound else f"{method}; gap estimated by the Newton decrement"
