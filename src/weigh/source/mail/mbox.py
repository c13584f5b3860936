"""Messages of an mbox, one after the other in bounded memory."""

from __future__ import annotations

import importlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from functools import partial

from weigh.errors import SourceError
from weigh.source.mail.raw_message import MAX_MESSAGE_BYTES, RawMessage, parse_envelope_date
from weigh.source.paths import READ_ERRORS, unreadable_error

ReadBytes = Callable[[int], bytes]

FROM_LINE_START = b"From "
NEXT_FROM_LINE = b"\n" + FROM_LINE_START
BLOCK_BYTES = 1 << 20
_MAX_FROM_LINE_BYTES = 1_000  # bytes; no line between messages is longer
_LINE_WITH_DATE = re.compile(
    rb"(?=.*\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|\d{4}-\d\d)\b)(?=.*\d:\d\d)(?=.*\b\d{4}\b)"
)
_QUOTED_FROM = re.compile(rb"\n>(>*From )")


def split_mbox(
    read: ReadBytes, place: str, most: int = MAX_MESSAGE_BYTES, *, passing: bool = True
) -> Iterator[RawMessage]:
    """The messages of an mbox whose bytes `read` gives in turn, so many at a time and none at the end.

    What a message has beyond `most` bytes is passed over, or else refused.
    """
    number = 0
    parts: list[bytes] = []
    size = 0
    for piece, begins in _split_pieces(read):
        if begins and number:
            yield message_from_parts(parts, size, f"{place}, message {number}", most)
        if begins:
            number += 1
            parts, size = [], 0
        # A line between messages does not count as part of one.
        if size < most + _MAX_FROM_LINE_BYTES:
            parts.append(piece)
        size += len(piece)
        if size > most + _MAX_FROM_LINE_BYTES and not passing:
            raise message_too_long_error(f"{place}, message {number}", most)
    if number:
        # The only message of a file needs no number.
        yield message_from_parts(parts, size, f"{place}, message {number}" if number > 1 else place, most)


def message_from_parts(
    parts: list[bytes], size: int, place: str, most: int = MAX_MESSAGE_BYTES, *, quoted: bool = True
) -> RawMessage:
    """A message out of its pieces: without the line before it and the blank one after it, unquoted.

    `quoted` says whether it may have quoted lines at all.
    """
    whole = parts[0] if len(parts) == 1 else b"".join(parts)
    line, _, content = whole.partition(b"\n")
    cut = max(0, size - len(line) - 1 - most)
    if cut:
        content = content[:most]
    elif content.endswith((b"\n\n", b"\n\r\n")) or content in {b"\n", b"\r\n"}:
        content = content[: -2 if content.endswith(b"\r\n") else -1]
    return RawMessage(
        unquote_from_lines(content) if quoted else content, place, parse_envelope_date(line), cut
    )


def message_too_long_error(place: str, most: int) -> SourceError:
    """Word the refusal to unpack a message without end."""
    return SourceError(
        f"{place} is longer than {most:,} bytes once it is unpacked. Unpack the file first if it is mail.",
        place,
    )


def unquote_from_lines(content: bytes) -> bytes:
    """A message without the '>' that mailboxes put before lines that begin with From."""
    if b">From " not in content:
        return content
    return _QUOTED_FROM.sub(rb"\n\1", b"\n" + content)[1:]


def _split_pieces(read: ReadBytes) -> Iterator[tuple[bytes, bool]]:
    """An mbox in pieces, each with whether a message begins there."""
    held = read(BLOCK_BYTES)
    begins = True
    divides = _from_line_test(held[:_MAX_FROM_LINE_BYTES].partition(b"\n")[0])
    while held:
        # One block ahead, because what is held is searched to its end only if nothing follows.
        block = read(BLOCK_BYTES)
        ended = not block
        start = at = 0
        while (at := held.find(NEXT_FROM_LINE, at)) >= 0:
            end = held.find(b"\n", at + 1, at + _MAX_FROM_LINE_BYTES)
            if end < 0 and not ended and len(held) < at + _MAX_FROM_LINE_BYTES:
                break
            if _follows_blank_line(held, at) and divides(
                held[at + 1 : end if end >= 0 else at + _MAX_FROM_LINE_BYTES]
            ):
                yield held[start : at + 1], begins
                start, begins = at + 1, True
            at += 1
        # The bytes before a line tell whether it is after a blank one; all of them may be in the next block.
        safe = len(held) if ended else max(start, (at if at >= 0 else len(held) - len(FROM_LINE_START)) - 2)
        if safe > start:
            yield held[start:safe], begins
            begins = False
        held = held[safe:] + block


