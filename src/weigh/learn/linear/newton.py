"""Newton's method for log loss with l2, with detection of separable classes.

    minimise  loss(X W) + ½ Σ l2ⱼ wⱼ²,   l2 ≥ 0

Steps come from a Cholesky factor of the Hessian or, with many unknowns, from conjugate gradients; a
backtracking line search makes the objective fall. Without a penalty the optimum may be at infinity, which
raises Separated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.advice import Setting
from weigh.errors import Separated, quote_names
from weigh.features.blocks import Floats
from weigh.learn.linear.loss_surface import ROUNDING_TOLERANCE, LossSurface

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
    """Newton's method on a surface."""

    def __init__(self, surface: LossSurface) -> None:
        self.surface = surface
        self._is_unpenalised = surface.l2 == 0
        self._may_diverge = bool(self._is_unpenalised[: surface.n_features].any())

    def minimise(self, W: Floats, target: float, max_iter: int) -> SolverResult:
        """Iterate from W until the gap is at most the target or rounding prevents progress."""
        surface = self.surface
        point = surface.point(W)
        gap, max_grad_norm, n_stalled = np.inf, 0.0, 0
        for iteration in range(max_iter + 1):
            grad = surface.gradient(point)
            grad_norm = float(np.linalg.norm(grad))
            max_grad_norm = max(max_grad_norm, grad_norm)
            forcing = min(0.1, (grad_norm / max_grad_norm) ** 0.5 if max_grad_norm else 0.0)
            step = surface.newton_step(point, grad, forcing)
            decrement = -float((grad * step).sum())
            if self._may_diverge:
                check_not_separable(surface, point.W)
            if decrement <= max(target, ROUNDING_TOLERANCE * point.value) or iteration == max_iter:
                self._check_not_diverging(step)
                gap = surface.gap(point, decrement)
                # Once the objective stalls, a few more steps still improve the dual point.
                n_stalled += decrement <= ROUNDING_TOLERANCE * point.value
                if gap <= target or n_stalled > MAX_STALLED_STEPS or iteration == max_iter:
                    break
            point, has_moved = self._line_search(point, step, decrement)
            if not has_moved:
                self._check_not_diverging(step)
                gap = surface.gap(point, decrement)
                break
        if gap <= target:
            # The last step is already computed and doubles the correct digits of the weights.
            point, _ = self._line_search(point, step, decrement)
        W = self._centre_unpenalised_weights(point.W)
        return SolverResult(W, point.value, max(gap, 0.0), iteration, surface.method)

    def _check_not_diverging(self, step: Floats) -> None:
        if self._may_diverge:
            check_not_diverging(self.surface, step)

    def _line_search(self, point: Any, step: Floats, decrement: float) -> tuple[Any, bool]:
        """Halve the step until the objective falls (Armijo); return the point and whether it does."""
        line = self.surface.line(point, step)
        alpha = 1.0
        while alpha > 1e-10:
            new = line(alpha)
            if new.value <= point.value - 1e-4 * alpha * decrement + ROUNDING_TOLERANCE * point.value:
                return new, True
            alpha /= 2
        return point, False

    def _centre_unpenalised_weights(self, W: Floats) -> Floats:
        """Make unpenalised weights of several classes, which have a free constant, sum to zero."""
        if self.surface.n_outputs == 1:
            return W
        return np.asarray(np.where(self._is_unpenalised[:, None], W - W.mean(axis=1, keepdims=True), W))


def check_not_separable(surface: LossSurface, W: Floats) -> None:
    """Raise Separated if the unpenalised weights classify all rows with a positive margin."""
    margins = surface.margins(np.where(surface.l2[:, None] == 0, W, 0.0))
    if margins is not None and margins.smallest > 0:
        raise Separated(
            "A plane separates the classes, so without a prior the weights have no finite optimum.",
            hint=("Give a prior, for example ", Setting("prior", 1), "."),
        )


def check_not_diverging(surface: LossSurface, step: Floats) -> None:
    """Raise Separated if a step at the apparent optimum moves scores of some rows' classes away from others.

    The score of no row's class may move below that of another class.
    """
    free_step = np.where(surface.l2[:, None] == 0, step, 0.0)
    found = surface.margins(free_step)
    if found is None or found.largest_lead < MIN_DIVERGING_MARGIN or found.smallest < -MAX_STATIONARY_SHARE:
        return
    sizes = np.abs(free_step[: surface.n_features]).max(axis=1, initial=0.0)
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
