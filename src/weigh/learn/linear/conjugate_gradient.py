"""Least squares and ridge by conjugate gradients: for sparse rows whose gram would not fit into memory."""

from __future__ import annotations

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.linear.coordinate_descent import QuadraticModel
from weigh.learn.linear.losses import CrossEntropyLoss
from weigh.learn.linear.matrix import Matrix
from weigh.learn.linear.problem import CentredProblem, Problem, Solution

_MIN_FEATURES = 3_000
_MIN_CELLS = 50_000_000
_GAP_INTERVAL = 10
# Slopes this much smaller than the first, squared, are rounding, which steps along dependent features swell.
_MIN_GRADIENT_RATIO = 1e-26


def needs_conjugate_gradient(X: Matrix) -> bool:
    """Tell whether rows are too many and too sparse to be laid out."""
    return X.density < 0.2 and X.width > _MIN_FEATURES and X.n_rows * X.width > _MIN_CELLS


def solve_conjugate_gradient(problem: Problem, tol: float = 1e-10, max_iter: int = 2_000) -> Solution:
    """Return the weights of penalties l2 alone, to a gap of tol times what the best constant costs.

    Without any penalty the steps, begun at zero, stay in the rows' span: they lead to the shortest solution.
    """
    rows = CentredProblem.from_problem(problem)
    unit, is_proved = _preconditioner_diagonal(problem, rows), bool((problem.l2 > 0).all())
    w, r = np.zeros(problem.X.width), rows.target
    enough = tol * 0.5 * rows.yy
    slope = rows.cross
    z = slope / unit
    way, now = z, float(slope @ z)
    least = _MIN_GRADIENT_RATIO * now
    lengths: list[float] = []
    turns: list[float] = []
    step, gap = 0, _bound_gap(problem, slope, now, lengths, turns)
    while now > least and gap > enough and step < max_iter:
        moved = rows.times(way)
        length = now / (rows.dot(moved, moved) + float(problem.l2 @ np.square(way)))
        w, r = w + length * way, r - length * moved
        slope = rows.residual_correlations(r) - problem.l2 * w
        z = slope / unit
        before, now = now, float(slope @ z)
        lengths.append(length)
        turns.append(now / before)
        way = z + turns[-1] * way
        step += 1
        # An estimate takes the eigenvalues of all steps so far, so it is made now and then, and at the end.
        if is_proved or step % _GAP_INTERVAL == 0 or step == max_iter or now <= least:
            gap = _bound_gap(problem, slope, now, lengths, turns)
    objective = 0.5 * rows.dot(r, r) + problem.penalty(w)
    method = "conjugate gradients" + ("" if is_proved else "; the gap is estimated, not proved")
    return Solution(w, np.asarray(rows.intercept(w)), objective, gap, step, method)


def _preconditioner_diagonal(problem: Problem, rows: CentredProblem) -> Floats:
    """Return what slopes are divided by; endless, for no step at all, where only rounding pulls."""
    spread = rows.gram_diagonal()
    unit = spread + problem.l2 if (problem.l2 > 0).any() else np.ones(problem.X.width)
    return np.where(spread > 0, unit, np.inf)


def _bound_gap(
    problem: Problem, slope: Floats, now: float, lengths: list[float], turns: list[float]
) -> float:
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


MAX_HESSIAN_PRODUCTS = 500  # products with the second derivative per step


def newton_cg_step(
    loss: CrossEntropyLoss, X: Matrix, l2: Floats, p: Floats, gradient: Floats, enough: float
) -> Floats:
    """Return about −H⁻¹ gradient, until `enough` of the gradient is left; both are scaled by H's diagonal."""
    diagonal = (
        np.stack([X.squared_times(w) for a, b, _, w in loss.hessian_blocks(p) if a == b], axis=1)
        + l2[:, None]
    )
    inverse = 1 / np.where(diagonal > 0, diagonal, 1.0)
    step = np.zeros_like(gradient)
    left = -gradient
    scaled = inverse * left
    direction = scaled
    size = first = float((left * scaled).sum())
    for _ in range(MAX_HESSIAN_PRODUCTS):
        if size <= enough**2 * first:
            break
        product = X.transposed_times(loss.hessian_times(p, X.times(direction))) + l2[:, None] * direction
        bend = float((direction * product).sum())
        if bend <= 0:
            break
        length = size / bend
        step += length * direction
        left = left - length * product
        scaled = inverse * left
        size, before = float((left * scaled).sum()), size
        direction = scaled + size / before * direction
    return step if step.any() else inverse * -gradient


# The part of the pull that a step may leave.
RELATIVE_RESIDUAL = 1e-5


def active_set_newton_step(
    X: Matrix, pull: QuadraticModel, w: Floats, l1: Floats, l2: Floats, products: int
) -> tuple[Floats, float]:
    """Return the change of the weights that are not zero, and of the bias, that brings the model to rest.

    `products` is how many products with all rows it is worth. The last of the unknowns is the bias; without
    one it has no part.
    """
    moves = np.append(w != 0, pull.has_intercept)
    bend = np.append(X.squared_times(pull.h) + l2, pull.h.sum())
    scale = np.where(moves & (bend > 0), 1 / np.where(bend > 0, bend, 1.0), 0.0)

    def product(change: Floats) -> Floats:
        scores = pull.h * (X.times(change[:-1]) + change[-1])
        return np.asarray(np.append(X.transposed_times(scores) + l2 * change[:-1], scores.sum()) * moves)

    rest = np.append(X.transposed_times(pull.u) - l1 * np.sign(w) - l2 * w, pull.u.sum()) * moves
    step, along = np.zeros(len(w) + 1), scale * rest
    size = first = float(rest @ along)
    for _ in range(products):
        if not size > RELATIVE_RESIDUAL**2 * first:
            break
        led = product(along)
        share = size / float(along @ led)
        step += share * along
        rest -= share * led
        past, size = size, float(rest @ (scale * rest))
        along = scale * rest + size / past * along
    return step[:-1], float(step[-1])
