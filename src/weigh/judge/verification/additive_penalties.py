"""The penalties of an additive model's terms, and what each adds to the bound of the suboptimality.

With f the heights of a term, a its penalty ½ fᵀQf on the heights that satisfy its constraints, and v a dual
point of the loss, the term adds to the bound at least 0 and at most

    ½ (g − μ)ᵀ P⁻¹ (g − μ) + μᵀu,   g = Bᵀ(Xᵀv + Q f),   P = BᵀQB,

where the columns of B span the heights that satisfy the constraints. The second part is for monotone curves
only: u ≥ 0 are the increments of the curve, and any μ ≥ 0 gives a bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from weigh.features.blocks import Floats
from weigh.model.distributions.curve_weights import CurveWeights, PairAxis, PairWeights

# Increments up to these shares of the largest one may be at their bound.
BOUND_TOLERANCES = (0.0, 1e-12, 1e-9, 1e-6, 1e-3, 1.0)


class TermPenalty(Protocol):
    """The penalty of the heights [cells, outputs] of one term."""

    def value(self, heights: Floats) -> float:
        """Return the penalty of all outputs."""

    def size(self, heights: Floats) -> float:
        """Return the size of the terms whose differences make up the penalty of these heights."""

    def gap(self, heights: Floats, loss_gradient: Floats, rounding: Floats) -> float:
        """Return what the term adds to the bound; infinite if an unpenalised direction has a gradient.

        `loss_gradient` is Xᵀv and `rounding` bounds its rounding errors, both [cells, outputs].
        """


@dataclass(frozen=True, eq=False)
class RidgePenalty:
    """½ Σ c f² with the strengths c [features]; with `counts` the heights satisfy Σ counts · f = 0.

    The strengths are all equal if there are `counts`.
    """

    strengths: Floats
    counts: Floats | None = None

    def value(self, heights: Floats) -> float:
        """Return the penalty of all outputs."""
        return 0.5 * float((self.strengths[:, None] * np.square(heights)).sum())

    def size(self, heights: Floats) -> float:
        """Return the penalty itself, a sum of squares."""
        return self.value(heights)

    def gap(self, heights: Floats, loss_gradient: Floats, rounding: Floats) -> float:
        """Return what the term adds to the bound."""
        gradient = self._project(loss_gradient + self.strengths[:, None] * heights)
        limits = rounding if self.counts is None else rounding + rounding.sum(axis=0)
        parts = zip(gradient, self.strengths.tolist(), limits, strict=True)
        return sum(_divide_squares(*part) for part in parts)

    def _project(self, gradient: Floats) -> Floats:
        """Return the part of a gradient along the heights that satisfy the constraint."""
        if self.counts is None or not self.counts.any():
            return gradient
        direction = self.counts / np.linalg.norm(self.counts)
        return np.asarray(gradient - np.outer(direction, direction @ gradient))


@dataclass(frozen=True, eq=False)
class CurvePenalty:
    """½ [a (‖Df‖² − (q·Df)²) + r (q·Df)² / ‖Dz‖² + m f_missing²] of the heights f of a curve.

    D takes the differences of neighbouring cells, q = Dz / ‖Dz‖, and z are the positions of the cells,
    standardised by their counts. The heights satisfy Σ counts · f = 0. `direction` is 1 if the curve may only
    rise, −1 if it may only fall and 0 otherwise.
    """

    term: CurveWeights
    counts: Floats
    direction: int = 0

    @cached_property
    def _line(self) -> tuple[Floats, float]:
        """The direction q of a straight line among the increments, and ‖Dz‖²."""
        counts, positions = self.counts[:-1], self.term.positions
        total = counts.sum()
        shares = counts / total if total else counts
        centred = positions - shares @ positions
        largest = np.abs(centred).max()  # squares of very large or small numbers are not finite or zero
        if not largest:
            return np.zeros(len(positions) - 1), 1.0
        centred = centred / largest
        variance = shares @ np.square(centred)
        increments = np.diff(centred) / np.sqrt(variance) if variance > 0 else np.diff(0 * centred)
        square = float(increments @ increments)
        return (increments / np.sqrt(square), square) if square else (increments, 1.0)

    @cached_property
    def _basis(self) -> Floats:
        """The heights [cells + 1, increments + 1] of each increment and of missing values, centred."""
        n_cells = len(self.counts) - 1
        basis = np.zeros((n_cells + 1, n_cells))
        basis[:-1, :-1] = np.arange(n_cells)[:, None] > np.arange(n_cells - 1)
        basis[-1, -1] = 1.0
        total = self.counts[:-1].sum()
        if total:
            basis[:-1] -= self.counts @ basis / total
        return basis

    def value(self, heights: Floats) -> float:
        """Return the penalty of all outputs."""
        (q, square), (a, r, m) = self._line, self.term.strengths.tolist()
        increments = np.diff(heights[:-1], axis=0)
        along = q @ increments
        rest = increments - np.outer(q, along)
        bends, slopes = np.square(rest).sum(), np.square(along).sum() / square
        return 0.5 * float(a * bends + r * slopes + m * np.square(heights[-1]).sum())

    def size(self, heights: Floats) -> float:
        """Return the size of ‖Df‖² and (q·Df)², which nearly cancel if the curve is a straight line."""
        return float(self.term.strengths[0]) * float(np.square(np.diff(heights[:-1], axis=0)).sum())

    def gap(self, heights: Floats, loss_gradient: Floats, rounding: Floats) -> float:
        """Return what the term adds to the bound."""
        gradient = self._basis.T @ loss_gradient
        limits = np.abs(self._basis).T @ rounding
        increments = np.diff(heights[:-1], axis=0)
        missing = _divide_squares(
            gradient[-1] + self.term.strengths[2] * heights[-1], self.term.strengths[2], limits[-1]
        )
        columns = zip(gradient[:-1].T, increments.T, limits[:-1].T, strict=True)
        return missing + sum(self._column_gap(*column) for column in columns)

    def _column_gap(self, gradient: Floats, increments: Floats, limits: Floats) -> float:
        return min(
            self._quadratic_gap(gradient - multipliers, increments, limits)
            + float(np.abs(multipliers * increments).sum())
            for multipliers in self._multipliers(gradient, increments)
        )

    def _multipliers(self, loss_gradient: Floats, increments: Floats) -> Iterator[Floats]:
        """Yield candidates of the multipliers of the bounds on the increments, zero without bounds."""
        yield np.zeros_like(loss_gradient)
        if self.direction == 0 or not len(increments):
            return
        (q, square), (a, r, _) = self._line, self.term.strengths.tolist()
        along = float(q @ increments)
        gradient = loss_gradient + a * (increments - q * along) + (r / square) * q * along
        pushed = self.direction * np.maximum(self.direction * gradient, 0.0)
        rise = self.direction * increments
        for tolerance in BOUND_TOLERANCES:
            yield np.where(rise <= tolerance * np.abs(rise).max(), pushed, 0.0)

    def _quadratic_gap(self, loss_gradient: Floats, increments: Floats, limits: Floats) -> float:
        """Return ½ gᵀP⁻¹g, separately for the straight line and the deviations from it."""
        (q, square), (a, r, _) = self._line, self.term.strengths.tolist()
        slope, along = float(q @ loss_gradient), float(q @ increments)
        rest = loss_gradient - q * slope + a * (increments - q * along)
        line = np.array([slope + (r / square) * along])
        has_line = bool(q.any())
        bends = _divide_squares(rest, a, limits)
        return bends + (_divide_squares(line, r / square, np.abs(q) @ limits) if has_line else 0.0)


def _divide_squares(gradient: Floats, strength: float, limits: Floats) -> float:
    """Return ½ ‖gradient‖² / strength; 0 or infinity without a strength, if the gradient is zero or not."""
    if strength > 0:
        return float(np.square(gradient).sum()) / (2 * strength)
    return 0.0 if (np.abs(gradient) <= limits).all() else np.inf


@dataclass(frozen=True, eq=False)
class PairPenalty:
    """½ a wᵀ(L_left ⊗ I + I ⊗ L_right) w of the heights w of a surface.

    L = DᵀD for the cells of a number and I − 11ᵀ/K for K groups of levels. The weighted mean of the heights
    is zero over each cell of either column.
    """

    term: PairWeights
    counts: Floats

    @property
    def _shape(self) -> tuple[int, int]:
        return self.term.left.n_cells, self.term.right.n_cells

    @cached_property
    def _matrix(self) -> Floats:
        left, right = _axis_penalty(self.term.left), _axis_penalty(self.term.right)
        matrix = np.kron(left, np.eye(len(right))) + np.kron(np.eye(len(left)), right)
        return np.asarray(self.term.strengths[0] * matrix)

    @cached_property
    def _basis(self) -> Floats:
        """An orthonormal basis [cells, free] of the heights whose weighted means are zero."""
        constraints = marginal_sums(self.counts, self._shape)
        _, sizes, rows = np.linalg.svd(constraints)
        n_independent = int((sizes > 1e-12 * sizes.max(initial=0.0)).sum())
        return np.asarray(rows[n_independent:].T)

    def value(self, heights: Floats) -> float:
        """Return the penalty of all outputs."""
        return 0.5 * float((heights * (self._matrix @ heights)).sum())

    def size(self, heights: Floats) -> float:
        """Return the size of the products that are added and subtracted."""
        return 0.5 * float((np.abs(heights) * (np.abs(self._matrix) @ np.abs(heights))).sum())

    def gap(self, heights: Floats, loss_gradient: Floats, rounding: Floats) -> float:
        """Return what the term adds to the bound."""
        basis = self._basis
        if not basis.size:
            return 0.0
        gradient = basis.T @ (loss_gradient + self._matrix @ heights)
        if not self.term.strengths[0] > 0:
            return 0.0 if (np.abs(gradient) <= np.abs(basis).T @ rounding).all() else np.inf
        step = np.linalg.lstsq(basis.T @ self._matrix @ basis, gradient, rcond=None)[0]
        return max(0.0, 0.5 * float((gradient * step).sum()))


def _axis_penalty(axis: PairAxis) -> Floats:
    n = axis.n_cells
    if axis.cuts is None:
        return np.asarray(np.eye(n) - 1.0 / n)
    differences = np.diff(np.eye(n), axis=0)
    return np.asarray(differences.T @ differences)


def marginal_sums(counts: Floats, shape: tuple[int, int]) -> Floats:
    """Return the matrix [left + right, cells] that sums counts · heights over each cell of either column."""
    left, right = shape
    by_left = np.kron(np.eye(left), np.ones(right))
    by_right = np.kron(np.ones(left), np.eye(right))
    return np.asarray(np.vstack([by_left, by_right]) * counts)
