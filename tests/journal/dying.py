"""Writers that learn and fold, and die at each call of the system."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from tests.journal.ledger import Ledger, record

CALLS = ("open", "close", "pwrite", "fsync", "replace", "unlink", "ftruncate", "fchmod")


class Countdown:
    """Calls of the system, of which one is not made but has another end."""

    def __init__(self, left: int, end: Callable[[], None]) -> None:
        self.left = left
        self.end = end
        self.names: list[str] = []

    def wrapped(self, name: str) -> Callable[..., Any]:
        call: Callable[..., Any] = getattr(os, name)

        def counted(*given: Any) -> Any:
            self.names.append(name)
            self.left -= 1
            if self.left == 0:
                if name == "pwrite":
                    descriptor, data, at = given
                    call(descriptor, data[: len(data) // 2], at)
                self.end()
            return call(*given)

        return counted


def learn_and_fold(folder: str, keep: bool) -> None:
    ledger = Ledger(folder)
    with ledger.journal.transaction() as turn:
        turn.append([record("new"), record("newer", 2, b"payload")])
        turn.compact(ledger.write, keep=keep)


def die(folder: str, keep: bool, step: int) -> None:
    countdown = Countdown(step, lambda: os._exit(9))
    for name in CALLS:
        setattr(os, name, countdown.wrapped(name))
    learn_and_fold(folder, keep)


def main(keep: bool, folders: list[str]) -> None:
    """In every folder, die one step later than in the one before."""
    for step, folder in enumerate(folders, start=1):
        child = os.fork()
        if not child:
            die(folder, keep, step)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    main(sys.argv[1] == "keep", sys.argv[2:])
