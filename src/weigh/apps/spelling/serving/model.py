"""The speller of a server: loaded from its file, and again whenever the file was learned anew."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Protocol

from weigh.apps.spelling.suggestion import Suggestion
from weigh.errors import WeighError

Mark = tuple[int, int, int] | None
LEARN = "Learn one from text of your own (weigh spell learn FOLDER -o FILE)"


class Checker(Protocol):
    """What a server asks of a speller."""

    def check(self, text: str, *, name: str = ...) -> list[Suggestion]:
        """The suggestions for a text; its name says how it is to be read."""


class Model:
    """A speller in a file. Any thread may ask for it; trouble is told once, and an older speller stays."""

    def __init__(self, path: str | None, load: Callable[[str], Checker] | None = None) -> None:
        self.path = path
        self._load = load or _loaded
        self._turn = threading.Lock()
        self._seen: Mark | str = "nothing yet"
        self._speller: Checker | None = None
        self._trouble: str | None = None

    def current(self) -> Checker | None:
        """The speller as its file is now."""
        with self._turn:
            mark = self._mark()
            if mark != self._seen:
                # A file that is replaced while it is read has another mark, and is read again.
                self._seen = mark
                self._take()
            return self._speller

    @property
    def loaded(self) -> Checker | None:
        """The speller as it was last asked for."""
        return self._speller

    def trouble(self) -> str | None:
        """What was wrong with the file, if it has not been told yet."""
        with self._turn:
            told, self._trouble = self._trouble, None
            return told

    def _take(self) -> None:
        if self.path is None:
            self._trouble = f"There is no speller. {LEARN}, and give the file as the setting model."
            return
        try:
            self._speller = self._load(self.path)
            self._trouble = None
        except Exception as error:
            told = str(error) if isinstance(error, WeighError) else f"{self.path}: {type(error).__name__}."
            if self._seen is None:
                told = (
                    f"{self.path}: there is no such speller. {LEARN}, or give another as the setting model."
                )
            self._trouble = told + (" The speller loaded before stays in use." if self._speller else "")

    def _mark(self) -> Mark:
        """What changes when a file is replaced or rewritten."""
        try:
            found = os.stat(self.path or "")
        except (OSError, ValueError):
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size


def _loaded(path: str) -> Checker:
    from weigh.apps.spelling.speller import Speller

    return Speller.load(path)
