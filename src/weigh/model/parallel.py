"""An ordered parallel map over chunks."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

from weigh.source.base import ChunkReader
from weigh.source.chunk import Chunk

Result = TypeVar("Result")


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_in_order(work: Callable[[Chunk], Result], readers: Iterable[ChunkReader]) -> Iterator[Result]:
    """Yield work(chunk) for each chunk, in order; all cores read and work, on few chunks at once.

    The first chunk is processed without a thread, so a single row has no overhead.
    """

    def read_and_work(reader: ChunkReader) -> Result:
        return work(reader.read())

    remaining = iter(readers)
    # No variable refers to these two readers, because a reader may hold its rows for the whole pass.
    yield from map(read_and_work, islice(remaining, 1))
    second = list(islice(remaining, 1))
    if not second:
        return
    # Imported here because it takes 10 ms, and a single chunk needs no thread.
    from concurrent.futures import ThreadPoolExecutor

    n_threads = available_cores()
    pending: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        pending.append(pool.submit(read_and_work, second.pop()))
        for reader in remaining:
            pending.append(pool.submit(read_and_work, reader))
            if len(pending) > n_threads + 1:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
