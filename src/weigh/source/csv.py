"""CSV and TSV files, read by the native parser in blocks of about a megabyte."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from weigh import _core, errors
from weigh.source.arrays import default_names
from weigh.source.base import CHUNK_ROWS, PREFIX_ROWS, Kinds, Piece, Source, check_size, made
from weigh.source.bytes import MARK, Bytes, FileText, MappedText, open_text
from weigh.source.chunk import Chunk
from weigh.source.damage import DAMAGE
from weigh.source.faults import CsvFaults
from weigh.source.file_source import (
    BLOCK,
    JOINED_BYTES,
    JOINED_ROWS,
    PREFIX_BYTES,
    FileSource,
    longest_row,
)
from weigh.source.missing import Marker
from weigh.source.parsed import Parsed
from weigh.source.swallowed import lines_like_rows

# A head larger than this is parsed again when it is needed, rather than kept.
KEPT_BYTES = 8 << 20
# Into how many blocks a short file is cut.
BLOCKS = 3


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written."""

    delimiter: str = ","
    encoding: str = "utf-8"
    has_header: bool = True
    missing: tuple[Marker, ...] = ("",)
    block: int = BLOCK
    quotes: bool = True


@dataclass(frozen=True)
class Head:
    """The first rows: where in the text they begin and end, how many they are, and their columns."""

    begin: int
    end: int
    n_rows: int
    parsed: Parsed | None


