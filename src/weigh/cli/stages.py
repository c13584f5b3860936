"""What is being done, told on a terminal once it takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 1.0  # seconds before anything is shown


@contextmanager
def stages(is_shown: bool = True) -> Iterator[Callable[[str], None]]:
    """A function that tells on a terminal what is being done, once it takes long; the line is taken away."""
    shown = is_shown and sys.stderr.isatty()
    start = time.monotonic()

    def say(what: str) -> None:
        if shown and time.monotonic() - start >= PATIENCE:
            sys.stderr.write(f"\r\033[K{what} …")
            sys.stderr.flush()

    try:
        yield say
    finally:
        if shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
