"""The normal distribution of a number within each class, and the posterior of its mean and spread."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.advice import Call, set_kind
from weigh.features.blocks import Floats, Ints, NumberBlock
from weigh.features.kinds import Number
from weigh.features.schema import ColumnGroup
from weigh.immutable import Immutable, read_only
from weigh.model.counts.sufficient_statistics import NumberCounts
from weigh.model.distributions.weights import (
    Contribution,
    NumberWeights,
    SingleValueTerm,
    format_value,
    missing_number,
)
from weigh.model.evidence.exact_products import Factor
from weigh.model.evidence.strengths import NormalParameters, Outcomes, StatisticTable
from weigh.priors.quantiles import chi_square_quantile, student_critical_value
from weigh.result import Result, Section, Table
from weigh.text import format_float, format_quantity

LOG_SQRT_TWO_PI = 0.5 * math.log(2 * math.pi)
QUOTIENT_BITS = 112  # enough for two floats of 53 bits


@dataclass(frozen=True, eq=False)
class GaussianWeights(SingleValueTerm):
    """The log-density of a number in each class, in centred form to avoid cancellation.

    The mean is `mean` + `mean_residual`: if the numbers vary little compared with their size, rounding the
    mean to a float would move it by much of a standard deviation.
    """

    name: str
    mean: Floats
    mean_residual: Floats
    deviation: Floats

    @cached_property
    def _inverse_deviation(self) -> Floats:
        with np.errstate(over="ignore"):
            return np.minimum(1.0 / self.deviation, np.finfo(np.float64).max)

    @cached_property
    def _log_normaliser(self) -> Floats:
        return -np.log(self.deviation) - LOG_SQRT_TWO_PI

    def add(self, block: NumberBlock, scores: Floats) -> None:
        """Add the log-density of each row to its scores."""
        if len(self.mean):
            _core.score_gaussian(
                block.values,
                self.mean,
                self.mean_residual,
                self._inverse_deviation,
                self._log_normaliser,
                scores,
            )

    def distances(self, value: float) -> Floats:
        """Return the distance of a value from the mean of each class."""
        return np.asarray((value - self.mean) - self.mean_residual)

    def contributions(self, block: NumberBlock, row: int) -> Iterator[Contribution]:
        """Yield the contribution of the row's number."""
        value = float(block.values[row])
        if len(self.mean) and not math.isnan(value):
            logs = np.zeros((1, len(self.mean)))
            self.add(block.row(row), logs)
            yield Contribution(self.name, format_value(value), logs[0])

    def without(self, block: NumberBlock, keys: Collection[int]) -> NumberBlock:
        """Return the single row of a block, with its value missing if any key is given."""
        return missing_number(block, keys)


