"""Reading message files and splitting mboxes into messages, in bounded memory."""

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
_MAX_FROM_LINE_BYTES = 1_000
_LINE_WITH_DATE = re.compile(
    rb"(?=.*\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|\d{4}-\d\d)\b)(?=.*\d:\d\d)(?=.*\b\d{4}\b)"
)
_QUOTED_FROM = re.compile(rb"\n>(>*From )")


def split_mbox(
    read: ReadBytes, place: str, max_bytes: int = MAX_MESSAGE_BYTES, *, truncate: bool = True
) -> Iterator[RawMessage]:
    """Yield the messages of an mbox; `read(n)` returns its next n bytes, and none at the end.

    A message longer than `max_bytes` is truncated, or raises SourceError if `truncate` is false.
    """
    number = 0
    parts: list[bytes] = []
    size = 0
    for part, begins_message in _split_parts(read):
        if begins_message and number:
            yield message_from_parts(parts, size, f"{place}, message {number}", max_bytes)
        if begins_message:
            number += 1
            parts, size = [], 0
        # The From line before a message is not part of it.
        if size < max_bytes + _MAX_FROM_LINE_BYTES:
            parts.append(part)
        size += len(part)
        if size > max_bytes + _MAX_FROM_LINE_BYTES and not truncate:
            raise message_too_long_error(f"{place}, message {number}", max_bytes)
    if number:
        # The only message of a file needs no number.
        last_place = f"{place}, message {number}" if number > 1 else place
        yield message_from_parts(parts, size, last_place, max_bytes)


def message_from_parts(
    parts: list[bytes], size: int, place: str, max_bytes: int = MAX_MESSAGE_BYTES, *, unquote: bool = True
) -> RawMessage:
    """Join the parts of a message, removing its From line, the blank line after it and From quoting."""
    data = parts[0] if len(parts) == 1 else b"".join(parts)
    line, _, content = data.partition(b"\n")
    omitted_bytes = max(0, size - len(line) - 1 - max_bytes)
    if omitted_bytes:
        content = content[:max_bytes]
    elif content.endswith((b"\n\n", b"\n\r\n")) or content in {b"\n", b"\r\n"}:
        content = content[: -2 if content.endswith(b"\r\n") else -1]
    if unquote:
        content = unquote_from_lines(content)
    return RawMessage(content, place, parse_envelope_date(line), omitted_bytes)


def message_too_long_error(place: str, max_bytes: int) -> SourceError:
    """Return the error for a message that is too long once decompressed."""
    return SourceError(
        f"{place} is longer than {max_bytes:,} bytes once decompressed. "
        f"Decompress the file first if it is mail.",
        place,
    )


def unquote_from_lines(content: bytes) -> bytes:
    """Remove the '>' that mboxes insert before lines that begin with From."""
    if b">From " not in content:
        return content
    return _QUOTED_FROM.sub(rb"\n\1", b"\n" + content)[1:]


def _split_parts(read: ReadBytes) -> Iterator[tuple[bytes, bool]]:
    """Split an mbox into parts, each with whether it begins a message."""
    buffer = read(BLOCK_BYTES)
    begins_message = True
    is_from_line = _from_line_test(buffer[:_MAX_FROM_LINE_BYTES].partition(b"\n")[0])
    while buffer:
        # Read one block ahead, because only the last buffer can be searched to its end.
        block = read(BLOCK_BYTES)
        is_last = not block
        start = at = 0
        while (at := buffer.find(NEXT_FROM_LINE, at)) >= 0:
            end = buffer.find(b"\n", at + 1, at + _MAX_FROM_LINE_BYTES)
            if end < 0 and not is_last and len(buffer) < at + _MAX_FROM_LINE_BYTES:
                break
            if _follows_blank_line(buffer, at) and is_from_line(
                buffer[at + 1 : end if end >= 0 else at + _MAX_FROM_LINE_BYTES]
            ):
                yield buffer[start : at + 1], begins_message
                start, begins_message = at + 1, True
            at += 1
        # Keep the bytes that decide whether a From line in the next block follows a blank line.
        undecided = at if at >= 0 else len(buffer) - len(FROM_LINE_START)
        stop = len(buffer) if is_last else max(start, undecided - 2)
        if stop > start:
            yield buffer[start:stop], begins_message
            begins_message = False
        buffer = buffer[stop:] + block


def _follows_blank_line(buffer: bytes, at: int) -> bool:
    """Whether the newline at an offset ends a blank line."""
    return buffer[at - 1 : at] == b"\n" or buffer[at - 2 : at] == b"\n\r"


