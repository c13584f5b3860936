"""Log loss of rows in partitions: values, derivatives and dual bounds, each a fold with weights as fields.

The dual point of weights W is a table of probabilities p′ near those of the weights, p: Newton corrections
c₁, c₂, … make them orthogonal to the unpenalised features U, p′ = p + p (d − p·d) with d = U c. The gap is

    Σ KL(p′ᵢ ‖ pᵢ) + Σⱼ (vⱼ + l2ⱼ wⱼ)² / (2 l2ⱼ),   v = Xᵀ s (p′ − y),

which follows from convex duality as in `linear.duality`, without the cancellation of objective − bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from weigh.features.blocks import Floats, Mask
from weigh.learn.folds.encoded import EncodedRows, RowSum, Sums, shift_rows
from weigh.learn.linear.conjugate_gradient import newton_cg_step
from weigh.learn.linear.duality import DUAL_FEASIBILITY_TOLERANCE, MAX_UNPENALISED_UNKNOWNS
from weigh.learn.linear.loss_surface import MAX_DENSE_HESSIAN_SIZE, Margins, describe_method
from weigh.learn.linear.losses import (
    CrossEntropyLoss,
    loss_hessian,
    make_loss,
    penalise_hessian,
    solve_newton_system,
)
from weigh.learn.linear.matrix import InterceptMatrix, Matrix
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import Problem
from weigh.learn.linear.row_products import sum_error
from weigh.model.file.store import FileContent

Sum = Callable[[RowSum], FileContent]
_MAX_CORRECTIONS = 4
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class RowLoss:
    """How rows become a loss; `centre` is added to all weights, and `shift` subtracted from all rows."""

    n_classes: int
    has_intercept: bool
    class_weights: Floats | None = None
    shift: Floats | None = None
    centre: Floats | None = None

    def build(self, rows: EncodedRows) -> tuple[CrossEntropyLoss, Matrix]:
        """Return the loss of rows, and their matrix with the intercept column."""
        weights = None if self.class_weights is None else self.class_weights[rows.y]
        offset = None if self.centre is None else rows.X.times(self.centre)
        X = shift_rows(rows.X, self.shift)
        none = np.zeros(X.width)
        y = rows.y.astype(np.float64)
        problem = Problem(X, y, none, none, self.has_intercept, weights, offset)
        return make_loss(problem, self.n_classes), InterceptMatrix(X) if self.has_intercept else X


@dataclass(frozen=True, eq=False)
class DerivativeSum(RowSum):
    """Loss, gradient, margins, and the Hessian or its diagonal, at weights W."""

    loss: RowLoss
    W: Floats
    has_hessian: bool

    def sum_rows(self, rows: EncodedRows) -> Sums:
        """Return the sums of the rows of a partition."""
        loss, X = self.loss.build(rows)
        S = X.times(self.W)
        p = loss.probabilities(S)
        sums: Sums = {
            "loss": np.array([loss.value(S)]),
            "grad": X.transposed_times(loss.score_gradient(p)),
        }
        if self.has_hessian:
            return {**sums, "hess": loss_hessian(loss, X, p)}
        pairs = (weights for a, b, _, weights in loss.hessian_blocks(p) if a == b)
        return {**sums, "diagonal": np.stack([X.squared_times(weights) for weights in pairs], axis=1)}


@dataclass(frozen=True, eq=False)
class HessianProductSum(RowSum):
    """The Hessian of the loss at W times V."""

    loss: RowLoss
    W: Floats
    V: Floats

    def sum_rows(self, rows: EncodedRows) -> Sums:
        """Return the product of the rows of a partition."""
        loss, X = self.loss.build(rows)
        p = loss.probabilities(X.times(self.W))
        return {"product": X.transposed_times(loss.hessian_times(p, X.times(self.V)))}


@dataclass(frozen=True, eq=False)
class MarginSum(RowSum):
    """The smallest margin of the rows at weights W, and the largest lead."""

    loss: RowLoss
    W: Floats

    def sum_rows(self, rows: EncodedRows) -> Sums:
        """Return the margins of the rows of a partition."""
        loss, X = self.loss.build(rows)
        T = X.times(self.W)
        return {
            "min": loss.margins(T).min(keepdims=True),
            "max": np.array([float(loss.leads(T).max())]),
        }


@dataclass(frozen=True, eq=False)
class DualSum(RowSum):
    """The dual point of weights W after Newton corrections of the unpenalised features."""

    loss: RowLoss
    W: Floats
    is_free: Mask
    corrections: tuple[Floats, ...] = ()

    def sum_rows(self, rows: EncodedRows) -> Sums:
        """Return the sums of the rows of a partition."""
        loss, X = self.loss.build(rows)
        p = all_probabilities(loss, X.times(self.W))
        dual, largest, U = p.copy(), 0.0, X.select_features(self.is_free)
        is_binary = loss.n_outputs == 1
        for c in self.corrections:
            d = U.times(c)
            largest = max(largest, float((np.abs(d) if is_binary else np.ptp(d, axis=1)[:, None]).max()))
            d = np.hstack([np.zeros_like(d), d]) if is_binary else d
            dual = dual + dual * (d - (dual * d).sum(axis=1, keepdims=True))
        outputs = dual[:, -loss.n_outputs :]
        g = loss.score_gradient(outputs)
        with np.errstate(divide="ignore", invalid="ignore"):
            divergence = np.where(dual > 0, dual * np.log(dual / np.maximum(p, _TINY)), 0.0)
        return {
            "divergence": np.array([float((loss.weights * divergence).sum())]),
            "products": X.transposed_times(g),
            "sizes": U.absolute_transposed_times(np.abs(g)),
            "hess": loss_hessian(loss, U, outputs),
            "max_step": np.array([largest]),
        }


@dataclass(frozen=True, eq=False)
class LaplaceSum(RowSum):
    """Moments of the rows weighted by p (1 − p), for the posterior of two classes."""

    loss: RowLoss
    W: Floats

    def count(self, stored: FileContent) -> tuple[dict[str, Any], Sums]:
        """Return the moments of the rows of a partition."""
        rows = EncodedRows.from_file(stored)
        loss, X = replace(self.loss, shift=None).build(rows)
        S = X.times(self.W)
        z = (S + loss.offset)[:, 0] if hasattr(loss, "offset") else S[:, 0]
        variance = 1 / (2 + 2 * np.cosh(np.clip(z, -700.0, 700.0)))
        weights = np.maximum(loss.weights[:, 0] * variance, 1e-300)
        moments = Moments.from_rows(rows.X, z, weights, has_intercept=self.loss.has_intercept)
        return _moments_to_file(moments)

    def merge(self, first: FileContent, second: FileContent) -> tuple[dict[str, Any], Sums]:
        """Return the moments of both."""
        moments = Moments.read_arrays(first, "moments").plus(Moments.read_arrays(second, "moments"))
        return _moments_to_file(moments)


def _moments_to_file(moments: Moments) -> tuple[dict[str, Any], Sums]:
    meta: dict[str, Any] = {}
    arrays: Sums = {}
    moments.write_arrays(arrays, meta, "moments")
    return meta, arrays


def all_probabilities(loss: CrossEntropyLoss, S: Floats) -> Floats:
    """Return the probabilities of all classes [n, classes]; one column of scores is that of two."""
    p = loss.probabilities(S)
    return np.hstack([1 - p, p]) if loss.n_outputs == 1 else p


@dataclass(eq=False)
class FoldPoint:
    """Weights with the sums of one fold there."""

    W: Floats
    value: float
    sums: dict[str, Any] = field(repr=False)


class FoldSurface:
    """Log loss with l2 of rows in partitions, for Newton's method."""

    def __init__(self, sum_rows: Sum, loss: RowLoss, l2: Floats, n_features: int, n_rows: int) -> None:
        self._sum, self._loss, self.n_features, self._n_rows = sum_rows, loss, n_features, n_rows
        self.l2 = np.append(l2, 0.0) if loss.has_intercept else l2
        self.n_outputs = 1 if loss.n_classes == 2 else loss.n_classes
        self._has_hessian = len(self.l2) * self.n_outputs <= MAX_DENSE_HESSIAN_SIZE
        self._has_bound = int((self.l2 == 0).sum()) * self.n_outputs <= MAX_UNPENALISED_UNKNOWNS
        self.n_folds = 0

    @property
    def method(self) -> str:
        """How steps are computed, and what certifies the gap."""
        return f"{describe_method(self._has_hessian, self._has_bound)}, over partitions"

    def _fold(self, job: RowSum) -> dict[str, Any]:
        self.n_folds += 1
        return self._sum(job).arrays

    def point(self, W: Floats) -> FoldPoint:
        """Return the point of some weights."""
        sums = self._fold(DerivativeSum(self._loss, W, self._has_hessian))
        penalty = 0.5 * float((self.l2[:, None] * np.square(W)).sum())
        return FoldPoint(W, float(sums["loss"][0]) + penalty, sums)

    def line(self, point: FoldPoint, step: Floats) -> Callable[[float], FoldPoint]:
        """Return the function of α that returns the point W + α · step."""
        return lambda alpha: self.point(point.W + alpha * step)

    def gradient(self, point: FoldPoint) -> Floats:
        """Return the gradient [width, k]."""
        return np.asarray(point.sums["grad"] + self.l2[:, None] * point.W)

    def newton_step(self, point: FoldPoint, grad: Floats, forcing: float) -> Floats:
        """Return the Newton step, by conjugate gradients if the unknowns are many."""
        if self._has_hessian:
            return solve_newton_system(penalise_hessian(point.sums["hess"], self.l2), grad)

        def hessian_times(V: Floats) -> Floats:
            product = self._fold(HessianProductSum(self._loss, point.W, V))["product"]
            return np.asarray(product + self.l2[:, None] * V)

        return newton_cg_step(hessian_times, point.sums["diagonal"] + self.l2[:, None], grad, forcing)

    def margins(self, W: Floats) -> Margins | None:
        """Return the margins of the rows under some weights."""
        sums = self._fold(MarginSum(self._loss, W))
        return Margins(float(sums["min"][0]), float(sums["max"][0]))

    def gap(self, point: FoldPoint, decrement: float) -> float:
        """Return a bound on objective − minimum, or the Newton decrement where there is none."""
        if not self._has_bound:
            return decrement
        is_free = self.l2 == 0
        corrections: tuple[Floats, ...] = ()
        sums: dict[str, Any] = {}
        for _ in range(_MAX_CORRECTIONS):
            sums = self._fold(DualSum(self._loss, point.W, is_free, corrections))
            violation = sums["products"][is_free]
            if sums["max_step"][0] > 1 or _is_feasible(violation, sums["sizes"]):
                break
            step = solve_newton_system(penalise_hessian(sums["hess"], np.zeros(len(violation))), violation)
            corrections = (*corrections, step)
        return self._gap_of_dual(point, sums, is_free)

    def _gap_of_dual(self, point: FoldPoint, sums: dict[str, Any], is_free: Mask) -> float:
        if sums["max_step"][0] > 1 or not _is_feasible(sums["products"][is_free], sums["sizes"]):
            return point.value  # all that is certain is that the loss is not negative
        l2 = self.l2[~is_free, None]
        residual = sums["products"][~is_free] + l2 * point.W[~is_free]
        gap = float(sums["divergence"][0]) + 0.5 * float((np.square(residual) / l2).sum())
        return max(gap, 0.0) + 2 * sum_error(self._n_rows) * point.value


def _is_feasible(violation: Floats, sizes: Floats) -> bool:
    return bool((np.abs(violation) <= DUAL_FEASIBILITY_TOLERANCE * sizes).all())
