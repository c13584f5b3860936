"""CSV and TSV files, streamed in blocks of about a megabyte."""

from __future__ import annotations

import copy
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weigh.source.arrays import default_names
from weigh.source.base import PREFIX_ROWS
from weigh.source.batches import PREFIX_BYTES, BatchSource, text_type
from weigh.source.faults import CsvFaults
from weigh.source.lines import byte_lines, open_bytes


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written."""

    delimiter: str = ","
    encoding: str = "utf-8"
    has_header: bool = True
    missing: tuple[str, ...] = ("",)
    block: int = 1 << 20


class CsvSource(BatchSource):
    """A CSV file; the types of its columns are found in its first 10,000 rows and then fixed."""

    def __init__(
        self,
        path: Path,
        label: str | None,
        dialect: Dialect,
        *,
        names: Sequence[str] | None = None,
        strings: Sequence[str] = (),
    ) -> None:
        super().__init__(path)
        self.dialect = dialect
        self._faults = CsvFaults(path, dialect.delimiter, dialect.encoding, dialect.has_header)
        self._given: list[str] | None = None
        if self.bytes_total == 0:
            raise self._faults.empty()
        if dialect.has_header:
            self._check_first_line()
        else:
            self._given = default_names(self._first_batch(None).num_columns, names)
            self.named = names is not None
        self.describe(self._frozen_types(strings), label)

    def batches(self, wanted: dict[str, Any], size: int) -> Generator[Any, None, None]:
        """Batches of one block each."""
        del size  # a block holds the rows it holds
        reader, raw, faults = self._open(self.dialect.block, wanted)
        last = None
        try:
            while True:
                batch = _next(reader, faults)
                if batch is None:
                    faults.check_end(last)
                    return
                last = batch
                self.bytes_read = raw.tell()
                yield batch
        finally:
            reader.close()
            raw.close()

    def _check_first_line(self) -> None:
        """Refuse a header that is not in the encoding; Arrow would stumble over the names."""
        try:
            _, line = next(byte_lines(self.path), (1, b""))
        except OSError as error:
            raise self._faults.translated(error) from error
        if self.dialect.encoding.lower().replace("_", "-") in {"utf-8", "utf8"}:
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise self._faults.translated(error) from error

    def _frozen_types(self, strings: Sequence[str]) -> dict[str, Any]:
        """Each column's type for good, inferred from the first 10,000 rows and no others."""
        import pyarrow as pa

        first = self._first_batch(None)
        schema = first.schema
        self.check_header(schema.names)
        self._faults.names = schema.names
        for kind in schema.types:
            if pa.types.is_binary(kind):
                raise self._faults.not_text()
        unknown = [name for name in strings if name not in schema.names]
        if unknown:
            raise self.no_column(unknown[0], schema.names)
        if first.num_rows > PREFIX_ROWS:
            schema = self._first_rows(schema.names, None, PREFIX_ROWS).schema
        return {
            field.name: pa.string() if field.name in strings else text_type(field.type) for field in schema
        }

    def first(self, wanted: dict[str, Any], n: int) -> Any:
        """The first n rows; what stands after them in the same block is not judged."""
        if n > PREFIX_ROWS:
            return super().first(wanted, n)
        return self._first_rows(list(self.types), wanted, n)

    def _first_rows(self, names: list[str], wanted: dict[str, Any] | None, n: int) -> Any:
        """Read a block as text, write its first n rows out and read just them with types."""
        import pyarrow as pa
        from pyarrow import csv

        texts = self._first_batch({name: pa.string() for name in names}).slice(0, n)
        buffer = pa.BufferOutputStream()
        # Without a header both readings number their rows alike, for messages.
        csv.write_csv(texts, buffer, csv.WriteOptions(include_header=self.dialect.has_header))
        written = buffer.getvalue()
        read = csv.ReadOptions(block_size=written.size + 1, use_threads=False, column_names=self._given)
        parse = csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)
        try:
            reader = csv.open_csv(pa.BufferReader(written), read, parse, self._convert(wanted))
        except pa.ArrowException as error:
            raise self._faults.translated(error) from error
        return _next(reader, self._faults)

    def _first_batch(self, wanted: dict[str, Any] | None) -> Any:
        """The rows of the first block, which is enlarged until the prefix fits in.

        Arrow infers types from one block only: a smaller one would freeze a column as integers
        although the prefix has fractions.
        """
        block = self.dialect.block
        while True:
            reader, raw, faults = self._open(block, wanted)
            with raw, reader:
                first = _next(reader, faults)
            if first is None or first.num_rows == 0:
                raise self._faults.no_rows()
            if first.num_rows >= PREFIX_ROWS or block >= PREFIX_BYTES or self.fits(block):
                return first
            block *= 4

    def _convert(self, wanted: dict[str, Any] | None) -> Any:
        from pyarrow import csv

        return csv.ConvertOptions(
            null_values=["", *self.dialect.missing],
            strings_can_be_null=True,
            column_types=wanted,
            include_columns=None if wanted is None else list(wanted),
        )

    def _open(self, block: int, wanted: dict[str, Any] | None) -> tuple[Any, Any, CsvFaults]:
        """A reader, the file below it, and what to tell of its errors: each pass has its own."""
        import pyarrow as pa
        from pyarrow import csv

        stream, raw = open_bytes(self.path)
        faults = copy.copy(self._faults)
        read = csv.ReadOptions(
            block_size=block,
            # Only the serial reader knows the number of a row; it is hardly slower on a stream.
            use_threads=False,
            encoding=self.dialect.encoding,
            column_names=self._given,
            autogenerate_column_names=not self.dialect.has_header and self._given is None,
        )
        parse = csv.ParseOptions(
            delimiter=self.dialect.delimiter,
            newlines_in_values=True,
            invalid_row_handler=faults.note_ragged,
        )
        try:
            return csv.open_csv(stream, read, parse, self._convert(wanted)), raw, faults
        except (pa.ArrowException, OSError, ValueError, LookupError) as error:
            raw.close()
            raise faults.translated(error) from error


def _next(reader: Any, faults: CsvFaults) -> Any:
    import pyarrow as pa

    try:
        return reader.read_next_batch()
    except StopIteration:
        return None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise faults.translated(error) from error
