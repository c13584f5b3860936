"""The losses of logistic regression, seen through the probabilities that scores stand for.

A loss takes scores S [n, k], to which it adds the problem's offset: of two classes one column, the score for
the second; of more a column per class. With the probabilities p of a row, its target t (of two classes 0 or
1, else one-hot) and its weight s, the slope of the loss is s (p − t), its second derivative is
s (diag p − p pᵀ), and its conjugate at that slope is s Σ p log p.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats
from weigh.learn.linear.matrix import Matrix
from weigh.learn.linear.problem import Problem


class CrossEntropyLoss(Protocol):
    """What solvers need of a loss."""

    @property
    def n_outputs(self) -> int:
        """How many columns scores have."""

    def value(self, S: Floats) -> float:
        """Return the loss of all rows."""

    def probabilities(self, S: Floats) -> Floats:
        """Return p of all rows."""

    def score_gradient(self, p: Floats) -> Floats:
        """Return the slopes of the loss where the probabilities are p."""

    def hessian_times(self, p: Floats, V: Floats) -> Floats:
        """Return the second derivative times V."""

    def hessian_blocks(self, p: Floats) -> Iterator[tuple[int, int, float, Floats]]:
        """Yield the second derivative by pairs of columns: both, a sign, and weights ≥ 0 of the rows."""

    def dual_value(self, p: Floats) -> float:
        """Return the part of the dual's value that rows have."""

    def margins(self, T: Floats) -> Floats:
        """Return by how much scores without an offset speak for the truth."""


class LogisticLoss:
    """The loss of two classes: log(1 + eᶻ) − y z."""

    n_outputs = 1

    def __init__(self, problem: Problem) -> None:
        self.y = problem.y[:, None]
        self.weights = _as_column(problem.weights, 1.0, problem)
        self.offset = _as_column(problem.offset, 0.0, problem)

    def value(self, S: Floats) -> float:
        """Return the loss of all rows."""
        Z = S + self.offset
        # log(1 + eᶻ) − y z loses its digits where it is small: written with the margin it does not.
        margins = np.where(self.y > 0, Z, -Z)
        return float((self.weights * (np.log1p(np.exp(-np.abs(margins))) - np.minimum(margins, 0))).sum())

    def probabilities(self, S: Floats) -> Floats:
        """Return p of all rows."""
        Z = S + self.offset
        small = np.exp(-np.abs(Z))
        return np.asarray(np.where(Z >= 0, 1.0, small) / (1 + small))

    def score_gradient(self, p: Floats) -> Floats:
        """Return the slopes of the loss where the probabilities are p."""
        return np.asarray(self.weights * (p - self.y))

    def hessian_times(self, p: Floats, V: Floats) -> Floats:
        """Return the second derivative times V."""
        return np.asarray(self.weights * p * (1 - p) * V)

    def hessian_blocks(self, p: Floats) -> Iterator[tuple[int, int, float, Floats]]:
        """Yield the second derivative by pairs of columns."""
        yield 0, 0, 1.0, (self.weights * p * (1 - p))[:, 0]

    def dual_value(self, p: Floats) -> float:
        """Return the part of the dual's value that rows have."""
        entropy = _xlogx(p) + _xlogx(1 - p)
        return float((self.score_gradient(p) * self.offset - self.weights * entropy).sum())

    def margins(self, T: Floats) -> Floats:
        """Return by how much scores without an offset speak for the truth."""
        return np.where(self.y > 0, T, -T)[:, 0]


