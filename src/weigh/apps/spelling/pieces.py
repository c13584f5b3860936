"""Pieces of a text: no longer than some size, and cut where a context is least likely to be cut."""

from __future__ import annotations

from collections.abc import Iterator

_ENDS = ((b"\n\n", b"\n\r\n"), (b"\n", b"\r"), (b" ", b"\t"))


def cut(text: bytes, begin: int, size: int) -> int:
    """Where a piece that begins at `begin` ends.

    Behind the last blank line within `size` bytes, else behind a line, else behind a blank, else behind a
    character: no text is so long, or so odd, that its pieces are too.
    """
    stop = begin + size
    if stop >= len(text):
        return len(text)
    for ends in _ENDS:
        found = max((_behind(text, end, begin, stop) for end in ends), default=0)
        if found > begin:
            return found
    while stop > begin + 1 and text[stop] & 0xC0 == 0x80:
        stop -= 1
    return stop


def _behind(text: bytes, end: bytes, begin: int, stop: int) -> int:
    at = text.rfind(end, begin, stop)
    return -1 if at < 0 else at + len(end)


def cuts(text: bytes, size: int) -> Iterator[tuple[int, int]]:
    """The beginnings and ends of all pieces of a text."""
    begin = 0
    while begin < len(text):
        end = cut(text, begin, size)
        yield begin, end
        begin = end
