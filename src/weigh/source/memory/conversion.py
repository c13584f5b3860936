"""Conversion of frames, Arrow tables, dicts, lists and NumPy arrays to a `LazyTable`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.errors import DataError
from weigh.source.base import check_unique_names
from weigh.source.memory.columns import (
    LazyColumn,
    LazyTable,
    base_type_names,
    check_equal_lengths,
    fill_mask,
    lazy_column,
    numpy_column,
)
from weigh.source.values import array_from_list

TEXT_COLUMN = "text"
MAX_INSPECTED = 100  # values of a column in which a dict is looked for


def table_from_mapping(data: Mapping[Any, Any]) -> LazyTable:
    """Convert a dict of columns, or of scalars, which is one row."""
    names = [str(name) for name in data]
    check_unique_names(names, "The dict")
    are_scalar = [is_scalar(value) for value in data.values()]
    if names and all(are_scalar):
        row = zip(names, data.values(), strict=True)
        columns = {name: numpy_column(name, array_from_list([value])) for name, value in row}
        return LazyTable(columns, 1, True, description="The row")
    if any(are_scalar):
        scalar, sequence = names[are_scalar.index(True)], names[are_scalar.index(False)]
        raise DataError(
            f"The dict mixes single values ({scalar!r}) and sequences ({sequence!r}). Give a list "
            f"of one dict for one row, or a sequence for every column."
        )
    columns = _flatten_columns(zip(names, data.values(), strict=True), "The dict")
    return LazyTable(columns, check_equal_lengths(columns, "The dict"), True, description="The dict")


def _flatten_columns(columns: Iterable[tuple[str, Any]], description: str) -> dict[str, LazyColumn]:
    """Return columns of values; the fields of structs and of dicts become columns of their own."""
    pairs = [pair for name, values in columns for pair in _flatten_column(name, values)]
    check_unique_names([name for name, _ in pairs], description)
    return {name: lazy_column(name, values) for name, values in pairs}


def _flatten_column(name: str, values: Any) -> Iterator[tuple[str, Any]]:
    if str(getattr(values, "type", "")).startswith("struct<"):
        # Imported here because few columns are nested.
        from weigh.source.nested_columns import flatten_array

        yield from flatten_array(name, values)
    elif _holds_dicts(values):
        from weigh.source.nested_columns import flatten_dicts

        yield from flatten_dicts(name, array_from_list(list(values)))
    else:
        yield name, values


def _holds_dicts(values: Any) -> bool:
    """Whether one of the first values of a list, array or Series of Python values is a dict."""
    dtype = getattr(values, "dtype", None)
    is_object = isinstance(dtype, np.dtype) and dtype.kind == "O" and np.ndim(values) == 1
    if not is_object and not isinstance(values, list | tuple):
        return False
    return any(isinstance(value, Mapping) for value in values[:MAX_INSPECTED])


def is_scalar(value: object) -> bool:
    """Whether a value is a single value rather than a sequence."""
    if isinstance(value, (str, bytes, type)):
        return True
    ndim = getattr(value, "ndim", None)
    return not hasattr(value, "__len__") if ndim is None else ndim == 0


def table_from_dicts(data: Sequence[Mapping[Any, Any]]) -> LazyTable:
    """Convert a list of dicts, one per row; absent keys are missing values."""
    names = list(dict.fromkeys(key for row in data for key in row))
    check_unique_names([str(name) for name in names], "The list of dicts")
    values = ((str(name), array_from_list([row.get(name) for row in data])) for name in names)
    columns = _flatten_columns(values, "The list of dicts")
    return LazyTable(columns, len(data), True, description="The list of dicts")


def table_from_texts(data: Any) -> LazyTable | None:
    """Convert a sequence of strings to one column named 'text'; returns None for other data."""
    types = base_type_names(data)
    if types & {"pandas.Series", "polars.Series", "pyarrow.Array", "pyarrow.ChunkedArray"}:
        column = lazy_column(TEXT_COLUMN, data)
        if column.length and not _are_strings(column.read(0, min(column.length, 100))):
            raise not_2d_error((column.length,))
    elif isinstance(data, np.ndarray) and data.ndim == 1 and data.dtype.kind in "OUT":
        if not _are_strings(data):
            return None
        column = numpy_column(TEXT_COLUMN, data)
    elif isinstance(data, (list, tuple)):
        if str not in set(map(type, data)) or not _are_strings(data):
            return None
        column = numpy_column(TEXT_COLUMN, np.fromiter(data, dtype=object, count=len(data)))
    else:
        return None
    # A bare list of strings is text, even if the strings are short or repeated.
    return LazyTable(
        {TEXT_COLUMN: column},
        column.length,
        True,
        description="The list of texts",
        kinds={TEXT_COLUMN: TEXT_COLUMN},
    )


def _are_strings(values: Any) -> bool:
    """Whether values are strings, ignoring missing values."""
    if hasattr(values, "type"):
        return "string" in str(values.type)
    types = set(map(type, values)) - {type(None)}
    if float in types and all(value != value for value in values if type(value) is float):
        types.discard(float)  # NaN is a missing text
    return bool(types) and all(issubclass(value_type, str) for value_type in types)


def table_from_sequence(data: Sequence[Any], names: Sequence[str] | None) -> LazyTable:
    """Convert a list of dicts, strings or lists, one per row."""
    if len(data) == 0:
        raise DataError("The list is empty: Found array with 0 sample(s) (shape=(0,)).")
    if all(isinstance(row, Mapping) for row in data):
        return table_from_dicts(data)
    texts = table_from_texts(data)
    if texts is not None:
        return texts
    lengths = [-1 if is_scalar(row) else len(row) for row in data]
    if len(set(lengths)) > 1:
        odd = next(i for i, length in enumerate(lengths) if length != lengths[0])
        raise DataError(
            f"The rows differ in length: row 0 has {_format_length(lengths[0])}, row {odd} has "
            f"{_format_length(lengths[odd])}. Give every row the same number of values."
        )
    if lengths[0] < 0:
        raise not_2d_error((len(data),))
    array = _to_matrix(data)
    if array is None:
        arrays = [array_from_list(column) for column in zip(*data, strict=True)]
        checked_names = column_names(len(arrays), names)
        columns = {name: numpy_column(name, array) for name, array in zip(checked_names, arrays, strict=True)}
        return LazyTable(columns, len(data), names is not None, description="The list")
    return table_from_array(array, names)


def _to_matrix(data: Sequence[Any]) -> NDArray[Any] | None:
    """Return rows of numbers as an array, None for other rows, whose numbers NumPy would turn into text."""
    # NumPy would build an array of many dimensions from rows of lists, endlessly if they contain themselves.
    if len(data[0]) and not is_scalar(next(iter(data[0]))):
        return None
    try:
        array = np.asarray(data)
    except (TypeError, ValueError, OverflowError):
        return None
    return array if array.ndim != 2 or array.dtype.kind in "biufc" else None


def _format_length(length: int) -> str:
    return "a single value" if length < 0 else f"{length} value{'s' * (length != 1)}"


def table_from_array(data: NDArray[Any], names: Sequence[str] | None) -> LazyTable:
    """Convert a 2-D or structured array; the columns are views."""
    if data.dtype.names is not None:
        columns = {name: numpy_column(name, data[name]) for name in data.dtype.names}
        return LazyTable(columns, len(data), True, description="The array")
    if data.dtype.kind == "c":
        raise DataError("Complex data not supported: the array holds complex numbers.")
    check_array_shape(data.shape)
    if isinstance(data, np.ma.MaskedArray):
        data = fill_mask(data)
    data = np.asarray(data)
    columns = {
        name: numpy_column(name, data[:, j]) for j, name in enumerate(column_names(data.shape[1], names))
    }
    return LazyTable(columns, len(data), names is not None, description="The array")


def column_names(width: int, names: Sequence[str] | None) -> list[str]:
    """Return the given names, checked, or x0, x1, ..."""
    if names is None:
        return [f"x{j}" for j in range(width)]
    if len(names) != width:
        raise DataError(f"There are {len(names):,} names for {width:,} columns; give one for each.")
    check_unique_names([str(name) for name in names], "names=")
    return [str(name) for name in names]


def check_array_shape(shape: tuple[int, ...]) -> None:
    """Raise DataError unless the shape is 2-D with at least one row and one column."""
    if len(shape) != 2:
        raise not_2d_error(shape)
    for size, unit in zip(shape, ("sample(s)", "feature(s)"), strict=True):
        if size == 0:
            raise DataError(f"Found array with 0 {unit} (shape={shape}) while a minimum of 1 is required.")


def not_2d_error(shape: tuple[int, ...]) -> DataError:
    """Return the error for an array that is not 2-D, with the words that scikit-learn's checks expect."""
    if len(shape) > 2:
        return DataError(
            f"Found array with dim {len(shape)}. Expected 2D array, got shape {shape}: "
            f"one row per example, one column per feature."
        )
    got = "a single value" if not shape else f"1D array of shape {shape}"
    return DataError(
        f"Expected 2D array, got {got} instead. Reshape your data with .reshape(-1, 1) if it is "
        f"one column, or .reshape(1, -1) if it is one row."
    )


