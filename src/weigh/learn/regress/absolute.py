"""Least absolute deviations: interior points, then the exact corner they lead to, with the dual as proof.

Without a penalty l2 some solution leaves as many rows without a residual as there are weights: once the
interior points tell which, the weights are those of a square system of equations, exact to rounding.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats, Longs
from weigh.learn.regress.absolute_rows import AbsoluteRows
from weigh.learn.regress.corner import cornered
from weigh.learn.regress.interior import interior_point
from weigh.learn.regress.least_squares import fit_moments
from weigh.learn.regress.matrix import DenseMatrix
from weigh.learn.regress.moments import Moments
from weigh.learn.regress.problem import Problem, Solution
from weigh.learn.regress.row_blocks import whole

# Below this the products of a block of rows are too small to be shared among threads.
_NARROW = 500


_MOST_CELLS = 50_000_000
_BLURRED = 1e-9
_EPS = float(np.finfo(np.float64).eps)


def solve_absolute(problem: Problem, tol: float = 1e-9, max_iter: int = 100) -> Solution:
    """Return the weights of least absolute deviations, to a gap of tol times what the best constant costs."""
    with algebra.one_thread() if problem.X.width <= _NARROW else nullcontext():
        return _solved(problem.counted(), tol, max_iter)


def _solved(problem: Problem, tol: float, max_iter: int) -> Solution:
    moments = Moments.of_problem(problem)
    if _is_blurred(problem, moments):
        return _straightened(problem, moments, tol, max_iter)
    rows = AbsoluteRows(problem, moments)
    constant, cost = best_constant(rows)
    if not cost:
        b = np.asarray(rows.mean_y + constant)
        return Solution(np.zeros(problem.X.width), b, 0.0, 0.0, 0, "a constant that fits all rows")
    at, steps = interior_point(rows, _start(rows, moments), 0.1 * tol * cost, max_iter)
    r = rows.y - rows.times(at.v)
    v, objective, method = at.v, rows.objective(at.v, r), "interior points"
    bound = proved(rows, at.a)
    if not (rows.l2 > 0).any() and rows.width:
        corner = cornered(rows, at)
        if corner is not None and corner.objective <= objective * (1 + 1e-12):
            v, objective, method = corner.v, corner.objective, "interior points, then the corner they lead to"
            bound = max(bound, proved(rows, corner.a))
    gap = max(objective - bound, 0.0)
    left = problem.X.width - len(rows.kept)
    if left:
        method += f"; {left} features that are constant or repeat others weigh nothing"
    return Solution(rows.weights(v), np.asarray(rows.intercept(v)), objective, gap, steps, method)


def _is_blurred(problem: Problem, moments: Moments) -> bool:
    """Whether features without any penalty are so alike that their moments cannot tell them apart."""
    if problem.l1.any() or problem.l2.any() or not 0 < problem.X.width < problem.X.n_rows:
        return False
    if problem.X.n_rows * problem.X.width > _MOST_CELLS or not (moments.spread > 0).all():
        return False
    size = np.sqrt(np.diagonal(moments.gram))
    table = moments.gram / size[:, None] / size[None, :]
    lower = algebra.factor(table)
    return lower is None or algebra.reciprocal_condition(lower, algebra.norm(table)) < _BLURRED


def _straightened(problem: Problem, moments: Moments, tol: float, max_iter: int) -> Solution:
    """Solve over orthogonal features that make up the same scores, and go back."""
    rows = whole(problem.X, moments.mean_x)
    size = np.sqrt(np.square(rows).sum(axis=0))
    order, adds = algebra.pivots(rows / size)
    kept = np.sort(order[adds > _EPS * max(rows.shape) * adds.max()])
    Q, R = algebra.orthogonal(rows[:, kept] / size[kept])
    straight = replace(
        problem, X=DenseMatrix(Q * np.sqrt(len(Q))), l1=np.zeros(len(kept)), l2=np.zeros(len(kept))
    )
    found = solve_absolute(straight, tol, max_iter)
    w = np.zeros(problem.X.width)
    w[kept] = algebra.half_solved(R.T, found.w * np.sqrt(len(Q)), turned=True) / size[kept]
    b = np.asarray(found.b - moments.mean_x @ w) if problem.bias else found.b
    return replace(found, w=w, b=b, method=f"{found.method}, over orthogonal features")


def proved(rows: AbsoluteRows, a: Floats) -> float:
    """Return a lower bound of the objective: the dual's value at a point made feasible.

    A feature without a penalty asks that Σ aᵢ xᵢⱼ = 0, one with l1 alone that it is at most l1 in size; with
    l2 it costs ½ (|Σ aᵢ xᵢⱼ| − l1)₊² / l2.
    """
    n = rows.X.n_rows
    prices, s = np.clip(a[:n], -rows.s[:n], rows.s[:n]), rows.s[:n]
    free = np.flatnonzero((rows.l1 == 0) & (rows.l2 == 0))
    if len(free):
        prices = prices - _mended(rows, prices, free)
    pull = np.abs(rows.pulled(prices))
    bounded = (rows.l1 > 0) & (rows.l2 == 0)
    over = max(
        float((np.abs(prices) / s).max(initial=1.0)),
        float((pull[bounded] / rows.l1[bounded]).max(initial=1.0)),
    )
    prices, pull = prices / over, pull / over
    soft = rows.l2 > 0
    cost = float((np.square(np.maximum(pull[soft] - rows.l1[soft], 0.0)) / rows.l2[soft]).sum()) / 2
    return float(rows.y[:n] @ prices) - cost


def _mended(rows: AbsoluteRows, prices: Floats, free: Longs) -> Floats:
    """Return the least change, where prices are free to change, that makes them orthogonal to features."""
    n = rows.X.n_rows
    room = rows.s[:n] * (1 - np.square(prices / rows.s[:n])) + 1e-12 * rows.s[:n]
    theta = np.append(room, np.zeros(len(rows.y) - n))
    table = rows.gram(theta)[np.ix_(free, free)]
    scale = np.sqrt(np.diagonal(table))
    lower = algebra.factor(table / scale[:, None] / scale[None, :])
    if lower is None:
        return np.zeros(n)
    v = np.zeros(rows.width)
    v[free] = algebra.solved(lower, rows.pulled(prices)[free] / scale) / scale
    return np.asarray(room * rows.times(v)[:n])


def best_constant(rows: AbsoluteRows) -> tuple[float, float]:
    """Return the weighted median of the targets, or zero without a bias, and what it costs."""
    y, s = rows.y[: rows.X.n_rows], rows.s[: rows.X.n_rows]
    constant = 0.0
    if rows.bias and len(y):
        order = np.argsort(y)
        middle = int(np.searchsorted(np.cumsum(s[order]), s.sum() / 2))
        constant = float(y[order[min(middle, len(y) - 1)]])
    return constant, float(s @ np.abs(y - constant))


def _start(rows: AbsoluteRows, moments: Moments) -> Floats:
    w = fit_moments(moments).w if not rows.l2.any() and not rows.l1.any() else np.zeros(moments.width)
    return np.append((w * rows.scale)[rows.kept], [0.0] * rows.bias)
