"""Least squares and ridge by conjugate gradients: for sparse rows whose gram would not fit into memory."""

from __future__ import annotations

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.regress.centred import CentredRows
from weigh.learn.regress.matrix import Matrix
from weigh.learn.regress.problem import Problem, Solution

_WIDE = 3_000
_CELLS = 50_000_000
_LOOK = 10
# Slopes this much smaller than the first, squared, are rounding, which steps along dependent features swell.
_ROUNDED = 1e-26


def asks_for_gradients(X: Matrix) -> bool:
    """Tell whether rows are too many and too sparse to be laid out."""
    return X.density < 0.2 and X.width > _WIDE and X.n_rows * X.width > _CELLS


def solve_by_gradients(problem: Problem, tol: float = 1e-10, max_iter: int = 2_000) -> Solution:
    """Return the weights of penalties l2 alone, to a gap of tol times what the best constant costs.

    Without any penalty the steps, begun at zero, stay in the rows' span: they lead to the shortest solution.
    """
    rows = CentredRows.of(problem)
    unit, is_proved = _units(problem, rows), bool((problem.l2 > 0).all())
    w, r = np.zeros(problem.X.width), rows.target
    enough = tol * 0.5 * rows.yy
    slope = rows.cross
    z = slope / unit
    way, now = z, float(slope @ z)
    least = _ROUNDED * now
    lengths: list[float] = []
    turns: list[float] = []
    step, gap = 0, _gap(problem, slope, now, lengths, turns)
    while now > least and gap > enough and step < max_iter:
        moved = rows.times(way)
        length = now / (rows.dot(moved, moved) + float(problem.l2 @ np.square(way)))
        w, r = w + length * way, r - length * moved
        slope = rows.pulls(r) - problem.l2 * w
        z = slope / unit
        before, now = now, float(slope @ z)
        lengths.append(length)
        turns.append(now / before)
        way = z + turns[-1] * way
        step += 1
        # An estimate takes the eigenvalues of all steps so far, so it is made now and then, and at the end.
        if is_proved or step % _LOOK == 0 or step == max_iter or now <= least:
            gap = _gap(problem, slope, now, lengths, turns)
    objective = 0.5 * rows.dot(r, r) + problem.penalty(w)
    method = "conjugate gradients" + ("" if is_proved else "; the gap is estimated, not proved")
    return Solution(w, np.asarray(rows.intercept(w)), objective, gap, step, method)


def _units(problem: Problem, rows: CentredRows) -> Floats:
    """Return what slopes are divided by; endless, for no step at all, where only rounding pulls."""
    spread = rows.diagonal()
    unit = spread + problem.l2 if (problem.l2 > 0).any() else np.ones(problem.X.width)
    return np.where(spread > 0, unit, np.inf)


def _gap(problem: Problem, slope: Floats, now: float, lengths: list[float], turns: list[float]) -> float:
    """Bound ½ gᵀ H⁻¹ g of the gradient g: by H ≥ diag(l2), or by the least eigenvalue the steps have met."""
    if (problem.l2 > 0).all():
        return 0.5 * float((np.square(slope) / problem.l2).sum())
    if not lengths:
        return np.inf if now > 0 else 0.0
    steps, back = np.array(lengths), np.array(turns[:-1])
    diagonal = 1 / steps + np.append(0.0, back / steps[:-1])
    off = np.sqrt(back) / steps[:-1]
    table = np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1)
    return 0.5 * now / max(float(np.linalg.eigvalsh(table)[0]), np.finfo(np.float64).tiny)
