"""The selected rows of a source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.errors import DataError
from weigh.source.base import CHUNK_ROWS, ChunkReader, ColumnKinds, Source
from weigh.source.chunk import (
    Chunk,
    Column,
    DictionaryColumn,
    ListColumn,
    MatrixColumns,
    TextColumn,
    is_arrow,
)
from weigh.source.missing import Marker

Mask = NDArray[np.bool_]


class SelectedRows(Source):
    """The rows of a source where a mask is True, read chunk by chunk."""

    def __init__(self, source: Source, mask: Mask) -> None:
        self.names, self.width, self.named, self.label = (
            source.names,
            source.width,
            source.named,
            source.label,
        )
        self.kinds, self.missing, self.start = source.kinds, source.missing, source.start
        self.n_rows, self.n_entries = int(mask.sum()), source.n_entries
        self.bytes_total = source.bytes_total
        self._source, self._mask = source, mask

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Yield readers of the selected rows of every chunk that has some."""
        n_read = n_selected = 0
        for reader in self._source.chunk_readers(kinds, size):
            mask = self._mask[n_read : n_read + reader.n_rows]
            n_read += reader.n_rows
            self.bytes_read = self._source.bytes_read
            if len(mask) < reader.n_rows:
                raise DataError("The data has more rows than before. Do not change it while it is read.")
            if mask.any():
                yield ChunkReader(int(mask.sum()), _read_selected, reader, mask, n_selected)
                n_selected += int(mask.sum())

    def with_label(self, name: str) -> Source:
        """Return the same rows with another label column."""
        return SelectedRows(self._source.with_label(name), self._mask)

    def with_columns(self, names: Sequence[str]) -> Source:
        """Return the same rows with all these columns."""
        return SelectedRows(self._source.with_columns(names), self._mask)

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        return SelectedRows(self._source._with_missing(missing), self._mask)

    def with_storage(self, storage: ColumnKinds) -> Source:
        """Return the same rows with columns read as `storage` says."""
        return SelectedRows(self._source.with_storage(storage), self._mask)


def _read_selected(reader: ChunkReader, mask: Mask, first_row: int) -> Chunk:
    chunk = reader.read()
    columns: Any = (
        MatrixColumns(chunk.columns.matrix[mask], chunk.columns.names)
        if isinstance(chunk.columns, MatrixColumns)
        else {name: select_rows(column, mask) for name, column in chunk.columns.items()}
    )
    return Chunk(
        columns,
        int(mask.sum()),
        sparse=None if chunk.sparse is None else chunk.sparse.select(mask),
        labels=None if chunk.labels is None else select_rows(chunk.labels, mask),
        weights=None if chunk.weights is None else chunk.weights[mask],
        first_row=first_row,
    )


def select_rows(column: Column, mask: Mask) -> Column:
    """Return the rows of a column where the mask is True."""
    if isinstance(column, DictionaryColumn):
        return DictionaryColumn(column.codes[mask], column.values)
    if isinstance(column, TextColumn):
        return TextColumn(column.starts[mask], column.sizes[mask], column.data, column.overflow)
    if isinstance(column, ListColumn):
        return _select_lists(column, mask)
    if is_arrow(column):
        import pyarrow as pa

        return column.filter(pa.array(mask))
    return column[mask]


def _select_lists(column: ListColumn, mask: Mask) -> ListColumn:
    sizes = np.diff(column.indptr)
    entries = np.repeat(mask, sizes)
    start, stop = int(column.indptr[0]), int(column.indptr[-1])
    names = column.names[start:stop]
    return ListColumn(
        np.concatenate([[0], np.cumsum(sizes[mask])]).astype(np.int64),
        TextColumn(names.starts[entries], names.sizes[entries], names.data, names.overflow),
        None if column.values is None else column.values[start:stop][entries],
        None if column.known is None else column.known[mask],
    )
