"""Validation of numbers and counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.advice import set_kind
from weigh.features.blocks import DenseBlock, SparseBlock

MAX_MAGNITUDE = 1e100  # its square times a weight does not overflow
MIN_MAGNITUDE = 1e-100


def check_magnitude(largest: float) -> None:
    """Raise DataError if the square of the largest magnitude would overflow or underflow."""
    if largest > MAX_MAGNITUDE:
        raise errors.DataError(
            f"A value has the magnitude {largest:.6g}; squares of numbers above {MAX_MAGNITUDE:g} overflow. "
            f"Divide the columns by their largest values."
        )
    if 0 < largest < MIN_MAGNITUDE:
        raise errors.DataError(
            f"The largest value is {largest:.6g}; squares of numbers below {MIN_MAGNITUDE:g} underflow. "
            f"Multiply the columns by a power of ten."
        )


def check_sparse_block(entries: SparseBlock) -> SparseBlock:
    """Return the block after checking the magnitude of its values."""
    if entries.rows.values is not None:
        check_magnitude(_core.scan_values(entries.rows.values)[0])
    return entries


def clean_dense_block(block: DenseBlock) -> DenseBlock:
    """Return the block as finite floats, with zero in place of missing values."""
    matrix: Any = block.matrix.astype(np.float64, copy=False)
    flat = _flatten(matrix)
    largest, has_nan, _, _ = _core.scan_values(flat)
    if np.isinf(largest):
        at = int(np.argmax(np.isinf(matrix).any(axis=0)))
        raise errors.ColumnError(
            f"Column {block.names[at]!r} contains infinity (inf). Replace it by a finite number, or by NaN "
            f"if the value is missing."
        )
    check_magnitude(largest)
    if not has_nan:
        return DenseBlock(matrix, block.names)
    is_missing = np.isnan(matrix)
    return DenseBlock(np.where(is_missing, 0.0, matrix), block.names, is_missing.sum(axis=1))


def _flatten(matrix: Any) -> Any:
    """Return all values as one array, in memory order."""
    if matrix.flags.c_contiguous:
        return matrix.reshape(-1)
    return matrix.T.reshape(-1) if matrix.flags.f_contiguous else np.ascontiguousarray(matrix).reshape(-1)


MAX_EXACT_COUNT = 2.0**53  # above it, adding one changes nothing


def check_non_negative(minima: Any, names: Sequence[str]) -> None:
    """Raise ColumnError if the minimum of a count column is negative."""
    if (minima < 0).any():
        at = int(np.argmax(minima < 0))
        raise errors.ColumnError(
            f"Negative values in data: column {names[at]!r} holds counts, but one of them is negative "
            f"({minima[at]:g}).",
            hint=("Counts start at 0; for other numbers use ", set_kind(names[at], "number"), "."),
        )


def check_exact_counts(maxima: Any, names: Sequence[str]) -> None:
    """Raise ColumnError if the maximum of a count column is too large to count exactly."""
    if (maxima > MAX_EXACT_COUNT).any():
        at = int(np.argmax(maxima > MAX_EXACT_COUNT))
        raise errors.ColumnError(
            f"Column {names[at]!r} holds counts, but one of them is {maxima[at]:g}, too large to count "
            "exactly.",
            hint=("For such numbers use ", set_kind(names[at], "number"), "."),
        )
