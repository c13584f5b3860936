"""A column of any storage as a field: something that gives rows start to stop."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.errors import ColumnError, listing
from weigh.source.arrow import converter
from weigh.source.chunk import Column
from weigh.source.values import complex_data, from_list, plain

Cut = Callable[[int, int], Column]


@dataclass(frozen=True)
class Field:
    """One column, not yet cut: its length, and a function that gives some of its rows."""

    cut: Cut
    length: int


@dataclass(frozen=True)
class Fields:
    """All columns of a table in memory; `what` names the table in messages."""

    columns: dict[str, Field]
    n_rows: int
    named: bool
    what: str = field(default="The table", kw_only=True)
    kinds: Mapping[str, str] = field(default_factory=dict, kw_only=True)


def origins(data: object) -> frozenset[str]:
    """The foreign classes data is an instance of, as 'library.Class', importing none of them."""
    kind: Any = type(data)
    return _origins_of(kind)


@lru_cache(maxsize=256)
def _origins_of(kind: type) -> frozenset[str]:
    return frozenset(f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in kind.__mro__)


def column_field(name: str, values: Any) -> Field:
    """A field from a list, NumPy array, Series, Arrow array or anything that exports one."""
    if isinstance(values, np.ndarray):
        return numpy_field(name, values)
    kinds = origins(values)
    if "pyarrow.Array" in kinds or "pyarrow.ChunkedArray" in kinds:
        return arrow_field(name, values)
    if "pandas.Series" in kinds:
        return pandas_field(name, values)
    if "pandas.Index" in kinds or "pandas.ExtensionArray" in kinds:
        return pandas_field(name, sys.modules["pandas"].Series(values))
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        import pyarrow as pa

        return arrow_field(name, pa.chunked_array(values))
    if isinstance(values, (list, tuple, range)):
        return numpy_field(name, from_list(values))
    return numpy_field(name, np.asarray(values))


def numpy_field(name: str, values: NDArray[Any]) -> Field:
    """A field over a NumPy array: views of numbers, plain Python values otherwise."""
    if values.ndim != 1:
        raise ColumnError(
            f"Column {name!r} has {values.ndim} dimensions (shape {values.shape}); "
            f"a column has one value per row."
        )
    if isinstance(values, np.ma.MaskedArray):
        values = unmasked(values)
    if not values.flags.aligned or values.strides[0] % max(1, values.dtype.itemsize):
        # A field of packed records: native code needs whole steps from value to value.
        values = values.copy()
    kind, length = values.dtype.kind, len(values)
    if kind in "fiub":
        if values.dtype.isnative and values.dtype.itemsize <= 8:
            return Field(lambda start, stop: values[start:stop], length)
        native = values.dtype.newbyteorder("=") if values.dtype.itemsize <= 8 else np.dtype(float)
        return Field(lambda start, stop: values[start:stop].astype(native), length)
    if kind in "OUT":
        return Field(
            lambda start, stop: plain(values[start:stop].astype(object, copy=False), name, start),
            length,
        )
    if kind == "S":
        return Field(lambda start, stop: _text(name, values[start:stop]), length)
    if kind == "c":
        raise complex_data(name)
    if kind in "Mm":
        return Field(lambda start, stop: _times(name, values[start:stop]), length)
    raise ColumnError(f"Column {name!r} has NumPy type {values.dtype}, which has no reading here.")


def unmasked(values: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """Masked entries as missing values: NaN among numbers, None among objects."""
    if not np.ma.is_masked(values):
        return np.asarray(values)
    if values.dtype.kind == "f":
        return np.asarray(values.filled(np.nan))
    plain_values = np.asarray(values.data.astype(object))
    plain_values[np.ma.getmaskarray(values)] = None
    return plain_values


def _text(name: str, values: NDArray[Any]) -> NDArray[Any]:
    try:
        return np.char.decode(values, "utf-8").astype(object)
    except UnicodeDecodeError:
        raise ColumnError(
            f"Column {name!r} holds bytes that are not UTF-8 text. Decode them, or skip the column."
        ) from None


def _times(name: str, values: NDArray[Any]) -> Column:
    import pyarrow as pa

    unit = np.datetime_data(values.dtype)
    if unit not in {("s", 1), ("ms", 1), ("us", 1), ("ns", 1)}:
        values = values.astype(f"{values.dtype.kind}8[s]")
    array = pa.array(values)
    if unit == ("D", 1) and pa.types.is_timestamp(array.type):
        array = array.cast(pa.date32())
    return converter(name, array.type)(array)


def arrow_field(name: str, values: Any) -> Field:
    """A field over an Arrow array or chunked array; copies only where pieces must be joined."""
    convert = converter(name, values.type)
    if getattr(values, "num_chunks", None) == 1:
        values = values.chunk(0)
    if not hasattr(values, "num_chunks"):
        return Field(lambda start, stop: convert(values.slice(start, stop - start)), len(values))

    def cut(start: int, stop: int) -> Column:
        piece = values.slice(start, stop - start)
        return convert(piece.chunk(0) if piece.num_chunks == 1 else piece.combine_chunks())

    return Field(cut, len(values))


def pandas_field(name: str, series: Any) -> Field:
    """A field over a pandas Series: NumPy views, Arrow data as it is, the rest as Arrow."""
    dtype, length = series.dtype, len(series)
    if isinstance(dtype, np.dtype):
        return numpy_field(name, series.to_numpy())
    values = series.array
    if str(getattr(dtype, "storage", "")).startswith("pyarrow") or hasattr(dtype, "pyarrow_dtype"):
        return arrow_field(name, values.__arrow_array__())
    kind = type(dtype).__name__
    if kind == "CategoricalDtype":
        return _categorical_field(name, series)
    if kind == "SparseDtype":
        return Field(lambda start, stop: np.asarray(values[start:stop]), length)
    if kind in {"PeriodDtype", "IntervalDtype"}:
        return numpy_field(name, series.to_numpy(dtype=object))

    def cut(start: int, stop: int) -> Column:
        import pyarrow as pa

        array = pa.array(values[start:stop])
        return converter(name, array.type)(array)

    return Field(cut, length)


def _categorical_field(name: str, series: Any) -> Field:
    """Codes cut chunk by chunk, with one dictionary for all of them."""
    codes, categories = series.cat.codes.to_numpy(), series.cat.categories
    levels: list[Any] = []

    def dictionary() -> Any:
        if not levels:
            import pyarrow as pa

            level_field = pandas_field(name, categories.to_series())
            levels.append(pa.array(level_field.cut(0, level_field.length)))
        return levels[0]

    def cut(start: int, stop: int) -> Column:
        import pyarrow as pa

        piece = codes[start:stop]
        missing = piece < 0
        indices = pa.array(piece, mask=missing if missing.any() else None)
        return pa.DictionaryArray.from_arrays(indices, dictionary())

    return Field(cut, len(codes))


def same_length(columns: dict[str, Field], what: str) -> int:
    """The number of rows, refused when columns disagree on it."""
    lengths = {name: column.length for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r} has {n:,}" for name, n in list(lengths.items())[:8])
        raise ColumnError(f"{what}'s columns differ in length: {told} rows.")
    return next(iter(lengths.values()), 0)


def check_shape(fields: Fields) -> Fields:
    """Refuse a table without columns or without rows."""
    if not fields.columns:
        raise ColumnError(
            f"{fields.what} is empty: Found array with 0 feature(s) "
            f"(shape=({fields.n_rows}, 0)) while a minimum of 1 is required."
        )
    if fields.n_rows == 0:
        raise ColumnError(
            f"{fields.what} is empty: it has columns {listing(fields.columns)} and no rows. "
            f"Found array with 0 sample(s) (shape=(0, {len(fields.columns)})) "
            f"while a minimum of 1 is required."
        )
    return fields
