"""CSV and TSV files, read by the native parser in blocks of about a megabyte."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.advice import Setting
from weigh.deduplicated_warnings import warn
from weigh.source.base import (
    CHUNK_ROWS,
    NUMBER_KINDS,
    PREFIX_ROWS,
    ChunkReader,
    ColumnKinds,
    Source,
    check_chunk_size,
)
from weigh.source.cells import PLAIN_NUMBERS, NumberFormat, OddCell
from weigh.source.chunk import Chunk
from weigh.source.files.base import (
    DEFAULT_BLOCK_BYTES,
    MAX_CACHED_HEAD_BYTES,
    MAX_PREFIX_BYTES,
    TARGET_CHUNK_BYTES,
    TARGET_CHUNK_ROWS,
    FileSource,
    max_row_bytes,
)
from weigh.source.files.csv_records import ParsedRecords
from weigh.source.files.formats import usual_delimiter
from weigh.source.files.text_files import (
    UTF8_BOM,
    Bytes,
    CsvFault,
    CsvFileErrors,
    PlainTextReader,
    TextReader,
    open_text,
)
from weigh.source.files.units_row import note_units_row
from weigh.source.memory.conversion import column_names
from weigh.source.missing import Marker
from weigh.source.paths import READ_ERRORS

# The number of blocks of a short file, so that threads can share it.
SHORT_FILE_BLOCKS = 3
MAX_LINE_ENDING_SEARCH = 1 << 16
HEADER_BYTES = 1 << 16  # read at first to find the end of the header; most are shorter
STORED_SETTINGS = ("delimiter", "encoding", "has_header", "quotes")  # of a dialect, in models
MIN_ROW_LIKE_SHARE = 0.99  # of the lines look like rows if quotes are stray; few lines of real texts do


@dataclass(frozen=True)
class CsvDialect:
    """The format options of a CSV file."""

    delimiter: str = ","
    encoding: str = "utf-8"
    has_header: bool = True
    missing: tuple[Marker, ...] = ("",)
    block: int = DEFAULT_BLOCK_BYTES
    quotes: bool = True
    numbers: NumberFormat = PLAIN_NUMBERS


@dataclass(frozen=True)
class CsvHead:
    """The first rows: their offsets in the text, their number, and their columns if cached."""

    start: int
    end: int
    n_rows: int
    parsed: ParsedRecords | None


class CsvSource(FileSource):
    """A CSV file; column types are inferred from the first 10,000 rows and then fixed.

    A type is "integer", "number", "flag" or "string"; `with_storage` can make it "mixed".
    """

    def __init__(
        self,
        path: Path,
        label: str | None,
        dialect: CsvDialect,
        *,
        names: Sequence[str] | None = None,
        strings: Sequence[str] = (),
    ) -> None:
        super().__init__(path, dialect.missing)
        self.dialect = dialect
        self._marker_texts = [str(marker) for marker in dialect.missing]
        self._storage: ColumnKinds = dict.fromkeys(strings, "string")
        self._formats: Mapping[str, NumberFormat] = {}
        self.number_format = None if dialect.numbers == PLAIN_NUMBERS else dialect.numbers
        self._file_errors = CsvFileErrors(path, dialect.delimiter, dialect.encoding, dialect.has_header)
        if self.bytes_total == 0:
            raise self._file_errors.empty_file_error()
        with closing(self._open()) as text:
            columns, start = self._read_header(text)
            if not dialect.has_header:
                columns = column_names(len(columns), names)
                self.named = names is not None
            self.check_unique_columns(columns)
            unknown = [name for name in strings if name not in columns]
            if unknown:
                raise self.missing_column_error(unknown[0], columns)
            self._file_errors.names = columns
            requested = {name: "string" if name in strings else "any" for name in columns}
            self._head, inferred = self._read_head(text, start, requested)
        self.set_columns(
            {name: "number" if kind == "real" else kind for name, kind in inferred.items()}, label
        )
        self.file_dialect = self._list_settings()

    def _list_settings(self) -> dict[str, Any]:
        """Return the settings that differ from the defaults, and the names of columns without a header."""
        settings = {
            field.name: getattr(self.dialect, field.name)
            for field in fields(CsvDialect)
            if field.name in STORED_SETTINGS and getattr(self.dialect, field.name) != field.default
        }
        if settings.get("delimiter") == usual_delimiter(self.path):
            del settings["delimiter"]
        if self.number_format is not None:
            settings |= {"decimal": self.number_format.decimal, "thousands": self.number_format.thousands}
        if not self.dialect.has_header and self.named:
            settings["names"] = list(self.types)
        return settings

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        """Open the file again, because markers affect the inferred types."""
        dialect = replace(self.dialect, missing=missing)
        names = None if self.dialect.has_header or not self.named else list(self.types)
        return CsvSource(self.path, self.label, dialect, names=names).with_storage(self._storage)

    def with_storage(self, storage: ColumnKinds) -> Source:
        """Return the same file with columns read as `storage` says instead of as inferred."""
        types = dict(self.types)
        for name in types.keys() & storage.keys():
            if storage[name] == "string" or types[name] == "string":
                types[name] = storage[name]
        if types == self.types:
            return self
        source = copy.copy(self).set_columns(types, self.label)
        source._storage = {**self._storage, **storage}
        return source

    def with_number_formats(self, formats: Mapping[str, NumberFormat]) -> Source:
        """Return the same file with the numbers of these columns parsed as written.

        Labels of such a format are returned as text: "1.234" may be a whole number.
        """
        label = self.label
        if label is not None and formats.get(label, PLAIN_NUMBERS) != PLAIN_NUMBERS:
            others = {name: each for name, each in formats.items() if name != label}
            return self.with_storage({label: "string"}).with_number_formats(others)
        own = {
            name: each
            for name, each in formats.items()
            if name in self.types and each != self._formats.get(name, self.dialect.numbers)
        }
        if not own:
            return self
        source = copy.copy(self)
        source._formats = {**self._formats, **own}
        return source

    def _read_prefix(self, n: int, kinds: ColumnKinds | None) -> Chunk:
        wanted, start = self._parser_types(kinds), self._head.start
        if n <= PREFIX_ROWS:
            return self._head_chunk(wanted).slice(0, n)
        with closing(self._open()) as text:
            data, end, n = self._read_rows(text, start, n)
        return self._parse_chunk(data[:end], start, wanted, n, 0)

    def format_place(self, row: int) -> str:
        """Return the line of one of the first rows."""
        head, syntax = self._head, (self.dialect.delimiter, self.dialect.quotes)
        with closing(self._open()) as text:
            data, _ = self._window(text, head.start, head.end - head.start)
        return self._file_errors.format_line(head.start + _core.scan_csv_records(data, *syntax, row, True)[0])

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Yield readers that parse one block of whole rows each."""
        check_chunk_size(size)
        wanted = self._parser_types(kinds)
        self.bytes_read = 0
        head = self._head_chunk(wanted)
        with closing(self._open()) as text:
            self.bytes_read = text.file_position(self._head.end)
            yield from ChunkReader.split(head.n_rows, size, head.slice)
            for data, offset, n_rows, first_row in self._blocks(text, size):
                yield ChunkReader(n_rows, self._parse_chunk, data, offset, wanted, n_rows, first_row)
        self.bytes_read = self.bytes_total or 0

    def header_text(self) -> bytes:
        """Return what precedes the first record, in UTF-8 and without its line ending."""
        with closing(self._open()) as text:
            header = self._window(text, 0, self._head.start)[0].tobytes() if self._head.start else b""
        return header.rstrip(b"\r\n")

    def line_ending(self) -> bytes:
        """Return the line ending of the first lines."""
        with closing(self._open()) as text:
            start = self._window(text, 0, MAX_LINE_ENDING_SEARCH)[0].tobytes()
        return next((ending for ending in (b"\r\n", b"\n", b"\r") if ending in start), b"\n")

    def record_texts(self) -> Iterator[list[bytes]]:
        """Yield the records as they are written, in UTF-8 and without line endings, block by block."""
        head = self._head
        with closing(self._open()) as text:
            yield self._split_records(self._window(text, head.start, head.end - head.start)[0])
            for data, *_ in self._blocks(text, CHUNK_ROWS):
                yield self._split_records(data)

    def _split_records(self, data: Bytes) -> list[bytes]:
        syntax = self.dialect.delimiter, self.dialect.quotes
        records, start = [], 0
        while start < len(data):
            end, n_rows = _core.scan_csv_records(data[start:], *syntax, 1, True)
            if n_rows == 0:
                break
            # The scan ends after the first of two characters of a line ending.
            records.append(data[start : start + end].tobytes().strip(b"\r\n"))
            start += end
        return records

    def _blocks(self, text: TextReader, size: int) -> Iterator[tuple[Bytes, int, int, int]]:
        """Yield whole records after the head: text, its offset, number of records and first row."""
        offset, first_row, is_done = self._head.end, self._head.n_rows, False
        block = default_block = self._block_size(text)
        while not is_done:
            data, is_last = self._window(text, offset, block)
            end, n_rows = _core.scan_csv_records(
                data, self.dialect.delimiter, self.dialect.quotes, size, is_last
            )
            is_done = is_last and (n_rows < size or end == len(data))
            if end == 0 and not is_done:
                max_block = max_row_bytes(self.dialect.block)
                if block >= max_block:
                    raise self._long_row_error(data, offset)
                block = min(4 * block, max_block)
                continue
            block = default_block
            self.bytes_read = text.file_position(offset + end)
            if n_rows:
                yield data[:end], offset, n_rows, first_row
            offset += end
            first_row += n_rows

    def _block_size(self, text: TextReader) -> int:
        """Return a larger block size for wide rows, judged by the head, and a smaller one for a short file.

        With few blocks, the threads that share a file would wait for the one that parses the last block.
        """
        head, block = self._head, self.dialect.block
        target = min(TARGET_CHUNK_BYTES, TARGET_CHUNK_ROWS * (head.end - head.start) // head.n_rows)
        # Blocks end at row boundaries and are slightly shorter, so allow for a few more rows to avoid an
        # extra small block.
        share = ((self.bytes_total or 0) - head.end) // SHORT_FILE_BLOCKS + target // 1024 + 1
        if isinstance(text, PlainTextReader) and share < block:
            return max(share, target // 2)
        return max(block, target)

    def _parser_types(self, kinds: ColumnKinds | None) -> dict[str, str]:
        """Return the columns to read, label included, with the type that the parser reads each as."""
        kinds = kinds or {}
        return {
            name: _parser_type(kind, kinds.get(name))
            for name, kind in self.types.items()
            if kinds.get(name) != "skip" or name == self.label
        }

    def _head_chunk(self, wanted: Mapping[str, str]) -> Chunk:
        """Return the rows of the head, parsed again only if not cached or cached as other types."""
        head = self._head
        has_formats = not self._formats.keys().isdisjoint(wanted)
        if head.parsed is not None and not has_formats and head.parsed.can_provide(wanted):
            return self._chunk(head.parsed, wanted, 0)
        with closing(self._open()) as text:
            data, _ = self._window(text, head.start, head.end - head.start)
        return self._parse_chunk(data, head.start, wanted, head.n_rows, 0)

    def _parse_chunk(
        self, data: Bytes, offset: int, wanted: Mapping[str, str], n_rows: int, first_row: int
    ) -> Chunk:
        parsed = self._parse(data, offset, {name: wanted.get(name, "skip") for name in self.types}, n_rows)
        return self._chunk(parsed, wanted, first_row, partial(self._read_odd_cell, data, offset, first_row))

    def _read_odd_cell(self, data: Bytes, offset: int, first_row: int, name: str, row: int) -> OddCell:
        """Parse one cell again; the data is at an offset of the text and begins with row `first_row`."""
        syntax = self.dialect.delimiter, self.dialect.quotes
        start = _core.scan_csv_records(data, *syntax, row - first_row, at_end=True)[0]
        types = ["string" if each == name else "skip" for each in self.types]
        natives = _core.parse_csv(data[start:], types, *syntax, [], [], 1)[1]
        text = natives[types.index("string")][2][0]
        return OddCell(row, text, partial(self._file_errors.format_line, offset + start))

    def _chunk(
        self,
        parsed: ParsedRecords,
        wanted: Mapping[str, str],
        first_row: int,
        read_cell: Callable[[str, int], OddCell] | None = None,
    ) -> Chunk:
        columns = parsed.to_columns(wanted)
        labels = None if self.label is None else columns.pop(self.label)
        numbers = [name for name in columns if wanted[name] == "number"]
        counts = parsed.count_cells(numbers, first_row, read_cell)
        return Chunk(columns, parsed.n_rows, labels=labels, first_row=first_row, cell_counts=counts)

    def _parse(self, data: Bytes, offset: int, types: Mapping[str, str], max_rows: int) -> ParsedRecords:
        """Parse records; `offset` is the position of the data in the text, for messages."""
        native_types = ["string" if kind == "mixed" else kind for kind in types.values()]
        syntax = self.dialect.delimiter, self.dialect.quotes
        n_rows, natives, fault = _core.parse_csv(
            data, native_types, *syntax, self._marker_texts, self._list_formats(types), max_rows
        )
        if fault is not None:
            raise self._file_errors.record_error(CsvFault(*fault), offset, native_types)
        return ParsedRecords.from_native(list(types), natives, n_rows, data)

    def _list_formats(self, names: Iterable[str]) -> list[NumberFormat]:
        """Return the number format of each column, or nothing if all are plain."""
        default = self.dialect.numbers
        if not self._formats and default == PLAIN_NUMBERS:
            return []
        return [self._formats.get(name, default) for name in names]

    def _read_header(self, text: TextReader) -> tuple[list[str], int]:
        """Return the fields of the first record and the offset of the first row."""
        syntax = self.dialect.delimiter, self.dialect.quotes
        start = len(UTF8_BOM) if self._window(text, 0, len(UTF8_BOM))[0].tobytes() == UTF8_BOM else 0
        data, end, n = self._read_rows(text, start, 1)
        if n == 0:
            raise self._file_errors.no_rows_error()
        # Parsing without columns reports the number of fields as a fault.
        fault = _core.parse_csv(data[:end], [], *syntax, [], [], 1)[2]
        width = CsvFault(*fault).n_fields if fault is not None else 0
        _, natives, fault = _core.parse_csv(data[:end], ["string"] * width, *syntax, [], [], 1)
        if fault is not None:
            raise self._file_errors.record_error(CsvFault(*fault), start, ["string"] * width)
        names = [values[0].strip() if values else "" for _, _, values in natives]
        return names, start + end if self.dialect.has_header else start

    def _read_head(
        self, text: TextReader, start: int, requested: dict[str, str], *, is_below_units: bool = False
    ) -> tuple[CsvHead, dict[str, str]]:
        """Return the first 10,000 rows and the inferred type of every column, without a row of units."""
        data, end, n = self._read_rows(text, start, PREFIX_ROWS)
        if n == 0:
            raise self._file_errors.no_rows_error()
        parsed = self._parse(data[:end], start, requested, n)
        units = parsed.find_units() if self.dialect.has_header and n > 1 and not is_below_units else []
        if units:
            note_units_row(self.path, units)
            first_end = _core.scan_csv_records(data, self.dialect.delimiter, self.dialect.quotes, 1, True)[0]
            return self._read_head(text, start + first_end, requested, is_below_units=True)
        if self.dialect.quotes:
            self._warn_of_joined_lines(data[:end], len(requested), n)
        inferred = {name: kind for name, (kind, _, _) in parsed.columns.items()}
        return CsvHead(start, start + end, n, parsed if end <= MAX_CACHED_HEAD_BYTES else None), inferred

    def _warn_of_joined_lines(self, data: Bytes, width: int, n_rows: int) -> None:
        lines = count_row_like_lines(data, self.dialect.delimiter, width, n_rows)
        if lines:
            warn(
                errors.SwallowedLines(
                    f"{self.path}: {lines:,} lines look like rows, but quotes join them into {n_rows:,}: a "
                    "field that begins with a quote extends to the next quote, across line breaks.",
                    hint=(
                        "If quotes are ordinary characters in this file, give ",
                        Setting("quotes", False),
                        ".",
                    ),
                ),
                [self.path],
            )

    def _read_rows(self, text: TextReader, start: int, n: int) -> tuple[Bytes, int, int]:
        """Return bytes that contain the first n rows (or 32 MB), the end of these rows and their number."""
        syntax = self.dialect.delimiter, self.dialect.quotes
        size = 2 * self.dialect.block if n > 1 else min(HEADER_BYTES, self.dialect.block)
        while True:
            data, is_last = self._window(text, start, size)
            end, n_rows = _core.scan_csv_records(data, *syntax, n, is_last)
            if n_rows >= n or is_last or (size >= MAX_PREFIX_BYTES and n_rows):
                return data, end, n_rows
            if size >= MAX_PREFIX_BYTES:
                raise self._long_row_error(data, start)
            size *= 4

    def _long_row_error(self, data: Bytes, offset: int) -> errors.SourceError:
        """Return the error for a row that does not end in the data; `offset` is its position in the text."""
        # Parsing without columns ends with a fault: too many fields, or a quote that is still open.
        fault = _core.parse_csv(data, [], self.dialect.delimiter, self.dialect.quotes, [], [], 1)[2]
        if fault is not None and CsvFault(*fault).code == "open_quote":
            return self._file_errors.long_quote_error(offset)
        return self._file_errors.long_row_error(offset, is_binary=b"\0" in data.tobytes())

    def _open(self) -> TextReader:
        try:
            return open_text(self.path, self.dialect.encoding, self.bytes_total)
        except (*READ_ERRORS, LookupError) as error:
            raise self._file_errors.read_error(error) from error

    def _window(self, text: TextReader, offset: int, size: int) -> tuple[Bytes, bool]:
        try:
            return text.window(offset, size)
        except READ_ERRORS as error:
            raise self._file_errors.read_error(error) from error


def _parser_type(inferred: str, kind: str | None) -> str:
    """Return the type that the parser reads a column as, given its inferred type and requested kind."""
    if kind in NUMBER_KINDS:
        return "number"
    if kind == "date":
        return "string"  # dates such as 20240131 are read as integers otherwise
    return "text" if kind == "text" else inferred


def count_row_like_lines(data: Bytes, delimiter: str, width: int, n_rows: int) -> int:
    """Return the number of lines that look like rows if it suggests stray quotes, else 0.

    The lines of a genuine multi-line text differ in their number of delimiters. A field opened by a stray
    quote contains whole rows, each with `width` - 1 delimiters.
    """
    text = data.tobytes()
    if width < 2 or b'"' not in text or text.count(b"\n") <= n_rows:
        return 0
    ends = np.append(np.flatnonzero(data == ord("\n")), len(data))
    lengths = np.diff(ends, prepend=-1) - 1
    delimiters_before = np.searchsorted(np.flatnonzero(data == ord(delimiter)), ends)
    n_row_like = int((np.diff(delimiters_before, prepend=0) == width - 1).sum())
    is_suspicious = n_row_like > n_rows and n_row_like >= MIN_ROW_LIKE_SHARE * (lengths > 0).sum()
    return n_row_like if is_suspicious else 0
