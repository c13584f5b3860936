"""A suggestion: where which word stands, which is meant in its place, and why."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from weigh.apps.spelling.reasons import Reason
from weigh.text import cut, html_table, signed

TOLD = 2
_LONGEST_NAME = 4096


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
    reasons: tuple[Reason, ...]

    def __str__(self) -> str:
        name = self.name if self.name.isprintable() else cut(self.name, _LONGEST_NAME)
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
        reasons = ", ".join(str(one) for one in self.reasons[:TOLD] if one.weight > 0)
        return _chance(self.probability) + (f"; because: {reasons}" if reasons else "")

    def to_dict(self) -> dict[str, Any]:
        """The suggestion as plain values."""
        reasons = [reason.to_dict() for reason in self.reasons]
        return {**asdict(self), "log_odds": self.log_odds, "reasons": reasons}

    def plot(self) -> Any:
        """Draw how much each reason speaks for what is suggested, or against it."""
        from weigh.pictures import bars

        rows = [{"name": str(one), "value": one.weight} for one in self.reasons]
        return bars(rows, x="weight of evidence (nats)", title=self.change)

    def _repr_html_(self) -> str:
        rows = [["reason", "weight"], *([str(one), signed(one.weight)] for one in self.reasons)]
        rows.append(["log-odds", signed(self.log_odds)])
        title = f"{self.name}:{self.line}:{self.column}: {self.change} ({_chance(self.probability)})"
        return html_table(title, rows, bars=[*(one.weight for one in self.reasons), None])


def _chance(probability: float) -> str:
    """A probability with two digits, or with as many as tell it from 1."""
    for digits in (2, 3, 4):
        written = f"{probability:.{digits}f}"
        if float(written) < 1:
            return f"p={written}"
    return "p>0.9999"


def like(written: str, word: str, apostrophe: str, own: str = "") -> str:
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
