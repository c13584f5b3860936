"""Messages in groups, and work done one group ahead of whoever uses it."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from weigh.errors import ParameterError

Given = TypeVar("Given")
Found = TypeVar("Found")

_GROUP = 256
_GROUP_BYTES = 8 << 20
# How many are computed or wait for it: groups take unequal times, and neither side shall wait for the other.
_AHEAD = 3


def groups(contents: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Messages in lists that are short enough for memory and long enough for speed."""
    group: list[bytes] = []
    size = 0
    for content in contents:
        if not isinstance(content, bytes):
            # Only its type is told: whatever it is, it may be private.
            kind = type(content).__name__
            raise ParameterError(
                f"MailStore: contents must be raw messages, a list of bytes; one of them is of type {kind}."
            )
        group.append(content)
        size += len(content)
        if len(group) >= _GROUP or size >= _GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def ahead(function: Callable[[Given], Found], given: Iterator[Given]) -> Iterator[Found]:
    """A function of each thing in turn, computed for the next ones while the last one is used."""
    begun = list(itertools.islice(given, 2))
    if len(begun) < 2:
        yield from map(function, begun)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        coming = deque(pool.submit(function, each) for each in begun)
        for each in given:
            coming.append(pool.submit(function, each))
            if len(coming) > _AHEAD:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()
