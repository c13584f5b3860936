"""Work that is done as a whole, or not at all, also when the user interrupts it."""

from __future__ import annotations

import threading
from collections.abc import Callable


def uninterrupted(work: Callable[[], None]) -> None:
    """Do work in a thread of its own, for an interrupt reaches only the main one.

    An interrupt before the work has begun leaves it undone; a later one waits until it is done.
    """
    begin, done, is_wanted = threading.Event(), threading.Event(), [False]
    failure: list[BaseException] = []

    def run() -> None:
        begin.wait()
        try:
            if is_wanted[0]:
                work()
        except BaseException as cause:
            failure.append(cause)
        finally:
            done.set()

    thread = threading.Thread(target=run)
    try:
        thread.start()
        is_wanted[0] = True
        begin.set()
        done.wait()
    except BaseException:
        # Even the start of a thread can be interrupted: until it is wanted, it does nothing.
        begin.set()
        # A thread that was joined once may be taken for ended though it is not: its own word counts.
        if is_wanted[0]:
            done.wait()
        raise
    if failure:
        raise failure[0]
