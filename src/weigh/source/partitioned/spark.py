"""Spark DataFrames: the Python workers of the executors read their partitions as Arrow batches.

A fold is one job. Its first stage counts, with one row per partition as its result: the number of the
partition and its state. Every further stage merges the states of `FAN_IN` neighbours. Spark runs a task
again when its worker dies, or twice when it is slow, and its shuffle passes on one result of each.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any
from uuid import uuid4

from weigh.errors import ColumnError, DataError, first_line, quote_names
from weigh.source.base import CHUNK_ROWS, find_duplicate
from weigh.source.partitioned.frame import (
    FAN_IN,
    Count,
    Merge,
    NotSendable,
    PartitionedFrame,
    PersistedPartitions,
    Work,
)

# A task costs about 0.1 s of computing more than its rows; several per core even out their sizes.
TASKS_PER_CORE = 4
MAX_COLLECTED = 2  # states that this process merges itself, which saves Spark a stage
MAX_FAILURES = 4  # of a task, as in clusters; by default, a local session gives up at the first
STATES = "number int, state binary"


class SparkFrame(PartitionedFrame):
    """A Spark DataFrame, or a DataFrame of the pandas API on Spark, whose index is not a column."""

    engine = "Spark"
    how_to_collect = "frame.toArrow()"

    def __init__(self, data: Any) -> None:
        is_pandas_api = type(data).__module__.startswith("pyspark.pandas")
        self._data = data.spark.frame() if is_pandas_api else data
        if self._data.isStreaming:
            raise DataError("The Spark DataFrame is a stream, whose rows have no end. Give a batch of them.")
        if (name := find_duplicate(self._data.columns)) is not None:
            raise ColumnError(
                f"The Spark DataFrame has several columns {name!r}. Give every column its own name."
            )
        self._schema = _arrow_schema(self._data.schema)
        # mapInArrow looks columns up by name, and takes dots for fields.
        self._rows = self._data.toDF(*(f"c{i}" for i in range(len(self._data.columns))))

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self._data.columns)

    def first_rows(self, n: int) -> Any:
        """Return the first n rows; Spark reads one partition, and more of them until there are enough."""
        from pyspark.sql import DataFrame

        # A limit before mapInArrow or toArrow would read all partitions, in any order.
        session, java_frame = self._data.sparkSession, self._data._jdf
        with _running(self._data):
            rows = java_frame.takeAsList(n)
            first = session._jsparkSession.createDataFrame(rows, java_frame.schema())
            return DataFrame(first, session).toArrow()

    def fold(self, count: Count, merge: Merge) -> bytes | None:
        """Return the merged states of all partitions; many small partitions are counted together."""
        n_tasks = TASKS_PER_CORE * self._data.sparkSession.sparkContext.defaultParallelism
        return _fold(self._count(self._rows.coalesce(n_tasks), count), n_tasks, merge)

    def persist(self, count: Count) -> PersistedPartitions:
        """Return the states of all partitions, which the executors keep in memory or on their disks."""
        states = self._count(self._rows, count).persist()
        try:
            with _running(states):
                last = states.selectExpr("max(number)").first()[0]
        except BaseException:
            states.unpersist()
            raise
        return SparkStates(states, 0 if last is None else last + 1)

    def _count(self, rows: Any, count: Count) -> Any:
        """Return the lazy states of the partitions of these rows."""
        return rows.mapInArrow(partial(_count_rows, self._schema, _dump(count)), STATES)

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
        return self._rows.mapInArrow(work_rows, types)


@contextmanager
def open_parquet(files: Sequence[str], address: str | None) -> Iterator[SparkFrame]:
    """Open Parquet files in the active Spark session, or in a new one: on this machine without a master."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    master = address or f"local[*,{MAX_FAILURES}]"
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    active = SparkSession.getActiveSession()
    options = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    try:
        builder = SparkSession.builder.appName("weigh").master(master).config(map=options)
        session = active or builder.getOrCreate()
    except (Py4JError, PySparkException) as error:
        raise DataError(
            f"Spark does not start with the master {master!r}: {first_line(error)}.",
            hint="It needs Java 17 or later, and a master such as local[4] or spark://10.0.0.1:7077.",
        ) from error
    try:
        yield SparkFrame(session.read.parquet(*files))
    finally:
        if active is None:
            session.stop()


