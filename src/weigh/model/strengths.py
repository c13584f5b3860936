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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.features.blocks import Floats
from weigh.model.display import Told
from weigh.model.outcomes import Curve, Outcomes
from weigh.model.ranges import divergence, speaking_range
from weigh.text import cut, plain, signed

SHOWN_FEATURES = 5  # in the display of a model


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
            key: plain(number) for key, number in numbers.items()
        }


def strengths(distributions: Sequence[Any], prior: Floats, c: int, most: int) -> tuple[Strength, ...]:
    """Return the features that speak most for class c, strongest first; `prior` holds logarithms."""
    shares = np.exp(prior)
    shares[c] = 0.0
    if not shares.any():
        shares = np.ones(len(shares))
        shares[c] = 0.0
    rest = shares / shares.sum()
    found = [each for part in distributions for each in _of_part(part, c, rest, most)]
    found = [each for each in found if each.nats > 0]
    return tuple(sorted(found, key=lambda each: (-each.nats, -each.own, each.name))[:most])


def strength_tables(distributions: Sequence[Any], prior: Floats, classes: Sequence[Any]) -> Iterator[Told]:
    """Yield a table of what speaks most for each class."""
    for c, label in enumerate(classes):
        found = strengths(distributions, prior, c, SHOWN_FEATURES)
        rows = [[cut(each.name, 40), signed(each.nats)] for each in found]
        bars = [each.nats for each in found]
        yield Told(f"What speaks for {cut(label, 40)}", [["feature", "nats"], *rows], 1, bars)


def _of_part(part: Any, c: int, rest: Floats, most: int) -> Iterator[Strength]:
    for outcomes in part.outcomes():
        yield from _of_values(outcomes, c, rest, most)
    curves = part.curves()
    # A column that never varies, or has no values, says nothing.
    if curves and all(spread > 0 and not math.isnan(mean) for mean, spread in curves):
        yield _of_number(part.part.names[0], curves, c, rest)


def _of_values(outcomes: Outcomes, c: int, rest: Floats, most: int) -> Iterator[Strength]:
    table = outcomes.probabilities
    if not table.size:
        return
    others = rest @ table
    with np.errstate(divide="ignore", invalid="ignore"):
        nats = np.nan_to_num(np.log(table[c]) - np.log(others), nan=0.0, posinf=np.inf, neginf=-np.inf)
    for at in np.lexsort((-table[c], -nats))[:most].tolist():
        yield Strength(*outcomes.named(at), float(nats[at]), float(table[c, at]), float(others[at]))


def _of_number(name: str, curves: list[Curve], c: int, rest: Floats) -> Strength:
    means, spreads = (np.array(each) for each in zip(*curves, strict=True))
    mean = float(rest @ means)
    pooled = mean, math.sqrt(float(rest @ (spreads**2 + (means - mean) ** 2)))
    own = curves[c]
    return Strength(name, speaking_range(own, pooled), divergence(own, pooled), own[0], mean, True)
