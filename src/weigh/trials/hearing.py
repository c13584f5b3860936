"""Warnings of trials: kept for whoever runs them, whichever thread they come from."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from weigh import errors


class _Guard:
    """The one state of warnings that all threads share, as it was before any trial began.

    Python has one list of filters and one way to show warnings for the whole process. Trials that run at
    the same time and put back what each of them found would leave the filters of another behind, so the
    first to begin sets them, and the last to end puts them back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = 0
        self._outside = warnings.catch_warnings()
        self._shown: Any = warnings.showwarning
        self.here = threading.local()

    def begin(self) -> None:
        with self._lock:
            self._open += 1
            if self._open > 1:
                return
            self._shown, self._outside = warnings.showwarning, warnings.catch_warnings()
            self._outside.__enter__()
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", errors.WeighWarning)
            warnings.simplefilter("always", errors.NotOptimal)
            warnings.showwarning = self._show

    def end(self) -> None:
        with self._lock:
            self._open -= 1
            if not self._open:
                self._outside.__exit__(None, None, None)

    def _show(self, message: Any, category: Any, *where: Any, **more: Any) -> None:
        told = getattr(self.here, "told", None)
        if told is None:
            self._shown(message, category, *where, **more)
        else:
            told.append(message)


_guard = _Guard()


@contextmanager
def hearing() -> Iterator[list[Warning]]:
    """Begin trials: what `listening` hears until the end goes into the list."""
    _guard.begin()
    try:
        yield []
    finally:
        _guard.end()


@contextmanager
def listening(told: list[Warning]) -> Iterator[None]:
    """Keep the warnings of this thread."""
    before = getattr(_guard.here, "told", None)
    _guard.here.told = told
    try:
        yield
    finally:
        _guard.here.told = before
