"""The objective of a regression, written out plainly, and how far a point can be above its minimum.

The objective is Σ fᵢ(oᵢ + zᵢ) + Σ penⱼ(wⱼ) with z = X w + b. Any slopes v of the losses, such that vᵀ1 = 0 if
there is a bias, bound what (w, b) is above the minimum by a sum of terms that are never negative,

    Σ [f(z) + f*(v) − v z] + Σ [pen(w) + pen*(a) − a w],   a = −Xᵀ v,

where pen*(a) = (|a| − l1)₊² / (2 l2), endless if l2 = 0 and |a| > l1. Each term is written so that it is zero
without cancellation where the slopes are the losses' own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn import DesignMatrix

GRADIENT_TOLERANCE, NULL_GRADIENT_TOLERANCE = (
    1e-8,
    1e-12,
)  # shares of sums that rounding leaves: of slopes, of those without features


class ConvexLoss(Protocol):
    """A loss of rows: scores Z are [n, k]."""

    def value(self, Z: Floats) -> float:
        """The sum over all rows."""

    def gradient(self, Z: Floats) -> Floats:
        """The derivatives [n, k]."""

    def hessian_times(self, Z: Floats, V: Floats) -> Floats:
        """The second derivative times V [n, k]."""

    def fenchel_gap(self, Z: Floats, v: Floats) -> float:
        """Σ f(z) + f*(v) − v z."""


@dataclass(frozen=True, eq=False)
class SquaredLoss:
    """½ s (y − z)²."""

    y: Floats
    s: Floats

    def value(self, Z: Floats) -> float:
        """The sum over all rows."""
        return float((0.5 * self.s * np.square(self.y - Z[:, 0])).sum())

    def gradient(self, Z: Floats) -> Floats:
        """The derivatives."""
        return (self.s * (Z[:, 0] - self.y))[:, None]

    def hessian_times(self, Z: Floats, V: Floats) -> Floats:
        """The second derivative times V."""
        return self.s[:, None] * V

    def fenchel_gap(self, Z: Floats, v: Floats) -> float:
        """Σ f(z) + f*(v) − v z."""
        return float((np.square(self.gradient(Z) - v)[:, 0] / (2 * self.s)).sum())


@dataclass(frozen=True, eq=False)
class AbsoluteLoss:
    """s |y − z|."""

    y: Floats
    s: Floats

    def value(self, Z: Floats) -> float:
        """The sum over all rows."""
        return float((self.s * np.abs(self.y - Z[:, 0])).sum())

    def gradient(self, Z: Floats) -> Floats:
        """The derivatives, zero where a row is met."""
        return (self.s * np.sign(Z[:, 0] - self.y))[:, None]

    def hessian_times(self, Z: Floats, V: Floats) -> Floats:
        """The second derivative times V, which is nothing."""
        return np.zeros_like(V)

    def fenchel_gap(self, Z: Floats, v: Floats) -> float:
        """Σ f(z) + f*(v) − v z."""
        left = self.y - Z[:, 0]
        return float((self.s * np.abs(left) + v[:, 0] * left).sum())


@dataclass(frozen=True, eq=False)
class LogLoss:
    """s (log Σ eᶻ − z_y); of two classes the first's score is zero and has no column."""

    codes: Floats
    s: Floats
    classes: int

    def _all_scores(self, Z: Floats) -> Floats:
        return np.column_stack([np.zeros(len(Z)), Z]) if self.classes == 2 else Z

    def _free_columns(self, table: Floats) -> Floats:
        return table[:, 1:] if self.classes == 2 else table

    @property
    def _one_hot_labels(self) -> Floats:
        return np.asarray(self.codes[:, None] == np.arange(self.classes), dtype=np.float64)

    def _log_probabilities(self, Z: Floats) -> Floats:
        scores = self._all_scores(Z)
        scores = scores - scores.max(axis=1, keepdims=True)
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))

    def value(self, Z: Floats) -> float:
        """The sum over all rows."""
        scores = self._all_scores(Z)
        own = scores[np.arange(len(scores)), self.codes.astype(np.int64)]
        top = scores.max(axis=1)
        return float((self.s * (top - own + np.log(np.exp(scores - top[:, None]).sum(axis=1)))).sum())

    def gradient(self, Z: Floats) -> Floats:
        """The derivatives."""
        return self._free_columns(
            self.s[:, None] * (np.exp(self._log_probabilities(Z)) - self._one_hot_labels)
        )

    def hessian_times(self, Z: Floats, V: Floats) -> Floats:
        """The second derivative times V."""
        p = self._free_columns(np.exp(self._log_probabilities(Z)))
        return np.asarray(self.s[:, None] * p * (V - (p * V).sum(axis=1, keepdims=True)))

    def fenchel_gap(self, Z: Floats, v: Floats) -> float:
        """Σ f(z) + f*(v) − v z: by how much the probabilities of v are surprised by those of Z."""
        shares = v / self.s[:, None]
        shares = np.column_stack([-shares[:, 0], shares[:, 0]]) if self.classes == 2 else shares
        q = np.clip(shares + self._one_hot_labels, 0.0, 1.0)
        logs = self._log_probabilities(Z)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(q > 0, q * (np.log(q) - logs), 0.0)
        return float((self.s * np.maximum(terms.sum(axis=1), 0.0)).sum())