def table_from_frame(data: Any) -> LazyTable | None:
    """Convert a data frame or Arrow table; returns None for other data."""
    types = base_type_names(data)
    if "pandas.DataFrame" in types:
        return table_from_pandas(data)
    if "polars.LazyFrame" in types:
        raise DataError(
            "Labels and weights that are arrays need the rows of a polars LazyFrame.",
            hint="Call .collect() on it first, or name its label column.",
        )
    if "pyarrow.Table" in types or "pyarrow.RecordBatch" in types:
        return table_from_arrow(data)
    if types & {"pandas.Series", "polars.Series", "pyarrow.Array", "pyarrow.ChunkedArray"}:
        return None
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return table_from_arrow(_import_arrow(data))
    return None


def table_from_pandas(frame: Any) -> LazyTable:
    """Convert a pandas DataFrame; the index is not a column."""
    names = [str(name) for name in frame.columns]
    check_unique_names(names, "The DataFrame")
    series = (each for _, each in frame.items())
    columns = _flatten_columns(zip(names, series, strict=True), "The DataFrame")
    return LazyTable(columns, len(frame), True, description="The DataFrame")


def table_from_arrow(table: Any) -> LazyTable:
    """Convert an Arrow table or record batch."""
    check_unique_names(table.schema.names, "The table")
    columns = _flatten_columns(zip(table.schema.names, table.columns, strict=True), "The table")
    return LazyTable(columns, table.num_rows, True)


def _import_arrow(data: Any) -> Any:
    """Import data through the Arrow C interface without copying the buffers."""
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
