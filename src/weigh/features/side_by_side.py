"""Columns that lie side by side in one matrix, taken as that matrix without copying them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weigh.source.matrix_columns import MatrixColumns


def side_by_side(table: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the matrix whose columns have these names, or None if they were not cut from one of numbers.

    A table of thousands of columns costs little as a matrix, and much one column at a time.
    """
    if isinstance(table, MatrixColumns) and len(names) == len(table):
        return table.matrix
    columns = [table[name] for name in names]
    first = columns[0]
    if not isinstance(first, np.ndarray) or first.dtype.kind not in "biuf" or first.base is None:
        return None
    begin, step = _begin(first), first.itemsize
    if len(columns) > 1 and isinstance(columns[1], np.ndarray):
        step = _begin(columns[1]) - begin
    like = (first.base, first.dtype, first.strides)
    for at, column in enumerate(columns):
        if not isinstance(column, np.ndarray) or column.base is not like[0]:
            return None
        if (column.dtype, column.strides, len(column)) != (*like[1:], len(first)) or _begin(
            column
        ) != begin + at * step:
            return None
    shape, strides = (len(first), len(columns)), (*first.strides, step)
    # Each column is a view of the base, so all places between the first and the last are inside it.
    return np.lib.stride_tricks.as_strided(first, shape, strides, writeable=False)


def _begin(column: Any) -> int:
    return int(column.__array_interface__["data"][0])
