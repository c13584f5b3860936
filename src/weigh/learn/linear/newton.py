"""Newton's method for log loss with l2, with detection of separable classes.

    minimise  loss(X W) + ½ Σ l2ⱼ wⱼ²,   l2 ≥ 0

Steps come from a Cholesky factor of the Hessian or, with many unknowns, from conjugate gradients; a
backtracking line search makes the objective fall. Without a penalty the optimum may be at infinity, which
raises Separated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weigh.advice import Setting
from weigh.errors import Separated, quote_names
from weigh.features.blocks import Floats, Mask
from weigh.learn.linear.conjugate_gradient import newton_cg_step
from weigh.learn.linear.duality import dual_lower_bound, has_dual_bound
from weigh.learn.linear.losses import CrossEntropyLoss, hessian, solve_newton_system
from weigh.learn.linear.matrix import Matrix

MAX_DENSE_HESSIAN_SIZE = 2000  # unknowns up to which the Hessian is formed
ROUNDING_TOLERANCE = 1e-14  # relative to the objective: smaller changes are rounding
MAX_STALLED_STEPS = 4
# If weights diverge, late steps change the margins of some rows by about one and of the others not at all.
MIN_DIVERGING_MARGIN = 0.1
MAX_STATIONARY_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class SolverResult:
    """Weights [width, k], the intercept among them, with an upper bound `gap` on objective − minimum.

    `dual` are the probabilities [n, k] of the dual point, if they are not those of the weights.
    """

    W: Floats
    objective: float
    gap: float
    iterations: int
    method: str
    dual: Floats | None = None


class NewtonSolver:
    """Newton's method; X includes the intercept column, if any, after its `n_features` features."""

    def __init__(self, loss: CrossEntropyLoss, X: Matrix, l2: Floats, n_features: int) -> None:
        self.loss, self.X, self.l2, self.n_features = loss, X, l2, n_features
        self._is_unpenalised = l2 == 0
        self._may_diverge = bool(self._is_unpenalised[:n_features].any())
        self._uses_dense_hessian = X.width * loss.n_outputs <= MAX_DENSE_HESSIAN_SIZE
        self._has_dual_bound = has_dual_bound(loss, l2)

    @property
    def method(self) -> str:
        """How steps are computed, and what certifies the gap."""
        method = "Newton" if self._uses_dense_hessian else "Newton by conjugate gradients"
        return method if self._has_dual_bound else f"{method}; gap estimated by the Newton decrement"

    def objective(self, W: Floats, S: Floats) -> float:
        """Return loss and penalty for weights W with scores S = X W."""
        return self.loss.value(S) + 0.5 * float((self.l2[:, None] * np.square(W)).sum())

    def minimise(self, W: Floats, target: float, max_iter: int) -> SolverResult:
        """Iterate from W until the gap is at most the target or rounding prevents progress."""
        S = self.X.times(W)
        value, gap, max_grad_norm, n_stalled = self.objective(W, S), np.inf, 0.0, 0
        for iteration in range(max_iter + 1):
            p = self.loss.probabilities(S)
            grad = self.X.transposed_times(self.loss.score_gradient(p)) + self.l2[:, None] * W
            grad_norm = float(np.linalg.norm(grad))
            max_grad_norm = max(max_grad_norm, grad_norm)
            forcing = min(0.1, (grad_norm / max_grad_norm) ** 0.5 if max_grad_norm else 0.0)
            step = self._step(p, grad, forcing)
            decrement = -float((grad * step).sum())
            if self._may_diverge:
                check_not_separable(self.loss, self.X, self._is_unpenalised, W)
            if decrement <= max(target, ROUNDING_TOLERANCE * value) or iteration == max_iter:
                self._check_not_diverging(step)
                gap = self._gap(value, p, decrement)
                # Once the objective stalls, a few more steps still improve the dual point.
                n_stalled += decrement <= ROUNDING_TOLERANCE * value
                if gap <= target or n_stalled > MAX_STALLED_STEPS or iteration == max_iter:
                    break
            W, S, value, has_moved = self._line_search(W, S, value, step, decrement)
            if not has_moved:
                self._check_not_diverging(step)
                gap = self._gap(value, p, decrement)
                break
        if gap <= target:
            # The last step is already computed and doubles the correct digits of the weights.
            W, S, value, _ = self._line_search(W, S, value, step, decrement)
        return SolverResult(self._centre_unpenalised_weights(W), value, max(gap, 0.0), iteration, self.method)

    def _check_not_diverging(self, step: Floats) -> None:
        if self._may_diverge:
            check_not_diverging(self.loss, self.X, self._is_unpenalised, step, self.n_features)

    def _step(self, p: Floats, grad: Floats, forcing: float) -> Floats:
        if self._uses_dense_hessian:
            return solve_newton_system(hessian(self.loss, self.X, self.l2, p), grad)
        return newton_cg_step(self.loss, self.X, self.l2, p, grad, forcing)

    def _gap(self, value: float, p: Floats, decrement: float) -> float:
        if not self._has_dual_bound:
            return decrement
        gap = value - dual_lower_bound(self.loss, self.X, self.l2, p)
        # A bound above the objective is invalid; then all that is certain is that the loss is non-negative.
        return gap if gap >= -ROUNDING_TOLERANCE * value else value

    def _line_search(
        self, W: Floats, S: Floats, value: float, step: Floats, decrement: float
    ) -> tuple[Floats, Floats, float, bool]:
        """Halve the step until the objective falls (Armijo); return weights, scores, objective, success."""
        step_scores = self.X.times(step)
        alpha = 1.0
        while alpha > 1e-10:
            new_W, new_S = W + alpha * step, S + alpha * step_scores
            new_value = self.objective(new_W, new_S)
            if new_value <= value - 1e-4 * alpha * decrement + ROUNDING_TOLERANCE * value:
                return new_W, new_S, new_value, True
            alpha /= 2
        return W, S, value, False

    def _centre_unpenalised_weights(self, W: Floats) -> Floats:
        """Make unpenalised weights of several classes, which have a free constant, sum to zero."""
        if self.loss.n_outputs == 1:
            return W
        return np.asarray(np.where(self._is_unpenalised[:, None], W - W.mean(axis=1, keepdims=True), W))


