"""When a message came, in seconds since 1970."""

from __future__ import annotations

import re
from datetime import date

from weigh.source.mail.stored import Stored

_HEAD = 1 << 16
_1970 = date(1970, 1, 1).toordinal()
_MONTHS = {
    name: at
    for at, name in enumerate(
        (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"), 1
    )
}
# As mbox files write it: "Thu Aug 22 12:36:23 2002".
_PLAIN = re.compile(
    rb" (" + b"|".join(_MONTHS) + rb") +(\d\d?) +(\d\d?):(\d\d)(?::(\d\d))? +(\d{4})\b(?! *[+-]\d)"
)
_VALUE = re.compile(rb"[ \t]*:(.*(?:\n[ \t].*)*)")


def arrived(raw: bytes, stored: Stored | None = None) -> float | None:
    """When a message came: by the topmost Received header, else by Date, else by its mailbox, if any says so.

    Senders may write any Date; the topmost Received header is of the host that took the message in.
    """
    head = _head(raw)
    names = head.lower()
    received = _value(head, names, b"\nreceived")
    came = None if received is None else seconds(received.rpartition(b";")[2])
    if came is None:
        dated = _value(head, names, b"\ndate")
        came = None if dated is None else seconds(dated)
    return came if came is not None or stored is None else stored.at


def seconds(written: bytes) -> float | None:
    """Seconds since 1970 of a date as mail has it, in UTC if it has no zone; None is no date."""
    from email.utils import parsedate_tz

    try:
        parts = parsedate_tz(written[:200].decode("ascii", "replace"))
        if parts is None:
            return None
        return _since_1970(*parts[:6]) - (parts[9] or 0)
    # The parser of the standard library fails in many ways over dates that are none.
    except (ValueError, TypeError, IndexError, OverflowError, AttributeError):
        return None


def seconds_of_envelope(line: bytes) -> float | None:
    """When an mbox got a message, by the line before it; None if that has no date."""
    found = _PLAIN.search(line)
    if found is None:
        sender = line[5:].partition(b" ")[2]
        return seconds(sender) if sender else None
    month, day, hour, minute, second, year = found.groups(b"0")
    try:
        return _since_1970(int(year), _MONTHS[month], int(day), int(hour), int(minute), int(second))
    except ValueError:
        return None


def _since_1970(year: int, month: int, day: int, hour: int, minute: int, second: int) -> float:
    # Minutes and seconds are added, not checked: a leap second is 60.
    return (date(year, month, day).toordinal() - _1970) * 86_400.0 + hour * 3_600 + minute * 60 + second


def _head(raw: bytes) -> bytes:
    """The header lines, each after an end of line; of very long ones the first 64 KiB."""
    head = b"\n" + raw[:_HEAD].replace(b"\r\n", b"\n")
    end = head.find(b"\n\n", 1)
    return head if end < 0 else head[:end]


def _value(head: bytes, names: bytes, name: bytes) -> bytes | None:
    """The first value of a header, in one line."""
    at = names.find(name)
    while at >= 0:
        found = _VALUE.match(head, at + len(name))
        if found is not None:
            return found[1].replace(b"\n", b" ")
        at = names.find(name, at + 1)
    return None
