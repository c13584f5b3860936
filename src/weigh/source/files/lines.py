"""A text file of one row per line: what the fastText, VW and LIBSVM formats have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from weigh import _core
from weigh.source.base import CHUNK_ROWS, PREFIX_ROWS, ChunkReader, ColumnKinds, check_chunk_size
from weigh.source.chunk import Chunk
from weigh.source.files.base import MAX_PREFIX_BYTES, TextSource, max_row_bytes
from weigh.source.files.text_files import UTF8_BOM, Bytes, TextReader, open_text
from weigh.source.missing import Marker
from weigh.source.paths import READ_ERRORS


class LineSource(TextSource):
    """A file cut into blocks of whole lines; a subclass makes a chunk of a block."""

    comment: ClassVar[bytes] = b""  # what begins a line that is no row

    def __init__(
        self, path: Path, label: str | None, missing: tuple[Marker, ...], *, encoding: str, block: int
    ) -> None:
        super().__init__(path, label, missing, encoding=encoding, block=block)
        if self.bytes_total == 0:
            raise self.file_errors.empty_file_error()

    @abstractmethod
    def parse_block(self, block: LineBlock, kinds: ColumnKinds | None) -> Chunk:
        """The rows of a block; may be called in any thread."""

    def chunks(self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Read the file from its start, at most `size` rows at a time."""
        return (piece() for piece in self.chunk_readers(kinds, size))

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Cut the file into blocks of whole lines; each is read when its piece is called."""
        check_chunk_size(size)
        self.bytes_read = self.rows_read = 0
        with closing(self._open()) as text:
            for block in self._blocks(text, size):
                self.bytes_read = text.file_position(block.stop)
                self.rows_read = block.first_row + block.n_rows
                yield partial(self.parse_block, block, kinds)
        self.bytes_read = self.bytes_total or 0

    def blocks(self) -> Iterator[LineBlock]:
        """All rows, a block at a time."""
        with closing(self._open()) as text:
            yield from self._blocks(text, CHUNK_ROWS)

    def prefix(self, n: int = PREFIX_ROWS, kinds: ColumnKinds | None = None) -> Chunk:
        """The first n rows, or fewer when they exceed 32 MB; consumes nothing."""
        return self.parse_block(self.first_block(check_chunk_size(n)), kinds)

    def first_block(self, n: int) -> LineBlock:
        """The first n rows, or fewer when they exceed 32 MB, as one block."""
        size = 2 * self.block
        with closing(self._open()) as text:
            begin = self._text_start(text)
            while True:
                data, closed = self._window(text, begin, size)
                block = split_lines(data, begin, n, closed=closed, comment=self.comment)
                if block.n_rows >= n or closed or size >= MAX_PREFIX_BYTES or not len(block.data):
                    break
                size *= 4
        long = np.flatnonzero(block.ends - block.starts > max_row_bytes(self.block))
        if len(long) or not (closed or len(block.data)):
            raise self.file_errors.long_row_error(begin + int(block.starts[long[0]] if len(long) else 0))
        if block.n_rows == 0:
            raise self.file_errors.no_rows_error()
        return block

    def check_utf8(self, data: Bytes) -> None:
        """Refuse bytes that are not UTF-8: later steps rely on it."""
        try:
            str(data.data, "utf-8")
        except UnicodeDecodeError as error:
            raise self.file_errors.encoding_error() from error

    def _blocks(self, text: TextReader, size: int) -> Iterator[LineBlock]:
        at, done, closed = self._text_start(text), 0, False
        window = self.block
        while not closed:
            data, last = self._window(text, at, window)
            block = split_lines(data, at, size, closed=last, comment=self.comment, first_row=done)
            closed = last and len(block.data) == len(data)
            if not len(block.data) and not closed:
                if window >= max_row_bytes(self.block):
                    raise self.file_errors.long_row_error(at)
                window = min(4 * window, max_row_bytes(self.block))
                continue
            window = self.block
            if block.n_rows:
                yield block
            at = block.stop
            done += block.n_rows

    def _text_start(self, text: TextReader) -> int:
        """Where the first line begins: behind a byte order mark, if there is one."""
        return len(UTF8_BOM) if self._window(text, 0, len(UTF8_BOM))[0].tobytes() == UTF8_BOM else 0

    def _open(self) -> TextReader:
        try:
            return open_text(self.path, self.encoding)
        except (*READ_ERRORS, LookupError) as error:
            raise self.file_errors.read_error(error) from error

    def _window(self, text: TextReader, at: int, size: int) -> tuple[Bytes, bool]:
        try:
            return text.window(at, size)
        except READ_ERRORS as error:
            raise self.file_errors.read_error(error) from error


Offsets = NDArray[np.int64]

NEWLINE, CARRIAGE_RETURN = 10, 13
BLANKS = b" \t\v\f\r"
IS_BLANK = np.zeros(256, dtype=bool)
IS_BLANK[list(BLANKS)] = True


@dataclass(frozen=True, eq=False)
class LineBlock:
    """Some whole lines: row i is data[begins[i] : ends[i]], without blanks before it or its end of line.

    `offset` is where in the file's text the data begin, `first_row` the number of rows before them.
    """

    data: Bytes
    starts: Offsets
    ends: Offsets
    offset: int
    first_row: int = 0

    @property
    def n_rows(self) -> int:
        """How many lines are rows: blank lines and comments are none."""
        return len(self.starts)

    @property
    def stop(self) -> int:
        """Where in the file's text the data end."""
        return self.offset + len(self.data)

    def rows_at(self, places: Offsets) -> Offsets:
        """The row in which each place stands."""
        return np.searchsorted(self.starts, places, side="right") - 1


def split_lines(
    data: Bytes, offset: int, most: int, *, closed: bool, comment: bytes = b"", first_row: int = 0
) -> LineBlock:
    """The whole lines at the start of some data, of which at most so many are rows.

    `closed` says that nothing follows the data, so that the last line needs no end.
    """
    stops = np.flatnonzero(data == NEWLINE) + 1
    if closed and len(data) and (not len(stops) or stops[-1] < len(data)):
        stops = np.append(stops, len(data))
    begins = np.concatenate([[0], stops[:-1]])[: len(stops)]
    ends = stops - (data[stops - 1] == NEWLINE)
    ends -= (ends > begins) & (data[ends - 1] == CARRIAGE_RETURN)
    begins = skip_blanks(data, begins, ends)
    rows = np.flatnonzero(ends > begins)
    if comment:
        rows = rows[data[begins[rows]] != ord(comment)]
    end = int(stops[-1]) if len(stops) else 0
    if len(rows) > most:
        rows = rows[:most]
        end = int(stops[rows[-1]])
    return LineBlock(data[:end], begins[rows], ends[rows], offset, first_row)


def skip_blanks(data: Bytes, begins: Offsets, ends: Offsets) -> Offsets:
    """Each place moved on to the first byte that is not blank, or to its end."""
    begins = begins.copy()
    some = np.flatnonzero(begins < ends)
    for at in some[IS_BLANK[data[begins[some]]]]:
        text = data[begins[at] : ends[at]].tobytes()
        begins[at] += len(text) - len(text.lstrip(BLANKS))
    return begins


def encode_spans(data: Bytes, begins: Offsets, sizes: Offsets) -> tuple[NDArray[np.int32], list[str]]:
    """A code for each text at some places, and the distinct texts."""
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    letters = np.repeat(begins - offsets[:-1], sizes) + np.arange(offsets[-1])
    found: tuple[Any, list[str]] = _core.encode_strings(offsets, data[letters], None, 0)
    return found
