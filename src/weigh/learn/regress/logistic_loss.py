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

from weigh.features.blocks import Floats
from weigh.learn.regress.problem import Problem


class Loss(Protocol):
    """What solvers need of a loss."""

    @property
    def columns(self) -> int:
        """How many columns scores have."""

    def value(self, S: Floats) -> float:
        """Return the loss of all rows."""

    def probabilities(self, S: Floats) -> Floats:
        """Return p of all rows."""

    def slopes(self, p: Floats) -> Floats:
        """Return the slopes of the loss where the probabilities are p."""

    def bent(self, p: Floats, V: Floats) -> Floats:
        """Return the second derivative times V."""

    def bends(self, p: Floats) -> Iterator[tuple[int, int, float, Floats]]:
        """Yield the second derivative by pairs of columns: both, a sign, and weights ≥ 0 of the rows."""

    def dual(self, p: Floats) -> float:
        """Return the part of the dual's value that rows have."""

    def leads(self, T: Floats) -> Floats:
        """Return by how much scores without an offset speak for the truth."""


class LogisticLoss:
    """The loss of two classes: log(1 + eᶻ) − y z."""

    columns = 1

    def __init__(self, problem: Problem) -> None:
        self.y = problem.y[:, None]
        self.weights = _column(problem.weights, 1.0, problem)
        self.offset = _column(problem.offset, 0.0, problem)

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

    def slopes(self, p: Floats) -> Floats:
        """Return the slopes of the loss where the probabilities are p."""
        return np.asarray(self.weights * (p - self.y))

    def bent(self, p: Floats, V: Floats) -> Floats:
        """Return the second derivative times V."""
        return np.asarray(self.weights * p * (1 - p) * V)

    def bends(self, p: Floats) -> Iterator[tuple[int, int, float, Floats]]:
        """Yield the second derivative by pairs of columns."""
        yield 0, 0, 1.0, (self.weights * p * (1 - p))[:, 0]

    def dual(self, p: Floats) -> float:
        """Return the part of the dual's value that rows have."""
        entropy = _times_log(p) + _times_log(1 - p)
        return float((self.slopes(p) * self.offset - self.weights * entropy).sum())

    def leads(self, T: Floats) -> Floats:
        """Return by how much scores without an offset speak for the truth."""
        return np.where(self.y > 0, T, -T)[:, 0]


class SoftmaxLoss:
    """The loss of several classes: log Σ eᶻᵏ − z_y."""

    def __init__(self, problem: Problem, classes: int) -> None:
        self.columns = classes
        self.y = problem.y.astype(np.int64)
        self.weights = _column(problem.weights, 1.0, problem)
        self.offset = _column(problem.offset, 0.0, problem)
        self._truth = (np.arange(len(self.y)), self.y)

    def value(self, S: Floats) -> float:
        """Return the loss of all rows."""
        Z = S + self.offset
        Z = Z - Z[self._truth][:, None]
        top = Z.max(axis=1)
        log_sums = top + np.log(np.exp(Z - top[:, None]).sum(axis=1))
        # Where the truth leads, log Σ is log(1 + something small), of which log1p keeps all digits.
        leading = top == 0
        Z[self._truth] = -np.inf
        log_sums[leading] = np.log1p(np.exp(Z[leading]).sum(axis=1))
        return float((self.weights[:, 0] * log_sums).sum())

    def probabilities(self, S: Floats) -> Floats:
        """Return p of all rows."""
        Z = S + self.offset
        p = np.exp(Z - Z.max(axis=1, keepdims=True))
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def slopes(self, p: Floats) -> Floats:
        """Return the slopes of the loss where the probabilities are p."""
        slopes = p.copy()
        slopes[self._truth] -= 1
        return np.asarray(self.weights * slopes)

    def bent(self, p: Floats, V: Floats) -> Floats:
        """Return the second derivative times V."""
        return np.asarray(self.weights * p * (V - (p * V).sum(axis=1, keepdims=True)))

    def bends(self, p: Floats) -> Iterator[tuple[int, int, float, Floats]]:
        """Yield the second derivative by pairs of columns."""
        weighted = self.weights * p
        for a in range(self.columns):
            yield a, a, 1.0, weighted[:, a] * (1 - p[:, a])
            for b in range(a):
                yield a, b, -1.0, weighted[:, a] * p[:, b]

    def dual(self, p: Floats) -> float:
        """Return the part of the dual's value that rows have."""
        return float((self.slopes(p) * self.offset).sum() - (self.weights * _times_log(p)).sum())

    def leads(self, T: Floats) -> Floats:
        """Return by how much scores without an offset speak for the truth."""
        others = T.copy()
        others[self._truth] = -np.inf
        return np.asarray(T[self._truth] - others.max(axis=1))


def loss_of(problem: Problem, classes: int) -> Loss:
    """Return the loss that suits a number of classes."""
    return LogisticLoss(problem) if classes == 2 else SoftmaxLoss(problem, classes)


def _column(numbers: Floats | None, otherwise: float, problem: Problem) -> Floats:
    given = np.full(len(problem.y), otherwise) if numbers is None else numbers
    return given.reshape(len(problem.y), -1)


def _times_log(p: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, p * np.log(p), 0.0)
