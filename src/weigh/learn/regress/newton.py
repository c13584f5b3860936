"""Newton's method for smooth losses: any rows, any penalties l2 ≥ 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.regress.conjugate import conjugate_step
from weigh.learn.regress.curvature import hessian, newton_step
from weigh.learn.regress.dual_bound import can_be_bounded, lower_bound
from weigh.learn.regress.logistic_loss import Loss
from weigh.learn.regress.matrix import Matrix
from weigh.learn.regress.separation import check_growth, check_plane

MOST_TABLED = 2000  # unknowns for which second derivatives are a table
ROUNDING = 1e-14  # of the objective: what is less is not told from rounding


@dataclass(frozen=True, eq=False)
class Found:
    """Weights [width, columns], and the proof of how good they are."""

    W: Floats
    objective: float
    gap: float
    iterations: int
    method: str


RESTS = 4


class Newton:
    """A problem min loss(X W) + ½ Σ l2ⱼ wⱼ², with the bias, if any, among the features of X."""

    def __init__(self, loss: Loss, X: Matrix, l2: Floats, n_features: int) -> None:
        self.loss, self.X, self.l2, self.n_features = loss, X, l2, n_features
        self._free = l2 == 0
        self._may_grow = bool(self._free[:n_features].any())
        self._tabled = X.width * loss.columns <= MOST_TABLED
        self._bounded = can_be_bounded(loss, l2)

    @property
    def method(self) -> str:
        """How steps are found, and what the gap is proved by."""
        how = "Newton" if self._tabled else "Newton by conjugate gradients"
        return how if self._bounded else f"{how}; gap estimated by the Newton decrement"

    def objective(self, W: Floats, S: Floats) -> float:
        """Return loss and penalty of weights and their scores."""
        return self.loss.value(S) + 0.5 * float((self.l2[:, None] * np.square(W)).sum())

    def minimise(self, W: Floats, target: float, max_iter: int) -> Found:
        """Go from some weights to where the gap is at most the target, or no further for rounding."""
        S = self.X.times(W)
        value, gap, first, rests = self.objective(W, S), np.inf, 0.0, 0
        for iteration in range(max_iter + 1):
            p = self.loss.probabilities(S)
            gradient = self.X.transposed_times(self.loss.slopes(p)) + self.l2[:, None] * W
            length = float(np.linalg.norm(gradient))
            first = max(first, length)
            step = self._step(p, gradient, min(0.1, (length / first) ** 0.5 if first else 0.0))
            decrement = -float((gradient * step).sum())
            if self._may_grow:
                check_plane(self.loss, self.X, self._free, W)
            if decrement <= max(target, ROUNDING * value) or iteration == max_iter:
                gap = self._gap(value, p, decrement)
                # Where the objective is at rest, a few steps more still sharpen what proves it.
                rests += decrement <= ROUNDING * value
                if gap <= target or rests > RESTS or iteration == max_iter:
                    break
            W, S, value, moved = self._moved(W, S, value, step, decrement)
            if not moved:
                gap = self._gap(value, p, decrement)
                break
        if self._may_grow:
            check_growth(self.loss, self.X, self._free, step, self.n_features)
        if gap <= target:
            # The last step is known anyhow, and doubles the digits of the weights.
            W, S, value, _ = self._moved(W, S, value, step, decrement)
        return Found(self._centred(W), value, max(gap, 0.0), iteration, self.method)

    def _step(self, p: Floats, gradient: Floats, enough: float) -> Floats:
        if self._tabled:
            return newton_step(hessian(self.loss, self.X, self.l2, p), gradient)
        return conjugate_step(self.loss, self.X, self.l2, p, gradient, enough)

    def _gap(self, value: float, p: Floats, decrement: float) -> float:
        if not self._bounded:
            return decrement
        gap = value - lower_bound(self.loss, self.X, self.l2, p)
        # What is above the objective can be no bound of it: then nothing but the loss's sign is proved.
        return gap if gap >= -ROUNDING * value else value

    def _moved(
        self, W: Floats, S: Floats, value: float, step: Floats, decrement: float
    ) -> tuple[Floats, Floats, float, bool]:
        """Return weights, scores and objective after as much of the step as lets the objective fall."""
        scores = self.X.times(step)
        share = 1.0
        while share > 1e-10:
            near, reached = W + share * step, S + share * scores
            found = self.objective(near, reached)
            if found <= value - 1e-4 * share * decrement + ROUNDING * value:
                return near, reached, found, True
            share /= 2
        return W, S, value, False

    def _centred(self, W: Floats) -> Floats:
        # Without a penalty the same may be added to a weight of all classes: their mean is made zero.
        if self.loss.columns == 1:
            return W
        return np.asarray(np.where(self._free[:, None], W - W.mean(axis=1, keepdims=True), W))
