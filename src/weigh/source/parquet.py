"""Parquet files, read batch by batch."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

from weigh.errors import ColumnError, SourceError
from weigh.source.arrow import converter
from weigh.source.batches import BatchSource
from weigh.source.missing import Marker
from weigh.source.values import shorten


class ParquetSource(BatchSource):
    """A Parquet file; its types and its number of rows are known from its footer."""

    def __init__(self, path: Path, label: str | None, missing: tuple[Marker, ...]) -> None:
        super().__init__(path, missing)
        if self.bytes_total == 0:
            raise SourceError(f"{path} is empty.", path)
        with self._file() as file:
            schema = file.schema_arrow
            self.n_rows: int = file.metadata.num_rows
        self.check_header(schema.names)
        if self.n_rows == 0:
            raise SourceError(f"{path} has columns but no rows.", path)
        self.describe({field.name: field.type for field in schema}, label)

    def batches(self, wanted: dict[str, Any], size: int) -> Generator[Any, None, None]:
        """Batches of at most `size` rows of the wanted columns."""
        import pyarrow as pa

        done = 0
        with self._file() as file:
            reader = file.iter_batches(batch_size=size, columns=list(wanted))
            while True:
                try:
                    batch = next(reader, None)
                except (pa.ArrowException, OSError) as error:
                    raise self._damaged(error) from error
                if batch is None:
                    return
                yield self._cast(batch, wanted, done)
                done += batch.num_rows
                self.bytes_read = (self.bytes_total or 0) * done // self.n_rows

    def _file(self) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return pq.ParquetFile(os.fspath(self.path))
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> SourceError:
        reason = str(error).splitlines()[0].rstrip(".")
        return SourceError(f"{self.path} is not a whole Parquet file: {reason}.", self.path)

    def _cast(self, batch: Any, wanted: dict[str, Any], done: int) -> Any:
        """The batch with its columns in the wanted order and types."""
        import pyarrow as pa

        columns = [self._as(name, batch.column(name), kind, done) for name, kind in wanted.items()]
        return pa.record_batch(columns, names=list(wanted))

    def _as(self, name: str, column: Any, kind: Any, done: int) -> Any:
        import pyarrow as pa

        if column.type == kind:
            return column
        column = converter(name, column.type)(column)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if self._markers:
            column = self._markers.apply(column)
        try:
            return column.cast(kind, safe=False)
        except pa.ArrowInvalid:
            raise self._unfit_value(name, column, done) from None
        except pa.ArrowNotImplementedError:
            raise ColumnError(
                f"{self.path}, column {name!r} of type {column.type} cannot be read as a number."
            ) from None

    def _unfit_value(self, name: str, column: Any, done: int) -> SourceError:
        row, value = next(
            ((i, value) for i, value in enumerate(column.to_pylist()) if not _is_number(value)),
            (0, None),
        )
        return SourceError(
            f"{self.path}, row {done + row + 1:,}, column {name!r}: {shorten(value)} is not a number. "
            f"Give missing={value!r} to open() if it means missing.",
            self.path,
        )


def _is_number(value: Any) -> bool:
    try:
        float(0 if value is None else value)
    except ValueError:
        return False
    return True
