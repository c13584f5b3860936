"""Certificates of absolute loss that hold in exact arithmetic; see `certificates` for what they state.

A dual point a has |aᵢ| ≤ sᵢ and is orthogonal to the unpenalised columns. Its distance from optimality is

    Σ (sᵢ |rᵢ| − aᵢ rᵢ) + Σⱼ (penalty + conjugate − qⱼ wⱼ),   q = Xᵀa.

The solver's point a is moved towards orthogonality where it is away from its bounds, and then scaled until
it is feasible. What orthogonality is still missing is bounded, as is every rounding.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.linear.certificates import (
    Certified,
    certify_within,
    feasible_scales,
    penalty_gaps,
    unpenalised_columns,
    unpenalised_products,
)
from weigh.learn.linear.matrix import EPS
from weigh.learn.linear.problem import Problem, Solution
from weigh.learn.linear.row_products import RowProducts, sum_error
from weigh.learn.linear.unpenalised_span import UnpenalisedSpan

_MIN_SLACK = 1e-12  # of the bounds, so that rows at their bounds can move if no others can
_MAX_CORRECTIONS = 2


def certify_absolute(problem: Problem, solution: Solution, tol: float) -> Solution:
    """Return the solution of absolute loss with a certified objective and gap.

    `tol` is the largest gap for which double precision suffices.
    """
    problem = problem.drop_zero_weights()
    solution = replace(solution, w=problem.round_weights(solution.w))
    return certify_within(tol, problem, solution, partial(_certify, problem, solution))


def _certify(problem: Problem, solution: Solution, is_extended: bool) -> Certified:
    rows, w = RowProducts(problem, is_extended=is_extended), solution.w
    s = rows.weights
    residuals, error = rows.residuals(problem.y, w, solution.b)
    r = residuals.high
    error = (
        math.sqrt(float(s.sum())) * (error + rows.norm(residuals.low) + EPS * rows.norm(r)) * (1 + 4 * EPS)
    )
    objective = float((s * np.abs(r)).sum()) + problem.penalty(w)
    objective_error = error + (sum_error(len(s)) + sum_error(len(w))) * objective
    gap = objective
    if solution.dual is not None:
        a, q, q_errors, missing = _move_towards_feasibility(rows, np.clip(solution.dual, -s, s))
        penalised = (problem.l1 > 0) | (problem.l2 > 0)
        l1, l2, w = problem.l1[penalised], problem.l2[penalised], w[penalised]
        q, q_errors = q[penalised], (q_errors + missing * rows.column_norms)[penalised]
        excess = float(((np.abs(a) + missing * np.sqrt(s)) / s).max(initial=1.0))
        gaps = []
        for scale in feasible_scales(q, q_errors, l1, l2):
            c = min(scale, (1 - 2 * EPS) / excess)
            slackness = float((s * np.abs(r) - c * a * r).sum()) + 4 * EPS * objective
            gaps.append(slackness + penalty_gaps(w, c * q, q_errors, l1, l2))
        gap = min(gap, min(gaps) + missing * rows.norm(r) + error)
    return Certified(objective, gap + objective_error)


def _move_towards_feasibility(rows: RowProducts, a: Floats) -> tuple[Floats, Floats, Floats, float]:
    """Return a dual point closer to feasibility, its Xᵀa with bounds, and what is missing.

    Each row moves in proportion to its distance from its bounds, t.
    """
    _, U = unpenalised_columns(rows.problem)
    q, errors = rows.correlations(a)
    if not U.width:
        return a, q, errors, 0.0
    s, best = rows.weights, (a, q, errors, math.inf)
    t = s * (1 - np.square(a / s)).clip(_MIN_SLACK)
    span = UnpenalisedSpan.decompose(U, t)
    for n_corrections in range(_MAX_CORRECTIONS + 1):
        products, product_errors = unpenalised_products(rows, a, q, errors, rows.norm(a / s))
        missing = span.projection_norm(products, product_errors, a / np.sqrt(t))
        if missing < best[-1]:
            best = (a, q, errors, missing)
        if n_corrections == _MAX_CORRECTIONS:
            break
        C, kept = span.inverse_root, products[span.kept]
        c = np.zeros(U.width)
        c[span.kept] = C @ (C.T @ kept)
        a = np.clip(a - t * U.times(c), -s, s)
        q, errors = rows.correlations(a)
    return best
