"""A column of any storage as a field: something that gives rows start to stop."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.errors import ColumnError, quote_names
from weigh.source.chunk import Column
from weigh.source.values import array_from_list, complex_data_error, to_plain_values

ReadRows = Callable[[int, int], Column]


@dataclass(frozen=True)
class LazyColumn:
    """One column, not yet cut: its length, and a function that gives some of its rows."""

    read: ReadRows
    length: int


@dataclass(frozen=True)
class LazyTable:
    """All columns of a table in memory; `what` names the table in messages."""

    columns: dict[str, LazyColumn]
    n_rows: int
    named: bool
    description: str = field(default="The table", kw_only=True)
    kinds: Mapping[str, str] = field(default_factory=dict, kw_only=True)


def base_type_names(data: object) -> frozenset[str]:
    """The foreign classes data is an instance of, as 'library.Class', importing none of them."""
    kind: Any = type(data)
    return _base_type_names(kind)


@lru_cache(maxsize=256)
def _base_type_names(kind: type) -> frozenset[str]:
    return frozenset(f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in kind.__mro__)


def lazy_column(name: str, values: Any) -> LazyColumn:
    """A field from a list, NumPy array, Series, Arrow array or anything that exports one."""
    if isinstance(values, np.ndarray):
        return numpy_column(name, values)
    kinds = base_type_names(values)
    if "pyarrow.Array" in kinds or "pyarrow.ChunkedArray" in kinds:
        return arrow_column(name, values)
    if "pandas.Series" in kinds:
        return pandas_column(name, values)
    if "pandas.Index" in kinds or "pandas.ExtensionArray" in kinds:
        return pandas_column(name, sys.modules["pandas"].Series(values))
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        import pyarrow as pa

        return arrow_column(name, pa.chunked_array(values))
    if isinstance(values, (list, tuple, range)):
        return numpy_column(name, array_from_list(values))
    return numpy_column(name, np.asarray(values))


def numpy_column(name: str, values: NDArray[Any]) -> LazyColumn:
    """A field over a NumPy array: views of numbers, plain Python values otherwise."""
    if values.ndim != 1:
        raise ColumnError(
            f"Column {name!r} has {values.ndim} dimensions (shape {values.shape}); "
            f"a column has one value per row."
        )
    if isinstance(values, np.ma.MaskedArray):
        values = fill_mask(values)
    if not values.flags.aligned or values.strides[0] % max(1, values.dtype.itemsize):
        # A field of packed records: native code needs whole steps from value to value.
        values = values.copy()
    kind, length = values.dtype.kind, len(values)
    if kind in "fiub":
        if values.dtype.isnative and values.dtype.itemsize <= 8:
            return LazyColumn(lambda start, stop: values[start:stop], length)
        native = values.dtype.newbyteorder("=") if values.dtype.itemsize <= 8 else np.dtype(float)
        return LazyColumn(lambda start, stop: values[start:stop].astype(native), length)
    if kind in "OUT":
        return LazyColumn(
            lambda start, stop: to_plain_values(values[start:stop].astype(object, copy=False), name, start),
            length,
        )
    if kind == "S":
        return LazyColumn(lambda start, stop: _decode_bytes(name, values[start:stop]), length)
    if kind == "c":
        raise complex_data_error(name)
    if kind in "Mm":
        return LazyColumn(lambda start, stop: _convert_times(name, values[start:stop]), length)
    raise ColumnError(f"Column {name!r} has NumPy type {values.dtype}, which has no reading here.")


def fill_mask(values: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """Masked entries as missing values: NaN among numbers, None among objects."""
    if not np.ma.is_masked(values):
        return np.asarray(values)
    if values.dtype.kind == "f":
        return np.asarray(values.filled(np.nan))
    plain_values = np.asarray(values.data.astype(object))
    plain_values[np.ma.getmaskarray(values)] = None
    return plain_values


def _decode_bytes(name: str, values: NDArray[Any]) -> NDArray[Any]:
    try:
        return np.char.decode(values, "utf-8").astype(object)
    except UnicodeDecodeError:
        raise ColumnError(
            f"Column {name!r} holds bytes that are not UTF-8 text. Decode them, or skip the column."
        ) from None


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
    """A field over an Arrow array or chunked array; copies only where pieces must be joined."""
    convert = arrow_converter(name, values.type)
    if getattr(values, "num_chunks", None) == 1:
        values = values.chunk(0)
    if not hasattr(values, "num_chunks"):
        return LazyColumn(lambda start, stop: convert(values.slice(start, stop - start)), len(values))

    def cut(start: int, stop: int) -> Column:
        piece = values.slice(start, stop - start)
        return convert(piece.chunk(0) if piece.num_chunks == 1 else piece.combine_chunks())

    return LazyColumn(cut, len(values))


def pandas_column(name: str, series: Any) -> LazyColumn:
    """A field over a pandas Series: NumPy views, Arrow data as it is, the rest as Arrow."""
    dtype, length = series.dtype, len(series)
    if isinstance(dtype, np.dtype):
        return numpy_column(name, series.to_numpy())
    values = series.array
    if str(getattr(dtype, "storage", "")).startswith("pyarrow") or hasattr(dtype, "pyarrow_dtype"):
        return arrow_column(name, values.__arrow_array__())
    kind = type(dtype).__name__
    if kind == "CategoricalDtype":
        return _categorical_column(name, series)
    if kind == "SparseDtype":
        return LazyColumn(lambda start, stop: np.asarray(values[start:stop]), length)
    if kind in {"PeriodDtype", "IntervalDtype"}:
        return numpy_column(name, series.to_numpy(dtype=object))

    def cut(start: int, stop: int) -> Column:
        import pyarrow as pa

        array = pa.array(values[start:stop])
        return arrow_converter(name, array.type)(array)

    return LazyColumn(cut, length)


def _categorical_column(name: str, series: Any) -> LazyColumn:
    """Codes cut chunk by chunk, with one dictionary for all of them."""
    codes, categories = series.cat.codes.to_numpy(), series.cat.categories
    levels: list[Any] = []

    def dictionary() -> Any:
        if not levels:
            import pyarrow as pa

            level_field = pandas_column(name, categories.to_series())
            levels.append(pa.array(level_field.read(0, level_field.length)))
        return levels[0]

    def cut(start: int, stop: int) -> Column:
        import pyarrow as pa

        piece = codes[start:stop]
        missing = piece < 0
        indices = pa.array(piece, mask=missing if missing.any() else None)
        return pa.DictionaryArray.from_arrays(indices, dictionary())

    return LazyColumn(cut, len(codes))


def check_equal_lengths(columns: dict[str, LazyColumn], what: str) -> int:
    """The number of rows, refused when columns disagree on it."""
    lengths = {name: column.length for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r} has {n:,}" for name, n in list(lengths.items())[:8])
        raise ColumnError(f"{what}'s columns differ in length: {told} rows.")
    return next(iter(lengths.values()), 0)


def check_not_empty(fields: LazyTable) -> LazyTable:
    """Refuse a table without columns or without rows."""
    if not fields.columns:
        raise ColumnError(
            f"{fields.description} is empty: Found array with 0 feature(s) "
            f"(shape=({fields.n_rows}, 0)) while a minimum of 1 is required."
        )
    if fields.n_rows == 0:
        raise ColumnError(
            f"{fields.description} is empty: it has columns {quote_names(fields.columns)} and no rows. "
            f"Found array with 0 sample(s) (shape=(0, {len(fields.columns)})) "
            f"while a minimum of 1 is required."
        )
    return fields


ArrowConverter = Callable[[Any], Any]


def arrow_converter(name: str, kind: Any) -> ArrowConverter:
    """How to hand over arrays of one Arrow type.

    Booleans, integers, floats, strings, dictionaries of these and lists of strings stay as they
    are; times become ISO text, decimals numbers, durations seconds, an all-missing column text.
    The function for any other type raises, so that a skipped column does no harm.
    """
    import pyarrow.types as t

    if t.is_dictionary(kind):
        return _dictionary_converter(name, kind)
    for is_kind, convert in _conversion_rules():
        if is_kind(kind):
            return convert
    if _is_list(kind):
        return _list_converter(name, kind)
    if t.is_run_end_encoded(kind):
        inner = arrow_converter(name, kind.value_type)
        return lambda array: inner(_arrow_compute().run_end_decode(array))
    if hasattr(kind, "storage_type"):
        inner = arrow_converter(name, kind.storage_type)
        return lambda array: inner(array.storage)
    if t.is_binary(kind) or t.is_large_binary(kind) or t.is_binary_view(kind):
        return lambda array: _decode_binary(name, array)
    return _unsupported_type(name, kind)


def _conversion_rules() -> list[tuple[Callable[[Any], bool], ArrowConverter]]:
    import pyarrow as pa
    import pyarrow.types as t

    return [
        (_needs_no_conversion, _identity),
        (t.is_float16, lambda array: array.cast(pa.float32())),
        (t.is_decimal, lambda array: array.cast(pa.float64())),
        (t.is_duration, _durations_to_seconds),
        (t.is_temporal, _times_to_iso),
        (t.is_null, lambda array: array.cast(pa.string())),
    ]


def _needs_no_conversion(kind: Any) -> bool:
    import pyarrow.types as t

    return bool(
        t.is_float64(kind)
        or t.is_string(kind)
        or t.is_large_string(kind)
        or t.is_string_view(kind)
        or t.is_integer(kind)
        or t.is_boolean(kind)
        or t.is_float32(kind)
    )


def _identity(array: Any) -> Any:
    return array


def _arrow_compute() -> Any:
    import pyarrow.compute

    return pyarrow.compute


def _times_to_iso(array: Any) -> Any:
    """Times as ISO text, the same for every resolution they may be stored in."""
    import pyarrow as pa

    text = array.cast(pa.string())
    replace = _arrow_compute().replace_substring_regex
    text = replace(text, r"^(\d+-\d+-\d+) ", r"\1T")
    text = replace(text, r"(\.\d*?)0+($|[+Z-])", r"\1\2")
    text = replace(text, r"\.($|[+Z-])", r"\1")
    return replace(text, r"([+-]\d\d)(\d\d)$", r"\1:\2")


def _durations_to_seconds(array: Any) -> Any:
    import pyarrow as pa

    per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[array.type.unit]
    return _arrow_compute().divide(array.cast(pa.int64()).cast(pa.float64(), safe=False), per_second)


def _dictionary_converter(name: str, kind: Any) -> ArrowConverter:
    """Keep a dictionary of ready values; rebuild one whose values must change."""
    if _needs_no_conversion(kind.value_type):
        return _identity
    inner = arrow_converter(name, kind.value_type)

    def convert(array: Any) -> Any:
        return type(array).from_arrays(array.indices, inner(array.dictionary))

    return convert


def _is_list(kind: Any) -> bool:
    import pyarrow.types as t

    return bool(
        t.is_list(kind)
        or t.is_large_list(kind)
        or t.is_fixed_size_list(kind)
        or t.is_list_view(kind)
        or t.is_large_list_view(kind)
    )


def _list_converter(name: str, kind: Any) -> ArrowConverter:
    """Lists of strings are tokens; lists of anything else have no reading here."""
    import pyarrow as pa
    import pyarrow.types as t

    inner = kind.value_type
    ready = t.is_string(inner) or t.is_large_string(inner)
    if not (ready or t.is_string_view(inner) or t.is_null(inner)):
        return _unsupported_type(name, kind)
    if ready and (t.is_list(kind) or t.is_large_list(kind)):
        return _identity
    wanted = pa.large_list(pa.large_string())
    return lambda array: array.cast(wanted)


def _decode_binary(name: str, array: Any) -> Any:
    import pyarrow as pa

    try:
        return array.cast(pa.large_binary()).cast(pa.large_string())
    except pa.ArrowInvalid:
        raise ColumnError(
            f"Column {name!r} holds bytes that are not UTF-8 text. Decode them, or skip the column."
        ) from None


def _unsupported_type(name: str, kind: Any) -> ArrowConverter:
    def refuse(_: Any) -> Any:
        if "complex" in str(kind):
            raise complex_data_error(name)
        raise ColumnError(
            f"Column {name!r} is of Arrow type {kind}, which has no reading as a category, number "
            f"or text. Take out the parts you need as columns of their own, or skip the column."
        )

    return refuse
