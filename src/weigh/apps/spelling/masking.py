"""How text that is no prose is hidden: every byte but line ends becomes 0x1A, so that offsets stay."""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import ascii_letters, digits

HIDDEN = 0x1A
# A masked text, and what has to stand before the text that follows so that a construct left open goes on.
Masked = tuple[bytes, bytes]
Spans = Iterable[tuple[int, int]]

# The rest of a paragraph up to one of some signs; second are those that end it behind a backslash.
SAME_PARAGRAPH = rb"(?:[^%s\n\\]|\\[^%s\n]|\n(?![ \t\r]*\n))*+"
BLANK_LINE = re.compile(rb"\n[ \t\r]*\n")
_TABLE = bytes(byte if byte in b"\r\n" else HIDDEN for byte in range(256))
_LETTERS = (ascii_letters + digits).encode()
_OF_SCHEME = _LETTERS + b"+.-"
_OF_BOX = _LETTERS + b"._%+-" + bytes(range(128, 256))
_OF_PATH = _LETTERS + b"._~-:" + bytes(range(128, 256))
_OF_WORD = _LETTERS + b"'" + bytes(range(128, 256))
_BACK = 64  # bytes before a sign that may belong to an address or a word

# The first sign alone is sought, which is quick; what follows it decides.
_CANDIDATE = re.compile(rb"[:@/](?:(?<=:)(//)|(?<=@)()[A-Za-z0-9]|(?<=/)[\w.~-]++(/))")
_REST = (
    re.compile(rb"[^\s<>\"\\\x1a]*+"),
    re.compile(rb"[A-Za-z0-9.-]*+"),
    re.compile(rb"[\w./~:-]*+"),
)
_BEFORE = (_OF_SCHEME, _OF_BOX, _OF_PATH)
_AFTER_ADDRESS = b".,;:!?)]}'*_"


def hidden(text: bytes) -> bytes:
    """Hide all of a text."""
    return text.translate(_TABLE)


def hidden_match(found: re.Match[bytes]) -> bytes:
    """Hide what a pattern has found."""
    return found[0].translate(_TABLE)


def hide(text: bytes, spans: Spans) -> bytes:
    """Hide spans, which are sorted and do not overlap."""
    parts, done = [], 0
    for begin, end in spans:
        parts += [text[done:begin], text[begin:end].translate(_TABLE)]
        done = end
    return b"".join([*parts, text[done:]]) if parts else text


def start_of_word(text: bytes, at: int, least: int) -> int:
    """Where the letters right before a place begin, not before `least`."""
    before = text[max(least, at - _BACK) : at]
    begin = at - len(before) + len(before.rstrip(_OF_WORD))
    # Not within a sign.
    while begin < at and 0x80 <= text[begin] < 0xC0:
        begin += 1
    return begin


def hide_addresses(text: bytes) -> bytes:
    """Hide URLs, mail addresses, and paths of two slashes or more."""
    return hide(text, _addresses(text))


def _addresses(text: bytes) -> Spans:
    done = 0
    for found in _CANDIDATE.finditer(text):
        at = found.start()
        if at < done or found.lastindex is None:
            continue
        kind = found.lastindex - 1
        before = text[max(done, at - _BACK) : at]
        begin = at - len(before) + len(before.rstrip(_BEFORE[kind]))
        # A path may begin with its slash; the others need a scheme or a mailbox.
        if begin == at and kind < 2:
            continue
        rest = _REST[kind].match(text, found.end())
        end = rest.end() if rest else found.end()
        end -= len(text[at:end]) - len(text[at:end].rstrip(_AFTER_ADDRESS))
        # Cut only between signs, not within one.
        while begin < at and 0x80 <= text[begin] < 0xC0:
            begin += 1
        yield begin, end
        done = end