def _from_line_test(first: bytes) -> Callable[[bytes], bool]:
    """Return the test for lines that separate messages: they have a date if the first one has.

    A paragraph of text may begin with "From ", but hardly with a date and a time in its first line.
    """
    if _LINE_WITH_DATE.match(first):
        return lambda line: _LINE_WITH_DATE.match(line) is not None
    return lambda line: True


# The first bytes of compressed files, and the modules that decompress them.
_MODULE_BY_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
_COMPRESSION_MAGIC = tuple(_MODULE_BY_MAGIC)
# O_NONBLOCK: a pipe that has replaced the file in the meantime must not block.
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class FileVanished(OSError):
    """A file that a folder listed no longer exists."""


def read_message_file(
    path: str,
    place: str,
    *,
    at: float | None = None,
    is_single: bool = False,
    max_bytes: int = MAX_MESSAGE_BYTES,
) -> Iterator[RawMessage]:
    """Yield the messages of a file: an mbox if it begins with "From ", else one message; none if empty.

    A message longer than `max_bytes` is truncated. In a compressed file it raises SourceError, because its
    length would be known only after decompressing all of it. With `is_single`, the file is one message even
    if it begins with "From ", and `at` is its delivery time.
    """
    descriptor, size = _open_file(path, place)
    try:
        read = _translate_read_errors(partial(os.read, descriptor), place)
        # Read one byte more than the size: a short result shows the end of the file.
        start = read(min(size, BLOCK_BYTES) + 1)
        is_compressed = start.startswith(_COMPRESSION_MAGIC)
        is_complete = len(start) <= min(size, max_bytes, BLOCK_BYTES) and not is_compressed
        if is_compressed:
            read = _translate_read_errors(_decompressing_read(descriptor, start), place)
            start = read(BLOCK_BYTES)
        if start.startswith(FROM_LINE_START) and not is_single:
            # Most files have no second "From " and need no search for further messages and quoted lines.
            has_more = start.find(FROM_LINE_START, len(FROM_LINE_START)) >= 0
            if is_complete and not (has_more and NEXT_FROM_LINE in start):
                yield message_from_parts([start], len(start), place, unquote=has_more)
            else:
                yield from split_mbox(_prepend(start, read), place, max_bytes, truncate=not is_compressed)
        elif start and is_complete:
            yield RawMessage(start, place, at)
        elif start:
            content, is_truncated = _read_at_most(start, read, max_bytes)
            if is_truncated and is_compressed:
                raise message_too_long_error(place, max_bytes)
            yield RawMessage(content, place, at, max(1, size - max_bytes) if is_truncated else 0)
    finally:
        os.close(descriptor)


def _open_file(path: str, place: str) -> tuple[int, int]:
    """Open a regular file; returns its descriptor and its size."""
    try:
        descriptor = os.open(path, _OPEN_FLAGS)
    except FileNotFoundError as error:
        raise FileVanished(f"{place} is gone") from error
    except OSError as error:
        raise unreadable_error(place, error) from error
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode):
        return descriptor, status.st_size
    os.close(descriptor)
    raise FileVanished(f"{place} is not a regular file")


def _translate_read_errors(read: ReadBytes, place: str) -> ReadBytes:
    """Wrap a read function so that its failures raise SourceError."""

    def translated_read(size: int) -> bytes:
        try:
            return read(size)
        except READ_ERRORS as error:
            raise unreadable_error(place, error) from error

    return translated_read


def _decompressing_read(descriptor: int, start: bytes) -> ReadBytes:
    """Return a function that reads the decompressed file from its start."""
    module = next(module for magic, module in _MODULE_BY_MAGIC.items() if start.startswith(magic))
    os.lseek(descriptor, 0, os.SEEK_SET)
    raw = os.fdopen(descriptor, "rb", closefd=False)
    read: ReadBytes = importlib.import_module(module).open(raw).read
    return read


def _prepend(start: bytes, read: ReadBytes) -> ReadBytes:
    """Return a read function that first returns bytes that were already read."""
    pending = [start]
    return lambda size: pending.pop() if pending else read(size)


def _read_at_most(start: bytes, read: ReadBytes, max_bytes: int) -> tuple[bytes, bool]:
    """Return at most `max_bytes` of a message, and whether it has more."""
    parts, n_bytes = [start], len(start)
    while n_bytes <= max_bytes and parts[-1]:
        parts.append(read(min(BLOCK_BYTES, max_bytes + 1 - n_bytes)))
        n_bytes += len(parts[-1])
    return b"".join(parts)[:max_bytes], n_bytes > max_bytes
