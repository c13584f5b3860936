"""Tasks: learning as count, merge, finish, so that any engine can fold it over chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeVar

from weigh.source import Chunk, Source
from weigh.source.base import Piece

Counts = TypeVar("Counts")
Model_co = TypeVar("Model_co", covariant=True)


class Task(Protocol[Counts, Model_co]):
    """What an engine needs to know of a learner that counts."""

    def chunks(self, source: Source) -> Iterator[Chunk]:
        """Read the source, columns checked, chunk by chunk."""

    def pieces(self, source: Source) -> Iterator[Piece]:
        """Read like `chunks`, but leave making each chunk to whoever calls its piece."""

    def count(self, chunk: Chunk) -> Counts:
        """Count one chunk, knowing nothing of the others."""

    def merge(self, first: Counts, second: Counts) -> Counts:
        """Return the counts of both together; the order does not matter."""

    def finish(self, counts: Counts) -> Model_co:
        """Return the model that follows from all counts."""
