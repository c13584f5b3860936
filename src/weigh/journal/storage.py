"""Groups of records in a file, each whole or not there.

A group is: 4 bytes to know it by, the length of its body, a CRC-32 of these, the body, a CRC-32 of the
body. Every checksum goes on from the one before it, beginning with the last one of the group before, so
that the last four bytes of a group vouch for all that leads up to it.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from weigh.atomic_files import error_reason
from weigh.errors import JournalError, one_line_repr, parameter_error

GROUP_MAGIC = b"\xabgr\x1a"
CHECKSUM = struct.Struct("<I")

_GROUP_PREFIX = struct.Struct("<4sQ")
_GROUP_HEADER_BYTES = _GROUP_PREFIX.size + CHECKSUM.size
_SCAN_BYTES = 1 << 20


class CorruptGroup(Exception):
    """Bytes that no interrupted write explains."""


def pack_group(parts: Sequence[bytes], link: int) -> tuple[bytes, int]:
    """A group after another that ends in `link`, and what it ends in itself."""
    start = _GROUP_PREFIX.pack(GROUP_MAGIC, sum(map(len, parts)))
    link = zlib.crc32(start, link)
    head = start + CHECKSUM.pack(link)
    for part in parts:
        link = zlib.crc32(part, link)
    return b"".join([head, *parts, CHECKSUM.pack(link)]), link


def read_group(descriptor: int, at: int, link: int) -> tuple[bytes, int, int] | None:
    """The body of the group at a place, what it ends in, and where; None if no whole group is there.

    Raises Damaged where a whole one must have been, because something follows it.
    """
    size = os.fstat(descriptor).st_size
    head = read_at(descriptor, at, _GROUP_HEADER_BYTES)
    if len(head) < _GROUP_HEADER_BYTES:
        return None
    sign, length = _GROUP_PREFIX.unpack_from(head)
    link = zlib.crc32(head[: _GROUP_PREFIX.size], link)
    if sign != GROUP_MAGIC or head[_GROUP_PREFIX.size :] != CHECKSUM.pack(link):
        if _group_follows(descriptor, at + 1, size):
            raise CorruptGroup
        return None
    end = at + _GROUP_HEADER_BYTES + length + CHECKSUM.size
    if end > size:
        return None
    body = read_at(descriptor, at + _GROUP_HEADER_BYTES, length + CHECKSUM.size)
    link = zlib.crc32(memoryview(body)[:length], link)
    if body[length:] != CHECKSUM.pack(link):
        if end < size:
            raise CorruptGroup
        return None
    return body[:length], link, end


def _group_follows(descriptor: int, at: int, size: int) -> bool:
    """Whether the head of a group is anywhere after a place that should have had one."""
    while at < size:
        piece = read_at(descriptor, at - CHECKSUM.size, _SCAN_BYTES + _GROUP_HEADER_BYTES + CHECKSUM.size)
        found = piece.find(GROUP_MAGIC, CHECKSUM.size)
        while found >= 0:
            (link,) = CHECKSUM.unpack_from(piece, found - CHECKSUM.size)
            start = piece[found : found + _GROUP_PREFIX.size]
            if piece[found + _GROUP_PREFIX.size : found + _GROUP_HEADER_BYTES] == CHECKSUM.pack(
                zlib.crc32(start, link)
            ):
                return True
            found = piece.find(GROUP_MAGIC, found + 1)
        at += _SCAN_BYTES
    return False


KEY_BYTES = 16
MAX_PAYLOAD_BYTES = 1 << 30

_RECORD_HEADER = struct.Struct(f"<{KEY_BYTES}sBI")


class JournalRecord(NamedTuple):
    """A key of 16 bytes, the mark that it has from now on (0 to 255, 0 is none), and bytes of any kind."""

    key: bytes
    mark: int
    payload: bytes = b""

    def __repr__(self) -> str:
        # Payloads may be private, and what is printed ends in logs.
        return f"Record(key={self.key.hex()}, mark={self.mark}, payload of {len(self.payload):,} bytes)"


class Position(NamedTuple):
    """A place between two groups of records: bytes since the journal began, and the checksum up to there.

    A pair of whole numbers, which a snapshot can store in any format. It stays the same when a journal is
    folded. The checksum tells it from the same place in another history.
    """

    offset: int
    checksum: int


JOURNAL_START = Position(0, 0)


def check_record(record: JournalRecord) -> JournalRecord:
    """A record that can be stored, or a refusal."""
    key, mark, payload = record
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        raise parameter_error("Journal", "a key", f"{KEY_BYTES} bytes", key)
    if not isinstance(mark, int) or not 0 <= mark <= 255:
        raise parameter_error("Journal", "a mark", "a whole number from 0 to 255", mark)
    if not isinstance(payload, bytes) or len(payload) > MAX_PAYLOAD_BYTES:
        found = (
            f"{len(payload):,} bytes" if isinstance(payload, bytes) else one_line_repr(type(payload).__name__)
        )
        raise parameter_error("Journal", "a payload", f"at most {MAX_PAYLOAD_BYTES:,} bytes", found)
    return JournalRecord(key, mark, payload)


def pack_record(record: JournalRecord) -> tuple[bytes, bytes]:
    """A record as it is stored."""
    return _RECORD_HEADER.pack(record.key, record.mark, len(record.payload)), record.payload


def unpack_records(body: bytes | mmap.mmap) -> Iterator[JournalRecord]:
    """The records of a group; ValueError if it is not made of whole ones."""
    at = 0
    while at < len(body):
        if at + _RECORD_HEADER.size > len(body):
            raise ValueError("a record is cut short.")
        key, mark, length = _RECORD_HEADER.unpack_from(body, at)
        at += _RECORD_HEADER.size + length
        if at > len(body):
            raise ValueError("a record is cut short.")
        yield JournalRecord(key, mark, body[at - length : at])


FILE_MAGIC = b"weigh\x00jr"
FORMAT_VERSION = 1

_HEADER_FIELDS = struct.Struct("<8sIQQIQIQI4x")
_HEADER_CHECKSUM = struct.Struct("<I")
HEADER_BYTES = _HEADER_FIELDS.size + _HEADER_CHECKSUM.size


class JournalHeader(NamedTuple):
    """A generation's number, its first record, what its table of marks includes, and how large that is."""

    generation: int = 0
    start: Position = JOURNAL_START
    snapshot_position: Position = JOURNAL_START
    n_keys: int = 0
    checksum: int = 0

    @property
    def groups_offset(self) -> int:
        """Where in the file the first group is."""
        return HEADER_BYTES + (KEY_BYTES + 1) * self.n_keys

    def to_bytes(self) -> bytes:
        """The header as it is stored."""
        fields = (self.generation, *self.start, *self.snapshot_position, self.n_keys, self.checksum)
        data = _HEADER_FIELDS.pack(FILE_MAGIC, FORMAT_VERSION, *fields)
        return data + _HEADER_CHECKSUM.pack(zlib.crc32(data))


