"""Who is tried, on what, and what is said of a mail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

HAM, UNSURE, SPAM = VERDICTS = ("ham", "unsure", "spam")
LABELS = (HAM, SPAM)


@dataclass(frozen=True)
class Mail:
    """A raw message with its true label, "ham" or "spam".

    `place` says to people where it lies; `at` is when it came, in seconds since 1970, if that is known.
    """

    content: bytes
    place: str
    label: str
    at: float | None = None


@dataclass(frozen=True)
class Opinion:
    """What a filter says of a mail: a score that is higher for spam, and a verdict.

    Scores need only be in the right order: log-odds, margins, anything that does not fall as a mail grows
    more like spam. `probability` of spam is told to people, where the filter has one.
    """

    score: float
    verdict: str
    probability: float | None = None


class Contestant(Protocol):
    """A filter on trial: it judges a mail, and learns it once its label is known.

    Where reading mails is done beforehand, `reading_seconds` is what it took for one, and is added to the
    times of judging and of learning.
    """

    @property
    def name(self) -> str:
        """What people call the filter."""

    def judge(self, mail: Mail) -> Opinion:
        """Say what a mail is, without a look at its label."""

    def learn(self, mail: Mail, label: str) -> None:
        """Learn a mail as "ham" or "spam"."""
