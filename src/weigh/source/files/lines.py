"""Base class of the line-based formats (fastText, VW, LIBSVM), and splitting text into lines."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from weigh import _core
from weigh.source.base import CHUNK_ROWS, ChunkReader, ColumnKinds, check_chunk_size
from weigh.source.chunk import Chunk
from weigh.source.files.base import MAX_PREFIX_BYTES, TextSource, max_row_bytes
from weigh.source.files.text_files import UTF8_BOM, Bytes, TextReader, open_text
from weigh.source.missing import Marker
from weigh.source.paths import READ_ERRORS


class LineSource(TextSource):
    """A file read in blocks of whole lines; subclasses parse a block into a chunk."""

    comment: ClassVar[bytes] = b""  # lines that begin with this byte are not rows

    def __init__(
        self, path: Path, label: str | None, missing: tuple[Marker, ...], *, encoding: str, block: int
    ) -> None:
        super().__init__(path, label, missing, encoding=encoding, block=block)
        if self.bytes_total == 0:
            raise self.file_errors.empty_file_error()

    @abstractmethod
    def parse_block(self, block: LineBlock, kinds: ColumnKinds | None) -> Chunk:
        """Parse the rows of a block; may be called in any thread."""

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Yield readers of one block of whole lines each."""
        check_chunk_size(size)
        self.bytes_read = 0
        with closing(self._open()) as text:
            for block in self._blocks(text, size):
                self.bytes_read = text.file_position(block.stop)
                yield ChunkReader(block.n_rows, self.parse_block, block, kinds)
        self.bytes_read = self.bytes_total or 0

    def blocks(self) -> Iterator[LineBlock]:
        """Yield all rows in blocks."""
        with closing(self._open()) as text:
            yield from self._blocks(text, CHUNK_ROWS)

    def _read_prefix(self, n: int, kinds: ColumnKinds | None) -> Chunk:
        return self.parse_block(self.first_block(n), kinds)

    def first_block(self, n: int) -> LineBlock:
        """Return the first n rows, or fewer if they exceed 32 MB, as one block."""
        size = 2 * self.block
        with closing(self._open()) as text:
            start = self._text_start(text)
            while True:
                data, is_last = self._window(text, start, size)
                block = split_lines(data, start, n, is_last=is_last, comment=self.comment)
                if block.n_rows >= n or is_last or size >= MAX_PREFIX_BYTES or not len(block.data):
                    break
                size *= 4
        too_long = np.flatnonzero(block.ends - block.starts > max_row_bytes(self.block))
        if len(too_long) or not (is_last or len(block.data)):
            raise self.file_errors.long_row_error(
                start + int(block.starts[too_long[0]] if len(too_long) else 0)
            )
        if block.n_rows == 0:
            raise self.file_errors.no_rows_error()
        return block

    def check_utf8(self, data: Bytes) -> None:
        """Raise SourceError for bytes that are not UTF-8, on which the encoders rely."""
        try:
            str(data.data, "utf-8")
        except UnicodeDecodeError as error:
            raise self.file_errors.encoding_error() from error

    def _blocks(self, text: TextReader, size: int) -> Iterator[LineBlock]:
        offset, n_rows, is_done = self._text_start(text), 0, False
        window_size = self.block
        while not is_done:
            data, is_last = self._window(text, offset, window_size)
            block = split_lines(data, offset, size, is_last=is_last, comment=self.comment, first_row=n_rows)
            is_done = is_last and len(block.data) == len(data)
            if not len(block.data) and not is_done:
                if window_size >= max_row_bytes(self.block):
                    raise self.file_errors.long_row_error(offset)
                window_size = min(4 * window_size, max_row_bytes(self.block))
                continue
            window_size = self.block
            if block.n_rows:
                yield block
            offset = block.stop
            n_rows += block.n_rows

    def _text_start(self, text: TextReader) -> int:
        """Return the offset of the first line, after a byte order mark."""
        return len(UTF8_BOM) if self._window(text, 0, len(UTF8_BOM))[0].tobytes() == UTF8_BOM else 0

    def _open(self) -> TextReader:
        try:
            return open_text(self.path, self.encoding, self.bytes_total)
        except (*READ_ERRORS, LookupError) as error:
            raise self.file_errors.read_error(error) from error

    def _window(self, text: TextReader, offset: int, size: int) -> tuple[Bytes, bool]:
        try:
            return text.window(offset, size)
        except READ_ERRORS as error:
            raise self.file_errors.read_error(error) from error


Offsets = NDArray[np.int64]

NEWLINE, CARRIAGE_RETURN = 10, 13
BLANKS = b" \t\v\f\r"
IS_BLANK = np.zeros(256, dtype=bool)
IS_BLANK[list(BLANKS)] = True


@dataclass(frozen=True, eq=False)
class LineBlock:
    """A block of whole lines: row i is data[starts[i] : ends[i]], without leading blanks and line end.

    `offset` is the position of the data in the file's text, `first_row` the number of rows before them.
    """

    data: Bytes
    starts: Offsets
    ends: Offsets
    offset: int
    first_row: int = 0

    @property
    def n_rows(self) -> int:
        """The number of lines that are neither blank nor comments."""
        return len(self.starts)

    @property
    def stop(self) -> int:
        """The position in the file's text at which the data end."""
        return self.offset + len(self.data)

    def rows_at(self, offsets: Offsets) -> Offsets:
        """Return the row that contains each offset of the data."""
        return np.searchsorted(self.starts, offsets, side="right") - 1


def split_lines(
    data: Bytes, offset: int, max_rows: int, *, is_last: bool, comment: bytes = b"", first_row: int = 0
) -> LineBlock:
    """Return the whole lines at the start of the data, up to `max_rows` rows.

    `is_last` means that nothing follows the data, so the last line needs no line end.
    """
    stops = np.flatnonzero(data == NEWLINE) + 1
    if is_last and len(data) and (not len(stops) or stops[-1] < len(data)):
        stops = np.append(stops, len(data))
    starts = np.concatenate([[0], stops[:-1]])[: len(stops)]
    ends = stops - (data[stops - 1] == NEWLINE)
    ends -= (ends > starts) & (data[ends - 1] == CARRIAGE_RETURN)
    starts = skip_blanks(data, starts, ends)
    rows = np.flatnonzero(ends > starts)
    if comment:
        rows = rows[data[starts[rows]] != ord(comment)]
    stop = int(stops[-1]) if len(stops) else 0
    if len(rows) > max_rows:
        rows = rows[:max_rows]
        stop = int(stops[rows[-1]])
    return LineBlock(data[:stop], starts[rows], ends[rows], offset, first_row)


def skip_blanks(data: Bytes, starts: Offsets, ends: Offsets) -> Offsets:
    """Move each start forward to the first byte that is not blank, or to its end."""
    starts = starts.copy()
    nonempty = np.flatnonzero(starts < ends)
    for i in nonempty[IS_BLANK[data[starts[nonempty]]]]:
        text = data[starts[i] : ends[i]].tobytes()
        starts[i] += len(text) - len(text.lstrip(BLANKS))
    return starts


def encode_spans(data: Bytes, starts: Offsets, sizes: Offsets) -> tuple[NDArray[np.int32], list[str]]:
    """Dictionary-encode the texts at the given spans: a code for each, and the distinct texts."""
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    indices = np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1])
    encoded: tuple[Any, list[str]] = _core.encode_strings(offsets, data[indices], None, 0)
    return encoded
