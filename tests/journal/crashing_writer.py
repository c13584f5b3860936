"""Writers that append and compact, and die at a chosen system call."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from tests.journal.ledger import Ledger, record

CALLS = ("open", "close", "pwrite", "fsync", "replace", "unlink", "ftruncate", "fchmod")


class Countdown:
    """Counts system calls and runs `action` at the n-th one, after half of a write."""

    def __init__(self, n: int, action: Callable[[], None]) -> None:
        self.remaining = n
        self.action = action
        self.names: list[str] = []

    def wrap(self, name: str) -> Callable[..., Any]:
        call: Callable[..., Any] = getattr(os, name)

        def counting_call(*args: Any) -> Any:
            self.names.append(name)
            self.remaining -= 1
            if self.remaining == 0:
                if name == "pwrite":
                    descriptor, data, offset = args
                    call(descriptor, data[: len(data) // 2], offset)
                self.action()
            return call(*args)

        return counting_call


def append_and_compact(folder: str, keep: bool) -> None:
    ledger = Ledger(folder)
    with ledger.journal.transaction() as transaction:
        transaction.append([record("new"), record("newer", 2, b"payload")])
        transaction.compact(ledger.write, keep_records=keep)


def die(folder: str, keep: bool, step: int) -> None:
    countdown = Countdown(step, lambda: os._exit(9))
    for name in CALLS:
        setattr(os, name, countdown.wrap(name))
    append_and_compact(folder, keep)


def main(keep: bool, folders: list[str]) -> None:
    """In each folder, die one step later than in the previous one."""
    for step, folder in enumerate(folders, start=1):
        child = os.fork()
        if not child:
            die(folder, keep, step)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    main(sys.argv[1] == "keep", sys.argv[2:])
