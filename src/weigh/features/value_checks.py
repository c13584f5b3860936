"""Checks of numbers that are weighed: their squares must be numbers, too."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.features.blocks import Entries, Grid

HUGE = 1e100  # what can still be squared, times a weight
TINY = 1e-100


def refuse_extreme(largest: float) -> None:
    """Refuse numbers whose largest magnitude has a square that is none any more, or nothing."""
    if largest > HUGE:
        raise errors.DataError(
            f"A value has the size {largest:.6g}; beyond {HUGE:g} the square of a number is none any more. "
            f"Divide the columns by their largest values."
        )
    if 0 < largest < TINY:
        raise errors.DataError(
            f"The largest value is {largest:.6g}; below {TINY:g} the square of a number is nothing any "
            f"more. Multiply the columns by a power of ten."
        )


def checked(entries: Entries) -> Entries:
    """Return entries that can be weighed."""
    if entries.values is not None:
        refuse_extreme(_core.scan_values(entries.values)[0])
    return entries


def checked_grid(grid: Grid) -> Grid:
    """Return numbers that can be weighed: finite, as floats, and zero where they are missing."""
    matrix: Any = grid.matrix.astype(np.float64, copy=False)
    flat = _flat(matrix)
    largest, has_nan, _, _ = _core.scan_values(flat)
    if np.isinf(largest):
        at = int(np.argmax(np.isinf(matrix).any(axis=0)))
        raise errors.ColumnError(
            f"Column {grid.names[at]!r} contains infinity (inf). Replace it by a finite number, or by NaN "
            f"if the value is missing."
        )
    refuse_extreme(largest)
    if not has_nan:
        return Grid(matrix, grid.names)
    gaps = np.isnan(matrix)
    return Grid(np.where(gaps, 0.0, matrix), grid.names, gaps.sum(axis=1))


def _flat(matrix: Any) -> Any:
    """Return all numbers in a row, in whichever order they lie in memory."""
    if matrix.flags.c_contiguous:
        return matrix.reshape(-1)
    return matrix.T.reshape(-1) if matrix.flags.f_contiguous else np.ascontiguousarray(matrix).reshape(-1)
