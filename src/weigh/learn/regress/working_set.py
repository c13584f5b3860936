"""Squared loss with l1 and many features: those that pull are solved for, and all are looked at at last."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Longs
from weigh.learn.regress.centred import CentredRows
from weigh.learn.regress.chosen import chosen_columns
from weigh.learn.regress.gram_lasso import solve_gram
from weigh.learn.regress.held import held
from weigh.learn.regress.problem import Solution
from weigh.learn.regress.sparse_bound import residual_bound
from weigh.model.pipeline import cores

# The first working set has so many features; above so many there is no Gram matrix of them.
_FIRST, _LARGE = 100, 3_000
_METHOD = "working set, coordinate descent"


class WorkingSet:
    """Features that are solved for, kept from one solution of a path to the next."""

    def __init__(self, rows: CentredRows) -> None:
        self.rows = rows
        self._held = held(rows.X, rows)
        self._columns: _core.ColumnSubset | None = None

    def solve(self, l1: Floats, l2: Floats, tol: float, max_iter: int, start: Floats | None) -> Solution:
        """Return the weights of least objective; see `solve_lasso`."""
        rows = self.rows
        w = np.zeros(len(l1)) if start is None else start
        self._add(np.flatnonzero((w != 0) | (l1 == 0)))
        null, w = self._begun(l1, l2, w, start is None)
        bound, sweeps, stalled = -np.inf, 0, 0
        while True:
            r = rows.target - self._held.times(w) if w.any() else rows.target
            q = rows.pulls(r) if w.any() else rows.cross
            rr = rows.dot(r, r)
            objective = rr / 2 + float(l1 @ np.abs(w) + l2 @ np.square(w) / 2)
            past, bound = bound, max(bound, residual_bound(rr, rows.dot(rows.target, r), q, l1, l2))
            gap = max(0.0, objective - bound)
            added = self._grown(np.abs(q) - l1, int(np.count_nonzero(w)))
            stalled = 0 if added or bound > past else stalled + 1
            if gap <= tol * null or sweeps >= max_iter or stalled > 5:
                return Solution(w, np.asarray(rows.intercept(w)), objective, gap, sweeps, _METHOD)
            inner = max(0.3 * tol, 0.01 * gap / null) if added else 0.1 * tol
            w, done = self._inner(w, r, q, l1, l2, inner, max_iter - sweeps)
            sweeps += done

    def _begun(self, l1: Floats, l2: Floats, w: Floats, is_cold: bool) -> tuple[float, Floats]:
        """Return what the model without l1 costs, and weights to begin with."""
        others = np.flatnonzero(l1 == 0)
        if not len(others):
            return self.rows.yy / 2, w
        loss = self._held.loss(others)
        point = solve_gram(loss, l1[others], l2[others], tol=0.0, max_iter=1)
        null = (loss.yy - loss.cross @ point.w) / 2
        if is_cold:
            w = w.copy()
            w[others] = point.w
        return float(null), w

    def _grown(self, excess: Floats, support: int) -> bool:
        """Add the features that pull most; return whether there were any."""
        excess[self._held.which] = 0.0
        pulling = np.flatnonzero(excess > 0)
        if not len(pulling):
            return False
        most = max(_FIRST, support)
        if len(pulling) > most:
            pulling = pulling[np.argpartition(-excess[pulling], most)[:most]]
        self._add(pulling)
        return True

    def _add(self, new: Longs) -> None:
        new = np.setdiff1d(new, self._held.which)
        if len(new):
            self._held.add(new)
            self._columns = None

    def _inner(
        self, w: Floats, r: Floats, q: Floats, l1: Floats, l2: Floats, tol: float, most: int
    ) -> tuple[Floats, int]:
        which = self._held.which
        if len(which) > _LARGE:
            return self._along_columns(w, r, q, l1, l2, most)
        point = solve_gram(
            self._held.loss(which), l1[which], l2[which], tol=tol, max_iter=most, start=w[which]
        )
        there = np.zeros_like(w)
        there[which] = point.w
        return there, point.sweeps

    def _along_columns(
        self, w: Floats, r: Floats, q: Floats, l1: Floats, l2: Floats, most: int
    ) -> tuple[Floats, int]:
        rows, which = self.rows, self._held.which
        if self._columns is None:
            self._columns = chosen_columns(rows.X, which)
        h = np.ones(rows.X.n_rows) if rows.weights is None else rows.weights
        settings = _core.CoordinateDescentSettings(rows.bias, True, 1e-3, min(most, 50), cores(), 0)
        found = w[which]
        every = np.arange(len(which), dtype=np.int32)
        done, _ = _core.coordinate_descent_columns(
            self._columns, every, l1[which], l2[which], h, rows.weighted(r), q[which], settings, found
        )
        there = np.zeros_like(w)
        there[which] = found
        return self._refitted(there, l1, l2), done

    def _refitted(self, w: Floats, l1: Floats, l2: Floats) -> Floats:
        """Fit the weights without l1 to what the others leave: the bound counts on it."""
        others = np.flatnonzero(l1 == 0)
        if len(others):
            loss = self._held.loss(others)
            left = self.rows.pulls(self.rows.target - self._held.times(w))[others] + loss.gram @ w[others]
            loss = replace(loss, cross=left)
            w[others] = solve_gram(loss, l1[others], l2[others], tol=0.0, max_iter=1).w
        return w
