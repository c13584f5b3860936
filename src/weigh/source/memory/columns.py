"""Columns in memory, of any storage, read lazily by row range and converted to plain or Arrow types."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.advice import set_kind
from weigh.errors import ColumnError, WeighError, first_line, quote_names
from weigh.source.chunk import Column
from weigh.source.values import (
    array_from_list,
    complex_data_error,
    to_plain_values,
    undecodable_bytes_error,
)

ReadRows = Callable[[int, int], Column]


@dataclass(frozen=True)
class LazyColumn:
    """A column that is converted when read: `read(start, stop)` returns those rows."""

    read: ReadRows
    length: int


@dataclass(frozen=True)
class LazyTable:
    """The columns of a table in memory.

    `named` says whether the columns have names of their own, rather than numbers. `description` names the
    table in messages. `kinds` are the kinds that the data state for some columns; the others are inferred.
    """

    columns: dict[str, LazyColumn]
    n_rows: int
    named: bool
    description: str = field(default="The table", kw_only=True)
    kinds: Mapping[str, str] = field(default_factory=dict, kw_only=True)


# What NumPy, pandas and Arrow raise for values that they cannot convert.
_CONVERSION_ERRORS = (ArithmeticError, LookupError, NotImplementedError, TypeError, ValueError)


@contextmanager
def conversion_errors(name: str) -> Iterator[None]:
    """Raise ColumnError instead of an error of another library that converts a column."""
    try:
        yield
    except WeighError:
        raise
    except _CONVERSION_ERRORS as error:
        raise ColumnError(
            f"Column {name!r} cannot be read: {first_line(error)}. Convert its values to strings or numbers."
        ) from error


def _converting_column(name: str, read: ReadRows, length: int) -> LazyColumn:
    """Return a column whose values other libraries convert when it is read."""

    def read_converted(start: int, stop: int) -> Column:
        with conversion_errors(name):
            return read(start, stop)

    return LazyColumn(read_converted, length)


def base_type_names(data: object) -> frozenset[str]:
    """Return the classes of an object as 'library.Class', without importing the libraries."""
    cls: Any = type(data)
    return _base_type_names(cls)


@lru_cache(maxsize=256)
def _base_type_names(cls: type) -> frozenset[str]:
    return frozenset(f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in cls.__mro__)


_ENGINES = ("dask.", "dask_expr.", "pyspark.", "weigh.PartitionedFrame")


def is_partitioned(data: object) -> bool:
    """Whether data are a frame in the partitions of an engine; raises DataError for other data of one."""
    if not any(name.startswith(_ENGINES) for name in base_type_names(data)):
        return False
    # Imported here because few tables are an engine's.
    from weigh.source.partitioned.recognition import has_partitions

    return has_partitions(data)


def lazy_column(name: str, values: Any) -> LazyColumn:
    """Return a column from a list, NumPy array, Series, Arrow array or an object that exports one."""
    if isinstance(values, np.ndarray):
        return numpy_column(name, values)
    types = base_type_names(values)
    if "pyarrow.Array" in types or "pyarrow.ChunkedArray" in types:
        return arrow_column(name, values)
    if "pandas.Series" in types:
        return pandas_column(name, values)
    with conversion_errors(name):
        if "pandas.Index" in types or "pandas.ExtensionArray" in types:
            return pandas_column(name, sys.modules["pandas"].Series(values))
        if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
            import pyarrow as pa

            return arrow_column(name, pa.chunked_array(values))
        if isinstance(values, (list, tuple, range)):
            return numpy_column(name, array_from_list(values))
        return numpy_column(name, np.asarray(values))


def numpy_column(name: str, values: NDArray[Any]) -> LazyColumn:
    """Return a column over a NumPy array: views of numbers, plain Python values otherwise."""
    if values.ndim != 1:
        raise ColumnError(
            f"Column {name!r} has {values.ndim} dimensions (shape {values.shape}); "
            f"a column has one value per row."
        )
    if isinstance(values, np.ma.MaskedArray):
        values = fill_mask(values)
    if not values.flags.aligned or values.strides[0] % max(1, values.dtype.itemsize):
        # For example a field of packed records; native code needs aligned values.
        values = values.copy()
    kind, length = values.dtype.kind, len(values)
    if kind in "fiub":
        if values.dtype.isnative and values.dtype.itemsize <= 8:
            return LazyColumn(lambda start, stop: values[start:stop], length)
        native = values.dtype.newbyteorder("=") if values.dtype.itemsize <= 8 else np.dtype(float)
        return _converting_column(name, lambda start, stop: values[start:stop].astype(native), length)
    if kind in "OUT":  # objects, fixed-width strings and variable-width strings
        return _converting_column(
            name,
            lambda start, stop: to_plain_values(values[start:stop].astype(object, copy=False), name, start),
            length,
        )
    if kind == "S":
        return LazyColumn(lambda start, stop: _decode_bytes(name, values[start:stop]), length)
    if kind == "c":
        raise complex_data_error(name)
    if kind in "Mm":
        return _converting_column(name, lambda start, stop: _convert_times(name, values[start:stop]), length)
    raise ColumnError(f"Column {name!r} has NumPy type {values.dtype}, which is not supported.")


def fill_mask(values: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """Replace masked entries by missing values: NaN in float arrays, None in others."""
    if not np.ma.is_masked(values):
        return np.asarray(values)
    if values.dtype.kind == "f":
        return np.asarray(values.filled(np.nan))
    objects = np.asarray(values.data.astype(object))
    objects[np.ma.getmaskarray(values)] = None
    return objects


def _decode_bytes(name: str, values: NDArray[Any]) -> NDArray[Any]:
    try:
        return np.char.decode(values, "utf-8").astype(object)
    except UnicodeDecodeError:
        raise undecodable_bytes_error(name) from None


def _convert_times(name: str, values: NDArray[Any]) -> Column:
    import pyarrow as pa

    unit = np.datetime_data(values.dtype)
    if unit not in {("s", 1), ("ms", 1), ("us", 1), ("ns", 1)}:
        values = values.astype(f"{values.dtype.kind}8[s]")
    array = pa.array(values)
    if unit == ("D", 1) and pa.types.is_timestamp(array.type):
        array = array.cast(pa.date32())
    return arrow_converter(name, array.type)(array)


def arrow_column(name: str, values: Any) -> LazyColumn:
    """Return a column over an Arrow array or chunked array; only ranges across chunks are copied."""
    convert = arrow_converter(name, values.type)
    if getattr(values, "num_chunks", None) == 1:
        values = values.chunk(0)
    is_checked = False

    def read(start: int, stop: int) -> Column:
        nonlocal is_checked
        if not is_checked:  # another thread may check at the same time, which does no harm
            # Imported here because rows without Arrow arrays do not need it.
            from weigh.source.memory.arrow_layout import check_layout

            check_layout(name, values)
            is_checked = True
        part = values.slice(start, stop - start)
        if hasattr(part, "num_chunks"):
            part = part.chunk(0) if part.num_chunks == 1 else part.combine_chunks()
        return convert(part)

    return _converting_column(name, read, len(values))


def pandas_column(name: str, series: Any) -> LazyColumn:
    """Return a column over a pandas Series: NumPy views where possible, Arrow arrays otherwise."""
    dtype, length = series.dtype, len(series)
    if isinstance(dtype, np.dtype):
        return numpy_column(name, series.to_numpy())
    values = series.array
    if str(getattr(dtype, "storage", "")).startswith("pyarrow") or hasattr(dtype, "pyarrow_dtype"):
        return arrow_column(name, values.__arrow_array__())
    dtype_name = type(dtype).__name__
    if dtype_name == "CategoricalDtype":
        return _categorical_column(name, series)
    if dtype_name == "SparseDtype":
        return _converting_column(
            name,
            lambda start, stop: numpy_column(name, np.asarray(values[start:stop])).read(0, stop - start),
            length,
        )
    if dtype_name in {"PeriodDtype", "IntervalDtype"}:
        return numpy_column(name, series.to_numpy(dtype=object))

    def read(start: int, stop: int) -> Column:
        import pyarrow as pa

        array = pa.array(values[start:stop])
        return arrow_converter(name, array.type)(array)

    return _converting_column(name, read, length)


def _categorical_column(name: str, series: Any) -> LazyColumn:
    """Return Arrow dictionary arrays that share one dictionary."""
    codes, categories = series.cat.codes.to_numpy(), series.cat.categories
    levels: list[Any] = []

    def dictionary() -> Any:
        if not levels:
            import pyarrow as pa

            level_column = pandas_column(name, categories.to_series())
            levels.append(pa.array(level_column.read(0, level_column.length)))
        return levels[0]

    def read(start: int, stop: int) -> Column:
        import pyarrow as pa

        part = codes[start:stop]
        if len(part) and not -1 <= int(part.min()) <= int(part.max()) < len(categories):
            raise ColumnError(
                f"Column {name!r} is damaged: a category code is outside -1 to {len(categories) - 1:,}. "
                "Build it again from its values."
            )
        missing = part < 0
        indices = pa.array(part, mask=missing if missing.any() else None)
        return pa.DictionaryArray.from_arrays(indices, dictionary())

    return _converting_column(name, read, len(codes))


def check_equal_lengths(columns: dict[str, LazyColumn], description: str) -> int:
    """Return the common length of columns, or raise ColumnError if they differ."""
    lengths = {name: column.length for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        listing = ", ".join(f"{name!r} has {n:,}" for name, n in list(lengths.items())[:8])
        raise ColumnError(f"{description}'s columns differ in length: {listing} rows.")
    return next(iter(lengths.values()), 0)


def check_not_empty(table: LazyTable) -> LazyTable:
    """Return the table, or raise ColumnError if it has no columns or no rows."""
    # scikit-learn's check_estimator matches the wording "Found array with 0 …".
    if not table.columns:
        raise ColumnError(
            f"{table.description} is empty: Found array with 0 feature(s) "
            f"(shape=({table.n_rows}, 0)) while a minimum of 1 is required."
        )
    if table.n_rows == 0:
        raise ColumnError(
            f"{table.description} is empty: it has columns {quote_names(table.columns)} and no rows. "
            f"Found array with 0 sample(s) (shape=(0, {len(table.columns)})) "
            f"while a minimum of 1 is required."
        )
    return table


ArrowConverter = Callable[[Any], Any]


def arrow_converter(name: str, arrow_type: Any) -> ArrowConverter:
    """Return the conversion of arrays of one Arrow type to a type that the encoders support.

    Booleans, integers, float32/64, strings, dictionaries of these and lists of strings are unchanged; float16
    becomes float32, decimals floats, times ISO text, durations seconds, UTF-8 binary and null columns text;
    extension and run-end-encoded arrays are unwrapped; fixed-size lists and list views become large lists.
    The converter of an unsupported type raises only when it is called, so that such columns can be skipped.
    """
    import pyarrow.types as t

    if t.is_dictionary(arrow_type):
        return _dictionary_converter(name, arrow_type)
    for matches, convert in _conversion_rules():
        if matches(arrow_type):
            return convert
    if _is_list(arrow_type):
        return _list_converter(name, arrow_type)
    if t.is_run_end_encoded(arrow_type):
        convert_values = arrow_converter(name, arrow_type.value_type)
        return lambda array: convert_values(_arrow_compute().run_end_decode(array))
    if hasattr(arrow_type, "storage_type"):
        convert_storage = arrow_converter(name, arrow_type.storage_type)
        return lambda array: convert_storage(array.storage)
    if t.is_binary(arrow_type) or t.is_large_binary(arrow_type) or t.is_binary_view(arrow_type):
        return lambda array: _decode_binary(name, array)
    return _unsupported_type(name, arrow_type)


def _conversion_rules() -> list[tuple[Callable[[Any], bool], ArrowConverter]]:
    import pyarrow as pa
    import pyarrow.types as t

    # Imported here because rows without Arrow arrays do not need it.
    from weigh.source.memory.times import times_to_iso

    return [
        (_needs_no_conversion, _identity),
        (t.is_float16, lambda array: array.cast(pa.float32())),
        (t.is_decimal, lambda array: array.cast(pa.float64())),
        (t.is_duration, _durations_to_seconds),
        (t.is_temporal, times_to_iso),
        (t.is_null, lambda array: array.cast(pa.string())),
    ]


def _needs_no_conversion(arrow_type: Any) -> bool:
    import pyarrow.types as t

    return bool(
        t.is_float64(arrow_type)
        or t.is_string(arrow_type)
        or t.is_large_string(arrow_type)
        or t.is_string_view(arrow_type)
        or t.is_integer(arrow_type)
        or t.is_boolean(arrow_type)
        or t.is_float32(arrow_type)
    )


def _identity(array: Any) -> Any:
    return array


def _arrow_compute() -> Any:
    import pyarrow.compute

    return pyarrow.compute


def _durations_to_seconds(array: Any) -> Any:
    import pyarrow as pa

    per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[array.type.unit]
    return _arrow_compute().divide(array.cast(pa.int64()).cast(pa.float64(), safe=False), per_second)


def _dictionary_converter(name: str, arrow_type: Any) -> ArrowConverter:
    """Convert the dictionary of an array if its value type requires it."""
    if _needs_no_conversion(arrow_type.value_type):
        return _identity
    convert_values = arrow_converter(name, arrow_type.value_type)

    def convert(array: Any) -> Any:
        return type(array).from_arrays(array.indices, convert_values(array.dictionary))

    return convert


def _is_list(arrow_type: Any) -> bool:
    import pyarrow.types as t

    return bool(
        t.is_list(arrow_type)
        or t.is_large_list(arrow_type)
        or t.is_fixed_size_list(arrow_type)
        or t.is_list_view(arrow_type)
        or t.is_large_list_view(arrow_type)
    )


def _list_converter(name: str, arrow_type: Any) -> ArrowConverter:
    """Convert lists of strings to large lists; other lists are unsupported."""
    import pyarrow as pa
    import pyarrow.types as t

    value_type = arrow_type.value_type
    is_plain_string = t.is_string(value_type) or t.is_large_string(value_type)
    if not (is_plain_string or t.is_string_view(value_type) or t.is_null(value_type)):
        return _unsupported_type(name, arrow_type)
    if is_plain_string and (t.is_list(arrow_type) or t.is_large_list(arrow_type)):
        return _identity
    if t.is_list_view(arrow_type) or t.is_large_list_view(arrow_type):
        return _list_views_to_lists
    target_type = pa.large_list(pa.large_string())
    return lambda array: array.cast(target_type)


def _list_views_to_lists(array: Any) -> Any:
    """Convert list views to large lists; Arrow's own cast loses the last list."""
    import pyarrow as pa

    lengths = _arrow_compute().list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))
    mask = array.is_null() if array.null_count else None
    return pa.LargeListArray.from_arrays(offsets, array.flatten().cast(pa.large_string()), mask=mask)


def _decode_binary(name: str, array: Any) -> Any:
    import pyarrow as pa

    try:
        return array.cast(pa.large_binary()).cast(pa.large_string())
    except pa.ArrowInvalid:
        raise undecodable_bytes_error(name) from None


def _unsupported_type(name: str, arrow_type: Any) -> ArrowConverter:
    def raise_error(_: Any) -> Any:
        if "complex" in str(arrow_type):
            raise complex_data_error(name)
        raise ColumnError(
            f"Column {name!r} is of Arrow type {arrow_type}, which cannot be read as a category, number "
            f"or text. Extract the parts you need into columns of their own, or skip the column:",
            hint=(set_kind(name, "skip"), "."),
        )

    return raise_error
