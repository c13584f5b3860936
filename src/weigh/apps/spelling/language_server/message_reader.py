"""Reading the messages of an editor from a stream of bytes, whatever the stream contains."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

# A message of an editor contains a whole document; memory stays within a small multiple of this.
MAX_MESSAGE_BYTES = 64 << 20
MAX_HEADER_BYTES = 8 << 10
_CHUNK_BYTES = 64 << 10

_END_OF_HEADER = re.compile(rb"\r?\n\r?\n")
_LENGTH_LINE = re.compile(rb"content-length[ \t]*:[ \t]*(.*?)[ \t]*", re.IGNORECASE)
# JSON has no raw line ends within strings, so no message can contain this.
_NEXT_HEADER = re.compile(rb"content-length[ \t]*:[ \t]*\d{1,12}[ \t]*\r?\n", re.IGNORECASE)
_MAX_NEXT_HEADER_BYTES = 256


class MessageReader:
    """Reads the bodies of messages, each after a header with its Content-Length.

    `read` returns at most as many bytes as it is asked for, and none at the end of the stream. A header that
    cannot be used is reported, and everything up to the next header is skipped: the length of its body is not
    known, or too large to wait for.
    """

    def __init__(self, read: Callable[[int], Awaitable[bytes]], report: Callable[[str], None]) -> None:
        self._read = read
        self._report = report
        self._buffer = bytearray()

    async def next_body(self) -> bytes | None:
        """Return the body of the next message; None at the end of the stream."""
        while True:
            header = await self._read_header()
            if header is None:
                return None
            try:
                length = parse_content_length(header)
            except ValueError as error:
                self._report(f"A message was skipped: {error}")
                if not _NEXT_HEADER.match(header):
                    # The end of a body that was longer than announced, perhaps with the next header after it.
                    self._buffer[:0] = header[1:]
                if not await self._skip_to_header():
                    return None
                continue
            return await self._take(length)

    async def _read_header(self) -> bytes | None:
        """Return the lines before the next empty line, or as much as a header may have."""
        while True:
            # Empty lines between messages do no harm.
            del self._buffer[: len(self._buffer) - len(self._buffer.lstrip(b"\r\n"))]
            end = _END_OF_HEADER.search(self._buffer)
            if end or len(self._buffer) > MAX_HEADER_BYTES:
                stop = min(end.end() if end else MAX_HEADER_BYTES + 1, MAX_HEADER_BYTES + 1)
                header = bytes(self._buffer[:stop])
                del self._buffer[:stop]
                return header
            if not await self._fill():
                return None

    async def _skip_to_header(self) -> bool:
        """Discard everything before the next Content-Length; return False at the end of the stream."""
        while True:
            found = _NEXT_HEADER.search(self._buffer)
            if found:
                del self._buffer[: found.start()]
                return True
            # The last bytes may be the beginning of a header.
            del self._buffer[: max(len(self._buffer) - _MAX_NEXT_HEADER_BYTES, 0)]
            if not await self._fill():
                return False

    async def _take(self, length: int) -> bytes | None:
        while len(self._buffer) < length:
            if not await self._fill():
                return None
        body = bytes(self._buffer[:length])
        del self._buffer[:length]
        return body

    async def _fill(self) -> bool:
        chunk = await self._read(_CHUNK_BYTES)
        self._buffer += chunk
        return bool(chunk)


def parse_content_length(header: bytes) -> int:
    """Return the length of a body; raise ValueError if the header does not give one that is allowed."""
    if len(header) > MAX_HEADER_BYTES:
        raise ValueError(f"its header is longer than {MAX_HEADER_BYTES:,} bytes.")
    matches = [_LENGTH_LINE.fullmatch(line) for line in header.splitlines()]
    values = {match[1] for match in matches if match}
    if len(values) != 1:
        raise ValueError(f"its header has {'no' if not values else 'more than one'} Content-Length.")
    value = values.pop()
    # Only ASCII digits; a number with many digits takes long to convert.
    if not value.isdigit() or len(value) > 12 or int(value) > MAX_MESSAGE_BYTES:
        raise ValueError(f"its Content-Length is not a whole number up to {MAX_MESSAGE_BYTES:,}.")
    return int(value)
