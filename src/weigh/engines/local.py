"""The local engine: the threads of this machine fold a task over the chunks of a source."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from weigh import errors
from weigh.learn import Task
from weigh.source import Chunk, Source

Counts = TypeVar("Counts")
Model = TypeVar("Model")
Progress = Callable[[int], None]


def run(
    task: Task[Counts, Model],
    source: Source,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Model:
    """Return the model a task makes of a source.

    `threads` left out means all cores this process may use; any number gives the same model.
    `progress` is called with the number of rows of each chunk that has been counted.
    """
    if threads is not None and threads < 1:
        raise errors.parameter("fit", "threads", "at least 1", threads)
    wanted = threads or len(os.sched_getaffinity(0))
    chunks = _Shared(task.chunks(source))
    small = source.n_rows is not None and source.n_rows <= 20_000
    workers = 1 if small else wanted
    if workers == 1:
        parts = [_fold(task, chunks, progress)]
    else:
        with ThreadPoolExecutor(workers) as pool:
            jobs = [pool.submit(_fold, task, chunks, progress) for _ in range(workers)]
            parts = [job.result() for job in jobs]
    counted = [part for part in parts if part is not None]
    if not counted:
        raise errors.DataError("There are no rows to learn from.")
    total = counted[0]
    for part in counted[1:]:
        total = task.merge(total, part)
    return task.finish(total)


class _Shared:
    """An iterator that several threads may draw from; after an error it is at its end."""

    def __init__(self, chunks: Iterator[Chunk]) -> None:
        self._chunks = chunks
        self._lock = threading.Lock()

    def next(self) -> Chunk | None:
        with self._lock:
            return next(self._chunks, None)

    def stop(self) -> None:
        with self._lock:
            self._chunks = iter(())


def _fold(task: Task[Counts, Model], chunks: _Shared, progress: Progress | None) -> Counts | None:
    total: Counts | None = None
    try:
        while (chunk := chunks.next()) is not None:
            counts = task.count(chunk)
            total = counts if total is None else task.merge(total, counts)
            if progress is not None:
                progress(chunk.n_rows)
    except BaseException:
        chunks.stop()
        raise
    return total
