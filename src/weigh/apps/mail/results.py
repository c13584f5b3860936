"""What a store says of learning, unlearning and itself."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass
from typing import Any

from weigh._core import MailLedger
from weigh.apps.mail.folder import size_of
from weigh.apps.mail.settings import Settings
from weigh.text import aligned, amount, counted, cut, html_table

_WIDTH = 80


@dataclass(frozen=True)
class Learned:
    """How many messages are new, how many had the other label before, and how many were known already."""

    new: int = 0
    moved: int = 0
    known: int = 0

    def __add__(self, other: Learned) -> Learned:
        return Learned(self.new + other.new, self.moved + other.moved, self.known + other.known)

    @property
    def messages(self) -> int:
        """How many messages there were."""
        return self.new + self.moved + self.known

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        told = f"{counted(self.new, 'new message')} learned"
        told += f", {amount(self.moved)} moved from the other label" if self.moved else ""
        return told + (f", {amount(self.known)} known already" if self.known else "")

    def _repr_html_(self) -> str:
        return html_table("Learned", _rows(self.to_dict()))


@dataclass(frozen=True)
class Unlearned:
    """How many hams and spams were taken back, and how many messages had never been learned."""

    ham: int = 0
    spam: int = 0
    unknown: int = 0

    def __add__(self, other: Unlearned) -> Unlearned:
        return Unlearned(self.ham + other.ham, self.spam + other.spam, self.unknown + other.unknown)

    @property
    def messages(self) -> int:
        """How many messages there were."""
        return self.ham + self.spam + self.unknown

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        told = f"{counted(self.ham, 'ham')} and {counted(self.spam, 'spam')} unlearned"
        return told + (f", {amount(self.unknown)} had never been learned" if self.unknown else "")

    def _repr_html_(self) -> str:
        return html_table("Unlearned", _rows(self.to_dict()))


@dataclass(frozen=True)
class Status:
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
        lines = [cut(f"Mail store {self.folder}", _WIDTH), aligned(self._table(), left=2, indent="  ")]
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
            ["ham", amount(self.hams)],
            ["spam", amount(self.spams)],
            ["features", amount(self.features)],
            ["size", f"{self.size / 1e6:,.1f} MB"],
        ]


def _rows(numbers: dict[str, int]) -> list[list[str]]:
    return [["messages", ""], *([name, amount(number)] for name, number in numbers.items())]


def status_of(folder: str, settings: Settings, ledger: MailLedger, unfolded: int) -> Status:
    """What a store in a folder is and has."""
    features = settings.features
    return Status(
        folder=folder,
        learner=settings.learner,
        pairs=features.pairs,
        characters=features.characters,
        words=settings.words,
        hams=ledger.hams,
        spams=ledger.spams,
        features=ledger.features,
        size=size_of(folder),
        unfolded=unfolded,
    )
