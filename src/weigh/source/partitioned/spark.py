"""Spark DataFrames: the Python workers of the executors read their partitions as Arrow batches.

A fold is one job. Its first stage counts, with one row per partition as its result: the number of the
partition and its state. Every further stage merges the states of `FAN_IN` neighbours. Spark runs a task
again when its worker dies, or twice when it is slow, and its shuffle passes on one result of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any
from uuid import uuid4

from weigh.errors import ColumnError, DataError, first_line, quote_names
from weigh.source.base import CHUNK_ROWS, find_duplicate
from weigh.source.partitioned.frame import FAN_IN, Count, Merge, NotSendable, PartitionedFrame, Work

# A task costs some 20 ms more than its rows. More tasks per core than this spread skew, but take longer.
TASKS_PER_CORE = 16
STATES = "number int, state binary"
HEADS = "n_rows int, rows binary"


class SparkFrame(PartitionedFrame):
    """A Spark DataFrame, or a DataFrame of the pandas API on Spark, whose index is not a column."""

    engine = "Spark"
    how_to_collect = "frame.toArrow()"

    def __init__(self, data: Any) -> None:
        self._data = data.to_spark() if hasattr(data, "to_spark") else data
        if self._data.isStreaming:
            raise DataError("The Spark DataFrame is a stream, whose rows have no end. Give a batch of them.")
        if (name := find_duplicate(self._data.columns)) is not None:
            raise ColumnError(
                f"The Spark DataFrame has several columns {name!r}. Give every column its own name."
            )
        self._schema = _arrow_schema(self._data.schema)

    def first_rows(self, n: int) -> Any:
        """Return the first n rows; partitions are read in order, and more of them until there are enough."""
        import pyarrow as pa

        heads = self._data.mapInArrow(partial(_read_head, self._schema, n), HEADS)
        n_parts = 1
        while True:
            with _cancelling(self._data):
                found = heads.take(n_parts)
            n_rows = sum(row.n_rows for row in found)
            if n_rows >= n or len(found) < n_parts:
                break
            n_parts = max(2 * n_parts, -(-n * n_parts // n_rows))
        parts = [pa.ipc.open_stream(row.rows).read_all() for row in found]
        return pa.concat_tables(parts).slice(0, n) if parts else self._schema.empty_table()

    def fold(self, count: Count, merge: Merge) -> bytes | None:
        """Return the merged states of all partitions; frames of very many partitions are counted in fewer."""
        count_rows = partial(_count_rows, self._schema, _dump(count))
        merge_states = partial(_merge_states, _dump(merge))
        n_tasks = TASKS_PER_CORE * self._data.sparkSession.sparkContext.defaultParallelism
        states = self._data.coalesce(n_tasks).mapInArrow(count_rows, STATES)
        width = 1
        while width < n_tasks:
            width *= FAN_IN
            groups = states.selectExpr("number", "state", f"number div {width} as place")
            placed = groups.repartition(-(-n_tasks // width), "place").drop("place")
            states = placed.mapInArrow(merge_states, STATES)
        with _cancelling(self._data):
            found = states.collect()
        return bytes(found[0].state) if found else None

    def map_rows(self, work: Work, output: Any) -> Any:
        """Return a lazy Spark DataFrame of the columns of this one, followed by those of the output."""
        from pyspark.sql.pandas.types import from_arrow_schema
        from pyspark.sql.types import StructType

        added = from_arrow_schema(output)
        if common := [name for name in added.names if name in self._data.columns]:
            raise ColumnError(
                f"The Spark DataFrame already has {quote_names(common)}, which the result adds. "
                "Rename or drop them first."
            )
        types = StructType([*self._data.schema.fields, *added.fields])
        work_rows = partial(_map_rows, self._schema, _arrow_schema(added), _dump(work))
        return self._data.mapInArrow(work_rows, types)


def _arrow_schema(types: Any) -> Any:
    """Return the Arrow types that `toArrow` gives the rows: times are in UTC."""
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    for field in types.fields:
        try:
            to_arrow_schema(StructType([field]), timezone="UTC")
        except PySparkException as error:
            raise ColumnError(
                f"Column {field.name!r} is of Spark type {field.dataType.simpleString()}, which has no Arrow "
                "type. Convert or drop it."
            ) from error
    return to_arrow_schema(types, timezone="UTC")


@contextmanager
def _cancelling(data: Any) -> Iterator[None]:
    """Cancel the jobs that the block started when it ends with an exception, such as an interrupt."""
    session, tag = data.sparkSession, f"weigh-{uuid4().hex}"
    session.addTag(tag)
    try:
        yield
    except BaseException:
        session.interruptTag(tag)
        raise
    finally:
        session.removeTag(tag)


def _dump(job: Any) -> bytes:
    from pyspark import cloudpickle

    try:
        return bytes(cloudpickle.dumps(job))
    except Exception as error:  # whatever the methods of a user's object raise
        raise NotSendable(first_line(error)) from error


@lru_cache(maxsize=4)
def _load(job: bytes) -> Any:
    from pyspark import cloudpickle

    return cloudpickle.loads(job)


def _read_head(schema: Any, n: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Return the first n rows of a partition as one row of bytes."""
    import pyarrow as pa

    parts: list[Any] = []
    n_rows = 0
    for batch in batches:
        parts.append(batch.slice(0, n - n_rows))
        n_rows += parts[-1].num_rows
        if n_rows >= n:
            break
    if not n_rows:
        return
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_table(pa.Table.from_batches(parts).cast(schema))
    yield _to_batch(HEADS, n_rows, sink.getvalue().to_pybytes())


def _count_rows(schema: Any, job: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    from pyspark import TaskContext

    number = TaskContext.get().partitionId()
    yield _to_batch(STATES, number, _load(job)(_to_tables(batches, schema), number))


def _to_tables(batches: Iterable[Any], schema: Any) -> Iterator[Any]:
    """Return batches as fewer tables of at least `CHUNK_ROWS` rows."""
    import pyarrow as pa

    parts: list[Any] = []
    for batch in batches:
        parts.append(batch)
        if sum(part.num_rows for part in parts) >= CHUNK_ROWS:
            yield pa.Table.from_batches(parts).cast(schema)
            parts = []
    if parts:
        yield pa.Table.from_batches(parts).cast(schema)


def _merge_states(job: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """Return the merged states of the batches, in the order of the first partition of each."""
    states = [
        (number.as_py(), state.as_py())
        for batch in batches
        for number, state in zip(batch["number"], batch["state"], strict=True)
    ]
    if states:
        states.sort(key=lambda pair: pair[0])
        yield _to_batch(STATES, states[0][0], _load(job)([state for _, state in states]))


def _map_rows(schema: Any, added: Any, job: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        result = _load(job)(pa.Table.from_batches([batch]).cast(schema)).cast(added)
        columns = [*batch.columns, *(column.combine_chunks() for column in result.columns)]
        yield pa.RecordBatch.from_arrays(columns, names=[*batch.schema.names, *result.schema.names])


def _to_batch(columns: str, number: int, content: bytes) -> Any:
    """Return a batch of one row."""
    import pyarrow as pa

    names = [column.split()[0] for column in columns.split(",")]
    return pa.RecordBatch.from_arrays(
        [pa.array([number], pa.int32()), pa.array([content], pa.binary())], names=names
    )
