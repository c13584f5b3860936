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
from weigh.features import Number, Numbers, Part
from weigh.features.blocks import Floats, Ints
from weigh.model.counts import NumberCounts
from weigh.model.factors import Factor
from weigh.model.outcomes import Curve, Held, Outcomes
from weigh.model.student import NormalPosterior, StudentWeights
from weigh.model.weights import Contribution, NumberWeights, Single, as_text, gap
from weigh.text import short

LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True, eq=False)
class NormalWeights(Single):
    """log density of a number in each class, in centred form so that no digits are lost."""

    name: str
    mean: Floats
    deviation: Floats

    @cached_property
    def _steepness(self) -> Floats:
        with np.errstate(over="ignore"):
            return np.minimum(1.0 / self.deviation, np.finfo(np.float64).max)

    @cached_property
    def _constant(self) -> Floats:
        return -np.log(self.deviation) - LOG_ROOT_TWO_PI

    def add(self, block: Numbers, scores: Floats) -> None:
        """Add every row's log density to its scores."""
        if len(self.mean):
            _core.score_gaussian(block.values, self.mean, self._steepness, self._constant, scores)

    def contributions(self, block: Numbers, row: int) -> Iterator[Contribution]:
        """Yield what the row's number adds."""
        value = float(block.values[row])
        if len(self.mean) and not math.isnan(value):
            logs = np.zeros((1, len(self.mean)))
            self.add(block.row(row), logs)
            yield Contribution(self.name, as_text(value), logs[0])

    def without(self, block: Numbers, keys: Collection[int]) -> Numbers:
        """Return the one row of a block, its value missing."""
        return gap(block, keys)


@dataclass(frozen=True, eq=False)
class Normal:
    """N(x; mean, deviation²) within each class, from exact sums.

    The deviation is the class's own, one shared by all classes, or given. It is never less than
    `floor` times that of the whole column. A class without values is given the mean and the
    deviation of the whole column; a column that never varies says nothing.
    """

    part: Part
    counts: NumberCounts

    @property
    def kind(self) -> Number:
        """The column's settings."""
        kind = self.part.kind
        return kind if isinstance(kind, Number) else Number()

    @cached_property
    def measured(self) -> tuple[Floats, Floats, float, float]:
        """Means and deviations of the classes, then of the whole column."""
        known = self.counts.totals
        (first, e1), (second, e2) = self.counts.first.integers(), self.counts.second.integers()
        each = [moments(*three, e1, e2) for three in zip(known, first, second, strict=True)]
        mean, deviation = moments(sum(known, Fraction(0)), sum(first), sum(second), e1, e2)
        return np.array([m for m, _ in each]), np.array([d for _, d in each]), mean, deviation

    @cached_property
    def mean(self) -> Floats:
        """The mean of each class."""
        means, _, whole, _ = self.measured
        return np.where(np.isnan(means), whole, means)

    @cached_property
    def deviation(self) -> Floats:
        """The standard deviation of each class, not below the floor; zero says nothing."""
        _, own, _, whole = self.measured
        spread = self.kind.spread
        if not isinstance(spread, str):
            return np.full(len(own), float(spread))
        if spread == "shared":
            own = np.full(len(own), _pooled(own, self.counts.known))
        return np.where(np.isnan(own), whole, np.maximum(own, self.kind.floor * whole))

    @cached_property
    def weights(self) -> NormalWeights:
        """The log densities, as a term of the score."""
        if not self.counts.known.any() or not (self.deviation > 0).all():
            return NormalWeights(self.part.names[0], np.zeros(0), np.zeros(0))
        return NormalWeights(self.part.names[0], self.mean, self.deviation)

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

    def factors(self, block: Numbers, row: int, c: int) -> Iterator[Factor]:
        """Yield the density of the row's number in class c, with its formula."""
        for found in self.weights.contributions(block, row):
            mean, deviation = as_text(float(self.mean[c])), as_text(float(self.deviation[c]))
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

    def predictive(self) -> StudentWeights | NormalWeights:
        """Return the term with mean and spread integrated out: Student's t."""
        if not len(self.weights.mean):
            return self.weights
        return StudentWeights(self.part.names[0], tuple(self.posterior(c) for c in range(len(self.mean))))

    def sample(self, rng: np.random.Generator, classes: Ints) -> dict[str, Any]:
        """Draw a number for every row."""
        drawn = rng.normal(self.mean[classes], np.nan_to_num(self.deviation[classes]))
        return {self.part.names[0]: drawn}

    @property
    def n_shared(self) -> int:
        """Free parameters that all classes share."""
        return 1 if self.kind.spread == "shared" else 0

    def outcomes(self) -> list[Outcomes]:
        """Return no outcomes: a number has no single values."""
        return []

    def curves(self) -> list[Curve]:
        """Return the mean and the spread of each class."""
        return list(zip(self.mean.tolist(), self.deviation.tolist(), strict=True))

    def held(self) -> Iterator[Held]:
        """Yield the number of values and their exact sums, as rows gave them."""
        yield "known", [""], self.counts.known[:, None]
        for what, total in (("sum", self.counts.first), ("sum of squares", self.counts.second)):
            integers, exponent = total.integers()
            yield what, [""], np.array([[n * Fraction(2) ** exponent] for n in integers], dtype=object)

    def known_names(self) -> Iterable[Any]:
        """Return no names."""
        return ()

    def found(self) -> str:
        """Return what the column holds, in a few words."""
        return f"means {short(float(self.mean.min()))} to {short(float(self.mean.max()))}"

    @property
    def n_parameters(self) -> int:
        """Free parameters per class: the mean, and a spread of its own."""
        return 2 if self.kind.spread == "own" else 1


def moments(n: Fraction, first: int, second: int, e1: int, e2: int) -> tuple[float, float]:
    """Return mean and deviation of n values with Σx = first·2^e1 and Σx² = second·2^e2.

    Both are rounded only at the end: (n Σx² − (Σx)²) / n² is formed in whole numbers.
    """
    if not n:
        return math.nan, math.nan
    p, q = n.numerator, n.denominator
    low = min(2 * e1, e2)
    spread = ((p * q * second) << (e2 - low)) - ((q * q * first * first) << (2 * e1 - low))
    return _ratio(first * q, e1, p), _root_of_ratio(max(0, spread), low, p * p)


def _ratio(above: int, exponent: int, below: int) -> float:
    if exponent >= 0:
        return (above << exponent) / below
    return above / (below << -exponent)


def _root_of_ratio(above: int, exponent: int, below: int) -> float:
    # Scaled to about one first: the square of a number may be too large or too small for a float.
    half = (above.bit_length() - below.bit_length() + exponent) // 2
    return math.ldexp(math.sqrt(_ratio(above, exponent - 2 * half, below)), half)


def _pooled(deviations: Floats, known: Any) -> float:
    """Return the root of the mean squared deviation from each class's own mean."""
    largest = float(np.nanmax(deviations, initial=0.0))
    if not largest:
        return 0.0 if known.any() else math.nan
    return largest * math.sqrt(float(np.nansum(known * (deviations / largest) ** 2) / known.sum()))
