"""Newton's method for smooth losses: any rows, any penalties l2 ≥ 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weigh.errors import Separated, quote_names
from weigh.features.blocks import Floats, Mask
from weigh.learn.linear.conjugate_gradient import newton_cg_step
from weigh.learn.linear.duality import dual_lower_bound, has_dual_bound
from weigh.learn.linear.losses import CrossEntropyLoss, hessian, solve_newton_system
from weigh.learn.linear.matrix import Matrix

MAX_DENSE_HESSIAN_SIZE = 2000  # unknowns for which second derivatives are a table
ROUNDING_TOLERANCE = 1e-14  # of the objective: what is less is not told from rounding


@dataclass(frozen=True, eq=False)
class SolverResult:
    """Weights [width, columns], and the proof of how good they are."""

    W: Floats
    objective: float
    gap: float
    iterations: int
    method: str


MAX_STALLED_STEPS = 4


class NewtonSolver:
    """A problem min loss(X W) + ½ Σ l2ⱼ wⱼ², with the bias, if any, among the features of X."""

    def __init__(self, loss: CrossEntropyLoss, X: Matrix, l2: Floats, n_features: int) -> None:
        self.loss, self.X, self.l2, self.n_features = loss, X, l2, n_features
        self._is_unpenalised = l2 == 0
        self._may_diverge = bool(self._is_unpenalised[:n_features].any())
        self._uses_dense_hessian = X.width * loss.n_outputs <= MAX_DENSE_HESSIAN_SIZE
        self._has_dual_bound = has_dual_bound(loss, l2)

    @property
    def method(self) -> str:
        """How steps are found, and what the gap is proved by."""
        how = "Newton" if self._uses_dense_hessian else "Newton by conjugate gradients"
        return how if self._has_dual_bound else f"{how}; gap estimated by the Newton decrement"

    def objective(self, W: Floats, S: Floats) -> float:
        """Return loss and penalty of weights and their scores."""
        return self.loss.value(S) + 0.5 * float((self.l2[:, None] * np.square(W)).sum())

    def minimise(self, W: Floats, target: float, max_iter: int) -> SolverResult:
        """Go from some weights to where the gap is at most the target, or no further for rounding."""
        S = self.X.times(W)
        value, gap, first, rests = self.objective(W, S), np.inf, 0.0, 0
        for iteration in range(max_iter + 1):
            p = self.loss.probabilities(S)
            gradient = self.X.transposed_times(self.loss.score_gradient(p)) + self.l2[:, None] * W
            length = float(np.linalg.norm(gradient))
            first = max(first, length)
            step = self._step(p, gradient, min(0.1, (length / first) ** 0.5 if first else 0.0))
            decrement = -float((gradient * step).sum())
            if self._may_diverge:
                check_not_separable(self.loss, self.X, self._is_unpenalised, W)
            if decrement <= max(target, ROUNDING_TOLERANCE * value) or iteration == max_iter:
                gap = self._gap(value, p, decrement)
                # Where the objective is at rest, a few steps more still sharpen what proves it.
                rests += decrement <= ROUNDING_TOLERANCE * value
                if gap <= target or rests > MAX_STALLED_STEPS or iteration == max_iter:
                    break
            W, S, value, moved = self._line_search(W, S, value, step, decrement)
            if not moved:
                gap = self._gap(value, p, decrement)
                break
        if self._may_diverge:
            check_not_diverging(self.loss, self.X, self._is_unpenalised, step, self.n_features)
        if gap <= target:
            # The last step is known anyhow, and doubles the digits of the weights.
            W, S, value, _ = self._line_search(W, S, value, step, decrement)
        return SolverResult(self._centre_unpenalised_weights(W), value, max(gap, 0.0), iteration, self.method)

    def _step(self, p: Floats, gradient: Floats, enough: float) -> Floats:
        if self._uses_dense_hessian:
            return solve_newton_system(hessian(self.loss, self.X, self.l2, p), gradient)
        return newton_cg_step(self.loss, self.X, self.l2, p, gradient, enough)

    def _gap(self, value: float, p: Floats, decrement: float) -> float:
        if not self._has_dual_bound:
            return decrement
        gap = value - dual_lower_bound(self.loss, self.X, self.l2, p)
        # What is above the objective can be no bound of it: then nothing but the loss's sign is proved.
        return gap if gap >= -ROUNDING_TOLERANCE * value else value

    def _line_search(
        self, W: Floats, S: Floats, value: float, step: Floats, decrement: float
    ) -> tuple[Floats, Floats, float, bool]:
        """Return weights, scores and objective after as much of the step as lets the objective fall."""
        scores = self.X.times(step)
        share = 1.0
        while share > 1e-10:
            near, reached = W + share * step, S + share * scores
            found = self.objective(near, reached)
            if found <= value - 1e-4 * share * decrement + ROUNDING_TOLERANCE * value:
                return near, reached, found, True
            share /= 2
        return W, S, value, False

    def _centre_unpenalised_weights(self, W: Floats) -> Floats:
        # Without a penalty the same may be added to a weight of all classes: their mean is made zero.
        if self.loss.n_outputs == 1:
            return W
        return np.asarray(np.where(self._is_unpenalised[:, None], W - W.mean(axis=1, keepdims=True), W))


# Where weights grow for ever, steps near the end move scores of some rows by about one, others not at all.
MIN_DIVERGING_MARGIN = 0.1
MAX_STATIONARY_SHARE = 0.01


def name_diverging_features(refusal: Separated, names: Sequence[str]) -> Separated:
    """Return the same refusal with the features' names."""
    if refusal.features is None:
        return refusal
    return Separated(_divergence_message(quote_names(names[at] for at in refusal.features)), refusal.features)


def check_not_separable(loss: CrossEntropyLoss, X: Matrix, free: Mask, W: Floats) -> None:
    """Refuse rows that the weights without a penalty separate."""
    leads = loss.margins(X.times(np.where(free[:, None], W, 0.0)))
    if len(leads) and leads.min() > 0:
        raise Separated(
            "Some plane separates the classes, so without a prior the weights have no maximum: they grow for "
            "ever, and the fit only gets better. Give prior=1.",
            None,
        )


def check_not_diverging(loss: CrossEntropyLoss, X: Matrix, free: Mask, step: Floats, n_features: int) -> None:
    """Refuse rows of which a step from where the problem seems solved moves some apart and none together."""
    part = np.where(free[:, None], step, 0.0)
    leads = loss.margins(X.times(part))
    if not len(leads) or leads.max() < MIN_DIVERGING_MARGIN or leads.min() < -MAX_STATIONARY_SHARE:
        return
    sizes = np.abs(part[:n_features]).max(axis=1, initial=0.0)
    grown = np.flatnonzero(sizes > MAX_STATIONARY_SHARE * np.abs(part).max())
    raise Separated(_divergence_message(f"numbers {quote_names(grown.tolist())}"), grown.tolist())


def _divergence_message(which: str) -> str:
    return (
        f"Some features have values that only occur with one class ({which}), so without a prior "
        f"their weights have no maximum: they grow for ever. Give prior=1, or leave them out."
    )
