"""One generation of a journal: an open file of marks and groups of records."""

from __future__ import annotations

import bisect
import contextlib
import itertools
import mmap
import os
import stat
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence

from weigh.atomic_files import fsync_folder
from weigh.errors import JournalError, LostPlace
from weigh.journal.storage import (
    CHECKSUM,
    HEADER_BYTES,
    KEY_BYTES,
    CorruptGroup,
    JournalHeader,
    JournalRecord,
    Position,
    flush_to_disk,
    pack_group,
    read_at,
    read_group,
    translate_os_errors,
    unpack_header,
    unpack_records,
    write_at,
)

_COPY_BYTES = 1 << 20
_RETRY_PAUSE = 0.01


class Generation:
    """An open file of a journal; the one who opened it closes it."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self.header = unpack_header(read_at(descriptor, 0, HEADER_BYTES), path)
        found = os.fstat(descriptor)
        if found.st_size < self.header.groups_offset:
            raise JournalError(f"{path} is cut short within its table of keys. Restore it from a copy.")
        self.identity = found.st_dev, found.st_ino, self.header.generation

    def close(self) -> None:
        """Give the file back."""
        os.close(self._descriptor)

    def read_marks(self) -> MarkIndex:
        """The marks that the records up to `header.folded` have left."""
        if not self.header.n_keys:
            return MarkIndex(MarkTable())
        with translate_os_errors(self.path, "read"):
            mapped = mmap.mmap(self._descriptor, self.header.groups_offset, access=mmap.ACCESS_READ)
        table = MarkTable(mapped, HEADER_BYTES, self.header.n_keys)
        if table.checksum() != self.header.checksum:
            raise JournalError(f"{self.path} is damaged in its table of keys. Restore it from a copy.")
        return MarkIndex(table)

    def contains(self, position: Position) -> bool:
        """Whether a position is one between the groups of this file."""
        if position.offset == self.header.start.offset:
            return position.checksum == self.header.start.checksum
        if position.offset < self.header.start.offset:
            return False
        before = read_at(self._descriptor, self._file_offset(position) - CHECKSUM.size, CHECKSUM.size)
        return before == CHECKSUM.pack(position.checksum)

    def groups(self, since: Position, tries: int = 1) -> Iterator[tuple[list[JournalRecord], Position]]:
        """The records of every whole group after a position, and the position after it.

        Who reads without the lock may meet a writer that cuts a torn group off and puts another in its place,
        and looks again before calling that damage.
        """
        while True:
            with translate_os_errors(self.path, "read"):
                found = self._read_group(since, tries)
            if found is None:
                return
            body, since = found
            yield self._unpack_records(body), since

    def _unpack_records(self, body: bytes) -> list[JournalRecord]:
        try:
            return list(unpack_records(body))
        except ValueError as error:
            raise JournalError(f"{self.path} is damaged: {error} Restore it from a copy.") from error

    def append(self, parts: Sequence[bytes], end: Position) -> Position:
        """Write a group at the end, all or nothing, and have it on the disk."""
        group, link = pack_group(parts, end.checksum)
        try:
            with translate_os_errors(self.path, "written"):
                write_at(self._descriptor, group, self._file_offset(end))
                flush_to_disk(self._descriptor)
        except BaseException:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._file_offset(end))
            raise
        return Position(end.offset + len(group), link)

    def flush(self) -> None:
        """Have all that is written, by whomever, on the disk."""
        with translate_os_errors(self.path, "written"):
            flush_to_disk(self._descriptor)

    def truncate(self, end: Position) -> int:
        """Take away what a killed writer has left after the last whole group, and tell how many bytes."""
        rest = os.fstat(self._descriptor).st_size - self._file_offset(end)
        if rest:
            with translate_os_errors(self.path, "written"):
                os.ftruncate(self._descriptor, self._file_offset(end))
        return rest

    def write_successor(self, marks: MarkIndex, end: Position, keep: bool) -> None:
        """Put a generation in this one's place that has the marks in its table, and the records if asked."""
        table, keys = marks.to_bytes()
        start = self.header.start if keep else end
        told = JournalHeader(self.header.generation + 1, start, end, keys, zlib.crc32(table))
        kept = (self._file_offset(start), self._file_offset(end))
        write_generation(
            self.path, told, table, self._read_range(*kept), stat.S_IMODE(os.fstat(self._descriptor).st_mode)
        )

    def _read_range(self, first: int, last: int) -> Iterator[bytes]:
        for at in range(first, last, _COPY_BYTES):
            yield read_at(self._descriptor, at, min(_COPY_BYTES, last - at))

    def _file_offset(self, position: Position) -> int:
        return self.header.groups_offset + position.offset - self.header.start.offset

    def _read_group(self, since: Position, tries: int) -> tuple[bytes, Position] | None:
        if not self.contains(since):
            raise LostPlace(
                f"{self.path}: the records after byte {since.offset:,} of its history are not here: it was "
                "folded into a snapshot, or replaced. Load the snapshot again."
            )
        place = self._file_offset(since)
        try:
            found = read_group(self._descriptor, place, since.checksum)
        except CorruptGroup:
            if tries > 1:
                time.sleep(_RETRY_PAUSE)
                return self._read_group(since, tries - 1)
            raise JournalError(
                f"{self.path} is damaged at byte {place:,}, and more follows. Nothing was changed; "
                "restore it from a copy."
            ) from None
        if found is None:
            return None
        body, link, end = found
        return body, Position(since.offset + end - place, link)


