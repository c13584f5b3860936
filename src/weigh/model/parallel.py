"""Many chunks at once, results in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def available_cores() -> int:
    """Return how many cores this process may use, where the system can tell, else all there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_in_order(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield work(item) for each item, in order, on all cores; only a few items are held at once.

    The first item is done without any thread, so that a single row pays nothing.
    """
    rest = iter(items)
    for first in rest:
        yield work(first)
        break
    second = next(rest, None)
    if second is None:
        return
    most = available_cores()
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(most) as pool:
        waiting.append(pool.submit(work, second))
        for item in rest:
            waiting.append(pool.submit(work, item))
            if len(waiting) > most + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
