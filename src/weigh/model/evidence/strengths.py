"""The strongest features of a naive Bayes model for each class, and the tables that they are computed from.

The strength of a value for a class is the evidence of observing it,

    log P(value | class) − log P(value | all other classes),

in nats, where the other classes are weighted by their prior probabilities. For a numeric column it is the
expected evidence in a row of the class: the Kullback–Leibler divergence from the pooled normal distribution
of the other classes. Its value is then the range in which the column favours the class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.features.blocks import Floats
from weigh.result import Facts, Table
from weigh.text import format_float, format_signed, truncate

MAX_DISPLAY_FEATURES = 5  # per class, in the HTML display of a model


@dataclass(frozen=True)
class Strength(Facts):
    """The strength of one feature for a class in nats.

    `own` and `rest` are the probabilities of the value in the class and in the other classes, or the means
    of a numeric column (`is_number`).
    """

    feature: str
    value: str
    nats: float
    own: float
    rest: float
    is_number: bool = False
    _json = ("feature", "value", "kind", "nats", "own", "rest")

    @property
    def kind(self) -> str:
        """Whether `own` and `rest` are means of a "number" or probabilities of a "value"."""
        return "number" if self.is_number else "value"

    @property
    def name(self) -> str:
        """The feature with its value, for display."""
        if self.is_number:
            return f"{self.feature} {self.value}"
        return f"{self.feature} = {self.value}" if self.value else self.feature


def feature_strengths(
    distributions: Sequence[Any], log_prior: Floats, c: int, limit: int
) -> tuple[Strength, ...]:
    """Return the features with the largest positive strengths for class c, strongest first."""
    weights = np.exp(log_prior)
    weights[c] = 0.0
    if not weights.any():
        weights = np.ones(len(weights))
        weights[c] = 0.0
    weights /= weights.sum()
    strengths = [s for part in distributions for s in _part_strengths(part, c, weights, limit) if s.nats > 0]
    return tuple(sorted(strengths, key=lambda s: (-s.nats, -s.own, s.name))[:limit])


def strength_tables(
    distributions: Sequence[Any], log_prior: Floats, classes: Sequence[Any]
) -> Iterator[Table]:
    """Yield a table of the strongest features for each class."""
    for c, label in enumerate(classes):
        strengths = feature_strengths(distributions, log_prior, c, MAX_DISPLAY_FEATURES)
        rows = [["feature", "nats"], *([s.name, format_signed(s.nats)] for s in strengths)]
        title = f"What speaks for {truncate(label, 40)}"
        yield Table(rows, caption=title, widths=(40,), bars=[s.nats for s in strengths])


def _part_strengths(part: Any, c: int, weights: Floats, limit: int) -> Iterator[Strength]:
    for outcomes in part.outcomes():
        yield from _value_strengths(outcomes, c, weights, limit)
    parameters = part.normal_parameters()
    # A column that is constant or empty in some class has no density to compare.
    if parameters and all(deviation > 0 and not math.isnan(mean) for mean, deviation in parameters):
        yield _number_strength(part.part.names[0], parameters, c, weights)


def _value_strengths(outcomes: Outcomes, c: int, weights: Floats, limit: int) -> Iterator[Strength]:
    p = outcomes.probabilities
    if not p.size:
        return
    others = weights @ p
    with np.errstate(divide="ignore", invalid="ignore"):
        nats = np.nan_to_num(np.log(p[c]) - np.log(others), nan=0.0, posinf=np.inf, neginf=-np.inf)
    for k in np.lexsort((-p[c], -nats))[:limit].tolist():
        yield Strength(*outcomes.feature_and_value(k), float(nats[k]), float(p[c, k]), float(others[k]))


def _number_strength(name: str, parameters: list[NormalParameters], c: int, weights: Floats) -> Strength:
    means, deviations = map(np.array, zip(*parameters, strict=True))
    mean = float(weights @ means)
    pooled = mean, math.sqrt(float(weights @ (deviations**2 + (means - mean) ** 2)))
    own = parameters[c]
    return Strength(name, favourable_range(own, pooled), normal_divergence(own, pooled), own[0], mean, True)


NormalParameters = tuple[float, float]  # mean and standard deviation

# The name of a statistic, the names of its columns, and its values [C, columns]; a single column may stand
# for all names.
StatisticTable = tuple[str, Sequence[Any], Any]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Values with their counts and probabilities, both [C, K], identified by `keys`.

    `feature_and_value` returns the display name of an outcome's feature and value; `shows_value` says whether
    its title includes the value. Exactly one of several `exclusive` outcomes occurs, so their probabilities
    sum to one; other outcomes are each present or absent.
    """

    keys: Sequence[Any]
    counts: Any
    probabilities: Floats
    feature_and_value: Callable[[int], tuple[str, str]]
    shows_value: bool = True
    exclusive: bool = True

    def title(self, k: int) -> str:
        """Return the display name of outcome k."""
        feature, value = self.feature_and_value(k)
        return f"{feature} = {value}" if self.shows_value and value else feature

    def frequencies(self) -> dict[Any, float]:
        """Return the count of each outcome over all classes."""
        return dict(zip(self.keys, self.counts.sum(axis=0).tolist(), strict=True))


