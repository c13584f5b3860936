"""Refinement of the weights of squared loss, with residuals in extended precision.

Moments lose the digits of features that nearly coincide. The rows do not: with gradients in extended
precision, Newton steps from a singular value decomposition of the rows converge to their optimum,
even if each step has few correct digits. Features with l1 enter and leave the active set one by one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats, Longs
from weigh.learn.linear.certificates import certify_squared
from weigh.learn.linear.conjugate_gradient import needs_conjugate_gradient
from weigh.learn.linear.double_double import DoubleDouble, exact, two_product
from weigh.learn.linear.least_squares import centre_rows
from weigh.learn.linear.matrix import EPS
from weigh.learn.linear.problem import Problem, Solution
from weigh.learn.linear.row_products import RowProducts

MAX_REFINED_CELLS = 2_000_000
_MAX_WORK = 10**9  # of a singular value decomposition: rows · features²
_MAX_ROUNDS = 12  # and four per feature with l1
_MAX_STALLED_STEPS = 2  # that are not half as long as the shortest one before
_MAX_SHIFT = 1e-9  # of the intercept, relative to the residuals
_FLAT_TOLERANCE = 1e-9  # of the largest l1: the slope of directions without curvature that counts as zero


def can_refine(problem: Problem) -> bool:
    """Check whether a decomposition of the rows takes no more than a second or two."""
    n, d = problem.X.n_rows, problem.X.width
    return n * d <= MAX_REFINED_CELLS and n * d * min(n, d) <= _MAX_WORK


def certify_least_squares(
    problem: Problem, solution: Solution, max_gap: float, gram: Floats | None = None
) -> Solution:
    """Certify a solution of squared loss, and refine its weights if the gap is above `max_gap`."""
    is_free = (problem.l1 == 0) & (problem.l2 == 0)
    if is_free.any() and needs_conjugate_gradient(problem.X):
        return solution  # its gap is an estimate, which its method says
    certified = certify_squared(problem, solution, max_gap, gram)
    if certified.gap <= max_gap or not can_refine(problem):
        return certified
    refined = certify_squared(problem, refine_squared(problem, certified), max_gap, gram)
    return min(certified, refined, key=lambda found: found.gap)


def refine_squared(problem: Problem, solution: Solution) -> Solution:
    """Return the solution after Newton steps on the active set, until they no longer change the weights.

    The dual point of the solution is the residuals at the optimum. They differ from those of the weights,
    whose rounding alone can change the residuals of large rows by more than l1 allows.
    """
    refinement = _Refinement(problem.drop_zero_weights())
    w, b, smallest, n_stalled = solution.w.copy(), float(solution.b), np.inf, 0
    for _ in range(_MAX_ROUNDS + 4 * int((problem.l1 > 0).sum())):
        b, residuals, gradient = refinement.optimise_intercept(w, b)
        active, signs = refinement.active_set(w, gradient)
        change, is_interior = refinement.step(w, gradient, active, signs)
        size = float(np.linalg.norm(refinement.scale * change))
        n_stalled = n_stalled + 1 if is_interior and size >= 0.5 * smallest else 0
        if not size or n_stalled > _MAX_STALLED_STEPS:
            break
        smallest = min(smallest, size) if is_interior else np.inf
        w = problem.round_weights(w + change)
    b, residuals, gradient = refinement.optimise_intercept(w, b)
    active, signs = refinement.active_set(w, gradient)
    change = refinement.newton_step(w, gradient, active, signs)[0]
    # The intercept of the weights before they were rounded, unless the fit of the rows would feel it.
    shift = float(refinement.mean @ change)
    if abs(shift) <= _MAX_SHIFT * float(np.sqrt(np.square(residuals).mean())):
        b -= shift
    dual = residuals - (refinement.A @ (refinement.scale * change)) / np.sqrt(refinement.rows.weights)
    method = (
        solution.method if ", refined" in solution.method else f"{solution.method}, refined from the rows"
    )
    return replace(solution, w=w, b=np.asarray(b), method=method, dual=dual)


class _Refinement:
    """Centred and weighted rows A, scaled to columns of unit norm together with the roots of l2."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.rows = problem, RowProducts(problem, is_extended=True)
        A, _, self.mean, _ = centre_rows(problem)
        norms = np.sqrt(np.square(A).sum(axis=0) + problem.l2)
        self.is_constant = norms == 0
        self.scale = np.where(self.is_constant, 1.0, norms)
        self.A = A / self.scale
        self.total = float(self.rows.weights.sum())

    def optimise_intercept(self, w: Floats, b: float) -> tuple[float, Floats, Floats]:
        """Return the optimal intercept for the weights, the residuals and the negative gradient."""
        residuals, _ = self.rows.residuals(self.problem.y, w, np.asarray(b))
        if self.problem.has_intercept:
            # The residuals are those of an intercept that is not rounded.
            for _ in range(2):
                shift = float(self._weigh(residuals).sum().high) / self.total
                residuals, b = residuals.plus(exact(np.full(len(residuals.high), -shift))), b + shift
        theta = self._weigh(residuals)
        # The lower part of the residuals counts where their upper one cancels.
        q = self.rows.correlations(theta.high)[0] + self.problem.X.transposed_times(theta.low)
        return b, residuals.high, np.where(self.is_constant, 0.0, q)

    def _weigh(self, residuals: DoubleDouble) -> DoubleDouble:
        product = two_product(self.rows.weights, residuals.high)
        return DoubleDouble(product.high, product.low + self.rows.weights * residuals.low)

    def active_set(self, w: Floats, gradient: Floats) -> tuple[Longs, Floats]:
        """Return the active features, with the one that violates optimality most, and signs."""
        l1 = self.problem.l1
        is_active = ((l1 == 0) | (w != 0)) & ~self.is_constant
        signs = np.sign(w)
        excess = np.where(is_active, 0.0, np.abs(gradient) - l1 * (1 + 4 * EPS)) / self.scale
        if not is_active.any() or excess.max(initial=0.0) > 0:
            entering = int(np.argmax(excess))
            if excess[entering] > 0:
                is_active[entering], signs[entering] = True, np.sign(gradient[entering])
        return np.flatnonzero(is_active), signs

    def newton_step(self, w: Floats, gradient: Floats, active: Longs, signs: Floats) -> tuple[Floats, Floats]:
        """Return the Newton step with signs fixed, and the descent direction along which only l1 changes."""
        step, direction = np.zeros_like(w), np.zeros_like(w)
        if not len(active):
            return step, direction
        l1, l2, scale = self.problem.l1[active], self.problem.l2[active], self.scale[active]
        slope = (gradient[active] - l1 * signs[active] - l2 * w[active]) / scale
        penalty_rows = np.diag(np.sqrt(l2) / scale)[l2 > 0]
        _, s, V = algebra.svd(np.vstack([self.A[:, active], penalty_rows]))
        V = V[:, s > EPS * max(self.A.shape) * s.max(initial=0.0)]
        along = V.T @ slope
        step[active] = V @ (along / np.square(s[: V.shape[1]])) / scale
        flat = slope - V @ along
        if V.shape[1] < len(active) and np.abs(flat).max() > _FLAT_TOLERANCE * np.max(l1 / scale):
            direction[active] = flat / scale
        return step, direction

    def step(self, w: Floats, gradient: Floats, active: Longs, signs: Floats) -> tuple[Floats, bool]:
        """Return a step up to where the first weight with l1 becomes zero; and whether none does."""
        change, direction = self.newton_step(w, gradient, active, signs)
        has_l1, is_flat = self.problem.l1 > 0, bool(direction.any())
        change = direction if is_flat else change
        # A feature that enters against its sign stays out.
        change[has_l1 & (w == 0) & (change * signs < 0)] = 0.0
        crosses = has_l1 & (w * change < 0) & (is_flat | (w * (w + change) < 0))
        if not crosses.any():
            return (np.zeros_like(w) if is_flat else change), True
        lengths = np.where(crosses, -w / np.where(crosses, change, 1.0), np.inf)
        first = int(np.argmin(lengths))
        change = lengths[first] * change
        change[first] = -w[first]
        return change, False
