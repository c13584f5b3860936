"""Bounds on the rounding error of an additive model's objective, as part of its certificate."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.additive.problem import AdditiveProblem, Prior, State
from weigh.learn.linear.matrix import EPS, SparseMatrix
from weigh.learn.linear.row_products import sum_error

_N_FURTHER_ROUNDINGS = 8  # of a score and of a target


def objective_rounding(problem: AdditiveProblem, prior: Prior, state: State, target_size: float) -> float:
    """Bound the rounding error of the objective of a state.

    `target_size` is the size of the targets' mean before they were standardised, in their new unit.
    """
    weights, gradient = problem.loss.weights, problem.loss.score_gradient(state.p)
    errors = _score_errors(problem, state, gradient)
    # The mean is part of the intercept; its rounding moves all scores alike.
    shift = 2 * EPS * target_size
    by_scores = float((np.abs(gradient) * errors).sum()) + shift * float(np.abs(gradient.sum(axis=0)).sum())
    by_scores += float((weights * np.square(errors + shift)).sum())
    return by_scores + 4 * sum_error(len(weights)) * state.loss + _penalty_rounding(prior, state.U)


def _score_errors(problem: AdditiveProblem, state: State, gradient: Floats) -> Floats:
    """Bound the rounding errors of scores and targets [n, k], but for a common shift."""
    rows = problem.X.rows
    n_terms = int(np.diff(rows.indptr).max(initial=0))
    n_terms += max(
        (effect.basis.shape[1] for effect in problem.effects if effect.basis is not None), default=0
    )
    sizes = [
        np.abs(state.U[at]) if effect.basis is None else np.abs(effect.basis) @ np.abs(state.U[at])
        for effect, at in problem.slices()
    ]
    X = SparseMatrix(replace(rows, values=None if rows.values is None else np.abs(rows.values)))
    size = X.times(np.concatenate(sizes)) + np.abs(state.b)
    # Targets are not larger than scores and residuals.
    residuals = np.abs(gradient) / np.where(problem.loss.weights > 0, problem.loss.weights, 1.0)
    return EPS * ((n_terms + _N_FURTHER_ROUNDINGS) * size + _N_FURTHER_ROUNDINGS * residuals)


def _penalty_rounding(prior: Prior, U: Floats) -> float:
    """Bound the rounding error of ½ Σ u·Pu."""
    total, n_terms = 0.0, 0
    for at, P in prior.parts:
        sizes, n_terms = np.abs(U[at]), max(n_terms, len(P))
        Pu = np.abs(P) @ sizes if P.ndim == 2 else P[:, None] * sizes
        total += float((sizes * Pu).sum())
    return EPS * (n_terms + _N_FURTHER_ROUNDINGS + math.log2(n_terms + 1)) * total
