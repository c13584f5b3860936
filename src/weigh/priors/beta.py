"""The Beta distribution, the prior of a probability."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh import errors
from weigh.priors import exact
from weigh.priors.display import PriorDisplay, plot_density
from weigh.priors.exact import Number
from weigh.priors.quantiles import beta_quantile


@dataclass(frozen=True, init=False, repr=False)
class Beta(PriorDisplay):
    """The distribution of a probability p of heads, with density proportional to p^(a-1) (1-p)^(b-1).

    `a` counts for heads and `b` for tails. Both are stored exactly (a float by its decimal digits), so
    `mean`, `mode` and `variance` are exact fractions. The posterior is again a Beta: the number of heads is
    added to `a`, the number of tails to `b`.

    >>> coin = Beta(2, 2).posterior(heads=5, tails=11)
    >>> coin
    Beta(7, 13)
    >>> coin.mode
    Fraction(1, 3)
    """

    a: Fraction
    b: Fraction

    def __init__(self, a: Number, b: Number) -> None:
        for name, value in (("a", a), ("b", b)):
            number = exact.positive_fraction(value)
            if number is None:
                raise errors.parameter_error("Beta", name, "a positive, finite number", value)
            object.__setattr__(self, name, number)

    def __repr__(self) -> str:
        return f"Beta({exact.fraction_repr(self.a)}, {exact.fraction_repr(self.b)})"

    def __str__(self) -> str:
        by_mode, by_mean = self.equivalents().values()
        return f"{self!r}: by its mode (MAP) {by_mode}; by its mean {by_mean}"

    @property
    def mean(self) -> Fraction:
        """The mean, a / (a + b)."""
        return self.a / (self.a + self.b)

    @property
    def predictive(self) -> Fraction:
        """The posterior predictive probability of heads: the mean."""
        return self.mean

    @property
    def mode(self) -> Fraction:
        """The mode, (a-1) / (a+b-2), or the end of [0, 1] with the higher density.

        Raises Unsupported if the mode is not unique: Beta(1, 1) is flat, and with both parameters below 1 the
        density is infinite at 0 and at 1.
        """
        weights = exact.normalise_weights([self.a - 1, self.b - 1])
        if weights is not None:
            return weights[0]
        reason = "it is flat" if self.a == self.b == 1 else "its density is infinite at 0 and at 1"
        raise errors.Unsupported(f"{self!r} has no mode: {reason}. Use its mean, {self.mean}.")

    @property
    def variance(self) -> Fraction:
        """The variance of p."""
        total = self.a + self.b
        return self.a * self.b / (total * total * (total + 1))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the equal-tailed interval that contains p with probability `level`."""
        exact.check_level(level)
        a, b, tail = float(self.a), float(self.b), (1 - float(level)) / 2
        return beta_quantile(a, b, tail), beta_quantile(a, b, tail, upper=True)

    def log_density(self, p: Number) -> float:
        """Return the log-density at p; minus infinity outside [0, 1]."""
        x = float(p)
        if math.isnan(x):
            raise errors.parameter_error("log_density", "p", "a number", p)
        if not 0 <= x <= 1:
            return -math.inf
        log_p = math.log(x) if x > 0 else -math.inf
        log_1_minus_p = math.log1p(-x) if x < 1 else -math.inf
        a, b = float(self.a), float(self.b)
        return (
            _multiply_log(float(self.a - 1), log_p)
            + _multiply_log(float(self.b - 1), log_1_minus_p)
            - (math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))
        )

    def density(self, p: Number) -> float:
        """Return the density at p; infinite at an end whose parameter is below 1."""
        try:
            return math.exp(self.log_density(p))
        except OverflowError:
            return math.inf

    def posterior(self, *, heads: Number = 0, tails: Number = 0) -> Beta:
        """Return the posterior after observing these counts."""
        counts = []
        for name, value in (("heads", heads), ("tails", tails)):
            number = exact.nonnegative_fraction(value)
            if number is None:
                raise errors.parameter_error("posterior", name, "a count of zero or more", value)
            counts.append(number)
        return Beta(self.a + counts[0], self.b + counts[1])

    def plot(self) -> Any:
        """Return a chart of the density of p, with the limits of its 95 % interval."""
        return plot_density(repr(self), self.density, (0.0, 1.0), self.interval(), "p")

    def sample(self, n: int, seed: int = 0) -> NDArray[np.float64]:
        """Draw n values of p."""
        return np.random.default_rng(seed).beta(float(self.a), float(self.b), size=n)

    def equivalents(self) -> dict[str, str]:
        """Return the pseudo-counts, and scikit-learn's alpha, that give the same estimates."""
        return {
            "mode (MAP)": _describe_pseudo_counts(self.a - 1, self.b - 1),
            "mean": _describe_pseudo_counts(self.a, self.b),
        }

    def parameters_for(self, values: Sequence[Hashable]) -> list[Fraction]:
        """Return the parameters of two values: tails first, heads (1, True, present) second."""
        if len(values) != 2:
            raise errors.ParameterError(
                f"{self!r} needs a column of two values, the second of them heads; "
                f"there are {len(values):,}: {errors.quote_names(values)}. Use Dirichlet instead."
            )
        return [self.b, self.a]

    def to_json(self) -> dict[str, object]:
        """Return the exact parameters as plain JSON."""
        return {"kind": "beta", "a": exact.fraction_to_json(self.a), "b": exact.fraction_to_json(self.b)}


def _multiply_log(exponent: float, logarithm: float) -> float:
    return exponent * logarithm if exponent else 0.0


def _describe_pseudo_counts(heads: Fraction, tails: Fraction) -> str:
    h, t = exact.format_fraction(heads), exact.format_fraction(tails)
    if heads != tails:
        return f"pseudo-counts of {h} heads and {t} tails"
    if heads < 0:
        return f"pseudo-counts of {h} heads and {t} tails, which no alpha of scikit-learn can express"
    return f"pseudo-counts of {h} heads and {t} tails, scikit-learn's alpha={h}"
