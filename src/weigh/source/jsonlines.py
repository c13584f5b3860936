"""JSON lines files: one object per line, streamed in blocks."""

from __future__ import annotations

import io
from collections.abc import Generator, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from weigh.errors import SourceError
from weigh.source.base import PREFIX_ROWS
from weigh.source.batches import BatchSource, text_type
from weigh.source.bytes import compression, unpacked
from weigh.source.file_source import PREFIX_BYTES
from weigh.source.lines import OVERLONG, line_parts, odd_json_line
from weigh.source.missing import Marker


class JsonSource(BatchSource):
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
        schema = self._infer()
        self.check_header(schema.names)
        self.describe({field.name: text_type(field.type) for field in schema}, label)

    def batches(self, wanted: dict[str, Any], size: int) -> Generator[Any, None, None]:
        """Batches of one block each."""
        import pyarrow as pa

        del size  # a block holds the rows it holds
        schema = pa.schema(list(wanted.items()))
        reader, raw = self._open(self.block, schema)
        try:
            while True:
                batch = self._next(reader, schema)
                if batch is None:
                    return
                self.bytes_read = raw.tell()
                yield batch
        finally:
            reader.close()
            raw.close()

    def _infer(self) -> Any:
        """The schema Arrow infers from the first 10,000 lines and no others."""
        schema = self._first_rows(None, PREFIX_ROWS).schema
        if not schema.names:
            raise SourceError(f"{self.path} has no rows with fields.", self.path)
        return schema

    def first(self, wanted: dict[str, Any], n: int) -> Any:
        """The first n rows; what stands after them in the same block is not judged."""
        import pyarrow as pa

        return self._first_rows(pa.schema(list(wanted.items())), n)

    def _first_rows(self, schema: Any, n: int) -> Any:
        import pyarrow as pa
        from pyarrow import json

        lines: list[bytes] = []
        size = 0
        try:
            for line in islice(self._lines(), n):
                lines.append(line)
                size += len(line)
                if len(line) > self._longest:
                    raise ValueError(OVERLONG)
                if size >= PREFIX_BYTES:
                    break
            read = json.ReadOptions(block_size=size + 1, use_threads=False)
            parse = json.ParseOptions(
                explicit_schema=schema,
                unexpected_field_behavior="infer" if schema is None else "ignore",
            )
            table = json.read_json(pa.BufferReader(b"".join(lines)), read, parse)
            table.validate(full=True)
        except (pa.ArrowException, OSError, ValueError, LookupError) as error:
            raise self._translated(error, schema) from error
        return table.combine_chunks().to_batches()[0]

    def _lines(self) -> Iterator[bytes]:
        stream, raw = self._stream()
        with raw, io.BufferedReader(stream) as reader:
            yield from (line for line in line_parts(reader, self._longest + 1) if line.strip())

    @property
    def _longest(self) -> int:
        """How long a line may be; Arrow's reader wants it within two blocks."""
        return 2 * self.block

    def _stream(self) -> tuple[Any, Any]:
        """The file's bytes in UTF-8, and the file below them."""
        import pyarrow as pa

        stream, raw = _arrow_bytes(self.path)
        if self.encoding.lower() in {"utf-8", "utf8"}:
            return stream, raw
        return pa.transcoding_input_stream(stream, self.encoding, "utf-8"), raw

    def _open(self, block: int, schema: Any) -> tuple[Any, Any]:
        import pyarrow as pa
        from pyarrow import json

        stream, raw = self._stream()
        parse = json.ParseOptions(
            explicit_schema=schema,
            unexpected_field_behavior="ignore",
        )
        read = json.ReadOptions(block_size=block, use_threads=False)
        try:
            return json.open_json(stream, read_options=read, parse_options=parse), raw
        except (pa.ArrowException, OSError, ValueError, LookupError) as error:
            raw.close()
            raise self._translated(error, schema) from error

    def _next(self, reader: Any, schema: Any) -> Any:
        import pyarrow as pa

        try:
            batch = reader.read_next_batch()
            # The JSON reader takes any bytes for text; later steps rely on UTF-8.
            batch.validate(full=True)
        except StopIteration:
            return None
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._translated(error, schema) from error
        return batch

    def _translated(self, error: Exception, schema: Any) -> SourceError:
        """What went wrong, found by reading the lines one by one."""
        import pyarrow as pa

        text = str(error)
        if "Empty JSON" in text:
            return SourceError(f"{self.path} has no rows.", self.path)
        if isinstance(error, LookupError):
            return SourceError(f"{self.path}: {self.encoding!r} is not an encoding Python knows.", self.path)
        whole = frozenset(f.name for f in schema or () if pa.types.is_integer(f.type))
        try:
            odd = odd_json_line(self.path, self.encoding, whole, self._longest)
        except OSError:
            odd = None
        if odd is not None:
            line, told = odd
            return SourceError(f"{self.path}, line {line:,}{told}", self.path, line)
        if "straddling" in text:
            text = OVERLONG
        reason = text.splitlines()[0].rstrip(".")
        return SourceError(f"{self.path} cannot be read: {reason}.", self.path)


def _arrow_bytes(path: Path) -> tuple[Any, Any]:
    """The file's bytes as an Arrow stream, unpacked, and the file below them."""
    import pyarrow as pa

    codec = compression(path)
    if codec == "xz":
        stream, raw = unpacked(path)
        return pa.PythonFile(stream, mode="r"), raw
    raw = pa.OSFile(str(path))
    return (raw if codec is None else pa.CompressedInputStream(raw, codec)), raw
