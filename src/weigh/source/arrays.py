"""NumPy arrays, dicts and lists as fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.errors import DataError
from weigh.source.base import check_names
from weigh.source.columns import (
    Fields,
    column_field,
    numpy_field,
    origins,
    same_length,
    unmasked,
)
from weigh.source.values import from_list

TEXT = "text"


def from_mapping(data: Mapping[Any, Any]) -> Fields:
    """Fields of a dict: of columns, or of one row when all its values are scalars."""
    names = [str(name) for name in data]
    check_names(names, "The dict")
    scalar = [is_scalar(value) for value in data.values()]
    if names and all(scalar):
        row = zip(names, data.values(), strict=True)
        columns = {name: numpy_field(name, from_list([value])) for name, value in row}
        return Fields(columns, 1, True, what="The row")
    if any(scalar):
        single, sequence = names[scalar.index(True)], names[scalar.index(False)]
        raise DataError(
            f"The dict mixes single values ({single!r}) and sequences ({sequence!r}). Give a list "
            f"of one dict for one row, or a sequence for every column."
        )
    columns = {name: column_field(name, value) for name, value in zip(names, data.values(), strict=True)}
    return Fields(columns, same_length(columns, "The dict"), True, what="The dict")


def is_scalar(value: object) -> bool:
    """Whether a value of a dict stands for one row."""
    if isinstance(value, (str, bytes)):
        return True
    dimensions = getattr(value, "ndim", None)
    return not hasattr(value, "__len__") if dimensions is None else dimensions == 0


def from_rows(data: Sequence[Mapping[Any, Any]]) -> Fields:
    """Fields of a list of dicts; a key that a row lacks is a missing value there."""
    names = list(dict.fromkeys(key for row in data for key in row))
    check_names([str(name) for name in names], "The list of dicts")
    columns = {
        str(name): numpy_field(str(name), from_list([row.get(name) for row in data])) for name in names
    }
    return Fields(columns, len(data), True, what="The list of dicts")


def from_texts(data: Any) -> Fields | None:
    """One column named 'text' of a sequence of strings; None when data is something else."""
    kinds = origins(data)
    if kinds & {"pandas.Series", "polars.Series", "pyarrow.Array", "pyarrow.ChunkedArray"}:
        column = column_field(TEXT, data)
        if column.length and not _is_text(column.cut(0, min(column.length, 100))):
            raise not_two_dimensional((column.length,))
    elif isinstance(data, np.ndarray) and data.ndim == 1 and data.dtype.kind in "OUT":
        if not _is_text(data):
            return None
        column = numpy_field(TEXT, data)
    elif isinstance(data, (list, tuple)):
        if str not in set(map(type, data)) or not _is_text(data):
            return None
        column = numpy_field(TEXT, np.fromiter(data, dtype=object, count=len(data)))
    else:
        return None
    # Whoever gives strings and nothing else means texts, however short they are or often they repeat.
    return Fields({TEXT: column}, column.length, True, what="The list of texts", kinds={TEXT: TEXT})


def _is_text(values: Any) -> bool:
    """Whether values are strings, some perhaps missing."""
    if hasattr(values, "type"):
        return "string" in str(values.type)
    some = set(map(type, values)) - {type(None)}
    if float in some:
        some = {type(value) for value in values if value is not None and value == value}
    return bool(some) and all(issubclass(kind, str) for kind in some)


def from_sequence(data: Sequence[Any], names: Sequence[str] | None) -> Fields:
    """Fields of a list: of dicts, of strings, or of lists, one per row."""
    if len(data) == 0:
        raise DataError("The list is empty: Found array with 0 sample(s) (shape=(0,)).")
    if all(isinstance(row, Mapping) for row in data):
        return from_rows(data)
    texts = from_texts(data)
    if texts is not None:
        return texts
    lengths = [-1 if is_scalar(row) else len(row) for row in data]
    if len(set(lengths)) > 1:
        odd = next(i for i, length in enumerate(lengths) if length != lengths[0])
        raise DataError(
            f"The rows differ in length: row 0 has {_told(lengths[0])}, row {odd} has "
            f"{_told(lengths[odd])}. Give every row the same number of values."
        )
    array = np.asarray(data)
    if array.ndim == 2 and array.dtype.kind not in "biufc":
        # NumPy would turn the numbers of mixed rows into text.
        cells = [from_list(column) for column in zip(*data, strict=True)]
        called = default_names(len(cells), names)
        columns = {name: numpy_field(name, cell) for name, cell in zip(called, cells, strict=True)}
        return Fields(columns, len(data), names is not None, what="The list")
    return from_array(array, names)


def _told(length: int) -> str:
    return "a single value" if length < 0 else f"{length} value{'s' * (length != 1)}"


def from_array(data: NDArray[Any], names: Sequence[str] | None) -> Fields:
    """Fields of a 2-D or structured array, as views of its columns."""
    if data.dtype.names is not None:
        columns = {name: numpy_field(name, data[name]) for name in data.dtype.names}
        return Fields(columns, len(data), True, what="The array")
    if data.dtype.kind == "c":
        raise DataError("Complex data not supported: the array holds complex numbers.")
    check_array(data.shape)
    if isinstance(data, np.ma.MaskedArray):
        data = unmasked(data)
    data = np.asarray(data)
    called = default_names(data.shape[1], names)
    columns = {name: numpy_field(name, data[:, j]) for j, name in enumerate(called)}
    return Fields(columns, len(data), names is not None, what="The array")


def default_names(width: int, names: Sequence[str] | None) -> list[str]:
    """The names given, or x0, x1, ..."""
    if names is None:
        return [f"x{j}" for j in range(width)]
    if len(names) != width:
        raise DataError(f"There are {len(names):,} names for {width:,} columns; give one for each.")
    check_names([str(name) for name in names], "names=")
    return [str(name) for name in names]


def check_array(shape: tuple[int, ...]) -> None:
    """Refuse the shape of an array that is no table, or one without rows or columns."""
    if len(shape) != 2:
        raise not_two_dimensional(shape)
    for size, unit in zip(shape, ("sample(s)", "feature(s)"), strict=True):
        if size == 0:
            raise DataError(f"Found array with 0 {unit} (shape={shape}) while a minimum of 1 is required.")


def not_two_dimensional(shape: tuple[int, ...]) -> DataError:
    """Word the refusal of an array that is no table, with scikit-learn's key words."""
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
