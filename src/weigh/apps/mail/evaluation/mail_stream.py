"""When a filter is told what a mail really was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Protocol

from weigh import errors
from weigh.text import format_quantity, truncate

FEEDBACK_OWNER = "Feedback"


@dataclass(frozen=True)
class Feedback:
    """Which labels are given, and how late.

    Parameters
    ----------
    delay : how many further mails are judged before a label is given; 0 is at once
    share : how many of the mails ever get their label, from 0 to 1: chosen by their content and the seed,
        so that they are the same ones in every order and for every filter
    errors_only : whether only those mails get it that the filter was wrong or unsure about, as from users
        who report nothing else
    seed : another one chooses other mails
    """

    delay: int = 0
    share: float = 1.0
    errors_only: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.delay, bool) or not isinstance(self.delay, int) or self.delay < 0:
            raise errors.parameter_error(FEEDBACK_OWNER, "delay", "a whole number of at least 0", self.delay)
        if not 0.0 <= self.share <= 1.0:
            raise errors.parameter_error(FEEDBACK_OWNER, "share", "a number from 0 to 1", self.share)

    def gives_label(self, mail: Mail, verdict: str) -> bool:
        """Whether the label of a mail is ever given, once a filter has said its verdict."""
        if self.errors_only and verdict == mail.label:
            return False
        return self.share >= 1.0 or hash_to_unit_interval(mail.content, self.seed, b"label") < self.share

    def to_dict(self) -> dict[str, Any]:
        """The rule for JSON."""
        return {
            "delay": self.delay,
            "share": self.share,
            "errors_only": self.errors_only,
            "seed": self.seed,
        }

    def __str__(self) -> str:
        who = "" if self.share >= 1.0 else f" of {100 * self.share:g} % of the mails"
        which = "labels" if not self.errors_only else "labels of mistakes and unsure mails"
        when = f"after {format_quantity(self.delay, 'further mail')}" if self.delay else "at once"
        return f"{which}{who} {when}"


def hash_to_unit_interval(content: bytes, seed: int, purpose: bytes) -> float:
    """A number from 0 to 1 that hangs on a content and a seed alone, the same on every machine."""
    digest = blake2b(content, digest_size=8, key=str(seed).encode()[:64], person=purpose).digest()
    return int.from_bytes(digest, "big") / 2.0**64


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
class Judgement:
    """What a filter says of a mail: a score that is higher for spam, and a verdict.

    Scores need only be in the right order: log-odds, margins, anything that does not fall as a mail grows
    more like spam. `probability` of spam is told to people, where the filter has one.
    """

    score: float
    verdict: str
    probability: float | None = None


class FilterUnderTest(Protocol):
    """A filter on trial: it judges a mail, and learns it once its label is known.

    Where reading mails is done beforehand, `reading_seconds` is what it took for one, and is added to the
    times of judging and of learning.
    """

    @property
    def name(self) -> str:
        """What people call the filter."""

    def judge(self, mail: Mail) -> Judgement:
        """Say what a mail is, without a look at its label."""

    def learn(self, mail: Mail, label: str) -> None:
        """Learn a mail as "ham" or "spam"."""


def order_mails(mails: Sequence[Mail], order: str, seed: int) -> list[int]:
    """The places of mails in the order asked for.

    "shuffled" goes by each mail's content and the seed: the same mails come in the same order however
    they were listed.
    """
    if order not in ORDERS:
        raise errors.parameter_error("hold_trial", "order", f"one of {errors.quote_names(ORDERS)}", order)
    return ORDERS[order](mails, seed)


def count_missing_dates(mails: Sequence[Mail], order: str) -> int:
    """How many mails have a place in the order of time although they do not say when they came."""
    return sum(mail.at is None for mail in mails) if order == "time" else 0


def _order_by_time(mails: Sequence[Mail], _seed: int) -> list[int]:
    """Go by time; a mail without one comes right after the one of its label that was given before it."""
    last: dict[str, float] = {}
    for mail in reversed(mails):
        if mail.at is not None:
            last[mail.label] = mail.at
    times = []
    for mail in mails:
        at = last.get(mail.label) if mail.at is None else mail.at
        if at is None:
            raise errors.DataError(
                f"No {mail.label} says when it came, the first of them is {truncate(mail.place, 60)}. "
                "Take the mails in another order: 'given' or 'shuffled'."
            )
        last[mail.label] = at
        times.append(at)
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
