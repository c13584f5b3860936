"""Filters under test: the learners of `weigh`, an existing store, and Debian's bogofilter."""

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
VERDICT_BY_EXIT_STATUS = {0: SPAM, 1: HAM, 2: UNSURE}
UNTRAINED_SPAMICITY = 0.52  # bogofilter's robx, the spamicity of unknown words
MIN_SPAMICITY = 2.0**-53  # half the spacing of doubles just below 1


class HashedMails:
    """The hashed features of mails, extracted once for all learners.

    `seconds` is the processor time per mail.
    """

    def __init__(self, mails: Sequence[Mail], features: FeatureExtractor | None = None) -> None:
        contents = [mail.content for mail in mails]
        start = time.process_time()
        hashed = (features or FeatureExtractor()).hashed_features(contents)
        self.seconds = (time.process_time() - start) / max(1, len(contents))
        # Python caches the hash of a bytes object, so that repeated lookups are cheap.
        self._by_content = dict(zip(contents, hashed, strict=True))

    def hashed_features(self, mail: Mail) -> bytes:
        """Return the hashed features of one of the mails."""
        return self._by_content[mail.content]


class LearnerUnderTest:
    """A learner of the mail filter, initially untrained."""

    def __init__(self, name: str, hashed_mails: HashedMails, costs: Costs | None = None) -> None:
        self.name = name
        self.reading_seconds = hashed_mails.seconds
        self._hashed_mails, self._costs = hashed_mails, costs or Costs()
        self._ledger = MailLedger(name)

    def judge(self, mail: Mail) -> Judgement:
        """Judge a mail by what was learned so far."""
        (score,) = self._ledger.judge([self._hashed_mails.hashed_features(mail)])
        return _judgement(self._costs.verdict(score))

    def learn(self, mail: Mail, label: str) -> None:
        """Learn a mail."""
        self._ledger.learn([self._hashed_mails.hashed_features(mail)], bytes([label == SPAM]))


class StoreUnderTest:
    """An existing store, which judges but does not learn."""

    name = "your store"

    def __init__(self, store: MailStore) -> None:
        self._store = store

    def judge(self, mail: Mail) -> Judgement:
        """Judge a mail by what the store has learned."""
        return _judgement(self._store.judge([mail.content])[0])

    def learn(self, mail: Mail, label: str) -> None:
        """Do nothing."""


def _judgement(verdict: Verdict) -> Judgement:
    return Judgement(verdict.score, verdict.label, verdict.probability)


class Bogofilter:
    """Debian's bogofilter with its defaults: spam from a spamicity of 0.99, in a temporary word list.

    Each mail takes one run of the program to judge and one to learn, as mail systems call it. Configuration
    files are not read; `options` are added to each call, such as ("--spam-cutoff=0.6",).

    The score is logit(S) of the spamicity S. S is printed with 16 decimals, since with fewer ties would
    distort the ranking. For the clearest mails S is still exactly 0 or 1, because bogofilter treats tail
    probabilities below 2e-16 as zero.
    """

    name = BOGOFILTER_PROGRAM

    def __init__(self, options: Sequence[str] = ()) -> None:
        program = shutil.which(BOGOFILTER_PROGRAM)
        if program is None:
            raise errors.Unsupported(
                "There is no program bogofilter on the PATH. Install it (Debian: apt-get install "
                "bogofilter), or evaluate the filters without it."
            )
        folder = tempfile.mkdtemp(prefix="weigh-bogofilter-")
        self._remove_word_list = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._command = [program, "-C", "-d", folder, *options]
        self._has_learned = False

    @staticmethod
    def is_installed() -> bool:
        """Return whether the program is on the PATH."""
        return shutil.which(BOGOFILTER_PROGRAM) is not None

    def judge(self, mail: Mail) -> Judgement:
        """Judge a mail by its spamicity; the verdict is the exit status."""
        if not self._has_learned:
            # Bogofilter fails if it has no word list yet.
            return Judgement(_logit(UNTRAINED_SPAMICITY), UNSURE, UNTRAINED_SPAMICITY)
        spamicity, verdict = self._spamicity(mail)
        return Judgement(_logit(min(max(spamicity, MIN_SPAMICITY), 1.0 - MIN_SPAMICITY)), verdict, spamicity)

    def learn(self, mail: Mail, label: str) -> None:
        """Register a mail as spam or as ham."""
        option = "-s" if label == SPAM else "-n"
        if self._run(option, mail).returncode != 0:
            raise _bogofilter_error(option, mail)
        self._has_learned = True

    def close(self) -> None:
        """Remove the word list now; otherwise it is removed with this object."""
        self._remove_word_list()

    def _spamicity(self, mail: Mail) -> tuple[float, str]:
        process = self._run("-TT", mail)
        if process.returncode not in VERDICT_BY_EXIT_STATUS or not process.stdout:
            raise _bogofilter_error("-TT", mail)
        return float(process.stdout), VERDICT_BY_EXIT_STATUS[process.returncode]

    def _run(self, option: str, mail: Mail) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*self._command, option],
            input=mail.content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            close_fds=False,  # allows posix_spawn, which is faster than forking a large process
            check=False,
        )


def _bogofilter_error(option: str, mail: Mail) -> errors.DataError:
    return errors.DataError(
        f"bogofilter {option} failed on {truncate(mail.place, 60)} ({len(mail.content):,} bytes). "
        "Leave that mail out, or evaluate the filters without bogofilter."
    )


def _logit(probability: float) -> float:
    return math.log(probability / (1.0 - probability))
