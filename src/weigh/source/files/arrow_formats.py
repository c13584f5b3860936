"""JSON lines files: one object per line, streamed in blocks."""

from __future__ import annotations

import copy
import io
import os
from abc import abstractmethod
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from weigh.errors import ColumnError, SourceError
from weigh.source.base import CHUNK_ROWS, PREFIX_ROWS, ColumnKinds, Source, check_chunk_size
from weigh.source.chunk import Chunk
from weigh.source.files.base import MAX_PREFIX_BYTES, TARGET_CHUNK_BYTES, TARGET_CHUNK_ROWS, FileSource
from weigh.source.files.text_files import (
    ROW_TOO_LONG,
    check_json_line,
    compression_codec,
    find_invalid_json_line,
    is_utf8,
    open_decompressing,
    read_line_parts,
)
from weigh.source.memory.columns import arrow_converter
from weigh.source.missing import Marker, MarkerReplacer
from weigh.source.values import shorten_repr


class ArrowFileSource(FileSource):
    """A file as a source; a subclass gives its columns' Arrow types and reads its batches."""

    def __init__(self, path: Path, missing: tuple[Marker, ...] = ()) -> None:
        super().__init__(path, missing)
        self._markers = MarkerReplacer(missing)

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        marked = copy.copy(self)
        marked.missing, marked._markers = missing, MarkerReplacer(missing)
        return marked

    @abstractmethod
    def iter_batches(self, wanted: dict[str, Any], size: int) -> Generator[Any, None, None]:
        """Record batches of the wanted columns, in these types, errors already translated."""

    def prefix(self, n: int = PREFIX_ROWS, kinds: ColumnKinds | None = None) -> Chunk:
        """The first n rows, or fewer when they exceed 32 MB; consumes nothing."""
        progress = self.bytes_read
        batch = self.first_batch(self.arrow_types(kinds), check_chunk_size(n))
        self.bytes_read = progress
        return self._chunk(batch, 0)

    def first_batch(self, wanted: dict[str, Any], n: int) -> Any:
        """The first n rows of the wanted columns as one batch."""
        with closing(self.iter_batches(wanted, n)) as batches:
            return next(merge_small_batches(batches, n, MAX_PREFIX_BYTES)).slice(0, n)

    def chunks(self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Read the file from its start, at most `size` rows at a time."""
        check_chunk_size(size)
        done = 0
        self.bytes_read = 0
        with closing(self.iter_batches(self.arrow_types(kinds), size)) as batches:
            for batch in merge_small_batches(batches, min(size, TARGET_CHUNK_ROWS), TARGET_CHUNK_BYTES):
                for start in range(0, batch.num_rows, size):
                    chunk = self._chunk(batch.slice(start, size), done)
                    done += chunk.n_rows
                    yield chunk
        self.bytes_read = self.bytes_total or 0

    def arrow_types(self, kinds: ColumnKinds | None) -> dict[str, Any]:
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
            column = arrow_converter(name, column.type)(column)
            columns[name] = self._markers.apply(column) if self._markers else column
        labels = None if self.label is None else columns.pop(self.label)
        return Chunk(columns, batch.num_rows, labels=labels, first_row=first_row)


def merge_small_batches(batches: Iterator[Any], rows: int, size: int) -> Iterator[Any]:
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


def frozen_type(kind: Any) -> Any:
    """The type to freeze for an inferred one: times stay text, all-missing columns become text."""
    import pyarrow as pa
    import pyarrow.types as t

    if t.is_temporal(kind) or t.is_null(kind):
        return pa.string()
    if t.is_list(kind) and t.is_null(kind.value_type):
        return pa.list_(pa.string())
    return kind


class JsonLinesSource(ArrowFileSource):
    """A JSON lines file; fields that first occur after its first 10,000 rows are not read."""

    def __init__(
        self,
        path: Path,
        label: str | None,
        missing: tuple[Marker, ...],
        *,
        encoding: str = "utf-8",
        block: int = 1 << 20,
    ) -> None:
        super().__init__(path, missing)
        self.encoding = encoding
        self.block = block
        if self.bytes_total == 0:
            raise SourceError(f"{path} is empty.", path)
        schema = self._infer_schema()
        self.check_unique_columns(schema.names)
        self.set_columns({field.name: frozen_type(field.type) for field in schema}, label)

    def iter_batches(self, wanted: dict[str, Any], size: int) -> Generator[Any, None, None]:
        """Batches of one block each."""
        import pyarrow as pa

        del size  # a block holds the rows it holds
        schema = pa.schema(list(wanted.items()))
        lines = self._lines(follow=True)
        while block := self._next_lines(lines, schema, None, self.block):
            yield self._parse_lines(block, schema)

    def _infer_schema(self) -> Any:
        """The schema Arrow infers from the first 10,000 lines and no others."""
        schema = self._first_rows(None, PREFIX_ROWS).schema
        if not schema.names:
            raise SourceError(f"{self.path} has no rows with fields.", self.path)
        return schema

    def first_batch(self, wanted: dict[str, Any], n: int) -> Any:
        """The first n rows; what stands after them in the same block is not judged."""
        import pyarrow as pa

        return self._first_rows(pa.schema(list(wanted.items())), n)

    def _first_rows(self, schema: Any, n: int) -> Any:
        return self._parse_lines(self._next_lines(self._lines(), schema, n, MAX_PREFIX_BYTES), schema)

    def _next_lines(self, lines: Iterator[bytes], schema: Any, most: int | None, size: int) -> list[bytes]:
        """The next lines, at most so many and of at least so many bytes, each seen to be an object."""
        import pyarrow as pa

        taken: list[bytes] = []
        left = size
        try:
            for line in islice(lines, most):
                if len(line) > self._max_line_bytes:
                    raise ValueError(ROW_TOO_LONG)
                check_json_line(line)
                taken.append(line)
                left -= len(line)
                if left <= 0:
                    break
        except (pa.ArrowException, OSError, ValueError, LookupError) as error:
            raise self._translate_error(error, schema) from error
        return taken

    def _parse_lines(self, lines: list[bytes], schema: Any) -> Any:
        import pyarrow as pa
        from pyarrow import json

        try:
            read = json.ReadOptions(block_size=sum(map(len, lines)) + 1, use_threads=False)
            parse = json.ParseOptions(
                explicit_schema=schema,
                unexpected_field_behavior="infer" if schema is None else "ignore",
            )
            table = json.read_json(pa.BufferReader(b"".join(lines)), read, parse)
            # The JSON reader takes any bytes for text; later steps rely on UTF-8.
            table.validate(full=True)
        except (pa.ArrowException, OSError, ValueError, LookupError) as error:
            raise self._translate_error(error, schema) from error
        return table.combine_chunks().to_batches()[0]

    def _lines(self, *, follow: bool = False) -> Iterator[bytes]:
        """The lines that are not blank; followed, `bytes_read` keeps up with them."""
        stream, raw = self._open_stream()
        with raw, io.BufferedReader(stream) as reader:
            for line in read_line_parts(reader, self._max_line_bytes + 1):
                if follow:
                    self.bytes_read = raw.tell()
                if line.strip():
                    yield line

    @property
    def _max_line_bytes(self) -> int:
        """How long a line may be; Arrow's reader wants it within two blocks."""
        return 2 * self.block

    def _open_stream(self) -> tuple[Any, Any]:
        """The file's bytes in UTF-8, and the file below them."""
        import pyarrow as pa

        stream, raw = _open_arrow_stream(self.path)
        if is_utf8(self.encoding):
            return stream, raw
        return pa.transcoding_input_stream(stream, self.encoding, "utf-8"), raw

    def _translate_error(self, error: Exception, schema: Any) -> SourceError:
        """What went wrong, found by reading the lines one by one."""
        import pyarrow as pa

        text = str(error)
        if "Empty JSON" in text:
            return SourceError(f"{self.path} has no rows.", self.path)
        if isinstance(error, LookupError):
            return SourceError(f"{self.path}: {self.encoding!r} is not an encoding Python knows.", self.path)
        whole = frozenset(f.name for f in schema or () if pa.types.is_integer(f.type))
        try:
            odd = find_invalid_json_line(self.path, self.encoding, whole, self._max_line_bytes)
        except OSError:
            odd = None
        if odd is not None:
            line, told = odd
            return SourceError(f"{self.path}, line {line:,}{told}", self.path, line)
        if "straddling" in text:
            text = ROW_TOO_LONG
        reason = text.splitlines()[0].rstrip(".")
        return SourceError(f"{self.path} cannot be read: {reason}.", self.path)


def _open_arrow_stream(path: Path) -> tuple[Any, Any]:
    """The file's bytes as an Arrow stream, unpacked, and the file below them."""
    import pyarrow as pa

    codec = compression_codec(path)
    if codec == "xz":
        stream, raw = open_decompressing(path)
        return pa.PythonFile(stream, mode="r"), raw
    raw = pa.OSFile(os.fspath(path))
    return (raw if codec is None else pa.CompressedInputStream(raw, codec)), raw


class ParquetSource(ArrowFileSource):
    """A Parquet file; its types and its number of rows are known from its footer."""

    def __init__(self, path: Path, label: str | None, missing: tuple[Marker, ...]) -> None:
        super().__init__(path, missing)
        if self.bytes_total == 0:
            raise SourceError(f"{path} is empty.", path)
        with self._open_file() as file:
            schema = file.schema_arrow
            self.n_rows: int = file.metadata.num_rows
        self.check_unique_columns(schema.names)
        if self.n_rows == 0:
            raise SourceError(f"{path} has columns but no rows.", path)
        self.set_columns({field.name: field.type for field in schema}, label)

    def iter_batches(self, wanted: dict[str, Any], size: int) -> Generator[Any, None, None]:
        """Batches of at most `size` rows of the wanted columns."""
        import pyarrow as pa

        done = 0
        with self._open_file() as file:
            reader = file.iter_batches(batch_size=size, columns=list(wanted))
            while True:
                try:
                    batch = next(reader, None)
                except (pa.ArrowException, OSError) as error:
                    raise self._damaged_file_error(error) from error
                if batch is None:
                    return
                yield self._cast_batch(batch, wanted, done)
                done += batch.num_rows
                self.bytes_read = (self.bytes_total or 0) * done // self.n_rows

    def _open_file(self) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return pq.ParquetFile(os.fspath(self.path))
        except (pa.ArrowException, OSError) as error:
            raise self._damaged_file_error(error) from error

    def _damaged_file_error(self, error: Exception) -> SourceError:
        reason = str(error).splitlines()[0].rstrip(".")
        return SourceError(f"{self.path} is not a whole Parquet file: {reason}.", self.path)

    def _cast_batch(self, batch: Any, wanted: dict[str, Any], done: int) -> Any:
        """The batch with its columns in the wanted order and types."""
        import pyarrow as pa

        columns = [self._cast_column(name, batch.column(name), kind, done) for name, kind in wanted.items()]
        return pa.record_batch(columns, names=list(wanted))

    def _cast_column(self, name: str, column: Any, kind: Any, done: int) -> Any:
        import pyarrow as pa

        if column.type == kind:
            return column
        column = arrow_converter(name, column.type)(column)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if self._markers:
            column = self._markers.apply(column)
        try:
            return column.cast(kind, safe=False)
        except pa.ArrowInvalid:
            raise self._value_error(name, column, done) from None
        except pa.ArrowNotImplementedError:
            raise ColumnError(
                f"{self.path}, column {name!r} of type {column.type} cannot be read as a number."
            ) from None

    def _value_error(self, name: str, column: Any, done: int) -> SourceError:
        row, value = next(
            ((i, value) for i, value in enumerate(column.to_pylist()) if not _is_number(value)),
            (0, None),
        )
        return SourceError(
            f"{self.path}, row {done + row + 1:,}, column {name!r}: {shorten_repr(value)} is not a number. "
            f"Give missing={value!r} to open() if it means missing.",
            self.path,
        )


def _is_number(value: Any) -> bool:
    try:
        float(0 if value is None else value)
    except ValueError:
        return False
    return True