def open_generation(path: str, flags: int) -> Generation | None:
    """The present generation of a journal, None if there is none yet."""
    with translate_os_errors(path, "written" if flags & os.O_RDWR else "read"):
        try:
            descriptor = os.open(path, flags)
        except FileNotFoundError:
            return None
        try:
            return Generation(path, descriptor)
        except BaseException:
            os.close(descriptor)
            raise


def write_generation(
    path: str, head: JournalHeader, table: bytes = b"", kept: Iterable[bytes] = (), mode: int = 0o600
) -> None:
    """Put a new file in a journal's place, whole and on the disk before it has the name.

    The caller holds the lock, so one name for drafts is enough, and what a killed writer left is overwritten.
    """
    draft = f"{path}.new"
    with translate_os_errors(path, "written"):
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        try:
            os.fchmod(descriptor, mode)
            at = 0
            for data in itertools.chain((head.to_bytes(), table), kept):
                write_at(descriptor, data, at)
                at += len(data)
            flush_to_disk(descriptor)
            os.replace(draft, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise
        finally:
            os.close(descriptor)
        fsync_folder(os.path.dirname(path))


class MarkTable:
    """Sorted keys, then their marks, in mapped bytes."""

    def __init__(self, buffer: bytes | mmap.mmap = b"", at: int = 0, count: int = 0) -> None:
        self._buffer = buffer
        self._offset = at
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> bytes:
        at = self._offset + KEY_BYTES * place
        return self._buffer[at : at + KEY_BYTES]

    def keys(self, first: int, last: int) -> bytes:
        """The keys of a stretch, one after the other."""
        return self._buffer[self._offset + KEY_BYTES * first : self._offset + KEY_BYTES * last]

    def marks(self, first: int, last: int) -> bytes:
        """The marks of a stretch."""
        at = self._offset + KEY_BYTES * self._count
        return self._buffer[at + first : at + last]

    def find(self, key: bytes, first: int = 0) -> tuple[int, bool]:
        """Where a key is, or would be, and whether it is there."""
        place = bisect.bisect_left(self, key, first)
        return place, place < self._count and self[place] == key

    def checksum(self) -> int:
        """CRC-32 of keys and marks."""
        with (
            memoryview(self._buffer) as whole,
            whole[self._offset : self._offset + (KEY_BYTES + 1) * self._count] as table,
        ):
            return zlib.crc32(table)


class MarkIndex:
    """The marks of all keys."""

    def __init__(self, table: MarkTable) -> None:
        self._table = table
        self._updates: dict[bytes, int] = {}

    def __getitem__(self, key: bytes) -> int:
        mark = self._updates.get(key)
        if mark is not None:
            return mark
        place, found = self._table.find(key)
        return self._table.marks(place, place + 1)[0] if found else 0

    def update(self, changes: dict[bytes, int]) -> None:
        """Take over the marks of some keys."""
        self._updates.update(changes)

    def to_bytes(self) -> tuple[bytes, int]:
        """All keys that have a mark, as the bytes of a table, and how many."""
        keys = []
        marks = []
        for first, last, key in self._unchanged_ranges():
            keys.append(self._table.keys(first, last))
            marks.append(self._table.marks(first, last))
            if self._updates.get(key):
                keys.append(key)
                marks.append(bytes([self._updates[key]]))
        table = b"".join(keys + marks)
        return table, len(table) // (KEY_BYTES + 1)

    def _unchanged_ranges(self) -> Iterator[tuple[int, int, bytes]]:
        """Stretches of the table that have not changed, each with the changed key that comes after it."""
        first = 0
        for key in sorted(self._updates):
            last, found = self._table.find(key, first)
            yield first, last, key
            first = last + found
        yield first, len(self._table), b""
