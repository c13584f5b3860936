"""The mark of every key: a sorted table in the file, and what has changed since."""

from __future__ import annotations

import bisect
import mmap
import zlib
from collections.abc import Iterator

from weigh.journal.record import KEY


class Table:
    """Sorted keys, then their marks, in mapped bytes."""

    def __init__(self, buffer: bytes | mmap.mmap = b"", at: int = 0, count: int = 0) -> None:
        self._buffer = buffer
        self._at = at
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> bytes:
        at = self._at + KEY * place
        return self._buffer[at : at + KEY]

    def keys(self, first: int, last: int) -> bytes:
        """The keys of a stretch, one after the other."""
        return self._buffer[self._at + KEY * first : self._at + KEY * last]

    def marks(self, first: int, last: int) -> bytes:
        """The marks of a stretch."""
        at = self._at + KEY * self._count
        return self._buffer[at + first : at + last]

    def place(self, key: bytes, first: int = 0) -> tuple[int, bool]:
        """Where a key is, or would be, and whether it is there."""
        place = bisect.bisect_left(self, key, first)
        return place, place < self._count and self[place] == key

    def checksum(self) -> int:
        """CRC-32 of keys and marks."""
        with memoryview(self._buffer) as whole, whole[self._at : self._at + (KEY + 1) * self._count] as table:
            return zlib.crc32(table)


class Marks:
    """The marks of all keys."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._changed: dict[bytes, int] = {}

    def __getitem__(self, key: bytes) -> int:
        mark = self._changed.get(key)
        if mark is not None:
            return mark
        place, found = self._table.place(key)
        return self._table.marks(place, place + 1)[0] if found else 0

    def update(self, changes: dict[bytes, int]) -> None:
        """Take over the marks of some keys."""
        self._changed.update(changes)

    def packed(self) -> tuple[bytes, int]:
        """All keys that have a mark, as the bytes of a table, and how many."""
        keys = []
        marks = []
        for first, last, key in self._stretches():
            keys.append(self._table.keys(first, last))
            marks.append(self._table.marks(first, last))
            if self._changed.get(key):
                keys.append(key)
                marks.append(bytes([self._changed[key]]))
        table = b"".join(keys + marks)
        return table, len(table) // (KEY + 1)

    def _stretches(self) -> Iterator[tuple[int, int, bytes]]:
        """Stretches of the table that have not changed, each with the changed key that comes after it."""
        first = 0
        for key in sorted(self._changed):
            last, found = self._table.place(key, first)
            yield first, last, key
            first = last + found
        yield first, len(self._table), b""
