"""Make the passes of an online logistic regression again, apart from the learner's code.

With a given rate ε the step for a row (x, y) of weight s is w ← (1 − ε l2 / n) w + ε s r x, where r is y
minus the probabilities. Automatic steps are implicit: r is that of the new weights, and every feature has its
own step size ε_j = 4 √N_j / Σ s x_j² over the N_j rows that have it so far; the penalty of step t is
l2 t / (n N_j). The result is then the mean of the weights after each step, weighted 1, 2, 3, …
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weigh.features.blocks import Floats
from weigh.judge.verification.online_rows import OnlineRows

SAFE_RATE = 4.0
MAX_NEWTON_STEPS = 100
CLOSE, SMALLEST_STEP = 1e-6, 1e-9  # Newton steps: relative to the scores, and relative to a full one


@dataclass
class SgdReplay:
    """Weights W [1 + width, columns], the bias first; one column for two classes, else one per class."""

    rows: OnlineRows
    n_classes: int
    l2: float
    bias: bool
    passes: int = 0
    steps: int = 0
    converged: bool = False

    def __post_init__(self) -> None:
        self.columns = 1 if self.n_classes == 2 else self.n_classes
        self.W = np.zeros((self.rows.width + 1, self.columns))
        self.sums = np.zeros_like(self.W)  # Σ (1 + 2 + … before the step) · change
        self.counts, self.squares = np.zeros((2, self.rows.width + 1))

    def run(self, max_passes: int) -> None:
        """Make passes until the objective falls by less than the fraction `tol`, at most `max_passes`."""
        previous, tol = None, self.rows.settings.tol
        while not self.converged and self.passes < max_passes:
            loss = sum(self._learn(row) for row in self.rows.order(self.passes))
            self.passes += 1
            objective = loss + 0.5 * self.l2 * float(np.square(self.weights()[1:]).sum())
            self.converged = (
                previous is not None and tol is not None and previous - objective <= tol * previous
            )
            previous = objective

    def weights(self) -> Floats:
        """Return the weights that the model keeps."""
        if self.rows.settings.rate is not None:
            return self.W
        return self.W - self.sums / max(1.0, 0.5 * self.steps * (self.steps + 1))

    def _learn(self, row: int) -> float:
        (features, values), code = self.rows.rows[row], self.rows.codes[row]
        s, rate = self.rows.weights[row], self.rows.settings.rate
        has_value = values != 0
        at, x = features[has_value] + 1, values[has_value]
        if self.bias:
            at, x = np.append(0, at), np.append(1.0, x)
        loss = s * _log_loss(x @ self.W[at], code)
        if rate is None:
            self._step_implicitly(at, x, code, s)
        else:
            residuals = _residuals(x @ self.W[at], code)
            self.W[1:] *= 1 - rate * self.l2 / len(self.rows.rows)
            self.W[at] += rate * s * np.outer(x, residuals)
        self.steps += 1
        return loss

    def _step_implicitly(self, at: Floats, x: Floats, code: int, s: float) -> None:
        t, n = self.steps, len(self.rows.rows)
        self.counts[at] += 1
        self.squares[at] += s * x * x
        is_used = self.squares[at] > 0
        at, x = at[is_used], x[is_used]
        rates = SAFE_RATE * np.sqrt(self.counts[at]) / self.squares[at]
        penalties = np.where(at == 0, 0.0, self.l2 * (t + 1) / (n * self.counts[at]))
        shrinkage = 1 / (1 + rates * penalties)
        old = self.W[at]
        a, c = (x * shrinkage) @ old, s * float((rates * shrinkage * x * x).sum())
        residuals = solve_implicit_step(a, c, code)
        new = old * shrinkage[:, None] + s * np.outer(rates * shrinkage * x, residuals)
        self.sums[at] += 0.5 * t * (t + 1) * (new - old)
        self.W[at] = new


def _log_loss(scores: Floats, code: int) -> float:
    """Return −log P(class) for the scores of a row."""
    if len(scores) == 1:
        return _softplus(-float(scores[0]) if code else float(scores[0]))
    return _log_sum_exp(scores) - float(scores[code])


def _residuals(scores: Floats, code: int) -> Floats:
    """Return the indicator of the class minus the probabilities; for one column, of the second class."""
    if len(scores) == 1:
        sign = 1.0 if code else -1.0
        return np.array([sign * math.exp(-_softplus(sign * float(scores[0])))])
    residuals = -np.exp(scores - _log_sum_exp(scores))
    residuals[code] += 1
    return residuals


def _softplus(u: float) -> float:
    """Return log(1 + eᵘ)."""
    return max(u, 0.0) + math.log1p(math.exp(-abs(u)))


def _log_sum_exp(scores: Floats) -> float:
    largest = float(scores.max())
    return largest + math.log(float(np.exp(scores - largest).sum()))


def solve_implicit_step(a: Floats, c: float, code: int) -> Floats:
    """Return the residuals r at the scores z = a + c r(z) after an implicit step.

    z minimises |z − a|² / 2 + c · log loss, which is convex. Newton's method finds it, with steps that are
    halved until the objective falls, except close to the minimum, where rounding hides its fall.
    """
    z = a + c * _residuals(a, code) / (1 + c)
    for _ in range(MAX_NEWTON_STEPS):
        step = _newton_step(z, a, c, code)
        length, scale = float(np.abs(step).max()), 1 + float(np.abs(z).max())
        size = 1.0 if length <= CLOSE * scale else _step_size(z, step, a, c, code)
        z = z - size * step
        if length <= CLOSE * CLOSE * scale:
            break
    return _residuals(z, code)


def _newton_step(z: Floats, a: Floats, c: float, code: int) -> Floats:
    r = _residuals(z, code)
    gradient = z - a - c * r
    if len(z) == 1:
        p = np.abs(r)
        return np.asarray(gradient / (1 + c * p * (1 - p)))
    p = -r
    p[code] += 1
    # The Hessian I + c (diag p − p pᵀ) is inverted by the formula of Sherman and Morrison.
    diagonal = 1 + c * p
    step = gradient / diagonal
    return np.asarray(step + c * p / diagonal * float(p @ step) / (1 - c * float(p @ (p / diagonal))))


def _step_size(z: Floats, step: Floats, a: Floats, c: float, code: int) -> float:
    """Return the largest of 1, ½, ¼ … with which the objective falls."""

    def objective(z: Floats) -> float:
        return float(np.square(z - a).sum()) / 2 + c * _log_loss(z, code)

    value, size = objective(z), 1.0
    while size > SMALLEST_STEP and objective(z - size * step) >= value:
        size /= 2
    return size
