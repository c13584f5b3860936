"""Whether two learners differ, from their losses on the same resampled rows.

Folds share most of their training rows, so k differences d of losses tell less than k independent ones.
Nadeau & Bengio's correction widens the variance of their mean by the share of rows held out:

    scale² = s² (1/k + n_test / n_train)        t = mean(d) / scale, with k − 1 degrees of freedom

The Bayesian correlated t-test (Corani & Benavoli) takes ρ = n_test / (n_train + n_test) for the correlation
of the folds; then ρ / (1 − ρ) = n_test / n_train, and the posterior of the true difference is Student's t
with the same scale around mean(d).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weigh.judge.measures.losses import Floats
from weigh.priors.quantiles import student_quantile, student_tails

ROUNDING = 1e-15


@dataclass(frozen=True)
class CorrectedMean:
    """The mean of a number over k resampled splits, with the scale of its uncertainty."""

    mean: float
    scale: float
    freedom: int

    @classmethod
    def of(cls, values: Floats, ratio: float) -> CorrectedMean:
        """From one value per split; `ratio` is n_test / n_train."""
        k = len(values)
        if not np.isfinite(values).all():
            return cls(float(values.mean()), math.nan, k - 1)
        mean = math.fsum(values.tolist()) / k
        # Values that cancel, or are equal, leave a rounding behind and nothing else.
        if abs(mean) <= ROUNDING * np.abs(values).max():
            mean = 0.0
        is_equal = np.ptp(values) <= ROUNDING * abs(mean)
        spread = 0.0 if is_equal else float(np.square(values - mean).sum()) / (k - 1)
        return cls(mean, math.sqrt(spread * (1.0 / k + ratio)), k - 1)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the interval of this level around the mean; it is also the posterior's."""
        reach = student_quantile(self.freedom, 0.5 + level / 2) * self.scale
        return self.mean - reach, self.mean + reach

    @property
    def statistic(self) -> float:
        """The t of the mean being zero."""
        if math.isnan(self.scale) or (self.scale == 0 and self.mean == 0):
            return 0.0 if self.mean == 0 else math.nan
        return self.mean / self.scale if self.scale else math.copysign(math.inf, self.mean)

    @property
    def p_value(self) -> float:
        """How often a mean this far from zero would come about if the true one were zero."""
        return student_tails(self.freedom, abs(self.statistic))

    def below(self, value: float) -> float:
        """The posterior probability that the true mean is below a value."""
        if math.isnan(self.scale):
            return math.nan
        if self.scale == 0:
            return 0.5 if self.mean == value else float(self.mean < value)
        t = (value - self.mean) / self.scale
        tail = student_tails(self.freedom, abs(t)) / 2
        return tail if t < 0 else 1.0 - tail


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values of several questions so that their family errs at the level of one (Holm's steps)."""
    order = sorted(range(len(p_values)), key=lambda at: (math.isnan(p_values[at]), p_values[at]))
    many = sum(not math.isnan(p) for p in p_values)
    adjusted, reached = list(p_values), 0.0
    for step, at in enumerate(order[:many]):
        reached = max(reached, min(1.0, (many - step) * p_values[at]))
        adjusted[at] = reached
    return adjusted
