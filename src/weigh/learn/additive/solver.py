"""Newton's method for additive models, with conjugate gradients and a certificate of optimality.

minimise  F(u, b) = Σ sᵢ loss(yᵢ, xᵢ·Zu + b) + ½ u·Pu,   u ≥ 0 for bounded coordinates.

The loss is convex, so for any multipliers μ ≥ 0 of the bounds, with the gradient g of F and a zero gradient
of the intercept b,

    F(u, b) − min F ≤ ½ (g − μ)·P⁻¹(g − μ) + μ·u.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.additive.preconditioner import Preconditioner
from weigh.learn.additive.problem import AdditiveProblem, Prior, State, evaluate

MAX_CG_ITERATIONS = 200
INTERCEPT_TOLERANCE = 1e-9  # of Σ |gradient|: the largest intercept gradient that counts as zero


def newton_step(
    problem: AdditiveProblem, prior: Prior, state: State, preconditioner: Preconditioner, tolerance: float
) -> tuple[Floats, Floats]:
    """Solve the Newton system of the coordinates off their bounds by preconditioned conjugate gradients."""
    bounded = problem.bounded()
    free = np.ones_like(state.grad)
    if bounded is not None:
        free = np.where(bounded & (state.U <= 0) & (state.grad > 0), 0.0, 1.0)

    def solve(G: Floats, g_b: Floats) -> tuple[Floats, Floats]:
        V, v_b = preconditioner.solve(G, g_b)
        return V * free, v_b

    R, r_b = -state.grad * free, -state.grad_b
    if preconditioner.is_exact and free.all():
        return solve(R, r_b)
    step, step_b = np.zeros_like(R), np.zeros_like(r_b)
    D, d_b = solve(R, r_b)
    rho = rho_0 = float((R * D).sum() + r_b @ d_b)
    for _ in range(MAX_CG_ITERATIONS):
        if rho <= tolerance**2 * rho_0 or rho <= 0:
            break
        Q = problem.loss.hessian_times(state.p, problem.scores(D, d_b))
        HD = (problem.project(problem.X.transposed_times(Q)) + prior.times(D)) * free
        h_b = Q.sum(axis=0)
        curvature = float((D * HD).sum() + d_b @ h_b)
        if curvature <= 0:
            break
        alpha = rho / curvature
        step, step_b = step + alpha * D, step_b + alpha * d_b
        R, r_b = R - alpha * HD, r_b - alpha * h_b
        V, v_b = solve(R, r_b)
        rho_old, rho = rho, float((R * V).sum() + r_b @ v_b)
        D, d_b = V + rho / rho_old * D, v_b + rho / rho_old * d_b
    return step, step_b


def take_step(
    problem: AdditiveProblem, prior: Prior, state: State, step: Floats, step_b: Floats
) -> State | None:
    """Return a point of lower objective along the step, projected on the bounds; None if there is none."""
    bounded, length = problem.bounded(), 1.0
    for _ in range(40):
        U = state.U + length * step
        if bounded is not None:
            U = np.where(bounded, np.maximum(U, 0.0), U)
        found = evaluate(problem, prior, U, state.b + length * step_b)
        if found.objective < state.objective:
            return found
        length /= 2
    return None


def duality_gap(problem: AdditiveProblem, prior: Prior, state: State) -> float:
    """Return an upper bound on the objective's distance from its minimum; infinite if b is not optimal."""
    scale = float(np.abs(problem.loss.score_gradient(state.p)).sum())
    rounding = 1e-15 * float(problem.loss.weights.sum())  # of a gradient of scores and targets of order 1
    if np.abs(state.grad_b).max() > max(INTERCEPT_TOLERANCE * scale, rounding):
        return np.inf
    bounded, multipliers = problem.bounded(), np.zeros_like(state.grad)
    if bounded is not None:
        multipliers = np.where(bounded & (state.U <= 0), np.maximum(state.grad, 0.0), 0.0)
    return 0.5 * prior.inverse_quadratic(state.grad - multipliers) + float((multipliers * state.U).sum())


@dataclass(frozen=True, eq=False)
class AdditiveSolution:
    """A point with its certificate."""

    state: State
    gap: float
    iterations: int
    preconditioner: Preconditioner


def minimise(
    problem: AdditiveProblem,
    strengths: dict[str, float],
    start: tuple[Floats, Floats],
    target_gap: float,
    max_iter: int,
) -> AdditiveSolution:
    """Minimise the objective until its gap is at most `target_gap`, or no step improves it."""
    prior = Prior(problem, strengths)
    U, b = start
    bounded = problem.bounded()
    U = U if bounded is None else np.where(bounded, np.maximum(U, 0.0), U)
    state = optimise_intercept(problem, prior, evaluate(problem, prior, U, b))
    gap, iteration = duality_gap(problem, prior, state), 0
    preconditioner = Preconditioner(problem, prior, state.p)
    while gap > target_gap and iteration < max_iter:
        iteration += 1
        step, step_b = newton_step(problem, prior, state, preconditioner, 0.1 if gap == np.inf else 1e-3)
        found = take_step(problem, prior, state, step, step_b)
        if found is None:
            break
        state = optimise_intercept(problem, prior, found)
        gap = duality_gap(problem, prior, state)
        if gap > target_gap:
            preconditioner = Preconditioner(problem, prior, state.p)
    return AdditiveSolution(state, gap, iteration, preconditioner)


def optimise_intercept(problem: AdditiveProblem, prior: Prior, state: State) -> State:
    """Move the intercepts to their optimum for the given heights."""
    for _ in range(20):
        scale = float(np.abs(problem.loss.score_gradient(state.p)).sum())
        if np.abs(state.grad_b).max() <= 0.01 * INTERCEPT_TOLERANCE * max(scale, 1e-300):
            return state
        k = len(state.b)
        columns = [
            problem.loss.hessian_times(state.p, np.broadcast_to(row, state.p.shape)).sum(axis=0)
            for row in np.eye(k)
        ]
        # Softmax does not change when all intercepts move together: the least-squares step stays put.
        step = -np.linalg.lstsq(np.array(columns), state.grad_b, rcond=1e-12)[0]
        found = evaluate(problem, prior, state.U, state.b + step)
        if np.abs(found.grad_b).max() >= np.abs(state.grad_b).max():
            return state
        state = found
    return state
