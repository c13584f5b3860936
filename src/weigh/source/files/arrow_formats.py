"""Files read by Arrow: Parquet and JSON lines."""

from __future__ import annotations

import copy
import io
import os
from abc import abstractmethod
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

from weigh.advice import join
from weigh.errors import ColumnError, SourceError, WeighError, first_line
from weigh.source.base import (
    CHUNK_ROWS,
    NUMBER_KINDS,
    PREFIX_ROWS,
    ChunkReader,
    ColumnKinds,
    Source,
    check_chunk_size,
)
from weigh.source.chunk import Chunk
from weigh.source.files.base import (
    MAX_CACHED_HEAD_BYTES,
    MAX_PREFIX_BYTES,
    TARGET_CHUNK_BYTES,
    TARGET_CHUNK_ROWS,
    FileSource,
    encoding_dialect,
)
from weigh.source.files.text_files import (
    ROW_TOO_LONG,
    UTF8_BOM,
    check_file_size,
    check_json_line,
    compression_codec,
    find_invalid_json_line,
    is_utf8,
    open_decompressing,
    read_line_parts,
)
from weigh.source.memory.arrow_layout import check_layout
from weigh.source.memory.columns import arrow_converter, conversion_errors
from weigh.source.missing import Marker, MarkerReplacer
from weigh.source.nested_columns import Path as FieldPath
from weigh.source.nested_columns import flatten_types, nest_types, read_field
from weigh.source.paths import READ_ERRORS


