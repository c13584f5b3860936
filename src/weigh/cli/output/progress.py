"""Progress of long work: bars on a terminal after a second, plain lines elsewhere every ten seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from weigh.cli.output.heartbeat import Heartbeat, format_time_left, note_progress
from weigh.cli.output.text import PROGRESS_DELAY
from weigh.source.base import CHUNK_ROWS, ChunkReader, ColumnKinds, Source
from weigh.source.chunk import Chunk
from weigh.source.selected_rows import WrappedSource


class RowProgress:
    """A bar that shows how much of a source has been read, after a delay."""

    def __init__(self, source: Source, is_shown: bool = True) -> None:
        self.source = source
        self._start = time.monotonic()
        self._rows = 0
        self._lock = threading.Lock()
        self._bar: Any = None
        self._is_shown = is_shown and sys.stderr.isatty()
        self._heartbeat = Heartbeat(self._note) if is_shown else None

    def _note(self) -> None:
        """Write how far the work is, unless a bar shows it."""
        if self._bar is None:
            total = self.source.bytes_total or self.source.n_rows
            done = self.source.bytes_read if self.source.bytes_total else self._rows
            left = format_time_left(time.monotonic() - self._start, done, total)
            part = f" ({100 * done / total:.0f}%)" if left and total else ""
            state = f"{self._rows:,} rows are read{part}{left}" if left else self._describe_without_total()
            note_progress(state)

    def _describe_without_total(self) -> str:
        elapsed = f"{time.monotonic() - self._start:.0f} s so far"
        return f"{self._rows:,} rows are read, {elapsed}" if self._rows else elapsed

    def __call__(self, rows: int) -> None:
        """Add rows that were processed; may be called from any thread."""
        with self._lock:
            self._rows += rows
            if not self._is_shown or time.monotonic() - self._start < PROGRESS_DELAY:
                return
            if self._bar is None:
                self._bar = _start_bar(self.source.bytes_total or self.source.n_rows)
            done = self.source.bytes_read if self.source.bytes_total else self._rows
            self._bar.update(0, completed=done, rows=f"{self._rows:,} rows")

    def begin_pass(self, source: Source) -> None:
        """Count the rows of a source that is read from its beginning."""
        with self._lock:
            self.source, self._rows = source, 0

    def close(self) -> None:
        """Remove the bar."""
        if self._heartbeat is not None:
            self._heartbeat.close()
        if self._bar is not None:
            self._bar.stop()


def _start_bar(total: int | None) -> Any:
    """Start a bar on standard error with one task, number 0."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rows]}"),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.add_task("", total=total, rows="")
    bar.start()
    return bar


class ProgressSource(WrappedSource):
    """A source that reports every processed chunk to a progress bar."""

    def __init__(self, source: Source, bar: RowProgress) -> None:
        super().__init__(source)
        self._bar = bar

    def wrap(self, source: Source) -> Source:
        """Return a variant of the source with the same bar."""
        return self if source is self.source else ProgressSource(source, self._bar)

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Yield the readers of all rows, and report each when the next one is requested."""
        self._bar.begin_pass(self.source)
        for reader in self.source.chunk_readers(kinds, size):
            yield reader
            self._bar(reader.n_rows)

    def _read_prefix(self, n: int, kinds: ColumnKinds | None) -> Chunk:
        return self.source.prefix(n, kinds)  # which the bar does not count

    def format_place(self, row: int) -> str:
        """Return the place of one of the first rows."""
        return self.source.format_place(row)


@contextmanager
def show_row_progress(source: Source, is_shown: bool = True) -> Iterator[Source]:
    """Yield the source with a bar that is shown while it is read."""
    bar = RowProgress(source, is_shown)
    try:
        yield ProgressSource(source, bar)
    finally:
        bar.close()


class JobProgress:
    """A bar that shows how many fits are done, after a delay."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._start = time.monotonic()
        self._bar: Any = None
        self._is_shown = sys.stderr.isatty()
        self._done, self._total = 0, 0
        self._heartbeat = Heartbeat(self._note)

    def _note(self) -> None:
        """Write how far the work is, unless a bar shows it."""
        if self._bar is None:
            elapsed = time.monotonic() - self._start
            left = format_time_left(elapsed, self._done, self._total)
            if self._total:
                note_progress(f"{self._done:,} of {self._total:,} {self._what}{left}")
            else:
                note_progress(f"{elapsed:.0f} s so far")

    def __call__(self, done: int, total: int) -> None:
        """Set how many of all jobs are done."""
        self._done, self._total = done, total
        if not self._is_shown or time.monotonic() - self._start < PROGRESS_DELAY:
            return
        if self._bar is None:
            self._bar = _start_bar(total)
        self._bar.update(0, completed=done, total=total, rows=f"{done:,} of {total:,} {self._what}")

    def close(self) -> None:
        """Remove the bar."""
        self._heartbeat.close()
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def show_job_progress(what: str = "trials") -> Iterator[JobProgress]:
    """Yield a progress callback whose bar is shown while the jobs run."""
    progress = JobProgress(what)
    try:
        yield progress
    finally:
        progress.close()
