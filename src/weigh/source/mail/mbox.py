"""Messages of an mbox, one after the other in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from weigh.errors import SourceError
from weigh.source.mail.arrival import seconds_of_envelope
from weigh.source.mail.stored import LONGEST, Stored

Read = Callable[[int], bytes]

START = b"From "
NEXT = b"\n" + START
BLOCK = 1 << 20
_LINE = 1_000  # bytes; no line between messages is longer
_DATED = re.compile(
    rb"(?=.*\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|\d{4}-\d\d)\b)(?=.*\d:\d\d)(?=.*\b\d{4}\b)"
)
_QUOTED = re.compile(rb"\n>(>*From )")


def messages_of_mbox(
    read: Read, place: str, most: int = LONGEST, *, passing: bool = True
) -> Iterator[Stored]:
    """The messages of an mbox whose bytes `read` gives in turn, so many at a time and none at the end.

    What a message has beyond `most` bytes is passed over, or else refused.
    """
    number = 0
    parts: list[bytes] = []
    size = 0
    for piece, begins in _pieces(read):
        if begins and number:
            yield message_of(parts, size, f"{place}, message {number}", most)
        if begins:
            number += 1
            parts, size = [], 0
        # A line between messages does not count as part of one.
        if size < most + _LINE:
            parts.append(piece)
        size += len(piece)
        if size > most + _LINE and not passing:
            raise endless(f"{place}, message {number}", most)
    if number:
        # The only message of a file needs no number.
        yield message_of(parts, size, f"{place}, message {number}" if number > 1 else place, most)


def message_of(
    parts: list[bytes], size: int, place: str, most: int = LONGEST, *, quoted: bool = True
) -> Stored:
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
    return Stored(unquoted(content) if quoted else content, place, seconds_of_envelope(line), cut)


def endless(place: str, most: int) -> SourceError:
    """Word the refusal to unpack a message without end."""
    return SourceError(
        f"{place} is longer than {most:,} bytes once it is unpacked. Unpack the file first if it is mail.",
        place,
    )


def unquoted(content: bytes) -> bytes:
    """A message without the '>' that mailboxes put before lines that begin with From."""
    if b">From " not in content:
        return content
    return _QUOTED.sub(rb"\n\1", b"\n" + content)[1:]


def _pieces(read: Read) -> Iterator[tuple[bytes, bool]]:
    """An mbox in pieces, each with whether a message begins there."""
    held = read(BLOCK)
    begins = True
    divides = _divider(held[:_LINE].partition(b"\n")[0])
    while held:
        # One block ahead, because what is held is searched to its end only if nothing follows.
        block = read(BLOCK)
        ended = not block
        start = at = 0
        while (at := held.find(NEXT, at)) >= 0:
            end = held.find(b"\n", at + 1, at + _LINE)
            if end < 0 and not ended and len(held) < at + _LINE:
                break
            if _after_blank(held, at) and divides(held[at + 1 : end if end >= 0 else at + _LINE]):
                yield held[start : at + 1], begins
                start, begins = at + 1, True
            at += 1
        # The bytes before a line tell whether it is after a blank one; all of them may be in the next block.
        safe = len(held) if ended else max(start, (at if at >= 0 else len(held) - len(START)) - 2)
        if safe > start:
            yield held[start:safe], begins
            begins = False
        held = held[safe:] + block


def _after_blank(held: bytes, at: int) -> bool:
    """Whether the end of line at a place is that of a blank line."""
    return held[at - 1 : at] == b"\n" or held[at - 2 : at] == b"\n\r"


def _divider(first: bytes) -> Callable[[bytes], bool]:
    """Which lines that begin with From stand between messages: those with a date, if the first has one.

    A text may have a paragraph that begins so, but hardly with a date and a time in its first line.
    """
    if _DATED.match(first):
        return lambda line: _DATED.match(line) is not None
    return lambda line: True
