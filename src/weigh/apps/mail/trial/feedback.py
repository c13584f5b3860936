"""When a filter is told what a mail really was."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from weigh import errors
from weigh.apps.mail.trial.contestant import Mail
from weigh.text import counted

OWNER = "Feedback"


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
            raise errors.parameter(OWNER, "delay", "a whole number of at least 0", self.delay)
        if not 0.0 <= self.share <= 1.0:
            raise errors.parameter(OWNER, "share", "a number from 0 to 1", self.share)

    def is_given(self, mail: Mail, verdict: str) -> bool:
        """Whether the label of a mail is ever given, once a filter has said its verdict."""
        if self.errors_only and verdict == mail.label:
            return False
        return self.share >= 1.0 or drawn(mail.content, self.seed, b"label") < self.share

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
        when = f"after {counted(self.delay, 'further mail')}" if self.delay else "at once"
        return f"{which}{who} {when}"


def drawn(content: bytes, seed: int, purpose: bytes) -> float:
    """A number from 0 to 1 that hangs on a content and a seed alone, the same on every machine."""
    digest = blake2b(content, digest_size=8, key=str(seed).encode()[:64], person=purpose).digest()
    return int.from_bytes(digest, "big") / 2.0**64
