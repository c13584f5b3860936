"""A number within each class: a normal curve with its mean and spread."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.features import ColumnGroup, Number, NumberBlock
from weigh.features.blocks import Floats, Ints
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
from weigh.priors.quantiles import chi_square_quantile, student_quantile
from weigh.text import format_float, format_quantity, html_table, text_table, to_json_value

LOG_SQRT_TWO_PI = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True, eq=False)
class GaussianWeights(SingleValueTerm):
    """log density of a number in each class, in centred form so that no digits are lost."""

    name: str
    mean: Floats
    deviation: Floats

    @cached_property
    def _inverse_deviation(self) -> Floats:
        with np.errstate(over="ignore"):
            return np.minimum(1.0 / self.deviation, np.finfo(np.float64).max)

    @cached_property
    def _log_normaliser(self) -> Floats:
        return -np.log(self.deviation) - LOG_SQRT_TWO_PI

    def add(self, block: NumberBlock, scores: Floats) -> None:
        """Add every row's log density to its scores."""
        if len(self.mean):
            _core.score_gaussian(
                block.values, self.mean, self._inverse_deviation, self._log_normaliser, scores
            )

    def contributions(self, block: NumberBlock, row: int) -> Iterator[Contribution]:
        """Yield what the row's number adds."""
        value = float(block.values[row])
        if len(self.mean) and not math.isnan(value):
            logs = np.zeros((1, len(self.mean)))
            self.add(block.row(row), logs)
            yield Contribution(self.name, format_value(value), logs[0])

    def without(self, block: NumberBlock, keys: Collection[int]) -> NumberBlock:
        """Return the one row of a block, its value missing."""
        return missing_number(block, keys)


@dataclass(frozen=True, eq=False)
class Gaussian:
    """N(x; mean, deviation²) within each class, from exact sums.

    The deviation is the class's own, one shared by all classes, or given. It is never less than
    `floor` times that of the whole column. A class without values is given the mean and the
    deviation of the whole column; a column that never varies says nothing.
    """

    part: ColumnGroup
    counts: NumberCounts

    @property
    def kind(self) -> Number:
        """The column's settings."""
        kind = self.part.kind
        return kind if isinstance(kind, Number) else Number()

    @cached_property
    def sample_moments(self) -> tuple[Floats, Floats, float, float]:
        """Means and deviations of the classes, then of the whole column."""
        known = self.counts.totals
        (first, e1), (second, e2) = self.counts.sum_x.to_integers(), self.counts.sum_xx.to_integers()
        each = [mean_and_deviation(*three, e1, e2) for three in zip(known, first, second, strict=True)]
        mean, deviation = mean_and_deviation(sum(known, Fraction(0)), sum(first), sum(second), e1, e2)
        return np.array([m for m, _ in each]), np.array([d for _, d in each]), mean, deviation

    @cached_property
    def mean(self) -> Floats:
        """The mean of each class."""
        means, _, whole, _ = self.sample_moments
        return np.where(np.isnan(means), whole, means)

    @cached_property
    def deviation(self) -> Floats:
        """The standard deviation of each class, not below the floor; zero says nothing."""
        _, own, _, whole = self.sample_moments
        spread = self.kind.spread
        if not isinstance(spread, str):
            return np.full(len(own), float(spread))
        if spread == "shared":
            own = np.full(len(own), _pooled_deviation(own, self.counts.known))
        return np.where(np.isnan(own), whole, np.maximum(own, self.kind.floor * whole))

    @cached_property
    def weights(self) -> GaussianWeights:
        """The log densities, as a term of the score."""
        if not self.counts.known.any() or not (self.deviation > 0).all():
            return GaussianWeights(self.part.names[0], np.zeros(0), np.zeros(0))
        return GaussianWeights(self.part.names[0], self.mean, self.deviation)

    def linear(self) -> NumberWeights:
        """Return the log density without its square, which all classes share."""
        name, spread = self.part.names[0], self.deviation
        if not len(self.weights.mean):
            return NumberWeights(name, np.zeros(len(spread)), np.zeros(len(spread)))
        if not (spread == spread[0]).all():
            raise errors.Unsupported(
                f"Column {name!r} has a spread of its own in each class, so the score is quadratic in it "
                f"and not linear. Train with columns={{{name!r}: weigh.Number(spread='shared')}}."
            )
        slope = self.mean / spread[0] ** 2
        return NumberWeights(name, slope, -0.5 * slope * self.mean)

    def factors(self, block: NumberBlock, row: int, c: int) -> Iterator[Factor]:
        """Yield the density of the row's number in class c, with its formula."""
        for found in self.weights.contributions(block, row):
            mean, deviation = format_value(float(self.mean[c])), format_value(float(self.deviation[c]))
            text = f"N({found.value}; mean {mean}, spread {deviation})"
            yield Factor(found.feature, found.value, text, float(np.exp(found.logs[c])))

    def posterior(self, c: int, column: str = "") -> NormalPosterior:
        """Return what is believed of the mean and the spread in class c after the sums."""
        known = self.counts.known
        n, mean, deviation = float(known[c]), float(self.mean[c]), float(self.deviation[c])
        if self.kind.spread == "own":
            return NormalPosterior(n, mean, deviation, n, n - 1)
        if self.kind.spread == "shared":
            pooled, means = float(known.sum()), float((known > 0).sum())
            return NormalPosterior(n, mean, deviation, pooled, pooled - means)
        return NormalPosterior(n, mean, deviation, n, math.inf)

    def predictive(self) -> StudentWeights | GaussianWeights:
        """Return the term with mean and spread integrated out: Student's t."""
        if not len(self.weights.mean):
            return self.weights
        return StudentWeights(self.part.names[0], tuple(self.posterior(c) for c in range(len(self.mean))))

    def sample(self, rng: np.random.Generator, classes: Ints) -> dict[str, Any]:
        """Draw a number for every row."""
        drawn = rng.normal(self.mean[classes], np.nan_to_num(self.deviation[classes]))
        return {self.part.names[0]: drawn}

    @property
    def n_shared_parameters(self) -> int:
        """Free parameters that all classes share."""
        return 1 if self.kind.spread == "shared" else 0

    def outcomes(self) -> list[Outcomes]:
        """Return no outcomes: a number has no single values."""
        return []

    def normal_parameters(self) -> list[NormalParameters]:
        """Return the mean and the spread of each class."""
        return list(zip(self.mean.tolist(), self.deviation.tolist(), strict=True))

    def sufficient_statistics(self) -> Iterator[StatisticTable]:
        """Yield the number of values and their exact sums, as rows gave them."""
        yield "known", [""], self.counts.known[:, None]
        for what, total in (("sum", self.counts.sum_x), ("sum of squares", self.counts.sum_xx)):
            integers, exponent = total.to_integers()
            yield what, [""], np.array([[n * Fraction(2) ** exponent] for n in integers], dtype=object)

    def training_names(self) -> Iterable[Any]:
        """Return no names."""
        return ()

    def describe(self) -> str:
        """Return what the column holds, in a few words."""
        return f"means {format_float(float(self.mean.min()))} to {format_float(float(self.mean.max()))}"

    @property
    def n_parameters(self) -> int:
        """Free parameters per class: the mean, and a spread of its own."""
        return 2 if self.kind.spread == "own" else 1


