"""A progress bar for long readings, on a terminal only."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

from weigh.source import Source

PATIENCE = 1.0  # seconds before anything is shown


class Bar:
    """Shows how much of a source has been read; nothing for what is done within a second."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._start = time.monotonic()
        self._rows = 0
        self._lock = threading.Lock()
        self._bar: Any = None
        self._task: Any = None
        self._shown = sys.stderr.isatty()

    def __call__(self, rows: int) -> None:
        """Note that so many more rows were counted; may be called from any thread."""
        with self._lock:
            self._rows += rows
            if not self._shown or time.monotonic() - self._start < PATIENCE:
                return
            if self._bar is None:
                self._begin()
            done = self._source.bytes_read if self._source.bytes_total else self._rows
            self._bar.update(self._task, completed=done, rows=f"{self._rows:,} rows")

    def _begin(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[rows]}"),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("", total=self._source.bytes_total or self._source.n_rows, rows="")
        self._bar.start()

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
