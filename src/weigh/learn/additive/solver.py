"""Newton's method for additive models, with conjugate gradients and a certificate of optimality.

minimise  F(u, b) = Σ sᵢ loss(yᵢ, xᵢ·Zu + b) + ½ u·Pu,   u ≥ 0 for bounded coordinates.

The loss is convex, so for any multipliers μ ≥ 0 of the bounds, with the gradient g of F and a zero gradient
of the intercept b,

    F(u, b) − min F ≤ ½ (g − μ)·P⁻¹(g − μ) + μ·u.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from weigh import _core, algebra
from weigh.features.blocks import Floats, Mask
from weigh.learn.additive.effects import Effect
from weigh.learn.linear.matrix import SparseMatrix
from weigh.model.parallel import available_cores

MAX_BLOCK = 1500  # coordinates of a dense block of the Hessian
MAX_CG_ITERATIONS = 200
INTERCEPT_TOLERANCE = 1e-9  # of Σ |gradient|: the largest intercept gradient that counts as zero
RIDGE = 1e-10  # relative to the diagonal: keeps nearly singular blocks factorisable


class ScoreLoss(Protocol):
    """A convex loss of the rows' scores S [n, k]; p are the predictions of the scores."""

    @property
    def n_outputs(self) -> int:
        """The number k of scores of a row."""

    @property
    def weights(self) -> Floats:
        """The row weights [n, 1]."""

    def value(self, S: Floats) -> float:
        """Return the weighted sum of the rows' losses."""

    def row_values(self, S: Floats) -> Floats:
        """Return the unweighted loss of every row."""

    def probabilities(self, S: Floats) -> Floats:
        """Return the predictions [n, k]."""

    def score_gradient(self, p: Floats) -> Floats:
        """Return the gradient with respect to the scores [n, k]."""

    def hessian_times(self, p: Floats, V: Floats) -> Floats:
        """Return the Hessian with respect to the scores times V [n, k]."""


class SquaredLoss:
    """Half the squared difference of target and score; its predictions are the scores."""

    n_outputs = 1

    def __init__(self, y: Floats, weights: Floats | None) -> None:
        self.y = y[:, None]
        self.weights = (np.ones(len(y)) if weights is None else weights)[:, None]

    def value(self, S: Floats) -> float:
        """Return the weighted sum of the rows' losses."""
        return float((self.weights[:, 0] * self.row_values(S)).sum())

    def row_values(self, S: Floats) -> Floats:
        """Return the unweighted loss of every row."""
        return np.asarray(0.5 * np.square(S - self.y)[:, 0])

    def probabilities(self, S: Floats) -> Floats:
        """Return the predictions, which are the scores."""
        return S

    def score_gradient(self, p: Floats) -> Floats:
        """Return the gradient with respect to the scores."""
        return np.asarray(self.weights * (p - self.y))

    def hessian_times(self, p: Floats, V: Floats) -> Floats:
        """Return the Hessian with respect to the scores times V."""
        del p
        return np.asarray(self.weights * V)


@dataclass(frozen=True, eq=False)
class AdditiveProblem:
    """The rows, their loss and the effects, whose features follow each other in X."""

    X: SparseMatrix
    loss: ScoreLoss
    effects: Sequence[Effect]

    @property
    def offsets(self) -> list[int]:
        """The first coordinate of each effect, and the number of all coordinates."""
        return [0, *np.cumsum([effect.n_coordinates for effect in self.effects]).tolist()]

    def slices(self) -> list[tuple[Effect, slice]]:
        """Return each effect with its coordinates."""
        starts = self.offsets
        return [(e, slice(a, b)) for e, a, b in zip(self.effects, starts, starts[1:], strict=False)]

    def expand(self, U: Floats) -> Floats:
        """Return the weights of all features."""
        return np.concatenate([effect.expand(U[at]) for effect, at in self.slices()])

    def project(self, V: Floats) -> Floats:
        """Return the gradient of the coordinates from that of the features."""
        return np.concatenate([effect.project(V[effect.start : effect.stop]) for effect in self.effects])

    def scores(self, U: Floats, b: Floats) -> Floats:
        """Return the scores [n, k]."""
        return np.asarray(self.X.times(np.ascontiguousarray(self.expand(U))) + b)

    def bounded(self) -> Mask | None:
        """Return which coordinates must not be negative, as a column of booleans; None if none."""
        if all(effect.bounded is None for effect in self.effects):
            return None
        none = [
            np.zeros(e.n_coordinates, dtype=bool) if e.bounded is None else e.bounded for e in self.effects
        ]
        return np.concatenate(none)[:, None]


