"""Progress of reading and learning on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from weigh.cli.output.text import show_stages
from weigh.text import format_count

if TYPE_CHECKING:
    from weigh.apps.spelling.documents import Document

BYTES_PER_MEGABYTE = 1_000_000


class ProgressMeter:
    """Shows the amount of text read, the steps done and the elapsed time."""

    def __init__(self, show: Callable[[str], None], n_steps: int) -> None:
        self._show, self._n_steps = show, n_steps
        self._start = time.monotonic()
        self._n_bytes = self._n_steps_done = 0

    def report_learning(self, size: int) -> None:
        """Count `size` bytes read or, if it is 0, one completed step of learning."""
        self._n_bytes += size
        self._n_steps_done += not size
        self._update(f"{100 * self._n_steps_done // self._n_steps} % learned" if self._n_steps_done else "")

    def track_documents(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents, and count their bytes as they are read."""
        for document in documents:
            yield replace(document, pieces=self._track_pieces(document.pieces))

    def report_steps(self, done: int, total: int) -> None:
        """Show the number of completed steps."""
        self._update(f"{format_count(done)} of {format_count(total)} steps")

    def _track_pieces(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            yield piece
            self._n_bytes += len(piece)
            self._update("")

    def _update(self, steps: str) -> None:
        read = f"{self._n_bytes / BYTES_PER_MEGABYTE:,.1f} MB of text read" if self._n_bytes else ""
        elapsed = f"{time.monotonic() - self._start:.0f} s"
        self._show(", ".join(part for part in (read, steps, elapsed) if part))


@contextmanager
def show_progress(n_steps: int = 1) -> Iterator[ProgressMeter]:
    """Show the progress of long work with `n_steps` steps of learning."""
    with show_stages() as show:
        yield ProgressMeter(show, n_steps)
