"""Fold a task over the partitions of an engine's frame."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar

from weigh import errors
from weigh.deduplicated_warnings import warn
from weigh.engines.states import PartitionCounter, StateMerger, raise_error, read_state
from weigh.features.kind_registry import Lag
from weigh.learn.task import FoldingTask, FoldTask
from weigh.source.partitioned.frame import NotSendable
from weigh.source.partitioned.rows import PartitionedSource

Counts = TypeVar("Counts")


def run_partitioned(task: Any, source: PartitionedSource) -> Any:
    """Fit the model of a task to the rows of a frame, by one fold or several."""
    if isinstance(task, FoldingTask):
        return task.learn_by_folds(source, partial(fold, source=source))
    finish = getattr(task, "finish", None)
    if not isinstance(task, FoldTask) or finish is None:
        raise errors.Unsupported(
            f"A {source.frame.engine} DataFrame is learned by sums over its partitions, and "
            f"{type(task).__name__.removesuffix('Task')} needs all rows in one process.",
            hint=f"If they fit into memory, collect them: {source.frame.how_to_collect}.",
        )
    return finish(fold(task, source))


def fold(task: FoldTask[Counts], source: PartitionedSource) -> Counts:
    """Return the counts of all partitions, and report their odd cells and warnings."""
    frame = source.frame
    if any(isinstance(kind, Lag) for kind in task.schema.made.values()):
        raise errors.Unsupported(
            "A lag looks back at earlier rows, and the partitions of a frame are counted in any order.",
            hint="Add the column to the frame itself.",
        )
    task.schema.align_source(source)
    counter = PartitionCounter(task, source.partition, frame.engine)
    try:
        state = frame.fold(counter, StateMerger(task))
    except NotSendable as cause:
        derived = errors.quote_names(task.schema.made) if task.schema.made else ""
        what = f"The function of a derived column ({derived})" if derived else "The task"
        raise errors.DataError(
            f"{what} cannot be sent to the workers of {frame.engine}: {cause}.",
            hint="Define the function at the top of a module, without open files or connections.",
        ) from cause
    if not state:
        raise errors.DataError("There are no rows to learn from.")
    raise_error(state)
    found = read_state(task, state)
    found.cells.report()
    for warning, columns in found.notes:
        warn(warning, columns)
    return found.counts