def _follows_blank_line(held: bytes, at: int) -> bool:
    """Whether the end of line at a place is that of a blank line."""
    return held[at - 1 : at] == b"\n" or held[at - 2 : at] == b"\n\r"


def _from_line_test(first: bytes) -> Callable[[bytes], bool]:
    """Which lines that begin with From stand between messages: those with a date, if the first has one.

    A text may have a paragraph that begins so, but hardly with a date and a time in its first line.
    """
    if _LINE_WITH_DATE.match(first):
        return lambda line: _LINE_WITH_DATE.match(line) is not None
    return lambda line: True


# How packed files begin, and the modules that unpack them.
_MODULE_BY_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
_COMPRESSION_MAGIC = tuple(_MODULE_BY_MAGIC)
# A pipe that took the place of a file in the meantime must not keep us waiting.
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class FileVanished(OSError):
    """Under a name that a folder has listed there is no file any more."""


def read_message_file(
    path: str, place: str, *, at: float | None = None, single: bool = False, most: int = MAX_MESSAGE_BYTES
) -> Iterator[RawMessage]:
    """What a file holds: an mbox if it begins with "From ", else one message; nothing if it is empty.

    Of a message longer than `most` the rest is passed over; in a packed file it is refused, because only
    unpacking all of it would tell how long it is. `single` files are one message whatever they begin with,
    and came `at` a time that their mailbox knows.
    """
    descriptor, size = _open_file(path, place)
    try:
        read = _translate_read_errors(partial(os.read, descriptor), place)
        # One byte more than there should be: a short answer tells the end.
        start = read(min(size, BLOCK_BYTES) + 1)
        packed = start.startswith(_COMPRESSION_MAGIC)
        whole = len(start) <= min(size, most, BLOCK_BYTES) and not packed
        if packed:
            read = _translate_read_errors(_decompressing_read(descriptor, start), place)
            start = read(BLOCK_BYTES)
        if start.startswith(FROM_LINE_START) and not single:
            # Most messages have no such words again, and need not be searched for others and for quotations.
            again = start.find(FROM_LINE_START, len(FROM_LINE_START)) >= 0
            if whole and not (again and NEXT_FROM_LINE in start):
                yield message_from_parts([start], len(start), place, quoted=again)
            else:
                yield from split_mbox(_prepend(start, read), place, most, passing=not packed)
        elif start and whole:
            yield RawMessage(start, place, at)
        elif start:
            content, left = _read_at_most(start, read, most)
            if left and packed:
                raise message_too_long_error(place, most)
            yield RawMessage(content, place, at, max(1, size - most) if left else 0)
    finally:
        os.close(descriptor)


def _open_file(path: str, place: str) -> tuple[int, int]:
    """A file's descriptor and its size."""
    try:
        descriptor = os.open(path, _OPEN_FLAGS)
    except FileNotFoundError as error:
        raise FileVanished(f"{place} is gone") from error
    except OSError as error:
        raise unreadable_error(place, error) from error
    told = os.fstat(descriptor)
    if stat.S_ISREG(told.st_mode):
        return descriptor, told.st_size
    os.close(descriptor)
    raise FileVanished(f"{place} is not a regular file")


def _translate_read_errors(read: ReadBytes, place: str) -> ReadBytes:
    """Reading whose failures are told in our words."""

    def guarded(size: int) -> bytes:
        try:
            return read(size)
        except READ_ERRORS as error:
            raise unreadable_error(place, error) from error

    return guarded


def _decompressing_read(descriptor: int, start: bytes) -> ReadBytes:
    """What a packed file holds, read from its start."""
    module = next(module for magic, module in _MODULE_BY_MAGIC.items() if start.startswith(magic))
    os.lseek(descriptor, 0, os.SEEK_SET)
    raw = os.fdopen(descriptor, "rb", closefd=False)
    read: ReadBytes = importlib.import_module(module).open(raw).read
    return read


def _prepend(start: bytes, read: ReadBytes) -> ReadBytes:
    """Reading that begins with what has been read already."""
    waiting = [start]
    return lambda size: waiting.pop() if waiting else read(size)


def _read_at_most(start: bytes, read: ReadBytes, most: int) -> tuple[bytes, bool]:
    """The first bytes of a long message, and whether it has more."""
    parts, held = [start], len(start)
    while held <= most and parts[-1]:
        parts.append(read(min(BLOCK_BYTES, most + 1 - held)))
        held += len(parts[-1])
    return b"".join(parts)[:most], held > most
