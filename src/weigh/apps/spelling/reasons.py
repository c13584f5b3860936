"""Why one word and not another: what each neighbour adds to the odds, in words and told once."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PARAGRAPH = "¶"
MORE_USUAL = "base"
_PLACES = {
    "before": -1,
    "after": 1,
    "before2": -2,
    "after2": 2,
    "ending-before": -1,
    "ending-after": 1,
    "capital-before": -1,
    "capital-after": 1,
    "capital": 0,
    "CAPITALS": 0,
}
_PAIRS = {"before": (-2, -1), "after": (1, 2), "around": (-1, 1)}
_KINDS: dict[int | str, str] = {-2: "before2", -1: "before", 1: "after", 2: "after2"}
_BARE = {MORE_USUAL: "more usual", "capital": "capital letter", "CAPITALS": "capital letters"}
_SIDES = {"before2": "two before", "after2": "two after", "near": "nearby"}
_ENDS = {
    "before": "start of a paragraph",
    "after": "end of a paragraph",
    "before2": "start of a paragraph",
    "after2": "end of a paragraph",
}
_NO_WORDS = {"0": "a number", "<code>": "code", "<long>": "a long word"}


@dataclass(frozen=True, slots=True)
class Reason:
    """What is known of a neighbour, and by how much that speaks for the suggested word against the written.

    `feature` names the neighbour, or two where they tell most together; `weight` is a difference of
    logarithms, below zero where it speaks for the written word. `seen` is the neighbour as the text writes
    it. It prints as what a reader sees: 'know' before, 'laugh' nearby.
    """

    feature: str
    weight: float
    seen: str = ""

    def __str__(self) -> str:
        if self.feature in _BARE:
            return _BARE[self.feature]
        kind, _, named = self.feature.partition(":")
        names, written = named.split(" "), (self.seen or named).split(" ")
        tokens = list(zip(names, written, strict=True))
        if kind == "around":
            return _around(tokens[0], tokens[-1])
        if names[0] == PARAGRAPH == names[-1]:
            return " ".join([_ENDS[kind], *([_SIDES[kind]] if kind in _SIDES else [])])
        if PARAGRAPH in names:
            return f"{_quoted([one for one in tokens if one[0] != PARAGRAPH])} at the {_ENDS[kind]}"
        return f"{_quoted(tokens)} {_SIDES.get(kind, kind)}"

    def to_dict(self) -> dict[str, Any]:
        """The reason as plain values: feature, weight and wording."""
        return {"feature": self.feature, "weight": self.weight, "told": str(self)}


Token = tuple[str, str]  # what features call it, and what stands in the text


def _around(before: Token, after: Token) -> str:
    if before[0] == PARAGRAPH == after[0]:
        return "a paragraph of its own"
    if before[0] == PARAGRAPH:
        return f"between the {_ENDS['before']} and {_quoted([after])}"
    if after[0] == PARAGRAPH:
        return f"between {_quoted([before])} and the {_ENDS['after']}"
    return f"{_quoted([before, after], ' … ')} around"


def _quoted(tokens: Sequence[Token], between: str = " ") -> str:
    """Tokens in quotes, which stay as they are where a word has apostrophes; what is no word has none."""
    if not any(name in _NO_WORDS for name, _ in tokens):
        return f"'{between.join(seen for _, seen in tokens)}'"
    return " and ".join(_NO_WORDS.get(name, f"'{seen}'") for name, seen in tokens)


def weighed(
    evidence: Iterable[tuple[str, float]], seen: Callable[[str], str] | None = None
) -> tuple[Reason, ...]:
    """All that speaks for a word, the strongest first, and then all that speaks against it, likewise.

    `evidence` is every feature of one context, known or not, with its weight for the suggested word less that
    for the written one, and `MORE_USUAL` for what does not depend on the context. What is known of one
    neighbour is one reason. A feature of two neighbours makes one reason of both where it is the strongest,
    and counts half for each where it is not. So the weights add up to the logarithm of the odds. `seen`
    tells how the text writes what a feature names.
    """
    parts = sorted(evidence, key=lambda part: (part[1] <= 0, -abs(part[1]), part[0]))
    tokens = _tokens([feature for feature, _ in parts])
    about = {feature: _about(feature, tokens) for feature, _ in parts}
    names = _names(parts, about, tokens)
    shares: dict[str, list[float]] = {}
    for feature, weight in parts:
        for place in about[feature]:
            shares.setdefault(names[place], []).append(weight / len(about[feature]))
    sums = {name: math.fsum(each) for name, each in shares.items()}
    found = sorted(sums.items(), key=lambda part: (part[1] < 0, -abs(part[1]), part[0]))
    # A text of nothing but such words has many suggestions, whose reasons are the same few words.
    own = sys.intern
    return tuple(Reason(own(name), nats, own(seen(name)) if seen else "") for name, nats in found if nats)


def _tokens(features: Sequence[str]) -> dict[int, str]:
    """The nearest tokens by their places."""
    found: dict[int, str] = {}
    for feature in features:
        kind, _, seen = feature.partition(":")
        if kind in _KINDS.values() and " " not in seen:
            found[_PLACES[kind]] = seen
    return found


def _about(feature: str, tokens: Mapping[int, str]) -> frozenset[int | str]:
    """The places that a feature tells of; a word that is merely near stands for itself."""
    kind, _, seen = feature.partition(":")
    places: Iterable[int | str]
    if kind == "near":
        places = [place for place, token in tokens.items() if token == seen] or [feature]
    elif kind in _PAIRS and " " in seen:
        places = _PAIRS[kind]
    else:
        places = [_PLACES.get(kind, feature)]
    # What lies beyond the end of a paragraph is that end again.
    ends: dict[int | str, int] = {2 * place: place for place in (-1, 1) if tokens.get(place) == PARAGRAPH}
    return frozenset(ends.get(place, place) for place in places)


def _names(
    parts: Sequence[tuple[str, float]], about: Mapping[str, frozenset[int | str]], tokens: Mapping[int, str]
) -> dict[int | str, str]:
    """The reason that each place belongs to, by its feature."""
    found: dict[int | str, str] = {}
    for feature, weight in parts:
        places = about[feature]
        if weight and found.keys().isdisjoint(places):
            is_pair = len(places) > 1 and not feature.startswith("near:")
            found |= {place: feature if is_pair else _name(place, feature, tokens) for place in places}
    for feature, places in about.items():
        for place in places:
            found.setdefault(place, _name(place, feature, tokens))
    return found


def _name(place: int | str, feature: str, tokens: Mapping[int, str]) -> str:
    return f"{_KINDS[place]}:{tokens[place]}" if isinstance(place, int) and place else feature