def mean_and_deviation(n: Fraction, first: int, second: int, e1: int, e2: int) -> tuple[float, float]:
    """Return mean and deviation of n values with Σx = first·2^e1 and Σx² = second·2^e2.

    Both are rounded only at the end: (n Σx² − (Σx)²) / n² is formed in whole numbers.
    """
    if not n:
        return math.nan, math.nan
    p, q = n.numerator, n.denominator
    low = min(2 * e1, e2)
    spread = ((p * q * second) << (e2 - low)) - ((q * q * first * first) << (2 * e1 - low))
    return _scaled_ratio(first * q, e1, p), _sqrt_of_ratio(max(0, spread), low, p * p)


def _scaled_ratio(above: int, exponent: int, below: int) -> float:
    if exponent >= 0:
        return (above << exponent) / below
    return above / (below << -exponent)


def _sqrt_of_ratio(above: int, exponent: int, below: int) -> float:
    # Scaled to about one first: the square of a number may be too large or too small for a float.
    half = (above.bit_length() - below.bit_length() + exponent) // 2
    return math.ldexp(math.sqrt(_scaled_ratio(above, exponent - 2 * half, below)), half)


def _pooled_deviation(deviations: Floats, known: Any) -> float:
    """Return the root of the mean squared deviation from each class's own mean."""
    largest = float(np.nanmax(deviations, initial=0.0))
    if not largest:
        return 0.0 if known.any() else math.nan
    return largest * math.sqrt(float(np.nansum(known * (deviations / largest) ** 2) / known.sum()))


MAX_SQUARED_DISTANCE = 1e300  # no value, however far off, makes a class impossible


