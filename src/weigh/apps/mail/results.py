"""What a store says of learning, unlearning and itself."""

from __future__ import annotations

import heapq
import textwrap
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from weigh._core import MailLedger
from weigh.apps.mail.features import VIEWS
from weigh.apps.mail.folder import folder_size
from weigh.apps.mail.settings import StoreSettings
from weigh.apps.mail.storage import FeatureName
from weigh.errors import parameter_error
from weigh.text import (
    format_count,
    format_quantity,
    format_signed,
    html_paragraph,
    html_table,
    text_table,
    truncate,
)

_WIDTH = 80


@dataclass(frozen=True)
class LearnResult:
    """How many messages are new, how many had the other label before, and how many were known already."""

    new: int = 0
    moved: int = 0
    known: int = 0

    def __add__(self, other: LearnResult) -> LearnResult:
        return LearnResult(self.new + other.new, self.moved + other.moved, self.known + other.known)

    @property
    def messages(self) -> int:
        """How many messages there were."""
        return self.new + self.moved + self.known

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        told = f"{format_quantity(self.new, 'new message')} learned"
        told += f", {format_count(self.moved)} moved from the other label" if self.moved else ""
        return told + (f", {format_count(self.known)} known already" if self.known else "")

    def _repr_html_(self) -> str:
        return html_table("Learned", _count_rows(self.to_dict()))


@dataclass(frozen=True)
class UnlearnResult:
    """How many hams and spams were taken back, and how many messages had never been learned."""

    ham: int = 0
    spam: int = 0
    unknown: int = 0

    def __add__(self, other: UnlearnResult) -> UnlearnResult:
        return UnlearnResult(self.ham + other.ham, self.spam + other.spam, self.unknown + other.unknown)

    @property
    def messages(self) -> int:
        """How many messages there were."""
        return self.ham + self.spam + self.unknown

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        told = f"{format_quantity(self.ham, 'ham')} and {format_quantity(self.spam, 'spam')} unlearned"
        return told + (f", {format_count(self.unknown)} had never been learned" if self.unknown else "")

    def _repr_html_(self) -> str:
        return html_table("Unlearned", _count_rows(self.to_dict()))


@dataclass(frozen=True)
class StoreStatus:
    """What a store is and has.

    Attributes
    ----------
    folder : where it is
    learner, pairs, characters, words : its settings
    hams, spams : how many messages of each label it has learned
    features : how many different features these have
    size : bytes of all its files
    unfolded : bytes of the journal that the snapshot does not include yet
    """

    folder: str
    learner: str
    pairs: str
    characters: int
    words: bool
    hams: int
    spams: int
    features: int
    size: int
    unfolded: int

    @property
    def hint(self) -> str:
        """What the store lacks to judge by, or nothing."""
        if self.hams and self.spams:
            return ""
        lacks = "ham" if self.spams else "spam" if self.hams else "mail"
        return f"It has learned no {lacks} yet. Learn both ham and spam before you trust it."

    def to_dict(self) -> dict[str, Any]:
        """The status for JSON."""
        return {**asdict(self), "hint": self.hint}

    def __str__(self) -> str:
        lines = [
            truncate(f"Mail store {self.folder}", _WIDTH),
            text_table(self._table(), left=2, indent="  "),
        ]
        return "\n".join([*lines, *textwrap.wrap(self.hint, _WIDTH)])

    def _repr_html_(self) -> str:
        return html_table(f"Mail store {self.folder}", [["", ""], *self._table()])

    def _table(self) -> list[list[str]]:
        seen = f"words, {self.pairs}" if self.pairs != "none" else "words"
        seen += f", runs of {self.characters} characters" if self.characters else ""
        return [
            ["learner", self.learner],
            ["sees", seen],
            ["words", "readable" if self.words else "as keys only"],
            ["ham", format_count(self.hams)],
            ["spam", format_count(self.spams)],
            ["features", format_count(self.features)],
            ["size", f"{self.size / 1e6:,.1f} MB"],
        ]


def _count_rows(numbers: dict[str, int]) -> list[list[str]]:
    return [["messages", ""], *([name, format_count(number)] for name, number in numbers.items())]


def store_status(folder: str, settings: StoreSettings, ledger: MailLedger, unfolded: int) -> StoreStatus:
    """What a store in a folder is and has."""
    features = settings.features
    return StoreStatus(
        folder=folder,
        learner=settings.learner,
        pairs=features.pairs,
        characters=features.characters,
        words=settings.words,
        hams=ledger.hams,
        spams=ledger.spams,
        features=ledger.features,
        size=folder_size(folder),
        unfolded=unfolded,
    )


_MAX_NAME_WIDTH = 50
_SCORE_NOTE = "log-odds: the score of a message with this feature alone."


class WordScore(NamedTuple):
    """A feature, where it was ("headers" or "body"), and the log-odds of spam that it alone would give."""

    name: str
    view: str
    score: float


@dataclass(frozen=True)
class StrongestWords:
    """The features that speak most for spam, the strongest first, and those that speak most for ham."""

    spam: tuple[WordScore, ...]
    ham: tuple[WordScore, ...]

    def to_dict(self) -> dict[str, Any]:
        """The features for JSON."""
        return {"spam": [each._asdict() for each in self.spam], "ham": [each._asdict() for each in self.ham]}

    def __str__(self) -> str:
        return f"{text_table(self._table())}\n{_SCORE_NOTE}"

    def _repr_html_(self) -> str:
        table = html_table("Strongest features", self._table(), bars=[each.score for each in self._rows()])
        return f"<div>{table}{html_paragraph(_SCORE_NOTE)}</div>"

    def plot(self) -> Any:
        """Draw the features as bars, those for spam to the right."""
        from weigh.pictures import bar_chart

        often = Counter(each.name for each in self._rows())
        rows = [
            {
                "name": each.name if often[each.name] == 1 else f"{each.name} ({each.view})",
                "value": each.score,
            }
            for each in self._rows()
        ]
        return bar_chart(rows, x="log-odds of spam of this feature alone", title="Strongest features")

    def _rows(self) -> list[WordScore]:
        return [*self.spam, *self.ham[::-1]]

    def _table(self) -> list[list[str]]:
        return [
            ["feature", "log-odds"],
            *([truncate(each.name, _MAX_NAME_WIDTH), format_signed(each.score)] for each in self._rows()),
        ]


def strongest_words(words: Iterable[FeatureName], ledger: MailLedger, k: int) -> StrongestWords:
    """The `k` words that speak most for spam, and for ham."""
    if type(k) is not int or k < 1:
        raise parameter_error("strongest", "k", "a whole number of at least 1", k)
    spoken = [
        WordScore(word.name, VIEWS[word.view], nats)
        for word in words
        for _, key, nats in ledger.evidence(word.hashed_features)
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
