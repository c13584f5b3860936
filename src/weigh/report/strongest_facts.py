"""What speaks for each class: the model's strongest features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from weigh.explain import strongest
from weigh.report.facts import NOTHING
from weigh.text import cut, percent, plain, short, signed

NAME = 120
MOST_CLASSES = 12
GIANT = 10  # times as long as the next one: a bar that is cut


@dataclass(frozen=True)
class Feature:
    """One feature with its strength; `own` and `rest` tell where it is seen, if that was counted."""

    name: str
    amount: float
    told: str
    own: str
    rest: str


@dataclass(frozen=True)
class Side:
    """What speaks for one class, or raises or lowers a number; `longest` is where bars are cut, if any."""

    title: str
    features: tuple[Feature, ...]
    longest: float | None


@dataclass(frozen=True)
class StrongestFacts:
    """The strongest features, side by side; `unit` is what strengths are measured in."""

    unit: str
    meaning: str
    sides: tuple[Side, ...]
    left_out: int


def strongest_facts(model: Any, most: int) -> StrongestFacts:
    """Collect the strongest features of every class (of the first dozen)."""
    found = strongest(model, None, most)
    pairs = list(found.classes.items())
    counted = any(hasattr(each, "nats") for _, features in pairs for each in features)
    sides = tuple(_side(found.title_of(label), features) for label, features in pairs[:MOST_CLASSES])
    meaning = (
        "A strength is the evidence, in nats, that a value gives for the class against all others together."
        if counted
        else "A weight is what one unit of the feature adds."
    )
    return StrongestFacts("nats" if counted else "weight", meaning, sides, max(0, len(pairs) - MOST_CLASSES))


def _side(title: str, found: Any) -> Side:
    features = tuple(_features(found))
    return Side(cut(title, NAME), features, _longest(features))


def _longest(features: tuple[Feature, ...]) -> float | None:
    """Where bars are cut so that the others can be seen: half as long again as the longest of those."""
    known = [abs(each.amount) for each in features if isinstance(each.amount, float)]
    for size, below in pairwise(sorted(known, reverse=True)):
        if size > GIANT * below > 0:
            return 1.5 * below
    return None


def _features(features: Any) -> Iterator[Feature]:
    for each in features:
        if hasattr(each, "nats"):
            write = _mean if each.is_number else percent
            name = cut(each.name, NAME)
            yield Feature(name, plain(each.nats), signed(each.nats), write(each.own), write(each.rest))
        else:
            told = f"{each.weight:+.4g}".replace("-", "−")
            yield Feature(cut(each.feature, NAME), each.weight, told, NOTHING, NOTHING)


def _mean(number: float) -> str:
    return f"mean {short(number)}"
