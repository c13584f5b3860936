"""Paired tests of two learners: t-tests over splits or sets, McNemar's for errors, DeLong's for ROC areas.

The t-tests use the mean of k differences d with se² = s²/k and k − 1 degrees of freedom. The training sets of
different folds overlap, so differences between folds are less informative than independent ones. Nadeau &
Bengio (2003) correct the variance of their mean by the ratio of test to training rows:

    se² = s² (1/k + n_test / n_train)        t = mean(d) / se, with k − 1 degrees of freedom

The Bayesian correlated t-test (Corani & Benavoli, 2015) uses ρ = n_test / (n_train + n_test) as the
correlation of the folds. Since ρ / (1 − ρ) = n_test / n_train, the posterior of the true difference is
Student's t with location mean(d) and the same scale se.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weigh.judge.metrics.confidence_intervals import Measure, standard_error
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.ranking import AreaEstimate
from weigh.priors.quantiles import student_critical_value, student_two_sided_p

RELATIVE_ROUNDING_ERROR = 1e-15
MIN_AREA_VARIANCE = 1e-24  # less is rounding error


@dataclass(frozen=True)
class Estimate:
    """An estimate of a mean with its standard error; its error follows Student's t.

    With infinite degrees of freedom it follows the normal distribution. A standard error of nan is unknown.
    """

    mean: float
    standard_error: float
    degrees_of_freedom: float

    @classmethod
    def of_mean(cls, values: Floats, ratio: float = 0.0) -> Estimate:
        """Estimate the mean of values [k]; `ratio` is n_test / n_train of folds, 0 for independent values."""
        k = len(values)
        if k < 2 or not np.isfinite(values).all():
            return cls(float(values.mean()), math.nan, k - 1)
        mean = math.fsum(values.tolist()) / k
        # Sums that cancel and equal values must give exactly zero, not a rounding error.
        if abs(mean) <= RELATIVE_ROUNDING_ERROR * np.abs(values).max():
            mean = 0.0
        is_equal = np.ptp(values) <= RELATIVE_ROUNDING_ERROR * abs(mean)
        return cls(mean, 0.0 if is_equal else float(standard_error(values, ratio)), k - 1)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the confidence interval of the mean, which is also its credible interval."""
        half_width = student_critical_value(self.degrees_of_freedom, level) * self.standard_error
        return self.mean - half_width, self.mean + half_width

    @property
    def statistic(self) -> float:
        """The statistic of the hypothesis that the true mean is zero."""
        if math.isnan(self.standard_error) or (self.standard_error == 0 and self.mean == 0):
            return 0.0 if self.mean == 0 else math.nan
        return self.mean / self.standard_error if self.standard_error else math.copysign(math.inf, self.mean)

    @property
    def p_value(self) -> float:
        """The two-sided p-value of the hypothesis that the true mean is zero."""
        return student_two_sided_p(self.degrees_of_freedom, abs(self.statistic))

    def probability_below(self, value: float) -> float:
        """Return the posterior probability that the true mean is below `value`."""
        if math.isnan(self.standard_error):
            return math.nan
        if self.standard_error == 0:
            return 0.5 if self.mean == value else float(self.mean < value)
        t = (value - self.mean) / self.standard_error
        tail = student_two_sided_p(self.degrees_of_freedom, abs(t)) / 2
        return tail if t < 0 else 1.0 - tail


def area_difference(first: AreaEstimate, second: AreaEstimate) -> Estimate:
    """Estimate the difference of two ROC areas of the same rows by the method of DeLong et al. (1988).

    Perfect or completely reversed rankings have no variance to test with; their standard error is nan.
    """
    variance = float(np.square(first.row_influences - second.row_influences).sum())
    error = math.sqrt(variance) if variance > MIN_AREA_VARIANCE else math.nan
    return Estimate(first.value - second.value, error, math.inf)


def mcnemar_p_value(first: int, second: int) -> float:
    """Return the exact two-sided p-value of McNemar's test for two counts of discordant pairs."""
    n, fewer = first + second, min(first, second)
    log_binomials = [
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(fewer + 1)
    ]
    return min(1.0, 2.0 * math.fsum(math.exp(each - n * math.log(2.0)) for each in log_binomials))


def holm_adjust(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm's step-down method; NaN values are not counted."""
    order = sorted(range(len(p_values)), key=lambda i: (math.isnan(p_values[i]), p_values[i]))
    n_tests = sum(not math.isnan(p) for p in p_values)
    adjusted, running_max = list(p_values), 0.0
    for step, i in enumerate(order[:n_tests]):
        running_max = max(running_max, min(1.0, (n_tests - step) * p_values[i]))
        adjusted[i] = running_max
    return adjusted


@dataclass(frozen=True)
class FoldCorrection:
    """Corrected uncertainty of means over folds, at one confidence level."""

    folds: int
    ratio: float  # n_test / n_train
    level: float

    @property
    def shared_error_fraction(self) -> float:
        """The fraction of a mean's standard error that all folds share, because they share the rows."""
        return math.sqrt(self.ratio / (1 / self.folds + self.ratio))

    def mean_intervals(self, values: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return means, lower and upper limits, and standard errors [sizes] of values [folds, sizes]."""
        estimates = [Estimate.of_mean(column, self.ratio) for column in values.T]
        limits = np.array([each.interval(self.level) for each in estimates])
        means, standard_errors = np.array([(each.mean, each.standard_error) for each in estimates]).T
        return means, limits[:, 0], limits[:, 1], standard_errors

    def measure(self, name: str, values: Floats, minimum: float = -np.inf) -> Measure:
        """Return the mean of values [folds] with its interval, whose lower limit is at least `minimum`."""
        mean, low, high, _ = (float(each[0]) for each in self.mean_intervals(values[:, None]))
        return Measure(name, mean, max(low, minimum), high)

    def draw_errors(self, values: Floats, n: int, seed: int) -> Floats:
        """Draw n errors [n, sizes] of the means of values [folds, sizes].

        The draws follow a multivariate t distribution with the corrected covariance of the folds. Draws for
        other values of the same folds are paired if the seed is the same.
        """
        rng = np.random.default_rng(seed)
        normal = rng.standard_normal((n, self.folds))
        t_scale = np.sqrt((self.folds - 1) / rng.chisquare(self.folds - 1, n))
        deviations = (values - values.mean(axis=0)) * np.sqrt(
            (1 / self.folds + self.ratio) / (self.folds - 1)
        )
        return np.asarray((normal * t_scale[:, None]) @ deviations)
