"""Markers such as '?' or -999 that stand for a missing value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.errors import parameter_error
from weigh.source.chunk import Column, is_arrow

Marker = str | int | float


def to_markers(missing: Marker | Iterable[Marker], owner: str = "open") -> tuple[Marker, ...]:
    """The markers as a tuple; one marker may be given alone."""
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
    """Replaces markers by missing values, in texts and in numbers alike."""

    def __init__(self, missing: Iterable[Marker]) -> None:
        given = to_markers(missing)
        self.texts = sorted({str(marker) for marker in given})
        self.numbers = sorted({number for marker in given for number in _marker_numbers(marker)})

    def __bool__(self) -> bool:
        return bool(self.texts)

    def apply(self, column: Column) -> Column:
        """The column with its markers missing; the column itself where none can occur."""
        if is_arrow(column):
            return self._replace_in_arrow(column)
        if column.dtype == object:
            return self._replace_in_objects(column)
        if column.dtype.kind in "fiu" and self.numbers:
            return self._replace_in_numbers(column)
        return column

    def _replace_in_objects(self, column: NDArray[Any]) -> NDArray[Any]:
        marks = {*self.texts, *self.numbers}
        hits = np.fromiter(
            (type(value) in (str, int, float) and value in marks for value in column),
            dtype=bool,
            count=len(column),
        )
        if not hits.any():
            return column
        column = column.copy()
        column[hits] = None
        return column

    def _replace_in_numbers(self, column: NDArray[Any]) -> Column:
        hits = np.isin(column, self.numbers)
        if column.dtype.kind == "f":
            return np.where(hits, np.nan, column) if hits.any() else column
        import pyarrow as pa

        # Integers have no NaN: as floats they would be taken for another kind of column.
        return pa.array(np.ascontiguousarray(column), mask=hits)

    def _replace_in_arrow(self, column: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = column.type
        if pa.types.is_dictionary(kind):
            marked = self._replace_in_arrow(column.dictionary)
            if marked.null_count == column.dictionary.null_count:
                return column
            hits = pc.take(marked.is_null(), column.indices)
            indices = pc.if_else(hits, pa.scalar(None, column.indices.type), column.indices)
            return pa.DictionaryArray.from_arrays(indices, column.dictionary)
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            marks = pa.array(self.texts, kind)
        elif pa.types.is_floating(kind):
            marks = pa.array(self.numbers, pa.float64()).cast(kind)
        elif pa.types.is_integer(kind):
            marks = pa.array([int(n) for n in self.numbers if _fits_integer_type(n, kind)], kind)
        else:
            return column
        if not len(marks):
            return column
        return pc.if_else(pc.is_in(column, value_set=marks), pa.scalar(None, kind), column)


def _marker_numbers(marker: Marker) -> list[float]:
    try:
        return [float(marker)]
    except ValueError:
        return []


def _fits_integer_type(number: float, kind: Any) -> bool:
    low = 0 if str(kind).startswith("u") else -(2 ** (kind.bit_width - 1))
    return number.is_integer() and low <= number < 2 ** (kind.bit_width - (low < 0))
