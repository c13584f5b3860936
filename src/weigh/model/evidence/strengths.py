"""How strongly each feature of a naive Bayes model speaks for a class.

The strength of a value for a class is the evidence it gives when it is seen,

    log P(value | class) − log P(value | all other classes together),

in nats, where the other classes are pooled by their prior probabilities. A number has no single
value to be seen: its strength is the evidence that it gives on average in a row of the class (the
Kullback-Leibler divergence from the other classes' pooled normal curve), and its range is where it
speaks for the class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.features.blocks import Floats
from weigh.model.base import DisplayTable
from weigh.text import format_float, format_signed, to_json_value, truncate

MAX_DISPLAY_FEATURES = 5  # in the display of a model


@dataclass(frozen=True)
class Strength:
    """One feature that speaks for a class: `nats` of evidence, and the two numbers behind it.

    For a value, `own` and `rest` are its probabilities in the class and in the other classes; for
    a number (`is_number`), the means.
    """

    feature: str
    value: str
    nats: float
    own: float
    rest: float
    is_number: bool = False

    @property
    def name(self) -> str:
        """The feature with its value, for people."""
        if self.is_number:
            return f"{self.feature} {self.value}"
        return f"{self.feature} = {self.value}" if self.value else self.feature

    def to_dict(self) -> dict[str, Any]:
        """The feature for JSON."""
        kind = "number" if self.is_number else "value"
        numbers = {"nats": self.nats, "own": self.own, "rest": self.rest}
        return {"feature": self.feature, "value": self.value, "kind": kind} | {
            key: to_json_value(number) for key, number in numbers.items()
        }


def feature_strengths(distributions: Sequence[Any], prior: Floats, c: int, most: int) -> tuple[Strength, ...]:
    """Return the features that speak most for class c, strongest first; `prior` holds logarithms."""
    shares = np.exp(prior)
    shares[c] = 0.0
    if not shares.any():
        shares = np.ones(len(shares))
        shares[c] = 0.0
    rest = shares / shares.sum()
    found = [each for part in distributions for each in _part_strengths(part, c, rest, most)]
    found = [each for each in found if each.nats > 0]
    return tuple(sorted(found, key=lambda each: (-each.nats, -each.own, each.name))[:most])


def strength_tables(
    distributions: Sequence[Any], prior: Floats, classes: Sequence[Any]
) -> Iterator[DisplayTable]:
    """Yield a table of what speaks most for each class."""
    for c, label in enumerate(classes):
        found = feature_strengths(distributions, prior, c, MAX_DISPLAY_FEATURES)
        rows = [[truncate(each.name, 40), format_signed(each.nats)] for each in found]
        bars = [each.nats for each in found]
        yield DisplayTable(f"What speaks for {truncate(label, 40)}", [["feature", "nats"], *rows], 1, bars)


def _part_strengths(part: Any, c: int, rest: Floats, most: int) -> Iterator[Strength]:
    for outcomes in part.outcomes():
        yield from _value_strengths(outcomes, c, rest, most)
    curves = part.normal_parameters()
    # A column that never varies, or has no values, says nothing.
    if curves and all(spread > 0 and not math.isnan(mean) for mean, spread in curves):
        yield _number_strength(part.part.names[0], curves, c, rest)


def _value_strengths(outcomes: Outcomes, c: int, rest: Floats, most: int) -> Iterator[Strength]:
    table = outcomes.probabilities
    if not table.size:
        return
    others = rest @ table
    with np.errstate(divide="ignore", invalid="ignore"):
        nats = np.nan_to_num(np.log(table[c]) - np.log(others), nan=0.0, posinf=np.inf, neginf=-np.inf)
    for at in np.lexsort((-table[c], -nats))[:most].tolist():
        yield Strength(
            *outcomes.feature_and_value(at), float(nats[at]), float(table[c, at]), float(others[at])
        )


def _number_strength(name: str, curves: list[NormalParameters], c: int, rest: Floats) -> Strength:
    means, spreads = (np.array(each) for each in zip(*curves, strict=True))
    mean = float(rest @ means)
    pooled = mean, math.sqrt(float(rest @ (spreads**2 + (means - mean) ** 2)))
    own = curves[c]
    return Strength(name, favourable_range(own, pooled), normal_divergence(own, pooled), own[0], mean, True)


NormalParameters = tuple[float, float]  # mean and spread

# What was counted, of which names, and the numbers [C, names]; one column stands for all names.
StatisticTable = tuple[str, Sequence[Any], Any]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Values with their counts and probabilities, both [C, K]; `keys` tell them apart.

    `named` gives a value's feature and the value itself for people; `is_told` says whether the
    value must be told for the feature to make sense. Of `exclusive` outcomes just one is the case,
    so that their probabilities sum to one; others are each present or absent.
    """

    keys: Sequence[Any]
    counts: Any
    probabilities: Floats
    feature_and_value: Callable[[int], tuple[str, str]]
    shows_value: bool = True
    exclusive: bool = True

    def title(self, at: int) -> str:
        """An outcome for people, in one piece."""
        feature, value = self.feature_and_value(at)
        return f"{feature} = {value}" if self.shows_value and value else feature

    def frequencies(self) -> dict[Any, float]:
        """How often each was seen, in all classes."""
        return dict(zip(self.keys, self.counts.sum(axis=0).tolist(), strict=True))