@dataclass(frozen=True, eq=False)
class State:
    """A point with the objective, the gradient, and the loss and its gradient alone."""

    U: Floats
    b: Floats
    p: Floats
    loss: float
    loss_grad: Floats
    grad_b: Floats
    objective: float
    grad: Floats

    def with_prior(self, prior: Prior) -> State:
        """Return the same point with another prior."""
        PU = prior.times(self.U)
        objective = self.loss + 0.5 * float((self.U * PU).sum())
        return replace(self, objective=objective, grad=self.loss_grad + PU)


class Prior:
    """The precision of all coordinates for given strengths."""

    def __init__(self, problem: AdditiveProblem, strengths: dict[str, float]) -> None:
        self.parts = [(at, effect.precision(strengths)) for effect, at in problem.slices()]

    def times(self, U: Floats) -> Floats:
        """Return P U."""
        parts = [P @ U[at] if P.ndim == 2 else P[:, None] * U[at] for at, P in self.parts]
        return np.concatenate(parts)

    def inverse_quadratic(self, V: Floats) -> float:
        """Return Σ v·P⁻¹v over the columns of V."""
        total = 0.0
        for at, P in self.parts:
            if P.ndim == 1:
                total += float((np.square(V[at]) / P[:, None]).sum())
                continue
            lower = algebra.cholesky(P)
            if lower is None:
                return np.inf
            total += float(np.square(algebra.solve_triangular(lower, V[at])).sum())
        return total


class Preconditioner:
    """Inverses of the diagonal blocks of the Hessian, one set per output, the intercept in the first block.

    `inverses[k][j]` is the inverse Hessian of effect j for output k, for traces and standard deviations.
    """

    def __init__(self, problem: AdditiveProblem, prior: Prior, p: Floats) -> None:
        self._problem = problem
        k = problem.loss.n_outputs
        self._factors: list[list[tuple[Floats, Floats]]] = []
        self._diagonals: list[Floats] = []
        self._blocks = _make_blocks(problem.effects)
        # One block of one output is the whole Hessian.
        has_one_block = len(self._blocks) == 1 and not any(effect.is_wide for effect in problem.effects)
        self.is_exact = has_one_block and k == 1
        for output in range(k):
            unit = np.zeros((1, k))
            unit[0, output] = 1.0
            weights = np.ascontiguousarray(
                problem.loss.hessian_times(p, np.broadcast_to(unit, p.shape))[:, output]
            )
            self._factors.append([self._factor(block, prior, np.maximum(weights, 0.0), at == 0)
                                  for at, block in enumerate(self._blocks)])  # fmt: skip
            self._diagonals.append(self._wide_diagonal(prior, weights))

    def _factor(
        self, block: list[int], prior: Prior, h: Floats, has_intercept: bool
    ) -> tuple[Floats, Floats]:
        """Return the coordinates of a block (−1 for the intercept) and the Cholesky factor of its Hessian."""
        problem = self._problem
        X, effects = problem.X, [problem.effects[j] for j in block]
        features = (
            np.concatenate([np.arange(e.start, e.stop) for e in effects]) if block else np.zeros(0, int)
        )
        positions = np.full(X.width, -1, dtype=np.int32)
        positions[features] = np.arange(len(features))
        gram = np.zeros((len(features), len(features)))
        if len(features):
            _core.sparse_weighted_gram(*X.rows.csr, positions, h, available_cores(), gram)
        half = _stack_projections(effects, gram)
        hess = _stack_projections(effects, np.ascontiguousarray(half.T))
        offsets, starts = problem.offsets, 0
        coordinates = []
        for j, effect in zip(block, effects, strict=True):
            at = slice(starts, starts + effect.n_coordinates)
            P = prior.parts[j][1]
            hess[at, at] += P if P.ndim == 2 else np.diag(P)
            coordinates.append(np.arange(offsets[j], offsets[j + 1]))
            starts = at.stop
        if has_intercept:
            sums = X.transposed_times(h)[features] if len(features) else np.zeros(0)
            column = _stack_projections(effects, sums[:, None])
            hess = np.block([[hess, column], [column.T, np.full((1, 1), max(float(h.sum()), 1e-300))]])
            coordinates.append(np.array([-1]))
        diagonal = np.einsum("ii->i", hess)
        diagonal += RIDGE * np.maximum(diagonal, 1e-300)
        lower = algebra.cholesky(hess)
        while lower is None:
            diagonal += 1e-6 * np.maximum(diagonal, 1e-12)
            lower = algebra.cholesky(hess)
        return np.concatenate(coordinates), lower

    def _wide_diagonal(self, prior: Prior, h: Floats) -> Floats:
        """Return the diagonal of the Hessian at the coordinates of wide effects, 1 elsewhere."""
        diagonal = np.ones(self._problem.offsets[-1])
        squares = None
        for j, (effect, at) in enumerate(self._problem.slices()):
            if effect.is_wide:
                squares = self._problem.X.squared_times(h) if squares is None else squares
                diagonal[at] = squares[effect.start : effect.stop] + prior.parts[j][1]
        return diagonal

    def solve(self, G: Floats, g_b: Floats) -> tuple[Floats, Floats]:
        """Return the product of the block inverses with a gradient."""
        out, out_b = np.empty_like(G), np.empty_like(g_b)
        for k in range(G.shape[1]):
            padded = np.append(G[:, k], g_b[k])
            result = padded / np.append(self._diagonals[k], 1.0)
            for coordinates, lower in self._factors[k]:
                result[coordinates] = algebra.cholesky_solve(lower, padded[coordinates])
            out[:, k], out_b[k] = result[:-1], result[-1]
        return out, out_b

    def inverses(self) -> list[list[Floats]]:
        """Return, by output, the inverse Hessian of each effect: [r, r], or the diagonal of a wide one."""
        found: list[list[Floats]] = []
        for k, factors in enumerate(self._factors):
            by_effect: list[Floats] = [np.zeros(0)] * len(self._problem.effects)
            for block, (_, lower) in zip(self._blocks, factors, strict=True):
                inverse, start = algebra.triangular_inverse(lower), 0
                for j in block:
                    stop = start + self._problem.effects[j].n_coordinates
                    columns = inverse[start:, start:stop]  # of L⁻¹, whose upper triangle is zero
                    by_effect[j] = columns.T @ columns
                    start = stop
            for j, (effect, at) in enumerate(self._problem.slices()):
                if effect.is_wide:
                    by_effect[j] = 1 / self._diagonals[k][at]
            found.append(by_effect)
        return found


