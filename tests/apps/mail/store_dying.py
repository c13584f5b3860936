"""Writers that move and unlearn messages and fold, and die at each system call."""

from __future__ import annotations

import os
import sys

from tests.apps.mail.sample_mails import ham, spam
from tests.journal.crashing_writer import CALLS as OF_JOURNALS
from tests.journal.crashing_writer import Countdown
from weigh.apps.mail.store import MailStore

CALLS = (*OF_JOURNALS, "chmod")

# The learned messages in order: at first, after unlearning some, and after moving one.
BEFORE = [*((ham(n), "ham") for n in range(4)), *((spam(n), "spam") for n in range(3)), (ham(7), "ham")]
UNLEARNED = [ham(0), ham(1), ham(2)]
MOVED = spam(0)
BETWEEN = [each for each in BEFORE if each[0] not in UNLEARNED]
AFTER = [*(each for each in BETWEEN if each[0] != MOVED), (MOVED, "ham")]
STATES = (BEFORE, BETWEEN, AFTER)


def begin(store: MailStore) -> None:
    """Learn the first messages, most of them folded."""
    for i, (content, label) in enumerate(BEFORE):
        if i == len(BEFORE) - 2:
            store.fold()
        store.learn([content], label)


def change_and_fold(folder: str) -> None:
    """Unlearn and move messages unless already done, and fold; every failure raises."""
    store = MailStore.open(folder)
    store.unlearn(UNLEARNED, tidy=False)
    store.learn([MOVED], "ham", tidy=False)
    store.fold()


def die(folder: str, step: int) -> None:
    countdown = Countdown(step, lambda: os._exit(9))
    for name in CALLS:
        setattr(os, name, countdown.wrap(name))
    change_and_fold(folder)


def main(folders: list[str]) -> None:
    """In each folder, die one step later than in the previous one."""
    for step, folder in enumerate(folders, start=1):
        child = os.fork()
        if not child:
            die(folder, step)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
