"""Rows of a scipy.sparse matrix, as wide chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.errors import DataError, LabelError
from weigh.source.arrays import check_array
from weigh.source.base import CHUNK_ROWS, Kinds, Source, check_size
from weigh.source.chunk import CSR, Chunk, cut_wide
from weigh.source.columns import Field, origins


def is_sparse(data: object) -> bool:
    """Whether data is a scipy.sparse matrix or array, without importing scipy."""
    return hasattr(data, "tocsr") and any(kind.startswith("scipy.") for kind in origins(data))


class SparseSource(Source):
    """A scipy.sparse matrix of any format, read as canonical CSR with float64 or int64 values."""

    names: tuple[str, ...] = ()
    named = False
    label = None

    def __init__(
        self, data: Any, labels: Field | None = None, weights: NDArray[np.float64] | None = None
    ) -> None:
        self._matrix = canonical(data)
        self._labels = labels
        self._weights = weights
        self.n_rows: int = self._matrix.shape[0]
        self.width: int = self._matrix.shape[1]

    def chunks(self, kinds: Kinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Read all rows from the start, at most `size` at a time; `kinds` has no use here."""
        del kinds  # there are no named columns they could speak of
        check_size(size)
        labels, weights = self._labels, self._weights
        for start in range(0, self.n_rows, size):
            stop = min(start + size, self.n_rows)
            yield Chunk(
                {},
                stop - start,
                wide=cut_wide(self._matrix, start, stop),
                labels=None if labels is None else labels.cut(start, stop),
                weights=None if weights is None else weights[start:stop],
                first_row=start,
            )

    def labelled(self, name: str) -> Source:
        """Refuse: a sparse matrix has no named columns."""
        raise no_named_columns(name)


MOST_COLUMNS = 2**31 - 1  # column numbers are 32 bits wide


def canonical(data: Any) -> CSR:
    """CSR with sorted, summed entries of 64 bits; the caller's matrix stays as it is."""
    if data.dtype.kind == "c":
        raise DataError("Complex data not supported: the matrix holds complex numbers.")
    check_array(data.shape)
    if data.shape[1] > MOST_COLUMNS:
        raise DataError(
            f"The sparse matrix has {data.shape[1]:,} columns; {MOST_COLUMNS:,} are the most. Hash them into "
            f"fewer."
        )
    _check_parts(data)
    matrix = data.tocsr()
    wanted = np.float64 if data.dtype.kind == "f" else np.int64
    if matrix.dtype != wanted:
        matrix = matrix.astype(wanted)
    if not matrix.has_canonical_format:
        matrix = matrix.copy() if matrix is data else matrix
        matrix.sum_duplicates()
    return matrix


def _check_parts(data: Any) -> None:
    """Refuse entries that lie outside the matrix: scipy's own loops would not notice."""
    if hasattr(data, "check_format"):
        try:
            data.check_format(full_check=True)
        except (ValueError, IndexError) as error:
            raise DataError(
                f"The sparse matrix is damaged: {error}. Build it again from its entries."
            ) from error


def no_named_columns(name: str) -> LabelError:
    """Word the refusal of a label name for data without names."""
    return LabelError(
        f"The label was given as the column name {name!r}, but a bare array has no column names. "
        f"Give the labels themselves, or a table with named columns."
    )
