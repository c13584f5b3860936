"""Groups of records in a file, each whole or not there.

A group is: 4 bytes to know it by, the length of its body, a CRC-32 of these, the body, a CRC-32 of the
body. Every checksum goes on from the one before it, beginning with the last one of the group before, so
that the last four bytes of a group vouch for all that leads up to it.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Sequence

from weigh.journal.disk import pieces

SIGN = b"\xabgr\x1a"
LINK = struct.Struct("<I")

_START = struct.Struct("<4sQ")
_HEAD = _START.size + LINK.size
_PIECE = 1 << 20


class Damaged(Exception):
    """Bytes that no interrupted write explains."""


def framed(parts: Sequence[bytes], link: int) -> tuple[bytes, int]:
    """A group after another that ends in `link`, and what it ends in itself."""
    start = _START.pack(SIGN, sum(map(len, parts)))
    link = zlib.crc32(start, link)
    head = start + LINK.pack(link)
    for part in parts:
        link = zlib.crc32(part, link)
    return b"".join([head, *parts, LINK.pack(link)]), link


def read(descriptor: int, at: int, link: int) -> tuple[bytes, int, int] | None:
    """The body of the group at a place, what it ends in, and where; None if no whole group is there.

    Raises Damaged where a whole one must have been, because something follows it.
    """
    size = os.fstat(descriptor).st_size
    head = pieces(descriptor, at, _HEAD)
    if len(head) < _HEAD:
        return None
    sign, length = _START.unpack_from(head)
    link = zlib.crc32(head[: _START.size], link)
    if sign != SIGN or head[_START.size :] != LINK.pack(link):
        if _group_follows(descriptor, at + 1, size):
            raise Damaged
        return None
    end = at + _HEAD + length + LINK.size
    if end > size:
        return None
    body = pieces(descriptor, at + _HEAD, length + LINK.size)
    link = zlib.crc32(memoryview(body)[:length], link)
    if body[length:] != LINK.pack(link):
        if end < size:
            raise Damaged
        return None
    return body[:length], link, end


def _group_follows(descriptor: int, at: int, size: int) -> bool:
    """Whether the head of a group is anywhere after a place that should have had one."""
    while at < size:
        piece = pieces(descriptor, at - LINK.size, _PIECE + _HEAD + LINK.size)
        found = piece.find(SIGN, LINK.size)
        while found >= 0:
            (link,) = LINK.unpack_from(piece, found - LINK.size)
            start = piece[found : found + _START.size]
            if piece[found + _START.size : found + _HEAD] == LINK.pack(zlib.crc32(start, link)):
                return True
            found = piece.find(SIGN, found + 1)
        at += _PIECE
    return False