class SoftmaxLoss:
    """The loss of several classes: log Σ eᶻᵏ − z_y."""

    def __init__(self, problem: Problem, classes: int) -> None:
        self.n_outputs = classes
        self.y = problem.y.astype(np.int64)
        self.weights = _as_column(problem.weights, 1.0, problem)
        self.offset = _as_column(problem.offset, 0.0, problem)
        self._true_class = (np.arange(len(self.y)), self.y)

    def value(self, S: Floats) -> float:
        """Return the loss of all rows."""
        Z = S + self.offset
        Z = Z - Z[self._true_class][:, None]
        top = Z.max(axis=1)
        log_sums = top + np.log(np.exp(Z - top[:, None]).sum(axis=1))
        # Where the truth leads, log Σ is log(1 + something small), of which log1p keeps all digits.
        leading = top == 0
        Z[self._true_class] = -np.inf
        log_sums[leading] = np.log1p(np.exp(Z[leading]).sum(axis=1))
        return float((self.weights[:, 0] * log_sums).sum())

    def probabilities(self, S: Floats) -> Floats:
        """Return p of all rows."""
        Z = S + self.offset
        p = np.exp(Z - Z.max(axis=1, keepdims=True))
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def score_gradient(self, p: Floats) -> Floats:
        """Return the slopes of the loss where the probabilities are p."""
        slopes = p.copy()
        slopes[self._true_class] -= 1
        return np.asarray(self.weights * slopes)

    def hessian_times(self, p: Floats, V: Floats) -> Floats:
        """Return the second derivative times V."""
        return np.asarray(self.weights * p * (V - (p * V).sum(axis=1, keepdims=True)))

    def hessian_blocks(self, p: Floats) -> Iterator[tuple[int, int, float, Floats]]:
        """Yield the second derivative by pairs of columns."""
        weighted = self.weights * p
        for a in range(self.n_outputs):
            yield a, a, 1.0, weighted[:, a] * (1 - p[:, a])
            for b in range(a):
                yield a, b, -1.0, weighted[:, a] * p[:, b]

    def dual_value(self, p: Floats) -> float:
        """Return the part of the dual's value that rows have."""
        return float((self.score_gradient(p) * self.offset).sum() - (self.weights * _xlogx(p)).sum())

    def margins(self, T: Floats) -> Floats:
        """Return by how much scores without an offset speak for the truth."""
        others = T.copy()
        others[self._true_class] = -np.inf
        return np.asarray(T[self._true_class] - others.max(axis=1))


def make_loss(problem: Problem, classes: int) -> CrossEntropyLoss:
    """Return the loss that suits a number of classes."""
    return LogisticLoss(problem) if classes == 2 else SoftmaxLoss(problem, classes)


def _as_column(numbers: Floats | None, otherwise: float, problem: Problem) -> Floats:
    given = np.full(len(problem.y), otherwise) if numbers is None else numbers
    return given.reshape(len(problem.y), -1)


def _xlogx(p: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, p * np.log(p), 0.0)


# Of a table with ones in its diagonal: directions that bend less are not told from those that do not bend.
MIN_CURVATURE = 1e-12


def hessian(loss: CrossEntropyLoss, X: Matrix, l2: Floats, p: Floats) -> Floats:
    """Return the second derivative [k · width, k · width] of loss and penalty, column of scores by column.

    Of several classes the loss does not change when the same is added to a weight of all classes; where no
    penalty forbids that, the table is bent in that direction, so that a step does not go there.
    """
    k, width = loss.n_outputs, X.width
    table = np.zeros((k, width, k, width))
    features = np.arange(width)
    for a, b, sign, weights in loss.hessian_blocks(p):
        table[a, :, b, :] = table[b, :, a, :] = sign * X.weighted_gram(weights)
    for a in range(k):
        table[a, features, a, features] += l2
    if k > 1:
        free = features[l2 == 0]
        bend = sum(table[a, free, a, free] for a in range(k)) / k**2
        for a in range(k):
            for b in range(k):
                table[a, free, b, free] += bend
    return table.reshape(k * width, k * width)


def solve_newton_system(table: Floats, gradient: Floats) -> Floats:
    """Return −table⁻¹ gradient for a gradient [width, k]; directions that do not bend are left out."""
    right = -gradient.T.ravel()
    diagonal = np.diagonal(table)
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = table * scale * scale[:, None]
    np.fill_diagonal(scaled, 1 + MIN_CURVATURE)
    lower = algebra.cholesky(scaled) if len(scaled) else scaled
    if lower is not None:
        step = algebra.cholesky_solve(lower, scale * right) if len(scaled) else right
    else:
        values, vectors = algebra.eigh(scaled)
        bent = values > MIN_CURVATURE * values[-1]
        step = vectors[:, bent] @ ((vectors[:, bent].T @ (scale * right)) / values[bent])
    return np.asarray((scale * step).reshape(gradient.shape[::-1]).T)
