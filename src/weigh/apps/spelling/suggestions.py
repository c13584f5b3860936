"""Why one word and not another: what each neighbour adds to the odds, in words and told once."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from weigh.text import format_signed, html_table, truncate

PARAGRAPH_TOKEN = "¶"
PRIOR_FEATURE = "base"
_OFFSETS = {
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
_PAIR_OFFSETS = {"before": (-2, -1), "after": (1, 2), "around": (-1, 1)}
_KIND_BY_OFFSET: dict[int | str, str] = {-2: "before2", -1: "before", 1: "after", 2: "after2"}
_FEATURE_WORDING = {PRIOR_FEATURE: "more usual", "capital": "capital letter", "CAPITALS": "capital letters"}
_POSITION_WORDING = {"before2": "two before", "after2": "two after", "near": "nearby"}
_PARAGRAPH_WORDING = {
    "before": "start of a paragraph",
    "after": "end of a paragraph",
    "before2": "start of a paragraph",
    "after2": "end of a paragraph",
}
_TOKEN_WORDING = {"0": "a number", "<code>": "code", "<long>": "a long word"}


@dataclass(frozen=True, slots=True)
class SuggestionReason:
    """What is known of a neighbour, and by how much that speaks for the suggested word against the written.

    `feature` names the neighbour, or two where they tell most together; `weight` is a difference of
    logarithms, below zero where it speaks for the written word. `seen` is the neighbour as the text writes
    it. It prints as what a reader sees: 'know' before, 'laugh' nearby.
    """

    feature: str
    weight: float
    surface: str = ""

    def __str__(self) -> str:
        if self.feature in _FEATURE_WORDING:
            return _FEATURE_WORDING[self.feature]
        kind, _, named = self.feature.partition(":")
        names, written = named.split(" "), (self.surface or named).split(" ")
        tokens = list(zip(names, written, strict=True))
        if kind == "around":
            return _format_around(tokens[0], tokens[-1])
        if names[0] == PARAGRAPH_TOKEN == names[-1]:
            return " ".join(
                [_PARAGRAPH_WORDING[kind], *([_POSITION_WORDING[kind]] if kind in _POSITION_WORDING else [])]
            )
        if PARAGRAPH_TOKEN in names:
            return f"{_quote_tokens([one for one in tokens if one[0] != PARAGRAPH_TOKEN])} at the {_PARAGRAPH_WORDING[kind]}"
        return f"{_quote_tokens(tokens)} {_POSITION_WORDING.get(kind, kind)}"

    def to_dict(self) -> dict[str, Any]:
        """The reason as plain values: feature, weight and wording."""
        return {"feature": self.feature, "weight": self.weight, "told": str(self)}


Token = tuple[str, str]  # what features call it, and what stands in the text


def _format_around(before: Token, after: Token) -> str:
    if before[0] == PARAGRAPH_TOKEN == after[0]:
        return "a paragraph of its own"
    if before[0] == PARAGRAPH_TOKEN:
        return f"between the {_PARAGRAPH_WORDING['before']} and {_quote_tokens([after])}"
    if after[0] == PARAGRAPH_TOKEN:
        return f"between {_quote_tokens([before])} and the {_PARAGRAPH_WORDING['after']}"
    return f"{_quote_tokens([before, after], ' … ')} around"


def _quote_tokens(tokens: Sequence[Token], between: str = " ") -> str:
    """Tokens in quotes, which stay as they are where a word has apostrophes; what is no word has none."""
    if not any(name in _TOKEN_WORDING for name, _ in tokens):
        return f"'{between.join(seen for _, seen in tokens)}'"
    return " and ".join(_TOKEN_WORDING.get(name, f"'{seen}'") for name, seen in tokens)


def rank_reasons(
    evidence: Iterable[tuple[str, float]], seen: Callable[[str], str] | None = None
) -> tuple[SuggestionReason, ...]:
    """All that speaks for a word, the strongest first, and then all that speaks against it, likewise.

    `evidence` is every feature of one context, known or not, with its weight for the suggested word less that
    for the written one, and `MORE_USUAL` for what does not depend on the context. What is known of one
    neighbour is one reason. A feature of two neighbours makes one reason of both where it is the strongest,
    and counts half for each where it is not. So the weights add up to the logarithm of the odds. `seen`
    tells how the text writes what a feature names.
    """
    parts = sorted(evidence, key=lambda part: (part[1] <= 0, -abs(part[1]), part[0]))
    tokens = _nearest_tokens([feature for feature, _ in parts])
    about = {feature: _feature_offsets(feature, tokens) for feature, _ in parts}
    names = _reason_features(parts, about, tokens)
    shares: dict[str, list[float]] = {}
    for feature, weight in parts:
        for place in about[feature]:
            shares.setdefault(names[place], []).append(weight / len(about[feature]))
    sums = {name: math.fsum(each) for name, each in shares.items()}
    found = sorted(sums.items(), key=lambda part: (part[1] < 0, -abs(part[1]), part[0]))
    # A text of nothing but such words has many suggestions, whose reasons are the same few words.
    own = sys.intern
    return tuple(
        SuggestionReason(own(name), nats, own(seen(name)) if seen else "") for name, nats in found if nats
    )


def _nearest_tokens(features: Sequence[str]) -> dict[int, str]:
    """The nearest tokens by their places."""
    found: dict[int, str] = {}
    for feature in features:
        kind, _, seen = feature.partition(":")
        if kind in _KIND_BY_OFFSET.values() and " " not in seen:
            found[_OFFSETS[kind]] = seen
    return found


def _feature_offsets(feature: str, tokens: Mapping[int, str]) -> frozenset[int | str]:
    """The places that a feature tells of; a word that is merely near stands for itself."""
    kind, _, seen = feature.partition(":")
    places: Iterable[int | str]
    if kind == "near":
        places = [place for place, token in tokens.items() if token == seen] or [feature]
    elif kind in _PAIR_OFFSETS and " " in seen:
        places = _PAIR_OFFSETS[kind]
    else:
        places = [_OFFSETS.get(kind, feature)]
    # What lies beyond the end of a paragraph is that end again.
    ends: dict[int | str, int] = {
        2 * place: place for place in (-1, 1) if tokens.get(place) == PARAGRAPH_TOKEN
    }
    return frozenset(ends.get(place, place) for place in places)


def _reason_features(
    parts: Sequence[tuple[str, float]], about: Mapping[str, frozenset[int | str]], tokens: Mapping[int, str]
) -> dict[int | str, str]:
    """The reason that each place belongs to, by its feature."""
    found: dict[int | str, str] = {}
    for feature, weight in parts:
        places = about[feature]
        if weight and found.keys().isdisjoint(places):
            is_pair = len(places) > 1 and not feature.startswith("near:")
            found |= {
                place: feature if is_pair else _reason_feature(place, feature, tokens) for place in places
            }
    for feature, places in about.items():
        for place in places:
            found.setdefault(place, _reason_feature(place, feature, tokens))
    return found


def _reason_feature(place: int | str, feature: str, tokens: Mapping[int, str]) -> str:
    return f"{_KIND_BY_OFFSET[place]}:{tokens[place]}" if isinstance(place, int) and place else feature


MAX_REASONS_SHOWN = 2
_MAX_NAME_LENGTH = 4096


@dataclass(frozen=True)
class Suggestion:
    """A word that is probably not the one that is meant.

    `line` and `column` count from 1, the column in characters; `begin` and `end` are the word's place in the
    text, in characters from 0. `reasons` are all that speaks for the suggested word, then all that speaks for
    the written one, each the strongest first; their weights add up to `log_odds`. It prints as
    ``file:line:column: written → suggested (p=…; because: …)``.
    """

    name: str
    line: int
    column: int
    begin: int
    end: int
    written: str
    suggested: str
    probability: float
    reasons: tuple[SuggestionReason, ...]

    def __str__(self) -> str:
        name = self.name if self.name.isprintable() else truncate(self.name, _MAX_NAME_LENGTH)
        return f"{name}:{self.line}:{self.column}: {self.change} ({self.because})"

    @property
    def change(self) -> str:
        """What is suggested, in short: weather → whether."""
        return f"{self.written} → {self.suggested}"

    @property
    def log_odds(self) -> float:
        """log P(suggested) − log P(written): the sum of all reasons."""
        return math.fsum(one.weight for one in self.reasons)

    @property
    def because(self) -> str:
        """The probability and the strongest reasons for what is suggested, in words."""
        reasons = ", ".join(str(one) for one in self.reasons[:MAX_REASONS_SHOWN] if one.weight > 0)
        return _format_probability(self.probability) + (f"; because: {reasons}" if reasons else "")

    def to_dict(self) -> dict[str, Any]:
        """The suggestion as plain values."""
        reasons = [reason.to_dict() for reason in self.reasons]
        return {**asdict(self), "log_odds": self.log_odds, "reasons": reasons}

    def plot(self) -> Any:
        """Draw how much each reason speaks for what is suggested, or against it."""
        from weigh.pictures import bar_chart

        rows = [{"name": str(one), "value": one.weight} for one in self.reasons]
        return bar_chart(rows, x="weight of evidence (nats)", title=self.change)

    def _repr_html_(self) -> str:
        rows = [["reason", "weight"], *([str(one), format_signed(one.weight)] for one in self.reasons)]
        rows.append(["log-odds", format_signed(self.log_odds)])
        title = (
            f"{self.name}:{self.line}:{self.column}: {self.change} ({_format_probability(self.probability)})"
        )
        return html_table(title, rows, bars=[*(one.weight for one in self.reasons), None])


def _format_probability(probability: float) -> str:
    """A probability with two digits, or with as many as tell it from 1."""
    for digits in (2, 3, 4):
        written = f"{probability:.{digits}f}"
        if float(written) < 1:
            return f"p={written}"
    return "p>0.9999"


def match_case(written: str, word: str, apostrophe: str, own: str = "") -> str:
    """A word of a set as it would stand in another's place: with its capitals, and its kind of apostrophe.

    A word that has capitals in its set keeps them. `own` is the written word as its set has it: where its
    capital is its own, as that of a German noun, another word does not take it over.
    """
    letters = [sign for sign in written if sign.isalpha()]
    mark = next((sign for sign in written if sign in "'’"), apostrophe)
    word = word.replace("'", mark)
    if len(letters) > 1 and all(map(str.isupper, letters)):
        return word.upper()
    if word != word.lower() or own[:1].isupper():
        return word
    return word[:1].upper() + word[1:] if written[:1].isupper() else word