MAX_PLAUSIBLE_DEVIATIONS = 3.0  # so many spreads from both means, an end of a range is practically never met


def normal_divergence(own: NormalParameters, rest: NormalParameters) -> float:
    """The evidence, in nats, that a value drawn from `own` gives on average against `rest`."""
    shift, ratio = (own[0] - rest[0]) / rest[1], own[1] / rest[1]
    return 0.5 * (ratio * ratio + shift * shift - 1.0) - math.log(ratio)


def favourable_range(own: NormalParameters, rest: NormalParameters) -> str:
    """The values that are likelier under `own` than under `rest`, in words.

    With z = (x − mean) / spread of `own`, p = ratio of the spreads and q = difference of the means
    in spreads of `rest`, the log ratio of the densities is ½(p² − 1) z² + pq z + ½q² − log p.
    """
    (mean, spread), (other, width) = own, rest
    p, q = spread / width, (mean - other) / width
    terms = (0.5 * (p * p - 1.0), p * q, 0.5 * q * q - math.log(p))
    low = min(-MAX_PLAUSIBLE_DEVIATIONS, (other - MAX_PLAUSIBLE_DEVIATIONS * width - mean) / spread)
    high = max(MAX_PLAUSIBLE_DEVIATIONS, (other + MAX_PLAUSIBLE_DEVIATIONS * width - mean) / spread)
    ends = [z for z in _roots(*terms) if low < z < high]
    first = (low + ends[0]) / 2 if ends else 0.0
    speaks_first = terms[0] * first * first + terms[1] * first + terms[2] > 0
    return _format_range([format_float(mean + spread * z) for z in ends], speaks_first)


def _roots(a: float, b: float, c: float) -> list[float]:
    """The places where a z² + b z + c changes its sign, in order."""
    inner = b * b - 4.0 * a * c
    if inner <= 0.0:
        return []
    # The usual formula loses all digits of one root when a is next to nothing.
    half = -0.5 * (b + math.copysign(math.sqrt(inner), b))
    found = [c / half] if a == 0.0 else [c / half, half / a] if half else []
    return sorted(found)


def _format_range(ends: list[str], speaks_first: bool) -> str:
    if not ends:
        return "anywhere" if speaks_first else "nowhere"
    if len(ends) == 1:
        return f"< {ends[0]}" if speaks_first else f"> {ends[0]}"
    between = f"{ends[0]} to {ends[1]}"
    return f"outside {between}" if speaks_first else between
