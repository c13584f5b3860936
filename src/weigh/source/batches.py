"""A file read in Arrow batches: what JSON and Parquet sources have in common."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from weigh.source.arrow import converter
from weigh.source.base import CHUNK_ROWS, PREFIX_ROWS, Kinds, Source, check_size
from weigh.source.chunk import Chunk
from weigh.source.file_source import JOINED_BYTES, JOINED_ROWS, PREFIX_BYTES, FileSource
from weigh.source.missing import Marker, Markers


class BatchSource(FileSource):
    """A file as a source; a subclass gives its columns' Arrow types and reads its batches."""

    def __init__(self, path: Path, missing: tuple[Marker, ...] = ()) -> None:
        super().__init__(path, missing)
        self._markers = Markers(missing)

    def _marked(self, missing: tuple[Marker, ...]) -> Source:
        marked = copy.copy(self)
        marked.missing, marked._markers = missing, Markers(missing)
        return marked

    @abstractmethod
    def batches(self, wanted: dict[str, Any], size: int) -> Generator[Any, None, None]:
        """Record batches of the wanted columns, in these types, errors already translated."""

    def prefix(self, n: int = PREFIX_ROWS, kinds: Kinds | None = None) -> Chunk:
        """The first n rows, or fewer when they exceed 32 MB; consumes nothing."""
        progress = self.bytes_read
        batch = self.first(self.wanted(kinds), check_size(n))
        self.bytes_read = progress
        return self._chunk(batch, 0)

    def first(self, wanted: dict[str, Any], n: int) -> Any:
        """The first n rows of the wanted columns as one batch."""
        with closing(self.batches(wanted, n)) as batches:
            return next(joined(batches, n, PREFIX_BYTES)).slice(0, n)

    def chunks(self, kinds: Kinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Read the file from its start, at most `size` rows at a time."""
        check_size(size)
        done = 0
        self.bytes_read = 0
        with closing(self.batches(self.wanted(kinds), size)) as batches:
            for batch in joined(batches, min(size, JOINED_ROWS), JOINED_BYTES):
                for start in range(0, batch.num_rows, size):
                    chunk = self._chunk(batch.slice(start, size), done)
                    done += chunk.n_rows
                    yield chunk
        self.bytes_read = self.bytes_total or 0

    def wanted(self, kinds: Kinds | None) -> dict[str, Any]:
        """The columns to read, label included, each with the Arrow type to read it as."""
        import pyarrow as pa

        kinds = kinds or {}
        return {
            name: pa.float64() if kinds.get(name) in {"number", "count"} else kind
            for name, kind in self.types.items()
            if kinds.get(name) != "skip" or name == self.label
        }

    def _chunk(self, batch: Any, first_row: int) -> Chunk:
        columns = {}
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            column = converter(name, column.type)(column)
            columns[name] = self._markers.apply(column) if self._markers else column
        labels = None if self.label is None else columns.pop(self.label)
        return Chunk(columns, batch.num_rows, labels=labels, first_row=first_row)


def joined(batches: Iterator[Any], rows: int, size: int) -> Iterator[Any]:
    """Batches put together until they have so many rows or bytes; empty ones vanish."""
    import pyarrow as pa

    waiting: list[Any] = []
    n_rows = n_bytes = 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        waiting.append(batch)
        n_rows += batch.num_rows
        n_bytes += batch.nbytes
        if n_rows >= rows or n_bytes >= size:
            yield waiting[0] if len(waiting) == 1 else pa.concat_batches(waiting)
            waiting, n_rows, n_bytes = [], 0, 0
    if waiting:
        yield waiting[0] if len(waiting) == 1 else pa.concat_batches(waiting)


def text_type(kind: Any) -> Any:
    """The type to freeze for an inferred one: times stay text, all-missing columns become text."""
    import pyarrow as pa
    import pyarrow.types as t

    if t.is_temporal(kind) or t.is_null(kind):
        return pa.string()
    if t.is_list(kind) and t.is_null(kind.value_type):
        return pa.list_(pa.string())
    return kind
