"""Labelled mails, their order and the feedback given on them, and the interface of a filter under test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

from weigh import errors
from weigh.result import Facts
from weigh.text import format_quantity, truncate

HAM, UNSURE, SPAM = VERDICTS = ("ham", "unsure", "spam")
LABELS = (HAM, SPAM)


@dataclass(frozen=True)
class Mail:
    """A raw message with its true label, "ham" or "spam".

    `place` tells people where it is stored; `at` is the arrival time in seconds since 1970, if known.
    """

    content: bytes
    place: str
    label: str
    at: float | None = None


@dataclass(frozen=True)
class Judgement:
    """A filter's score of a mail, higher for spam, and its verdict.

    Only the order of the scores matters: they may be log-odds, margins, or any other quantity that increases
    with the likelihood of spam. `probability` of spam is optional and shown to people.
    """

    score: float
    verdict: str
    probability: float | None = None


class FilterUnderTest(Protocol):
    """A filter that is evaluated: it judges a mail, and learns it once its label is known.

    If features are extracted beforehand, the attribute `reading_seconds` is the time per mail, which is added
    to the times of judging and of learning.
    """

    @property
    def name(self) -> str:
        """The name shown in results."""

    def judge(self, mail: Mail) -> Judgement:
        """Judge a mail without looking at its label."""

    def learn(self, mail: Mail, label: str) -> None:
        """Learn a mail as "ham" or "spam"."""


@dataclass(frozen=True)
class Feedback(Facts):
    """Which labels are given to the filter, and when.

    Parameters
    ----------
    delay : number of further mails that are judged before a label is given; 0 gives it immediately
    share : share of the mails that get a label, from 0 to 1; they are chosen by content and seed, so that
    they
        are the same in every order and for every filter
    errors_only : whether only misclassified and unsure mails get a label, as from users who report nothing
    else
    seed : seed of the choice
    """

    delay: int = 0
    share: float = 1.0
    errors_only: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.delay, bool) or not isinstance(self.delay, int) or self.delay < 0:
            raise errors.parameter_error("Feedback", "delay", "a whole number of at least 0", self.delay)
        if not 0.0 <= self.share <= 1.0:
            raise errors.parameter_error("Feedback", "share", "a number from 0 to 1", self.share)

    def gives_label(self, mail: Mail, verdict: str) -> bool:
        """Return whether the label of a mail with this verdict is ever given."""
        if self.errors_only and verdict == mail.label:
            return False
        return self.share >= 1.0 or hash_to_unit_interval(mail.content, self.seed, b"label") < self.share

    def __str__(self) -> str:
        scope = "mistakes and unsure mails" if self.errors_only else "the mails"
        if self.share < 1.0:
            on = f" on {100 * self.share:g} % of {scope}"
        else:
            on = f" on {scope}" if self.errors_only else ""
        if self.delay:
            return f"feedback{on} after {format_quantity(self.delay, 'further mail')}"
        return f"immediate feedback{on}"


def hash_to_unit_interval(content: bytes, seed: int, purpose: bytes) -> float:
    """Hash a content and a seed to a number in [0, 1) that is the same on every machine."""
    digest = blake2b(content, digest_size=8, key=str(seed).encode()[:64], person=purpose).digest()
    return int.from_bytes(digest, "big") / 2.0**64


def order_mails(mails: Sequence[Mail], order: str, seed: int) -> list[int]:
    """Return the indices of mails in the order "time", "shuffled" or "given".

    "shuffled" depends on each mail's content and on the seed, but not on how the mails were listed.
    """
    if order not in ORDERS:
        raise errors.parameter_error(
            "evaluate_filters", "order", f"one of {errors.quote_names(ORDERS)}", order
        )
    return ORDERS[order](mails, seed)


def count_missing_dates(mails: Sequence[Mail], order: str) -> int:
    """Return the number of mails without a date if they are ordered by time, otherwise 0."""
    return sum(mail.at is None for mail in mails) if order == "time" else 0


def _order_by_time(mails: Sequence[Mail], _seed: int) -> list[int]:
    """Sort by time; a mail without a date comes right after the preceding mail with the same label."""
    last: dict[str, float] = {}
    for mail in reversed(mails):
        if mail.at is not None:
            last[mail.label] = mail.at
    times = []
    for mail in mails:
        time = last.get(mail.label) if mail.at is None else mail.at
        if time is None:
            raise errors.DataError(
                f"No {mail.label} has a date; the first is {truncate(mail.place, 60)}. "
                "Use another order: 'given' or 'shuffled'."
            )
        last[mail.label] = time
        times.append(time)
    return sorted(range(len(times)), key=times.__getitem__)


def _shuffle_order(mails: Sequence[Mail], seed: int) -> list[int]:
    keys = [(hash_to_unit_interval(mail.content, seed, b"order"), mail.label, mail.place) for mail in mails]
    return sorted(range(len(keys)), key=keys.__getitem__)


def _keep_order(mails: Sequence[Mail], _seed: int) -> list[int]:
    return list(range(len(mails)))


ORDERS: dict[str, Callable[[Sequence[Mail], int], list[int]]] = {
    "time": _order_by_time,
    "shuffled": _shuffle_order,
    "given": _keep_order,
}
