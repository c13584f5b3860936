"""Least squares and ridge by conjugate gradients: for sparse rows whose gram would not fit into memory."""

from __future__ import annotations

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.regress.matrix import Matrix
from weigh.learn.regress.problem import Problem, Solution

_WIDE = 3_000
_CELLS = 50_000_000


def asks_for_gradients(X: Matrix) -> bool:
    """Tell whether rows are too many and too sparse to be laid out."""
    return X.density < 0.2 and X.width > _WIDE and X.n_rows * X.width > _CELLS


def solve_by_gradients(problem: Problem, tol: float = 1e-10, max_iter: int = 2_000) -> Solution:
    """Return the weights of penalties l2 alone, to a gap of tol times what the best constant costs.

    Without any penalty the steps, begun at zero, stay in the rows' span: they lead to the shortest solution.
    """
    rows = _Centred(problem)
    unit = rows.diagonal() if (problem.l2 > 0).any() else np.ones(problem.X.width)
    unit[unit <= 0] = 1.0
    w, r = np.zeros(problem.X.width), rows.target.copy()
    enough = tol * 0.5 * float(rows.weights @ np.square(r))
    slope = rows.pulled(r)
    z = slope / unit
    way, now = z, float(slope @ z)
    lengths: list[float] = []
    turns: list[float] = []
    step, gap = 0, _gap(problem, slope, now, lengths, turns)
    while now > 0 and gap > enough and step < max_iter:
        moved = rows.times(way)
        length = now / float(rows.weights @ np.square(moved) + problem.l2 @ np.square(way))
        w, r = w + length * way, r - length * moved
        slope = rows.pulled(r) - problem.l2 * w
        z = slope / unit
        before, now = now, float(slope @ z)
        lengths.append(length)
        turns.append(now / before)
        way = z + turns[-1] * way
        step += 1
        gap = _gap(problem, slope, now, lengths, turns)
    objective = 0.5 * float(rows.weights @ np.square(r)) + problem.penalty(w)
    method = "conjugate gradients" + ("" if (problem.l2 > 0).all() else "; the gap is estimated, not proved")
    return Solution(w, np.asarray(rows.mean_y - rows.mean_x @ w), objective, gap, step, method)


def _gap(problem: Problem, slope: Floats, now: float, lengths: list[float], turns: list[float]) -> float:
    """Bound ½ gᵀ H⁻¹ g of the gradient g: by H ≥ diag(l2), or by the least eigenvalue the steps have met."""
    if (problem.l2 > 0).all():
        return 0.5 * float((np.square(slope) / problem.l2).sum())
    if not lengths:
        return np.inf
    if len(lengths) % 10 and now > 0:
        return np.inf
    steps, back = np.array(lengths), np.array(turns[:-1])
    diagonal = 1 / steps + np.append(0.0, back / steps[:-1])
    off = np.sqrt(back) / steps[:-1]
    table = np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1)
    return 0.5 * now / max(float(np.linalg.eigvalsh(table)[0]), np.finfo(np.float64).tiny)


class _Centred:
    """Products of rows counted from their means, which are never subtracted from the rows themselves."""

    def __init__(self, problem: Problem) -> None:
        self.X = problem.X
        y = problem.y if problem.offset is None else problem.y - problem.offset
        self.weights = np.ones(len(y)) if problem.weights is None else problem.weights
        total = float(self.weights.sum())
        self.mean_x, self.mean_y = np.zeros(self.X.width), 0.0
        if problem.bias:
            self.mean_x = self.X.transposed_times(self.weights) / total
            self.mean_y = float(self.weights @ y / total)
        self.target, self.total, self.l2 = y - self.mean_y, total, problem.l2

    def times(self, w: Floats) -> Floats:
        return np.asarray(self.X.times(w) - self.mean_x @ w)

    def pulled(self, r: Floats) -> Floats:
        weighted = self.weights * r
        return np.asarray(self.X.transposed_times(weighted) - float(weighted.sum()) * self.mean_x)

    def diagonal(self) -> Floats:
        return np.asarray(self.X.squared_times(self.weights) - self.total * np.square(self.mean_x) + self.l2)
