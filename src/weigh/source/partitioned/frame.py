"""The interface of a table in the partitions of an engine, such as a Dask or Spark DataFrame.

An engine provides four operations and knows nothing about learners:

- `first_rows(n)`: the first n rows in the order of the frame, from which kinds are inferred;
- `fold(count, merge)`: `count` turns the rows of each partition into bytes, in the engine's workers;
  `merge` adds some of these states, also in the workers, level by level of a tree, to the one returned;
- `persist(count)`: the bytes of each partition stay with the workers, in memory or on their disks, for
  learners that fold over them again and again;
- `map_rows(work, output)`: a lazy result with the rows of `work(table)` for each partition.

`count`, `merge` and `work` are pure functions of their arguments, so an engine may run them again after a
worker died, or twice at the same time, as long as it uses one result of each partition. They return errors in
the data as bytes (see `weigh.engines.states`); an exception of theirs is a defect, or of the engine itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

Count = Callable[[Iterable[Any], int], bytes]  # the content of a partition, and its number
Merge = Callable[[Sequence[bytes]], bytes]  # of states in the order of their partitions
Work = Callable[[Any], Any]  # Arrow table to Arrow table with as many rows

FAN_IN = 8  # states that one merge adds: the depth of the tree is log8 of the number of partitions


class NotSendable(Exception):
    """A job cannot be sent to the workers of an engine, because it cannot be pickled."""


class Partitions(ABC):
    """Partitions of an engine over which functions are folded."""

    engine: ClassVar[str]  # the name of the engine, for messages

    @abstractmethod
    def fold(self, count: Count, merge: Merge) -> bytes | None:
        """Return the merged states of all partitions; None if there are no partitions.

        `count` gets the content of a partition, one piece after another, and the number of the partition:
        Arrow tables or record batches, or the bytes that were persisted. Interrupts cancel the work of the
        engine. Raises NotSendable for functions that cannot be pickled.
        """


class PersistedPartitions(Partitions):
    """The bytes of each partition, kept by the workers until `release`."""

    @abstractmethod
    def release(self) -> None:
        """Free the memory of the workers."""


class PartitionedFrame(Partitions):
    """A table whose rows are in the partitions of an engine."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The names of the columns."""

    @abstractmethod
    def first_rows(self, n: int) -> Any:
        """Return the first n rows in the order of the frame as an Arrow table, with all columns."""

    @abstractmethod
    def persist(self, count: Count) -> PersistedPartitions:
        """Return the states of all partitions without merging them, for several folds."""

    @abstractmethod
    def map_rows(self, work: Work, output: Any) -> Any:
        """Return a lazy result of the engine with the rows of `work`, whose Arrow schema is `output`.

        Row i of the result belongs to row i of the frame. An engine whose rows have no order returns them
        beside the columns of the frame.
        """

    @property
    @abstractmethod
    def how_to_collect(self) -> str:
        """How to read all rows into this process, in code, for messages."""
