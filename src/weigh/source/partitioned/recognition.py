"""Recognise the frames of engines by the names of their types, without importing the engines."""

from __future__ import annotations

from typing import Any

from weigh.errors import DataError
from weigh.source.memory.columns import base_type_names
from weigh.source.partitioned.frame import PartitionedFrame

_DASK_FRAMES = frozenset({"dask.DataFrame", "dask_expr.DataFrame"})
_SPARK_FRAMES = frozenset({"pyspark.DataFrame"})
_SPARK_OTHERS = frozenset({"pyspark.RDD", "pyspark.Column", "pyspark.Series"})
_DASK_OTHERS = frozenset({"dask.Array", "dask.Bag", "dask.Series", "dask_expr.Series"})


def has_partitions(data: Any) -> bool:
    """Whether data are a frame in the partitions of an engine; raises DataError for other data of one."""
    if isinstance(data, PartitionedFrame):
        return True
    types = base_type_names(data)
    for engine, others in (("Dask", _DASK_OTHERS), ("Spark", _SPARK_OTHERS)):
        if types & others:
            raise DataError(
                f"A {engine} {type(data).__name__} has no columns with names.",
                hint=f"Give a {engine} DataFrame.",
            )
    return bool(types & (_DASK_FRAMES | _SPARK_FRAMES))


def to_frame(data: Any) -> PartitionedFrame:
    """Return data that `has_partitions` as a frame. The module of its engine is imported now."""
    if isinstance(data, PartitionedFrame):
        return data
    if base_type_names(data) & _SPARK_FRAMES:
        from weigh.source.partitioned.spark import SparkFrame

        return SparkFrame(data)
    from weigh.source.partitioned.dask import DaskFrame

    return DaskFrame(data)
