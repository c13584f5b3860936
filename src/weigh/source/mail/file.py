"""The messages of one file: a single one or an mbox, plain or packed."""

from __future__ import annotations

import importlib
import os
import stat
from collections.abc import Iterator
from functools import partial

from weigh.source.damage import DAMAGE
from weigh.source.mail.mbox import BLOCK, NEXT, START, Read, endless, message_of, messages_of_mbox
from weigh.source.mail.stored import LONGEST, Stored
from weigh.source.paths import unreadable

# How packed files begin, and the modules that unpack them.
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
_MAGIC = tuple(_PACKED)
# A pipe that took the place of a file in the meantime must not keep us waiting.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Gone(OSError):
    """Under a name that a folder has listed there is no file any more."""


def messages_of_file(
    path: str, place: str, *, at: float | None = None, single: bool = False, most: int = LONGEST
) -> Iterator[Stored]:
    """What a file holds: an mbox if it begins with "From ", else one message; nothing if it is empty.

    Of a message longer than `most` the rest is passed over; in a packed file it is refused, because only
    unpacking all of it would tell how long it is. `single` files are one message whatever they begin with,
    and came `at` a time that their mailbox knows.
    """
    descriptor, size = _opened(path, place)
    try:
        read = _guarded(partial(os.read, descriptor), place)
        # One byte more than there should be: a short answer tells the end.
        start = read(min(size, BLOCK) + 1)
        packed = start.startswith(_MAGIC)
        whole = len(start) <= min(size, most, BLOCK) and not packed
        if packed:
            read = _guarded(_unpacking(descriptor, start), place)
            start = read(BLOCK)
        if start.startswith(START) and not single:
            # Most messages have no such words again, and need not be searched for others and for quotations.
            again = start.find(START, len(START)) >= 0
            if whole and not (again and NEXT in start):
                yield message_of([start], len(start), place, quoted=again)
            else:
                yield from messages_of_mbox(_after(start, read), place, most, passing=not packed)
        elif start and whole:
            yield Stored(start, place, at)
        elif start:
            content, left = _joined(start, read, most)
            if left and packed:
                raise endless(place, most)
            yield Stored(content, place, at, max(1, size - most) if left else 0)
    finally:
        os.close(descriptor)


def _opened(path: str, place: str) -> tuple[int, int]:
    """A file's descriptor and its size."""
    try:
        descriptor = os.open(path, _FLAGS)
    except FileNotFoundError as error:
        raise Gone(f"{place} is gone") from error
    except OSError as error:
        raise unreadable(place, error) from error
    told = os.fstat(descriptor)
    if stat.S_ISREG(told.st_mode):
        return descriptor, told.st_size
    os.close(descriptor)
    raise Gone(f"{place} is not a regular file")


def _guarded(read: Read, place: str) -> Read:
    """Reading whose failures are told in our words."""

    def guarded(size: int) -> bytes:
        try:
            return read(size)
        except DAMAGE as error:
            raise unreadable(place, error) from error

    return guarded


def _unpacking(descriptor: int, start: bytes) -> Read:
    """What a packed file holds, read from its start."""
    module = next(module for magic, module in _PACKED.items() if start.startswith(magic))
    os.lseek(descriptor, 0, os.SEEK_SET)
    raw = os.fdopen(descriptor, "rb", closefd=False)
    read: Read = importlib.import_module(module).open(raw).read
    return read


def _after(start: bytes, read: Read) -> Read:
    """Reading that begins with what has been read already."""
    waiting = [start]
    return lambda size: waiting.pop() if waiting else read(size)


def _joined(start: bytes, read: Read, most: int) -> tuple[bytes, bool]:
    """The first bytes of a long message, and whether it has more."""
    parts, held = [start], len(start)
    while held <= most and parts[-1]:
        parts.append(read(min(BLOCK, most + 1 - held)))
        held += len(parts[-1])
    return b"".join(parts)[:most], held > most
