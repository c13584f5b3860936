"""The first bytes of a journal's file: what it is, and where it begins."""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

from weigh.errors import JournalError
from weigh.journal.record import KEY, START, Position

MAGIC = b"weigh\x00jr"
VERSION = 1

_FIELDS = struct.Struct("<8sIQQIQIQI4x")
_CHECK = struct.Struct("<I")
SIZE = _FIELDS.size + _CHECK.size


class Header(NamedTuple):
    """A generation's number, its first record, what its table of marks includes, and how large that is."""

    generation: int = 0
    start: Position = START
    folded: Position = START
    keys: int = 0
    checksum: int = 0

    @property
    def first(self) -> int:
        """Where in the file the first group is."""
        return SIZE + (KEY + 1) * self.keys

    def packed(self) -> bytes:
        """The header as it is stored."""
        fields = (self.generation, *self.start, *self.folded, self.keys, self.checksum)
        data = _FIELDS.pack(MAGIC, VERSION, *fields)
        return data + _CHECK.pack(zlib.crc32(data))


def unpacked(data: bytes, path: str) -> Header:
    """The header of a file, or a refusal."""
    if data[: len(MAGIC)] != MAGIC:
        raise JournalError(f"{path} is not a journal of weigh. Move it away, or give another name.")
    if len(data) < SIZE:
        raise JournalError(f"{path} is cut short within its header. Restore it from a copy.")
    _, version, generation, start, start_link, folded, folded_link, keys, checksum = _FIELDS.unpack_from(data)
    if version > VERSION:
        raise JournalError(
            f"{path} has format {version}; this weigh reads formats up to {VERSION}. Use a later weigh."
        )
    if data[_FIELDS.size : SIZE] != _CHECK.pack(zlib.crc32(data[: _FIELDS.size])):
        raise JournalError(f"{path} is damaged in its header. Restore it from a copy.")
    return Header(generation, Position(start, start_link), Position(folded, folded_link), keys, checksum)
