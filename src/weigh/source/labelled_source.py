"""The rows of a source that have a label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.deduplicated_warnings import warn
from weigh.errors import LabelError, UnlabelledRows
from weigh.source.base import CHUNK_ROWS, PREFIX_ROWS, ChunkReader, ColumnKinds, Source
from weigh.source.chunk import Chunk, Column, DictionaryColumn, is_arrow, to_pylist
from weigh.source.missing import Marker

Rows = NDArray[np.int64]


def drop_missing_labels(source: Source, description: str) -> Source:
    """Return the rows of a source that have a label, with a note if some have none.

    The labels are read once to find them. `description` names the data in messages.
    """
    if source.label is None and source.prefix(1).labels is None:
        return source
    dropped, n_rows = _find_missing_labels(source)
    if len(dropped) == n_rows:
        raise LabelError(f"No row of {description} has a label.")
    if len(dropped):
        was = (
            "1 row has no label and was"
            if len(dropped) == 1
            else f"{len(dropped):,} rows have no label and were"
        )
        warn(
            UnlabelledRows(f"{description}: {was} left out, of {n_rows:,} (first: row {dropped[0]:,})."),
            [description],
        )
    return LabelledSource(source, dropped, n_rows, description)


def _find_missing_labels(source: Source) -> tuple[Rows, int]:
    """Return the numbers of the rows without a label, and the number of all rows."""
    kinds = dict.fromkeys(source.names, "skip")
    found, n_rows = [np.empty(0, dtype=np.int64)], 0
    for chunk in source.chunks(kinds):
        if chunk.labels is not None:
            found.append(np.flatnonzero(is_missing_row(chunk.labels)) + n_rows)
        n_rows += chunk.n_rows
    return np.concatenate(found), n_rows


def is_missing_row(column: Column) -> NDArray[np.bool_]:
    """Return which rows of a column are missing: None or NaN."""
    if isinstance(column, DictionaryColumn):
        # The last entry is that of the code -1.
        is_missing_value = np.array([*(value is None or value != value for value in column.values), True])
        return np.asarray(is_missing_value[column.codes], dtype=bool)
    if is_arrow(column):
        return np.asarray(column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False), dtype=bool)
    if isinstance(column, np.ndarray) and column.dtype.kind in "fiub":
        return np.asarray(np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool))
    values = to_pylist(column)
    return np.fromiter((_is_missing(value) for value in values), dtype=bool, count=len(values))


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


class LabelledSource(Source):
    """A source without the rows that have no label; the other rows keep their numbers."""

    def __init__(self, source: Source, dropped: Rows, n_rows: int, description: str) -> None:
        self.names, self.width, self.named, self.label = (
            source.names,
            source.width,
            source.named,
            source.label,
        )
        self.kinds, self.missing, self.start = source.kinds, source.missing, source.start
        self.n_entries, self.file_dialect = source.n_entries, source.file_dialect
        self.paths, self.bytes_total = source.paths, source.bytes_total
        self.n_rows: int = n_rows - len(dropped)
        self._source, self._dropped, self._n_rows, self._description = source, dropped, n_rows, description

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Yield readers of the rows that have a label."""
        start = 0
        for reader in self._source.chunk_readers(kinds, size):
            self.bytes_read = self._source.bytes_read
            stop = start + reader.n_rows
            dropped = self._dropped_between(start, stop)
            if not len(dropped):
                yield reader
            elif len(dropped) < reader.n_rows:
                reader.n_rows -= len(dropped)
                yield reader.then(_drop_rows, dropped)
            start = stop

    def _read_prefix(self, n: int, kinds: ColumnKinds | None) -> Chunk:
        # Enough rows to have n after dropping, or at least some.
        first = self._dropped_between(0, n)
        n_read = n + len(first)
        chunk = self._source.prefix(n_read, kinds)
        dropped = self._dropped_between(0, chunk.n_rows)
        if len(dropped) == chunk.n_rows:
            return next(self.chunk_readers(kinds, min(n, PREFIX_ROWS))).read()
        return (_drop_rows(chunk, dropped) if len(dropped) else chunk).slice(0, n)

    def _dropped_between(self, start: int, stop: int) -> Rows:
        """Return which rows of a range are dropped, counted from its start."""
        first, last = np.searchsorted(self._dropped, (start, stop))
        return self._dropped[first:last] - start

    def with_label(self, name: str) -> Source:
        """Return the rows that have a label in another column."""
        return drop_missing_labels(self._source.with_label(name), self._description)

    def with_columns(self, names: Sequence[str]) -> Source:
        """Return the same rows with all these columns."""
        return self._with_source(self._source.with_columns(names))

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        return drop_missing_labels(self._source.with_missing(missing), self._description)

    def with_storage(self, storage: ColumnKinds) -> Source:
        """Return the same rows with columns read as `storage` says."""
        return self._with_source(self._source.with_storage(storage))

    def _with_source(self, source: Source) -> Source:
        if source is self._source:
            return self
        return LabelledSource(source, self._dropped, self._n_rows, self._description)


def _drop_rows(chunk: Chunk, dropped: Rows) -> Chunk:
    keep = np.ones(chunk.n_rows, dtype=bool)
    keep[dropped] = False
    return chunk.select(keep)
