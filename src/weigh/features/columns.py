"""Conversion of columns to arrays: the only place that handles missing and malformed values.

A column is a NumPy array of any type, a dictionary-encoded column or an Arrow array. Missing are null, None,
NaN, and the markers that the user named.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from weigh import _core, errors
from weigh.advice import Setting, Text, set_kind
from weigh.features.blocks import CategoryBlock, Floats, Ints, Level
from weigh.source.chunk import (
    Column,
    DictionaryColumn,
    ListColumn,
    TextColumn,
    arrow_to_numpy,
    is_arrow,
    to_pylist,
    utf8_errors,
)
from weigh.source.values import array_from_list, exceeds_int64

T = TypeVar("T")


def is_missing(value: object, markers: Collection[object] = ()) -> bool:
    """Whether a Python value means "missing"."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, float) and value != value:
        return True
    return isinstance(value, (str, int, float)) and value in markers


def to_objects(column: Column, name: str = "") -> npt.NDArray[Any]:
    """Return a column as a NumPy array, strings as Python objects."""
    if is_arrow(column):
        return arrow_to_numpy(column, name)
    if isinstance(column, (TextColumn, ListColumn)):
        # One by one: NumPy would turn lists of equal length into a matrix.
        values = np.empty(len(column), dtype=object)
        for row, value in enumerate(column.to_pylist()):
            values[row] = value
        return values
    return _decode_dictionary(column) if isinstance(column, DictionaryColumn) else np.asarray(column)


def _decode_dictionary(column: DictionaryColumn) -> npt.NDArray[Any]:
    values = array_from_list(column.values)
    if (column.codes >= 0).all():
        return values[column.codes]
    if values.dtype.kind in "iuf":
        return np.append(values.astype(np.float64), np.nan)[column.codes]
    return np.array([*column.values, None], dtype=object)[column.codes]


def to_numbers(column: Column, name: str, markers: Collection[object] = ()) -> Floats:
    """Return the column as floats, missing values as NaN; raise ColumnError for anything else."""
    if isinstance(column, (TextColumn, ListColumn)):
        column = to_objects(column)
    if isinstance(column, DictionaryColumn):
        return _decode_numbers(column, name, markers)
    if is_arrow(column):
        storage = str(column.type)
        if storage.startswith(("double", "float", "halffloat", "int", "uint", "bool", "decimal")):
            column = column if storage == "double" else column.cast("double", safe=False)
            return _require_finite(np.asarray(column.to_numpy(zero_copy_only=False)), name)
        return _require_finite(_to_floats(to_pylist(column, name), name, markers), name)
    if column.dtype.kind in "biuf":
        return _require_finite(column.astype(np.float64, copy=False), name)
    return _require_finite(_to_floats(column.tolist(), name, markers), name)


def _decode_numbers(column: DictionaryColumn, name: str, markers: Collection[object]) -> Floats:
    integers = column.integers
    if integers is not None and all(isinstance(marker, str) for marker in markers):
        return np.append(integers.astype(np.float64), np.nan)[column.codes]
    numbers = _to_floats(column.values, name, markers)
    return _require_finite(np.append(numbers, np.nan)[column.codes], name)


def to_codes(column: Column, name: str, markers: Collection[object] = ()) -> CategoryBlock:
    """Return the column as codes with its distinct values as levels."""
    codes, values = encode_column(column, name)
    if set(map(type, values)) in ({str}, {int}) and not set(markers).intersection(values):
        return CategoryBlock(codes, values)
    levels: list[Level] = []
    index: dict[Level, int] = {}
    lookup = np.empty(len(values) + 1, dtype=np.int32)
    lookup[-1] = -1
    for at, value in enumerate(values):
        if is_missing(value, markers):
            lookup[at] = -1
            continue
        level = _canonical_level(value, name)
        if level not in index:
            index[level] = len(levels)
            levels.append(level)
        lookup[at] = index[level]
    if len(levels) == len(values):
        return CategoryBlock(codes, levels)
    return CategoryBlock(lookup[codes], levels)


def to_bins(numbers: Floats, cuts: Sequence[float]) -> CategoryBlock:
    """Return the codes of the intervals between cuts; intervals are closed on the right."""
    codes = np.searchsorted(np.asarray(cuts), numbers, side="left").astype(np.int32)
    codes[np.isnan(numbers)] = -1
    return CategoryBlock(codes, bin_names(cuts))


def bin_names(cuts: Sequence[float]) -> list[Level]:
    """Name the intervals between cuts, from the left."""
    labels = [str(int(cut)) if cut == int(cut) and abs(cut) < 1e15 else repr(cut) for cut in cuts]
    inner = [f"{low} < x ≤ {high}" for low, high in itertools.pairwise(labels)]
    return [f"x ≤ {labels[0]}", *inner, f"x > {labels[-1]}"]


