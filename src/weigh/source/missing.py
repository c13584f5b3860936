"""Markers of missing values, such as '?' or -999."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.errors import parameter_error
from weigh.source.chunk import Column, is_arrow

Marker = str | int | float


def to_markers(missing: Marker | Iterable[Marker], owner: str = "open") -> tuple[Marker, ...]:
    """Return one marker or several as a checked tuple."""
    if isinstance(missing, tuple) and not missing:
        return ()
    if isinstance(missing, (str, int, float, np.generic)):
        missing = (missing,)
    elif not isinstance(missing, Iterable):
        raise parameter_error(owner, "missing", "strings or numbers", missing)
    markers = tuple(marker.item() if isinstance(marker, np.generic) else marker for marker in missing)
    for marker in markers:
        if not isinstance(marker, (str, int, float)):
            raise parameter_error(owner, "missing", "strings or numbers", marker)
    return markers


class MarkerReplacer:
    """Replaces markers by missing values, in text and number columns."""

    def __init__(self, missing: Iterable[Marker]) -> None:
        markers = to_markers(missing)
        self.texts = sorted({str(marker) for marker in markers})
        self.numbers = sorted({number for marker in markers for number in _marker_numbers(marker)})

    def __bool__(self) -> bool:
        return bool(self.texts)

    def apply(self, column: Column) -> Column:
        """Return the column with markers replaced by missing values, unchanged if it has none."""
        if is_arrow(column):
            return self._replace_in_arrow(column)
        if column.dtype == object:
            return self._replace_in_objects(column)
        if column.dtype.kind in "fiu" and self.numbers:
            return self._replace_in_numbers(column)
        return column

    def _replace_in_objects(self, column: NDArray[Any]) -> NDArray[Any]:
        markers = {*self.texts, *self.numbers}
        mask = np.fromiter(
            (type(value) in (str, int, float) and value in markers for value in column),
            dtype=bool,
            count=len(column),
        )
        if not mask.any():
            return column
        column = column.copy()
        column[mask] = None
        return column

    def _replace_in_numbers(self, column: NDArray[Any]) -> Column:
        mask = np.isin(column, self.numbers)
        if column.dtype.kind == "f":
            return np.where(mask, np.nan, column) if mask.any() else column
        import pyarrow as pa

        # Integers have no NaN, and converting them to floats would change the inferred kind.
        return pa.array(np.ascontiguousarray(column), mask=mask)

    def _replace_in_arrow(self, column: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        arrow_type = column.type
        if pa.types.is_dictionary(arrow_type):
            dictionary = self._replace_in_arrow(column.dictionary)
            if dictionary.null_count == column.dictionary.null_count:
                return column
            mask = pc.take(dictionary.is_null(), column.indices)
            indices = pc.if_else(mask, pa.scalar(None, column.indices.type), column.indices)
            return pa.DictionaryArray.from_arrays(indices, column.dictionary)
        if pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type):
            markers = pa.array(self.texts, arrow_type)
        elif pa.types.is_floating(arrow_type):
            markers = pa.array(self.numbers, pa.float64()).cast(arrow_type)
        elif pa.types.is_integer(arrow_type):
            integers = [int(n) for n in self.numbers if _fits_integer_type(n, arrow_type)]
            markers = pa.array(integers, arrow_type)
        else:
            return column
        if not len(markers):
            return column
        return pc.if_else(pc.is_in(column, value_set=markers), pa.scalar(None, arrow_type), column)


def _marker_numbers(marker: Marker) -> list[float]:
    try:
        return [float(marker)]
    except ValueError:
        return []


def _fits_integer_type(number: float, arrow_type: Any) -> bool:
    low = 0 if str(arrow_type).startswith("u") else -(2 ** (arrow_type.bit_width - 1))
    return number.is_integer() and low <= number < 2 ** (arrow_type.bit_width - (low < 0))