class ArrowFileSource(FileSource):
    """A file read in Arrow record batches; subclasses set the column types and read the batches."""

    def __init__(self, path: Path, missing: tuple[Marker, ...] = ()) -> None:
        super().__init__(path, missing)
        self._markers = MarkerReplacer(missing)
        self._empty: frozenset[str] = frozenset()  # columns without values in the first rows
        self._paths: dict[str, FieldPath] = {}  # where the columns are; those of structs are nested

    def flatten_types(self, types: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        """Return the columns of a file with their types, the fields of structs as columns of their own."""
        fields = list(flatten_types(types))
        self.check_unique_columns([".".join(path) for path, _ in fields])
        self._paths = {".".join(path): path for path, _ in fields}
        return {".".join(path): arrow_type for path, arrow_type in fields}

    def flatten_batch(self, batch: Any, names: Iterable[str]) -> Any:
        """Return these columns of a batch as it is stored."""
        import pyarrow as pa

        columns = {name: read_field(batch, self._paths[name]) for name in names}
        return pa.record_batch(list(columns.values()), names=list(columns))

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        source = copy.copy(self)
        source.missing, source._markers = missing, MarkerReplacer(missing)
        return source

    @abstractmethod
    def iter_batches(self, types: dict[str, Any], size: int) -> Generator[Any, None, None]:
        """Yield record batches of the columns in `types`, cast to these types; raises SourceError."""

    def _read_prefix(self, n: int, kinds: ColumnKinds | None) -> Chunk:
        progress = self.bytes_read
        batch = self.first_batch(self.arrow_types(kinds), n)
        self.bytes_read = progress
        return self._chunk(batch, 0, may_skip=kinds is None)

    def first_batch(self, types: dict[str, Any], n: int) -> Any:
        """Return the first n rows of the columns in `types` as one batch."""
        with closing(self.iter_batches(types, n)) as batches:
            merged = next(merge_small_batches(batches, n, MAX_PREFIX_BYTES), None)
        if merged is None:
            raise SourceError(f"{self.path} has no rows.", self.path)
        return merged.slice(0, n)

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Read the file from its start and yield readers that convert at most `size` rows each."""
        check_chunk_size(size)
        first_row = 0
        self.bytes_read = 0
        with closing(self.iter_batches(self.arrow_types(kinds), size)) as batches:
            for batch in merge_small_batches(batches, min(size, TARGET_CHUNK_ROWS), TARGET_CHUNK_BYTES):
                for start in range(0, batch.num_rows, size):
                    part = batch.slice(start, size)
                    yield ChunkReader(part.num_rows, self._chunk, part, first_row)
                    first_row += part.num_rows
        self.bytes_read = self.bytes_total or 0

    def arrow_types(self, kinds: ColumnKinds | None) -> dict[str, Any]:
        """Return the columns to read, label included, each with the Arrow type to read it as.

        Numbers that are written as text stay text, which only a reading of the column can convert.
        """
        import pyarrow as pa

        kinds = kinds or {}
        return {
            name: pa.float64()
            if kinds.get(name) in NUMBER_KINDS and (name in self._empty or not _holds_text(arrow_type))
            else arrow_type
            for name, arrow_type in self.types.items()
            if kinds.get(name) != "skip" or name == self.label
        }

    def _chunk(self, batch: Any, first_row: int, *, may_skip: bool = False) -> Chunk:
        columns, unreadable = {}, {}
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            try:
                columns[name] = self._convert_column(name, column)
            except ColumnError as error:
                if not may_skip or name == self.label:
                    raise
                unreadable[name] = error
        labels = None if self.label is None else columns.pop(self.label)
        return Chunk(columns, batch.num_rows, labels=labels, first_row=first_row, unreadable=unreadable)

    def _convert_column(self, name: str, column: Any) -> Any:
        with conversion_errors(name):
            column = arrow_converter(name, column.type)(column)
            return self._markers.apply(column) if self._markers else column


def _holds_text(arrow_type: Any) -> bool:
    import pyarrow.types as t

    values = arrow_type.value_type if t.is_dictionary(arrow_type) else arrow_type
    return bool(t.is_string(values) or t.is_large_string(values) or t.is_string_view(values))


def merge_small_batches(batches: Iterator[Any], min_rows: int, min_bytes: int) -> Iterator[Any]:
    """Concatenate batches until they have `min_rows` rows or `min_bytes` bytes; drops empty batches."""
    import pyarrow as pa

    pending: list[Any] = []
    n_rows = n_bytes = 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        pending.append(batch)
        n_rows += batch.num_rows
        n_bytes += batch.nbytes
        if n_rows >= min_rows or n_bytes >= min_bytes:
            yield pending[0] if len(pending) == 1 else pa.concat_batches(pending)
            pending, n_rows, n_bytes = [], 0, 0
    if pending:
        yield pending[0] if len(pending) == 1 else pa.concat_batches(pending)


class JsonLinesSource(ArrowFileSource):
    """A JSON lines file; fields that first occur after the first 10,000 rows are ignored."""

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
        self.file_dialect = encoding_dialect(encoding)
        if self.bytes_total == 0:
            raise SourceError(f"{path} is empty.", path)
        head = self._first_rows(None, PREFIX_ROWS)  # Arrow infers the types from them
        if not head.schema.names:
            raise SourceError(f"{self.path} has no rows with fields.", self.path)
        self.check_unique_columns(head.schema.names)
        types = self.flatten_types((field.name, field.type) for field in head.schema)
        head = self.flatten_batch(head, types)
        self._head = head if head.nbytes <= MAX_CACHED_HEAD_BYTES else None
        self._empty = frozenset(name for name, each in types.items() if str(each) == "null")
        self.set_columns({name: frozen_type(each) for name, each in types.items()}, label)

    def iter_batches(self, types: dict[str, Any], size: int) -> Generator[Any, None, None]:
        """Yield one batch per block."""
        import pyarrow as pa

        del size  # blocks are measured in bytes
        schema = pa.schema(list(types.items()))
        lines = self._lines(track_progress=True)
        while block := self._next_lines(lines, schema, None, self.block):
            yield self._parse_lines(block, schema)

    def first_batch(self, types: dict[str, Any], n: int) -> Any:
        """Return the first n rows without validating later rows of the same block."""
        import pyarrow as pa

        schema = pa.schema(list(types.items()))
        head = self._head
        if head is None or n > PREFIX_ROWS or not set(schema) <= set(head.schema):
            return self._first_rows(schema, n)
        return head.select(schema.names).slice(0, n)

    def _first_rows(self, schema: Any, n: int) -> Any:
        return self._parse_lines(self._next_lines(self._lines(), schema, n, MAX_PREFIX_BYTES), schema)

    def _next_lines(
        self, lines: Iterator[bytes], schema: Any, max_lines: int | None, n_bytes: int
    ) -> list[bytes]:
        """Return the next lines, each checked, up to `max_lines` or until they have `n_bytes` bytes."""
        import pyarrow as pa

        result: list[bytes] = []
        try:
            for line in islice(lines, max_lines):
                if len(line) > self._max_line_bytes:
                    raise ValueError("straddling")
                check_json_line(line)
                result.append(line)
                n_bytes -= len(line)
                if n_bytes <= 0:
                    break
        except (pa.ArrowException, *READ_ERRORS, LookupError) as error:
            raise self._translate_error(error, schema) from error
        return result

    def _parse_lines(self, lines: list[bytes], schema: Any) -> Any:
        import pyarrow as pa
        from pyarrow import json

        try:
            read_options = json.ReadOptions(block_size=sum(map(len, lines)) + 1, use_threads=False)
            nested = None
            if schema is not None:
                nested = pa.schema(nest_types({self._paths[field.name]: field.type for field in schema}))
            parse_options = json.ParseOptions(
                explicit_schema=nested,
                unexpected_field_behavior="infer" if schema is None else "ignore",
            )
            table = json.read_json(pa.BufferReader(b"".join(lines)), read_options, parse_options)
            # Arrow's JSON reader does not check that strings are UTF-8, on which the encoders rely.
            table.validate(full=True)
        except (pa.ArrowException, *READ_ERRORS, LookupError) as error:
            raise self._translate_error(error, schema) from error
        batch = table.combine_chunks().to_batches()[0]
        return batch if schema is None else self.flatten_batch(batch, schema.names)

    def _lines(self, *, track_progress: bool = False) -> Iterator[bytes]:
        """Yield the lines that are not blank, updating `bytes_read` if requested."""
        stream, raw = self._open_stream()
        with raw, io.BufferedReader(stream) as reader:
            lines = read_line_parts(reader, self._max_line_bytes + 1)
            for line in chain([next(lines, b"").removeprefix(UTF8_BOM)], lines):
                if track_progress:
                    self.bytes_read = raw.tell()
                if line.strip():
                    yield line
        self._check_size()

    def _check_size(self) -> None:
        check_file_size(self.path, self.bytes_total or 0)

    @property
    def _max_line_bytes(self) -> int:
        """The maximum length of a line; Arrow's reader requires that it spans at most two blocks."""
        return 2 * self.block

    def _open_stream(self) -> tuple[Any, Any]:
        """Return a stream of the text in UTF-8, and the underlying file."""
        import pyarrow as pa

        stream, raw = _open_arrow_stream(self.path)
        if is_utf8(self.encoding):
            return stream, raw
        return pa.transcoding_input_stream(stream, self.encoding, "utf-8"), raw

    def _translate_error(self, error: Exception, schema: Any) -> SourceError:
        """Return an error that names the invalid line, found by reading line by line."""
        import pyarrow as pa

        # A line that is cut is invalid too.
        self._check_size()
        text = str(error)
        if "Empty JSON" in text:
            return SourceError(f"{self.path} has no rows.", self.path)
        if isinstance(error, LookupError):
            return SourceError(f"{self.path}: {self.encoding!r} is not an encoding Python knows.", self.path)
        integer_columns = frozenset(f.name for f in schema or () if pa.types.is_integer(f.type))
        try:
            invalid = find_invalid_json_line(self.path, self.encoding, integer_columns, self._max_line_bytes)
        except READ_ERRORS:  # of the decompression
            invalid = None
        if invalid is not None:
            line, problem = invalid
            return SourceError(join(f"{self.path}, line {line:,}", problem), self.path, line)
        reason = ROW_TOO_LONG if "straddling" in text else first_line(error)
        return SourceError(join(f"{self.path} cannot be read: ", reason, "."), self.path)


def frozen_type(inferred: Any) -> Any:
    """Return the fixed type for an inferred one: times stay text, and null columns become text."""
    import pyarrow as pa
    import pyarrow.types as t

    if t.is_temporal(inferred) or t.is_null(inferred):
        return pa.string()
    if t.is_list(inferred) and t.is_null(inferred.value_type):
        return pa.list_(pa.string())
    return inferred


def _open_arrow_stream(path: Path) -> tuple[Any, Any]:
    """Return an Arrow stream of the decompressed bytes, and the underlying file."""
    import pyarrow as pa

    codec = compression_codec(path)
    if codec == "xz":
        stream, raw = open_decompressing(path)
        return pa.PythonFile(stream, mode="r"), raw
    raw = pa.OSFile(os.fspath(path))
    return (raw if codec is None else pa.CompressedInputStream(raw, codec)), raw


class ParquetSource(ArrowFileSource):
    """A Parquet file; its footer gives the column types and the number of rows."""

    def __init__(self, path: Path, label: str | None, missing: tuple[Marker, ...]) -> None:
        super().__init__(path, missing)
        if self.bytes_total == 0:
            raise SourceError(f"{path} is empty.", path)
        with self._open_file() as file, self._damaged_file_errors():
            self.n_rows: int = file.metadata.num_rows
            types = [(field.name, field.type) for field in file.schema_arrow]
        self.check_unique_columns([name for name, _ in types])
        if self.n_rows <= 0:
            raise SourceError(f"{path} has columns but no rows.", path)
        self.set_columns(self.flatten_types(types), label)

    def iter_batches(self, types: dict[str, Any], size: int) -> Generator[Any, None, None]:
        """Yield batches of at most `size` rows."""
        first_row = 0
        with self._open_file() as file:
            with self._damaged_file_errors():
                roots = list(dict.fromkeys(self._paths[name][0] for name in types))
                reader = file.iter_batches(batch_size=size, columns=roots)
            while True:
                with self._damaged_file_errors():
                    batch = next(reader, None)
                    if batch is None:
                        break
                    cast = self._cast_batch(batch, types)
                yield cast
                first_row += batch.num_rows
                self.bytes_read = (self.bytes_total or 0) * first_row // self.n_rows
        if first_row != self.n_rows:
            raise self._damaged_file_error(f"it has {first_row:,} rows, its footer says {self.n_rows:,}")

    def _open_file(self) -> Any:
        import pyarrow.parquet as pq

        with self._damaged_file_errors():
            return pq.ParquetFile(os.fspath(self.path))

    @contextmanager
    def _damaged_file_errors(self) -> Iterator[None]:
        """Raise SourceError instead of an error of Arrow's reader."""
        import pyarrow as pa

        try:
            yield
        except WeighError:
            raise
        # Names that are not UTF-8 are value errors, and columns that a part of the file lacks lookup errors.
        except (pa.ArrowException, OSError, ValueError, LookupError) as error:
            raise self._damaged_file_error(first_line(error)) from error

    def _damaged_file_error(self, reason: str) -> SourceError:
        return SourceError(f"{self.path} is not a complete Parquet file: {reason}.", self.path)

    def _cast_batch(self, batch: Any, types: dict[str, Any]) -> Any:
        """Return the batch with its columns in the order and types of `types`."""
        import pyarrow as pa

        columns = [
            self._cast_column(name, read_field(batch, self._paths[name]), arrow_type)
            for name, arrow_type in types.items()
        ]
        return pa.record_batch(columns, names=list(types))

    def _cast_column(self, name: str, column: Any, arrow_type: Any) -> Any:
        import pyarrow as pa

        check_layout(name, column)
        if column.type == arrow_type:
            return column
        column = arrow_converter(name, column.type)(column)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if self._markers:
            column = self._markers.apply(column)
        try:
            return column.cast(arrow_type, safe=False)
        except pa.ArrowNotImplementedError:
            raise ColumnError(
                f"{self.path}, column {name!r} of type {column.type} cannot be read as a number."
            ) from None