def _make_blocks(effects: Sequence[Effect]) -> list[list[int]]:
    """Group effects into dense blocks; pairs, nearly orthogonal to the other effects, stand alone."""
    blocks: list[list[int]] = [[]]
    size = 0
    for j, effect in enumerate(effects):
        if effect.is_wide:
            continue
        if effect.is_pair:
            blocks.append([j])
            continue
        size += effect.n_coordinates
        if size > MAX_BLOCK and blocks[0]:
            blocks.insert(0, [])
            size = effect.n_coordinates
        blocks[0].append(j)
    return blocks


def _stack_projections(effects: Sequence[Effect], matrix: Floats) -> Floats:
    """Return Zᵀ M for the features of several effects."""
    parts, start = [np.zeros((0, matrix.shape[1]))], 0
    for effect in effects:
        stop = start + effect.stop - effect.start
        parts.append(effect.project(matrix[start:stop]))
        start = stop
    return np.concatenate(parts)


def evaluate(problem: AdditiveProblem, prior: Prior, U: Floats, b: Floats) -> State:
    """Return the objective and the gradient at a point."""
    S = problem.scores(U, b)
    p = problem.loss.probabilities(S)
    r = problem.loss.score_gradient(p)
    loss, grad = problem.loss.value(S), problem.project(problem.X.transposed_times(r))
    return State(U, b, p, loss, grad, r.sum(axis=0), loss, grad).with_prior(prior)


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
        gap = (
            min(gap, duality_gap(problem, prior, state))
            if bounded is None
            else duality_gap(problem, prior, state)
        )
        if gap > target_gap:
            preconditioner = Preconditioner(problem, prior, state.p)
    return AdditiveSolution(state, duality_gap(problem, prior, state), iteration, preconditioner)


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
