"""The strength of a ridge penalty, chosen by rows that were not learned from."""

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
    """Return the residuals [n, k] of every row, had it been left out, by formula.

    A row of leverage hᵢ = sᵢ (1/N + xᵢᵀ (gram + l2)⁻¹ xᵢ), x from the mean, has the residual rᵢ / (1 − hᵢ).
    """
    if moments is None and problem.X.width > problem.X.n_rows:
        return RowEigendecomposition(problem, direction).loo_residuals(scales)
    moments = Moments.from_problem(problem) if moments is None else moments
    reduced = ReducedMoments.from_moments(moments, direction)
    values, vectors = algebra.eigh(reduced.gram)
    shares = 1 / (np.maximum(values, 0.0)[:, None] + scales[None, :])
    right = (vectors.T @ reduced.rhs)[:, None] * shares
    W = reduced.weights(vectors @ right)
    y = problem.y if problem.offset is None else problem.y - problem.offset
    found = np.empty((problem.X.n_rows, len(scales)))
    for which, block in row_blocks(problem.X, moments.mean_x if problem.has_intercept else None):
        seen, length = reduced.transform_rows(block)
        leverage = length[:, None] + np.square(seen @ vectors) @ shares
        if problem.has_intercept:
            leverage += 1 / moments.total_weight
        if problem.weights is not None:
            leverage *= problem.weights[which, None]
        found[which] = (y[which, None] - moments.mean_y - block @ W) / (1 - leverage)
    return found


def ridge_loo_validation(
    problem: Problem, direction: Floats, scales: Floats, moments: Moments | None = None
) -> ValidationCurve:
    """Judge every scale by leaving out one row at a time; every row is a fold of its own."""
    weights = np.ones(problem.X.n_rows) if problem.weights is None else problem.weights
    squares = np.square(ridge_loo_residuals(problem, direction, scales, moments))
    mean = weights @ squares / weights.sum()
    spread = np.sqrt(weights @ np.square(squares - mean) / weights.sum() / problem.X.n_rows)
    return ValidationCurve(scales, squares, np.asarray(mean), np.asarray(spread))


@dataclass(frozen=True, eq=False)
class ValidationCurve:
    """Mean losses of rows held out, for every scale of a penalty; `errors` [folds, k] has them fold by fold.

    `uncertainty` is the standard error of their mean over the folds.
    """

    scales: Floats
    fold_errors: Floats
    mean_errors: Floats
    standard_errors: Floats

    @classmethod
    def from_fold_sums(cls, scales: Floats, sums: Floats, totals: Floats) -> ValidationCurve:
        """Return the choice by sums of losses [folds, k] over rows of these total weights."""
        each = sums / totals[:, None]
        spread = each.std(axis=0, ddof=1) / np.sqrt(len(totals))
        return cls(scales, each, sums.sum(axis=0) / totals.sum(), spread)

    @property
    def best_index(self) -> int:
        """The number of the scale with the least error."""
        return int(np.argmin(self.mean_errors))

    @property
    def best_scale(self) -> float:
        """The scale with the least error."""
        return float(self.scales[self.best_index])


Folds = int | str  # how many parts, or "loo": every row is one


def consecutive_folds(n: int, folds: int) -> list[tuple[int, int]]:
    """Return the first and last places of folds of consecutive rows, nearly equal in size.

    Neighbours in time stay together, and no row is copied.
    """
    if n < folds:
        raise errors.DataError(
            f"There are {n:,} rows for {folds:,} folds; cross-validation needs one row in each. Give fewer "
            f"folds, or more rows."
        )
    cuts = np.linspace(0, n, folds + 1).astype(int).tolist()
    return list(itertools.pairwise(cuts))


def stratified_folds(classes: Floats, folds: int) -> list[Mask]:
    """Return which rows each fold holds out; the rows of every class are dealt out in turn."""
    fold = np.empty(len(classes), dtype=np.int64)
    for label in np.unique(classes):
        own = np.flatnonzero(classes == label)
        if len(own) < 2:
            raise errors.DataError(
                "A class has one row only, and none is left to learn it from while that row is held out. "
                "Give more rows of it, leave it out, or give the prior's scale as a number."
            )
        fold[own] = np.arange(len(own)) % folds
    found = [np.asarray(fold == number) for number in range(folds)]
    if not all(held.any() and not held.all() for held in found):
        raise errors.DataError(
            f"The rows of every class are dealt to {folds:,} folds in turn, and {len(classes):,} rows leave "
            f"some fold without any. Give fewer folds, or more rows."
        )
    return found
