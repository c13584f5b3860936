"""Suggestions, and their reasons: how much each neighbouring word adds to the log-odds."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weigh.result import Section, Table, TabularResult
from weigh.text import escape_control_characters, format_signed

MAX_REASONS_SHOWN = 2
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


@dataclass(frozen=True)
class Suggestion(TabularResult):
    """A word that was probably confused with another word of its set.

    `line` and `column` count from 1, in characters; `text[begin:end]` is the word. `reasons` are the reasons
    for the suggested word and then those for the written one, strongest first; their weights add up to
    `log_odds`. Prints as ``file:line:column: written → suggested (p=…; because: …)``.
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
    _json = (
        "name",
        "line",
        "column",
        "begin",
        "end",
        "written",
        "suggested",
        "probability",
        "reasons",
        "log_odds",
    )
    _frames = ("reasons",)

    def __str__(self) -> str:
        text = f"{self.name}:{self.line}:{self.column}: {self.change} ({self.because})"
        return escape_control_characters(text)

    @property
    def change(self) -> str:
        """The correction in short form: weather → whether."""
        return f"{self.written} → {self.suggested}"

    @property
    def log_odds(self) -> float:
        """log P(suggested) − log P(written): the sum of the weights of all reasons."""
        return math.fsum(reason.weight for reason in self.reasons)

    @property
    def because(self) -> str:
        """The probability and the strongest reasons for the suggestion, in words."""
        reasons = ", ".join(str(reason) for reason in self.reasons[:MAX_REASONS_SHOWN] if reason.weight > 0)
        return _format_probability(self.probability) + (f"; because: {reasons}" if reasons else "")

    def plot(self) -> Any:
        """Plot the weight of each reason for or against the suggestion."""
        from weigh.pictures import bar_chart

        rows = [{"name": str(reason), "value": reason.weight} for reason in self.reasons]
        return bar_chart(rows, x="weight of evidence (nats)", title=self.change)

    @property
    def headline(self) -> str:
        """The place, the correction and its probability."""
        probability = _format_probability(self.probability)
        return f"{self.name}:{self.line}:{self.column}: {self.change} ({probability})"

    def sections(self) -> list[Section]:
        """Return the reasons, whose weights sum to the log-odds."""
        rows = [["reason", "weight"]]
        rows += [[str(reason), format_signed(reason.weight)] for reason in self.reasons]
        rows.append(["log-odds", format_signed(self.log_odds)])
        return [Section("reasons", [Table(rows, bars=[*(reason.weight for reason in self.reasons), None])])]


def _format_probability(probability: float) -> str:
    """Format a probability with two digits, or with up to four to distinguish it from 1."""
    for digits in (2, 3, 4):
        formatted = f"{probability:.{digits}f}"
        if float(formatted) < 1:
            return f"p={formatted}"
    return "p>0.9999"


def match_case(written: str, word: str, apostrophe: str, set_spelling: str = "") -> str:
    """Return a word of a set with the capitalisation and apostrophe of the written word that it replaces.

    A word that its set spells with capitals keeps them. `set_spelling` is the written word as its set spells
    it: if that is capitalised, as a German noun is, the capital is not transferred.
    """
    letters = [character for character in written if character.isalpha()]
    apostrophe = next((character for character in written if character in "'’"), apostrophe)
    word = word.replace("'", apostrophe)
    if len(letters) > 1 and all(map(str.isupper, letters)):
        return word.upper()
    if word != word.lower() or set_spelling[:1].isupper():
        return word
    return word[:1].upper() + word[1:] if written[:1].isupper() else word


@dataclass(frozen=True, slots=True)
class SuggestionReason:
    """The contribution of one neighbouring word, or of a pair, to the log-odds of the suggested word.

    `feature` names the neighbour or the pair; `weight` is its share of log P(suggested) − log P(written),
    negative where it favours the written word. `surface` is the neighbour as the text spells it. Prints in
    words: 'know' before, 'laugh' nearby.
    """

    feature: str
    weight: float
    surface: str = ""

    def __str__(self) -> str:
        if self.feature in _FEATURE_WORDING:
            return _FEATURE_WORDING[self.feature]
        kind, _, joined = self.feature.partition(":")
        names, surfaces = joined.split(" "), (self.surface or joined).split(" ")
        tokens = list(zip(names, surfaces, strict=True))
        if kind == "around":
            return _format_around(tokens[0], tokens[-1])
        if names[0] == PARAGRAPH_TOKEN == names[-1]:
            return f"{_PARAGRAPH_WORDING[kind]} {_POSITION_WORDING.get(kind, '')}".rstrip()
        if PARAGRAPH_TOKEN in names:
            words = [token for token in tokens if token[0] != PARAGRAPH_TOKEN]
            return f"{_quote_tokens(words)} at the {_PARAGRAPH_WORDING[kind]}"
        return f"{_quote_tokens(tokens)} {_POSITION_WORDING.get(kind, kind)}"

    def to_dict(self) -> dict[str, Any]:
        """Return feature, weight and wording as plain values."""
        return {"feature": self.feature, "weight": self.weight, "told": str(self)}


