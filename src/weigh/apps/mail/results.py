"""The results of a store: of learning and unlearning, its status and its strongest words."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from weigh._core import MailLedger
from weigh.apps.mail.features import VIEWS
from weigh.apps.mail.folder import folder_size
from weigh.apps.mail.settings import StoreSettings
from weigh.apps.mail.storage import FeatureName
from weigh.errors import parameter_error
from weigh.result import LINE_WIDTH, Result, Section, Table, TabularResult
from weigh.text import format_count, format_quantity, format_signed, truncate

_MAX_NAME_WIDTH = 50
_SCORE_NOTE = "log-odds: the score of a message with this feature alone."


@dataclass(frozen=True, repr=False)
class LearnResult(Result):
    """Counts of learned messages: new, moved from the other label, and already known."""

    new: int = 0
    moved: int = 0
    known: int = 0

    def __add__(self, other: LearnResult) -> LearnResult:
        return LearnResult(self.new + other.new, self.moved + other.moved, self.known + other.known)

    @property
    def messages(self) -> int:
        """The number of messages."""
        return self.new + self.moved + self.known

    def sections(self) -> list[Section]:
        """Return the counts as one sentence."""
        text = f"{format_quantity(self.new, 'new message')} learned"
        text += f", {format_count(self.moved)} moved from the other label" if self.moved else ""
        return [
            Section("learned", [text + (f", {format_count(self.known)} known already" if self.known else "")])
        ]


@dataclass(frozen=True, repr=False)
class UnlearnResult(Result):
    """Counts of unlearned hams and spams, and of messages that had not been learned."""

    ham: int = 0
    spam: int = 0
    unknown: int = 0

    def __add__(self, other: UnlearnResult) -> UnlearnResult:
        return UnlearnResult(self.ham + other.ham, self.spam + other.spam, self.unknown + other.unknown)

    @property
    def messages(self) -> int:
        """The number of messages."""
        return self.ham + self.spam + self.unknown

    def sections(self) -> list[Section]:
        """Return the counts as one sentence."""
        text = f"{format_quantity(self.ham, 'ham')} and {format_quantity(self.spam, 'spam')} unlearned"
        text += f", {format_count(self.unknown)} had never been learned" if self.unknown else ""
        return [Section("unlearned", [text])]


def missing_label_hint(hams: int, spams: int) -> str:
    """Return advice for a store that has not learned both labels yet, otherwise an empty text."""
    if hams and spams:
        return ""
    missing = "ham" if spams else "spam" if hams else "mail"
    return f"The store has learned no {missing} yet. Learn both ham and spam before you rely on it."


@dataclass(frozen=True, repr=False)
class StoreStatus(Result):
    """The settings and contents of a store.

    Attributes
    ----------
    folder : its folder
    learner, pairs, characters, words : its settings
    hams, spams : numbers of messages learned under each label
    features : number of distinct features in these messages
    size : total size of its files in bytes
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
        """Advice if the store has not learned both labels yet, otherwise empty."""
        return missing_label_hint(self.hams, self.spams)

    def to_dict(self) -> dict[str, Any]:
        """Return the status as plain values for JSON."""
        return super().to_dict() | {"hint": self.hint}

    def sections(self) -> list[Section]:
        """Return the settings and contents."""
        table = Table(self._table(), left=2, indent="  ", has_header=False)
        return [Section("store", [table, self.hint], truncate(f"Mail store {self.folder}", LINE_WIDTH))]

    def _table(self) -> list[list[str]]:
        tokens = f"words, {self.pairs}" if self.pairs != "none" else "words"
        tokens += f", character {self.characters}-grams" if self.characters else ""
        return [
            ["learner", self.learner],
            ["tokens", tokens],
            ["words", "stored readably" if self.words else "hashed only"],
            ["ham", format_count(self.hams)],
            ["spam", format_count(self.spams)],
            ["features", format_count(self.features)],
            ["size", f"{self.size / 1e6:,.1f} MB"],
        ]


def store_status(folder: str, settings: StoreSettings, ledger: MailLedger, unfolded: int) -> StoreStatus:
    """Return the status of the store in a folder."""
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


class WordScore(NamedTuple):
    """A feature, its view ("headers" or "body"), and the log-odds of spam of a message with it alone."""

    name: str
    view: str
    score: float


@dataclass(frozen=True, repr=False)
class StrongestWords(TabularResult):
    """The strongest features for spam and for ham, strongest first."""

    spam: tuple[WordScore, ...]
    ham: tuple[WordScore, ...]
    _frames = ("spam", "ham")

    def sections(self) -> list[Section]:
        """Return the features with their log-odds."""
        rows = [["feature", "log-odds"], *([word.name, format_signed(word.score)] for word in self._rows())]
        bars = [word.score for word in self._rows()]
        table = Table(rows, widths=(_MAX_NAME_WIDTH,), bars=bars, caption="Strongest features")
        return [Section("features", [table, _SCORE_NOTE])]

    def plot(self) -> Any:
        """Plot the features as bars, spam to the right."""
        from weigh.pictures import bar_chart

        name_counts = Counter(word.name for word in self._rows())
        rows = [
            {
                "name": word.name if name_counts[word.name] == 1 else f"{word.name} ({word.view})",
                "value": word.score,
            }
            for word in self._rows()
        ]
        return bar_chart(rows, x="log-odds of spam with this feature alone", title="Strongest features")

    def _rows(self) -> list[WordScore]:
        return [*self.spam, *self.ham[::-1]]


def strongest_words(words: Iterable[FeatureName], ledger: MailLedger, k: int) -> StrongestWords:
    """Return the `k` strongest words for spam and for ham."""
    if type(k) is not int or k < 1:
        raise parameter_error("strongest", "k", "a whole number of at least 1", k)
    scores = [
        WordScore(word.name, VIEWS[word.view], nats)
        for word in words
        for _, key, nats in ledger.evidence(word.hashed_features)
        if key == word.key
    ]
    # Ties are broken by name, so that the order of learning does not matter.
    spam = heapq.nsmallest(
        k, (word for word in scores if word.score > 0), key=lambda word: (-word.score, word.name)
    )
    ham = heapq.nsmallest(
        k, (word for word in scores if word.score < 0), key=lambda word: (word.score, word.name)
    )
    return StrongestWords(tuple(spam), tuple(ham))
