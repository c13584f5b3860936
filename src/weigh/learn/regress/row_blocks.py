"""Rows handed out as dense blocks, shifted and weighted on the way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.regress.matrix import DenseMatrix, Matrix, SparseMatrix

# Fresh pages are dear, and a block must be long for the products to run at full speed: measured.
_MOST_ROWS = 4096
_MOST_CELLS = 1 << 23


def row_blocks(
    X: Matrix, shift: Floats | None = None, root: Floats | None = None
) -> Iterator[tuple[slice, Floats]]:
    """Yield which rows, and rootᵢ (xᵢ − shift) of them in an array that the next block overwrites.

    Dense rows that are neither shifted nor weighted come as one view, without a copy.
    """
    if isinstance(X, DenseMatrix) and shift is None and root is None:
        yield slice(0, X.n_rows), X.array
        return
    size = max(1, min(_MOST_ROWS, X.n_rows, _MOST_CELLS // max(1, X.width)))
    # A block in the order of the rows: copying against the order costs more than the product.
    across = isinstance(X, DenseMatrix) and X.array.flags.f_contiguous
    buffer = np.empty((size, X.width), order="F" if across else "C")
    for start in range(0, X.n_rows, size):
        which = slice(start, min(start + size, X.n_rows))
        block = buffer[: which.stop - start]
        _fill(X, which, shift, block)
        if root is not None:
            block *= root[which, None]
        yield which, block


def some_rows(X: Matrix, pieces: int = 16, size: int = 32) -> Floats:
    """Return dense rows from pieces all over the matrix, for rough figures."""
    starts = range(0, X.n_rows, max(size, X.n_rows // pieces))
    parts = [slice(start, min(start + size, X.n_rows)) for start in starts]
    found = np.empty((sum(each.stop - each.start for each in parts), X.width))
    at = 0
    for each in parts:
        length = each.stop - each.start
        _fill(X, each, None, found[at : at + length])
        at += length
    return found


def whole(X: Matrix, shift: Floats | None = None, root: Floats | None = None) -> Floats:
    """Return rootᵢ (xᵢ − shift) of all rows as a new array."""
    found = np.empty((X.n_rows, X.width))
    _fill(X, slice(0, X.n_rows), shift, found)
    if root is not None:
        found *= root[:, None]
    return found


def _fill(X: Matrix, which: slice, shift: Floats | None, out: Floats) -> None:
    if isinstance(X, DenseMatrix):
        if shift is None:
            out[:] = X.array[which]
        else:
            np.subtract(X.array[which], shift, out=out)
        return
    if not isinstance(X, SparseMatrix):
        raise TypeError(f"rows of {type(X).__name__} have no dense form")
    indptr = X.indptr[which.start : which.stop + 1]
    held = slice(int(indptr[0]), int(indptr[-1]))
    out[:] = 0.0 if shift is None else -shift
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    out[rows, X.indices[held]] += 1.0 if X.values is None else X.values[held]
