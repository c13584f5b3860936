"""A text file of one row per line: what the fastText, VW and LIBSVM formats have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np

from weigh.source.base import CHUNK_ROWS, PREFIX_ROWS, Kinds, Piece, check_size
from weigh.source.bytes import MARK, Bytes, FileText, open_text
from weigh.source.chunk import Chunk
from weigh.source.damage import DAMAGE
from weigh.source.file_source import PREFIX_BYTES, longest_row
from weigh.source.line_block import LineBlock, cut_lines
from weigh.source.missing import Marker
from weigh.source.text_source import TextSource


class LineSource(TextSource):
    """A file cut into blocks of whole lines; a subclass makes a chunk of a block."""

    comment: ClassVar[bytes] = b""  # what begins a line that is no row

    def __init__(
        self, path: Path, label: str | None, missing: tuple[Marker, ...], *, encoding: str, block: int
    ) -> None:
        super().__init__(path, label, missing, encoding=encoding, block=block)
        if self.bytes_total == 0:
            raise self.faults.empty()

    @abstractmethod
    def read(self, block: LineBlock, kinds: Kinds | None) -> Chunk:
        """The rows of a block; may be called in any thread."""

    def chunks(self, kinds: Kinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Read the file from its start, at most `size` rows at a time."""
        return (piece() for piece in self.pieces(kinds, size))

    def pieces(self, kinds: Kinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Piece]:
        """Cut the file into blocks of whole lines; each is read when its piece is called."""
        check_size(size)
        self.bytes_read = self.rows_read = 0
        with closing(self._open()) as text:
            for block in self._blocks(text, size):
                self.bytes_read = text.read_up_to(block.stop)
                self.rows_read = block.first_row + block.n_rows
                yield partial(self.read, block, kinds)
        self.bytes_read = self.bytes_total or 0

    def blocks(self) -> Iterator[LineBlock]:
        """All rows, a block at a time."""
        with closing(self._open()) as text:
            yield from self._blocks(text, CHUNK_ROWS)

    def prefix(self, n: int = PREFIX_ROWS, kinds: Kinds | None = None) -> Chunk:
        """The first n rows, or fewer when they exceed 32 MB; consumes nothing."""
        return self.read(self.first(check_size(n)), kinds)

    def first(self, n: int) -> LineBlock:
        """The first n rows, or fewer when they exceed 32 MB, as one block."""
        size = 2 * self.block
        with closing(self._open()) as text:
            begin = self._begin(text)
            while True:
                data, closed = self._window(text, begin, size)
                block = cut_lines(data, begin, n, closed=closed, comment=self.comment)
                if block.n_rows >= n or closed or size >= PREFIX_BYTES or not len(block.data):
                    break
                size *= 4
        long = np.flatnonzero(block.ends - block.begins > longest_row(self.block))
        if len(long) or not (closed or len(block.data)):
            raise self.faults.endless_row(begin + int(block.begins[long[0]] if len(long) else 0))
        if block.n_rows == 0:
            raise self.faults.no_rows()
        return block

    def check_text(self, data: Bytes) -> None:
        """Refuse bytes that are not UTF-8: later steps rely on it."""
        try:
            str(data.data, "utf-8")
        except UnicodeDecodeError as error:
            raise self.faults.not_text() from error

    def _blocks(self, text: FileText, size: int) -> Iterator[LineBlock]:
        at, done, closed = self._begin(text), 0, False
        window = self.block
        while not closed:
            data, last = self._window(text, at, window)
            block = cut_lines(data, at, size, closed=last, comment=self.comment, first_row=done)
            closed = last and len(block.data) == len(data)
            if not len(block.data) and not closed:
                if window >= longest_row(self.block):
                    raise self.faults.endless_row(at)
                window = min(4 * window, longest_row(self.block))
                continue
            window = self.block
            if block.n_rows:
                yield block
            at = block.stop
            done += block.n_rows

    def _begin(self, text: FileText) -> int:
        """Where the first line begins: behind a byte order mark, if there is one."""
        return len(MARK) if self._window(text, 0, len(MARK))[0].tobytes() == MARK else 0

    def _open(self) -> FileText:
        try:
            return open_text(self.path, self.encoding)
        except (*DAMAGE, LookupError) as error:
            raise self.faults.of_reading(error) from error

    def _window(self, text: FileText, at: int, size: int) -> tuple[Bytes, bool]:
        try:
            return text.window(at, size)
        except DAMAGE as error:
            raise self.faults.of_reading(error) from error