@dataclass(frozen=True, eq=False)
class Gaussian(Immutable):
    """N(x; mean, deviation²) within each class, estimated from exact sums.

    The standard deviation is that of the class, pooled over the classes, or given. An estimate is at least
    `floor` times that of the whole column. A class without values gets the mean and deviation of the whole
    column; a constant column contributes nothing.
    """

    part: ColumnGroup
    counts: NumberCounts

    @property
    def kind(self) -> Number:
        """The column's settings."""
        kind = self.part.kind
        return kind if isinstance(kind, Number) else Number()

    @property
    def normal(self) -> Gaussian:
        """This distribution, as for numbers of other shapes their summary by means and spreads."""
        return self

    @property
    def spread(self) -> str | float:
        """The rule for the standard deviations: "own", "shared", or the given one."""
        return "own" if self.kind.spread is None else self.kind.spread

    @cached_property
    @read_only
    def sample_moments(self) -> Floats:
        """Mean, its rounding error and standard deviation [C + 1, 3]: of each class, then of all values."""
        n = self.counts.totals
        (sum_x, e1), (sum_xx, e2) = self.counts.sum_x.to_integers(), self.counts.sum_xx.to_integers()
        moments = [compute_moments(*sums, e1, e2) for sums in zip(n, sum_x, sum_xx, strict=True)]
        moments.append(compute_moments(sum(n, Fraction(0)), sum(sum_x), sum(sum_xx), e1, e2))
        return np.array(moments)

    @cached_property
    @read_only
    def _class_means(self) -> Floats:
        """The means and their rounding errors [2, C]; a class without values has those of the column."""
        means = self.sample_moments[:, :2].T
        return np.where(np.isnan(means[:, :-1]), means[:, -1:], means[:, :-1])

    @property
    def mean(self) -> Floats:
        """The mean of each class."""
        return np.asarray(self._class_means[0])

    @property
    def mean_residual(self) -> Floats:
        """The rounding error of the mean of each class, which `mean` + `mean_residual` corrects."""
        return np.asarray(self._class_means[1])

    @cached_property
    @read_only
    def deviation(self) -> Floats:
        """The standard deviation of each class, with the floor applied."""
        deviations: Floats = self.sample_moments[:-1, 2]
        overall = float(self.sample_moments[-1, 2])
        spread = self.spread
        if not isinstance(spread, str):
            return np.full(len(deviations), float(spread))
        if spread == "shared":
            deviations = np.full(len(deviations), pooled_deviation(deviations, self.counts.known))
        return np.where(np.isnan(deviations), overall, np.maximum(deviations, self.kind.floor * overall))

    @cached_property
    def weights(self) -> GaussianWeights:
        """The log-densities, as a term of the score; empty if the column contributes nothing."""
        if not self.counts.known.any() or not (self.deviation > 0).all():
            return GaussianWeights(self.part.names[0], np.zeros(0), np.zeros(0), np.zeros(0))
        return GaussianWeights(self.part.names[0], self.mean, self.mean_residual, self.deviation)

    @property
    def is_constant(self) -> bool:
        """Whether the column is left out because its value is the same in all rows."""
        return self.part.named and bool(self.counts.known.any()) and not len(self.weights.mean)

    def linear(self) -> NumberWeights:
        """Return the log-density without its quadratic term, which is the same for all classes.

        It is centred: for numbers far from zero, the products would cancel to a few digits otherwise.
        """
        name, deviation = self.part.names[0], self.deviation
        if not len(self.weights.mean):
            return NumberWeights(name, np.zeros(len(deviation)), np.zeros(len(deviation)))
        if not (deviation == deviation[0]).all():
            raise errors.Unsupported(
                f"Column {name!r} has its own spread in each class, so the score is quadratic in it and not "
                "linear.",
                hint=("Train with ", set_kind(name, Call("Number", spread="shared")), "."),
            )
        centre = float(self.mean[0])
        offsets = (self.mean - centre) + self.mean_residual
        slope = offsets / deviation[0] ** 2
        return NumberWeights(name, slope, -0.5 * slope * offsets, centre)

    def factors(self, block: NumberBlock, row: int, c: int) -> Iterator[Factor]:
        """Yield the density of the row's number in class c, with the formula."""
        for contribution in self.weights.contributions(block, row):
            mean, deviation = format_value(float(self.mean[c])), format_value(float(self.deviation[c]))
            formula = f"N({contribution.value}; mean {mean}, spread {deviation})"
            density = float(np.exp(contribution.logs[c]))
            yield Factor(contribution.feature, contribution.value, formula, density)

    def posterior(self, c: int, column: str = "") -> NormalPosterior:
        """Return the posterior of the mean and the standard deviation in class c."""
        known = self.counts.known
        n, mean, deviation = float(known[c]), float(self.mean[c]), float(self.deviation[c])
        if self.spread == "own":
            return NormalPosterior(n, mean, deviation, n, n - 1)
        if self.spread == "shared":
            pooled, n_means = float(known.sum()), float((known > 0).sum())
            return NormalPosterior(n, mean, deviation, pooled, pooled - n_means)
        return NormalPosterior(n, mean, deviation, n, math.inf)

    def predictive(self) -> StudentWeights | GaussianWeights:
        """Return the posterior predictive term: Student's t, with mean and spread integrated out."""
        if not len(self.weights.mean):
            return self.weights
        posteriors = tuple(self.posterior(c) for c in range(len(self.mean)))
        return StudentWeights(self.part.names[0], posteriors, self.mean_residual)

    def sample(self, rng: np.random.Generator, classes: Ints) -> dict[str, Any]:
        """Draw a number for each row of the given classes."""
        drawn = rng.normal(self.mean[classes], np.nan_to_num(self.deviation[classes]))
        return {self.part.names[0]: drawn}

    @property
    def n_shared_parameters(self) -> int:
        """Number of free parameters shared by all classes."""
        return 1 if self.spread == "shared" and not self.is_constant else 0

    def outcomes(self) -> list[Outcomes]:
        """Return an empty list: a continuous value has no probability."""
        return []

    def normal_parameters(self) -> list[NormalParameters]:
        """Return the mean and the standard deviation of each class."""
        return list(zip(self.mean.tolist(), self.deviation.tolist(), strict=True))

    def sufficient_statistics(self) -> Iterator[StatisticTable]:
        """Yield the number of known values, their exact sum and the exact sum of squares."""
        yield "known", [""], self.counts.known[:, None]
        for title, total in (("sum", self.counts.sum_x), ("sum of squares", self.counts.sum_xx)):
            integers, exponent = total.to_integers()
            yield title, [""], np.array([[n * Fraction(2) ** exponent] for n in integers], dtype=object)
        if self.counts.grid is not None:
            yield "cell", self.counts.grid.cells.tolist(), self.counts.grid.table

    def constant_names(self) -> Iterator[str]:
        """Yield the column if it is left out because it is the same in all rows."""
        if self.is_constant:
            yield self.part.names[0]

    def training_names(self) -> Iterable[Any]:
        """Return no names: a number has no levels."""
        return ()

    def describe(self) -> str:
        """Return a short description of the content."""
        return f"means {format_float(float(self.mean.min()))} to {format_float(float(self.mean.max()))}"

    @property
    def n_parameters(self) -> int:
        """Number of free parameters per class: the mean, and the spread if it is not shared or given."""
        if self.is_constant:
            return 0
        return 2 if self.spread == "own" else 1