class CsvSource(FileSource):
    """A CSV file; the types of its columns are found in its first 10,000 rows and then fixed.

    A type is "integer", "flag" or "string", or "number" when there are fractions; `stored` may
    make one "mixed".
    """

    def __init__(
        self,
        path: Path,
        label: str | None,
        dialect: Dialect,
        *,
        names: Sequence[str] | None = None,
        strings: Sequence[str] = (),
    ) -> None:
        super().__init__(path, dialect.missing)
        self.dialect = dialect
        self._marks = [str(mark) for mark in dialect.missing]
        self._storage: Kinds = dict.fromkeys(strings, "string")
        self._ready: tuple[object, Chunk] | None = None
        self._faults = CsvFaults(path, dialect.delimiter, dialect.encoding, dialect.has_header)
        if self.bytes_total == 0:
            raise self._faults.empty()
        with closing(self._open()) as text:
            columns, begin = self._header(text)
            if not dialect.has_header:
                columns = default_names(len(columns), names)
                self.named = names is not None
            self.check_header(columns)
            unknown = [name for name in strings if name not in columns]
            if unknown:
                raise self.no_column(unknown[0], columns)
            self._faults.names = columns
            asked = {name: "string" if name in strings else "any" for name in columns}
            self._head, found = self._read_head(text, begin, asked)
        self.describe({name: "number" if kind == "real" else kind for name, kind in found.items()}, label)

    def _marked(self, missing: tuple[Marker, ...]) -> Source:
        """The file opened again: without the markers, its columns may be of other types."""
        dialect = replace(self.dialect, missing=missing)
        names = None if self.dialect.has_header or not self.named else list(self.types)
        return CsvSource(self.path, self.label, dialect, names=names).stored(self._storage)

    def stored(self, storage: Kinds) -> Source:
        """The same file, read as `storage` says where its columns' own looks would mislead."""
        types = dict(self.types)
        for name in types.keys() & storage.keys():
            if storage[name] == "string" or types[name] == "string":
                types[name] = storage[name]
        if types == self.types:
            return self
        stored = copy.copy(self).describe(types, self.label)
        stored._storage = {**self._storage, **storage}
        return stored

    def prefix(self, n: int = PREFIX_ROWS, kinds: Kinds | None = None) -> Chunk:
        """The first n rows, or fewer when they exceed 32 MB; consumes nothing."""
        wanted = self._wanted(kinds)
        head = self._head
        if check_size(n) > PREFIX_ROWS:
            with closing(self._open()) as text:
                data, end, n = self._first(text, head.begin, n)
            return self._parsed_chunk(data[:end], head.begin, wanted, n, 0)
        return self._head_chunk(wanted, min(n, head.n_rows))

    def chunks(self, kinds: Kinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Read the file from its start, at most `size` rows at a time."""
        return (piece() for piece in self.pieces(kinds, size))

    def pieces(self, kinds: Kinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Piece]:
        """Cut the file into blocks of whole rows; each is parsed when its piece is called."""
        check_size(size)
        wanted = self._wanted(kinds)
        head = self._head
        self.bytes_read = 0
        self.rows_read = head.n_rows
        first = self._head_chunk(wanted, head.n_rows)
        with closing(self._open()) as text:
            self.bytes_read = text.read_up_to(head.end)
            for start in range(0, head.n_rows, size):
                yield made(first.slice(start, start + size))
            yield from self._blocks(text, wanted, size)
        self.bytes_read = self.bytes_total or 0

    def _blocks(self, text: FileText, wanted: Mapping[str, str], size: int) -> Iterator[Piece]:
        at, done, closed = self._head.end, self._head.n_rows, False
        block = usual = self._block_size(text)
        while not closed:
            data, last = self._window(text, at, block)
            end, n_rows = _core.scan_csv_records(
                data, self.dialect.delimiter, self.dialect.quotes, size, last
            )
            closed = last and (n_rows < size or end == len(data))
            if end == 0 and not closed:
                longest = longest_row(self.dialect.block)
                if block >= longest:
                    raise self._faults.endless_row(at)
                block = min(4 * block, longest)
                continue
            block = usual
            self.bytes_read = text.read_up_to(at + end)
            if n_rows:
                yield self._piece(data[:end], at, wanted, n_rows, done)
            at += end
            done += n_rows
            self.rows_read = done

    def _piece(
        self, data: Bytes, begin: int, wanted: Mapping[str, str], n_rows: int, first_row: int
    ) -> Piece:
        return lambda: self._parsed_chunk(data, begin, wanted, n_rows, first_row)

    def _block_size(self, text: FileText) -> int:
        """More than a block if rows are wide, as the first ones tell; less if the file is short.

        Threads that share a file of few blocks would have to wait for the one with the last.
        """
        head, block = self._head, self.dialect.block
        joined = min(JOINED_BYTES, JOINED_ROWS * (head.end - head.begin) // head.n_rows)
        # Blocks end with a row and so fall short: without some rows more, a last one would hold them.
        share = ((self.bytes_total or 0) - head.end) // BLOCKS + joined // 1024 + 1
        if isinstance(text, MappedText) and share < block:
            return max(share, joined // 2)
        return max(block, joined)

    def _wanted(self, kinds: Kinds | None) -> dict[str, str]:
        """The columns to read, label included, each with what the parser shall read it as."""
        kinds = kinds or {}
        return {
            name: _reading(kind, kinds.get(name))
            for name, kind in self.types.items()
            if kinds.get(name) != "skip" or name == self.label
        }

    def _head_chunk(self, wanted: Mapping[str, str], n: int) -> Chunk:
        """The first n rows of the head, parsed again only if it was not kept or has other types."""
        head = self._head
        if head.parsed is not None and head.parsed.gives(wanted):
            # A fit reads its first rows several times over: to check, to warn, to count.
            key = (self.label, tuple(wanted.items()))
            ready = self._ready
            if ready is None or ready[0] != key:
                ready = self._ready = key, self._chunk(head.parsed, wanted, 0)
            return ready[1].slice(0, n)
        with closing(self._open()) as text:
            data, _ = self._window(text, head.begin, head.end - head.begin)
        return self._parsed_chunk(data, head.begin, wanted, n, 0)

    def _parsed_chunk(
        self, data: Bytes, begin: int, wanted: Mapping[str, str], n_rows: int, first_row: int
    ) -> Chunk:
        parsed = self._parse(data, begin, {name: wanted.get(name, "skip") for name in self.types}, n_rows)
        return self._chunk(parsed, wanted, first_row)

    def _chunk(self, parsed: Parsed, wanted: Mapping[str, str], first_row: int) -> Chunk:
        columns = parsed.to_columns(wanted)
        labels = None if self.label is None else columns.pop(self.label)
        return Chunk(columns, parsed.n_rows, labels=labels, first_row=first_row)

    def _parse(self, data: Bytes, begin: int, kinds: Mapping[str, str], most: int) -> Parsed:
        """Parse records; `begin` is where in the text they begin, for messages."""
        asked = ["string" if kind == "mixed" else kind for kind in kinds.values()]
        written = self.dialect.delimiter, self.dialect.quotes
        n_rows, natives, fault = _core.parse_csv(data, asked, *written, self._marks, most)
        if fault is not None:
            raise self._faults.of_record(fault, begin, asked)
        return Parsed.of(list(kinds), natives, n_rows, data)

    def _header(self, text: FileText) -> tuple[list[str], int]:
        """The fields of the first record, and where the rows begin."""
        written = self.dialect.delimiter, self.dialect.quotes
        start = len(MARK) if self._window(text, 0, len(MARK))[0].tobytes() == MARK else 0
        data, end, n = self._first(text, start, 1)
        if n == 0:
            raise self._faults.no_rows()
        fault = _core.parse_csv(data[:end], [], *written, [], 1)[2]
        width = fault[4] if fault is not None else 0
        _, natives, fault = _core.parse_csv(data[:end], ["string"] * width, *written, [], 1)
        if fault is not None:
            raise self._faults.of_record(fault, start, ["string"] * width)
        names = [values[0] if values else "" for _, _, values in natives]
        return names, start + end if self.dialect.has_header else start

    def _read_head(self, text: FileText, begin: int, asked: dict[str, str]) -> tuple[Head, dict[str, str]]:
        """The first 10,000 rows, and the kind found for every column."""
        data, end, n = self._first(text, begin, PREFIX_ROWS)
        if n == 0:
            raise self._faults.no_rows()
        parsed = self._parse(data[:end], begin, asked, n)
        if self.dialect.quotes:
            self._warn_of_swallowed(data[:end], len(asked), n)
        found = {name: kind for name, (kind, _, _) in parsed.columns.items()}
        return Head(begin, begin + end, n, parsed if end <= KEPT_BYTES else None), found

    def _warn_of_swallowed(self, data: Bytes, width: int, n_rows: int) -> None:
        lines = lines_like_rows(data, self.dialect.delimiter, width, n_rows)
        if lines:
            warnings.warn(
                f"{self.path}: {lines:,} lines look like rows, but quotes join them to {n_rows:,}: a field "
                f"that begins with a quote ends at the next one, line breaks or not. If quotes are signs "
                f"like any other here, give quotes=False.",
                errors.SwallowedLines,
                stacklevel=2,
            )

    def _first(self, text: FileText, begin: int, n: int) -> tuple[Bytes, int, int]:
        """Bytes that hold the first n rows (or 32 MB), where these end, and how many they are."""
        size = 2 * self.dialect.block
        while True:
            data, closed = self._window(text, begin, size)
            end, n_rows = _core.scan_csv_records(data, self.dialect.delimiter, self.dialect.quotes, n, closed)
            if n_rows >= n or closed or (size >= PREFIX_BYTES and n_rows):
                return data, end, n_rows
            if size >= PREFIX_BYTES:
                raise self._faults.endless_row(begin)
            size *= 4

    def _open(self) -> FileText:
        try:
            return open_text(self.path, self.dialect.encoding)
        except (*DAMAGE, LookupError) as error:
            raise self._faults.of_reading(error) from error

    def _window(self, text: FileText, at: int, size: int) -> tuple[Bytes, bool]:
        try:
            return text.window(at, size)
        except DAMAGE as error:
            raise self._faults.of_reading(error) from error


def _reading(kind: str, wanted: str | None) -> str:
    """How the parser shall read a column of some type for the kind that is wanted of it."""
    if wanted in {"number", "count"}:
        return "number"
    return "text" if wanted == "text" else kind
