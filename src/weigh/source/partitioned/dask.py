"""Dask DataFrames, whose partitions are pandas frames. The current client counts them, or else threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from weigh.errors import ColumnError, DataError, first_line
from weigh.source.partitioned.frame import FAN_IN, Count, Merge, NotSendable, PartitionedFrame, Work


class DaskFrame(PartitionedFrame):
    """A Dask DataFrame."""

    engine = "Dask"
    how_to_collect = "frame.compute()"

    def __init__(self, data: Any) -> None:
        self._data = data

    def first_rows(self, n: int) -> Any:
        """Return the first n rows, reading one partition after another until there are enough."""
        import pyarrow as pa

        parts: list[Any] = []
        n_rows = 0
        for partition in self._data.partitions:
            if n_rows >= n:
                break
            part = partition.head(n - n_rows, npartitions=1, compute=False).compute()
            n_rows += len(part)
            if len(part) or not parts:
                parts.append(_to_arrow(part))
        if not parts:
            return pa.table({})
        parts = [part for part in parts if part.num_rows] or parts
        try:
            return pa.concat_tables(parts, promote_options="permissive")
        except pa.ArrowException as error:
            raise DataError(
                f"The first partitions of the Dask DataFrame have different types: {first_line(error)}."
            ) from error

    def fold(self, count: Count, merge: Merge) -> bytes | None:
        """Return the merged states of all partitions."""
        from dask.delayed import delayed

        # One node of the graph each, so that every worker receives them once.
        count_job = delayed(_dump(count), pure=False, traverse=False)
        merge_job = delayed(_dump(merge), pure=False, traverse=False)
        count_rows, merge_states = (
            delayed(_count_rows, pure=False),
            delayed(_merge_states, pure=False),
        )
        states = [count_rows(count_job, part, number) for number, part in enumerate(self._data.to_delayed())]
        while len(states) > 1:
            groups = (states[at : at + FAN_IN] for at in range(0, len(states), FAN_IN))
            states = [merge_states(merge_job, group) for group in groups]
        return _compute(states[0]) if states else None

    def map_rows(self, work: Work, output: Any) -> Any:
        """Return a lazy Dask DataFrame with the index of this one."""
        meta = output.empty_table().to_pandas()
        return self._data.map_partitions(_map_partition, _dump(work), meta=meta, enforce_metadata=False)


def _compute(state: Any) -> bytes:
    """Compute a state; an exception in this process, such as an interrupt, cancels what the workers do."""
    from dask.base import get_scheduler

    scheduler: Any = get_scheduler()
    client = getattr(scheduler, "__self__", None)
    if client is None or not hasattr(client, "cancel"):
        return bytes(state.compute())
    future = client.compute(state)
    try:
        return bytes(future.result())
    except BaseException:
        client.cancel([future], force=True)
        raise


def _dump(job: Any) -> bytes:
    import cloudpickle

    try:
        return bytes(cloudpickle.dumps(job))
    except Exception as error:  # whatever the methods of a user's object raise
        raise NotSendable(first_line(error)) from error


@lru_cache(maxsize=4)
def _load(job: bytes) -> Any:
    import cloudpickle

    return cloudpickle.loads(job)


def _count_rows(job: bytes, part: Any, number: int) -> bytes:
    return bytes(_load(job)(_PartitionTables(part), number))


class _PartitionTables(Iterable[Any]):
    """The rows of a pandas partition as one Arrow table, converted when they are read."""

    def __init__(self, part: Any) -> None:
        self._part = part

    def __iter__(self) -> Any:
        yield _to_arrow(self._part)


def _merge_states(job: bytes, states: Sequence[bytes]) -> bytes:
    return bytes(_load(job)(states))


def _map_partition(part: Any, job: bytes) -> Any:
    return _load(job)(_to_arrow(part)).to_pandas().set_index(part.index)


def _to_arrow(part: Any) -> Any:
    """Return a pandas frame as an Arrow table; the index is not a column."""
    import pyarrow as pa

    names = [str(name) for name in part.columns]
    if len(set(names)) < len(names):
        raise ColumnError("The DataFrame has a column name more than once. Give every column its own name.")
    columns = []
    for name, (_, series) in zip(names, part.items(), strict=True):
        try:
            columns.append(pa.Array.from_pandas(series))
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise ColumnError(
                f"Column {name!r} cannot be read: {first_line(error)}. Give all its values one type."
            ) from error
    return pa.table(columns, names=names)
