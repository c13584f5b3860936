"""One raw message, as a mailbox holds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

# What is kept of one message; what a longer one has beyond is told by its length only.
LONGEST = 64 << 20


@dataclass(frozen=True, slots=True)
class Stored:
    """A raw message and where it was found.

    Attributes
    ----------
    content : its bytes, without a mailbox's own line before it; of very long ones the first 64 MiB
    place : where it is, for people: a path, or "inbox.mbox, message 12"
    at : when it came, in seconds since 1970, if the mailbox says so
    cut : how many bytes it has beyond `content`
    """

    # What people write has no place in a log or a traceback.
    content: bytes = field(repr=False)
    place: str
    at: float | None = None
    cut: int = 0

    @property
    def length(self) -> int:
        """How many bytes the whole message has."""
        return len(self.content) + self.cut


def batches(stored: Iterable[Stored], bytes: int = 1 << 20, rows: int = 256) -> Iterator[list[Stored]]:
    """Messages in lists of at most so many, which end once they hold so many bytes."""
    batch: list[Stored] = []
    size = 0
    for each in stored:
        batch.append(each)
        size += len(each.content)
        if size >= bytes or len(batch) >= rows:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
