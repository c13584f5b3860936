"""Numbered files that only grow, and count for as much as a snapshot says of them.

A writer that is killed may leave more bytes than the snapshot knows of, or a next number; neither counts,
and the next writer overwrites them.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable
from typing import NamedTuple

from weigh.errors import ModelFileError
from weigh.journal.disk import flushed
from weigh.replacing import sync_folder


class Extent(NamedTuple):
    """The number of a file, and how many of its bytes count."""

    number: int = 0
    length: int = 0

    def file(self, path: str) -> str:
        """The name of the file, beside others of the same kind."""
        return f"{path}.{self.number}"

    def next(self) -> Extent:
        """An empty file in place of this one."""
        return Extent(self.number + 1)

    def grown(self, path: str, pieces: Iterable[bytes]) -> Extent:
        """Write bytes after those that count, and have them on the disk."""
        name = self.file(path)
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        with open(descriptor, "r+b") as file:
            self._require_whole(name, descriptor)
            file.truncate(self.length)
            file.seek(self.length)
            for piece in pieces:
                file.write(piece)
            file.flush()
            flushed(descriptor)
            length = file.tell()
        sync_folder(os.path.dirname(name))
        return Extent(self.number, length)

    def read(self, path: str) -> mmap.mmap | bytes:
        """The bytes that count."""
        if not self.length:
            return b""
        name = self.file(path)
        with open(name, "rb") as file:
            self._require_whole(name, file.fileno())
            return mmap.mmap(file.fileno(), self.length, access=mmap.ACCESS_READ)

    def _require_whole(self, name: str, descriptor: int) -> None:
        if os.fstat(descriptor).st_size < self.length:
            raise ModelFileError(f"{name} is cut short. Restore the whole folder from a copy.")
