"""Dask DataFrames, whose partitions are pandas frames. The current client counts them, or else threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from weigh.errors import ColumnError, DataError, first_line
from weigh.source.partitioned.frame import (
    FAN_IN,
    Count,
    Merge,
    NotSendable,
    PartitionedFrame,
    PersistedPartitions,
    Work,
)

TIMEOUT = 10  # seconds to wait for a scheduler
PARTITION_BYTES = 1 << 28  # of row groups, before compression


class DaskFrame(PartitionedFrame):
    """A Dask DataFrame."""

    engine = "Dask"
    how_to_collect = "frame.compute()"

    def __init__(self, data: Any) -> None:
        self._data = data

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [str(name) for name in self._data.columns]

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

    def _partitions(self) -> tuple[list[Any], Callable[[Any], Any]]:
        """Return the partitions, and the function that reads the tables of one in a worker."""
        return self._data.to_delayed(), _PartitionTables

    def fold(self, count: Count, merge: Merge) -> bytes | None:
        """Return the merged states of all partitions."""
        return _fold(_count_partitions(count, *self._partitions()), merge)

    def persist(self, count: Count) -> PersistedPartitions:
        """Return the states of all partitions, which the workers keep and may spill to disk."""
        import dask

        states = _count_partitions(count, *self._partitions())
        return DaskStates(list(dask.persist(*states)))

    def map_rows(self, work: Work, output: Any) -> Any:
        """Return a lazy Dask DataFrame with the index of this one."""
        meta = output.empty_table().to_pandas()
        return self._data.map_partitions(_map_partition, _dump(work), meta=meta, enforce_metadata=False)


class DaskParquet(DaskFrame):
    """Parquet files whose row groups the workers read as Arrow tables, without pandas."""

    def __init__(self, data: Any, files: Sequence[str]) -> None:
        super().__init__(data)
        self._files = files

    def first_rows(self, n: int) -> Any:
        """Return the first n rows of the files."""
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile

        batches: list[Any] = []
        n_rows = 0
        for file in self._files:
            with ParquetFile(file) as opened:
                for batch in opened.iter_batches(n):
                    batches.append(pa.Table.from_batches([batch]))
                    n_rows += batch.num_rows
                    if n_rows >= n:
                        return pa.concat_tables(batches, promote_options="permissive").slice(0, n)
        return pa.concat_tables(batches, promote_options="permissive") if batches else pa.table({})

    def _partitions(self) -> tuple[list[Any], Callable[[Any], Any]]:
        """Return runs of row groups of about `PARTITION_BYTES`."""
        from pyarrow.parquet import ParquetFile

        runs: list[tuple[str, list[int]]] = []
        for file in self._files:
            with ParquetFile(file) as opened:
                sizes = [opened.metadata.row_group(i).total_byte_size for i in range(opened.num_row_groups)]
            n_bytes = PARTITION_BYTES
            for group, size in enumerate(sizes):
                if n_bytes + size > PARTITION_BYTES:
                    runs.append((file, []))
                    n_bytes = 0
                runs[-1][1].append(group)
                n_bytes += size
        return runs, _read_row_groups


def _read_row_groups(run: tuple[str, list[int]]) -> Iterator[Any]:
    from pyarrow.parquet import ParquetFile

    file, groups = run
    with ParquetFile(file) as opened:
        for group in groups:
            yield opened.read_row_group(group, use_threads=False)


@contextmanager
def open_parquet(files: Sequence[str], address: str | None) -> Iterator[DaskFrame]:
    """Open Parquet files on a cluster; without an address, on processes of this machine."""
    import dask.dataframe as dd
    from distributed import Client

    local: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": ":0"}
    try:
        client = Client(address, timeout=TIMEOUT) if address else Client(**local)
    except (OSError, ValueError) as error:
        raise DataError(
            f"There is no Dask scheduler at {address}: {first_line(error)}.",
            hint="Give the address that the scheduler prints, such as tcp://10.0.0.1:8786.",
        ) from error
    with client:
        yield DaskParquet(dd.read_parquet(list(files)), files)


class DaskStates(PersistedPartitions):
    """Bytes that the workers keep as long as this object refers to them."""

    engine = "Dask"

    def __init__(self, states: list[Any]) -> None:
        self._states = states

    def fold(self, count: Count, merge: Merge) -> bytes | None:
        """Return the merged states of all partitions."""
        return _fold(_count_partitions(count, self._states, _one_piece), merge)

    def release(self) -> None:
        """Free the memory of the workers."""
        self._states.clear()


def _count_partitions(count: Count, partitions: Sequence[Any], to_pieces: Callable[[Any], Any]) -> list[Any]:
    """Return the delayed states of delayed partitions."""
    from dask.delayed import delayed

    # One node of the graph, so that every worker receives it once.
    job = delayed(_dump(count), pure=False, traverse=False)
    count_rows = delayed(_count_rows, pure=False)
    return [count_rows(job, to_pieces, part, number) for number, part in enumerate(partitions)]


def _fold(states: list[Any], merge: Merge) -> bytes | None:
    """Compute the merged state of delayed states."""
    from dask.delayed import delayed

    job = delayed(_dump(merge), pure=False, traverse=False)
    merge_states = delayed(_merge_states, pure=False)
    while len(states) > 1:
        groups = (states[at : at + FAN_IN] for at in range(0, len(states), FAN_IN))
        states = [merge_states(job, group) for group in groups]
    return _compute(states[0]) if states else None


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


def _count_rows(job: bytes, to_pieces: Callable[[Any], Any], part: Any, number: int) -> bytes:
    return bytes(_load(job)(to_pieces(part), number))


def _one_piece(part: bytes) -> list[bytes]:
    return [part]


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
