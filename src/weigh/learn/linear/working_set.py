"""Squared loss with l1 and many features: those that pull are solved for, and all are looked at at last."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Protocol

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Longs
from weigh.learn.linear.coordinate_descent import GramLoss, build_columns, position_lookup, solve_gram_lasso
from weigh.learn.linear.duality import lasso_dual_bound
from weigh.learn.linear.matrix import Matrix, SparseMatrix
from weigh.learn.linear.problem import CentredProblem, Solution
from weigh.model.parallel import available_cores

# The first working set has so many features; above so many there is no Gram matrix of them.
_MIN_GROWTH, _MAX_GRAM_FEATURES = 100, 3_000
_METHOD = "working set, coordinate descent"


class WorkingSetSolver:
    """Features that are solved for, kept from one solution of a path to the next."""

    def __init__(self, rows: CentredProblem) -> None:
        self.problem = rows
        self._features = make_working_features(rows.X, rows)
        self._columns: _core.ColumnSubset | None = None

    def solve(self, l1: Floats, l2: Floats, tol: float, max_iter: int, start: Floats | None) -> Solution:
        """Return the weights of least objective; see `solve_lasso`."""
        rows = self.problem
        w = np.zeros(len(l1)) if start is None else start
        self._add(np.flatnonzero((w != 0) | (l1 == 0)))
        null, w = self._initialise(l1, l2, w, start is None)
        bound, sweeps, stalled = -np.inf, 0, 0
        while True:
            r = rows.target - self._features.times(w) if w.any() else rows.target
            q = rows.residual_correlations(r) if w.any() else rows.cross
            rr = rows.dot(r, r)
            objective = rr / 2 + float(l1 @ np.abs(w) + l2 @ np.square(w) / 2)
            past, bound = bound, max(bound, lasso_dual_bound(rr, rows.dot(rows.target, r), q, l1, l2))
            gap = max(0.0, objective - bound)
            added = self._grow(np.abs(q) - l1, int(np.count_nonzero(w)))
            stalled = 0 if added or bound > past else stalled + 1
            if gap <= tol * null or sweeps >= max_iter or stalled > 5:
                return Solution(w, np.asarray(rows.intercept(w)), objective, gap, sweeps, _METHOD)
            inner = max(0.3 * tol, 0.01 * gap / null) if added else 0.1 * tol
            w, done = self._solve_inner(w, r, q, l1, l2, inner, max_iter - sweeps)
            sweeps += done

    def _initialise(self, l1: Floats, l2: Floats, w: Floats, is_cold: bool) -> tuple[float, Floats]:
        """Return what the model without l1 costs, and weights to begin with."""
        others = np.flatnonzero(l1 == 0)
        if not len(others):
            return self.problem.yy / 2, w
        loss = self._features.gram_loss(others)
        point = solve_gram_lasso(loss, l1[others], l2[others], tol=0.0, max_iter=1)
        null = (loss.yy - loss.cross @ point.w) / 2
        if is_cold:
            w = w.copy()
            w[others] = point.w
        return float(null), w

    def _grow(self, excess: Floats, support: int) -> bool:
        """Add the features that pull most; return whether there were any."""
        excess[self._features.indices] = 0.0
        pulling = np.flatnonzero(excess > 0)
        if not len(pulling):
            return False
        most = max(_MIN_GROWTH, support)
        if len(pulling) > most:
            pulling = pulling[np.argpartition(-excess[pulling], most)[:most]]
        self._add(pulling)
        return True

    def _add(self, new: Longs) -> None:
        new = np.setdiff1d(new, self._features.indices)
        if len(new):
            self._features.add(new)
            self._columns = None

    def _solve_inner(
        self, w: Floats, r: Floats, q: Floats, l1: Floats, l2: Floats, tol: float, most: int
    ) -> tuple[Floats, int]:
        which = self._features.indices
        if len(which) > _MAX_GRAM_FEATURES:
            return self._descend_columns(w, r, q, l1, l2, most)
        point = solve_gram_lasso(
            self._features.gram_loss(which), l1[which], l2[which], tol=tol, max_iter=most, start=w[which]
        )
        there = np.zeros_like(w)
        there[which] = point.w
        return there, point.sweeps

    def _descend_columns(
        self, w: Floats, r: Floats, q: Floats, l1: Floats, l2: Floats, most: int
    ) -> tuple[Floats, int]:
        rows, which = self.problem, self._features.indices
        if self._columns is None:
            self._columns = build_columns(rows.X, which)
        h = np.ones(rows.X.n_rows) if rows.weights is None else rows.weights
        settings = _core.CoordinateDescentSettings(
            rows.has_intercept, True, 1e-3, min(most, 50), available_cores(), 0
        )
        found = w[which]
        every = np.arange(len(which), dtype=np.int32)
        done, _ = _core.coordinate_descent_columns(
            self._columns, every, l1[which], l2[which], h, rows.weighted(r), q[which], settings, found
        )
        there = np.zeros_like(w)
        there[which] = found
        return self._refit_unpenalised_weights(there, l1, l2), done

    def _refit_unpenalised_weights(self, w: Floats, l1: Floats, l2: Floats) -> Floats:
        """Fit the weights without l1 to what the others leave: the bound counts on it."""
        others = np.flatnonzero(l1 == 0)
        if len(others):
            loss = self._features.gram_loss(others)
            left = (
                self.problem.residual_correlations(self.problem.target - self._features.times(w))[others]
                + loss.gram @ w[others]
            )
            loss = replace(loss, cross=left)
            w[others] = solve_gram_lasso(loss, l1[others], l2[others], tol=0.0, max_iter=1).w
        return w


# A feature whose squares around the mean are so small a part of all its squares is constant but for rounding.
_CONSTANT_TOLERANCE = 1e-13


class WorkingFeatures(Protocol):
    """Features in the order in which they came."""

    indices: Longs

    def add(self, new: Longs) -> None:
        """Take in features that are not yet there."""

    def times(self, w: Floats) -> Floats:
        """Return (xᵢ − m)·w for weights that are zero but for the features held."""

    def gram_loss(self, which: Longs) -> GramLoss:
        """Return the squared loss of some of the features; constant ones have no part in it."""


class DenseWorkingFeatures:
    """Features as columns around their means, side by side."""

    def __init__(self, rows: CentredProblem) -> None:
        self.indices: Longs = np.zeros(0, np.int64)
        self._problem = rows
        self._columns = np.zeros((0, rows.X.n_rows))
        self._gram = np.zeros((0, 0))

    def add(self, new: Longs) -> None:
        """Take in features that are not yet there."""
        rows = self._problem
        columns = np.asarray(rows.X.dense_columns(new).T - rows.mean_x[new, None])
        weighted = rows.weighted(columns)
        own = weighted @ columns.T
        around, middle = np.diagonal(own), rows.total_weight * rows.mean_x[new] ** 2
        constant = around <= _CONSTANT_TOLERANCE * (around + middle)
        if rows.has_intercept and constant.any():
            columns[constant], own[constant], own[:, constant] = 0.0, 0.0, 0.0
            weighted = rows.weighted(columns)
        between = self._columns @ weighted.T
        self._gram = np.block([[self._gram, between], [between.T, own]])
        self._columns = np.concatenate([self._columns, columns])
        self.indices = np.concatenate([self.indices, new])

    def times(self, w: Floats) -> Floats:
        """Return (xᵢ − m)·w for weights that are zero but for the features held."""
        return np.asarray(w[self.indices] @ self._columns)

    def gram_loss(self, which: Longs) -> GramLoss:
        """Return the squared loss of some of the features; constant ones have no part in it."""
        return _restrict_gram_loss(self.indices, which, self._gram, self._problem)


class SparseWorkingFeatures:
    """Features that stay where they are; the matrix is made anew when there are more."""

    def __init__(self, rows: CentredProblem) -> None:
        self.indices: Longs = np.zeros(0, np.int64)
        self._problem = rows
        self._gram: Floats | None = None

    def add(self, new: Longs) -> None:
        """Take in features that are not yet there."""
        self.indices = np.concatenate([self.indices, new])
        self._gram = None

    def times(self, w: Floats) -> Floats:
        """Return (xᵢ − m)·w."""
        return self._problem.times(w)

    def gram_loss(self, which: Longs) -> GramLoss:
        """Return the squared loss of some of the features; constant ones have no part in it."""
        if self._gram is None:
            self._gram = self._compute_gram()
        return _restrict_gram_loss(self.indices, which, self._gram, self._problem)

    def _compute_gram(self) -> Floats:
        rows, size = self._problem, len(self.indices)
        X, mean, gram = rows.X, rows.mean_x[self.indices], np.empty((size, size))
        assert isinstance(X, SparseMatrix)
        places = position_lookup(self.indices, X.width)
        _core.sparse_weighted_gram(
            X.indptr, X.indices, X.values, places, rows.weights, available_cores(), gram
        )
        if rows.has_intercept:
            raw = np.diagonal(gram).copy()
            gram -= rows.total_weight * np.outer(mean, mean)
            constant = np.diagonal(gram) <= _CONSTANT_TOLERANCE * raw
            gram[constant], gram[:, constant] = 0.0, 0.0
        return gram


@singledispatch
def make_working_features(X: Matrix, rows: CentredProblem) -> WorkingFeatures:
    """Return an empty set of features of rows."""
    return DenseWorkingFeatures(rows)


@make_working_features.register
def _(X: SparseMatrix, rows: CentredProblem) -> WorkingFeatures:
    return SparseWorkingFeatures(rows)


def _restrict_gram_loss(held: Longs, which: Longs, gram: Floats, rows: CentredProblem) -> GramLoss:
    if which is not held:
        place = np.argsort(held)[np.searchsorted(np.sort(held), which)]
        gram = gram[np.ix_(place, place)]
    cross = np.where(np.diagonal(gram) > 0, rows.cross[which], 0.0)
    return GramLoss(gram, cross, rows.yy)
