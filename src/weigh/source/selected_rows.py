"""Sources around other sources: their selected rows, and the rows that have a label."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from weigh.deduplicated_warnings import warn
from weigh.errors import DataError, LabelError, UnlabelledRows
from weigh.source.base import CHUNK_ROWS, ChunkReader, ColumnKinds, Source
from weigh.source.cells import NumberFormat
from weigh.source.chunk import Chunk, Column, DictionaryColumn, TextColumn, is_arrow, to_pylist
from weigh.source.missing import Marker

Mask = NDArray[np.bool_]
_SHARED_ATTRIBUTES = (
    "names",
    "width",
    "named",
    "start",
    "label",
    "n_rows",
    "n_entries",
    "kinds",
    "missing",
    "file_dialect",
    "number_format",
    "paths",
    "bytes_total",
)


class WrappedSource(Source):
    """A source around another one, which it resembles in all but its rows; subclasses implement `wrap`."""

    def __init__(self, source: Source) -> None:
        for name in _SHARED_ATTRIBUTES:
            setattr(self, name, getattr(source, name))
        self.source = source

    @abstractmethod
    def wrap(self, source: Source) -> Source:
        """Return a variant of the inner source in the same wrapping."""

    def with_label(self, name: str) -> Source:
        """Return the same rows with another label column."""
        return self.wrap(self.source.with_label(name))

    def with_columns(self, names: Sequence[str]) -> Source:
        """Return the same rows with all these columns."""
        return self.wrap(self.source.with_columns(names))

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        return self.wrap(self.source._with_missing(missing))

    def with_storage(self, storage: ColumnKinds) -> Source:
        """Return the same rows with columns read as `storage` says."""
        return self.wrap(self.source.with_storage(storage))

    def with_number_formats(self, formats: Mapping[str, NumberFormat]) -> Source:
        """Return the same rows with the numbers of these columns parsed as written."""
        return self.wrap(self.source.with_number_formats(formats))


class SelectedRows(WrappedSource):
    """The rows of a source where a mask is True, read chunk by chunk; they keep their numbers."""

    def __init__(self, source: Source, mask: Mask) -> None:
        super().__init__(source)
        self.n_rows = int(mask.sum())
        self._mask = mask

    def wrap(self, source: Source) -> Source:
        """Return the same rows of a variant of the source."""
        return self if source is self.source else SelectedRows(source, self._mask)

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Yield readers of the selected rows of every chunk that has some."""
        n_read = 0
        for reader in self.source.chunk_readers(kinds, size):
            mask = self._mask[n_read : n_read + reader.n_rows]
            n_read += reader.n_rows
            self.bytes_read = self.source.bytes_read
            if len(mask) < reader.n_rows:
                raise DataError("The data has more rows than before. Do not change it while it is read.")
            if mask.all():
                yield reader
            elif mask.any():
                yield ChunkReader(int(mask.sum()), _read_and_select, reader, mask)

    def _read_prefix(self, n: int, kinds: ColumnKinds | None) -> Chunk:
        # As many rows as contain n selected ones; files may return fewer.
        n_needed = int(np.searchsorted(np.cumsum(self._mask), n)) + 1
        chunk = self.source.prefix(min(n_needed, len(self._mask)), kinds)
        mask = self._mask[: chunk.n_rows]
        if mask.all():
            return chunk
        return chunk.select(mask) if mask.any() else super()._read_prefix(n, kinds)

    def format_place(self, row: int) -> str:
        """Return the place of one of the first selected rows."""
        return self.source.format_place(int(np.flatnonzero(self._mask)[row]))


def _read_and_select(reader: ChunkReader, mask: Mask) -> Chunk:
    return reader.read().select(mask)


class LabelledRows(SelectedRows):
    """The rows of a source that have a label; `description` names the data in messages."""

    def __init__(self, source: Source, mask: Mask, description: str) -> None:
        super().__init__(source, mask)
        self._description = description

    def wrap(self, source: Source) -> Source:
        """Return the same rows of a variant of the source."""
        return self if source is self.source else LabelledRows(source, self._mask, self._description)

    def with_label(self, name: str) -> Source:
        """Return the rows that have a label in another column."""
        return drop_missing_labels(self.source.with_label(name), self._description)

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        return drop_missing_labels(self.source._with_missing(missing), self._description)


def drop_missing_labels(source: Source, description: str) -> Source:
    """Return the rows of a source that have a label, with a note if some have none.

    The labels are read once to find them. `description` names the data in messages.
    """
    if source.label is None and source.prefix(1).labels is None:
        return source
    has_label = _find_labels(source)
    n_rows, dropped = len(has_label), np.flatnonzero(~has_label)
    if len(dropped) == n_rows:
        raise LabelError(f"No row of {description} has a label.")
    if len(dropped):
        have = (
            "1 row has no label and was"
            if len(dropped) == 1
            else f"{len(dropped):,} rows have no label and were"
        )
        warn(
            UnlabelledRows(f"{description}: {have} left out, of {n_rows:,} (first: row {dropped[0]:,})."),
            [description],
        )
    return LabelledRows(source, has_label, description)


def _find_labels(source: Source) -> Mask:
    """Return which rows have a label."""
    kinds = dict.fromkeys(source.names, "skip")
    masks = [
        np.ones(chunk.n_rows, dtype=bool) if chunk.labels is None else ~is_missing_row(chunk.labels)
        for chunk in source.chunks(kinds)
    ]
    return np.concatenate(masks)


def is_missing_row(column: Column) -> NDArray[np.bool_]:
    """Return which rows of a column are missing: None or NaN."""
    if isinstance(column, DictionaryColumn):
        if column.types <= {str, int, bool}:
            return np.asarray(column.codes < 0)
        # The last entry is that of the code -1.
        is_missing_value = np.array([*(value is None or value != value for value in column.values), True])
        return np.asarray(is_missing_value[column.codes], dtype=bool)
    if isinstance(column, TextColumn):
        return np.asarray(column.sizes < 0)
    if is_arrow(column):
        return np.asarray(column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False), dtype=bool)
    if isinstance(column, np.ndarray) and column.dtype.kind in "fiub":
        return np.asarray(np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool))
    values = to_pylist(column)
    if {*map(type, values)} <= {str, int, bool}:
        return np.zeros(len(values), dtype=bool)
    return np.array([v is None or (isinstance(v, float) and v != v) for v in values], dtype=bool)
