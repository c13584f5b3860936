"""Working-set solver for lasso and elastic net with many features.

The problem is solved on a small set of features; after each solution all features are checked against their
optimality condition |qⱼ| ≤ l1ⱼ, and the worst violators join the set. The duality gap is that of the full
problem.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Protocol

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Longs
from weigh.learn.linear.coordinate_descent import GramLoss, build_columns, solve_gram_lasso
from weigh.learn.linear.duality import lasso_dual_bound
from weigh.learn.linear.matrix import Matrix, SparseMatrix, position_lookup
from weigh.learn.linear.problem import CentredProblem, Solution
from weigh.model.parallel import available_cores

_MIN_GROWTH = 100  # features that may always join the working set at once
_MAX_GRAM_FEATURES = 3_000  # above this size the inner solver sweeps the columns instead of the Gram matrix
_CONSTANT_TOLERANCE = 1e-13  # of the raw squares: smaller centred squares are rounding
_MAX_STALLED_ROUNDS = 5  # rounds in which neither the working set nor the dual bound has grown
# Tolerances of the inner problem: while the set grows, the larger of a fraction of tol and one of the current
# gap; then a smaller fraction of tol.
_INNER_TOL_FRACTION, _INNER_GAP_FRACTION, _FINAL_TOL_FRACTION = 0.3, 0.01, 0.1
_COLUMN_GAIN_TOLERANCE = 1e-3  # of the first sweep's gain: sweeps over columns stop at a smaller one
_MAX_COLUMN_SWEEPS = 50  # after which the gap and the optimality conditions are checked
_METHOD = "working set, coordinate descent"


class WorkingSetSolver:
    """Solver whose working set is kept from one solution of a path to the next."""

    def __init__(self, problem: CentredProblem) -> None:
        self.problem = problem
        self._features = make_working_features(problem.X, problem)
        self._columns: _core.ColumnSubset | None = None

    def solve(self, l1: Floats, l2: Floats, tol: float, max_iter: int, start: Floats | None) -> Solution:
        """Minimise until the gap is at most tol times the null objective; see `solve_lasso`."""
        problem = self.problem
        w = np.zeros(len(l1)) if start is None else start
        self._add(np.flatnonzero((w != 0) | (l1 == 0)))
        null_objective, w = self._initialise(l1, l2, w, start is None)
        bound, sweeps, n_stalled = -np.inf, 0, 0
        while True:
            r = problem.target - self._features.times(w) if w.any() else problem.target
            q = problem.residual_correlations(r) if w.any() else problem.cross
            rr = problem.dot(r, r)
            objective = rr / 2 + float(l1 @ np.abs(w) + l2 @ np.square(w) / 2)
            new_bound = lasso_dual_bound(rr, problem.dot(problem.target, r), q, l1, l2)
            old_bound, bound = bound, max(bound, new_bound)
            gap = max(0.0, objective - bound)
            has_grown = self._grow(np.abs(q) - l1, int(np.count_nonzero(w)))
            n_stalled = 0 if has_grown or bound > old_bound else n_stalled + 1
            if gap <= tol * null_objective or sweeps >= max_iter or n_stalled > _MAX_STALLED_ROUNDS:
                return Solution(w, np.asarray(problem.intercept(w)), objective, gap, sweeps, _METHOD)
            inner_tol = _FINAL_TOL_FRACTION * tol
            if has_grown:
                inner_tol = max(_INNER_TOL_FRACTION * tol, _INNER_GAP_FRACTION * gap / null_objective)
            w, done = self._solve_inner(w, r, q, l1, l2, inner_tol, max_iter - sweeps)
            sweeps += done

    def _initialise(self, l1: Floats, l2: Floats, w: Floats, is_cold: bool) -> tuple[float, Floats]:
        """Return the objective with all l1 weights zero, and the weights to start from."""
        without_l1 = np.flatnonzero(l1 == 0)
        if not len(without_l1):
            return self.problem.yy / 2, w
        loss = self._features.gram_loss(without_l1)
        point = solve_gram_lasso(loss, l1[without_l1], l2[without_l1], tol=0.0, max_iter=1)
        null_objective = (loss.yy - loss.cross @ point.w) / 2
        if is_cold:
            w = w.copy()
            w[without_l1] = point.w
        return float(null_objective), w

    def _grow(self, violation: Floats, support_size: int) -> bool:
        """Add the features of largest violation |qⱼ| − l1ⱼ > 0; return whether there were any."""
        violation[self._features.indices] = 0.0
        violating = np.flatnonzero(violation > 0)
        if not len(violating):
            return False
        max_growth = max(_MIN_GROWTH, support_size)
        if len(violating) > max_growth:
            violating = violating[np.argpartition(-violation[violating], max_growth)[:max_growth]]
        self._add(violating)
        return True

    def _add(self, indices: Longs) -> None:
        new = np.setdiff1d(indices, self._features.indices)
        if len(new):
            self._features.add(new)
            self._columns = None

    def _solve_inner(
        self, w: Floats, r: Floats, q: Floats, l1: Floats, l2: Floats, tol: float, max_sweeps: int
    ) -> tuple[Floats, int]:
        """Solve on the working set; return all weights and the number of sweeps."""
        working = self._features.indices
        if len(working) > _MAX_GRAM_FEATURES:
            return self._descend_columns(w, r, q, l1, l2, max_sweeps)
        loss = self._features.gram_loss(working)
        point = solve_gram_lasso(
            loss, l1[working], l2[working], tol=tol, max_iter=max_sweeps, start=w[working]
        )
        new_w = np.zeros_like(w)
        new_w[working] = point.w
        return new_w, point.sweeps

    def _descend_columns(
        self, w: Floats, r: Floats, q: Floats, l1: Floats, l2: Floats, max_sweeps: int
    ) -> tuple[Floats, int]:
        problem, working = self.problem, self._features.indices
        if self._columns is None:
            self._columns = build_columns(problem.X, working)
        h = np.ones(problem.X.n_rows) if problem.weights is None else problem.weights
        settings = _core.CoordinateDescentSettings(
            bias=problem.has_intercept,
            double_precision=True,
            gain_tolerance=_COLUMN_GAIN_TOLERANCE,
            max_sweeps=min(max_sweeps, _MAX_COLUMN_SWEEPS),
            threads=available_cores(),
            seed=0,
        )
        w_working = w[working]
        every = np.arange(len(working), dtype=np.int32)
        done, _ = _core.coordinate_descent_columns(
            self._columns,
            every,
            l1[working],
            l2[working],
            h,
            problem.weighted(r),
            q[working],
            settings,
            w_working,
        )
        new_w = np.zeros_like(w)
        new_w[working] = w_working
        return self._refit_weights_without_l1(new_w, l1, l2), done

    def _refit_weights_without_l1(self, w: Floats, l1: Floats, l2: Floats) -> Floats:
        """Fit the weights without l1 to the residual of the others.

        Sweeps over columns only approximate them, but the dual bound needs Xᵀr = 0 where l1 = l2 = 0.
        """
        without_l1 = np.flatnonzero(l1 == 0)
        if len(without_l1):
            loss = self._features.gram_loss(without_l1)
            residual = self.problem.target - self._features.times(w)
            cross = self.problem.residual_correlations(residual)[without_l1] + loss.gram @ w[without_l1]
            loss = replace(loss, cross=cross)
            w[without_l1] = solve_gram_lasso(loss, l1[without_l1], l2[without_l1], tol=0.0, max_iter=1).w
        return w


class WorkingFeatures(Protocol):
    """The features of a working set, in the order in which they joined."""

    indices: Longs

    def add(self, new: Longs) -> None:
        """Add features that are not in the set."""

    def times(self, w: Floats) -> Floats:
        """Return (xᵢ − m)·w for weights that are zero outside the set."""

    def gram_loss(self, indices: Longs) -> GramLoss:
        """Return the squared loss of features in the set, with zeros for constant features."""


class DenseWorkingFeatures:
    """Working set stored as centred columns, with their Gram matrix extended at each addition."""

    def __init__(self, problem: CentredProblem) -> None:
        self.indices: Longs = np.zeros(0, np.int64)
        self._problem = problem
        self._columns = np.zeros((0, problem.X.n_rows))
        self._gram = np.zeros((0, 0))

    def add(self, new: Longs) -> None:
        """Add features that are not in the set."""
        problem = self._problem
        columns = np.asarray(problem.X.dense_columns(new).T - problem.mean_x[new, None])
        weighted = problem.weighted(columns)
        new_gram = weighted @ columns.T
        centred_squares = np.diagonal(new_gram)
        mean_squares = problem.total_weight * problem.mean_x[new] ** 2
        is_constant = centred_squares <= _CONSTANT_TOLERANCE * (centred_squares + mean_squares)
        if problem.has_intercept and is_constant.any():
            columns[is_constant], new_gram[is_constant], new_gram[:, is_constant] = 0.0, 0.0, 0.0
            weighted = problem.weighted(columns)
        coupling = self._columns @ weighted.T
        self._gram = np.block([[self._gram, coupling], [coupling.T, new_gram]])
        self._columns = np.concatenate([self._columns, columns])
        self.indices = np.concatenate([self.indices, new])

    def times(self, w: Floats) -> Floats:
        """Return (xᵢ − m)·w for weights that are zero outside the set."""
        return np.asarray(w[self.indices] @ self._columns)

    def gram_loss(self, indices: Longs) -> GramLoss:
        """Return the squared loss of features in the set, with zeros for constant features."""
        return _restrict_gram_loss(self.indices, indices, self._gram, self._problem)


class SparseWorkingFeatures:
    """Working set that stays in the sparse matrix; its Gram matrix is recomputed after additions."""

    def __init__(self, problem: CentredProblem) -> None:
        self.indices: Longs = np.zeros(0, np.int64)
        self._problem = problem
        self._gram: Floats | None = None

    def add(self, new: Longs) -> None:
        """Add features that are not in the set."""
        self.indices = np.concatenate([self.indices, new])
        self._gram = None

    def times(self, w: Floats) -> Floats:
        """Return (xᵢ − m)·w."""
        return self._problem.times(w)

    def gram_loss(self, indices: Longs) -> GramLoss:
        """Return the squared loss of features in the set, with zeros for constant features."""
        if self._gram is None:
            self._gram = self._compute_gram()
        return _restrict_gram_loss(self.indices, indices, self._gram, self._problem)

    def _compute_gram(self) -> Floats:
        problem, size = self._problem, len(self.indices)
        X, mean, gram = problem.X, problem.mean_x[self.indices], np.empty((size, size))
        assert isinstance(X, SparseMatrix)
        positions = position_lookup(self.indices, X.width)
        _core.sparse_weighted_gram(*X.rows.csr, positions, problem.weights, available_cores(), gram)
        if problem.has_intercept:
            raw_diagonal = np.diagonal(gram).copy()
            gram -= problem.total_weight * np.outer(mean, mean)
            is_constant = np.diagonal(gram) <= _CONSTANT_TOLERANCE * raw_diagonal
            gram[is_constant], gram[:, is_constant] = 0.0, 0.0
        return gram


@singledispatch
def make_working_features(X: Matrix, problem: CentredProblem) -> WorkingFeatures:
    """Return an empty working set for the storage of X."""
    return DenseWorkingFeatures(problem)


@make_working_features.register
def _(X: SparseMatrix, problem: CentredProblem) -> WorkingFeatures:
    return SparseWorkingFeatures(problem)


def _restrict_gram_loss(working: Longs, indices: Longs, gram: Floats, problem: CentredProblem) -> GramLoss:
    """Return the loss of `indices` from the Gram matrix of the working set."""
    if indices is not working:
        positions = np.argsort(working)[np.searchsorted(np.sort(working), indices)]
        gram = gram[np.ix_(positions, positions)]
    cross = np.where(np.diagonal(gram) > 0, problem.cross[indices], 0.0)
    return GramLoss(gram, cross, problem.yy)
