"""Queries that yield rows batch by batch, run for every pass: DuckDB relations and polars LazyFrames."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from weigh.errors import DataError, unknown_column_error
from weigh.source.base import CHUNK_ROWS, ChunkReader, ColumnKinds, Source, check_chunk_size
from weigh.source.chunk import Chunk
from weigh.source.memory.columns import base_type_names, check_not_empty
from weigh.source.memory.conversion import table_from_arrow
from weigh.source.memory.table import TableSource
from weigh.source.missing import Marker


class StreamSource(Source):
    """The rows of a query, of which one batch is in memory at a time; every pass runs the query again."""

    named = True
    n_rows = None

    def __init__(self, query: Any, label: str | None = None, missing: tuple[Marker, ...] = ()) -> None:
        self._query, self.label, self.missing = query, label, missing
        self._set_names()

    def _set_names(self) -> None:
        first = next(self._tables(), None)
        if first is None:
            raise DataError("The query returns no rows.")
        source = self._table_source(first)
        self.names, self.width, self.kinds = source.names, source.width, source.kinds

    def _tables(self) -> Iterator[Any]:
        """Run the query and yield its rows as Arrow tables that are not empty."""
        import pyarrow as pa

        if "polars.LazyFrame" in base_type_names(self._query):
            tables = (frame.to_arrow() for frame in self._query.collect_batches(maintain_order=True))
        else:
            reader = pa.RecordBatchReader.from_stream(self._query)
            tables = (pa.Table.from_batches([batch]) for batch in reader)
        return (table for table in tables if table.num_rows)

    def _table_source(self, table: Any) -> TableSource:
        lazy = check_not_empty(table_from_arrow(table))
        if self.label is not None and self.label not in lazy.columns:
            raise unknown_column_error(self.label, lazy.columns, "The query")
        return TableSource(lazy, label=self.label, missing=self.missing)

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Yield readers of all rows from the start, at most `size` rows each."""
        check_chunk_size(size)
        n_before = 0
        for table in self._tables():
            for reader in self._table_source(table).chunk_readers(kinds, size):
                yield reader.then(_shift_rows, n_before)
            n_before += table.num_rows

    def _read_prefix(self, n: int, kinds: ColumnKinds | None) -> Chunk:
        import pyarrow as pa

        tables: list[Any] = []
        for table in self._tables():
            tables.append(table)
            if sum(each.num_rows for each in tables) >= n:
                break
        return self._table_source(pa.concat_tables(tables).slice(0, n)).prefix(n, kinds)

    def with_label(self, name: str) -> Source:
        """Return the same rows with column `name` as the label."""
        return StreamSource(self._query, name, self.missing)

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        source = copy.copy(self)
        source.missing = missing
        return source


def _shift_rows(chunk: Chunk, n_before: int) -> Chunk:
    return replace(chunk, first_row=chunk.first_row + n_before) if n_before else chunk
