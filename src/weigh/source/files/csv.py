"""CSV and TSV files, read by the native parser in blocks of about a megabyte."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh import _core, errors
from weigh.source.base import (
    CHUNK_ROWS,
    PREFIX_ROWS,
    ChunkReader,
    ColumnKinds,
    Source,
    check_chunk_size,
    constant_reader,
)
from weigh.source.chunk import Chunk, Column, DictionaryColumn, TextColumn
from weigh.source.files.base import (
    DEFAULT_BLOCK_BYTES,
    MAX_PREFIX_BYTES,
    TARGET_CHUNK_BYTES,
    TARGET_CHUNK_ROWS,
    FileSource,
    max_row_bytes,
    parse_numeral,
)
from weigh.source.files.text_files import (
    UTF8_BOM,
    Bytes,
    CsvFileErrors,
    MappedTextReader,
    TextReader,
    open_text,
)
from weigh.source.memory.conversion import column_names
from weigh.source.missing import Marker
from weigh.source.paths import READ_ERRORS

# A head larger than this is parsed again when it is needed, rather than kept.
MAX_CACHED_HEAD_BYTES = 8 << 20
# Into how many blocks a short file is cut.
SHORT_FILE_BLOCKS = 3


@dataclass(frozen=True)
class CsvDialect:
    """How a CSV file is written."""

    delimiter: str = ","
    encoding: str = "utf-8"
    has_header: bool = True
    missing: tuple[Marker, ...] = ("",)
    block: int = DEFAULT_BLOCK_BYTES
    quotes: bool = True


@dataclass(frozen=True)
class CsvHead:
    """The first rows: where in the text they begin and end, how many they are, and their columns."""

    start: int
    end: int
    n_rows: int
    parsed: ParsedRecords | None


class CsvSource(FileSource):
    """A CSV file; the types of its columns are found in its first 10,000 rows and then fixed.

    A type is "integer", "flag" or "string", or "number" when there are fractions; `stored` may
    make one "mixed".
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
        self._marker_texts = [str(mark) for mark in dialect.missing]
        self._storage: ColumnKinds = dict.fromkeys(strings, "string")
        self._cached_chunk: tuple[object, Chunk] | None = None
        self._file_errors = CsvFileErrors(path, dialect.delimiter, dialect.encoding, dialect.has_header)
        if self.bytes_total == 0:
            raise self._file_errors.empty_file_error()
        with closing(self._open()) as text:
            columns, begin = self._read_header(text)
            if not dialect.has_header:
                columns = column_names(len(columns), names)
                self.named = names is not None
            self.check_unique_columns(columns)
            unknown = [name for name in strings if name not in columns]
            if unknown:
                raise self.missing_column_error(unknown[0], columns)
            self._file_errors.names = columns
            asked = {name: "string" if name in strings else "any" for name in columns}
            self._head, found = self._read_head(text, begin, asked)
        self.set_columns({name: "number" if kind == "real" else kind for name, kind in found.items()}, label)

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        """The file opened again: without the markers, its columns may be of other types."""
        dialect = replace(self.dialect, missing=missing)
        names = None if self.dialect.has_header or not self.named else list(self.types)
        return CsvSource(self.path, self.label, dialect, names=names).with_storage(self._storage)

    def with_storage(self, storage: ColumnKinds) -> Source:
        """The same file, read as `storage` says where its columns' own looks would mislead."""
        types = dict(self.types)
        for name in types.keys() & storage.keys():
            if storage[name] == "string" or types[name] == "string":
                types[name] = storage[name]
        if types == self.types:
            return self
        stored = copy.copy(self).set_columns(types, self.label)
        stored._storage = {**self._storage, **storage}
        return stored

    def prefix(self, n: int = PREFIX_ROWS, kinds: ColumnKinds | None = None) -> Chunk:
        """The first n rows, or fewer when they exceed 32 MB; consumes nothing."""
        wanted = self._parser_types(kinds)
        head = self._head
        if check_chunk_size(n) > PREFIX_ROWS:
            with closing(self._open()) as text:
                data, end, n = self._read_rows(text, head.start, n)
            return self._parse_chunk(data[:end], head.start, wanted, n, 0)
        return self._head_chunk(wanted, min(n, head.n_rows))

    def chunks(self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Read the file from its start, at most `size` rows at a time."""
        return (piece() for piece in self.chunk_readers(kinds, size))

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Cut the file into blocks of whole rows; each is parsed when its piece is called."""
        check_chunk_size(size)
        wanted = self._parser_types(kinds)
        head = self._head
        self.bytes_read = 0
        self.rows_read = head.n_rows
        first = self._head_chunk(wanted, head.n_rows)
        with closing(self._open()) as text:
            self.bytes_read = text.file_position(head.end)
            for start in range(0, head.n_rows, size):
                yield constant_reader(first.slice(start, start + size))
            yield from self._blocks(text, wanted, size)
        self.bytes_read = self.bytes_total or 0

    def _blocks(self, text: TextReader, wanted: Mapping[str, str], size: int) -> Iterator[ChunkReader]:
        at, done, closed = self._head.end, self._head.n_rows, False
        block = usual = self._block_size(text)
        while not closed:
            data, last = self._window(text, at, block)
            end, n_rows = _core.scan_csv_records(
                data, self.dialect.delimiter, self.dialect.quotes, size, last
            )
            closed = last and (n_rows < size or end == len(data))
            if end == 0 and not closed:
                longest = max_row_bytes(self.dialect.block)
                if block >= longest:
                    raise self._file_errors.long_row_error(at)
                block = min(4 * block, longest)
                continue
            block = usual
            self.bytes_read = text.file_position(at + end)
            if n_rows:
                yield self._chunk_reader(data[:end], at, wanted, n_rows, done)
            at += end
            done += n_rows
            self.rows_read = done

    def _chunk_reader(
        self, data: Bytes, begin: int, wanted: Mapping[str, str], n_rows: int, first_row: int
    ) -> ChunkReader:
        return lambda: self._parse_chunk(data, begin, wanted, n_rows, first_row)

    def _block_size(self, text: TextReader) -> int:
        """More than a block if rows are wide, as the first ones tell; less if the file is short.

        Threads that share a file of few blocks would have to wait for the one with the last.
        """
        head, block = self._head, self.dialect.block
        joined = min(TARGET_CHUNK_BYTES, TARGET_CHUNK_ROWS * (head.end - head.start) // head.n_rows)
        # Blocks end with a row and so fall short: without some rows more, a last one would hold them.
        share = ((self.bytes_total or 0) - head.end) // SHORT_FILE_BLOCKS + joined // 1024 + 1
        if isinstance(text, MappedTextReader) and share < block:
            return max(share, joined // 2)
        return max(block, joined)

    def _parser_types(self, kinds: ColumnKinds | None) -> dict[str, str]:
        """The columns to read, label included, each with what the parser shall read it as."""
        kinds = kinds or {}
        return {
            name: _parser_type(kind, kinds.get(name))
            for name, kind in self.types.items()
            if kinds.get(name) != "skip" or name == self.label
        }

    def _head_chunk(self, wanted: Mapping[str, str], n: int) -> Chunk:
        """The first n rows of the head, parsed again only if it was not kept or has other types."""
        head = self._head
        if head.parsed is not None and head.parsed.can_provide(wanted):
            # A fit reads its first rows several times over: to check, to warn, to count.
            key = (self.label, tuple(wanted.items()))
            ready = self._cached_chunk
            if ready is None or ready[0] != key:
                ready = self._cached_chunk = key, self._chunk(head.parsed, wanted, 0)
            return ready[1].slice(0, n)
        with closing(self._open()) as text:
            data, _ = self._window(text, head.start, head.end - head.start)
        return self._parse_chunk(data, head.start, wanted, n, 0)

    def _parse_chunk(
        self, data: Bytes, begin: int, wanted: Mapping[str, str], n_rows: int, first_row: int
    ) -> Chunk:
        parsed = self._parse(data, begin, {name: wanted.get(name, "skip") for name in self.types}, n_rows)
        return self._chunk(parsed, wanted, first_row)

    def _chunk(self, parsed: ParsedRecords, wanted: Mapping[str, str], first_row: int) -> Chunk:
        columns = parsed.to_columns(wanted)
        labels = None if self.label is None else columns.pop(self.label)
        return Chunk(columns, parsed.n_rows, labels=labels, first_row=first_row)

    def _parse(self, data: Bytes, begin: int, kinds: Mapping[str, str], most: int) -> ParsedRecords:
        """Parse records; `begin` is where in the text they begin, for messages."""
        asked = ["string" if kind == "mixed" else kind for kind in kinds.values()]
        written = self.dialect.delimiter, self.dialect.quotes
        n_rows, natives, fault = _core.parse_csv(data, asked, *written, self._marker_texts, most)
        if fault is not None:
            raise self._file_errors.record_error(fault, begin, asked)
        return ParsedRecords.from_native(list(kinds), natives, n_rows, data)

    def _read_header(self, text: TextReader) -> tuple[list[str], int]:
        """The fields of the first record, and where the rows begin."""
        written = self.dialect.delimiter, self.dialect.quotes
        start = len(UTF8_BOM) if self._window(text, 0, len(UTF8_BOM))[0].tobytes() == UTF8_BOM else 0
        data, end, n = self._read_rows(text, start, 1)
        if n == 0:
            raise self._file_errors.no_rows_error()
        fault = _core.parse_csv(data[:end], [], *written, [], 1)[2]
        width = fault[4] if fault is not None else 0
        _, natives, fault = _core.parse_csv(data[:end], ["string"] * width, *written, [], 1)
        if fault is not None:
            raise self._file_errors.record_error(fault, start, ["string"] * width)
        names = [values[0] if values else "" for _, _, values in natives]
        return names, start + end if self.dialect.has_header else start

    def _read_head(
        self, text: TextReader, begin: int, asked: dict[str, str]
    ) -> tuple[CsvHead, dict[str, str]]:
        """The first 10,000 rows, and the kind found for every column."""
        data, end, n = self._read_rows(text, begin, PREFIX_ROWS)
        if n == 0:
            raise self._file_errors.no_rows_error()
        parsed = self._parse(data[:end], begin, asked, n)
        if self.dialect.quotes:
            self._warn_of_joined_lines(data[:end], len(asked), n)
        found = {name: kind for name, (kind, _, _) in parsed.columns.items()}
        return CsvHead(begin, begin + end, n, parsed if end <= MAX_CACHED_HEAD_BYTES else None), found

    def _warn_of_joined_lines(self, data: Bytes, width: int, n_rows: int) -> None:
        lines = count_row_like_lines(data, self.dialect.delimiter, width, n_rows)
        if lines:
            warnings.warn(
                f"{self.path}: {lines:,} lines look like rows, but quotes join them to {n_rows:,}: a field "
                f"that begins with a quote ends at the next one, line breaks or not. If quotes are signs "
                f"like any other here, give quotes=False.",
                errors.SwallowedLines,
                stacklevel=2,
            )

    def _read_rows(self, text: TextReader, begin: int, n: int) -> tuple[Bytes, int, int]:
        """Bytes that hold the first n rows (or 32 MB), where these end, and how many they are."""
        size = 2 * self.dialect.block
        while True:
            data, closed = self._window(text, begin, size)
            end, n_rows = _core.scan_csv_records(data, self.dialect.delimiter, self.dialect.quotes, n, closed)
            if n_rows >= n or closed or (size >= MAX_PREFIX_BYTES and n_rows):
                return data, end, n_rows
            if size >= MAX_PREFIX_BYTES:
                raise self._file_errors.long_row_error(begin)
            size *= 4

    def _open(self) -> TextReader:
        try:
            return open_text(self.path, self.dialect.encoding)
        except (*READ_ERRORS, LookupError) as error:
            raise self._file_errors.read_error(error) from error

    def _window(self, text: TextReader, at: int, size: int) -> tuple[Bytes, bool]:
        try:
            return text.window(at, size)
        except READ_ERRORS as error:
            raise self._file_errors.read_error(error) from error


def _parser_type(kind: str, wanted: str | None) -> str:
    """How the parser shall read a column of some type for the kind that is wanted of it."""
    if wanted in {"number", "count"}:
        return "number"
    return "text" if wanted == "text" else kind


# The kind found, a code per record, and the values: distinct ones, or one per record of numbers. Of texts
# where each begins, and their sizes and bytes.
NativeColumn = tuple[str, NDArray[Any], Any]


@dataclass(frozen=True)
class ParsedRecords:
    """Some records' columns, by name."""

    columns: Mapping[str, NativeColumn]
    n_rows: int

    @classmethod
    def from_native(
        cls, names: Sequence[str], natives: Sequence[NativeColumn], n_rows: int, data: Bytes
    ) -> ParsedRecords:
        """Take over what the native reader returned for the named columns of some data."""
        columns = dict(zip(names, natives, strict=True))
        for name, (kind, begins, values) in columns.items():
            if kind == "text":
                columns[name] = kind, begins, (*values, data)
        return cls(columns, n_rows)

    def can_provide(self, wanted: Mapping[str, str]) -> bool:
        """Whether the wanted columns can be had from these without reading the file again."""
        return all((self.columns[name][0], kind) in _COLUMN_CONVERSIONS for name, kind in wanted.items())

    def to_columns(self, wanted: Mapping[str, str]) -> dict[str, Column]:
        """The wanted columns, each in the storage that its kind asks for."""
        return {
            name: _COLUMN_CONVERSIONS[self.columns[name][0], kind](*self.columns[name][1:])
            for name, kind in wanted.items()
        }


def _decode_numbers(codes: NDArray[np.int32], values: NDArray[Any]) -> NDArray[np.float64]:
    # A missing value's code is -1, which finds the last entry.
    return np.append(values.astype(np.float64), np.nan)[codes]


def _decode_objects(codes: NDArray[np.int32], values: list[str]) -> NDArray[Any]:
    return np.array([*values, None], dtype=object)[codes]


def _text_column(begins: NDArray[np.int64], held: tuple[NDArray[np.int64], Bytes, Bytes]) -> TextColumn:
    sizes, spilled, data = held
    return TextColumn(begins, sizes, data, spilled)


def _decode_numerals(codes: NDArray[np.int32], texts: list[str]) -> DictionaryColumn:
    """Texts, of which those that are numerals become the numbers they mean."""
    place: dict[Any, int] = {}
    lookup = [place.setdefault(_number_or_text(text), len(place)) for text in texts]
    return DictionaryColumn(np.array([*lookup, -1], dtype=np.int32)[codes], list(place))


def _number_or_text(text: str) -> str | int | float:
    number = parse_numeral(text.strip(" \t"))
    return text if number is None else number


# What was found (or asked for) and what is wanted of it.
_COLUMN_CONVERSIONS: dict[tuple[str, str], Callable[[NDArray[Any], Any], Column]] = {
    ("number", "number"): lambda codes, values: values,
    ("real", "number"): _decode_numbers,
    ("integer", "number"): _decode_numbers,
    ("integer", "integer"): lambda codes, values: DictionaryColumn(codes, values.tolist()),
    ("flag", "flag"): lambda codes, values: DictionaryColumn(codes, values.astype(bool).tolist()),
    ("string", "string"): DictionaryColumn,
    ("string", "mixed"): _decode_numerals,
    ("string", "text"): _decode_objects,
    ("text", "text"): _text_column,
}

MIN_ROW_LIKE_SHARE = 0.99  # of the lines look like rows where quotes are no quotes; within real texts, few do


def count_row_like_lines(data: Bytes, delimiter: str, width: int, n_rows: int) -> int:
    """How many lines look like rows of so many fields, if they are more than the rows; else 0.

    Texts of several lines have other numbers of delimiters in each. Fields of quotes that were never meant
    hold whole rows, each with as many delimiters as any.
    """
    text = data.tobytes()
    if width < 2 or b'"' not in text or text.count(b"\n") <= n_rows:
        return 0
    ends = np.append(np.flatnonzero(data == ord("\n")), len(data))
    lengths = np.diff(ends, prepend=-1) - 1
    before = np.searchsorted(np.flatnonzero(data == ord(delimiter)), ends)
    like = int((np.diff(before, prepend=0) == width - 1).sum())
    return like if like > n_rows and like >= MIN_ROW_LIKE_SHARE * (lengths > 0).sum() else 0
