"""Tables in Spark, and what the tests of this folder compare."""

from __future__ import annotations

import decimal
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from tests.engines.frames import WORDS, mixed_table


def to_arrow(table: Any) -> pa.Table:
    """Return a pandas frame as Arrow; NaN and NaT are missing."""
    return pa.Table.from_pandas(table, preserve_index=False)


def class_table(n: int = 3_000) -> pa.Table:
    """Return the mixed table without its target, with types that only Arrow and Spark have."""
    rng = np.random.default_rng(1)
    table = to_arrow(mixed_table(n).drop(columns="target"))
    cents = [None if value < 5 else decimal.Decimal(int(value)) / 100 for value in rng.integers(0, 9_999, n)]
    moments = pa.array(
        rng.integers(1_500_000_000, 1_700_000_000, n) * 1_000_000 + 500, pa.timestamp("us", "UTC")
    )
    tokens = [None if row[0] == "ant" else list(row) for row in rng.choice(WORDS, (n, 3))]
    return (
        table.append_column("paid", pa.array(cents, pa.decimal128(12, 2)))
        .append_column("seen", moments)
        .append_column("day", pa.array(rng.integers(10_000, 19_000, n).astype(np.int32), pa.date32()))
        .append_column("tags", pa.array(tokens, pa.list_(pa.string())))
    )


def to_spark(session: Any, table: pa.Table, n: int) -> Any:
    """Return a table as a Spark DataFrame of n partitions of consecutive rows."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    types = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
    rows = table.cast(to_arrow_schema(types, timezone="UTC")).combine_chunks()
    size = -(-table.num_rows // n)

    def read(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch["id"].to_pylist():
                yield from rows.slice(number * size, size).to_batches()

    return session.range(0, n, 1, n).mapInArrow(read, types)
