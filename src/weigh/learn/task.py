"""Tasks: learning as count, merge, finish, so that any engine can fold it over chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, Protocol, Self, TypeVar, runtime_checkable

from weigh.source import Chunk, Source
from weigh.source.base import ChunkReader

Counts = TypeVar("Counts")
Counts_co = TypeVar("Counts_co", covariant=True)
Model_co = TypeVar("Model_co", covariant=True)


class Counter(Protocol[Counts_co]):
    """What one worker gathers: the counts of the chunks it was given, whichever these are."""

    def add(self, chunk: Chunk) -> None:
        """Count one chunk."""

    def join(self, other: Self) -> None:
        """Take over what another worker has gathered."""

    def counts(self) -> Counts_co:
        """Return the counts, of one chunk at least."""


class MergingCounter(Generic[Counts]):
    """A counter that counts each chunk by itself and adds it to those before."""

    def __init__(self, count: Callable[[Chunk], Counts], merge: Callable[[Counts, Counts], Counts]) -> None:
        self._count = count
        self._merge = merge
        self._counts: list[Counts] = []

    def add(self, chunk: Chunk) -> None:
        """Count one chunk."""
        self._add_counts(self._count(chunk))

    def join(self, other: Self) -> None:
        """Take over what another worker has gathered."""
        for counts in other._counts:
            self._add_counts(counts)

    def _add_counts(self, counts: Counts) -> None:
        self._counts = [self._merge(self._counts[0], counts) if self._counts else counts]

    def counts(self) -> Counts:
        """Return the counts, of one chunk at least."""
        return self._counts[0]


@runtime_checkable
class OrderedTask(Protocol[Model_co]):
    """What an engine needs to know of a learner that goes through the rows in order, perhaps often."""

    def learn(self, source: Source, *, progress: Callable[[int], None] | None = None) -> Model_co:
        """Return the model of a source."""


class Task(Protocol[Counts, Model_co]):
    """What an engine needs to know of a learner that counts."""

    def chunks(self, source: Source) -> Iterator[Chunk]:
        """Read the source, columns checked, chunk by chunk."""

    def pieces(self, source: Source) -> Iterator[ChunkReader]:
        """Read like `chunks`, but leave making each chunk to whoever calls its piece."""

    def counter(self) -> Counter[Counts]:
        """Return what gathers the counts of many chunks."""

    def merge(self, first: Counts, second: Counts) -> Counts:
        """Return the counts of both together; the order does not matter."""

    def finish(self, counts: Counts) -> Model_co:
        """Return the model that follows from all counts."""
