"""Least absolute deviations: interior point method, crossover to an exact vertex, certificate from the dual.

    minimise  Σ sᵢ |yᵢ − xᵢ·w − b| + Σ l1ⱼ |wⱼ| + ½ Σ l2ⱼ wⱼ²

Without l2 this is a linear program: some solution is a vertex, which has as many zero residuals as weights.
Once the interior point shows which rows these are, the weights solve a square system and are exact to
rounding.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats, Longs
from weigh.learn.linear.interior_point import InteriorPoint, LadProblem, solve_interior_point
from weigh.learn.linear.least_squares import fit_least_squares_from_moments
from weigh.learn.linear.matrix import EPS, DenseMatrix, to_dense
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import CONDITION_TOLERANCE, MAX_DENSE_CELLS, Problem, Solution

_MAX_SINGLE_THREAD_WIDTH = 500  # up to it products of row blocks are too small to share among threads
_ZERO_TOLERANCE = 1e-12


def solve_lad(problem: Problem, tol: float = 1e-9, max_iter: int = 100) -> Solution:
    """Minimise the absolute loss; stops when the gap is at most tol times the loss of the best constant."""
    with algebra.single_thread_blas() if problem.X.width <= _MAX_SINGLE_THREAD_WIDTH else nullcontext():
        return _solve(problem.drop_zero_weights(), tol, max_iter)


def _solve(problem: Problem, tol: float, max_iter: int) -> Solution:
    moments = Moments.from_problem(problem)
    if _is_ill_conditioned(problem, moments):
        return _solve_by_qr(problem, moments, tol, max_iter)
    return _solve_directly(problem, moments, tol, max_iter)


def _solve_directly(problem: Problem, moments: Moments, tol: float, max_iter: int) -> Solution:
    """Solve in the features as they are, scaled."""
    lad = LadProblem(problem, moments)
    constant, null_loss = fit_constant(lad)
    if not null_loss:
        b = np.asarray(lad.mean_y + constant)
        return Solution(np.zeros(problem.X.width), b, 0.0, 0.0, 0, "a constant that fits all rows")
    start = _initial_weights(lad, moments)
    point, iterations = solve_interior_point(lad, start, 0.1 * tol * null_loss, max_iter)
    residuals = lad.y - lad.times(point.v)
    v, objective, method = point.v, lad.objective(point.v, residuals), "interior point"
    bound, dual = lad_dual_bound(lad, point.a), point.a
    if not (lad.l2 > 0).any() and lad.width:
        vertex = crossover_to_vertex(lad, point)
        if vertex is not None and vertex.objective <= objective * (1 + 1e-12):
            v, objective, method = vertex.v, vertex.objective, "interior point, crossover to a vertex"
            vertex_bound = lad_dual_bound(lad, vertex.a)
            bound, dual = max((bound, dual), (vertex_bound, vertex.a), key=lambda pair: pair[0])
    gap = max(objective - bound, 0.0)
    method += _describe_dropped(problem.X.width - len(lad.feature_indices))
    w, b = lad.unscale_weights(v), np.asarray(lad.intercept(v))
    return Solution(w, b, objective, gap, iterations, method, dual[: problem.X.n_rows])


def _is_ill_conditioned(problem: Problem, moments: Moments) -> bool:
    """Check whether unpenalised features are so collinear that their moments lose too many digits."""
    if problem.l1.any() or problem.l2.any() or problem.X.n_rows * problem.X.width > MAX_DENSE_CELLS:
        return False
    varying = moments.select(np.flatnonzero(moments.std > 0))
    if not varying.width or not problem.X.n_rows:
        return False
    norms = np.sqrt(np.diagonal(varying.gram))
    gram = varying.gram / norms[:, None] / norms[None, :]
    lower = algebra.cholesky(gram)
    return lower is None or algebra.reciprocal_condition(lower, algebra.one_norm(gram)) < CONDITION_TOLERANCE


def _solve_by_qr(problem: Problem, moments: Moments, tol: float, max_iter: int) -> Solution:
    """Solve in the orthonormal columns of a QR decomposition of the centred rows, and transform back."""
    rows, mean = to_dense(problem.X, moments.mean_x), moments.mean_x
    if problem.has_intercept:
        # The first means are rounded, and their remainder would count as a direction.
        remainder = rows.mean(axis=0)
        rows, mean = rows - remainder, mean + remainder
    norms = np.sqrt(np.square(rows).sum(axis=0))
    norms[moments.std == 0] = np.inf
    order, added_norms = algebra.pivoted_qr(rows / norms)
    # With fewer rows than features there is one norm per row.
    kept = np.sort(order[: len(added_norms)][added_norms > EPS * max(rows.shape) * added_norms.max()])
    Q, R = algebra.qr(rows[:, kept] / norms[kept])
    orthogonal = replace(
        problem, X=DenseMatrix(Q * np.sqrt(len(Q))), l1=np.zeros(len(kept)), l2=np.zeros(len(kept))
    )
    solution = _solve_directly(orthogonal, Moments.from_problem(orthogonal), tol, max_iter)
    w = np.zeros(problem.X.width)
    w[kept] = algebra.solve_triangular(R.T, solution.w * np.sqrt(len(Q)), transposed=True) / norms[kept]
    b = np.asarray(solution.b - mean @ w) if problem.has_intercept else solution.b
    method = f"{solution.method}, over orthogonal features" + _describe_dropped(len(w) - len(kept))
    return replace(solution, w=w, b=b, method=method)


def _describe_dropped(n_dropped: int) -> str:
    if not n_dropped:
        return ""
    return f"; weight zero for {n_dropped} constant or linearly dependent features"


def lad_dual_bound(lad: LadProblem, a: Floats) -> float:
    """Return the dual objective, a lower bound on the minimum, at the dual point a made feasible.

    With v = Xᵀa over the data rows, feasibility means |aᵢ| ≤ sᵢ, vⱼ = 0 for unpenalised features and |vⱼ| ≤
    l1ⱼ for features with l1 alone. Features with l2 cost ½ (|vⱼ| − l1ⱼ)₊² / l2ⱼ.
    """
    n = lad.X.n_rows
    a, s = np.clip(a[:n], -lad.s[:n], lad.s[:n]), lad.s[:n]
    free = np.flatnonzero((lad.l1 == 0) & (lad.l2 == 0))
    if len(free):
        a = a - _feasibility_correction(lad, a, free)
    v = np.abs(lad.data_transposed_times(a))
    has_l1_only = (lad.l1 > 0) & (lad.l2 == 0)
    excess = max(
        float((np.abs(a) / s).max(initial=1.0)),
        float((v[has_l1_only] / lad.l1[has_l1_only]).max(initial=1.0)),
    )
    a, v = a / excess, v / excess
    has_l2 = lad.l2 > 0
    cost = float((np.square(np.maximum(v[has_l2] - lad.l1[has_l2], 0.0)) / lad.l2[has_l2]).sum()) / 2
    return float(lad.y[:n] @ a) - cost


def _feasibility_correction(lad: LadProblem, a: Floats, free: Longs) -> Floats:
    """Return the weighted least-squares correction that makes a orthogonal to the unpenalised features.

    Rows are weighted by their distance from the bounds, so that a stays within them as far as possible.
    """
    n = lad.X.n_rows
    slack = lad.s[:n] * (1 - np.square(a / lad.s[:n])) + 1e-12 * lad.s[:n]
    theta = np.append(slack, np.zeros(len(lad.y) - n))
    gram = lad.weighted_gram(theta)[np.ix_(free, free)]
    scale = np.sqrt(np.diagonal(gram))
    lower = algebra.cholesky(gram / scale[:, None] / scale[None, :])
    if lower is None:
        return np.zeros(n)
    v = np.zeros(lad.width)
    v[free] = algebra.cholesky_solve(lower, lad.data_transposed_times(a)[free] / scale) / scale
    return np.asarray(slack * lad.times(v)[:n])


def fit_constant(lad: LadProblem) -> tuple[float, float]:
    """Return the weighted median of the targets, zero without an intercept, and its loss."""
    y, s = lad.y[: lad.X.n_rows], lad.s[: lad.X.n_rows]
    constant = 0.0
    if lad.has_intercept and len(y):
        order = np.argsort(y)
        middle = int(np.searchsorted(np.cumsum(s[order]), s.sum() / 2))
        constant = float(y[order[min(middle, len(y) - 1)]])
    return constant, float(s @ np.abs(y - constant))


def _initial_weights(lad: LadProblem, moments: Moments) -> Floats:
    """Return the least-squares weights, or zeros if there is a penalty."""
    is_penalised = lad.l2.any() or lad.l1.any()
    w = np.zeros(moments.width) if is_penalised else fit_least_squares_from_moments(moments).w
    return np.append((w * lad.scale)[lad.feature_indices], [0.0] * lad.has_intercept)


@dataclass(frozen=True, eq=False)
class Vertex:
    """Weights v with zero residuals on the rows `basis`, with dual variables a, residuals and objective."""

    v: Floats
    basis: Longs
    a: Floats
    residuals: Floats
    objective: float


def crossover_to_vertex(lad: LadProblem, point: InteriorPoint, max_pivots: int = 50) -> Vertex | None:
    """Return a vertex near an interior point, improved by simplex pivots; None if there is none."""
    vertex = _nearest_vertex(lad, point)
    for _ in range(max_pivots):
        if vertex is None:
            return None
        basis = _pivot(lad, vertex)
        new = None if basis is None else _vertex_of_basis(lad, basis)
        if new is None or new.objective >= vertex.objective:
            return vertex
        vertex = new
    return vertex


def _nearest_vertex(lad: LadProblem, point: InteriorPoint) -> Vertex | None:
    """Return the vertex of the independent rows whose dual variables are farthest from their bounds."""
    theta = point.theta
    n_candidates = min(len(theta), 3 * lad.width + 20)
    candidates = np.sort(np.argpartition(-theta, n_candidates - 1)[:n_candidates])
    root = np.sqrt(theta[candidates] / theta[candidates].max())
    order, norms = algebra.pivoted_qr((lad.dense_rows(candidates) * root[:, None]).T)
    if len(norms) < lad.width or not norms[lad.width - 1] > 0:
        return None
    return _vertex_of_basis(lad, candidates[order[: lad.width]])


def _vertex_of_basis(lad: LadProblem, basis: Longs) -> Vertex | None:
    B = lad.dense_rows(basis)
    v = algebra.solve(B, lad.y[basis])
    if v is None or not np.isfinite(v).all():
        return None
    r = lad.y - lad.times(v)
    r[np.abs(r) <= _ZERO_TOLERANCE * (np.abs(lad.y) + float(np.abs(lad.y).mean()))] = 0.0
    r[basis] = 0.0
    a = lad.s * np.sign(r)
    a_basis = algebra.solve(B.T, -lad.transposed_times(a))
    if a_basis is None:
        return None
    a[basis] = a_basis
    return Vertex(v, basis, a, r, lad.objective(v, r))


def _pivot(lad: LadProblem, vertex: Vertex) -> Longs | None:
    """Exchange a basis row whose dual variable exceeds its bound; return None if the vertex is optimal."""
    basis = vertex.basis
    excess = np.abs(vertex.a[basis]) / lad.s[basis]
    B = lad.dense_rows(basis)
    for leaving in np.argsort(-excess)[:8].tolist():
        if excess[leaving] <= 1 + _ZERO_TOLERANCE:
            return None
        a, s = vertex.a[basis[leaving]], lad.s[basis[leaving]]
        rhs = np.zeros(len(basis))
        rhs[leaving] = -np.sign(a)
        direction = algebra.solve(B, rhs)
        if direction is None:
            continue
        entering = _entering_row(lad, vertex, direction, s - abs(a))
        if entering is not None:
            new_basis = basis.copy()
            new_basis[leaving] = entering
            return new_basis
    return None


def _entering_row(lad: LadProblem, vertex: Vertex, direction: Floats, slope: float) -> int | None:
    """Return the row at which the objective stops falling along an edge; None if it does not fall.

    The slope grows by 2 sᵢ |xᵢ·direction| where the residual of row i changes its sign.
    """
    speed = lad.times(direction)
    speed[vertex.basis] = 0.0
    slope_change = 2 * lad.s * np.abs(speed)
    is_zero = vertex.residuals == 0
    slope += float(slope_change[is_zero].sum()) / 2
    if slope >= 0:
        return None
    ahead = np.flatnonzero(~is_zero & (vertex.residuals * speed > 0))
    order = ahead[np.argsort(vertex.residuals[ahead] / speed[ahead])]
    stop = int(np.searchsorted(np.cumsum(slope_change[order]), -slope))
    return int(order[stop]) if stop < len(order) else None
