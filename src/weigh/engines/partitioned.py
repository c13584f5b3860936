"""Fold a task over the partitions of an engine's frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from weigh import errors
from weigh.deduplicated_warnings import warn
from weigh.engines.states import (
    STATE,
    KeptCounter,
    KeptMerger,
    PartitionCounter,
    StateMerger,
    columns_of,
    raise_error,
    read_state,
)
from weigh.features.kind_registry import Lag
from weigh.learn.task import FoldingTask, FoldTask, RowJob
from weigh.model.file import store
from weigh.source.partitioned.frame import NotSendable
from weigh.source.partitioned.rows import PartitionedSource

Counts = TypeVar("Counts")


def run_partitioned(task: Any, source: PartitionedSource) -> Any:
    """Fit the model of a task to the rows of a frame, by one fold or several."""
    fold = PartitionFold(source)
    if isinstance(task, FoldingTask):
        return task.learn_by_folds(source, fold)
    finish = getattr(task, "finish", None)
    if not isinstance(task, FoldTask) or finish is None:
        raise errors.Unsupported(
            f"A {source.frame.engine} DataFrame is learned by sums over its partitions, and "
            f"{type(task).__name__.removesuffix('Task')} needs all rows in one process.",
            hint=f"If they fit into memory, collect them: {source.frame.how_to_collect}.",
        )
    return finish(fold(task))


class PartitionFold:
    """Folds tasks over the partitions of a source."""

    def __init__(self, source: PartitionedSource) -> None:
        self._source = source
        self._has_reported = False

    def __call__(self, task: FoldTask[Counts]) -> Counts:
        """Return the counts of all partitions; the first fold reports their odd cells and warnings."""
        counter = self._make_counter(task)
        with self._sending(task):
            state = self._source.frame.fold(counter, StateMerger(task))
        found = read_state(task, _check_state(state))
        if not self._has_reported:
            found.cells.report()
            for warning in found.notes:
                warn(warning, columns_of(warning))
            self._has_reported = True
        return found.counts

    @contextmanager
    def keep(self, task: FoldTask[Any]) -> Iterator[Callable[[RowJob], store.FileContent]]:
        """Let the workers keep the counts of each partition apart; yields the fold of a job over them."""
        counter = self._make_counter(task)
        with self._sending(task):
            kept = self._source.frame.persist(counter)

        def sum_rows(job: RowJob) -> store.FileContent:
            state = kept.fold(KeptCounter(job), KeptMerger(job))
            return store.from_bytes(_check_state(state), STATE)

        try:
            yield sum_rows
        finally:
            kept.release()

    def _make_counter(self, task: FoldTask[Counts]) -> PartitionCounter[Counts]:
        if any(isinstance(kind, Lag) for kind in task.schema.made.values()):
            raise errors.Unsupported(
                "A lag looks back at earlier rows, and the partitions of a frame are counted in any order.",
                hint="Add the column to the frame itself.",
            )
        task.schema.align_source(self._source)
        return PartitionCounter(task, self._source.partition, self._source.frame.engine)

    @contextmanager
    def _sending(self, task: FoldTask[Any]) -> Iterator[None]:
        """Explain what cannot be sent to the workers."""
        try:
            yield
        except NotSendable as cause:
            derived = errors.quote_names(task.schema.made) if task.schema.made else ""
            what = f"The function of a derived column ({derived})" if derived else "The task"
            raise errors.DataError(
                f"{what} cannot be sent to the workers of {self._source.frame.engine}: {cause}.",
                hint="Define the function at the top of a module, without open files or connections.",
            ) from cause


def _check_state(state: bytes | None) -> bytes:
    """Return the state of all partitions; raise their error, or that they have no rows."""
    if not state:
        raise errors.DataError("There are no rows to learn from.")
    raise_error(state)
    return state
