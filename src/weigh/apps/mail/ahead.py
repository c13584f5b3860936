"""Work done one step ahead of whoever uses it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

Given = TypeVar("Given")
Found = TypeVar("Found")


def ahead(function: Callable[[Given], Found], given: Iterator[Given]) -> Iterator[Found]:
    """A function of each thing in turn, computed for the next one while the last one is used."""
    first = next(given, None)
    if first is None:
        return
    second = next(given, None)
    if second is None:
        yield function(first)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(function, first)
        while second is not None:
            following = pool.submit(function, second)
            yield coming.result()
            coming, second = following, next(given, None)
        yield coming.result()
