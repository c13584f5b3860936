"""Make the passes of an online logistic regression again, apart from the learner's code.

With a given rate ε the step for a row (x, y) of weight s is w ← (1 − ε l2 / n) w + ε s r x, where r is y minus the
probabilities. Automatic steps are implicit: r is that of the new weights, every feature has its own step size
ε_j = 4 √N_j / Σ s x_j² over the N_j rows that have it so far, and the penalty of step t is l2 t / (n N_j). The
result is then the mean of the weights after each step, weighted 1, 2, 3, …
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weigh.features.blocks import Floats
from weigh.judge.verification.online_rows import OnlineRows

SAFE_RATE = 4.0
MAX_NEWTON_STEPS = 100


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
        return float(np.logaddexp(0.0, scores[0] if code == 0 else -scores[0]))
    return float(np.logaddexp.reduce(scores) - scores[code])


def _residuals(scores: Floats, code: int) -> Floats:
    """Return the indicator of the class minus the probabilities; for one column, of the second class."""
    if len(scores) == 1:
        sign = 1.0 if code else -1.0
        return np.array([sign * math.exp(-float(np.logaddexp(0.0, sign * scores[0])))])
    return (np.arange(len(scores)) == code) - np.exp(scores - np.logaddexp.reduce(scores))


def solve_implicit_step(a: Floats, c: float, code: int) -> Floats:
    """Return the residuals r at the scores z = a + c r(z) after an implicit step.

    z minimises |z − a|² / 2c + log loss, which is convex: Newton's method, with steps halved until it falls.
    """
    z = a + c * _residuals(a, code) / (1 + c)
    for _ in range(MAX_NEWTON_STEPS):
        r = _residuals(z, code)
        gradient = z - a - c * r
        p = np.abs(r) if len(z) == 1 else (np.arange(len(z)) == code) - r
        # The Hessian is 1 + c p (1 − p), or I + c (diag p − p pᵀ), solved by the formula of Sherman and Morrison.
        diagonal = 1 + c * p
        step = gradient / (diagonal - c * p * p) if len(z) == 1 else gradient / diagonal
        if len(z) > 1:
            step = step + c * p / diagonal * (p @ step) / (1 - c * float(p @ (p / diagonal)))
        size, value = 1.0, _implicit_objective(z, a, c, code)
        while size > 1e-9 and _implicit_objective(z - size * step, a, c, code) > value + 1e-15 * abs(value):
            size /= 2
        z = z - size * step
        if np.abs(step).max() <= 1e-13 * (1 + np.abs(z).max()):
            break
    return _residuals(z, code)


def _implicit_objective(z: Floats, a: Floats, c: float, code: int) -> float:
    return float(np.square(z - a).sum()) / 2 + c * _log_loss(z, code)
