"""Text that is read and learned: how much there was, how far it is and how long it took, on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from weigh.cli.stages import stages
from weigh.text import amount

if TYPE_CHECKING:
    from weigh.apps.spelling.documents import Document

MEGABYTE = 1_000_000


class Watch:
    """Says how far the work is; `learning` is how many steps are left when all text has been read."""

    def __init__(self, say: Callable[[str], None], learning: int) -> None:
        self._say, self._learning = say, learning
        self._start = time.monotonic()
        self._bytes = self._learned = 0

    def learned(self, size: int) -> None:
        """Note that so many bytes were read or, if there are none, that one more step of learning is done."""
        self._bytes += size
        self._learned += not size
        self._tell(f"{100 * self._learned // self._learning} % learned" if self._learned else "")

    def passing(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents, told as they are read."""
        for document in documents:
            yield replace(document, pieces=self._read(document.pieces))

    def steps(self, done: int, total: int) -> None:
        """Note that so many steps of all are done."""
        self._tell(f"{amount(done)} of {amount(total)} steps")

    def _read(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            yield piece
            self._bytes += len(piece)
            self._tell("")

    def _tell(self, what: str) -> None:
        read = f"{self._bytes / MEGABYTE:,.1f} MB of text read" if self._bytes else ""
        taken = f"{time.monotonic() - self._start:.0f} s"
        self._say(", ".join(part for part in (read, what, taken) if part))


@contextmanager
def watching(learning: int = 1) -> Iterator[Watch]:
    """Something to tell the progress of reading and learning to, shown while it takes long."""
    with stages() as say:
        yield Watch(say, learning)
