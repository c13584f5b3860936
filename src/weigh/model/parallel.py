"""An ordered parallel map over chunks."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_in_order(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield work(item) for each item, in order, using all cores; few items are in memory at once.

    The first item is processed without a thread, so a single row has no overhead.
    """
    remaining = iter(items)
    for first in remaining:
        yield work(first)
        break
    second = next(remaining, None)
    if second is None:
        return
    n_threads = available_cores()
    pending: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        pending.append(pool.submit(work, second))
        for item in remaining:
            pending.append(pool.submit(work, item))
            if len(pending) > n_threads + 1:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
