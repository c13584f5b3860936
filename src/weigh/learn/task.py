"""Tasks: learning as count, merge, finish, so that any engine can fold it over chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeVar

from weigh.source import Chunk, Source
from weigh.source.base import Piece, as_pieces

Counts = TypeVar("Counts")
Model_co = TypeVar("Model_co", covariant=True)


class Task(Protocol[Counts, Model_co]):
    """What an engine needs to know of a learner that counts."""

    def chunks(self, source: Source) -> Iterator[Chunk]:
        """Read the source, columns checked, chunk by chunk."""

    def count(self, chunk: Chunk) -> Counts:
        """Count one chunk, knowing nothing of the others."""

    def merge(self, first: Counts, second: Counts) -> Counts:
        """Return the counts of both together; the order does not matter."""

    def finish(self, counts: Counts) -> Model_co:
        """Return the model that follows from all counts."""


def pieces(task: Task[Counts, Model_co], source: Source) -> Iterator[Piece]:
    """Read a source for a task: in its own pieces if it has any, else chunk by chunk."""
    own = getattr(task, "pieces", None)
    return as_pieces(task.chunks(source)) if own is None else own(source)
