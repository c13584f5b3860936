"""Tables of pandas, polars, Arrow and all that speak Arrow's C interface, as fields."""

from __future__ import annotations

from typing import Any

from weigh.errors import DataError
from weigh.source.base import check_names
from weigh.source.columns import Fields, arrow_field, origins, pandas_field


def from_frame(data: Any) -> Fields | None:
    """Fields of a frame or Arrow table; None when data is neither."""
    kinds = origins(data)
    if "pandas.DataFrame" in kinds:
        return from_pandas(data)
    if "polars.LazyFrame" in kinds:
        raise DataError("A polars LazyFrame has no rows yet. Give .collect() of it.")
    if "pyarrow.Table" in kinds or "pyarrow.RecordBatch" in kinds:
        return from_arrow(data)
    if kinds & {"pandas.Series", "polars.Series", "pyarrow.Array", "pyarrow.ChunkedArray"}:
        return None
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return from_arrow(_imported(data))
    return None


def from_pandas(frame: Any) -> Fields:
    """Fields of a pandas DataFrame; the index is not a column."""
    names = [str(name) for name in frame.columns]
    check_names(names, "The DataFrame")
    columns = {
        name: pandas_field(name, series) for name, (_, series) in zip(names, frame.items(), strict=True)
    }
    return Fields(columns, len(frame), True, what="The DataFrame")


def from_arrow(table: Any) -> Fields:
    """Fields of an Arrow table or record batch."""
    check_names(table.schema.names, "The table")
    columns = {
        name: arrow_field(name, column)
        for name, column in zip(table.schema.names, table.columns, strict=True)
    }
    return Fields(columns, table.num_rows, True)


def _imported(data: Any) -> Any:
    """Foreign Arrow data as a table. The buffers are shared, polars' views of strings included."""
    import pyarrow as pa

    try:
        if hasattr(data, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(data).read_all()
        return pa.record_batch(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(
            f"Expected a table with named columns, got {type(data).__name__}, which is a stream of "
            f"something else: {error}."
        ) from error
