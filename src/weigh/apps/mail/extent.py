"""Numbered files that only grow, and count for as much as a snapshot says of them.

A writer that is killed may leave more bytes than the snapshot knows of, or a next number; neither counts,
and the next writer overwrites them.
"""

from __future__ import annotations

import mmap
import os
import zlib
from collections.abc import Iterable
from typing import NamedTuple

from weigh.errors import ModelFileError
from weigh.journal.disk import flushed
from weigh.replacing import sync_folder


class Extent(NamedTuple):
    """The number of a file, how many of its bytes count, and their CRC-32."""

    number: int = 0
    length: int = 0
    checksum: int = 0

    def file(self, path: str) -> str:
        """The name of the file, beside others of the same kind."""
        return f"{path}.{self.number}"

    def next(self) -> Extent:
        """An empty file in place of this one."""
        return Extent(self.number + 1)

    def grown(self, path: str, pieces: Iterable[bytes]) -> Extent:
        """Write bytes after those that count, and have them on the disk."""
        name, checksum = self.file(path), self.checksum
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        with open(descriptor, "r+b") as file:
            self._require_whole(name, descriptor)
            file.truncate(self.length)
            file.seek(self.length)
            for piece in pieces:
                file.write(piece)
                checksum = zlib.crc32(piece, checksum)
            file.flush()
            flushed(descriptor)
            length = file.tell()
        sync_folder(os.path.dirname(name))
        return Extent(self.number, length, checksum)

    def read(self, path: str) -> mmap.mmap | bytes:
        """The bytes that count, or a refusal if they are not those that were written."""
        if not self.length:
            return b""
        name = self.file(path)
        with open(name, "rb") as file:
            self._require_whole(name, file.fileno())
            mapped = mmap.mmap(file.fileno(), self.length, access=mmap.ACCESS_READ)
        if zlib.crc32(mapped) != self.checksum:
            raise ModelFileError(f"{name} is damaged. Restore the whole folder from a copy.")
        return mapped

    def _require_whole(self, name: str, descriptor: int) -> None:
        if os.fstat(descriptor).st_size < self.length:
            raise ModelFileError(f"{name} is cut short. Restore the whole folder from a copy.")
