"""Certificates of log loss that hold in exact arithmetic; see `certificates` for what they state.

The dual point is a table of probabilities p′ near those of the weights, p. Its distance from optimality is

    Σ sᵢ KL(p′ᵢ ‖ pᵢ) + Σⱼ (penalty + conjugate − qⱼ wⱼ),   q = Xᵀ s (y − p′).

p′ is p after Newton steps towards orthogonality to the unpenalised columns, drawn towards the targets y by
the factor c that makes it feasible for l1. One more Newton step, δ = s p′ (d − p′·d) with d = U c, would make
it orthogonal. Its norm, weighted by the inverse curvatures, is what is `missing`. No d may exceed 1, so that
p′ + δ / s are probabilities; they add at most missing² to the divergence, and a term of first order.
"""

from __future__ import annotations

from dataclasses import replace

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
from weigh.learn.linear.double_double import exact
from weigh.learn.linear.duality import has_dual_bound
from weigh.learn.linear.losses import (
    CrossEntropyLoss,
    hessian,
    make_loss,
    solve_newton_system,
)
from weigh.learn.linear.matrix import EPS, DenseMatrix
from weigh.learn.linear.problem import MAX_DENSE_CELLS, Problem, Solution
from weigh.learn.linear.row_products import RowProducts, sum_error
from weigh.learn.linear.softmax_decrement import Decrement, bound_decrement
from weigh.learn.linear.unpenalised_span import UnpenalisedSpan

_MAX_STEP = 1.0  # of the log-odds: p′ stays positive up to it
_MAX_STEPS, _SMALL_STEP = 6, 1e-9
_TINY = float(np.finfo(np.float64).tiny)


def certify_log(problem: Problem, solution: Solution, n_classes: int, tol: float) -> Solution:
    """Return the solution of log loss with a certified objective and gap.

    `tol` is the largest gap for which double precision suffices. With too many unpenalised features the gap
    stays as it is, an estimate.
    """
    problem = problem.drop_zero_weights()
    solution = replace(solution, w=problem.round_weights(solution.w))
    penalties = np.append(problem.l1 + problem.l2, 0.0 if problem.has_intercept else 1.0)
    if not has_dual_bound(make_loss(problem, n_classes), penalties):
        return solution

    def certify(is_extended: bool) -> Certified:
        return _LogCertificate(problem, solution, n_classes, is_extended=is_extended).certify()

    return certify_within(tol, problem, solution, certify)


