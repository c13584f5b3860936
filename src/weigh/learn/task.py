"""The protocols between learners and engines: tasks that count, merge and finish, and ordered tasks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Generic, Protocol, Self, TypeVar, runtime_checkable

from weigh.features.schema import Schema
from weigh.model.file.store import FileContent
from weigh.source.base import Source
from weigh.source.chunk import Chunk

Counts = TypeVar("Counts")
Counts_co = TypeVar("Counts_co", covariant=True)
Model_co = TypeVar("Model_co", covariant=True)


class Counter(Protocol[Counts_co]):
    """Accumulates the counts of the chunks that one worker processes."""

    def add(self, chunk: Chunk) -> None:
        """Count one chunk."""

    def merge(self, other: Self) -> None:
        """Add the counts of another counter."""

    def counts(self) -> Counts_co:
        """Return the counts; requires at least one chunk."""


class MergingCounter(Generic[Counts]):
    """A counter that counts each chunk separately and merges the result into the total."""

    def __init__(self, count: Callable[[Chunk], Counts], merge: Callable[[Counts, Counts], Counts]) -> None:
        self._count = count
        self._merge = merge
        self._counts: list[Counts] = []

    def add(self, chunk: Chunk) -> None:
        """Count one chunk."""
        self._add_counts(self._count(chunk))

    def merge(self, other: Self) -> None:
        """Add the counts of another counter."""
        for counts in other._counts:
            self._add_counts(counts)

    def _add_counts(self, counts: Counts) -> None:
        self._counts = [self._merge(self._counts[0], counts) if self._counts else counts]

    def counts(self) -> Counts:
        """Return the counts; requires at least one chunk."""
        return self._counts[0]


@runtime_checkable
class OrderedTask(Protocol[Model_co]):
    """A learner that makes one or more passes over the rows in order."""

    def learn(self, source: Source, *, progress: Callable[[int], None] | None = None) -> Model_co:
        """Fit the model to the rows of a source."""


class Task(Protocol[Counts, Model_co]):
    """A learner that fits by counting, so that engines can process chunks in any order."""

    @property
    def schema(self) -> Schema:
        """The schema with which the rows are read."""

    def counter(self) -> Counter[Counts]:
        """Return an empty counter."""

    def merge(self, first: Counts, second: Counts) -> Counts:
        """Return the sum of two counts; commutative and associative."""

    def finish(self, counts: Counts) -> Model_co:
        """Build the model from all counts."""


@runtime_checkable
class FoldTask(Protocol[Counts]):
    """What engines fold over partitions: counts that have a form as bytes, for the way between processes.

    A task is sent to workers, so it must be possible to pickle it.
    """

    @property
    def schema(self) -> Schema:
        """The schema with which the rows are read."""

    def counter(self) -> Counter[Counts]:
        """Return an empty counter."""

    def merge(self, first: Counts, second: Counts) -> Counts:
        """Return the sum of two counts; commutative and associative."""

    def write_counts(self, counts: Counts) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return counts as JSON metadata and arrays, the content of a file."""

    def read_counts(self, stored: FileContent) -> Counts:
        """Return the counts that `write_counts` wrote."""


class RowJob(Protocol):
    """A sum over the bytes that a `FoldTask` wrote for each partition; sent to the workers."""

    def count(self, stored: FileContent) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the sums of a partition as JSON metadata and arrays."""

    def merge(self, first: FileContent, second: FileContent) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the sums of both."""


class Fold(Protocol):
    """Folds a task over all partitions of a source."""

    def __call__(self, task: FoldTask[Counts]) -> Counts:
        """Return the counts of all rows."""

    def keep(self, task: FoldTask[Any]) -> AbstractContextManager[Callable[[RowJob], FileContent]]:
        """Let the workers keep the counts of each partition apart; yields the fold of a job over them."""


@runtime_checkable
class FoldingTask(Protocol[Model_co]):
    """A learner that makes one or more passes over partitions, each of which is a fold."""

    def learn_by_folds(self, source: Source, fold: Fold) -> Model_co:
        """Fit the model; `source` has the first rows, and `fold` reads all of them."""