def unpack_header(data: bytes, path: str) -> JournalHeader:
    """The header of a file, or a refusal."""
    if data[: len(FILE_MAGIC)] != FILE_MAGIC:
        raise JournalError(f"{path} is not a journal of weigh. Move it away, or give another name.")
    if len(data) < HEADER_BYTES:
        raise JournalError(f"{path} is cut short within its header. Restore it from a copy.")
    _, version, generation, start, start_link, folded, folded_link, keys, checksum = (
        _HEADER_FIELDS.unpack_from(data)
    )
    if version > FORMAT_VERSION:
        raise JournalError(
            f"{path} has format {version}; this weigh reads formats up to {FORMAT_VERSION}. Use a later weigh."
        )
    if data[_HEADER_FIELDS.size : HEADER_BYTES] != _HEADER_CHECKSUM.pack(
        zlib.crc32(data[: _HEADER_FIELDS.size])
    ):
        raise JournalError(f"{path} is damaged in its header. Restore it from a copy.")
    return JournalHeader(
        generation, Position(start, start_link), Position(folded, folded_link), keys, checksum
    )


# Systems read and write a little less than 2 GiB at once.
_MAX_IO_BYTES = 1 << 30


@contextlib.contextmanager
def translate_os_errors(path: str, doing: str) -> Iterator[None]:
    """Turn a refusal of the system into a sentence about the journal."""
    try:
        yield
    except OSError as error:
        raise JournalError(f"{path}: the journal cannot be {doing}: {error_reason(error)}.") from error


def read_at(descriptor: int, at: int, length: int) -> bytes:
    """So many bytes from a place in a file, fewer if it ends before."""
    found = [os.pread(descriptor, min(length, _MAX_IO_BYTES), at)]
    done = len(found[0])
    while done < length and found[-1]:
        found.append(os.pread(descriptor, min(length - done, _MAX_IO_BYTES), at + done))
        done += len(found[-1])
    return b"".join(found)


def write_at(descriptor: int, data: bytes, at: int) -> None:
    """Write all bytes at a place in a file."""
    rest = memoryview(data)
    while rest:
        done = os.pwrite(descriptor, rest[:_MAX_IO_BYTES], at)
        rest = rest[done:]
        at += done


def flush_to_disk(descriptor: int) -> None:
    """Have a file's bytes on the disk."""
    import fcntl

    # macOS leaves bytes in the disk's own memory unless it is asked in this way.
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, full)
            return
    os.fsync(descriptor)
