"""Least absolute deviations: interior points, then the exact corner they lead to, with the dual as proof.

Without a penalty l2 some solution leaves as many rows without a residual as there are weights: once the
interior points tell which, the weights are those of a square system of equations, exact to rounding.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats, Longs
from weigh.learn.linear.interior_point import InteriorPoint, LadProblem, solve_interior_point
from weigh.learn.linear.least_squares import fit_least_squares_from_moments
from weigh.learn.linear.matrix import DenseMatrix, to_dense
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import Problem, Solution

# Below this the products of a block of rows are too small to be shared among threads.
_MAX_SINGLE_THREAD_WIDTH = 500


_MAX_DENSE_CELLS = 50_000_000
_CONDITION_TOLERANCE = 1e-9
_EPS = float(np.finfo(np.float64).eps)


def solve_lad(problem: Problem, tol: float = 1e-9, max_iter: int = 100) -> Solution:
    """Return the weights of least absolute deviations, to a gap of tol times what the best constant costs."""
    with algebra.single_thread_blas() if problem.X.width <= _MAX_SINGLE_THREAD_WIDTH else nullcontext():
        return _solve(problem.drop_zero_weights(), tol, max_iter)


def _solve(problem: Problem, tol: float, max_iter: int) -> Solution:
    moments = Moments.from_problem(problem)
    if _is_ill_conditioned(problem, moments):
        return _solve_by_qr(problem, moments, tol, max_iter)
    rows = LadProblem(problem, moments)
    constant, cost = fit_constant(rows)
    if not cost:
        b = np.asarray(rows.mean_y + constant)
        return Solution(np.zeros(problem.X.width), b, 0.0, 0.0, 0, "a constant that fits all rows")
    at, steps = solve_interior_point(rows, _initial_weights(rows, moments), 0.1 * tol * cost, max_iter)
    r = rows.y - rows.times(at.v)
    v, objective, method = at.v, rows.objective(at.v, r), "interior points"
    bound = lad_dual_bound(rows, at.a)
    if not (rows.l2 > 0).any() and rows.width:
        corner = crossover_to_vertex(rows, at)
        if corner is not None and corner.objective <= objective * (1 + 1e-12):
            v, objective, method = corner.v, corner.objective, "interior points, then the corner they lead to"
            bound = max(bound, lad_dual_bound(rows, corner.a))
    gap = max(objective - bound, 0.0)
    left = problem.X.width - len(rows.feature_indices)
    if left:
        method += f"; {left} features that are constant or repeat others weigh nothing"
    return Solution(rows.unscale_weights(v), np.asarray(rows.intercept(v)), objective, gap, steps, method)


def _is_ill_conditioned(problem: Problem, moments: Moments) -> bool:
    """Whether features without any penalty are so alike that their moments cannot tell them apart."""
    if problem.l1.any() or problem.l2.any() or not 0 < problem.X.width < problem.X.n_rows:
        return False
    if problem.X.n_rows * problem.X.width > _MAX_DENSE_CELLS or not (moments.std > 0).all():
        return False
    size = np.sqrt(np.diagonal(moments.gram))
    table = moments.gram / size[:, None] / size[None, :]
    lower = algebra.cholesky(table)
    return (
        lower is None or algebra.reciprocal_condition(lower, algebra.one_norm(table)) < _CONDITION_TOLERANCE
    )


def _solve_by_qr(problem: Problem, moments: Moments, tol: float, max_iter: int) -> Solution:
    """Solve over orthogonal features that make up the same scores, and go back."""
    rows = to_dense(problem.X, moments.mean_x)
    size = np.sqrt(np.square(rows).sum(axis=0))
    order, adds = algebra.pivoted_qr(rows / size)
    kept = np.sort(order[adds > _EPS * max(rows.shape) * adds.max()])
    Q, R = algebra.qr(rows[:, kept] / size[kept])
    straight = replace(
        problem, X=DenseMatrix(Q * np.sqrt(len(Q))), l1=np.zeros(len(kept)), l2=np.zeros(len(kept))
    )
    found = solve_lad(straight, tol, max_iter)
    w = np.zeros(problem.X.width)
    w[kept] = algebra.solve_triangular(R.T, found.w * np.sqrt(len(Q)), transposed=True) / size[kept]
    b = np.asarray(found.b - moments.mean_x @ w) if problem.has_intercept else found.b
    return replace(found, w=w, b=b, method=f"{found.method}, over orthogonal features")


def lad_dual_bound(rows: LadProblem, a: Floats) -> float:
    """Return a lower bound of the objective: the dual's value at a point made feasible.

    A feature without a penalty asks that Σ aᵢ xᵢⱼ = 0, one with l1 alone that it is at most l1 in size; with
    l2 it costs ½ (|Σ aᵢ xᵢⱼ| − l1)₊² / l2.
    """
    n = rows.X.n_rows
    prices, s = np.clip(a[:n], -rows.s[:n], rows.s[:n]), rows.s[:n]
    free = np.flatnonzero((rows.l1 == 0) & (rows.l2 == 0))
    if len(free):
        prices = prices - _feasibility_correction(rows, prices, free)
    pull = np.abs(rows.data_transposed_times(prices))
    bounded = (rows.l1 > 0) & (rows.l2 == 0)
    over = max(
        float((np.abs(prices) / s).max(initial=1.0)),
        float((pull[bounded] / rows.l1[bounded]).max(initial=1.0)),
    )
    prices, pull = prices / over, pull / over
    soft = rows.l2 > 0
    cost = float((np.square(np.maximum(pull[soft] - rows.l1[soft], 0.0)) / rows.l2[soft]).sum()) / 2
    return float(rows.y[:n] @ prices) - cost


def _feasibility_correction(rows: LadProblem, prices: Floats, free: Longs) -> Floats:
    """Return the least change, where prices are free to change, that makes them orthogonal to features."""
    n = rows.X.n_rows
    room = rows.s[:n] * (1 - np.square(prices / rows.s[:n])) + 1e-12 * rows.s[:n]
    theta = np.append(room, np.zeros(len(rows.y) - n))
    table = rows.weighted_gram(theta)[np.ix_(free, free)]
    scale = np.sqrt(np.diagonal(table))
    lower = algebra.cholesky(table / scale[:, None] / scale[None, :])
    if lower is None:
        return np.zeros(n)
    v = np.zeros(rows.width)
    v[free] = algebra.cholesky_solve(lower, rows.data_transposed_times(prices)[free] / scale) / scale
    return np.asarray(room * rows.times(v)[:n])


def fit_constant(rows: LadProblem) -> tuple[float, float]:
    """Return the weighted median of the targets, or zero without a bias, and what it costs."""
    y, s = rows.y[: rows.X.n_rows], rows.s[: rows.X.n_rows]
    constant = 0.0
    if rows.has_intercept and len(y):
        order = np.argsort(y)
        middle = int(np.searchsorted(np.cumsum(s[order]), s.sum() / 2))
        constant = float(y[order[min(middle, len(y) - 1)]])
    return constant, float(s @ np.abs(y - constant))


def _initial_weights(rows: LadProblem, moments: Moments) -> Floats:
    w = (
        fit_least_squares_from_moments(moments).w
        if not rows.l2.any() and not rows.l1.any()
        else np.zeros(moments.width)
    )
    return np.append((w * rows.scale)[rows.feature_indices], [0.0] * rows.has_intercept)


_ZERO_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Vertex:
    """Weights, the rows they meet, the prices of all rows, and what the weights cost."""

    v: Floats
    basis: Longs
    a: Floats
    residuals: Floats
    objective: float


def crossover_to_vertex(rows: LadProblem, at: InteriorPoint, most: int = 50) -> Vertex | None:
    """Return the corner next to an interior point, or better ones along the edges that go down from it."""
    corner = _nearest_vertex(rows, at)
    for _ in range(most):
        if corner is None:
            return None
        basis = _pivot(rows, corner)
        found = None if basis is None else _vertex_of_basis(rows, basis)
        if found is None or found.objective >= corner.objective:
            return corner
        corner = found
    return corner


def _nearest_vertex(rows: LadProblem, at: InteriorPoint) -> Vertex | None:
    """Return the corner of the independent rows whose prices are farthest from their limits."""
    theta = at.theta
    several = min(len(theta), 3 * rows.width + 20)
    likely = np.sort(np.argpartition(-theta, several - 1)[:several])
    root = np.sqrt(theta[likely] / theta[likely].max())
    order, adds = algebra.pivoted_qr((rows.dense_rows(likely) * root[:, None]).T)
    if len(adds) < rows.width or not adds[rows.width - 1] > 0:
        return None
    return _vertex_of_basis(rows, likely[order[: rows.width]])


def _vertex_of_basis(rows: LadProblem, basis: Longs) -> Vertex | None:
    table = rows.dense_rows(basis)
    v = algebra.solve(table, rows.y[basis])
    if v is None or not np.isfinite(v).all():
        return None
    r = rows.y - rows.times(v)
    r[np.abs(r) <= _ZERO_TOLERANCE * (np.abs(rows.y) + float(np.abs(rows.y).mean()))] = 0.0
    r[basis] = 0.0
    a = rows.s * np.sign(r)
    prices = algebra.solve(table.T, -rows.transposed_times(a))
    if prices is None:
        return None
    a[basis] = prices
    return Vertex(v, basis, a, r, rows.objective(v, r))


def _pivot(rows: LadProblem, corner: Vertex) -> Longs | None:
    """Return the rows of a lower corner: one whose price is over its limit gives way; None if none does."""
    basis = corner.basis
    over = np.abs(corner.a[basis]) / rows.s[basis]
    table = rows.dense_rows(basis)
    for leaving in np.argsort(-over)[:8].tolist():
        if over[leaving] <= 1 + _ZERO_TOLERANCE:
            return None
        price, s = corner.a[basis[leaving]], rows.s[basis[leaving]]
        side = np.zeros(len(basis))
        side[leaving] = -np.sign(price)
        way = algebra.solve(table, side)
        if way is None:
            continue
        entering = _entering_row(rows, corner, way, s - abs(price))
        if entering is not None:
            found = basis.copy()
            found[leaving] = entering
            return found
    return None


def _entering_row(rows: LadProblem, corner: Vertex, way: Floats, slope: float) -> int | None:
    """Return the row at which the objective stops falling along a way; None if it does not fall."""
    speed = rows.times(way)
    speed[corner.basis] = 0.0
    gain = 2 * rows.s * np.abs(speed)
    touching = corner.residuals == 0
    slope += float(gain[touching].sum()) / 2
    if slope >= 0:
        return None
    ahead = np.flatnonzero(~touching & (corner.residuals * speed > 0))
    order = ahead[np.argsort(corner.residuals[ahead] / speed[ahead])]
    stop = int(np.searchsorted(np.cumsum(gain[order]), -slope))
    return int(order[stop]) if stop < len(order) else None
