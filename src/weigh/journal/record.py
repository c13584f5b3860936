"""What a journal is made of: records, and positions between them."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from typing import NamedTuple

from weigh.errors import parameter, told

KEY = 16
LARGEST = 1 << 30

_FIXED = struct.Struct(f"<{KEY}sBI")


class Record(NamedTuple):
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
    link: int


START = Position(0, 0)


def checked(record: Record) -> Record:
    """A record that can be stored, or a refusal."""
    key, mark, payload = record
    if not isinstance(key, bytes) or len(key) != KEY:
        raise parameter("Journal", "a key", f"{KEY} bytes", key)
    if not isinstance(mark, int) or not 0 <= mark <= 255:
        raise parameter("Journal", "a mark", "a whole number from 0 to 255", mark)
    if not isinstance(payload, bytes) or len(payload) > LARGEST:
        found = f"{len(payload):,} bytes" if isinstance(payload, bytes) else told(type(payload).__name__)
        raise parameter("Journal", "a payload", f"at most {LARGEST:,} bytes", found)
    return Record(key, mark, payload)


def packed(record: Record) -> tuple[bytes, bytes]:
    """A record as it is stored."""
    return _FIXED.pack(record.key, record.mark, len(record.payload)), record.payload


def unpacked(body: bytes | mmap.mmap) -> Iterator[Record]:
    """The records of a group; ValueError if it is not made of whole ones."""
    at = 0
    while at < len(body):
        if at + _FIXED.size > len(body):
            raise ValueError("a record is cut short.")
        key, mark, length = _FIXED.unpack_from(body, at)
        at += _FIXED.size + length
        if at > len(body):
            raise ValueError("a record is cut short.")
        yield Record(key, mark, body[at - length : at])
