"""One writer at a time, between processes and between threads."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

from weigh.errors import JournalError
from weigh.journal.disk import telling

_PAUSE = 0.0005
_LONGEST_PAUSE = 0.02


def require_locks(path: str) -> None:
    """Refuse a system without the locks that a journal needs."""
    try:
        import fcntl  # noqa: F401
    except ImportError:
        raise JournalError(
            f"{path}: a journal needs the file locks of Unix (fcntl), which this system does not have. "
            "Use Linux or macOS, or the Linux subsystem of Windows."
        ) from None


@contextlib.contextmanager
def locked(path: str, patience: float) -> Iterator[None]:
    """Hold the lock that belongs to a journal, waiting for it as long as `patience` allows.

    There are two locks, in files that are never deleted. Whoever is first in the queue looks for the lock
    often, and the one who has just let go of it has to queue first; with one lock alone, a busy writer
    would take it again and again before anybody else looks.
    """
    until = time.monotonic() + patience
    with _opened(f"{path}.lock") as lock:
        with _opened(f"{path}.queue") as queue:
            locks = _taken(queue, until, _LONGEST_PAUSE) and _taken(lock, until, _PAUSE)
        if not locks:
            raise JournalError(
                f"{path}.lock is taken: another program, or another part of this one, is writing and has not "
                f"finished within {patience:g} s. Try again, or wait longer: Journal(path, patience=...)."
            )
        yield


@contextlib.contextmanager
def _opened(path: str) -> Iterator[int]:
    # Every turn opens the file anew: a lock belongs to an opening, so that threads exclude each other as
    # well.
    with telling(path, "written"):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _taken(descriptor: int, until: float, longest_pause: float) -> bool:
    """Whether the lock of a file could be taken in time."""
    import fcntl

    pause = _PAUSE
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        left = until - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(pause, left))
        pause = min(2 * pause, longest_pause)
