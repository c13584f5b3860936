"""Checks of numbers that are weighed: their squares must be numbers, too."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.features.blocks import DenseBlock, SparseBlock

MAX_MAGNITUDE = 1e100  # what can still be squared, times a weight
MIN_MAGNITUDE = 1e-100


def check_magnitude(largest: float) -> None:
    """Refuse numbers whose largest magnitude has a square that is none any more, or nothing."""
    if largest > MAX_MAGNITUDE:
        raise errors.DataError(
            f"A value has the size {largest:.6g}; beyond {MAX_MAGNITUDE:g} the square of a number is none any more. "
            f"Divide the columns by their largest values."
        )
    if 0 < largest < MIN_MAGNITUDE:
        raise errors.DataError(
            f"The largest value is {largest:.6g}; below {MIN_MAGNITUDE:g} the square of a number is nothing any "
            f"more. Multiply the columns by a power of ten."
        )


def check_sparse_block(entries: SparseBlock) -> SparseBlock:
    """Return entries that can be weighed."""
    if entries.values is not None:
        check_magnitude(_core.scan_values(entries.values)[0])
    return entries


def clean_dense_block(grid: DenseBlock) -> DenseBlock:
    """Return numbers that can be weighed: finite, as floats, and zero where they are missing."""
    matrix: Any = grid.matrix.astype(np.float64, copy=False)
    flat = _flatten(matrix)
    largest, has_nan, _, _ = _core.scan_values(flat)
    if np.isinf(largest):
        at = int(np.argmax(np.isinf(matrix).any(axis=0)))
        raise errors.ColumnError(
            f"Column {grid.names[at]!r} contains infinity (inf). Replace it by a finite number, or by NaN "
            f"if the value is missing."
        )
    check_magnitude(largest)
    if not has_nan:
        return DenseBlock(matrix, grid.names)
    gaps = np.isnan(matrix)
    return DenseBlock(np.where(gaps, 0.0, matrix), grid.names, gaps.sum(axis=1))


def _flatten(matrix: Any) -> Any:
    """Return all numbers in a row, in whichever order they lie in memory."""
    if matrix.flags.c_contiguous:
        return matrix.reshape(-1)
    return matrix.T.reshape(-1) if matrix.flags.f_contiguous else np.ascontiguousarray(matrix).reshape(-1)


MAX_EXACT_COUNT = 2.0**53  # beyond it, adding one changes nothing


def check_non_negative(least: Any, names: Sequence[str]) -> None:
    """Refuse counts whose least value in a column is below zero."""
    if (least < 0).any():
        at = int(np.argmax(least < 0))
        raise errors.ColumnError(
            f"Column {names[at]!r} holds counts, but one of them is negative ({least[at]:g}). Counts "
            f"start at 0; for other numbers use columns={{{names[at]!r}: 'number'}}."
        )


def check_exact_counts(greatest: Any, names: Sequence[str]) -> None:
    """Refuse counts whose greatest value in a column is beyond what is counted exactly."""
    if (greatest > MAX_EXACT_COUNT).any():
        at = int(np.argmax(greatest > MAX_EXACT_COUNT))
        raise errors.ColumnError(
            f"Column {names[at]!r} holds counts, but one of them is {greatest[at]:g}, too large to count "
            f"exactly. For such numbers use columns={{{names[at]!r}: 'number'}}."
        )


def check_integer(owner: str, name: str, value: Any, least: int) -> int:
    """Return a whole number of at least `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise errors.parameter_error(owner, name, f"a whole number of at least {least}", value) from None
    if number < least:
        raise errors.parameter_error(owner, name, f"at least {least}", value)
    return number


def check_bool(owner: str, name: str, value: Any) -> bool:
    """Return True or False, and take nothing else for them."""
    if value is True or value is False or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise errors.parameter_error(owner, name, "True or False", value)


def check_finite(owner: str, name: str, value: Any, must: str) -> float:
    """Return a number that a float can hold; `must` words what it should have been."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise errors.parameter_error(owner, name, must, value) from None
    if not math.isfinite(number):
        raise errors.parameter_error(owner, name, must, value)
    return number
