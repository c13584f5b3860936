"""The file format of a journal: header, records and checksummed groups, and positioned reads and writes.

A file is a header, a table of keys and marks (see `generation`) and groups of records. A group is a 4-byte
magic number, the length of its body, a CRC-32 of these, the body and a CRC-32 of the body. Each CRC-32
continues the previous one, across groups too, so that the last four bytes of a group verify the whole
history before it.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from weigh.atomic_files import error_reason
from weigh.errors import DamagedJournal, JournalError, one_line_repr, parameter_error

FILE_MAGIC = b"weigh\x00jr"
FORMAT_VERSION = 1
KEY_BYTES = 16
MAX_PAYLOAD_BYTES = 1 << 30
GROUP_MAGIC = b"\xabgr\x1a"
CHECKSUM = struct.Struct("<I")

_HEADER_FIELDS = struct.Struct("<8sIQQIQIQI4x")
HEADER_BYTES = _HEADER_FIELDS.size + CHECKSUM.size
_RECORD_HEADER = struct.Struct(f"<{KEY_BYTES}sBI")
_GROUP_PREFIX = struct.Struct("<4sQ")
_GROUP_HEADER_BYTES = _GROUP_PREFIX.size + CHECKSUM.size
_SCAN_BYTES = 1 << 20
# Linux and macOS transfer slightly less than 2 GiB per call.
_MAX_IO_BYTES = 1 << 30


class JournalRecord(NamedTuple):
    """A 16-byte key, its new mark (0 to 255; 0 removes the mark) and an arbitrary payload."""

    key: bytes
    mark: int
    payload: bytes = b""

    def __repr__(self) -> str:
        # Payloads may be private, and reprs end up in logs.
        return (
            f"JournalRecord(key={self.key.hex()}, mark={self.mark}, payload of {len(self.payload):,} bytes)"
        )


class Position(NamedTuple):
    """A boundary between two groups: bytes since the journal began, and the chained checksum up to there.

    A snapshot can store the two integers in any format. Compaction does not change positions. The checksum
    distinguishes a position from the same offset in another history.
    """

    offset: int
    checksum: int


JOURNAL_START = Position(0, 0)


class JournalHeader(NamedTuple):
    """The header of a generation.

    `start` is the position of its first record, `snapshot_position` the one up to which its table of `n_keys`
    keys covers the records, and `checksum` the CRC-32 of that table.
    """

    generation: int = 0
    start: Position = JOURNAL_START
    snapshot_position: Position = JOURNAL_START
    n_keys: int = 0
    checksum: int = 0

    @property
    def groups_offset(self) -> int:
        """The file offset of the first group."""
        return HEADER_BYTES + (KEY_BYTES + 1) * self.n_keys

    def to_bytes(self) -> bytes:
        """Return the header as stored."""
        fields = (self.generation, *self.start, *self.snapshot_position, self.n_keys, self.checksum)
        data = _HEADER_FIELDS.pack(FILE_MAGIC, FORMAT_VERSION, *fields)
        return data + CHECKSUM.pack(zlib.crc32(data))


def unpack_header(data: bytes, path: str) -> JournalHeader:
    """Parse and verify the header of a file."""
    if data[: len(FILE_MAGIC)] != FILE_MAGIC:
        raise DamagedJournal(
            f"{path} is not a journal of weigh.", hint="Move it and its lock file away, or use another path."
        )
    if len(data) < HEADER_BYTES:
        raise damaged_journal(f"{path} is truncated in its header.")
    _, version, generation, start, start_checksum, snapshot, snapshot_checksum, n_keys, checksum = (
        _HEADER_FIELDS.unpack_from(data)
    )
    if version > FORMAT_VERSION:
        raise JournalError(
            f"{path} has format {version}; this version of weigh reads formats up to {FORMAT_VERSION}. "
            "Use a later version."
        )
    fields = data[: _HEADER_FIELDS.size]
    if data[_HEADER_FIELDS.size : HEADER_BYTES] != CHECKSUM.pack(zlib.crc32(fields)):
        raise damaged_journal(f"{path} is damaged in its header.")
    return JournalHeader(
        generation, Position(start, start_checksum), Position(snapshot, snapshot_checksum), n_keys, checksum
    )


def damaged_journal(message: str) -> DamagedJournal:
    """Return an error about damage, with advice that fits any journal."""
    return DamagedJournal(message, hint="Restore it and its lock file from a copy.")


def check_record(record: JournalRecord) -> JournalRecord:
    """Return the record, or raise ParameterError if it cannot be stored."""
    key, mark, payload = record
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        raise parameter_error("Journal", "a key", f"{KEY_BYTES} bytes", key)
    if not isinstance(mark, int) or not 0 <= mark <= 255:
        raise parameter_error("Journal", "a mark", "a whole number from 0 to 255", mark)
    if not isinstance(payload, bytes) or len(payload) > MAX_PAYLOAD_BYTES:
        actual = (
            f"{len(payload):,} bytes" if isinstance(payload, bytes) else one_line_repr(type(payload).__name__)
        )
        raise parameter_error("Journal", "a payload", f"at most {MAX_PAYLOAD_BYTES:,} bytes", actual)
    return JournalRecord(key, mark, payload)


def pack_record(record: JournalRecord) -> tuple[bytes, bytes]:
    """Return the stored header and payload of a record."""
    return _RECORD_HEADER.pack(record.key, record.mark, len(record.payload)), record.payload


def unpack_records(body: bytes) -> Iterator[JournalRecord]:
    """Yield the records of a group's body; raises ValueError if the last one is incomplete."""
    offset = 0
    while offset < len(body):
        if offset + _RECORD_HEADER.size > len(body):
            raise ValueError("a record is cut short.")
        key, mark, length = _RECORD_HEADER.unpack_from(body, offset)
        offset += _RECORD_HEADER.size + length
        if offset > len(body):
            raise ValueError("a record is cut short.")
        yield JournalRecord(key, mark, body[offset - length : offset])


