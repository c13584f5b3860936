"""Signs of life of long work, for people who see no progress bar: plain lines on standard error."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

NOTE_INTERVAL = 10.0  # seconds


class Heartbeat:
    """Calls a function regularly, in a thread of its own, until it is closed."""

    def __init__(self, beat: Callable[[], None]) -> None:
        self._beat = beat
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._done.wait(NOTE_INTERVAL):
            self._beat()

    def close(self) -> None:
        """Stop the calls."""
        self._done.set()
        self._thread.join()


def note_progress(progress: str) -> None:
    """Write a line that says how far the work is; standard output stays as it is."""
    try:
        sys.stderr.write(f"weigh: note: still working: {progress}\n")
        sys.stderr.flush()
    except (OSError, ValueError):  # nobody reads standard error any more
        pass


def format_time_left(elapsed: float, done: float, total: float | None) -> str:
    """Return ", about 40 s left", or nothing while it cannot be estimated."""
    if not total or not 0 < done < total:
        return ""
    seconds = elapsed * (total - done) / done
    return f", about {seconds:.0f} s left" if seconds < 100 else f", about {seconds / 60:.0f} min left"
