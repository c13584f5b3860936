"""One generation of a journal: an open file of marks and groups of records."""

from __future__ import annotations

import contextlib
import itertools
import mmap
import os
import stat
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence

from weigh.errors import JournalError, LostPlace
from weigh.journal import frame, header
from weigh.journal.disk import flushed, pieces, telling, written
from weigh.journal.header import Header
from weigh.journal.marks import Marks, Table
from weigh.journal.record import Position, Record, unpacked
from weigh.replacing import sync_folder

_PIECE = 1 << 20
_PAUSE = 0.01


class Generation:
    """An open file of a journal; the one who opened it closes it."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self.header = header.unpacked(pieces(descriptor, 0, header.SIZE), path)
        found = os.fstat(descriptor)
        if found.st_size < self.header.first:
            raise JournalError(f"{path} is cut short within its table of keys. Restore it from a copy.")
        self.identity = found.st_dev, found.st_ino, self.header.generation

    def close(self) -> None:
        """Give the file back."""
        os.close(self._descriptor)

    def marks(self) -> Marks:
        """The marks that the records up to `header.folded` have left."""
        if not self.header.keys:
            return Marks(Table())
        with telling(self.path, "read"):
            mapped = mmap.mmap(self._descriptor, self.header.first, access=mmap.ACCESS_READ)
        table = Table(mapped, header.SIZE, self.header.keys)
        if table.checksum() != self.header.checksum:
            raise JournalError(f"{self.path} is damaged in its table of keys. Restore it from a copy.")
        return Marks(table)

    def has(self, position: Position) -> bool:
        """Whether a position is one between the groups of this file."""
        if position.offset == self.header.start.offset:
            return position.link == self.header.start.link
        if position.offset < self.header.start.offset:
            return False
        before = pieces(self._descriptor, self._place(position) - frame.LINK.size, frame.LINK.size)
        return before == frame.LINK.pack(position.link)

    def groups(self, since: Position, tries: int = 1) -> Iterator[tuple[list[Record], Position]]:
        """The records of every whole group after a position, and the position after it.

        Who reads without the lock may meet a writer that cuts a torn group off and puts another in its place,
        and looks again before calling that damage.
        """
        while True:
            with telling(self.path, "read"):
                found = self._group(since, tries)
            if found is None:
                return
            body, since = found
            yield self._records(body), since

    def _records(self, body: bytes) -> list[Record]:
        try:
            return list(unpacked(body))
        except ValueError as error:
            raise JournalError(f"{self.path} is damaged: {error} Restore it from a copy.") from error

    def append(self, parts: Sequence[bytes], end: Position) -> Position:
        """Write a group at the end, all or nothing, and have it on the disk."""
        group, link = frame.framed(parts, end.link)
        try:
            with telling(self.path, "written"):
                written(self._descriptor, group, self._place(end))
                flushed(self._descriptor)
        except BaseException:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._place(end))
            raise
        return Position(end.offset + len(group), link)

    def flush(self) -> None:
        """Have all that is written, by whomever, on the disk."""
        with telling(self.path, "written"):
            flushed(self._descriptor)

    def cut(self, end: Position) -> int:
        """Take away what a killed writer has left after the last whole group, and tell how many bytes."""
        rest = os.fstat(self._descriptor).st_size - self._place(end)
        if rest:
            with telling(self.path, "written"):
                os.ftruncate(self._descriptor, self._place(end))
        return rest

    def succeed(self, marks: Marks, end: Position, keep: bool) -> None:
        """Put a generation in this one's place that has the marks in its table, and the records if asked."""
        table, keys = marks.packed()
        start = self.header.start if keep else end
        told = Header(self.header.generation + 1, start, end, keys, zlib.crc32(table))
        kept = (self._place(start), self._place(end))
        made(self.path, told, table, self._stretch(*kept), stat.S_IMODE(os.fstat(self._descriptor).st_mode))

    def _stretch(self, first: int, last: int) -> Iterator[bytes]:
        for at in range(first, last, _PIECE):
            yield pieces(self._descriptor, at, min(_PIECE, last - at))

    def _place(self, position: Position) -> int:
        return self.header.first + position.offset - self.header.start.offset

    def _group(self, since: Position, tries: int) -> tuple[bytes, Position] | None:
        if not self.has(since):
            raise LostPlace(
                f"{self.path}: the records after byte {since.offset:,} of its history are not here: it was "
                "folded into a snapshot, or replaced. Load the snapshot again."
            )
        place = self._place(since)
        try:
            found = frame.read(self._descriptor, place, since.link)
        except frame.Damaged:
            if tries > 1:
                time.sleep(_PAUSE)
                return self._group(since, tries - 1)
            raise JournalError(
                f"{self.path} is damaged at byte {place:,}, and more follows. Nothing was changed; "
                "restore it from a copy."
            ) from None
        if found is None:
            return None
        body, link, end = found
        return body, Position(since.offset + end - place, link)


def opened(path: str, flags: int) -> Generation | None:
    """The present generation of a journal, None if there is none yet."""
    with telling(path, "written" if flags & os.O_RDWR else "read"):
        try:
            descriptor = os.open(path, flags)
        except FileNotFoundError:
            return None
        try:
            return Generation(path, descriptor)
        except BaseException:
            os.close(descriptor)
            raise


def made(path: str, head: Header, table: bytes = b"", kept: Iterable[bytes] = (), mode: int = 0o600) -> None:
    """Put a new file in a journal's place, whole and on the disk before it has the name.

    The caller holds the lock, so one name for drafts is enough, and what a killed writer left is overwritten.
    """
    draft = f"{path}.new"
    with telling(path, "written"):
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        try:
            os.fchmod(descriptor, mode)
            at = 0
            for data in itertools.chain((head.packed(), table), kept):
                written(descriptor, data, at)
                at += len(data)
            flushed(descriptor)
            os.replace(draft, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise
        finally:
            os.close(descriptor)
        sync_folder(os.path.dirname(path))
