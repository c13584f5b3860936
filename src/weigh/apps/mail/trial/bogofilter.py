"""Debian's bogofilter as a contestant, with a word list of its own that is gone with it."""

from __future__ import annotations

import math
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Sequence

from weigh import errors
from weigh.apps.mail.trial.contestant import HAM, SPAM, UNSURE, Mail, Opinion
from weigh.text import cut

PROGRAM = "bogofilter"
VERDICTS = {0: SPAM, 1: HAM, 2: UNSURE}  # by its exit status
UNTRAINED = 0.52  # its robx: what it says of words, and so of mails, that it knows nothing of
LEAST = 2.0**-53  # half of the step that decimals of 1 can be told with


class Bogofilter:
    """Debian's bogofilter with its own defaults, spam from a spamicity of 0.99 on.

    Each mail is one run of the program to judge and one to learn, which is how mail systems call it. The
    configuration files of the machine are not read; `options` are added to each call, such as
    ("--spam-cutoff=0.6",).

    Scores are log S / (1 - S) of the spamicity S, told with 16 decimals, for of fewer the ties would decide
    how well it ranks. Of the clearest mails of either kind S is 1, or 0, whatever the decimals: bogofilter
    takes tails below 2e-16 for none.
    """

    name = PROGRAM

    def __init__(self, options: Sequence[str] = ()) -> None:
        program = shutil.which(PROGRAM)
        if program is None:
            raise errors.Unsupported(
                "There is no program bogofilter on the PATH. Install it (Debian: apt-get install "
                "bogofilter), or try the filters without it."
            )
        folder = tempfile.mkdtemp(prefix="weigh-bogofilter-")
        self._gone = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._call = [program, "-C", "-d", folder, *options]
        self._has_learned = False

    @staticmethod
    def is_installed() -> bool:
        """Whether the program is on the PATH."""
        return shutil.which(PROGRAM) is not None

    def judge(self, mail: Mail) -> Opinion:
        """Ask for the spamicity, whose verdict is the exit status."""
        if not self._has_learned:
            # It refuses to judge before there is a word list.
            return Opinion(_logit(UNTRAINED), UNSURE, UNTRAINED)
        spamicity, verdict = self._said(mail)
        return Opinion(_logit(min(max(spamicity, LEAST), 1.0 - LEAST)), verdict, spamicity)

    def learn(self, mail: Mail, label: str) -> None:
        """Register a mail as spam or as ham."""
        task = "-s" if label == SPAM else "-n"
        if self._run(task, mail).returncode != 0:
            raise _failure(task, mail)
        self._has_learned = True

    def close(self) -> None:
        """Remove the word list now, and not only with this object."""
        self._gone()

    def _said(self, mail: Mail) -> tuple[float, str]:
        done = self._run("-TT", mail)
        if done.returncode not in VERDICTS or not done.stdout:
            raise _failure("-TT", mail)
        return float(done.stdout), VERDICTS[done.returncode]

    def _run(self, task: str, mail: Mail) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*self._call, task],
            input=mail.content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            close_fds=False,  # spawned, and not forked from a large process
            check=False,
        )


def _failure(task: str, mail: Mail) -> errors.DataError:
    return errors.DataError(
        f"bogofilter {task} failed on {cut(mail.place, 60)} ({len(mail.content):,} bytes). "
        "Leave that mail out, or try the filters without bogofilter."
    )


def _logit(share: float) -> float:
    return math.log(share / (1.0 - share))
