"""Log loss of two classes and of several, and the Newton system of loss and l2 penalty.

A loss takes scores S [n, k] without the problem's offset, which it adds. Two classes have one column, the
log-odds of the second class; more classes have one column each. For a row with probabilities p, target y
(0 or 1, or one-hot) and weight s, the gradient with respect to the scores is s (p − y), the Hessian is
s (diag p − p pᵀ), and the convex conjugate at that gradient is s Σ p log p.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats
from weigh.learn.linear.matrix import Matrix


class Targets(Protocol):
    """What a loss needs of a problem: targets [n], row weights [n] and the offset of the scores, if any."""

    @property
    def y(self) -> Floats:
        """The targets."""

    @property
    def weights(self) -> Floats | None:
        """The row weights; None if all are 1."""

    @property
    def offset(self) -> Floats | None:
        """What is added to the scores; None if nothing."""


class ScoreLoss(Protocol):
    """Value and derivatives of a convex loss of scores S [n, k]; p are the predictions of the scores."""

    @property
    def n_outputs(self) -> int:
        """Number of score columns k."""

    @property
    def weights(self) -> Floats:
        """Row weights [n, 1]."""

    def value(self, S: Floats) -> float:
        """Return the weighted sum of the rows' losses."""

    def row_values(self, S: Floats) -> Floats:
        """Return the unweighted loss of every row."""

    def probabilities(self, S: Floats) -> Floats:
        """Return the predictions [n, k]: probabilities, or the scores themselves for squared loss."""

    def score_gradient(self, p: Floats) -> Floats:
        """Return the gradient s (p − y) with respect to the scores [n, k]."""

    def hessian_times(self, p: Floats, V: Floats) -> Floats:
        """Return the Hessian with respect to the scores times V [n, k]."""


class CrossEntropyLoss(ScoreLoss, Protocol):
    """A log loss, with the conjugate and the margins that its solvers need."""

    def hessian_blocks(self, p: Floats) -> Iterator[tuple[int, int, float, Floats]]:
        """Yield the Hessian by pairs of columns: both columns, a sign, and row weights ≥ 0."""

    def dual_value(self, p: Floats) -> float:
        """Return the rows' part of the dual objective, minus the conjugate."""

    def margins(self, T: Floats) -> Floats:
        """Return each row's margin: the score of its class above the best other one, without offset."""

    def leads(self, T: Floats) -> Floats:
        """Return the score of each row's class above the worst other one, without offset."""


class LogisticLoss:
    """Log loss of two classes, log(1 + eᶻ) − y z."""

    n_outputs = 1

    def __init__(self, problem: Targets) -> None:
        self.y = problem.y[:, None]
        self.weights = _as_column(problem.weights, 1.0, problem)
        self.offset = _as_column(problem.offset, 0.0, problem)

    def value(self, S: Floats) -> float:
        """Return the weighted sum of the rows' losses."""
        return float((self.weights[:, 0] * self.row_values(S)).sum())

    def row_values(self, S: Floats) -> Floats:
        """Return the unweighted loss of every row."""
        Z = S + self.offset
        # Computed from the margin, because log(1 + eᶻ) − y z cancels where the loss is small.
        margins = np.where(self.y > 0, Z, -Z)
        return np.asarray(np.log1p(np.exp(-np.abs(margins))) - np.minimum(margins, 0))[:, 0]

    def probabilities(self, S: Floats) -> Floats:
        """Return the predicted probabilities [n, k]."""
        Z = S + self.offset
        e = np.exp(-np.abs(Z))
        return np.asarray(np.where(Z >= 0, 1.0, e) / (1 + e))

    def score_gradient(self, p: Floats) -> Floats:
        """Return the gradient s (p − y) with respect to the scores [n, k]."""
        return np.asarray(self.weights * (p - self.y))

    def hessian_times(self, p: Floats, V: Floats) -> Floats:
        """Return the Hessian with respect to the scores times V [n, k]."""
        return np.asarray(self.weights * p * (1 - p) * V)

    def hessian_blocks(self, p: Floats) -> Iterator[tuple[int, int, float, Floats]]:
        """Yield the Hessian by pairs of columns: both columns, a sign, and row weights ≥ 0."""
        yield 0, 0, 1.0, (self.weights * p * (1 - p))[:, 0]

    def dual_value(self, p: Floats) -> float:
        """Return the rows' part of the dual objective, minus the conjugate."""
        entropy = _xlogx(p) + _xlogx(1 - p)
        return float((self.score_gradient(p) * self.offset - self.weights * entropy).sum())

    def margins(self, T: Floats) -> Floats:
        """Return each row's margin: the score of its class above the best other one, without offset."""
        return np.where(self.y > 0, T, -T)[:, 0]

    def leads(self, T: Floats) -> Floats:
        """Return the score of each row's class above the worst other one, without offset."""
        return self.margins(T)


