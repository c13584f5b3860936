"""Conversion of Python lists and objects from other libraries to NumPy columns of plain values."""

from __future__ import annotations

import datetime as dt
import numbers
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh import _core
from weigh.advice import safe_repr
from weigh.errors import ColumnError, DataError, WeighError

PLAIN_TYPES = (str, int, float, bool, type(None), list)
# Types of pandas and NumPy, matched by name to avoid importing pandas.
_MISSING_TYPE_NAMES = frozenset({"NAType", "NaTType", "MaskedConstant"})
_TEXT_TYPE_NAMES = frozenset({"Interval", "Period"})


class UnsupportedValueError(ColumnError, TypeError):
    """A value is neither text nor a number; also a TypeError, as scikit-learn's checks expect."""


def complex_data_error(name: str) -> DataError:
    """Return the error for a column of complex numbers."""
    return DataError(f"Complex data not supported: column {name!r} holds complex numbers.")


def undecodable_bytes_error(name: str) -> ColumnError:
    """Return the error for a column of bytes that are not text."""
    return ColumnError(
        f"Column {name!r} holds bytes that are not UTF-8 text. Decode them, or skip the column."
    )


def to_plain_values(values: NDArray[Any], name: str, first_row: int = 0) -> NDArray[Any]:
    """Convert objects to str, int, float, bool, None or list; returns the array itself if none need it."""
    if _core.have_exact_types(values, PLAIN_TYPES):
        return values
    result = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        if type(value) in PLAIN_TYPES:
            result[i] = value
            continue
        try:
            result[i] = to_plain_value(value)
        except WeighError:
            raise
        except UnicodeDecodeError:
            raise undecodable_bytes_error(name) from None
        except (OverflowError, ValueError):
            raise ColumnError(
                f"Column {name!r}, row {first_row + i:,}: the number {shorten_repr(value)} has no "
                "floating-point value. Replace it."
            ) from None
        except TypeError:
            raise UnsupportedValueError(
                f"Column {name!r}, row {first_row + i:,}: a value's type must be text, a number or "
                f"missing (the argument must be a string or a number), got "
                f"{type(value).__name__} {shorten_repr(value)}."
            ) from None
    return result


def to_plain_value(value: object) -> object:
    """Convert one object to a plain value; raises TypeError if that is not possible."""
    if type(value).__name__ in _MISSING_TYPE_NAMES:
        return None
    for types, convert in _CONVERSIONS:
        if isinstance(value, types):
            return convert(value)
    if type(value).__name__ in _TEXT_TYPE_NAMES:
        return str(value)
    raise TypeError


def _plain_number(value: Any) -> object:
    if isinstance(value, np.generic):
        return value.item()
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def _refuse_complex(value: Any) -> object:
    raise DataError(f"Complex data not supported: got {value!r}.")


def _plain_numpy_time(value: Any) -> object:
    return None if np.isnat(value) else normalise_iso_time(str(value))


# The first match wins: np.timedelta64 is also an integer, and datetime also a date.
_CONVERSIONS: tuple[tuple[type | tuple[type, ...], Callable[[Any], object]], ...] = (
    (str, str),
    (np.datetime64, _plain_numpy_time),
    (np.timedelta64, lambda value: None if np.isnat(value) else value / np.timedelta64(1, "s")),
    ((numbers.Real, np.bool_, Decimal), _plain_number),
    (numbers.Complex, _refuse_complex),
    ((dt.date, dt.time), lambda value: normalise_iso_time(value.isoformat())),
    (dt.timedelta, dt.timedelta.total_seconds),
    (bytes, bytes.decode),
    (np.ndarray, np.ndarray.tolist),
    ((list, tuple, set, frozenset), list),
)


def normalise_iso_time(text: str) -> str:
    """Write an ISO time with a T and without trailing zeros, so that it does not depend on the resolution."""
    trimmed = re.sub(r"(\.\d*?)0+(?=$|[+Z-])", r"\1", text.replace(" ", "T"))
    return re.sub(r"\.(?=$|[+Z-])", "", trimmed)


def array_from_list(values: Sequence[Any]) -> NDArray[Any]:
    """Convert a list to the narrowest array that preserves its values: bool, int64, float64 or object."""
    types = set(map(type, values))
    if types == {bool}:
        return np.array(values, dtype=bool)
    if types and all(issubclass(value_type, (np.number, np.bool_)) for value_type in types):
        return np.asarray(values)
    try:
        if types == {int}:
            return np.array(values, dtype=np.int64)
        if float in types and types <= {int, float, type(None)}:
            return np.array(values, dtype=np.float64)
    except OverflowError:
        pass
    return np.fromiter(values, dtype=object, count=len(values))


def exceeds_int64(values: NDArray[Any]) -> bool:
    """Whether unsigned integers are too large for the native code's signed ones."""
    return values.dtype == np.uint64 and bool((values > np.iinfo(np.int64).max).any())


def shorten_repr(value: object, max_length: int = 40) -> str:
    """Return the repr of a value for a message, truncated when long."""
    text = safe_repr(value)
    return text if len(text) <= max_length else text[: max_length - 3] + "..."