class SparkStates(PersistedPartitions):
    """States in a Spark DataFrame that is persisted."""

    engine = "Spark"

    def __init__(self, states: Any, n_states: int) -> None:
        self._states, self._n_states = states, n_states

    def fold(self, count: Count, merge: Merge) -> bytes | None:
        """Return the merged states of all partitions; a task of each core merges what it counts."""
        n_tasks = min(self._n_states, self._states.sparkSession.sparkContext.defaultParallelism)
        count_states = partial(_count_states, _dump(count), _dump(merge))
        return _fold(self._states.coalesce(max(1, n_tasks)).mapInArrow(count_states, STATES), n_tasks, merge)

    def release(self) -> None:
        """Free the memory and the disks of the executors."""
        self._states.unpersist()


def _fold(states: Any, n_states: int, merge: Merge) -> bytes | None:
    """Return the merged state of a Spark DataFrame of states, numbered below `n_states`."""
    merge_states, width = partial(_merge_states, _dump(merge)), 1
    while -(-n_states // width) > MAX_COLLECTED:
        width *= FAN_IN
        places = states.selectExpr("number", "state", f"number div {width} as place")
        groups = places.repartition(-(-n_states // width), "place").drop("place")
        states = groups.mapInArrow(merge_states, STATES)
    with _running(states):
        found = sorted((row.number, bytes(row.state)) for row in states.collect())
    return merge([state for _, state in found]) if found else None


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
def _running(data: Any) -> Iterator[None]:
    """Cancel the jobs that the block started when it ends with an exception, such as an interrupt."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    # Tags of the session belong to the thread in the Java process, which an interrupt replaces.
    context, tag = data.sparkSession.sparkContext, f"weigh-{uuid4().hex}"
    context.addJobTag(tag)
    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        _explain(error)
        raise
    except BaseException:
        context.cancelJobsWithTag(tag)
        raise
    finally:
        context.removeJobTag(tag)


def _explain(error: Exception) -> None:
    """Raise DataError instead of an error of Spark that the user can mend; others are defects."""
    text = str(error)
    if found := re.search(r"No module named [^\n]*|\[PYTHON_VERSION_MISMATCH\][^\n]*", text):
        raise DataError(
            f"The Python of Spark's workers cannot run weigh: {found[0]}.",
            hint=f"Start the session with PYSPARK_PYTHON={sys.executable}, or install weigh for the workers.",
        ) from error
    if found := re.search(r"\[(FAILED_READ_FILE|CAST_|CANNOT_)[^\n]*", text):
        raise DataError(f"Spark cannot compute the rows of the DataFrame: {found[0]}") from error


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


def _count_rows(schema: Any, job: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    from pyspark import TaskContext

    number = TaskContext.get().partitionId()
    yield _to_batch(number, _load(job)(_to_tables(batches, schema), number))


def _to_tables(batches: Iterable[Any], schema: Any) -> Iterator[Any]:
    """Return batches as fewer tables of at least `CHUNK_ROWS` rows."""
    parts: list[Any] = []
    for batch in batches:
        parts.append(batch)
        if sum(part.num_rows for part in parts) >= CHUNK_ROWS:
            yield _to_table(parts, schema)
            parts = []
    if parts:
        yield _to_table(parts, schema)


def _to_table(batches: list[Any], schema: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches(batches).rename_columns(schema.names).cast(schema)


def _count_states(count_job: bytes, merge_job: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """Return the merged counts of all states of a task; one state is in memory at a time."""
    from pyspark import TaskContext

    total: list[bytes] = []
    for number, state in _read_states(batches):
        total = [_load(merge_job)([*total, _load(count_job)([state], number)])]
    if total:
        yield _to_batch(TaskContext.get().partitionId(), total[0])


def _merge_states(job: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """Return the merged states of the batches, in the order of the first partition of each."""
    if states := sorted(_read_states(batches)):
        yield _to_batch(states[0][0], _load(job)([state for _, state in states]))


def _read_states(batches: Iterable[Any]) -> Iterator[tuple[int, bytes]]:
    for batch in batches:
        for number, state in zip(batch["number"], batch["state"], strict=True):
            yield number.as_py(), state.as_py()


def _map_rows(schema: Any, added: Any, job: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        result = _load(job)(_to_table([batch], schema)).cast(added)
        columns = [*batch.columns, *(column.combine_chunks() for column in result.columns)]
        yield pa.RecordBatch.from_arrays(columns, names=[*schema.names, *added.names])


def _to_batch(number: int, state: bytes) -> Any:
    """Return a batch of one row of `STATES`."""
    import pyarrow as pa

    columns = [pa.array([number], pa.int32()), pa.array([state], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["number", "state"])