class SoftmaxLoss:
    """Log loss of several classes, log Σ exp(zₖ) − z_y."""

    def __init__(self, problem: Targets, n_classes: int) -> None:
        self.n_outputs = n_classes
        self.y = problem.y.astype(np.int64)
        self.weights = _as_column(problem.weights, 1.0, problem)
        self.offset = _as_column(problem.offset, 0.0, problem)
        self._true_class = (np.arange(len(self.y)), self.y)

    def value(self, S: Floats) -> float:
        """Return the weighted sum of the rows' losses."""
        return float((self.weights[:, 0] * self.row_values(S)).sum())

    def row_values(self, S: Floats) -> Floats:
        """Return the unweighted loss of every row."""
        Z = S + self.offset
        Z = Z - Z[self._true_class][:, None]
        top = Z.max(axis=1)
        log_sums = top + np.log(np.exp(Z - top[:, None]).sum(axis=1))
        # Where the true class has the largest score, log1p keeps the digits of a small loss.
        is_correct = top == 0
        Z[self._true_class] = -np.inf
        log_sums[is_correct] = np.log1p(np.exp(Z[is_correct]).sum(axis=1))
        return np.asarray(log_sums)

    def probabilities(self, S: Floats) -> Floats:
        """Return the predicted probabilities [n, k]."""
        Z = S + self.offset
        p = np.exp(Z - Z.max(axis=1, keepdims=True))
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def score_gradient(self, p: Floats) -> Floats:
        """Return the gradient s (p − y) with respect to the scores [n, k]."""
        grad = p.copy()
        grad[self._true_class] -= 1
        return np.asarray(self.weights * grad)

    def hessian_times(self, p: Floats, V: Floats) -> Floats:
        """Return the Hessian with respect to the scores times V [n, k]."""
        return np.asarray(self.weights * p * (V - (p * V).sum(axis=1, keepdims=True)))

    def hessian_blocks(self, p: Floats) -> Iterator[tuple[int, int, float, Floats]]:
        """Yield the Hessian by pairs of columns: both columns, a sign, and row weights ≥ 0."""
        weighted = self.weights * p
        for a in range(self.n_outputs):
            yield a, a, 1.0, weighted[:, a] * (1 - p[:, a])
            for b in range(a):
                yield a, b, -1.0, weighted[:, a] * p[:, b]

    def dual_value(self, p: Floats) -> float:
        """Return the rows' part of the dual objective, minus the conjugate."""
        return float((self.score_gradient(p) * self.offset).sum() - (self.weights * _xlogx(p)).sum())

    def margins(self, T: Floats) -> Floats:
        """Return each row's margin: the score of its class above the best other one, without offset."""
        others = T.copy()
        others[self._true_class] = -np.inf
        return np.asarray(T[self._true_class] - others.max(axis=1))

    def leads(self, T: Floats) -> Floats:
        """Return the score of each row's class above the worst other one, without offset."""
        return np.asarray(T[self._true_class] - T.min(axis=1))


def make_loss(problem: Targets, n_classes: int) -> CrossEntropyLoss:
    """Return the log loss for a number of classes."""
    return LogisticLoss(problem) if n_classes == 2 else SoftmaxLoss(problem, n_classes)


def _as_column(values: Floats | None, default: float, problem: Targets) -> Floats:
    column = np.full(len(problem.y), default) if values is None else values
    return column.reshape(len(problem.y), -1)


def _xlogx(p: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, p * np.log(p), 0.0)


# Relative to a unit diagonal: smaller eigenvalues count as zero.
MIN_CURVATURE = 1e-12


def hessian(loss: CrossEntropyLoss, X: Matrix, l2: Floats, p: Floats) -> Floats:
    """Return the Hessian [k · width, k · width] of loss and penalty, ordered by score column.

    Softmax loss does not change when the same value is added to a weight in all classes. Where no penalty
    rules that out, curvature is added in that direction, so that Newton steps stay orthogonal to it.
    """
    k, width = loss.n_outputs, X.width
    hess = np.zeros((k, width, k, width))
    features = np.arange(width)
    # One feature, such as the intercept alone, needs no Gram matrix for each of the many pairs of classes.
    squares = np.square(X.dense_columns(np.zeros(1, np.int64))[:, 0]) if width == 1 else None
    for a, b, sign, weights in loss.hessian_blocks(p):
        # Not `squares @ weights`: so many threaded products of BLAS spend more time waiting than computing.
        gram = X.weighted_gram(weights) if squares is None else np.einsum("i,i->", squares, weights)
        hess[a, :, b, :] = hess[b, :, a, :] = sign * gram
    for a in range(k):
        hess[a, features, a, features] += l2
    if k > 1:
        free = features[l2 == 0]
        curvature = sum(hess[a, free, a, free] for a in range(k)) / k**2
        for a in range(k):
            for b in range(k):
                hess[a, free, b, free] += curvature
    return hess.reshape(k * width, k * width)


def solve_newton_system(hess: Floats, grad: Floats) -> Floats:
    """Return the Newton step −H⁻¹ g [width, k], with the pseudo-inverse if H is singular."""
    rhs = -grad.T.ravel()
    scale, scaled = scale_to_unit_diagonal(hess)
    lower = algebra.cholesky(scaled) if len(scaled) else scaled
    if lower is not None:
        step = algebra.cholesky_solve(lower, scale * rhs) if len(scaled) else rhs
    else:
        values, vectors = algebra.eigh(scaled)
        is_curved = values > MIN_CURVATURE * values[-1]
        V = vectors[:, is_curved]
        step = V @ ((V.T @ (scale * rhs)) / values[is_curved])
    return np.asarray((scale * step).reshape(grad.shape[::-1]).T)


def scale_to_unit_diagonal(hess: Floats) -> tuple[Floats, Floats]:
    """Return factors f and the Hessian times fᵢ fⱼ, with a diagonal of one but for a little curvature."""
    diagonal = np.diagonal(hess)
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = hess * scale * scale[:, None]
    np.fill_diagonal(scaled, 1 + MIN_CURVATURE)
    return scale, scaled
