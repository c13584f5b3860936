"""Checks of the arrays of a scipy.sparse matrix, on which scipy's routines rely without looking."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.errors import DataError, first_line

# What scipy and NumPy raise for arrays of the wrong type, shape or range.
_LAYOUT_ERRORS = (AttributeError, LookupError, ArithmeticError, RuntimeError, TypeError, ValueError)


def to_csr(data: Any) -> Any:
    """Return a matrix of any format as CSR, or raise DataError if its arrays do not describe its entries.

    scipy's conversions write entries to the place that their indices name, even outside the result, so the
    arrays are checked before the conversion. Lists and dicts of entries are checked as the result. The input
    is not modified.
    """
    try:
        if data.format in _CHECKS:
            _CHECKS[data.format](data)
        matrix = data.tocsr()
        if data.format not in _CHECKS or data.format == "lil":
            _check_compressed(matrix)
        return matrix
    except _LAYOUT_ERRORS as error:
        raise DataError(
            f"The sparse matrix is damaged: {first_line(error)}. Build it again from its entries."
        ) from error


def _check_compressed(matrix: Any) -> None:
    """Check CSR and CSC matrices, and BSR matrices, whose entries are blocks."""
    is_blocked = matrix.format == "bsr"
    if matrix.data.ndim != (3 if is_blocked else 1):
        raise ValueError(f"the values have {matrix.data.ndim} dimensions")
    block_shape = matrix.data.shape[1:] if is_blocked else (1, 1)
    n_rows, n_columns = (size // length for size, length in zip(matrix.shape, block_shape, strict=True))
    n_major, n_minor = (n_columns, n_rows) if matrix.format == "csc" else (n_rows, n_columns)
    indptr, indices = _integers("indptr", matrix.indptr), _integers("indices", matrix.indices)
    if len(indptr) != n_major + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"indptr must be {n_major + 1:,} ascending numbers from 0")
    n_entries = int(indptr[-1])
    if n_entries > min(len(indices), len(matrix.data)):
        raise ValueError(
            f"indptr ends with {n_entries:,}, but there are {len(indices):,} indices and "
            f"{len(matrix.data):,} values"
        )
    _check_range("indices", indices[:n_entries], n_minor)


def _check_coordinates(matrix: Any) -> None:
    if matrix.data.ndim != 1 or len(matrix.coords) != 2:
        raise ValueError("an entry must have one row, one column and one value")
    for name, coordinates, size in zip(("rows", "columns"), matrix.coords, matrix.shape, strict=True):
        if len(_integers(name, coordinates)) != len(matrix.data):
            raise ValueError(f"there are {len(coordinates):,} {name} for {len(matrix.data):,} values")
        _check_range(name, coordinates, size)


def _check_diagonals(matrix: Any) -> None:
    if matrix.data.ndim != 2 or len(_integers("offsets", matrix.offsets)) != len(matrix.data):
        raise ValueError("there must be one offset per diagonal")


def _check_lists(matrix: Any) -> None:
    if not len(matrix.rows) == len(matrix.data) == matrix.shape[0]:
        raise ValueError("there must be one list of columns and one of values per row")
    if list(map(len, matrix.rows)) != list(map(len, matrix.data)):
        raise ValueError("there must be as many columns as values in every row")


_CHECKS = {
    "csr": _check_compressed,
    "csc": _check_compressed,
    "bsr": _check_compressed,
    "coo": _check_coordinates,
    "dia": _check_diagonals,
    "lil": _check_lists,
}


def _integers(name: str, values: Any) -> Any:
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype.kind not in "iu":
        raise TypeError(f"{name} must be a one-dimensional array of whole numbers")
    return values


def _check_range(name: str, values: Any, size: int) -> None:
    if len(values) and not 0 <= int(values.min()) <= int(values.max()) < size:
        raise ValueError(f"{name} must be from 0 to {size - 1:,}")
