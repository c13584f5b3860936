"""Debian's bogofilter as a contestant, with a word list of its own that is gone with it."""

from __future__ import annotations

import math
import shutil
import subprocess
import tempfile
import time
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

from weigh import errors
from weigh._core import MailLedger
from weigh.apps.mail.evaluation.mail_stream import HAM, SPAM, UNSURE, Judgement, Mail
from weigh.apps.mail.features import FeatureExtractor
from weigh.apps.mail.verdict import Costs, Verdict
from weigh.text import truncate

if TYPE_CHECKING:
    from weigh.apps.mail.store import MailStore

BOGOFILTER_PROGRAM = "bogofilter"
VERDICT_BY_EXIT_STATUS = {0: SPAM, 1: HAM, 2: UNSURE}  # by its exit status
UNTRAINED_SPAMICITY = 0.52  # its robx: what it says of words, and so of mails, that it knows nothing of
MIN_SPAMICITY = 2.0**-53  # half of the step that decimals of 1 can be told with


class Bogofilter:
    """Debian's bogofilter with its own defaults, spam from a spamicity of 0.99 on.

    Each mail is one run of the program to judge and one to learn, which is how mail systems call it. The
    configuration files of the machine are not read; `options` are added to each call, such as
    ("--spam-cutoff=0.6",).

    Scores are log S / (1 - S) of the spamicity S, told with 16 decimals, for of fewer the ties would decide
    how well it ranks. Of the clearest mails of either kind S is 1, or 0, whatever the decimals: bogofilter
    takes tails below 2e-16 for none.
    """

    name = BOGOFILTER_PROGRAM

    def __init__(self, options: Sequence[str] = ()) -> None:
        program = shutil.which(BOGOFILTER_PROGRAM)
        if program is None:
            raise errors.Unsupported(
                "There is no program bogofilter on the PATH. Install it (Debian: apt-get install "
                "bogofilter), or try the filters without it."
            )
        folder = tempfile.mkdtemp(prefix="weigh-bogofilter-")
        self._remove_word_list = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._command = [program, "-C", "-d", folder, *options]
        self._has_learned = False

    @staticmethod
    def is_installed() -> bool:
        """Whether the program is on the PATH."""
        return shutil.which(BOGOFILTER_PROGRAM) is not None

    def judge(self, mail: Mail) -> Judgement:
        """Ask for the spamicity, whose verdict is the exit status."""
        if not self._has_learned:
            # It refuses to judge before there is a word list.
            return Judgement(_logit(UNTRAINED_SPAMICITY), UNSURE, UNTRAINED_SPAMICITY)
        spamicity, verdict = self._spamicity(mail)
        return Judgement(_logit(min(max(spamicity, MIN_SPAMICITY), 1.0 - MIN_SPAMICITY)), verdict, spamicity)

    def learn(self, mail: Mail, label: str) -> None:
        """Register a mail as spam or as ham."""
        task = "-s" if label == SPAM else "-n"
        if self._run(task, mail).returncode != 0:
            raise _bogofilter_error(task, mail)
        self._has_learned = True

    def close(self) -> None:
        """Remove the word list now, and not only with this object."""
        self._remove_word_list()

    def _spamicity(self, mail: Mail) -> tuple[float, str]:
        done = self._run("-TT", mail)
        if done.returncode not in VERDICT_BY_EXIT_STATUS or not done.stdout:
            raise _bogofilter_error("-TT", mail)
        return float(done.stdout), VERDICT_BY_EXIT_STATUS[done.returncode]

    def _run(self, task: str, mail: Mail) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*self._command, task],
            input=mail.content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            close_fds=False,  # spawned, and not forked from a large process
            check=False,
        )


def _bogofilter_error(task: str, mail: Mail) -> errors.DataError:
    return errors.DataError(
        f"bogofilter {task} failed on {truncate(mail.place, 60)} ({len(mail.content):,} bytes). "
        "Leave that mail out, or try the filters without bogofilter."
    )


def _logit(share: float) -> float:
    return math.log(share / (1.0 - share))


class HashedMails:
    """The prints of mails, made once for all learners; `seconds` is what one mail takes one processor."""

    def __init__(self, mails: Sequence[Mail], features: FeatureExtractor | None = None) -> None:
        contents = [mail.content for mail in mails]
        start = time.process_time()
        made = (features or FeatureExtractor()).hashed_features(contents)
        self.seconds = (time.process_time() - start) / max(1, len(contents))
        # A hash of bytes is kept with them, so that looking one up again costs next to nothing.
        self._by_content = dict(zip(contents, made, strict=True))

    def hashed_features(self, mail: Mail) -> bytes:
        """The print of one of the mails."""
        return self._by_content[mail.content]


class LearnerUnderTest:
    """A learner of the mail filter that knows nothing yet."""

    def __init__(self, name: str, prints: HashedMails, costs: Costs | None = None) -> None:
        self.name = name
        self.reading_seconds = prints.seconds
        self._hashed_mails, self._costs = prints, costs or Costs()
        self._ledger = MailLedger(name)

    def judge(self, mail: Mail) -> Judgement:
        """Judge by what was learned so far."""
        return _judgement(
            self._costs.verdict(self._ledger.judge([self._hashed_mails.hashed_features(mail)])[0])
        )

    def learn(self, mail: Mail, label: str) -> None:
        """Learn a mail."""
        self._ledger.learn([self._hashed_mails.hashed_features(mail)], bytes([label == SPAM]))


class StoreUnderTest:
    """What a store would have said; it learns nothing, and is left as it is."""

    name = "your store"

    def __init__(self, store: MailStore) -> None:
        self._store = store

    def judge(self, mail: Mail) -> Judgement:
        """Judge by what the store has learned."""
        return _judgement(self._store.judge([mail.content])[0])

    def learn(self, mail: Mail, label: str) -> None:
        """Learn nothing."""


def _judgement(verdict: Verdict) -> Judgement:
    return Judgement(verdict.score, verdict.label, verdict.probability)
