"""JSON lines files: one object per line, streamed in blocks."""

from __future__ import annotations

import io
import os
from collections.abc import Generator, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from weigh.errors import SourceError
from weigh.source.base import PREFIX_ROWS
from weigh.source.batches import BatchSource, text_type
from weigh.source.bytes import compression, is_utf8, unpacked
from weigh.source.file_source import PREFIX_BYTES
from weigh.source.lines import OVERLONG, check_json_line, line_parts, odd_json_line
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
        lines = self._lines(follow=True)
        while block := self._taken(lines, schema, None, self.block):
            yield self._read(block, schema)

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
        return self._read(self._taken(self._lines(), schema, n, PREFIX_BYTES), schema)

    def _taken(self, lines: Iterator[bytes], schema: Any, most: int | None, size: int) -> list[bytes]:
        """The next lines, at most so many and of at least so many bytes, each seen to be an object."""
        import pyarrow as pa

        taken: list[bytes] = []
        left = size
        try:
            for line in islice(lines, most):
                if len(line) > self._longest:
                    raise ValueError(OVERLONG)
                check_json_line(line)
                taken.append(line)
                left -= len(line)
                if left <= 0:
                    break
        except (pa.ArrowException, OSError, ValueError, LookupError) as error:
            raise self._translated(error, schema) from error
        return taken

    def _read(self, lines: list[bytes], schema: Any) -> Any:
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
            raise self._translated(error, schema) from error
        return table.combine_chunks().to_batches()[0]

    def _lines(self, *, follow: bool = False) -> Iterator[bytes]:
        """The lines that are not blank; followed, `bytes_read` keeps up with them."""
        stream, raw = self._stream()
        with raw, io.BufferedReader(stream) as reader:
            for line in line_parts(reader, self._longest + 1):
                if follow:
                    self.bytes_read = raw.tell()
                if line.strip():
                    yield line

    @property
    def _longest(self) -> int:
        """How long a line may be; Arrow's reader wants it within two blocks."""
        return 2 * self.block

    def _stream(self) -> tuple[Any, Any]:
        """The file's bytes in UTF-8, and the file below them."""
        import pyarrow as pa

        stream, raw = _arrow_bytes(self.path)
        if is_utf8(self.encoding):
            return stream, raw
        return pa.transcoding_input_stream(stream, self.encoding, "utf-8"), raw

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
    raw = pa.OSFile(os.fspath(path))
    return (raw if codec is None else pa.CompressedInputStream(raw, codec)), raw