def compute_moments(n: Fraction, sum_x: int, sum_xx: int, e1: int, e2: int) -> tuple[float, float, float]:
    """Return mean, rounding error and deviation of n values with Σx = sum_x·2^e1 and Σx² = sum_xx·2^e2.

    Only the results are rounded: (n Σx² − (Σx)²) / n² is computed in integers.
    """
    if not n:
        return math.nan, math.nan, math.nan
    p, q = n.numerator, n.denominator
    exponent = min(2 * e1, e2)
    scatter = ((p * q * sum_xx) << (e2 - exponent)) - ((q * q * sum_x * sum_x) << (2 * e1 - exponent))
    mean, residual = _double_ratio(sum_x * q, e1, p)
    return mean, residual, _sqrt_of_ratio(max(0, scatter), exponent, p * p)


def _double_ratio(numerator: int, exponent: int, denominator: int) -> tuple[float, float]:
    """Return numerator · 2^exponent / denominator as the nearest float and the rest, rounded to a float."""
    shift = QUOTIENT_BITS - numerator.bit_length() + denominator.bit_length()
    if shift >= 0:
        quotient, remainder = divmod(numerator << shift, denominator)
    else:
        quotient, remainder = divmod(numerator, denominator << -shift)
    if remainder:
        quotient |= 1  # a lost remainder must not make the quotient look like a tie
    high = float(quotient)
    return math.ldexp(high, exponent - shift), math.ldexp(quotient - int(high), exponent - shift)


def _scaled_ratio(numerator: int, exponent: int, denominator: int) -> float:
    if exponent >= 0:
        return (numerator << exponent) / denominator
    return numerator / (denominator << -exponent)


def _sqrt_of_ratio(numerator: int, exponent: int, denominator: int) -> float:
    # Scale the ratio to about 1 first: it may be too large or too small for a float although its root is not.
    half = (numerator.bit_length() - denominator.bit_length() + exponent) // 2
    return math.ldexp(math.sqrt(_scaled_ratio(numerator, exponent - 2 * half, denominator)), half)


def pooled_deviation(deviations: Floats, known: Any) -> float:
    """Return the root mean squared deviation of all values from the mean of their class."""
    largest = float(np.nanmax(deviations, initial=0.0))
    if not largest:
        return 0.0 if known.any() else math.nan
    return largest * math.sqrt(float(np.nansum(known * (deviations / largest) ** 2) / known.sum()))


MAX_SQUARED_DISTANCE = 1e300  # keeps log-densities finite, so that no value makes a class impossible


