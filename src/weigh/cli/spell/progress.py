"""Text that is read and learned: how much there was, how far it is and how long it took, on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from weigh.cli.output import show_stages
from weigh.text import format_count

if TYPE_CHECKING:
    from weigh.apps.spelling.documents import Document

BYTES_PER_MEGABYTE = 1_000_000


class ProgressMeter:
    """Says how far the work is; `learning` is how many steps are left when all text has been read."""

    def __init__(self, say: Callable[[str], None], learning: int) -> None:
        self._say, self._steps_to_learn = say, learning
        self._start = time.monotonic()
        self._bytes = self._steps_learned = 0

    def report_learning(self, size: int) -> None:
        """Note that so many bytes were read or, if there are none, that one more step of learning is done."""
        self._bytes += size
        self._steps_learned += not size
        self._update(
            f"{100 * self._steps_learned // self._steps_to_learn} % learned" if self._steps_learned else ""
        )

    def track_documents(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents, told as they are read."""
        for document in documents:
            yield replace(document, pieces=self._track_pieces(document.pieces))

    def report_steps(self, done: int, total: int) -> None:
        """Note that so many steps of all are done."""
        self._update(f"{format_count(done)} of {format_count(total)} steps")

    def _track_pieces(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            yield piece
            self._bytes += len(piece)
            self._update("")

    def _update(self, what: str) -> None:
        read = f"{self._bytes / BYTES_PER_MEGABYTE:,.1f} MB of text read" if self._bytes else ""
        taken = f"{time.monotonic() - self._start:.0f} s"
        self._say(", ".join(part for part in (read, what, taken) if part))


@contextmanager
def show_progress(learning: int = 1) -> Iterator[ProgressMeter]:
    """Something to tell the progress of reading and learning to, shown while it takes long."""
    with show_stages() as say:
        yield ProgressMeter(say, learning)
