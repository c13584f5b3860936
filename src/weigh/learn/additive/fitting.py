"""Fit an additive model to training data: effects, strengths, optimum, posterior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats
from weigh.features.curves import Curve
from weigh.features.kinds import Category
from weigh.features.schema import ColumnGroup, Schema
from weigh.features.text_kinds import BagOfWordsKind
from weigh.learn.additive.effects import (
    FLAGS,
    Effect,
    curve_effect,
    level_effect,
    linear_effect,
)
from weigh.learn.additive.problem import AdditiveProblem, SquaredLoss
from weigh.learn.additive.smoothing import Smoothing
from weigh.learn.additive.solver import AdditiveSolution, minimise
from weigh.learn.feature_index import CurveIndexer
from weigh.learn.linear.matrix import SparseMatrix, column_means_and_stds, position_lookup
from weigh.learn.linear.training_data import TrainingData
from weigh.model.distributions.curve_weights import CurveWeights, PairWeights
from weigh.model.inference import Posterior

MAX_SMOOTHING_ROWS = 50_000  # strengths are chosen on at most so many rows
MAX_POSTERIOR_FEATURES = 1_000


def is_additive(schema: Schema, pairs: Any, pools_levels: bool = False) -> bool:
    """Whether a fit has curves, levels that can form pairs, or levels that are pooled even without."""
    kinds = [group.kind for group in schema.column_groups]
    has_levels = any(isinstance(kind, Category) and kind.against is None for kind in kinds)
    return has_curve(schema) or (has_levels and (pairs is not None or pools_levels))


def has_curve(schema: Schema) -> bool:
    """Whether a column is a curve."""
    return any(isinstance(group.kind, Curve) for group in schema.column_groups)


@dataclass(frozen=True, eq=False)
class AdditiveData:
    """Training rows with the features in the order of a model, and the effects of the column groups."""

    X: SparseMatrix
    counts: Floats
    effects: list[Effect]
    groups: list[ColumnGroup]

    @classmethod
    def from_training_data(cls, data: TrainingData, fixed_strength: float | None = None) -> AdditiveData:
        """Return the rows and the effects; `fixed_strength` is the stated prior of features without curve."""
        order = np.concatenate(data.feature_orders)
        matrix: Any = data.X
        X = SparseMatrix(matrix.rows.renumber(position_lookup(order, matrix.width), len(order)))
        weights = np.ones(X.n_rows) if data.weights is None else data.weights
        counts = X.transposed_times(weights)
        effects, start = [], 0
        for group, indexer in zip(data.schema.column_groups, data.feature_index.indexers, strict=True):
            stop = start + len(indexer.feature_order())
            effects.append(_make_effect(group, indexer, X, data.weights, counts, start, stop, fixed_strength))
            start = stop
        return cls(X, counts, effects, list(data.schema.column_groups))


def _make_effect(
    group: ColumnGroup,
    indexer: Any,
    X: SparseMatrix,
    weights: Floats | None,
    counts: Floats,
    start: int,
    stop: int,
    fixed_strength: float | None,
) -> Effect:
    if isinstance(indexer, CurveIndexer):
        kind: Any = group.kind
        smooth = None if kind.smooth == "auto" else float(kind.smooth)
        cells = indexer.cells
        effect = curve_effect(group.title, start, counts[start:stop], cells.positions, smooth, kind.monotone)
        return replace(effect, unique_shares=cells.unique_shares)
    if isinstance(group.kind, Category) and group.kind.against is None:
        return level_effect(group.title, start, counts[start:stop])
    scales = np.ones(stop - start)
    if not isinstance(group.kind, Category) and stop - start <= MAX_POSTERIOR_FEATURES:
        mask = np.zeros(X.width, dtype=bool)
        mask[start:stop] = True
        stds = column_means_and_stds(X.select_features(mask), weights)[1]
        is_number = group.kind.name in ("value", "number", "products")
        scales = np.where(is_number & (stds > 0), stds, 1.0)
    is_small = stop - start == 1 or group.kind.name == "flag"
    key = FLAGS if is_small else f"{group.title}: weights"
    has_words = isinstance(group.kind, BagOfWordsKind)
    return linear_effect(group.title, start, scales, key, fixed_strength, has_words)


@dataclass(frozen=True, eq=False)
class AdditiveFit:
    """The fitted effects: problem, strengths, solution, and the noise variance (1 for log loss)."""

    problem: AdditiveProblem
    smoothing: Smoothing
    solution: AdditiveSolution

    @property
    def weights(self) -> Floats:
        """The weights [features, outputs]."""
        return self.problem.expand(self.solution.state.U)

    @property
    def intercepts(self) -> Floats:
        """The intercepts [outputs]."""
        return self.solution.state.b

    @cached_property
    def degrees_of_freedom(self) -> float:
        """The effective number of weights, including the intercept."""
        return 1.0 + sum(self.smoothing.degrees.values())

    def standard_errors(self) -> Floats:
        """Return the posterior standard deviations [features, outputs] of the weights.

        Effects in different blocks of the Hessian count as independent.
        """
        noise = self.smoothing.noise
        columns = []
        for inverses in self.solution.preconditioner.inverses():
            parts = []
            for effect, inverse in zip(self.problem.effects, inverses, strict=True):
                if inverse.ndim == 1:
                    parts.append(inverse)
                elif effect.basis is None:
                    parts.append(np.diagonal(inverse))
                else:
                    parts.append(np.einsum("ij,jk,ik->i", effect.basis, inverse, effect.basis, optimize=True))
            columns.append(np.sqrt(noise * np.maximum(np.concatenate(parts), 0.0)))
        return np.column_stack(columns)

    def strengths_of(self, effect: Effect) -> Floats:
        """Return the strengths of an effect's components."""
        return np.array([self.smoothing.strengths[c.key] for c in effect.components])


