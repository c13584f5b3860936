"""The features that say most, of all that a store has learned."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from weigh._core import MailLedger
from weigh.apps.mail.features import VIEWS
from weigh.apps.mail.words import Word
from weigh.errors import parameter
from weigh.text import aligned, cut, html_note, html_table, signed

_NAME = 50
_MEANING = "log-odds: the score of a message with this feature alone."


class SpokenWord(NamedTuple):
    """A feature, where it was ("headers" or "body"), and the log-odds of spam that it alone would give."""

    name: str
    view: str
    score: float


@dataclass(frozen=True)
class StrongestWords:
    """The features that speak most for spam, the strongest first, and those that speak most for ham."""

    spam: tuple[SpokenWord, ...]
    ham: tuple[SpokenWord, ...]

    def to_dict(self) -> dict[str, Any]:
        """The features for JSON."""
        return {"spam": [each._asdict() for each in self.spam], "ham": [each._asdict() for each in self.ham]}

    def __str__(self) -> str:
        return f"{aligned(self._table())}\n{_MEANING}"

    def _repr_html_(self) -> str:
        table = html_table("Strongest features", self._table(), bars=[each.score for each in self._rows()])
        return f"<div>{table}{html_note(_MEANING)}</div>"

    def plot(self) -> Any:
        """Draw the features as bars, those for spam to the right."""
        from weigh.pictures import bars

        often = Counter(each.name for each in self._rows())
        rows = [
            {
                "name": each.name if often[each.name] == 1 else f"{each.name} ({each.view})",
                "value": each.score,
            }
            for each in self._rows()
        ]
        return bars(rows, x="log-odds of spam of this feature alone", title="Strongest features")

    def _rows(self) -> list[SpokenWord]:
        return [*self.spam, *self.ham[::-1]]

    def _table(self) -> list[list[str]]:
        return [
            ["feature", "log-odds"],
            *([cut(each.name, _NAME), signed(each.score)] for each in self._rows()),
        ]


def strongest_words(words: Iterable[Word], ledger: MailLedger, k: int) -> StrongestWords:
    """The `k` words that speak most for spam, and for ham."""
    if type(k) is not int or k < 1:
        raise parameter("strongest", "k", "a whole number of at least 1", k)
    spoken = [
        SpokenWord(word.name, VIEWS[word.view], nats)
        for word in words
        for _, key, nats in ledger.evidence(word.print)
        if key == word.key
    ]
    # Among equals the first by name, whatever the order of learning.
    spam = heapq.nsmallest(
        k, (each for each in spoken if each.score > 0), key=lambda each: (-each.score, each.name)
    )
    ham = heapq.nsmallest(
        k, (each for each in spoken if each.score < 0), key=lambda each: (each.score, each.name)
    )
    return StrongestWords(tuple(spam), tuple(ham))
