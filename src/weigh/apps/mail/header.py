"""The header that tells a message's verdict: `X-Weigh: spam, probability 0.999870; "free money" +2.31`."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from typing import Protocol

from weigh.text import format_clipped_probability, truncate

HEADER_NAME = "X-Weigh"
# As many pieces of evidence as a reader takes in at a glance.
MAX_REASONS = 5
ERROR_HEADER = f"{HEADER_NAME}: unsure, error"
MAX_LINE_WIDTH = 77
_MAX_NAME_LENGTH = 38
# As many as fit, in base64 and with their number, into one line.
_MAX_ENCODED_BYTES = 36
_MAX_NATS = 9999.0
# A line of the mailbox, which stands before the headers. One with a CR in it is two lines to some programs.
_MBOX_FROM_LINE = re.compile(rb"From [^\r\n]*+\r?\n")
# Keeps a folded line, which some messages begin with, from being read as a part of the verdict.
_FOLDED_LINE_GUARD = f"{HEADER_NAME}-Note: the message begins with a folded line"
_OWN_FIELD = rb"x-weigh[ \t]*+:[^\r\n]*+(?:(?:\r\n?+|\n)[ \t][^\r\n]*+)*+"
_OWN_HEADERS = re.compile(rb"\n(?:%b(?:\r*+\n|\r|\Z))++" % _OWN_FIELD, re.IGNORECASE)
_OWN_HEADERS_AFTER_CR = re.compile(rb"(?:\r%b)++" % _OWN_FIELD, re.IGNORECASE)


class VerdictLike(Protocol):
    """What was found of a message."""

    @property
    def label(self) -> str:
        """ham, unsure or spam."""

    @property
    def probability(self) -> float:
        """Of spam."""


class ContributionLike(Protocol):
    """A feature of a message and what it adds to the log-odds of spam."""

    @property
    def name(self) -> str:
        """As people read it."""

    @property
    def contribution(self) -> float:
        """Positive for spam, negative for ham."""


def add_verdict_header(
    content: bytes, verdict: VerdictLike, evidence: Iterable[ContributionLike] = ()
) -> bytes:
    """The message with its verdict as the first header, in place of any such header that it came with.

    Nothing else is changed, and lines end as the message's first one does. Evidence is told in the order
    given. Programs differ in what ends a line (a lone CR does for some) and in what ends the headers; the top
    is the only place that all of them take for a header.
    """
    return _insert_headers(content, _header_lines(verdict, evidence))


def add_error_header(content: bytes) -> bytes:
    """The message with the news that it could not be judged, in place of any verdict that it came with."""
    return _insert_headers(content, [ERROR_HEADER])


def _insert_headers(content: bytes, lines: Iterable[str]) -> bytes:
    ending = b"\r\n" if content[content.find(b"\n") - 1 :].startswith(b"\r\n") else b"\n"
    rest = _strip_own_headers(content)
    envelope = _MBOX_FROM_LINE.match(rest)
    place = envelope.end() if envelope else 0
    guard = [_FOLDED_LINE_GUARD] if rest[place : place + 1] in (b" ", b"\t") else []
    written = b"".join(line.encode("ascii") + ending for line in (*lines, *guard))
    return b"".join((rest[:place], written, rest[place:]))


def _strip_own_headers(content: bytes) -> bytes:
    """The message without verdicts in whatever a program may take for its headers."""
    end = _end_of_headers(content)
    head = content[:end]
    if b"x-weigh" in head.lower():
        head = _OWN_HEADERS.sub(b"\n", b"\n" + head)
        # Where a lone CR ends lines, two ends of lines of any kind end the headers.
        found = [at for at in map(head.find, (b"\n\n", b"\n\r", b"\r\r")) if at >= 0]
        at = min(found, default=len(head))
        head = (_OWN_HEADERS_AFTER_CR.sub(b"", head[:at]) + head[at:])[1:]
    return head + content[end:]


def _end_of_headers(content: bytes) -> int:
    """Where the last of the programs that read lines up to LF finds an empty one.

    To some of them a line of a single CR is not empty, unless all lines end in CR LF.
    """
    if content.startswith(b"\n"):
        return 0
    end = content.find(b"\n\n") + 1 or len(content)
    crlf = content.find(b"\n\r\n", 0, end) + 1
    return crlf if crlf and content.count(b"\n", 0, crlf) == content.count(b"\r\n", 0, crlf) else end


def _header_lines(verdict: VerdictLike, evidence: Iterable[ContributionLike]) -> Iterator[str]:
    """The header, folded where a piece of evidence ends."""
    line = f"{HEADER_NAME}: {verdict.label}, probability {format_clipped_probability(verdict.probability)}"
    for each in evidence:
        nats = max(-_MAX_NATS, min(each.contribution, _MAX_NATS))
        told = f"{_encode_name(each.name)} {nats:+.2f}"
        if len(line) + len(told) + 3 > MAX_LINE_WIDTH:
            yield line + ";"
            line = " " + told
        else:
            line += "; " + told
    yield line


def _encode_name(name: str) -> str:
    """A name that can do no harm in a header: quoted, or as mail programs decode it if it is not ASCII."""
    text = truncate(name.replace("…", "..."), _MAX_NAME_LENGTH)
    shown = text.replace("…", "...").replace("�", "?").replace('"', "'")
    if shown.isascii() and "=?" not in shown:
        return f'"{shown}"'
    few = text.encode("utf-8", "replace")[:_MAX_ENCODED_BYTES].decode("utf-8", "ignore")
    return f"=?utf-8?b?{base64.b64encode(few.encode()).decode()}?="
