"""How programs talk to the server: a line says what is asked and how long the message is; it follows.

    request = COMMAND " " LENGTH LF MESSAGE      LENGTH is a number of bytes, or - for all until the end
            | COMMAND LF                         for commands that take no message
    answer  = ("OK" | "NO") " " LENGTH LF CONTENT

A connection takes any number of requests, which are answered in order.
"""

from __future__ import annotations

from typing import NamedTuple

WITH_MESSAGE = ("FILTER", "JUDGE", "EXPLAIN", "LEARN SPAM", "LEARN HAM", "UNLEARN")
WITHOUT_MESSAGE = ("STATUS", "PING")
UNTIL_END = "-"
LONGEST_LINE = 80
LONGEST_MESSAGE = 64 << 20


class NotUnderstood(Exception):
    """A request that breaks the rules; what follows it cannot be understood either."""


class Request(NamedTuple):
    """What is asked, and the bytes of the message that follows; None means all until the end."""

    command: str
    length: int | None


def request_of(line: bytes) -> Request:
    """Read the first line of a request."""
    words = line.decode("ascii", "replace").upper().split()
    if " ".join(words) in WITHOUT_MESSAGE:
        return Request(" ".join(words), 0)
    *command, length = words or [""]
    if " ".join(command) not in WITH_MESSAGE:
        known = ", ".join(f"{each} LENGTH" for each in WITH_MESSAGE)
        raise NotUnderstood(f"Not a command. The commands are {known}, {', '.join(WITHOUT_MESSAGE)}.")
    if length == UNTIL_END:
        return Request(" ".join(command), None)
    if not (length.isascii() and length.isdigit()):
        raise NotUnderstood("The length must be a number of bytes, or - for all until the end.")
    if int(length) > LONGEST_MESSAGE:
        raise too_long()
    return Request(" ".join(command), int(length))


def too_long() -> NotUnderstood:
    """Word the refusal of a message that is too long."""
    return NotUnderstood(f"The message is longer than {LONGEST_MESSAGE:,} bytes.")


def accepted(content: bytes) -> bytes:
    """An answer to what was asked."""
    return b"OK %d\n%b" % (len(content), content)


def refused(sentence: str) -> bytes:
    """An answer that says why there is none."""
    content = sentence.encode("utf-8", "replace")
    return b"NO %d\n%b" % (len(content), content)
