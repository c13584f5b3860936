"""What the program adds to the writing of files: clean-up when a signal ends it, and notes about links."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from weigh.atomic_files import remove_own_drafts
from weigh.cli.output.text import show_note


@contextmanager
def write_context(path: str, target: str) -> Iterator[None]:
    """Remove the draft of a file if a signal ends the program, and report that a link was followed."""
    with _remove_drafts_on_termination():
        yield
    if os.path.islink(path):
        show_note(f"{path} is a link to {target}; that file was replaced, the link stays.")


@contextmanager
def _remove_drafts_on_termination() -> Iterator[None]:
    """Handle SIGTERM and SIGHUP during the block.

    Only while there is a draft: Python calls its handlers between two steps of Python code, and otherwise the
    signals must end the program at once, in long native code too. Signals that are ignored (as with nohup),
    or that a command such as `mail serve` handles, are left alone.
    """
    import signal
    import threading

    def end(number: int, frame: object) -> None:
        remove_own_drafts()
        # The parent process must see that the signal ended this one.
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    numbers = []
    if threading.current_thread() is threading.main_thread():
        candidates = (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP"))
        numbers = [number for number in candidates if number and signal.getsignal(number) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
