"""When a message came, in seconds since 1970."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date

_MAX_HEADER_BYTES = 1 << 16
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_MONTHS = {
    name: at
    for at, name in enumerate(
        (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"), 1
    )
}
# As mbox files write it: "Thu Aug 22 12:36:23 2002".
_ENVELOPE_DATE = re.compile(
    rb" (" + b"|".join(_MONTHS) + rb") +(\d\d?) +(\d\d?):(\d\d)(?::(\d\d))? +(\d{4})\b(?! *[+-]\d)"
)
_HEADER_VALUE = re.compile(rb"[ \t]*:(.*(?:\n[ \t].*)*)")


def arrival_time(raw: bytes, stored: RawMessage | None = None) -> float | None:
    """When a message came: by the topmost Received header, else by Date, else by its mailbox, if any says so.

    Senders may write any Date; the topmost Received header is of the host that took the message in.
    """
    head = _header_lines(raw)
    names = head.lower()
    received = _header_value(head, names, b"\nreceived")
    came = None if received is None else parse_date(received.rpartition(b";")[2])
    if came is None:
        dated = _header_value(head, names, b"\ndate")
        came = None if dated is None else parse_date(dated)
    return came if came is not None or stored is None else stored.at


def parse_date(written: bytes) -> float | None:
    """Seconds since 1970 of a date as mail has it, in UTC if it has no zone; None is no date."""
    from email.utils import parsedate_tz

    try:
        parts = parsedate_tz(written[:200].decode("ascii", "replace"))
        if parts is None:
            return None
        return _unix_time(*parts[:6]) - (parts[9] or 0)
    # The parser of the standard library fails in many ways over dates that are none.
    except (ValueError, TypeError, IndexError, OverflowError, AttributeError):
        return None


def parse_envelope_date(line: bytes) -> float | None:
    """When an mbox got a message, by the line before it; None if that has no date."""
    found = _ENVELOPE_DATE.search(line)
    if found is None:
        sender = line[5:].partition(b" ")[2]
        return parse_date(sender) if sender else None
    month, day, hour, minute, second, year = found.groups(b"0")
    try:
        return _unix_time(int(year), _MONTHS[month], int(day), int(hour), int(minute), int(second))
    except ValueError:
        return None


def _unix_time(year: int, month: int, day: int, hour: int, minute: int, second: int) -> float:
    # Minutes and seconds are added, not checked: a leap second is 60.
    return (date(year, month, day).toordinal() - _EPOCH_DAY) * 86_400.0 + hour * 3_600 + minute * 60 + second


def _header_lines(raw: bytes) -> bytes:
    """The header lines, each after an end of line; of very long ones the first 64 KiB."""
    head = b"\n" + raw[:_MAX_HEADER_BYTES].replace(b"\r\n", b"\n")
    end = head.find(b"\n\n", 1)
    return head if end < 0 else head[:end]


def _header_value(head: bytes, names: bytes, name: bytes) -> bytes | None:
    """The first value of a header, in one line."""
    at = names.find(name)
    while at >= 0:
        found = _HEADER_VALUE.match(head, at + len(name))
        if found is not None:
            return found[1].replace(b"\n", b" ")
        at = names.find(name, at + 1)
    return None


# What is kept of one message; what a longer one has beyond is told by its length only.
MAX_MESSAGE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class RawMessage:
    """A raw message and where it was found.

    Attributes
    ----------
    content : its bytes, without a mailbox's own line before it; of very long ones the first 64 MiB
    place : where it is, for people: a path, or "inbox.mbox, message 12"
    at : when it came, in seconds since 1970, if the mailbox says so
    cut : how many bytes it has beyond `content`
    """

    # What people write has no place in a log or a traceback.
    content: bytes = field(repr=False)
    place: str
    at: float | None = None
    omitted_bytes: int = 0

    @property
    def length(self) -> int:
        """How many bytes the whole message has."""
        return len(self.content) + self.omitted_bytes


def batches(
    stored: Iterable[RawMessage], bytes: int = 1 << 20, rows: int = 256
) -> Iterator[list[RawMessage]]:
    """Messages in lists of at most so many, which end once they hold so many bytes."""
    batch: list[RawMessage] = []
    size = 0
    for each in stored:
        batch.append(each)
        size += len(each.content)
        if size >= bytes or len(batch) >= rows:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
