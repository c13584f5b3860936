"""Rows of least absolute deviations in units that suit a solver.

A penalty l1ⱼ |wⱼ| is the deviation of one more row, whose target is zero; features are counted from their
means in units of their spread, and the bias is one more feature of ones.
"""

from __future__ import annotations

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats, Longs
from weigh.learn.regress.moments import Moments
from weigh.learn.regress.problem import Problem
from weigh.learn.regress.row_blocks import row_blocks, whole

# Of a feature that others leave so little of, moments can say nothing.
_DEPENDENT = 1e-13


class AbsoluteRows:
    """A problem's rows of positive weight, followed by one row for every feature with a penalty l1.

    `y` and `s` are targets and weights of all of them, `l2` the penalties of `v`, the weights in these units.
    Features that others without a penalty make up are left out: they weigh nothing.
    """

    def __init__(self, problem: Problem, moments: Moments) -> None:
        self.problem, self.X = problem, problem.X
        self.mean = moments.mean_x
        self.scale = np.where(moments.spread > 0, moments.spread, 1.0)
        self.kept = _independent(problem, moments, self.scale)
        self.bias = problem.bias
        self.width = len(self.kept) + self.bias
        units = self.scale[self.kept]
        self.l1 = np.append(problem.l1[self.kept] / units, [0.0] * self.bias)
        self.l2 = np.append(problem.l2[self.kept] / units**2, [0.0] * self.bias)
        self.penalised: Longs = np.flatnonzero(self.l1 > 0)
        y = problem.y if problem.offset is None else problem.y - problem.offset
        s = np.ones(len(y)) if problem.weights is None else problem.weights
        more = len(self.penalised)
        self.y, self.s = np.append(y - moments.mean_y, np.zeros(more)), np.append(s, np.ones(more))
        self.mean_y = moments.mean_y

    def times(self, v: Floats) -> Floats:
        """Return what the weights make of every row."""
        w = self.weights(v)
        scores = self.X.times(w) - self.mean @ w
        if self.bias:
            scores += v[-1]
        return np.append(scores, self.l1[self.penalised] * v[self.penalised])

    def transposed_times(self, a: Floats) -> Floats:
        """Return the sum of all rows, each times its number."""
        found = self.pulled(a[: self.X.n_rows])
        found[self.penalised] += self.l1[self.penalised] * a[self.X.n_rows :]
        return found

    def pulled(self, a: Floats) -> Floats:
        """Return the sum of the problem's own rows, each times its number."""
        total = float(a.sum())
        inside = (self.X.transposed_times(a) - total * self.mean) / self.scale
        return np.append(inside[self.kept], [total] * self.bias)

    def gram(self, theta: Floats) -> Floats:
        """Return the sum of all rows' squares and products, each times its number."""
        n, d = self.X.n_rows, self.X.width
        root = np.sqrt(theta[:n])
        table, spare, sums = np.zeros((d, d)), np.empty((d, d)), np.zeros(d)
        for which, block in row_blocks(self.X, self.mean if self.bias else None, root):
            table += np.matmul(block.T, block, out=spare)
            sums += block.T @ root[which]
        found = np.empty((self.width, self.width))
        inside = len(self.kept)
        units = self.scale[self.kept]
        found[:inside, :inside] = table[np.ix_(self.kept, self.kept)] / units[:, None] / units[None, :]
        if self.bias:
            found[inside, :inside] = found[:inside, inside] = sums[self.kept] / units
            found[inside, inside] = theta[:n].sum()
        found[self.penalised, self.penalised] += np.square(self.l1[self.penalised]) * theta[n:]
        return found

    def some(self, which: Longs) -> Floats:
        """Return some rows as an array."""
        n = self.X.n_rows
        found = np.zeros((len(which), self.width))
        own = which < n
        mask = np.zeros(n, dtype=np.bool_)
        mask[which[own]] = True
        rows = whole(self.X.rows(mask), self.mean)[:, self.kept] / self.scale[self.kept]
        found[own, : len(self.kept)] = rows[np.argsort(np.argsort(which[own]))]
        if self.bias:
            found[own, -1] = 1.0
        features = self.penalised[which[~own] - n]
        found[np.flatnonzero(~own), features] = self.l1[features]
        return found

    def weights(self, v: Floats) -> Floats:
        """Return the weights in the features' own units."""
        w = np.zeros(self.X.width)
        w[self.kept] = v[: len(self.kept)] / self.scale[self.kept]
        return w

    def intercept(self, v: Floats) -> float:
        """Return the bias in the targets' own units."""
        if not self.bias:
            return 0.0
        return float(self.mean_y + v[-1] - self.mean @ self.weights(v))

    def objective(self, v: Floats, residuals: Floats) -> float:
        """Return what is minimised."""
        return float(self.s @ np.abs(residuals) + 0.5 * (self.l2 @ np.square(v)))


def _independent(problem: Problem, moments: Moments, scale: Floats) -> Longs:
    """Return the features that are neither constant nor made up of others without a penalty."""
    useful = moments.spread > 0
    free = np.flatnonzero(useful & (problem.l1 == 0) & (problem.l2 == 0))
    if len(free):
        table = moments.gram[np.ix_(free, free)] / scale[free, None] / scale[None, free]
        order, adds = algebra.pivots(table)
        useful[free[order[adds <= _DEPENDENT * len(free) * adds.max()]]] = False
    return np.flatnonzero(useful)
