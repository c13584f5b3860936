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

from weigh import errors
from weigh.features.validation import check_finite
from weigh.judge.metrics.confidence_intervals import Measure
from weigh.judge.metrics.losses import Floats
from weigh.priors.quantiles import student_quantile, student_two_sided_p

RELATIVE_ROUNDING_ERROR = 1e-15


@dataclass(frozen=True)
class CorrectedMean:
    """The mean of a number over k resampled splits, with the scale of its uncertainty."""

    mean: float
    standard_error: float
    degrees_of_freedom: int

    @classmethod
    def of(cls, values: Floats, ratio: float) -> CorrectedMean:
        """From one value per split; `ratio` is n_test / n_train."""
        k = len(values)
        if not np.isfinite(values).all():
            return cls(float(values.mean()), math.nan, k - 1)
        mean = math.fsum(values.tolist()) / k
        # Values that cancel, or are equal, leave a rounding behind and nothing else.
        if abs(mean) <= RELATIVE_ROUNDING_ERROR * np.abs(values).max():
            mean = 0.0
        is_equal = np.ptp(values) <= RELATIVE_ROUNDING_ERROR * abs(mean)
        spread = 0.0 if is_equal else float(np.square(values - mean).sum()) / (k - 1)
        return cls(mean, math.sqrt(spread * (1.0 / k + ratio)), k - 1)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the interval of this level around the mean; it is also the posterior's."""
        reach = student_quantile(self.degrees_of_freedom, 0.5 + level / 2) * self.standard_error
        return self.mean - reach, self.mean + reach

    @property
    def statistic(self) -> float:
        """The t of the mean being zero."""
        if math.isnan(self.standard_error) or (self.standard_error == 0 and self.mean == 0):
            return 0.0 if self.mean == 0 else math.nan
        return self.mean / self.standard_error if self.standard_error else math.copysign(math.inf, self.mean)

    @property
    def p_value(self) -> float:
        """How often a mean this far from zero would come about if the true one were zero."""
        return student_two_sided_p(self.degrees_of_freedom, abs(self.statistic))

    def probability_below(self, value: float) -> float:
        """The posterior probability that the true mean is below a value."""
        if math.isnan(self.standard_error):
            return math.nan
        if self.standard_error == 0:
            return 0.5 if self.mean == value else float(self.mean < value)
        t = (value - self.mean) / self.standard_error
        tail = student_two_sided_p(self.degrees_of_freedom, abs(t)) / 2
        return tail if t < 0 else 1.0 - tail


def holm_adjust(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values of several questions so that their family errs at the level of one (Holm's steps)."""
    order = sorted(range(len(p_values)), key=lambda at: (math.isnan(p_values[at]), p_values[at]))
    many = sum(not math.isnan(p) for p in p_values)
    adjusted, reached = list(p_values), 0.0
    for step, at in enumerate(order[:many]):
        reached = max(reached, min(1.0, (many - step) * p_values[at]))
        adjusted[at] = reached
    return adjusted


@dataclass(frozen=True)
class FoldCorrection:
    """How means over so many folds vary, and at what level their intervals hold."""

    folds: int
    ratio: float  # rows held out per row that is trained on
    level: float

    @property
    def shared_error_fraction(self) -> float:
        """How much of a mean's error is that of the rows themselves, which all folds share."""
        return math.sqrt(self.ratio / (1 / self.folds + self.ratio))

    def mean_intervals(self, values: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return means, lower and upper limits and standard errors of values [folds, sizes]."""
        parts = [CorrectedMean.of(column, self.ratio) for column in values.T]
        limits = np.array([part.interval(self.level) for part in parts])
        means, scales = np.array([(part.mean, part.standard_error) for part in parts]).T
        return means, limits[:, 0], limits[:, 1], scales

    def measure(self, name: str, values: Floats, least: float = -np.inf) -> Measure:
        """Return the mean of values [folds] with its limits, no lower than the value can be."""
        mean, low, high, _ = (float(each[0]) for each in self.mean_intervals(values[:, None]))
        return Measure(name, mean, max(low, least), high)

    def draw_errors(self, values: Floats, n: int, seed: int) -> Floats:
        """Return n draws [n, sizes] of how far means of values [folds, sizes] may be off.

        Draws follow the multivariate t whose scatter is that of the folds, corrected; the same seed gives
        draws of other values of the same folds that belong together.
        """
        rng = np.random.default_rng(seed)
        normal = rng.standard_normal((n, self.folds))
        tail = np.sqrt((self.folds - 1) / rng.chisquare(self.folds - 1, n))
        scatter = (values - values.mean(axis=0)) * np.sqrt((1 / self.folds + self.ratio) / (self.folds - 1))
        return np.asarray((normal * tail[:, None]) @ scatter)


def check_level(level: float, owner: str) -> float:
    """Return the level of intervals, after a look at it."""
    must = "a share between 0 and 1"
    share = check_finite(owner, "level", level, must)
    if not 0 < share < 1:
        raise errors.parameter_error(owner, "level", must, level)
    return share
