"""The local engine: the threads of this machine fold a task over the chunks of a source."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from weigh import errors
from weigh.learn import Counter, OrderedTask, Task
from weigh.model.parallel import available_cores
from weigh.source import Source
from weigh.source.base import ChunkReader

Counts = TypeVar("Counts")
Model = TypeVar("Model")
Progress = Callable[[int], None]


def run(
    task: Task[Counts, Model] | OrderedTask[Model],
    source: Source,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Model:
    """Return the model a task makes of a source.

    `threads` left out means all cores this process may use; any number gives the same model (with
    fractional weights to rounding, for which thread adds which row is not fixed).
    `progress` is called with the number of rows of each chunk that has been counted. Learners for
    which the order of the rows matters have one thread, whatever `threads` says.
    """
    if threads is not None and threads < 1:
        raise errors.parameter_error("fit", "threads", "at least 1", threads)
    if isinstance(task, OrderedTask):
        return task.learn(source, progress=progress)
    shared = _SharedIterator(task.pieces(source))
    workers = 1 if shared.has_at_most_one() else threads or available_cores()
    if workers == 1:
        parts = [_count_pieces(task, shared, progress)]
    else:
        # This thread works too: an interrupt, which reaches only it, then ends all of them.
        with ThreadPoolExecutor(workers - 1) as pool:
            jobs = [pool.submit(_count_pieces, task, shared, progress) for _ in range(workers - 1)]
            parts = [_count_pieces(task, shared, progress), *(job.result() for job in jobs)]
    counters = [part for part in parts if part is not None]
    if not counters:
        raise errors.DataError("There are no rows to learn from.")
    total = counters.pop(0)
    while counters:
        total.join(counters.pop())
    return task.finish(total.counts())


class _SharedIterator:
    """An iterator that several threads may draw from; after an error it is at its end."""

    def __init__(self, pieces: Iterator[ChunkReader]) -> None:
        self._pieces = pieces
        self._lock = threading.Lock()

    def has_at_most_one(self) -> bool:
        """Whether there is no more than one piece, which no second thread could share."""
        first = list(itertools.islice(self._pieces, 2))
        self._pieces = itertools.chain(first, self._pieces)
        return len(first) < 2

    def next(self) -> ChunkReader | None:
        with self._lock:
            return next(self._pieces, None)

    def stop(self) -> None:
        with self._lock:
            self._pieces = iter(())


def _count_pieces(
    task: Task[Counts, Model], shared: _SharedIterator, progress: Progress | None
) -> Counter[Counts] | None:
    counter: Counter[Counts] | None = None
    try:
        while (piece := shared.next()) is not None:
            chunk = piece()
            counter = counter or task.counter()
            counter.add(chunk)
            if progress is not None:
                progress(chunk.n_rows)
    except BaseException:
        shared.stop()
        raise
    return counter
