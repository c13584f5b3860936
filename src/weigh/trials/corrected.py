"""Means over folds, with intervals that know that their training rows overlap.

Losses of the folds of a cross-validation are not independent: any two were trained on mostly the same rows.
With J folds in all, n_test rows held out and n_train rows left, the variance of their mean is taken to be

    (1/J + n_test / n_train) s²,    s² = sum (v_j − mean)² / (J − 1)

(Nadeau & Bengio, 2003, "Inference for the generalization error"), and the mean to follow Student's t of
J − 1 degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from weigh.judge.losses import Floats
from weigh.judge.measure import Measure


@dataclass(frozen=True)
class Corrected:
    """How means over so many folds vary, and at what level their intervals hold."""

    folds: int
    ratio: float  # rows held out per row that is trained on
    level: float

    @property
    def factor(self) -> float:
        """The variance of a mean, of the variance among the folds."""
        return 1.0 / self.folds + self.ratio

    def errors(self, values: Floats) -> Floats:
        """Return the standard errors of the means of values [folds, ...]."""
        if self.folds < 2:
            return np.full(values.shape[1:], np.nan)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.sqrt(self.factor * values.var(axis=0, ddof=1)))

    def means(self, values: Floats) -> tuple[Floats, Floats, Floats]:
        """Return means, lower and upper limits of values [folds, ...]; an infinite mean stays infinite."""
        with np.errstate(invalid="ignore"):
            mean = values.mean(axis=0)
            reach = stdtrit(self.folds - 1, (1.0 + self.level) / 2.0) * self.errors(values)
            low, high = mean - reach, mean + reach
        endless = np.isposinf(mean)
        return mean, np.where(endless, np.inf, low), np.where(endless, np.inf, high)

    def measure(self, name: str, values: Floats, least: float = -np.inf, most: float = np.inf) -> Measure:
        """Return the mean of values [folds] with its limits, within what the value can be."""
        mean, low, high = (float(each) for each in self.means(values))
        return Measure(name, mean, max(low, least), min(high, most) if np.isfinite(mean) else high)

    def noise(self, values: Floats, n: int, seed: int) -> Floats:
        """Return n draws [n, ...] of how far means of values [folds, ...] may be off.

        Draws follow the multivariate t whose scatter is that of the folds, corrected; the same seed gives
        draws of other values of the same folds that belong together.
        """
        rng = np.random.default_rng(seed)
        normal = rng.standard_normal((n, self.folds))
        tail = np.sqrt((self.folds - 1) / rng.chisquare(self.folds - 1, n))
        away = (values - values.mean(axis=0)).reshape(self.folds, -1)
        drawn = (normal * tail[:, None]) @ away * np.sqrt(self.factor / (self.folds - 1))
        return np.asarray(drawn.reshape(n, *values.shape[1:]))
