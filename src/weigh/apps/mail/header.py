"""The header with a message's verdict: `X-Weigh: spam, probability 0.999870; "free money" +2.31`."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from typing import Protocol

from weigh.text import format_clipped_probability, truncate

HEADER_NAME = "X-Weigh"
MAX_REASONS = 5  # as many as a reader takes in at a glance
ERROR_HEADER = f"{HEADER_NAME}: unsure, error"
MAX_LINE_WIDTH = 77
_MAX_NAME_LENGTH = 38
_MAX_ENCODED_BYTES = 36  # fit into one line in base64, with their contribution
_MAX_NATS = 9999.0
# The mbox envelope line before the headers. If it contains a CR, some programs read it as two lines.
_MBOX_FROM_LINE = re.compile(rb"From [^\r\n]*+\r?\n")
# Some messages begin with a folded line, which would otherwise be read as a continuation of the verdict.
_FOLDED_LINE_GUARD = f"{HEADER_NAME}-Note: the message begins with a folded line"
_OWN_FIELD = rb"x-weigh[ \t]*+:[^\r\n]*+(?:(?:\r\n?+|\n)[ \t][^\r\n]*+)*+"
_OWN_HEADERS = re.compile(rb"\n(?:%b(?:\r*+\n|\r|\Z))++" % _OWN_FIELD, re.IGNORECASE)
_OWN_HEADERS_AFTER_CR = re.compile(rb"(?:\r%b)++" % _OWN_FIELD, re.IGNORECASE)


class VerdictLike(Protocol):
    """The verdict on a message."""

    @property
    def label(self) -> str:
        """The label: "ham", "unsure" or "spam"."""

    @property
    def probability(self) -> float:
        """The probability of spam."""


class ContributionLike(Protocol):
    """A feature of a message and its contribution to the log-odds of spam."""

    @property
    def name(self) -> str:
        """The readable name."""

    @property
    def contribution(self) -> float:
        """Positive for spam, negative for ham."""


def add_verdict_header(
    content: bytes, verdict: VerdictLike, evidence: Iterable[ContributionLike] = ()
) -> bytes:
    """Return the message with its verdict as the first header, replacing any such header it had.

    Nothing else changes, and the new lines end like the first line of the message. Evidence keeps its order.
    Programs disagree on what ends a line (for some a lone CR does) and on what ends the headers; only the top
    of the message is a header for all of them.
    """
    return _insert_headers(content, _header_lines(verdict, evidence))


def add_error_header(content: bytes) -> bytes:
    """Return the message with a header that says that judging failed, replacing any verdict it had."""
    return _insert_headers(content, [ERROR_HEADER])


def _insert_headers(content: bytes, lines: Iterable[str]) -> bytes:
    line_end = b"\r\n" if content[content.find(b"\n") - 1 :].startswith(b"\r\n") else b"\n"
    stripped = _strip_own_headers(content)
    envelope = _MBOX_FROM_LINE.match(stripped)
    start = envelope.end() if envelope else 0
    guard = [_FOLDED_LINE_GUARD] if stripped[start : start + 1] in (b" ", b"\t") else []
    inserted = b"".join(line.encode("ascii") + line_end for line in (*lines, *guard))
    return b"".join((stripped[:start], inserted, stripped[start:]))


def _strip_own_headers(content: bytes) -> bytes:
    """Remove our headers wherever any program might take them for headers."""
    end = _end_of_headers(content)
    head = content[:end]
    if b"x-weigh" in head.lower():
        head = _OWN_HEADERS.sub(b"\n", b"\n" + head)
        # Where a lone CR ends lines, any two consecutive line ends terminate the headers.
        ends = [offset for offset in map(head.find, (b"\n\n", b"\n\r", b"\r\r")) if offset >= 0]
        cr_end = min(ends, default=len(head))
        head = (_OWN_HEADERS_AFTER_CR.sub(b"", head[:cr_end]) + head[cr_end:])[1:]
    return head + content[end:]


def _end_of_headers(content: bytes) -> int:
    """Return the latest offset at which any program that reads lines up to LF finds an empty line.

    For some programs a line with a single CR is not empty, unless all lines end in CR LF.
    """
    if content.startswith(b"\n"):
        return 0
    end = content.find(b"\n\n") + 1 or len(content)
    crlf = content.find(b"\n\r\n", 0, end) + 1
    return crlf if crlf and content.count(b"\n", 0, crlf) == content.count(b"\r\n", 0, crlf) else end


def _header_lines(verdict: VerdictLike, evidence: Iterable[ContributionLike]) -> Iterator[str]:
    """Generate the lines of the header, folded between pieces of evidence."""
    line = f"{HEADER_NAME}: {verdict.label}, probability {format_clipped_probability(verdict.probability)}"
    for reason in evidence:
        nats = max(-_MAX_NATS, min(reason.contribution, _MAX_NATS))
        text = f"{_encode_name(reason.name)} {nats:+.2f}"
        if len(line) + len(text) + 3 > MAX_LINE_WIDTH:
            yield line + ";"
            line = " " + text
        else:
            line += "; " + text
    yield line


def _encode_name(name: str) -> str:
    """Make a name safe in a header: a quoted string, or an RFC 2047 encoded word if it is not ASCII."""
    text = truncate(name.replace("…", "..."), _MAX_NAME_LENGTH)
    ascii_text = text.replace("…", "...").replace("�", "?").replace('"', "'")
    if ascii_text.isascii() and "=?" not in ascii_text:
        return f'"{ascii_text}"'
    prefix = text.encode("utf-8", "replace")[:_MAX_ENCODED_BYTES].decode("utf-8", "ignore")
    return f"=?utf-8?b?{base64.b64encode(prefix.encode()).decode()}?="