@dataclass(frozen=True, repr=False)
class NormalPosterior(Result):
    """The posterior of a class's mean and standard deviation after n values, under the reference prior.

    `deviation` is the root mean squared deviation of the `pooled` values that determine the spread: the n of
    the class, or those of all classes if they share it. With `freedom` degrees of freedom (pooled values
    minus estimated means) the mean has a Student-t distribution and the variance a scaled inverse chi-square
    distribution. If the spread is given, `freedom` is infinite and the mean has a normal distribution.
    """

    n: float
    mean: float
    deviation: float
    pooled: float
    freedom: float
    _json = ("n", "mean", "deviation", "pooled", "freedom", "spread")

    @property
    def mode(self) -> float:
        """The most probable mean."""
        return self.mean

    @property
    def spread(self) -> float:
        """The standard deviation corrected for the estimated means, or the given spread."""
        if math.isinf(self.freedom):
            return self.deviation
        return self.deviation * math.sqrt(self.pooled / self.freedom)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the equal-tailed credible interval of the mean."""
        self._check_degrees_of_freedom()
        half_width = student_critical_value(self.freedom, level) * self.spread / math.sqrt(self.n)
        return self.mean - half_width, self.mean + half_width

    def spread_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the equal-tailed credible interval of the standard deviation; a given one has no width."""
        self._check_degrees_of_freedom()
        if math.isinf(self.freedom):
            return self.deviation, self.deviation
        sum_of_squares = self.pooled * self.deviation**2
        upper, lower = (chi_square_quantile(self.freedom, 0.5 + side * level / 2) for side in (1, -1))
        return math.sqrt(sum_of_squares / upper), math.sqrt(sum_of_squares / lower)

    def plot(self) -> Any:
        """Return a chart of the posterior density of the mean."""
        from weigh.pictures import line_chart

        self._check_degrees_of_freedom()
        scale = self.spread / math.sqrt(self.n)
        z = np.linspace(-4.0, 4.0, 161)
        density = np.exp(_student_log_density(z[:, None], np.array([self.freedom])))[:, 0] / scale
        rows = [
            {"series": "posterior of the mean", "x": self.mean + scale * x, "y": y}
            for x, y in zip(z.tolist(), density.tolist(), strict=True)
        ]
        return line_chart(rows, "mean", "density", self.headline)

    @property
    def headline(self) -> str:
        """The number of values."""
        return f"A number's mean and spread after {format_quantity(self.n, 'value')}"

    def sections(self) -> list[Section]:
        """Return mean and spread with their intervals, or the mean alone."""
        rows = [["", "value"], ["mean", format_float(self.mean)]]
        if self.n > 0 and self.freedom >= 1:
            mean, spread = (self.mean, *self.interval()), (self.spread, *self.spread_interval())
            rows = [["", "value", "95% from", "to"], ["mean", *map(format_float, mean)]]
            rows.append(["spread", *map(format_float, spread)])
        return [Section("estimates", [Table(rows, indent="  ")])]

    def _check_degrees_of_freedom(self) -> None:
        if self.n <= 0 or self.freedom < 1:
            raise errors.Unsupported(
                f"The spread cannot be estimated from {format_quantity(self.n, 'value')}, so the mean has no "
                f"interval. At least two values are needed."
            )


@dataclass(frozen=True, eq=False)
class StudentWeights(Immutable):
    """The posterior predictive log-density of a number, with mean and standard deviation integrated out.

    Student's t with the posterior's degrees of freedom (at least 1), centred at the mean with the scale
    spread · √(1 + 1/n); a normal distribution if the spread is given.
    """

    name: str
    posteriors: tuple[NormalPosterior, ...]
    mean_residual: Floats

    @cached_property
    def _mean(self) -> Floats:
        return np.array([posterior.mean for posterior in self.posteriors])

    @cached_property
    def _degrees_of_freedom(self) -> Floats:
        return np.array([max(posterior.freedom, 1.0) for posterior in self.posteriors])

    @cached_property
    def _scale(self) -> Floats:
        return np.array([_predictive_scale(posterior) for posterior in self.posteriors])

    def _log_density(self, values: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            z = ((values[:, None] - self._mean) - self.mean_residual) / self._scale
            return _student_log_density(z, self._degrees_of_freedom) - np.log(self._scale)

    def add(self, block: NumberBlock, scores: Floats) -> None:
        """Add the log-density of each row to its scores."""
        scores += np.nan_to_num(self._log_density(block.values), nan=0.0)

    def contributions(self, block: NumberBlock, row: int) -> Iterator[Contribution]:
        """Yield the contribution of the row's number."""
        value = float(block.values[row])
        if not math.isnan(value):
            yield Contribution(
                self.name, format_value(value), self._log_density(block.values[row : row + 1])[0]
            )


def _predictive_scale(posterior: NormalPosterior) -> float:
    n = max(posterior.n, 1.0)
    freedom = max(posterior.freedom, 1.0)
    spread = posterior.deviation
    if not math.isinf(freedom):
        spread *= math.sqrt(max(posterior.pooled, 1.0) / freedom)
    return spread * math.sqrt(1 + 1 / n)


def _student_log_density(z: Floats, freedom: Floats) -> Floats:
    """Return the log-density of Student's t at z [n, k], with the degrees of freedom [k] of each column."""
    square = np.minimum(z * z, MAX_SQUARED_DISTANCE)
    student = -(freedom + 1) / 2 * np.log1p(square / freedom)
    constant = np.array([_student_log_density_at_zero(df) for df in freedom.tolist()])
    return np.asarray(constant + np.where(np.isinf(freedom), -0.5 * square, student))


def _student_log_density_at_zero(freedom: float) -> float:
    """Return the log-density of Student's t at zero; infinite freedom is the normal distribution."""
    if math.isinf(freedom):
        return -0.5 * math.log(2 * math.pi)
    return math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