@dataclass(frozen=True)
class NormalPosterior:
    """What is believed of a class's mean and spread after n values, from no prior opinion.

    `deviation` is the root mean squared deviation of the `pooled` values that tell of the spread:
    the class's own n, or those of all classes where they share one. With `freedom` degrees of
    freedom (pooled values less means estimated) the mean is Student-t, the spread's square a scaled
    inverse chi-square. Where the spread was given, `freedom` is infinite and the mean is normal.
    """

    n: float
    mean: float
    deviation: float
    pooled: float
    freedom: float

    @property
    def mode(self) -> float:
        """The most probable mean."""
        return self.mean

    @property
    def spread(self) -> float:
        """The spread with the means' share taken off; the given one where it was given."""
        if math.isinf(self.freedom):
            return self.deviation
        return self.deviation * math.sqrt(self.pooled / self.freedom)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the central interval of the mean."""
        self._check_degrees_of_freedom()
        reach = student_quantile(self.freedom, 0.5 + level / 2) * self.spread / math.sqrt(self.n)
        return self.mean - reach, self.mean + reach

    def spread_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the central interval of the standard deviation; a given one is certain."""
        self._check_degrees_of_freedom()
        if math.isinf(self.freedom):
            return self.deviation, self.deviation
        squares = self.pooled * self.deviation**2
        low, high = (chi_square_quantile(self.freedom, 0.5 + side * level / 2) for side in (1, -1))
        return math.sqrt(squares / low), math.sqrt(squares / high)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {name: to_json_value(value) for name, value in vars(self).items()} | {
            "spread": to_json_value(self.spread)
        }

    def plot(self) -> Any:
        """Return a picture of how probable each mean is."""
        from weigh.pictures import line_chart

        self._check_degrees_of_freedom()
        scale = self.spread / math.sqrt(self.n)
        at = np.linspace(-4.0, 4.0, 161)
        heights = np.exp(_student_log_density(at[:, None], np.array([self.freedom])))[:, 0] / scale
        rows = [
            {"series": "posterior of the mean", "x": self.mean + scale * x, "y": y}
            for x, y in zip(at.tolist(), heights.tolist(), strict=True)
        ]
        return line_chart(rows, "mean", "density", self._title)

    def __str__(self) -> str:
        return f"{self._title}\n\n{text_table(self._rows(), indent='  ')}"

    def _repr_html_(self) -> str:
        return html_table(self._title, self._rows())

    @property
    def _title(self) -> str:
        return f"A number's mean and spread after {format_quantity(self.n, 'value')}"

    def _rows(self) -> list[list[str]]:
        if self.n <= 0 or self.freedom < 1:
            return [["", "value"], ["mean", format_float(self.mean)]]
        found = [("mean", self.mean, *self.interval()), ("spread", self.spread, *self.spread_interval())]
        return [
            ["", "value", "95% from", "to"],
            *([name, *map(format_float, numbers)] for name, *numbers in found),
        ]

    def _check_degrees_of_freedom(self) -> None:
        if self.n <= 0 or self.freedom < 1:
            raise errors.Unsupported(
                f"With {self.n:g} value nothing can be said of the spread, so the mean has no interval. "
                f"Two values are the least."
            )


@dataclass(frozen=True, eq=False)
class StudentWeights:
    """log density of a number with mean and spread integrated out.

    Student's t with the posterior's degrees of freedom, centre m and scale spread · √(1 + 1/n); a
    normal curve where the spread was given. Classes without a degree of freedom are given one.
    """

    name: str
    posteriors: tuple[NormalPosterior, ...]

    @cached_property
    def _mean(self) -> Floats:
        return np.array([each.mean for each in self.posteriors])

    @cached_property
    def _degrees_of_freedom(self) -> Floats:
        return np.array([max(each.freedom, 1.0) for each in self.posteriors])

    @cached_property
    def _scale(self) -> Floats:
        return np.array([_predictive_scale(each) for each in self.posteriors])

    def _log_density(self, values: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            z = (values[:, None] - self._mean) / self._scale
            return _student_log_density(z, self._degrees_of_freedom) - np.log(self._scale)

    def add(self, block: NumberBlock, scores: Floats) -> None:
        """Add every row's log density to its scores."""
        scores += np.nan_to_num(self._log_density(block.values), nan=0.0)

    def contributions(self, block: NumberBlock, row: int) -> Iterator[Contribution]:
        """Yield what the row's number adds."""
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
    """Return the log density of standard Student's ts of so much freedom, one per column, at z."""
    square = np.minimum(z * z, MAX_SQUARED_DISTANCE)
    tails = -(freedom + 1) / 2 * np.log1p(square / freedom)
    constant = np.array([_student_log_density_at_zero(each) for each in freedom.tolist()])
    return np.asarray(constant + np.where(np.isinf(freedom), -0.5 * square, tails))


def _student_log_density_at_zero(freedom: float) -> float:
    """Return the log density of a standard Student's t at its centre."""
    if math.isinf(freedom):
        return -0.5 * math.log(2 * math.pi)
    return math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
