"""A bare matrix of numbers: thousands of columns that are looked at one by one only where somebody asks."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.source.base import CHUNK_ROWS, Kinds, Source, check_size
from weigh.source.chunk import Chunk, Column
from weigh.source.columns import Field
from weigh.source.matrix_columns import MatrixColumns
from weigh.source.missing import Marker, Markers
from weigh.source.sparse import no_named_columns


def is_matrix(data: Any) -> bool:
    """Whether data is a two-dimensional array of numbers as they can be read in place."""
    return (
        type(data) is np.ndarray
        and data.ndim == 2
        and data.dtype.kind in "biuf"
        and data.dtype.isnative
        and data.dtype.itemsize <= 8
        and data.flags.aligned
        and all(step % data.itemsize == 0 for step in data.strides)
    )


class MatrixSource(Source):
    """The rows of a matrix, never copied; its columns are called x0, x1, ..."""

    named = False
    label = None

    def __init__(
        self, data: NDArray[Any], labels: Field | None = None, weights: NDArray[np.float64] | None = None
    ) -> None:
        self._matrix, self._labels, self._weights = data, labels, weights
        self.n_rows: int = data.shape[0]
        self.width: int = data.shape[1]
        self.names = tuple(f"x{j}" for j in range(self.width))

    def chunks(self, kinds: Kinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Read all rows from the start, at most `size` at a time; `kinds` has no use here."""
        del kinds  # there are no named columns they could speak of
        check_size(size)
        labels, weights = self._labels, self._weights
        for start in range(0, self.n_rows, size):
            stop = min(start + size, self.n_rows)
            yield Chunk(
                self._columns(start, stop),
                stop - start,
                labels=None if labels is None else labels.cut(start, stop),
                weights=None if weights is None else weights[start:stop],
                first_row=start,
            )

    def _columns(self, start: int, stop: int) -> Mapping[str, Column]:
        columns = MatrixColumns(self._matrix[start:stop], self.names)
        if not self.missing:
            return columns
        markers = Markers(self.missing)
        return {name: markers.apply(column) for name, column in columns.items()}

    def _marked(self, missing: tuple[Marker, ...]) -> Source:
        marked = copy.copy(self)
        marked.missing = missing
        return marked

    def labelled(self, name: str) -> Source:
        """Refuse: a bare matrix has no named columns."""
        raise no_named_columns(name)