MAX_PLAUSIBLE_DEVIATIONS = 3.0  # range ends farther than this from both means are ignored


def normal_divergence(own: NormalParameters, rest: NormalParameters) -> float:
    """Return the Kullback–Leibler divergence KL(own ‖ rest) of two normal distributions in nats."""
    shift, ratio = (own[0] - rest[0]) / rest[1], own[1] / rest[1]
    return 0.5 * (ratio * ratio + shift * shift - 1.0) - math.log(ratio)


def favourable_range(own: NormalParameters, rest: NormalParameters) -> str:
    """Describe the values whose density is higher under `own` than under `rest`.

    With z = (x − mean) / deviation of `own`, p the ratio of the deviations and q the difference of the means
    divided by the deviation of `rest`, the log density ratio is ½(p² − 1) z² + pq z + ½q² − log p.
    """
    (mean, deviation), (rest_mean, rest_deviation) = own, rest
    p, q = deviation / rest_deviation, (mean - rest_mean) / rest_deviation
    a, b, c = 0.5 * (p * p - 1.0), p * q, 0.5 * q * q - math.log(p)
    reach = MAX_PLAUSIBLE_DEVIATIONS * rest_deviation
    low = min(-MAX_PLAUSIBLE_DEVIATIONS, (rest_mean - reach - mean) / deviation)
    high = max(MAX_PLAUSIBLE_DEVIATIONS, (rest_mean + reach - mean) / deviation)
    ends = [z for z in _roots(a, b, c) if low < z < high]
    z = (low + ends[0]) / 2 if ends else 0.0
    favours_lowest = a * z * z + b * z + c > 0
    return _format_range([format_float(mean + deviation * end) for end in ends], favours_lowest)


def _roots(a: float, b: float, c: float) -> list[float]:
    """Return the points where a z² + b z + c changes its sign, in order."""
    discriminant = b * b - 4.0 * a * c
    if discriminant <= 0.0:
        return []
    # The textbook formula cancels for one root when a is close to zero.
    h = -0.5 * (b + math.copysign(math.sqrt(discriminant), b))
    roots = [c / h] if a == 0.0 else [c / h, h / a] if h else []
    return sorted(roots)


def _format_range(ends: list[str], favours_lowest: bool) -> str:
    if not ends:
        return "anywhere" if favours_lowest else "nowhere"
    if len(ends) == 1:
        return f"< {ends[0]}" if favours_lowest else f"> {ends[0]}"
    between = f"{ends[0]} to {ends[1]}"
    return f"outside {between}" if favours_lowest else between
