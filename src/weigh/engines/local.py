"""The local engine: threads of this process count the chunks of a source."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from weigh import errors
from weigh.engines.partitioned import run_partitioned
from weigh.learn.task import Counter, OrderedTask, Task
from weigh.model.parallel import available_cores
from weigh.source.base import ChunkReader, Source
from weigh.source.partitioned.opening import open_partitions
from weigh.source.partitioned.rows import PartitionedSource

Counts = TypeVar("Counts")
Model = TypeVar("Model")
Progress = Callable[[int], None]


def run(
    task: Task[Counts, Model] | OrderedTask[Model],
    source: Source,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    engine: str | None = None,
) -> Model:
    """Fit the model of a task to a source.

    The rows of a Dask or Spark frame are counted by that engine. `engine`, "dask" or "dask=ADDRESS", has it
    read the Parquet files of a source.

    `threads` None means all available cores. Any number gives the same model, up to rounding if the sample
    weights are fractional. Ordered tasks ignore it and use one thread. `progress` is called with the number
    of rows of each counted chunk.
    """
    if threads is not None and threads < 1:
        raise errors.parameter_error("fit", "threads", "at least 1", threads)
    if engine is not None:
        with open_partitions(source.paths, engine) as frame:
            return run(task, PartitionedSource(frame, source.label, source.missing))
    if isinstance(source, PartitionedSource):
        model: Model = run_partitioned(task, source)
        return model
    if isinstance(task, OrderedTask):
        return task.learn(source, progress=progress)
    readers = _SharedIterator(task.schema.chunk_readers(source, is_training=True))
    n_workers = 1 if readers.has_at_most_one() else threads or available_cores()
    if n_workers == 1:
        results = [_count_chunks(task, readers, progress)]
    else:
        # Interrupts reach only the main thread. It counts too, so its exception stops the others.
        with ThreadPoolExecutor(n_workers - 1) as pool:
            jobs = [pool.submit(_count_chunks, task, readers, progress) for _ in range(n_workers - 1)]
            results = [_count_chunks(task, readers, progress), *(job.result() for job in jobs)]
    counters = [counter for counter in results if counter is not None]
    if not counters:
        raise errors.DataError("There are no rows to learn from.")
    total = counters.pop(0)
    while counters:
        total.merge(counters.pop())
    return task.finish(total.counts())


class _SharedIterator:
    """A thread-safe iterator over chunk readers that any thread can stop."""

    def __init__(self, readers: Iterator[ChunkReader]) -> None:
        self._readers = readers
        self._lock = threading.Lock()

    def has_at_most_one(self) -> bool:
        """Whether at most one chunk is left, so that a second thread would have nothing to do."""
        first = list(itertools.islice(self._readers, 2))
        self._readers = itertools.chain(first, self._readers)
        return len(first) < 2

    def next(self) -> ChunkReader | None:
        with self._lock:
            return next(self._readers, None)

    def stop(self) -> None:
        with self._lock:
            self._readers = iter(())


def _count_chunks(
    task: Task[Counts, Model], readers: _SharedIterator, progress: Progress | None
) -> Counter[Counts] | None:
    """Count chunks until none is left; an exception stops all threads. Returns None without chunks."""
    counter: Counter[Counts] | None = None
    try:
        while (reader := readers.next()) is not None:
            chunk = reader.read()
            counter = counter or task.counter()
            counter.add(chunk)
            if progress is not None:
                progress(chunk.n_rows)
    except BaseException:
        readers.stop()
        raise
    return counter
