"""The header that tells a message's verdict: `X-Weigh: spam, probability 0.999870; "free money" +2.31`."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from typing import Protocol

from weigh.text import cut

NAME = "X-Weigh"
# As many pieces of evidence as a reader takes in at a glance.
STRONGEST = 5
FAILURE = f"{NAME}: unsure, error"
COLUMNS = 77
_SIGNS = 40
# As many as fit, in base64 and with their number, into one line.
_ENCODED_BYTES = 36
# One pass without a list of lines, however long the headers are. A lone CR ends a line too: some programs
# think so.
_EMPTY_LINE = re.compile(rb"\A(?=[\r\n])|(?:\r\n?+|\n)(?=[\r\n])")
_REST = rb"[^\r\n]*+(?:\r\n?+|\n|\Z)"
_OURS = re.compile(
    rb"(?:\A|(?<=\n)|(\r))(?:x-weigh[ \t]*+:%b(?:[ \t]%b)*+)++" % (_REST, _REST), re.IGNORECASE
)
_FIELDS = re.compile(rb"(?:(?:[ \t]|[!-9;-~]*+[ \t]*+:|>?From )%b)*+" % _REST)
_BREAK = re.compile(rb"\r?\n")


class Judged(Protocol):
    """What was found of a message."""

    @property
    def label(self) -> str:
        """ham, unsure or spam."""

    @property
    def probability(self) -> float:
        """Of spam."""


class Telling(Protocol):
    """A feature of a message and what it adds to the log-odds of spam."""

    @property
    def name(self) -> str:
        """As people read it."""

    @property
    def contribution(self) -> float:
        """Positive for spam, negative for ham."""


def with_header(content: bytes, verdict: Judged, evidence: Iterable[Telling] = ()) -> bytes:
    """The message with its verdict as the last header, in place of any such header that it came with.

    Nothing else is changed, and lines end as the message's own do. Evidence is told in the order given.
    Where a line that is no header ends the headers before an empty line does, programs differ in where they
    stop reading, so the verdict stands before that line and forged ones are removed on both sides of it.
    """
    return _inserted(content, _lines(verdict, evidence))


def with_failure(content: bytes) -> bytes:
    """The message with the news that it could not be judged, in place of any verdict that it came with."""
    return _inserted(content, [FAILURE])


def _inserted(content: bytes, lines: Iterable[str]) -> bytes:
    head, rest = _parted(content)
    place = _end_of_fields(head)
    found = _BREAK.search(content)
    ending = found.group() if found else b"\n"
    written = ending.join(line.encode("ascii") for line in lines)
    between = ending if place and head[place - 1] not in b"\r\n" else b""
    return b"".join((head[:place], between, written, ending, head[place:], rest))


def _parted(content: bytes) -> tuple[bytes, bytes]:
    """What stands before the first empty line, without verdicts, and everything else."""
    empty = _EMPTY_LINE.search(content)
    at = empty.end() if empty else len(content)
    head = content[:at]
    if b"x-weigh" in head.lower():
        # A lone CR must not meet a line feed, which would swallow the empty line.
        head = _OURS.sub(lambda found: b"\r\n" if found[1] else b"", head)
    return head, content[at:]


def _end_of_fields(head: bytes) -> int:
    """Where the first line stands that is no header."""
    fields = _FIELDS.match(head)
    return fields.end() if fields else 0


def _lines(verdict: Judged, evidence: Iterable[Telling]) -> Iterator[str]:
    """The header, folded where a piece of evidence ends."""
    line = f"{NAME}: {verdict.label}, probability {verdict.probability:.6f}"
    for each in evidence:
        told = f"{_ascii(each.name)} {each.contribution:+.2f}"
        if len(line) + len(told) + 3 > COLUMNS:
            yield line + ";"
            line = " " + told
        else:
            line += "; " + told
    yield line


def _ascii(name: str) -> str:
    """A name that can do no harm in a header: quoted, or as mail programs decode it if it is not ASCII."""
    text = cut(name, _SIGNS)
    shown = text.replace("…", "...").replace("�", "?").replace('"', "'")
    if shown.isascii() and "=?" not in shown:
        return f'"{shown}"'
    few = text.encode("utf-8", "replace")[:_ENCODED_BYTES].decode("utf-8", "ignore")
    return f"=?utf-8?b?{base64.b64encode(few.encode()).decode()}?="