def finish(
    problem: AdditiveProblem, smoothing: Smoothing, null: float, tol: float, max_iter: int
) -> AdditiveFit:
    """Minimise the objective for chosen strengths."""
    solution = minimise(problem, smoothing.strengths, (smoothing.U, smoothing.b), tol * null, max_iter)
    if isinstance(problem.loss, SquaredLoss):
        noise = smoothing.noise + cell_variance(problem, solution.state.U)
        smoothing = replace(smoothing, noise=noise)
    return AdditiveFit(problem, smoothing, solution)


def cell_variance(problem: AdditiveProblem, U: Floats) -> float:
    """Return the variance of the curves within their cells that the residuals do not contain.

    If a curve rises by v per cell, new values in a cell deviate from it with the variance v²/12. The
    residuals of m rows in a cell contain this variance but for 1/m of it, because the height of the cell
    is fitted to their mean: all of it if every row has a cell of its own. The share of new rows whose value
    no training row has is about that of the values with one row (Good 1953).
    """
    heights, total = problem.expand(U)[:, 0], 0.0
    for effect in problem.effects:
        shares = effect.unique_shares
        if shares is not None and len(shares) > 1:
            rises = np.gradient(heights[effect.start : effect.start + len(shares)])
            total += float(shares @ np.square(rises)) / 12
    return total / float((problem.loss.weights > 0).sum())


def complete_terms(
    terms: Sequence[Any], fit: AdditiveFit, counts: Floats, scale: float, binary: bool
) -> list[Any]:
    """Return the terms of a model with counts, strengths and standard errors; heights are × `scale`."""
    errors_by_output = scale * fit.standard_errors()
    if binary:
        errors_by_output = np.column_stack([np.zeros(len(errors_by_output)), errors_by_output])
    completed = []
    for term, effect in zip(terms, fit.problem.effects, strict=True):
        at = slice(effect.start, effect.stop)
        if isinstance(term, CurveWeights | PairWeights):
            term = replace(
                term, counts=counts[at], strengths=fit.strengths_of(effect), errors=errors_by_output[at]
            )
        completed.append(term)
    return completed


def strengths_by_title(schema: Schema, fit: AdditiveFit) -> dict[str, float]:
    """Return the strength of each column group's effect: of a curve, that of its random walk."""
    parts = zip(schema.unique_titles, fit.problem.effects, strict=True)
    return {title: float(fit.strengths_of(effect)[0]) for title, effect in parts}


@dataclass(frozen=True, eq=False)
class AdditivePosterior:
    """The posterior of an additive model, computed on demand; heights are × `scale`."""

    fit: AdditiveFit
    scale: float
    shift: float

    def posterior(self) -> Posterior:
        """Return mean and covariance of the weights."""
        fit, problem = self.fit, self.fit.problem
        state, X = fit.solution.state, problem.X
        ones = np.ones_like(state.p)
        h = np.ascontiguousarray(problem.loss.hessian_times(state.p, ones)[:, 0])
        total, sums = float(h.sum()), X.transposed_times(h)
        centred = X.weighted_gram(h) - np.outer(sums, sums) / total
        basis = np.zeros((X.width, problem.offsets[-1]))
        P = np.zeros((problem.offsets[-1], problem.offsets[-1]))
        for effect, at in problem.slices():
            size = effect.stop - effect.start
            basis[effect.start : effect.stop, at] = np.eye(size) if effect.basis is None else effect.basis
            precision = effect.precision(fit.smoothing.strengths)
            P[at, at] = precision if precision.ndim == 2 else np.diag(precision)
        hess = basis.T @ centred @ basis + P
        hess += 1e-12 * np.diag(np.diagonal(hess))
        lower = algebra.cholesky(hess)
        inverse = np.linalg.pinv(hess) if lower is None else algebra.cholesky_inverse(lower)
        noise = fit.smoothing.noise * self.scale**2
        covariance = noise * (basis @ inverse @ basis.T)
        mean = self.scale * fit.weights[:, 0]
        intercept = self.shift + self.scale * float(state.b[0])
        return Posterior(mean, intercept, covariance, sums / total, float(np.sqrt(noise)), total)


def posterior_source(fit: AdditiveFit, scale: float = 1.0, shift: float = 0.0) -> AdditivePosterior | None:
    """Return the posterior of a fit with one output and few features, otherwise None."""
    is_small = fit.problem.X.width <= MAX_POSTERIOR_FEATURES and fit.problem.loss.n_outputs == 1
    return AdditivePosterior(fit, scale, shift) if is_small else None