class CorruptGroup(Exception):
    """A group is damaged in a way that an interrupted write cannot explain."""


def pack_group(parts: Sequence[bytes], checksum: int) -> tuple[bytes, int]:
    """Return a group that continues the given checksum, and its own final checksum."""
    prefix = _GROUP_PREFIX.pack(GROUP_MAGIC, sum(map(len, parts)))
    checksum = zlib.crc32(prefix, checksum)
    header = prefix + CHECKSUM.pack(checksum)
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    return b"".join([header, *parts, CHECKSUM.pack(checksum)]), checksum


def read_group(descriptor: int, offset: int, checksum: int) -> tuple[bytes, int, int] | None:
    """Return the body, final checksum and end offset of the group at an offset, None if it is incomplete.

    Raises CorruptGroup if further data follow the damage, because an interrupted write is always the last.
    """
    size = os.fstat(descriptor).st_size
    header = read_at(descriptor, offset, _GROUP_HEADER_BYTES)
    if len(header) < _GROUP_HEADER_BYTES:
        return None
    magic, length = _GROUP_PREFIX.unpack_from(header)
    checksum = zlib.crc32(header[: _GROUP_PREFIX.size], checksum)
    if magic != GROUP_MAGIC or header[_GROUP_PREFIX.size :] != CHECKSUM.pack(checksum):
        if _group_follows(descriptor, offset + 1, size):
            raise CorruptGroup
        return None
    end = offset + _GROUP_HEADER_BYTES + length + CHECKSUM.size
    if end > size:
        return None
    body = read_at(descriptor, offset + _GROUP_HEADER_BYTES, length + CHECKSUM.size)
    checksum = zlib.crc32(memoryview(body)[:length], checksum)
    if body[length:] != CHECKSUM.pack(checksum):
        if end < size:
            raise CorruptGroup
        return None
    return body[:length], checksum, end


def _group_follows(descriptor: int, offset: int, size: int) -> bool:
    """Whether a valid group header occurs anywhere after an offset."""
    while offset < size:
        data = read_at(descriptor, offset - CHECKSUM.size, _SCAN_BYTES + _GROUP_HEADER_BYTES + CHECKSUM.size)
        start = data.find(GROUP_MAGIC, CHECKSUM.size)
        while start >= 0:
            (checksum,) = CHECKSUM.unpack_from(data, start - CHECKSUM.size)
            prefix = data[start : start + _GROUP_PREFIX.size]
            stored = data[start + _GROUP_PREFIX.size : start + _GROUP_HEADER_BYTES]
            if stored == CHECKSUM.pack(zlib.crc32(prefix, checksum)):
                return True
            start = data.find(GROUP_MAGIC, start + 1)
        offset += _SCAN_BYTES
    return False


@contextlib.contextmanager
def translate_os_errors(path: str, action: str) -> Iterator[None]:
    """Raise OSError as JournalError; `action` is "read" or "written"."""
    try:
        yield
    except OSError as error:
        raise JournalError(f"{path}: the journal cannot be {action}: {error_reason(error)}.") from error


def read_at(descriptor: int, offset: int, length: int) -> bytes:
    """Read `length` bytes at an offset, fewer at the end of the file."""
    parts = [os.pread(descriptor, min(length, _MAX_IO_BYTES), offset)]
    done = len(parts[0])
    while done < length and parts[-1]:
        parts.append(os.pread(descriptor, min(length - done, _MAX_IO_BYTES), offset + done))
        done += len(parts[-1])
    return b"".join(parts)


def write_at(descriptor: int, data: bytes, offset: int) -> None:
    """Write all bytes at an offset."""
    remaining = memoryview(data)
    while remaining:
        done = os.pwrite(descriptor, remaining[:_MAX_IO_BYTES], offset)
        remaining = remaining[done:]
        offset += done


def flush_to_disk(descriptor: int) -> None:
    """Flush a file's content to the storage device."""
    import fcntl

    # On macOS, fsync leaves data in the drive's cache; F_FULLFSYNC flushes that too.
    full_fsync = getattr(fcntl, "F_FULLFSYNC", None)
    if full_fsync is not None:
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, full_fsync)
            return
    os.fsync(descriptor)
