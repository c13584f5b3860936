"""Cross-validation: folds, validation curves, and leave-one-out of ridge in closed form."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from weigh import algebra, errors
from weigh.features.blocks import Floats, Mask
from weigh.learn.linear.matrix import row_blocks
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import Problem
from weigh.learn.linear.ridge import ReducedMoments, RowEigendecomposition


def ridge_loo_residuals(
    problem: Problem, direction: Floats, scales: Floats, moments: Moments | None = None
) -> Floats:
    """Return the leave-one-out residuals [n, k] for k scales in closed form.

    A row with centred features xᵢ and leverage hᵢ = sᵢ (1/N + xᵢᵀ (gram + diag(l2))⁻¹ xᵢ) has the
    leave-one-out residual rᵢ / (1 − hᵢ).
    """
    if moments is None and problem.X.width > problem.X.n_rows:
        return RowEigendecomposition(problem, direction).loo_residuals(scales)
    moments = Moments.from_problem(problem) if moments is None else moments
    reduced = ReducedMoments.from_moments(moments, direction)
    values, vectors = algebra.eigh(reduced.gram)
    inverse_values = 1 / (np.maximum(values, 0.0)[:, None] + scales[None, :])
    W = reduced.weights(vectors @ ((vectors.T @ reduced.rhs)[:, None] * inverse_values))
    y = problem.y if problem.offset is None else problem.y - problem.offset
    residuals = np.empty((problem.X.n_rows, len(scales)))
    for rows, block in row_blocks(problem.X, moments.mean_x if problem.has_intercept else None):
        transformed, unpenalised_leverage = reduced.transform_rows(block)
        leverage = unpenalised_leverage[:, None] + np.square(transformed @ vectors) @ inverse_values
        if problem.has_intercept:
            leverage += 1 / moments.total_weight
        if problem.weights is not None:
            leverage *= problem.weights[rows, None]
        residuals[rows] = (y[rows, None] - moments.mean_y - block @ W) / (1 - leverage)
    return residuals


def ridge_loo_validation(
    problem: Problem, direction: Floats, scales: Floats, moments: Moments | None = None
) -> ValidationCurve:
    """Return the leave-one-out squared errors of every scale; each row is a fold."""
    weights = np.ones(problem.X.n_rows) if problem.weights is None else problem.weights
    squares = np.square(ridge_loo_residuals(problem, direction, scales, moments))
    mean = weights @ squares / weights.sum()
    standard_error = np.sqrt(weights @ np.square(squares - mean) / weights.sum() / problem.X.n_rows)
    return ValidationCurve(scales, squares, np.asarray(mean), np.asarray(standard_error))


@dataclass(frozen=True, eq=False)
class ValidationCurve:
    """Mean held-out losses for k scales of a penalty, and by fold in `fold_errors` [folds, k].

    `standard_errors` are those of the mean over the folds.
    """

    scales: Floats
    fold_errors: Floats
    mean_errors: Floats
    standard_errors: Floats

    @classmethod
    def from_fold_sums(cls, scales: Floats, sums: Floats, totals: Floats) -> ValidationCurve:
        """Build the curve from the losses' sums [folds, k] and the folds' total weights."""
        fold_errors = sums / totals[:, None]
        standard_errors = fold_errors.std(axis=0, ddof=1) / np.sqrt(len(totals))
        return cls(scales, fold_errors, sums.sum(axis=0) / totals.sum(), standard_errors)

    @property
    def best_index(self) -> int:
        """Index of the scale with the smallest mean error."""
        return int(np.argmin(self.mean_errors))

    @property
    def best_scale(self) -> float:
        """The scale with the smallest mean error."""
        return float(self.scales[self.best_index])


Folds = int | str  # the number of folds, or "loo" for leave-one-out


def consecutive_folds(n: int, folds: int) -> list[tuple[int, int]]:
    """Return (start, stop) of folds of consecutive rows, nearly equal in size.

    Rows that are neighbours in time stay in one fold, and no row is copied.
    """
    if n < folds:
        raise errors.DataError(
            f"There are {n:,} rows for {folds:,} folds; each fold needs at least one row. Give fewer folds, "
            "or more rows."
        )
    cuts = np.linspace(0, n, folds + 1).astype(int).tolist()
    return list(itertools.pairwise(cuts))


def stratified_folds(classes: Floats, folds: int) -> list[Mask]:
    """Return masks of the held-out rows of each fold, with every class spread evenly over the folds."""
    fold = np.empty(len(classes), dtype=np.int64)
    labels, sizes = np.unique(classes, return_counts=True)
    # If no class fills all folds, each begins after the previous one, so that no fold stays empty.
    starts = np.cumsum(sizes) - sizes if max(sizes, default=0) < folds else np.zeros_like(sizes)
    for label, start in zip(labels, starts, strict=True):
        rows = np.flatnonzero(classes == label)
        if len(rows) < 2:
            raise errors.DataError(
                "A class has only one row, so no row is left to learn it from when that row is held out. "
                "Give more rows of this class, leave it out, or give the prior's scale as a number."
            )
        fold[rows] = (start + np.arange(len(rows))) % folds
    masks = [np.asarray(fold == number) for number in range(folds)]
    if not all(mask.any() and not mask.all() for mask in masks):
        raise errors.DataError(
            f"{len(classes):,} rows cannot be split by class into {folds:,} folds without leaving a fold "
            "empty. Give fewer folds, or more rows."
        )
    return masks