def encode_column(column: Column, name: str) -> tuple[Ints, list[Any]]:
    """Return (codes, distinct values) of any column; missing is -1."""
    if isinstance(column, (TextColumn, ListColumn)):
        column = to_objects(column)
    if isinstance(column, DictionaryColumn):
        return column.codes, column.values
    if is_arrow(column):
        if str(column.type) == "string_view":
            column = column.cast("large_string")
        if str(column.type) in _OFFSET_TYPES:
            with utf8_errors(name):
                return _encode_strings(column)
        try:
            encoded = column.dictionary_encode()
        except NotImplementedError:
            raise errors.ColumnError(
                f"Column {name!r} is of type {column.type}; a category needs strings, numbers or booleans.",
                hint=_skip_hint(name),
            ) from None
        codes = encoded.indices.cast("int32").fill_null(-1).to_numpy(zero_copy_only=False)
        return codes.astype(np.int32, copy=False), to_pylist(encoded.dictionary, name)
    if column.dtype.kind in "biu" and not exceeds_int64(column):
        codes, keys = _core.encode_keys(column.astype(np.int64, copy=False))
        return codes, (keys.astype(bool) if column.dtype.kind == "b" else keys).tolist()
    if column.dtype.kind == "f":
        return _encode_floats(column.astype(np.float64, copy=False))
    try:
        return _core.encode_objects(column.astype(object, copy=False))
    except TypeError as cause:
        raise errors.ColumnError(
            f"Column {name!r} holds values that cannot be compared ({cause}); a category needs strings, "
            "numbers or booleans.",
            hint=_skip_hint(name),
        ) from cause


_OFFSET_TYPES = {"string": np.int32, "large_string": np.int64}


def _encode_strings(column: Column) -> tuple[Ints, list[Any]]:
    """Encode an Arrow string array straight from its buffers."""
    valid, offsets, text = column.buffers()
    ends = np.frombuffer(offsets, dtype=_OFFSET_TYPES[str(column.type)])
    ends = ends[column.offset : column.offset + len(column) + 1]
    data = np.frombuffer(text if text is not None else b"", dtype=np.uint8)
    bits = None if valid is None else np.frombuffer(valid, dtype=np.uint8)
    return _core.encode_strings(ends, data, bits, column.offset)


def _encode_floats(column: Floats) -> tuple[Ints, list[Any]]:
    # Adding zero turns -0.0 into 0.0, so that equal numbers have equal bits.
    codes, keys = _core.encode_keys((column + 0.0).view(np.int64))
    values = keys.view(np.float64)
    lookup = np.where(np.isnan(values), -1, np.arange(len(values))).astype(np.int32)
    return lookup[codes], values.tolist()


def drop_unused_values(column: Column, name: str) -> Column:
    """Return a dictionary-encoded column without the values that no row has, and any other as it is."""
    is_dictionary = is_arrow(column) and str(column.type).startswith("dictionary")
    if not isinstance(column, DictionaryColumn) and not is_dictionary:
        return column
    if isinstance(column, DictionaryColumn) and column.uses_all_values:
        return column
    codes, values = encode_column(column, name)
    # Counting the code -1 too is faster than leaving it out.
    is_used = np.bincount(codes + 1, minlength=len(values) + 1)[1:] > 0
    if is_used.all():
        return column
    new_codes = np.append(np.cumsum(is_used) - 1, -1).astype(np.int32)
    return DictionaryColumn(new_codes[codes], list(itertools.compress(values, is_used)))


def _canonical_level(value: object, name: str) -> Level:
    """Return a category's value in its canonical form: 1, 1.0 and True are the same level."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, int)):
        return int(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, str):
        return str(value)
    raise errors.ColumnError(
        f"Column {name!r} holds a value of type {type(value).__name__}, {errors.one_line_repr(value)}; a "
        "category needs strings, numbers or booleans.",
        hint=_skip_hint(name),
    )


def _require_finite(values: Floats, name: str) -> Floats:
    infinite = np.isinf(values)
    if infinite.any():
        raise errors.ColumnError(
            f"Column {name!r} contains infinity (inf). Replace it by a finite number, or by NaN if "
            f"the value is missing."
        )
    return values


def _to_floats(values: list[Any], name: str, markers: Collection[object]) -> Floats:
    try:
        if set(map(type, values)) <= {int, float} and not set(markers).intersection(values):
            return np.array(values, dtype=np.float64)
        return np.array([_to_float(value, name, markers) for value in values], dtype=np.float64)
    except OverflowError:
        raise errors.ColumnError(
            f"Column {name!r} holds a whole number beyond the range of floating-point numbers.",
            hint=("Replace it, or give the column another kind, such as ", set_kind(name, "category"), "."),
        ) from None


def _to_float(value: Any, name: str, markers: Collection[object]) -> float:
    if is_missing(value, markers):
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        raise errors.ColumnError(
            f"Column {name!r} holds numbers, but one value is {errors.one_line_repr(value)}.",
            hint=(
                "Correct the value, name it as missing (",
                Setting("missing", [value]),
                "), or give the column another kind, such as ",
                set_kind(name, "category"),
                ".",
            ),
        ) from None


def _skip_hint(name: str) -> Text:
    return ("Leave the column out with ", set_kind(name, "skip"), ".")