def check_not_separable(loss: CrossEntropyLoss, X: Matrix, free: Mask, W: Floats) -> None:
    """Raise Separated if the unpenalised weights classify all rows with a positive margin."""
    margins = loss.margins(X.times(np.where(free[:, None], W, 0.0)))
    if len(margins) and margins.min() > 0:
        raise Separated(
            "A plane separates the classes, so without a prior the weights have no finite optimum.",
            hint=("Give a prior, for example ", Setting("prior", 1), "."),
        )


def check_not_diverging(loss: CrossEntropyLoss, X: Matrix, free: Mask, step: Floats, n_features: int) -> None:
    """Raise Separated if a step at the apparent optimum moves scores of some rows' classes away from others.

    The score of no row's class may move below that of another class.
    """
    free_step = np.where(free[:, None], step, 0.0)
    T = X.times(free_step)
    if not len(T) or loss.leads(T).max() < MIN_DIVERGING_MARGIN:
        return
    if loss.margins(T).min() < -MAX_STATIONARY_SHARE:
        return
    sizes = np.abs(free_step[:n_features]).max(axis=1, initial=0.0)
    features = np.flatnonzero(sizes > MAX_STATIONARY_SHARE * np.abs(free_step).max()).tolist()
    raise _diverging_error(f"numbers {quote_names(features)}", features)


def name_diverging_features(error: Separated, names: Sequence[str]) -> Separated:
    """Return the error with the names of the diverging features instead of their numbers."""
    if error.features is None:
        return error
    return _diverging_error(quote_names(names[index] for index in error.features), error.features)


def _diverging_error(names: str, features: list[int]) -> Separated:
    return Separated(
        f"Some features have values that occur with one class only ({names}), so without a prior their "
        "weights "
        "have no finite optimum.",
        features,
        hint=("Give a prior, for example ", Setting("prior", 1), ", or leave these features out."),
    )
