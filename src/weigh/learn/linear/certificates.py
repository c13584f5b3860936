"""Certificates of optimality that hold in exact arithmetic, not only up to rounding.

A certificate states an objective P̂ and a gap so that the objective P of the weights and its minimum satisfy

    |P − P̂| ≤ gap   and   minimum ≥ P̂ − gap.

The minimum is bounded by Fenchel duality at the residuals r of the weights. P − dual is computed as a sum
of terms that are zero at the optimum, so no digits cancel; each is increased by a bound on its rounding.
For squared loss with l1 and l2, the dual point t is r without its projection onto the unpenalised columns,
scaled by 0 ≤ c ≤ 1; with q = Xᵀ s t,

    gap = ½ ‖r − t‖² + Σⱼ (l1ⱼ |wⱼ| − clip(qⱼ, ±l1ⱼ) wⱼ + (l2ⱼ wⱼ − excessⱼ)² / (2 l2ⱼ)),  qⱼ = clip + excess.

Double precision comes first; where its bound exceeds the tolerance, extended precision follows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from weigh.features.blocks import Floats, Mask
from weigh.learn.linear.double_double import exact
from weigh.learn.linear.matrix import EPS, DenseMatrix, InterceptMatrix, Matrix
from weigh.learn.linear.problem import Problem, Solution
from weigh.learn.linear.row_products import RowProducts, can_extend, sum_error
from weigh.learn.linear.unpenalised_span import UnpenalisedSpan


@dataclass(frozen=True, eq=False)
class Certified:
    """An objective, and a gap that includes all rounding errors."""

    objective: float
    gap: float


def certify_within(
    tol: float, problem: Problem, solution: Solution, certify: Callable[[bool], Certified]
) -> Solution:
    """Return a solution with its certificate, in extended precision if the gap is above `tol` without it.

    `certify` returns the certificate in extended precision (True) or in double precision (False).
    """
    certified = certify(False)
    if certified.gap > tol and can_extend(problem.X):
        certified = min(certified, certify(True), key=lambda certificate: certificate.gap)
    return replace(solution, objective=certified.objective, gap=certified.gap)


def penalty_gaps(w: Floats, q: Floats, errors: Floats, l1: Floats, l2: Floats) -> float:
    """Bound Σ (penalty + conjugate − q·w) for correlations within `errors` of q [d] or [d, k].

    |q| must not exceed l1 by more than the errors where l2 is zero.
    """
    shape = (-1, *[1] * (w.ndim - 1))
    l1, l2 = l1.reshape(shape), l2.reshape(shape)
    clipped = np.clip(q, -l1, l1)
    errors = errors + 4 * EPS * (np.abs(q) + l1 + l2 * np.abs(w))
    has_l2 = np.broadcast_to(l2 > 0, w.shape)
    # The part beyond l1 is matched by l2; the part within it does not depend on q far beyond l1.
    is_beyond = has_l2 & (np.abs(q) - errors >= l1)
    within = l1 * np.abs(w) - clipped * w + np.where(is_beyond, 2 * EPS * l1, errors) * np.abs(w)
    within = np.where(has_l2 & (l1 == 0), 0.0, np.maximum(within, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        beyond = np.where(has_l2, np.square(np.abs(l2 * w - (q - clipped)) + errors) / (2 * l2), 0.0)
    return float((within + beyond).sum()) * (1 + (w.size + 8) * EPS)


def feasible_scales(q: Floats, errors: Floats, l1: Floats, l2: Floats) -> tuple[float, float]:
    """Return the largest c ≤ 1 with c |qⱼ| ≤ l1ⱼ, whatever the errors: for features with l1 alone, for all.

    Features with l2 may exceed their l1 at a cost, which is high if l2 is small.
    """
    largest = (np.abs(q) + errors).reshape(len(q), -1 if q.size else 1).max(axis=1)
    ratios = l1 / np.maximum(largest, np.maximum(l1, np.finfo(np.float64).tiny))
    has_l1 = l1 > 0
    scales = (np.min(ratios[mask], initial=1.0) for mask in (has_l1 & (l2 == 0), has_l1))
    first, second = (float(scale) * (1 - 2 * EPS) for scale in scales)
    return first, second


def unpenalised_columns(problem: Problem) -> tuple[Mask, Matrix]:
    """Return which features are unpenalised, and their columns with that of the intercept."""
    free = (problem.l1 == 0) & (problem.l2 == 0)
    X = problem.X
    U: Matrix = DenseMatrix(np.empty((X.n_rows, 0)))
    if free.any():
        U = X if free.all() else X.select_features(free)
    return free, InterceptMatrix(U) if problem.has_intercept else U


def unpenalised_products(
    rows: RowProducts, theta: Floats, q: Floats, errors: Floats, size: float
) -> tuple[Floats, Floats]:
    """Return the products of θ with the unpenalised columns, that of the intercept last, and their errors.

    q are the products with all columns, and `size` is the norm of θ / s.
    """
    free = (rows.problem.l1 == 0) & (rows.problem.l2 == 0)
    if not rows.problem.has_intercept:
        return q[free], errors[free]
    total = exact(theta).sum().high[None]
    error = EPS * np.abs(total) + EPS**2 * len(theta) * math.sqrt(rows.weights.sum()) * size
    return np.concatenate([q[free], total]), np.concatenate([errors[free], error])


def certify_squared(problem: Problem, solution: Solution, tol: float, gram: Floats | None = None) -> Solution:
    """Return the solution of squared loss with a certified objective and gap.

    `tol` is the largest gap for which double precision suffices; `gram` is the Gram matrix of the unpenalised
    columns, that of the intercept last, if it is already known.
    """
    problem = problem.drop_zero_weights()
    solution = replace(solution, w=problem.round_weights(solution.w))
    squares = None
    if gram is not None and len(gram) == problem.X.width + problem.has_intercept:
        squares = np.diagonal(gram)[: problem.X.width]
    weights = RowProducts(problem, is_extended=False).weights
    span = UnpenalisedSpan.decompose(unpenalised_columns(problem)[1], weights, gram)
    return certify_within(tol, problem, solution, partial(_certify_squared, problem, solution, span, squares))


def _certify_squared(
    problem: Problem, solution: Solution, span: UnpenalisedSpan, squares: Floats | None, is_extended: bool
) -> Certified:
    rows = RowProducts(problem, is_extended=is_extended, squares=squares)
    residuals, error = rows.residuals(problem.y, solution.w, solution.b)
    r = residuals.high
    error += rows.norm(residuals.low) + 2 * EPS * rows.norm(r)
    objective = 0.5 * float((rows.weights * np.square(r)).sum()) + problem.penalty(solution.w)
    objective_error = error * (rows.norm(r) + 0.5 * error)
    objective_error += (sum_error(len(r)) + sum_error(len(solution.w))) * objective
    points = [r] if solution.dual is None else [r, solution.dual]
    gaps = (_squared_gap(rows, solution.w, r, error, point, span) for point in points)
    # The minimum is not negative.
    return Certified(objective, min(objective, *gaps) + objective_error)


def _squared_gap(
    rows: RowProducts, w: Floats, r: Floats, error: float, point: Floats, span: UnpenalisedSpan
) -> float:
    """Return the gap of weights with residuals within `error` of r, from a dual point close to r."""
    l1, l2, size = rows.problem.l1, rows.problem.l2, rows.norm(point)
    theta = rows.weights * point
    q, errors = rows.correlations(theta)
    products, product_errors = unpenalised_products(rows, theta, q, errors, size)
    missing = span.projection_norm(products, product_errors, np.sqrt(rows.weights) * point)
    penalised = (l1 > 0) | (l2 > 0)
    w, q, l1, l2 = w[penalised], q[penalised], l1[penalised], l2[penalised]
    errors = (errors + missing * rows.column_norms)[penalised]

    def gap(c: float) -> float:
        distance = rows.norm(r - point) + (1 - c) * size + error + missing
        return 0.5 * distance**2 + penalty_gaps(w, c * q, errors, l1, l2)

    return min(gap(c) for c in feasible_scales(q, errors, l1, l2))
