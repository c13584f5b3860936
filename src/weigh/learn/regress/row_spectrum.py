"""Ridge penalties of every strength at once, where there are more features than rows.

With A = √s (X − m) / √direction of the penalised features, freed of all that the bias and the other features
can make (a projection N), A Aᵀ = Q diag(e) Qᵀ gives the residuals of every scale,
√s r = (N − Q diag(e / (e + scale)) Qᵀ) √s y, and 1 − leverage is the diagonal of the same table.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats
from weigh.learn.regress.least_squares import centred
from weigh.learn.regress.matrix import DenseMatrix
from weigh.learn.regress.moments import Moments
from weigh.learn.regress.problem import Problem


class RowSpectrum:
    """The eigenvalues of a table of rows by rows, and the way from them to weights."""

    def __init__(self, problem: Problem, direction: Floats) -> None:
        self.problem, self.held = problem, direction > 0
        rows, self.target, self.mean_x, self.mean_y = centred(problem)
        self.root = np.sqrt(direction[self.held])
        self.A, self.M = rows[:, self.held] / self.root, rows[:, ~self.held]
        self.outside = self._outside()
        self.freed = self.A - self.outside @ (self.outside.T @ self.A)
        values, self.Q = algebra.eigen(self.freed @ self.freed.T)
        self.values = np.maximum(values, 0.0)

    def moments(self) -> tuple[Moments, Floats]:
        """Return the moments of rows turned to be as many features as rows, and their direction, all ones.

        Evidence is the same of them; where there are features without a penalty it is not.
        """
        turned = DenseMatrix(self.Q * np.sqrt(self.values))
        own = Moments.of(turned, self.target, None, bias=False)
        weights, total = self.problem.weights, self.problem.total
        logs = 0.0 if weights is None else float(np.log(weights).sum())
        if self.problem.bias:
            # The bias has taken one row's worth, and its own share of the density.
            own = replace(own, n_rows=own.n_rows - 1)
            logs -= math.log(total)
        return replace(own, total=total, log_weights=logs), np.ones(turned.width)

    def weights(self, scales: Floats) -> Floats:
        """Return the weights [k, d] of k scales above zero."""
        turned = (self.Q.T @ self.target)[:, None] / (self.values[:, None] + scales[None, :])
        v = self.freed.T @ (self.Q @ turned)
        W = np.empty((len(self.held), len(scales)))
        W[self.held] = v / self.root[:, None]
        if self.M.shape[1]:
            U, s, V = algebra.singular(self.M)
            kept = s > 1e-12 * s.max(initial=0.0)
            W[~self.held] = (V[:, kept] / s[kept]) @ (U[:, kept].T @ (self.target[:, None] - self.A @ v))
        return W.T

    def left_out(self, scales: Floats) -> Floats:
        """Return the residuals [n, k] of every row, had it been left out."""
        W = self.weights(scales).T
        problem = self.problem
        y = problem.y if problem.offset is None else problem.y - problem.offset
        residuals = (y - self.mean_y)[:, None] - (problem.X.times(W) - self.mean_x @ W)
        shares = self.values[:, None] / (self.values[:, None] + scales[None, :])
        left = (1 - np.square(self.outside).sum(axis=1))[:, None] - np.square(self.Q) @ shares
        return np.asarray(residuals / left)

    def _outside(self) -> Floats:
        """Return an orthonormal basis of what the bias and features without a penalty can make."""
        parts = [self.M]
        if self.problem.bias:
            weights = self.problem.weights
            ones = np.ones(len(self.target)) if weights is None else np.sqrt(weights)
            parts.append(ones[:, None])
        table = np.column_stack(parts)
        if not table.shape[1]:
            return table
        U, s, _ = algebra.singular(table)
        return U[:, s > 1e-12 * s.max(initial=0.0)]