@dataclass(frozen=True, eq=False)
class Objective:
    """Rows, their loss and the penalties of the features; `offset` is added to the scores as it is."""

    rows: DesignMatrix
    loss: ConvexLoss
    l1: Floats
    l2: Floats
    has_intercept: bool
    columns: int = 1
    offset: Floats | None = None

    def times(self, W: Floats) -> Floats:
        """X W, column by column."""
        place = np.repeat(np.arange(self.rows.n_rows), np.diff(self.rows.indptr))
        parts = [
            np.bincount(place, W[self.rows.indices, c] * self.rows.values, minlength=self.rows.n_rows)
            for c in range(W.shape[1])
        ]
        return np.column_stack(parts)

    def transposed_times(self, V: Floats) -> Floats:
        """Xᵀ V, column by column."""
        place = np.repeat(np.arange(self.rows.n_rows), np.diff(self.rows.indptr))
        parts = [
            np.bincount(self.rows.indices, V[place, c] * self.rows.values, minlength=self.rows.width)
            for c in range(V.shape[1])
        ]
        return np.column_stack(parts)

    def scores(self, W: Floats, b: Floats) -> Floats:
        """The scores of all rows."""
        found = self.times(W) + b
        return found if self.offset is None else found + self.offset[:, None]

    def penalty(self, W: Floats) -> float:
        """What the weights cost."""
        return float((self.l1[:, None] * np.abs(W)).sum() + (0.5 * self.l2[:, None] * np.square(W)).sum())

    def value(self, W: Floats, b: Floats) -> float:
        """The loss of all rows and the penalty."""
        return self.loss.value(self.scores(W, b)) + self.penalty(W)

    def suboptimality_bound(self, W: Floats, b: Floats, v: Floats) -> float:
        """How far (W, b) is above the minimum at most, by the slopes v; endless if they prove nothing.

        Slopes of what is not penalised must vanish. What rounding leaves of them is counted with the size of
        its weight.
        """
        a = -self.transposed_times(v)
        l1, l2 = self.l1[:, None], self.l2[:, None]
        free = (l1 == 0) & (l2 == 0)
        if (free & (np.abs(a) > self._gradient_rounding(v))).any() or not self._is_gradient_balanced(v):
            return np.inf
        lasso = (l2 == 0) & (l1 > 0) & (np.abs(a) > l1)
        if lasso.any():
            shrink = float((np.broadcast_to(l1, a.shape)[lasso] / np.abs(a[lasso])).min())
            a, v = a * shrink, v * shrink
        over = np.maximum(np.abs(a) - l1, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            costs = np.where(l2 > 0, np.square(over) / (2 * l2), 0.0)
        apart = l1 * np.abs(W) + 0.5 * l2 * np.square(W) + costs - a * W
        apart = np.where(free, np.abs(a * W), np.maximum(apart, 0.0))
        slack = np.abs(v.sum(axis=0) * b).sum() if self.has_intercept else 0.0
        return self.loss.fenchel_gap(self.scores(W, b), v) + float(apart.sum()) + float(slack)

    def _gradient_rounding(self, v: Floats) -> Floats:
        """What may be left of Xᵀv by rounding, also where v is nothing but rounding itself."""
        start = np.abs(self.loss.gradient(np.zeros_like(v)))
        values = replace(self.rows, values=np.abs(self.rows.values))
        sizes = replace(self, rows=values)
        return GRADIENT_TOLERANCE * sizes.transposed_times(
            np.abs(v)
        ) + NULL_GRADIENT_TOLERANCE * sizes.transposed_times(start)

    def _is_gradient_balanced(self, v: Floats) -> bool:
        """Whether the slopes sum to zero, which a bias asks for."""
        if not self.has_intercept:
            return True
        start = np.abs(self.loss.gradient(np.zeros_like(v))).sum(axis=0)
        limit = GRADIENT_TOLERANCE * np.abs(v).sum(axis=0) + NULL_GRADIENT_TOLERANCE * start
        return bool((np.abs(v.sum(axis=0)) <= limit).all())
