"""One generation of a journal: a file with a table of marks and groups of records."""

from __future__ import annotations

import bisect
import contextlib
import itertools
import os
import stat
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence

from weigh.atomic_files import fsync_folder
from weigh.errors import LostPlace
from weigh.journal.storage import (
    CHECKSUM,
    HEADER_BYTES,
    KEY_BYTES,
    CorruptGroup,
    JournalHeader,
    JournalRecord,
    Position,
    damaged_journal,
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
    """An open journal file; the caller closes it."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self.header = unpack_header(read_at(descriptor, 0, HEADER_BYTES), path)
        status = os.fstat(descriptor)
        if status.st_size < self.header.groups_offset:
            raise damaged_journal(f"{path} is truncated in its table of keys.")
        self.identity = status.st_dev, status.st_ino, self.header.generation

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def read_marks(self) -> MarkIndex:
        """Return the marks of all keys as of `header.snapshot_position`."""
        if not self.header.n_keys:
            return MarkIndex(MarkTable())
        # Not mapped: the system would end the process if the file were truncated meanwhile.
        with translate_os_errors(self.path, "read"):
            data = read_at(self._descriptor, HEADER_BYTES, self.header.groups_offset - HEADER_BYTES)
        table = MarkTable(data, self.header.n_keys)
        if table.checksum() != self.header.checksum:
            raise damaged_journal(f"{self.path} is damaged in its table of keys.")
        return MarkIndex(table)

    def contains(self, position: Position) -> bool:
        """Whether a position is a group boundary of this file."""
        if position.offset == self.header.start.offset:
            return position.checksum == self.header.start.checksum
        if position.offset < self.header.start.offset:
            return False
        stored = read_at(self._descriptor, self._file_offset(position) - CHECKSUM.size, CHECKSUM.size)
        return stored == CHECKSUM.pack(position.checksum)

    def groups(self, since: Position, attempts: int = 1) -> Iterator[tuple[list[JournalRecord], Position]]:
        """Yield the records of each complete group after a position, and the position after the group.

        A reader without the lock may see a writer replace a torn group, so it retries up to `attempts` times
        before it reports damage.
        """
        while True:
            with translate_os_errors(self.path, "read"):
                group = self._read_group(since, attempts)
            if group is None:
                return
            body, since = group
            yield self._unpack_records(body), since

    def _unpack_records(self, body: bytes) -> list[JournalRecord]:
        try:
            return list(unpack_records(body))
        except ValueError as error:
            raise damaged_journal(f"{self.path} is damaged: {error}") from error

    def append(self, parts: Sequence[bytes], end: Position) -> Position:
        """Append a group and flush it, all or nothing."""
        group, checksum = pack_group(parts, end.checksum)
        try:
            with translate_os_errors(self.path, "written"):
                write_at(self._descriptor, group, self._file_offset(end))
                flush_to_disk(self._descriptor)
        except BaseException:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._file_offset(end))
            raise
        return Position(end.offset + len(group), checksum)

    def flush(self) -> None:
        """Flush the file, including what other processes wrote."""
        with translate_os_errors(self.path, "written"):
            flush_to_disk(self._descriptor)

    def require_acknowledged(self, end: Position, acknowledged: int) -> None:
        """Raise DamagedJournal if the complete groups end before records that were acknowledged."""
        if end.offset < acknowledged:
            raise damaged_journal(
                f"{self.path} is damaged at byte {self._file_offset(end):,}: the last records, which were on "
                "disk, are overwritten or missing. Nothing was changed."
            )

    def truncate(self, end: Position) -> int:
        """Remove an incomplete group that a killed writer left after `end`; returns its size in bytes."""
        n_bytes = os.fstat(self._descriptor).st_size - self._file_offset(end)
        if n_bytes:
            with translate_os_errors(self.path, "written"):
                os.ftruncate(self._descriptor, self._file_offset(end))
        return n_bytes

    def write_successor(self, marks: MarkIndex, end: Position, keep_records: bool) -> None:
        """Replace this generation by one with these marks, and with its records if `keep_records`."""
        table, n_keys = marks.to_bytes()
        start = self.header.start if keep_records else end
        header = JournalHeader(self.header.generation + 1, start, end, n_keys, zlib.crc32(table))
        groups = self._read_range(self._file_offset(start), self._file_offset(end))
        mode = stat.S_IMODE(os.fstat(self._descriptor).st_mode)
        write_generation(self.path, header, table, groups, mode)

    def write_copy(self, path: str, end: Position) -> None:
        """Write a journal with the marks and the records of this one up to a position."""
        table = read_at(self._descriptor, HEADER_BYTES, self.header.groups_offset - HEADER_BYTES)
        groups = self._read_range(self.header.groups_offset, self._file_offset(end))
        write_generation(path, self.header, table, groups)

    def _read_range(self, start: int, stop: int) -> Iterator[bytes]:
        for offset in range(start, stop, _COPY_BYTES):
            yield read_at(self._descriptor, offset, min(_COPY_BYTES, stop - offset))

    def _file_offset(self, position: Position) -> int:
        return self.header.groups_offset + position.offset - self.header.start.offset

    def _read_group(self, since: Position, attempts: int) -> tuple[bytes, Position] | None:
        if not self.contains(since):
            raise LostPlace(
                f"{self.path}: the records after byte {since.offset:,} of its history are no longer here: "
                "it was compacted into a snapshot, or replaced. Load the snapshot again."
            )
        offset = self._file_offset(since)
        try:
            group = read_group(self._descriptor, offset, since.checksum)
        except CorruptGroup:
            if attempts > 1:
                time.sleep(_RETRY_PAUSE)
                return self._read_group(since, attempts - 1)
            raise damaged_journal(
                f"{self.path} is damaged at byte {offset:,}, with more data after it. Nothing was changed."
            ) from None
        if group is None:
            return None
        body, checksum, end = group
        return body, Position(since.offset + end - offset, checksum)


def open_generation(path: str, flags: int) -> Generation | None:
    """Open the current generation of a journal; returns None if there is no file yet."""
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
    path: str, header: JournalHeader, table: bytes = b"", groups: Iterable[bytes] = (), mode: int = 0o600
) -> None:
    """Atomically replace a journal's file, flushing the new one before it is renamed.

    The caller holds the lock, so one draft name is enough, and a killed writer's draft is overwritten.
    """
    draft = f"{path}.new"
    with translate_os_errors(path, "written"):
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        try:
            os.fchmod(descriptor, mode)
            offset = 0
            for data in itertools.chain((header.to_bytes(), table), groups):
                write_at(descriptor, data, offset)
                offset += len(data)
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
    """A read-only table: n sorted keys of 16 bytes, then their n marks of one byte."""

    def __init__(self, data: bytes = b"", count: int = 0) -> None:
        self._data = data
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> bytes:
        return self.keys(index, index + 1)

    def keys(self, start: int, stop: int) -> bytes:
        """Return a range of keys, concatenated."""
        return self._data[KEY_BYTES * start : KEY_BYTES * stop]

    def marks(self, start: int, stop: int) -> bytes:
        """Return a range of marks."""
        offset = KEY_BYTES * self._count
        return self._data[offset + start : offset + stop]

    def find(self, key: bytes, start: int = 0) -> tuple[int, bool]:
        """Return the index of a key, or its insertion point, and whether the key is present."""
        index = bisect.bisect_left(self, key, start)
        return index, index < self._count and self[index] == key

    def checksum(self) -> int:
        """Return the CRC-32 of keys and marks."""
        return zlib.crc32(self._data)


class MarkIndex:
    """The marks of all keys: a stored table, and updates in memory that override it."""

    def __init__(self, table: MarkTable) -> None:
        self._table = table
        self._updates: dict[bytes, int] = {}

    def __getitem__(self, key: bytes) -> int:
        mark = self._updates.get(key)
        if mark is not None:
            return mark
        index, is_present = self._table.find(key)
        return self._table.marks(index, index + 1)[0] if is_present else 0

    def update(self, changes: dict[bytes, int]) -> None:
        """Set the marks of keys."""
        self._updates.update(changes)

    def to_bytes(self) -> tuple[bytes, int]:
        """Return the keys with a non-zero mark as the bytes of a table, and their number."""
        keys = []
        marks = []
        for start, stop, key in self._unchanged_ranges():
            keys.append(self._table.keys(start, stop))
            marks.append(self._table.marks(start, stop))
            if self._updates.get(key):
                keys.append(key)
                marks.append(bytes([self._updates[key]]))
        table = b"".join(keys + marks)
        return table, len(table) // (KEY_BYTES + 1)

    def _unchanged_ranges(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield the ranges of the table between updated keys, each with the updated key after it."""
        start = 0
        for key in sorted(self._updates):
            stop, is_present = self._table.find(key, start)
            yield start, stop, key
            start = stop + is_present
        yield start, len(self._table), b""
