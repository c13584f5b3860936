"""A suggestion: where which word stands, which is meant in its place, and why."""

from __future__ import annotations

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
    text, in characters from 0. It prints as ``file:line:column: written → suggested (p=…; because: …)``.
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
    def because(self) -> str:
        """The probability and the strongest reasons, in words."""
        reasons = ", ".join(map(str, self.reasons[:TOLD]))
        return _chance(self.probability) + (f"; because: {reasons}" if reasons else "")

    def to_dict(self) -> dict[str, Any]:
        """The suggestion as plain values."""
        return {**asdict(self), "reasons": [reason.to_dict() for reason in self.reasons]}

    def plot(self) -> Any:
        """Draw how much each reason speaks for what is suggested."""
        from weigh.pictures import bars

        rows = [{"name": str(one), "value": one.weight} for one in self.reasons]
        return bars(rows, x="weight of evidence (nats)", title=self.change)

    def _repr_html_(self) -> str:
        rows = [["reason", "weight"], *([str(one), signed(one.weight)] for one in self.reasons)]
        title = f"{self.name}:{self.line}:{self.column}: {self.change} ({_chance(self.probability)})"
        return html_table(title, rows, bars=[one.weight for one in self.reasons])


def _chance(probability: float) -> str:
    """A probability with two digits, or with as many as tell it from 1."""
    for digits in (2, 3, 4):
        written = f"{probability:.{digits}f}"
        if float(written) < 1:
            return f"p={written}"
    return "p>0.9999"


def like(written: str, word: str, apostrophe: str) -> str:
    """A word as it would stand in another's place: with its capitals, and its kind of apostrophe."""
    letters = [sign for sign in written if sign.isalpha()]
    mark = next((sign for sign in written if sign in "'’"), apostrophe)
    word = word.replace("'", mark)
    if len(letters) > 1 and all(map(str.isupper, letters)):
        return word.upper()
    return word[:1].upper() + word[1:] if written[:1].isupper() else word