Token = tuple[str, str]  # the name in features, and the surface form in the text


def _format_around(before: Token, after: Token) -> str:
    if before[0] == PARAGRAPH_TOKEN == after[0]:
        return "a paragraph of its own"
    if before[0] == PARAGRAPH_TOKEN:
        return f"between the {_PARAGRAPH_WORDING['before']} and {_quote_tokens([after])}"
    if after[0] == PARAGRAPH_TOKEN:
        return f"between {_quote_tokens([before])} and the {_PARAGRAPH_WORDING['after']}"
    return f"{_quote_tokens([before, after], ' … ')} around"


def _quote_tokens(tokens: Sequence[Token], separator: str = " ") -> str:
    """Quote tokens; numbers, code and overlong words are described instead."""
    if not any(name in _TOKEN_WORDING for name, _ in tokens):
        return f"'{separator.join(surface for _, surface in tokens)}'"
    return " and ".join(_TOKEN_WORDING.get(name, f"'{surface}'") for name, surface in tokens)


def rank_reasons(
    log_odds: Iterable[tuple[str, float]], surface_form: Callable[[str], str] | None = None
) -> tuple[SuggestionReason, ...]:
    """Return the reasons for a suggestion, strongest first, then those against it, strongest first.

    `log_odds` has every feature of one context with its contribution to log P(suggested) − log P(written),
    and `PRIOR_FEATURE` for the part that does not depend on the context. All features of one neighbour form
    one reason. A feature of two neighbours joins both into one reason if it is their strongest; otherwise
    each gets half of it. So the weights of the reasons add up to the log-odds. `surface_form` returns the
    words of a feature as the text spells them.
    """
    contributions = sorted(log_odds, key=lambda item: (item[1] <= 0, -abs(item[1]), item[0]))
    tokens = _nearest_tokens([feature for feature, _ in contributions])
    offsets = {feature: _feature_offsets(feature, tokens) for feature, _ in contributions}
    reasons = _reason_features(contributions, offsets, tokens)
    shares: dict[str, list[float]] = {}
    for feature, weight in contributions:
        for offset in offsets[feature]:
            shares.setdefault(reasons[offset], []).append(weight / len(offsets[feature]))
    totals = {name: math.fsum(parts) for name, parts in shares.items()}
    ranked = sorted(totals.items(), key=lambda item: (item[1] < 0, -abs(item[1]), item[0]))
    # The suggestions of one text share few distinct strings, so interning them saves memory.
    return tuple(
        SuggestionReason(sys.intern(name), weight, sys.intern(surface_form(name)) if surface_form else "")
        for name, weight in ranked
        if weight
    )


def _nearest_tokens(features: Sequence[str]) -> dict[int, str]:
    """Return the tokens at the offsets −2, −1, 1 and 2."""
    tokens: dict[int, str] = {}
    for feature in features:
        kind, _, name = feature.partition(":")
        if kind in _KIND_BY_OFFSET.values() and " " not in name:
            tokens[_OFFSETS[kind]] = name
    return tokens


def _feature_offsets(feature: str, tokens: Mapping[int, str]) -> frozenset[int | str]:
    """Return the offsets that a feature describes, or the feature itself for a word farther away."""
    kind, _, name = feature.partition(":")
    offsets: Iterable[int | str]
    if kind == "near":
        offsets = [offset for offset, token in tokens.items() if token == name] or [feature]
    elif kind in _PAIR_OFFSETS and " " in name:
        offsets = _PAIR_OFFSETS[kind]
    else:
        offsets = [_OFFSETS.get(kind, feature)]
    # The token beyond the end of a paragraph is that end again.
    aliases: dict[int | str, int] = {
        2 * offset: offset for offset in (-1, 1) if tokens.get(offset) == PARAGRAPH_TOKEN
    }
    return frozenset(aliases.get(offset, offset) for offset in offsets)


def _reason_features(
    contributions: Sequence[tuple[str, float]],
    offsets: Mapping[str, frozenset[int | str]],
    tokens: Mapping[int, str],
) -> dict[int | str, str]:
    """Return the feature that names the reason of each offset."""
    reasons: dict[int | str, str] = {}
    for feature, weight in contributions:
        if weight and reasons.keys().isdisjoint(offsets[feature]):
            is_pair = len(offsets[feature]) > 1 and not feature.startswith("near:")
            for offset in offsets[feature]:
                reasons[offset] = feature if is_pair else _single_word_feature(offset, feature, tokens)
    for feature in offsets:
        for offset in offsets[feature]:
            reasons.setdefault(offset, _single_word_feature(offset, feature, tokens))
    return reasons


def _single_word_feature(offset: int | str, feature: str, tokens: Mapping[int, str]) -> str:
    return f"{_KIND_BY_OFFSET[offset]}:{tokens[offset]}" if isinstance(offset, int) and offset else feature
