"""Strengths of the prior by marginal likelihood (Laplace approximation).

For a component S with strength λ, precision P of its effects, Hessian H and scale φ of the noise (1 for log
loss), the marginal likelihood is stationary in λ at the fixed points of

    λ ← λ φ (tr P⁻¹S − tr H⁻¹S) / u·Su,

summed over all effects and outputs that share λ. Iterating this (Wood & Fasiolo 2017, "A generalized
Fellner-Schall method") never decreases the likelihood at a fixed Hessian, but converges slowly where λ grows
without bound, so steps are lengthened or shortened by the secant method.

The slopes of different curves may differ by orders of magnitude, and every curve has few slopes, one per
output. Strengths with a common centre λ₀ therefore have the prior density (λ/λ₀)^{ν/2} exp(−νλ / 2λ₀) of
log λ, so that slopes have a Student t distribution with ν degrees of freedom. The fixed points become

    λ ← (λ (tr P⁻¹S − tr H⁻¹S) + ν) / (u·Su / φ + ν / λ₀),
    λ₀ ← λ₀ Σ λ (tr P⁻¹S − tr H⁻¹S) / Σ λ u·Su / φ.

With nearly as many cells and levels as rows, the marginal likelihood may be highest, or even unbounded, where
the effects interpolate the rows and φ is zero. φ therefore has the boundary-avoiding prior density φ^{a/2} of
log φ (Chung et al. 2013, "A nondegenerate penalized likelihood estimator for variance parameters"). With the
effective degrees of freedom d, its fixed point, at most the variance of the targets, is

    φ ← Σ s (y − ŷ)² / (n − 1 − d − a).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.additive.preconditioner import Preconditioner
from weigh.learn.additive.problem import AdditiveProblem, Prior, SquaredLoss, State, evaluate
from weigh.learn.additive.solver import newton_step, take_step

MIN_STRENGTH, MAX_STRENGTH = 1e-3, 1e7
INITIAL_STRENGTH, INITIAL_LINE_STRENGTH = 10.0, 1.0
CENTRE_DEGREES = 2.0  # ν: how closely strengths follow their common centre
MAX_NOISE_DEGREES, NOISE_DEGREES_PER_ROW = 4.0, 0.125  # a: how strongly noise avoids zero
MIN_NOISE = 1e-12
MAX_ROUNDS = 40
MAX_LOG_STEP = 2.0
MIN_FACTOR, MAX_FACTOR = 0.3, 3.0  # of steps of the iteration, by the secant method
MIN_IMPROVEMENT = 0.1  # of the log marginal likelihood per round


@dataclass(eq=False)
class Smoothing:
    """Strengths with the point of lowest objective for them, and the noise variance."""

    strengths: dict[str, float]
    U: Floats
    b: Floats
    noise: float
    degrees: dict[str, float]


def choose_strengths(problem: AdditiveProblem, start: Smoothing | None = None) -> Smoothing:
    """Choose all strengths that are not fixed, by alternating Newton steps and updates of the strengths."""
    smoothing = start or initial_smoothing(problem)
    steps: dict[str, tuple[float, float]] = {}
    unbounded = AdditiveProblem(problem.X, problem.loss, [replace(e, bounded=None) for e in problem.effects])
    prior = Prior(unbounded, smoothing.strengths)
    state = evaluate(unbounded, prior, smoothing.U, smoothing.b)
    for _ in range(MAX_ROUNDS):
        prior = Prior(unbounded, smoothing.strengths)
        state = state.with_prior(prior)
        preconditioner = Preconditioner(unbounded, prior, state.p)
        step, step_b = newton_step(unbounded, prior, state, preconditioner, 0.1)
        state = take_step(unbounded, prior, state, step, step_b) or state
        smoothing.U, smoothing.b = state.U, state.b
        improvement = _update(unbounded, smoothing, prior, preconditioner, steps, state)
        if improvement < MIN_IMPROVEMENT:
            break
    return smoothing


def initial_smoothing(problem: AdditiveProblem) -> Smoothing:
    """Return the state before the first round: no effects, and moderate strengths."""
    k = problem.loss.n_outputs
    zeros, b = np.zeros((problem.offsets[-1], k)), np.zeros(k)
    noise = 1.0
    if isinstance(problem.loss, SquaredLoss):
        weights = problem.loss.weights[:, 0]
        b = np.array([float(np.average(problem.loss.y[:, 0], weights=weights))])
        noise = max(float(np.average(np.square(problem.loss.y[:, 0] - b), weights=weights)), 1e-300)
    return Smoothing(add_strengths(problem, {}, noise), zeros, b, noise, {})


def add_strengths(problem: AdditiveProblem, known: dict[str, float], noise: float) -> dict[str, float]:
    """Return the strengths with initial values for components that have none yet."""
    strengths = dict(known)
    for effect in problem.effects:
        for component in effect.components:
            initial = INITIAL_STRENGTH
            if component.centre is not None:
                initial = INITIAL_LINE_STRENGTH
                strengths.setdefault(component.centre, initial * noise)
            strengths.setdefault(
                component.key, initial * noise if component.fixed is None else component.fixed
            )
    return strengths


@dataclass(eq=False)
class _Sums:
    """What an update needs to know of a strength: Σ (tr P⁻¹S − tr H⁻¹S) and Σ u·Su."""

    gain: float = 0.0
    size: float = 0.0
    centre: str | None = None
    is_fixed: bool = False


def _update(
    problem: AdditiveProblem,
    smoothing: Smoothing,
    prior: Prior,
    preconditioner: Preconditioner,
    steps: dict[str, tuple[float, float]],
    state: State,
) -> float:
    """Update all strengths in place; return the expected gain in log marginal likelihood."""
    sums, used = _sum_by_strength(problem, smoothing, prior, preconditioner)
    if isinstance(problem.loss, SquaredLoss):
        _update_noise(problem.loss, smoothing, state, used)
    limits = MIN_STRENGTH * smoothing.noise, MAX_STRENGTH * smoothing.noise
    _update_centres(smoothing, sums, limits)
    improvement = 0.0
    for key, found in sums.items():
        strength = smoothing.strengths[key]
        smoothing.degrees[key] = degrees = max(strength * found.gain, 0.0)
        if found.is_fixed:
            continue
        ideal = _ideal_strength(smoothing, found, strength)
        step = math.log(min(max(ideal, limits[0]), limits[1]) / strength)
        improvement += 0.25 * degrees * abs(math.expm1(-step)) * min(abs(step), 1.0)
        taken = _accelerate(step, steps[key]) if key in steps else step
        steps[key] = step, taken
        smoothing.strengths[key] = min(max(strength * math.exp(taken), limits[0]), limits[1])
    return improvement


def _sum_by_strength(
    problem: AdditiveProblem, smoothing: Smoothing, prior: Prior, preconditioner: Preconditioner
) -> tuple[dict[str, _Sums], float]:
    """Return the sums over all effects and outputs of each strength, and the degrees of freedom."""
    inverses, k = preconditioner.inverses(), problem.loss.n_outputs
    sums: dict[str, _Sums] = {}
    used = 0.0
    for j, (effect, at) in enumerate(problem.slices()):
        for component in effect.components:
            trace = sum(_trace(inverses[output][j], component.S) for output in range(k))
            found = sums.setdefault(component.key, _Sums())
            found.gain += k * component.rank / smoothing.strengths[component.key] - trace
            found.size += component.quadratic(smoothing.U[at])
            found.is_fixed |= component.fixed is not None
            found.centre = component.centre
        P = prior.parts[j][1]
        used += k * effect.n_coordinates - sum(_trace(inverses[o][j], P) for o in range(k))
    return sums, used


def _ideal_strength(smoothing: Smoothing, found: _Sums, strength: float) -> float:
    """Return the fixed point of a strength for the current point and Hessian."""
    degrees, size = max(strength * found.gain, 1e-300), found.size / smoothing.noise
    if found.centre is not None:
        degrees += CENTRE_DEGREES
        size += CENTRE_DEGREES / smoothing.strengths[found.centre]
    return degrees / max(size, 1e-300)


def _update_centres(smoothing: Smoothing, sums: dict[str, _Sums], limits: tuple[float, float]) -> None:
    """Update the common centres of strengths in place."""
    strengths = smoothing.strengths
    for centre in {found.centre for found in sums.values() if found.centre is not None}:
        members = {key: found for key, found in sums.items() if found.centre == centre}
        degrees = sum(max(strengths[key] * found.gain, 0.0) for key, found in members.items())
        size = sum(strengths[key] * found.size for key, found in members.items()) / smoothing.noise
        step = math.log(max(degrees, 1e-300) / max(size, 1e-300))
        moved = strengths[centre] * math.exp(max(-MAX_LOG_STEP, min(MAX_LOG_STEP, step)))
        strengths[centre] = min(max(moved, limits[0]), limits[1])


def _update_noise(loss: SquaredLoss, smoothing: Smoothing, state: State, used: float) -> None:
    """Update the noise variance in place, from the residuals and the effective degrees of freedom."""
    n_rows = float((loss.weights > 0).sum())
    free = n_rows - 1 - used - min(MAX_NOISE_DEGREES, NOISE_DEGREES_PER_ROW * n_rows)
    ideal = 2 * loss.value(state.p) / free if free > 0 else math.inf
    mean = float(np.average(loss.y, weights=loss.weights))
    variance = float((loss.weights * np.square(loss.y - mean)).sum()) / max(n_rows - 1, 1.0)
    smoothing.noise = max(min(ideal, math.exp(MAX_LOG_STEP) * smoothing.noise, variance), MIN_NOISE)


def _accelerate(step: float, before: tuple[float, float]) -> float:
    """Return the step of a secant method; `before` is the previous step of the iteration and that taken."""
    previous, taken = before
    turn = previous - step
    factor = taken / turn if taken * turn > 0 else 1.0
    return max(-MAX_LOG_STEP, min(MAX_LOG_STEP, max(MIN_FACTOR, min(MAX_FACTOR, factor)) * step))


def _trace(inverse: Floats, S: Floats) -> float:
    """Return tr(A S) for symmetric matrices, either of which may be a diagonal."""
    if inverse.ndim == 2 and S.ndim == 2:
        return float((inverse * S).sum())
    a = np.diagonal(inverse) if inverse.ndim == 2 else inverse
    s = np.diagonal(S) if S.ndim == 2 else S
    return float(a @ s)
