"""Our own filters on trial: learners that begin with nothing, and a store as it is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from weigh._core import MailLedger
from weigh.apps.mail.features import Features
from weigh.apps.mail.trial.contestant import SPAM, Mail, Opinion
from weigh.apps.mail.verdict import Costs, Verdict

if TYPE_CHECKING:
    from weigh.apps.mail.store import MailStore


class Prints:
    """The prints of mails, made once for all learners; `seconds` is what one mail takes one processor."""

    def __init__(self, mails: Sequence[Mail], features: Features | None = None) -> None:
        contents = [mail.content for mail in mails]
        start = time.process_time()
        made = (features or Features()).prints(contents)
        self.seconds = (time.process_time() - start) / max(1, len(contents))
        # A hash of bytes is kept with them, so that looking one up again costs next to nothing.
        self._prints = dict(zip(contents, made, strict=True))

    def of(self, mail: Mail) -> bytes:
        """The print of one of the mails."""
        return self._prints[mail.content]


class LearnerOnTrial:
    """A learner of the mail filter that knows nothing yet."""

    def __init__(self, name: str, prints: Prints, costs: Costs | None = None) -> None:
        self.name = name
        self.reading_seconds = prints.seconds
        self._prints, self._costs = prints, costs or Costs()
        self._ledger = MailLedger(name)

    def judge(self, mail: Mail) -> Opinion:
        """Judge by what was learned so far."""
        return _opinion(self._costs.verdict(self._ledger.judge([self._prints.of(mail)])[0]))

    def learn(self, mail: Mail, label: str) -> None:
        """Learn a mail."""
        self._ledger.learn([self._prints.of(mail)], bytes([label == SPAM]))


class StoreOnTrial:
    """What a store would have said; it learns nothing, and is left as it is."""

    name = "your store"

    def __init__(self, store: MailStore) -> None:
        self._store = store

    def judge(self, mail: Mail) -> Opinion:
        """Judge by what the store has learned."""
        return _opinion(self._store.judge([mail.content])[0])

    def learn(self, mail: Mail, label: str) -> None:
        """Learn nothing."""


def _opinion(verdict: Verdict) -> Opinion:
    return Opinion(verdict.score, verdict.label, verdict.probability)
