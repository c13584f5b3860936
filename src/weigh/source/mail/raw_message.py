"""Raw messages, batching them, and their arrival times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date

_MAX_HEADER_BYTES = 1 << 16
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_MONTHS = {
    name: month
    for month, name in enumerate(
        (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"), 1
    )
}
# The date format of mbox From lines: "Thu Aug 22 12:36:23 2002".
_ENVELOPE_DATE = re.compile(
    rb" (" + b"|".join(_MONTHS) + rb") +(\d\d?) +(\d\d?):(\d\d)(?::(\d\d))? +(\d{4})\b(?! *[+-]\d)"
)
_HEADER_VALUE = re.compile(rb"[ \t]*:(.*(?:\n[ \t].*)*)")


def arrival_time(raw: bytes, stored: RawMessage | None = None) -> float | None:
    """Return the Unix time of the topmost Received header, else of Date, else of the mailbox, else None.

    Senders can write any Date; the receiving host writes the topmost Received header.
    """
    head = _header_lines(raw)
    lowered = head.lower()
    received = _header_value(head, lowered, b"\nreceived")
    time = None if received is None else parse_date(received.rpartition(b";")[2])
    if time is None:
        date_value = _header_value(head, lowered, b"\ndate")
        time = None if date_value is None else parse_date(date_value)
    return time if time is not None or stored is None else stored.at


def parse_date(text: bytes) -> float | None:
    """Parse an RFC 5322 date to Unix time, as UTC if it has no zone; returns None if it is invalid."""
    from email.utils import parsedate_tz

    try:
        parts = parsedate_tz(text[:200].decode("ascii", "replace"))
        if parts is None:
            return None
        return _unix_time(*parts[:6]) - (parts[9] or 0)
    # The standard library's parser raises various errors for invalid dates.
    except (ValueError, TypeError, IndexError, OverflowError, AttributeError):
        return None


def parse_envelope_date(line: bytes) -> float | None:
    """Parse the date of an mbox From line to Unix time; returns None if it has no date."""
    match = _ENVELOPE_DATE.search(line)
    if match is None:
        after_sender = line[5:].partition(b" ")[2]
        return parse_date(after_sender) if after_sender else None
    month, day, hour, minute, second, year = match.groups(b"0")
    try:
        return _unix_time(int(year), _MONTHS[month], int(day), int(hour), int(minute), int(second))
    except ValueError:
        return None


def _unix_time(year: int, month: int, day: int, hour: int, minute: int, second: int) -> float:
    # Minutes and seconds are not range-checked, because a leap second is 60.
    return (date(year, month, day).toordinal() - _EPOCH_DAY) * 86_400.0 + hour * 3_600 + minute * 60 + second


def _header_lines(raw: bytes) -> bytes:
    """Return the first 64 KiB of the headers, with a newline before each line."""
    head = b"\n" + raw[:_MAX_HEADER_BYTES].replace(b"\r\n", b"\n")
    end = head.find(b"\n\n", 1)
    return head if end < 0 else head[:end]


def _header_value(head: bytes, lowered: bytes, name: bytes) -> bytes | None:
    """Return the unfolded value of the first header with a name (lower case, after a newline)."""
    at = lowered.find(name)
    while at >= 0:
        match = _HEADER_VALUE.match(head, at + len(name))
        if match is not None:
            return match[1].replace(b"\n", b" ")
        at = lowered.find(name, at + 1)
    return None


# The content of longer messages is truncated.
MAX_MESSAGE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class RawMessage:
    """A raw message and its location.

    Attributes
    ----------
    content : its bytes without the mbox From line, truncated to 64 MiB
    place : its location for display: a path, or "inbox.mbox, message 12"
    at : its arrival in seconds since 1970 according to the mailbox, None if unknown
    omitted_bytes : the number of bytes beyond `content`
    """

    # Private content must not appear in logs and tracebacks.
    content: bytes = field(repr=False)
    place: str
    at: float | None = None
    omitted_bytes: int = 0

    @property
    def length(self) -> int:
        """The number of bytes of the whole message."""
        return len(self.content) + self.omitted_bytes


def batches(
    stored: Iterable[RawMessage], bytes: int = 1 << 20, rows: int = 256
) -> Iterator[list[RawMessage]]:
    """Group messages into lists of at most `rows` messages that end once they have `bytes` bytes."""
    batch: list[RawMessage] = []
    size = 0
    for message in stored:
        batch.append(message)
        size += len(message.content)
        if size >= bytes or len(batch) >= rows:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