class _LogCertificate:
    """Scores S of the weights, probabilities of all classes [n, classes], and bounds on their errors."""

    def __init__(self, problem: Problem, solution: Solution, n_classes: int, *, is_extended: bool) -> None:
        self.problem, self.w, self.is_binary = problem, solution.w, n_classes == 2
        self.dual = solution.dual
        self.rows = RowProducts(problem, is_extended=is_extended)
        self.loss: CrossEntropyLoss = make_loss(replace(problem, offset=None), n_classes)
        self.s = self.rows.weights[:, None]
        self.unpenalised = unpenalised_columns(problem)[1]
        zero = np.zeros((problem.X.n_rows, *solution.w.shape[1:]))
        negative_scores, error = self.rows.residuals(zero, solution.w, solution.b)
        self.S = -negative_scores.high.reshape(problem.X.n_rows, -1)
        # Probabilities have a few roundings, as many as a change of the scores by this.
        sizes = self.rows.norm(np.ones(len(self.S))) + self.rows.norm(self.S)
        self.error = error + self.rows.norm(negative_scores.low) + 8 * EPS * sizes
        p = self.loss.probabilities(self.S)
        self.p = np.hstack([self.loss.probabilities(-self.S), p]) if self.is_binary else p
        self.logs = _log_probabilities(self.S)
        # p − y without cancellation where p is near 1.
        self.base, y = self.p.copy(), (np.arange(len(p)), problem.y.astype(np.int64))
        self.base[y] = 0.0
        self.base[y] = -self.base.sum(axis=1)

    def certify(self) -> Certified:
        """Return objective and gap."""
        problem, s = self.problem, self.s
        objective = self.loss.value(self.S) + problem.penalty(self.w)
        size = self.rows.norm(self.base)
        relative = 2 * (sum_error(len(s)) + sum_error(self.w.size)) + EPS * self.p.shape[1]
        objective_error = self.error * (size + self.error) + relative * objective
        starts = [np.zeros_like(self.p)]
        if self.dual is not None:
            change = self.dual - self.p[:, -self.loss.n_outputs :]
            if self.is_binary:
                change = np.clip(change, -self.p[:, 1:], self.p[:, :1])
            starts.append(np.hstack([-change, change]) if self.is_binary else change)
        steps = [self._step_to_feasibility(self._balance(np.maximum(start, -self.p))) for start in starts]
        # Log loss is not negative.
        gap = min([objective, *(self._gap(step) for step in steps if step is not None)])
        return Certified(objective, gap + objective_error)

    def _gap(self, step: Floats) -> float:
        """Return the gap to the dual point p + step, scaled until it is feasible, or infinity."""
        theta = -self.s * (self.base + step)
        theta = theta[:, 1] if self.is_binary else theta
        q, errors = self.rows.correlations(theta)
        p = self.p + step
        missing = self._missing_part(p, theta, q, errors)
        if missing is None:
            return np.inf
        errors = errors + missing * self._column_norms(p).reshape(-1, *[1] * (q.ndim - 1))
        penalised = (self.problem.l1 > 0) | (self.problem.l2 > 0)
        w, q, errors = self.w[penalised], q[penalised], errors[penalised]
        l1, l2 = self.problem.l1[penalised], self.problem.l2[penalised]

        def gap(c: float) -> float:
            change = c * step - (1 - c) * self.base
            return self._divergence(change, p, missing) + penalty_gaps(w, c * q, errors, l1, l2)

        return min(gap(c) for c in feasible_scales(q, errors, l1, l2))

    def _divergence(self, change: Floats, dual: Floats, missing: float) -> float:
        """Return an upper bound on Σ sᵢ KL(p + change ‖ p), the change still `missing` its last part.

        `dual` are the probabilities p′ before they are drawn towards the targets.
        """
        is_normal = self.p >= _TINY
        ratios = change / np.where(is_normal, self.p, 1.0)
        # A probability that underflows may still cost much: its logarithm is known from the scores.
        logs = np.where(
            is_normal,
            np.log1p(np.maximum(ratios, -1 + EPS)),
            np.log(np.maximum(self.p + change, _TINY)) - self.logs,
        )
        rows = self.s * (self.p + change) * logs
        relative = 4 * EPS + sum_error(self.p.shape[1])
        rounding = relative * float((self.s * np.abs(change) * (1 + np.abs(logs))).sum())
        rounding += sum_error(rows.size) * float(np.abs(rows).sum())
        slope = self.rows.norm(np.sqrt(dual) * np.abs(logs))
        first_order = 2 * missing * slope + self.error * self.rows.norm(change)
        return max(float(rows.sum()), 0.0) + rounding + first_order + 4 * (missing + self.error) ** 2

    def _step_to_feasibility(self, step: Floats) -> Floats | None:
        """Return a change of p, by `step` and towards orthogonality to the unpenalised columns.

        None if it is too large.
        """
        U = self.unpenalised
        if not U.width:
            return step
        hess = self._hessian()
        for _ in range(_MAX_STEPS):
            theta = self.s * (self.base + step)
            d = U.times(solve_newton_system(hess, U.transposed_times(theta[:, -self.loss.n_outputs :])))
            if not np.abs(d).max(initial=0.0) <= _MAX_STEP:
                return None
            d = np.hstack([np.zeros_like(d), d]) if self.is_binary else d
            step = self._balance(step + self.p * (d - (self.p * d).sum(axis=1, keepdims=True)))
            if not np.abs(d).max(initial=0.0) > _SMALL_STEP:
                break
        return step if (self.p + step >= 0).all() else None

    def _balance(self, step: Floats) -> Floats:
        """Make the changes of a row sum to zero by that of its largest probability, so no digits cancel."""
        largest = (np.arange(len(step)), self.p.argmax(axis=1))
        step = step.copy()
        step[largest] = 0.0
        step[largest] = -step.sum(axis=1)
        return step

    def _hessian(self) -> Floats:
        p, U = self.p[:, -self.loss.n_outputs :], self.unpenalised
        return hessian(self.loss, U, np.zeros(U.width), p)

    def _missing_part(self, p: Floats, theta: Floats, q: Floats, errors: Floats) -> float | None:
        """Bound the norm of the change that would make θ orthogonal to the unpenalised columns.

        `p` are the probabilities of θ. None if the bound is too large for p + change to be probabilities.
        """
        U, s = self.unpenalised, self.rows.weights
        size = self.rows.norm(theta / s.reshape(-1, *[1] * (theta.ndim - 1)))
        # The dual point of several classes sums to zero over the classes but for rounding.
        rounding = 0.0 if self.is_binary else self.rows.norm(exact(theta).sum(axis=1).high / s)
        if not U.width:
            return rounding
        products, errors = unpenalised_products(self.rows, theta, q, errors, size)
        if not self.is_binary:
            errors = errors + rounding * np.sqrt(U.squared_times(s))[:, None]
            found = bound_decrement(self.loss, U, p, products, errors)
            if found is None or found.largest_step > 1:
                found = self._orthogonal_decrement(p, theta, products, errors)
            return found.norm + rounding if found is not None and found.largest_step <= 1 else None
        t = self._curvatures(p)
        span, point = UnpenalisedSpan.decompose(U, t), theta / np.sqrt(t)
        if not span.largest_step(U, t, products, errors, point) <= 1:
            return None
        return span.projection_norm(products, errors, point)

    def _orthogonal_decrement(
        self, p: Floats, theta: Floats, products: Floats, errors: Floats
    ) -> Decrement | None:
        """Bound the decrement in an orthonormal basis of the unpenalised columns, which may be collinear."""
        U = self.unpenalised
        if U.n_rows * U.width > MAX_DENSE_CELLS:
            return None
        span = UnpenalisedSpan.decompose(U, self.rows.weights)
        if span.directions is None:
            return None
        Z, rounding = span.basis(U, self.rows.weights)
        gradients = span.basis_products(products, errors, theta / np.sqrt(self.s))
        return bound_decrement(self.loss, DenseMatrix(Z), p, *gradients, rounding)

    def _curvatures(self, p: Floats) -> Floats:
        """Return the second derivatives of the losses of two classes by the score."""
        return np.maximum((self.s * p[:, :1] * p[:, 1:])[:, 0], _TINY)

    def _column_norms(self, p: Floats) -> Floats:
        """Return the norms by which a missing change multiplies the products with the columns.

        With two classes the change is measured in the curvatures, which are at most a quarter of the weights.
        """
        if self.is_binary:
            return self.rows.weighted_column_norms(self._curvatures(p))
        return self.rows.column_norms


def _log_probabilities(S: Floats) -> Floats:
    """Return the logarithms of the probabilities of all classes; one column of scores is that of two."""
    Z = np.hstack([np.zeros_like(S), S]) if S.shape[1] == 1 else S
    Z = Z - Z.max(axis=1, keepdims=True)
    return np.asarray(Z - np.log(np.exp(Z).sum(axis=1, keepdims=True)))
