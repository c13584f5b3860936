"""The objective of a regression in simple NumPy, and a bound of its suboptimality by Fenchel duality.

The objective is Σ fᵢ(oᵢ + zᵢ) + Σ penⱼ(wⱼ) with z = X w + b and offsets o. Any dual point v, with vᵀ1 = 0 if
there is an intercept, bounds the suboptimality of (w, b) by a sum of non-negative terms,

    Σ [f(z) + f*(v) − v z] + Σ [pen(w) + pen*(a) − a w],   a = −Xᵀ v,

where pen*(a) = (|a| − l1)₊² / (2 l2), infinite if l2 = 0 and |a| > l1. Each term is written so that it is
zero without cancellation at v = f'(z).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.design_matrix import DesignMatrix

# Rounding errors of Xᵀv, relative to |X|ᵀ|v| at the dual point, and at the dual point of the empty model.
GRADIENT_TOLERANCE, NULL_GRADIENT_TOLERANCE = 1e-8, 1e-12


class ConvexLoss(Protocol):
    """The loss of all rows as a function of their scores Z [n, k]."""

    def value(self, Z: Floats) -> float:
        """Return the sum over all rows."""

    def gradient(self, Z: Floats) -> Floats:
        """Return the gradient [n, k]."""

    def hessian_times(self, Z: Floats, V: Floats) -> Floats:
        """Return the Hessian times V [n, k]."""

    def fenchel_gap(self, Z: Floats, v: Floats) -> float:
        """Return Σ f(z) + f*(v) − v z."""


@dataclass(frozen=True, eq=False)
class SquaredLoss:
    """½ s (y − z)²."""

    y: Floats
    s: Floats

    def value(self, Z: Floats) -> float:
        """Return the sum over all rows."""
        return float((0.5 * self.s * np.square(self.y - Z[:, 0])).sum())

    def gradient(self, Z: Floats) -> Floats:
        """Return the gradient."""
        return (self.s * (Z[:, 0] - self.y))[:, None]

    def hessian_times(self, Z: Floats, V: Floats) -> Floats:
        """Return the Hessian times V."""
        return self.s[:, None] * V

    def fenchel_gap(self, Z: Floats, v: Floats) -> float:
        """Return Σ f(z) + f*(v) − v z."""
        return float((np.square(self.gradient(Z) - v)[:, 0] / (2 * self.s)).sum())


@dataclass(frozen=True, eq=False)
class AbsoluteLoss:
    """s |y − z|."""

    y: Floats
    s: Floats

    def value(self, Z: Floats) -> float:
        """Return the sum over all rows."""
        return float((self.s * np.abs(self.y - Z[:, 0])).sum())

    def gradient(self, Z: Floats) -> Floats:
        """Return a subgradient, zero where a row is interpolated."""
        return (self.s * np.sign(Z[:, 0] - self.y))[:, None]

    def hessian_times(self, Z: Floats, V: Floats) -> Floats:
        """Return zero, the Hessian times V almost everywhere."""
        return np.zeros_like(V)

    def fenchel_gap(self, Z: Floats, v: Floats) -> float:
        """Return Σ f(z) + f*(v) − v z."""
        residual = self.y - Z[:, 0]
        return float((self.s * np.abs(residual) + v[:, 0] * residual).sum())


@dataclass(frozen=True, eq=False)
class LogLoss:
    """s (log Σ eᶻ − z_y); for two classes the first has score zero and no column in Z."""

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
        """Return the sum over all rows."""
        scores = self._all_scores(Z)
        true = scores[np.arange(len(scores)), self.codes.astype(np.int64)]
        top = scores.max(axis=1)
        return float((self.s * (top - true + np.log(np.exp(scores - top[:, None]).sum(axis=1)))).sum())

    def gradient(self, Z: Floats) -> Floats:
        """Return the gradient."""
        return self._free_columns(
            self.s[:, None] * (np.exp(self._log_probabilities(Z)) - self._one_hot_labels)
        )

    def hessian_times(self, Z: Floats, V: Floats) -> Floats:
        """Return the Hessian times V."""
        p = self._free_columns(np.exp(self._log_probabilities(Z)))
        return np.asarray(self.s[:, None] * p * (V - (p * V).sum(axis=1, keepdims=True)))

    def fenchel_gap(self, Z: Floats, v: Floats) -> float:
        """Return Σ f(z) + f*(v) − v z, the divergence KL(q ‖ softmax(z)) with q = v/s + one-hot y."""
        unweighted = v / self.s[:, None]
        if self.classes == 2:
            unweighted = np.column_stack([-unweighted[:, 0], unweighted[:, 0]])
        q = np.clip(unweighted + self._one_hot_labels, 0.0, 1.0)
        log_p = self._log_probabilities(Z)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(q > 0, q * (np.log(q) - log_p), 0.0)
        return float((self.s * np.maximum(terms.sum(axis=1), 0.0)).sum())


@dataclass(frozen=True, eq=False)
class Objective:
    """Rows, their loss and the penalties of the features; `offset` [n] is added to the scores."""

    rows: DesignMatrix
    loss: ConvexLoss
    l1: Floats
    l2: Floats
    has_intercept: bool
    n_outputs: int = 1
    offset: Floats | None = None

    def times(self, W: Floats) -> Floats:
        """Return X W."""
        X, row = self.rows.X, self.rows.X.entry_rows()
        columns = [np.bincount(row, w[X.indices] * X.entry_values(), minlength=X.n_rows) for w in W.T]
        return np.column_stack(columns)

    def transposed_times(self, V: Floats) -> Floats:
        """Return Xᵀ V."""
        X, row = self.rows.X, self.rows.X.entry_rows()
        columns = [X.sum_by_column(v[row] * X.entry_values()) for v in V.T]
        return np.column_stack(columns)

    def scores(self, W: Floats, b: Floats) -> Floats:
        """Return the scores of all rows, X W + b + offset."""
        scores = self.times(W) + b
        return scores if self.offset is None else scores + self.offset[:, None]

    def penalty(self, W: Floats) -> float:
        """Return the penalty of the weights."""
        return float((self.l1[:, None] * np.abs(W)).sum() + (0.5 * self.l2[:, None] * np.square(W)).sum())

    def value(self, W: Floats, b: Floats) -> float:
        """Return the loss of all rows plus the penalty."""
        return self.loss.value(self.scores(W, b)) + self.penalty(W)

    def suboptimality_bound(self, W: Floats, b: Floats, v: Floats) -> float:
        """Bound how far (W, b) is above the minimum by the dual point v; infinite if v is infeasible.

        The gradient of unpenalised features must vanish up to rounding; the rounding error is added to the
        bound, multiplied by the weight. For l1 penalties v is scaled into the feasible set.
        """
        a = -self.transposed_times(v)
        l1, l2 = self.l1[:, None], self.l2[:, None]
        free = (l1 == 0) & (l2 == 0)
        if (free & (np.abs(a) > self.gradient_rounding(v))).any() or not self.is_gradient_balanced(v):
            return np.inf
        lasso = (l2 == 0) & (l1 > 0) & (np.abs(a) > l1)
        if lasso.any():
            shrink = float((np.broadcast_to(l1, a.shape)[lasso] / np.abs(a[lasso])).min())
            a, v = a * shrink, v * shrink
        excess = np.maximum(np.abs(a) - l1, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            conjugate = np.where(l2 > 0, np.square(excess) / (2 * l2), 0.0)
        gap = l1 * np.abs(W) + 0.5 * l2 * np.square(W) + conjugate - a * W
        gap = np.where(free, np.abs(a * W), np.maximum(gap, 0.0))
        intercept_gap = np.abs(v.sum(axis=0) * b).sum() if self.has_intercept else 0.0
        return self.loss.fenchel_gap(self.scores(W, b), v) + float(gap.sum()) + float(intercept_gap)

    def gradient_rounding(self, v: Floats) -> Floats:
        """Bound the rounding error of Xᵀv, also if v itself is only rounding error."""
        null = np.abs(self.loss.gradient(np.zeros_like(v)))
        X = replace(self.rows.X, values=np.abs(self.rows.X.entry_values()))
        sizes = replace(self, rows=replace(self.rows, X=X))
        relative = GRADIENT_TOLERANCE * sizes.transposed_times(np.abs(v))
        return relative + NULL_GRADIENT_TOLERANCE * sizes.transposed_times(null)

    def is_gradient_balanced(self, v: Floats) -> bool:
        """Return whether vᵀ1 = 0 up to rounding, if there is an intercept."""
        if not self.has_intercept:
            return True
        null = np.abs(self.loss.gradient(np.zeros_like(v))).sum(axis=0)
        limit = GRADIENT_TOLERANCE * np.abs(v).sum(axis=0) + NULL_GRADIENT_TOLERANCE * null
        return bool((np.abs(v.sum(axis=0)) <= limit).all())
