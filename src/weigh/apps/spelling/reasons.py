"""Why one word and not another: the strongest features of a context, in words and told once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST = 6
PARAGRAPH = "¶"
NUMBER = "0"
MORE_USUAL = "base"
_PLACES = {
    "before": (-1,),
    "after": (1,),
    "before2": (-2,),
    "after2": (2,),
    "around": (-1, 1),
    "ending-before": (-1,),
    "ending-after": (1,),
    "capital-before": (-1,),
    "capital-after": (1,),
    "capital": (0,),
    "CAPITALS": (0,),
}
_PAIRS = {"before": (-2, -1), "after": (1, 2)}
_NEXT: dict[int | str, str] = {-2: "before2", -1: "before", 1: "after", 2: "after2"}
_BARE = {
    MORE_USUAL: "more usual",
    "capital": "capital letter",
    "CAPITALS": "capital letters",
    "capital-before": "capital letter before",
    "capital-after": "capital letter after",
}
_SIDES = {"before2": "two before", "after2": "two after", "near": "nearby"}
_ENDS = {"before": "start of a paragraph", "after": "end of a paragraph"}


@dataclass(frozen=True)
class Reason:
    """What is known of a neighbour, and by how much that speaks for the suggested word against the written.

    `feature` is the strongest of those that tell of it, `weight` a difference of logarithms. It prints as
    what a reader sees: 'know' before, 'laugh' nearby.
    """

    feature: str
    weight: float

    def __str__(self) -> str:
        if self.feature in _BARE:
            return _BARE[self.feature]
        kind, _, seen = self.feature.partition(":")
        words = seen.split(" ")
        if set(words) == {PARAGRAPH} and kind in _ENDS:
            return _ENDS[kind]
        if kind.startswith("ending-"):
            return f"'-{seen}' {kind.removeprefix('ending-')}"
        if kind == "around":
            return f"'{words[0]} … {words[-1]}' around"
        # Quotes as they are: a word may have apostrophes.
        return (f"'{seen}'" if seen != NUMBER else "a number") + f" {_SIDES.get(kind, kind)}"

    def to_dict(self) -> dict[str, Any]:
        """The reason as plain values: feature, weight and wording."""
        return {"feature": self.feature, "weight": self.weight, "told": str(self)}


def strongest(evidence: Iterable[tuple[str, float]]) -> tuple[Reason, ...]:
    """The reasons that speak for a word, the strongest first; what is known of one neighbour is one reason.

    `evidence` is every feature of one context, known or not, with its weight for the suggested word less that
    for the written one, and `MORE_USUAL` for what does not depend on the context. Of the features that tell
    of the same places the strongest gives its name; a feature of two places counts half for each. So the
    weights of all reasons, and of what speaks against the word, add up to the logarithm of the odds.
    """
    parts = sorted(evidence, key=lambda part: (-part[1], part[0]))
    neighbours = _neighbours([feature for feature, _ in parts])
    about = {feature: _about(feature, neighbours) for feature, _ in parts}
    seen: set[int | str] = set()
    found: list[Reason] = []
    for feature, weight in parts:
        if weight > 0 and about[feature].isdisjoint(seen):
            seen |= about[feature]
            shares = (w * len(about[f] & about[feature]) / len(about[f]) for f, w in parts)
            found.append(Reason(_placed(feature, about[feature]), math.fsum(shares)))
    kept = sorted((one for one in found if one.weight > 0), key=lambda one: (-one.weight, one.feature))
    return tuple(kept[:MOST])


def _neighbours(features: Sequence[str]) -> dict[str, set[int | str]]:
    """Where the nearest tokens stand, by their text: one word may stand in several places."""
    found: dict[str, set[int | str]] = {}
    for feature in features:
        kind, _, seen = feature.partition(":")
        if kind in ("before", "after", "before2", "after2") and " " not in seen:
            found.setdefault(seen, set()).update(_PLACES[kind])
    return found


def _about(feature: str, neighbours: Mapping[str, set[int | str]]) -> set[int | str]:
    """The places that a feature tells of; a word that is merely near stands for itself."""
    kind, _, seen = feature.partition(":")
    if kind == "near":
        return neighbours.get(seen, {feature})
    if kind in ("before2", "after2") and seen == PARAGRAPH:
        # What lies beyond the end of a paragraph is that end again.
        return {*_PLACES[kind], *(neighbours[PARAGRAPH] & {*_PLACES[kind.removesuffix("2")]})}
    if " " in seen and kind in _PAIRS:
        return {*_PAIRS[kind]}
    return {*_PLACES.get(kind, (feature,))}


def _placed(feature: str, about: set[int | str]) -> str:
    """A feature by a better name: of a word that is near its place, if that is next to the occurrence."""
    kind, _, seen = feature.partition(":")
    sides = [_NEXT[place] for place in about if place in _NEXT]
    return f"{sides[0]}:{seen}" if kind == "near" and len(sides) == 1 else feature
