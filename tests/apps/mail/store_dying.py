"""Writers that move and unlearn messages and fold, and die at each call of the system."""

from __future__ import annotations

import os
import sys

from tests.apps.mail.letters import ham, spam
from tests.journal.dying import CALLS as OF_JOURNALS
from tests.journal.dying import Countdown
from weigh.apps.mail.store import MailStore

CALLS = (*OF_JOURNALS, "chmod")

# What is learned before, and after one message has moved and others were unlearned, in order.
BEFORE = [*((ham(n), "ham") for n in range(4)), *((spam(n), "spam") for n in range(3)), (ham(7), "ham")]
CHANGES = ((ham(0), 0), (ham(1), 0), (ham(2), 0), (spam(0), 1))
AFTER = [*(each for each in BEFORE if each[0] not in dict(CHANGES)), (spam(0), "ham")]


def begin(store: MailStore) -> None:
    """Learn what comes before, the most of it folded."""
    for at, (content, label) in enumerate(BEFORE):
        if at == len(BEFORE) - 2:
            store.fold()
        store.learn([content], label)


def change_and_fold(folder: str) -> None:
    """One turn that moves and unlearns, if it has not been taken, and a fold."""
    store = MailStore.open(folder)
    with store._journal.writing() as turn:
        store._held = None
        changes = []
        for content, mark in CHANGES:
            (seen,) = store._seen([content], mark)
            changes.append(seen._replace(old=turn.mark(seen.key)))
        turn.append([change.record for change in changes])
        store._fold(turn)


def die(folder: str, step: int) -> None:
    countdown = Countdown(step, lambda: os._exit(9))
    for name in CALLS:
        setattr(os, name, countdown.wrapped(name))
    change_and_fold(folder)


def main(folders: list[str]) -> None:
    """In every folder, die one step later than in the one before."""
    for step, folder in enumerate(folders, start=1):
        child = os.fork()
        if not child:
            die(folder, step)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
