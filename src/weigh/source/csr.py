"""Sparse rows that are made here rather than given: what chunks need of a CSR matrix, without scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class SparseRows:
    """Rows in canonical CSR form, with the attributes that scipy's matrices have."""

    has_canonical_format = True

    def __init__(self, shape: tuple[int, int], dtype: DTypeLike = np.float64) -> None:
        self.shape = shape
        self.data: NDArray[Any] = np.empty(0, dtype=dtype)
        self.indices: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self.indptr: NDArray[np.int64] = np.zeros(shape[0] + 1, dtype=np.int64)

    @classmethod
    def of(
        cls,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        data: NDArray[np.float64],
        width: int,
    ) -> SparseRows:
        """Take over the parts; indices rise within each row."""
        rows = cls((len(indptr) - 1, width), dtype=data.dtype)
        rows.data, rows.indices, rows.indptr = data, indices, indptr
        return rows

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self.data.dtype

    def toarray(self) -> NDArray[Any]:
        """The rows with all their zeros."""
        dense = np.zeros(self.shape, dtype=self.dtype)
        dense[np.repeat(np.arange(self.shape[0]), np.diff(self.indptr)), self.indices] = self.data
        return dense

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("Sparse rows become an array by a copy only.")
        return self.toarray().astype(dtype or self.dtype, copy=False)
