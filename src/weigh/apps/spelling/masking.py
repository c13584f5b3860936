"""How text that is no prose is hidden: bytes but line ends become fillers, so that offsets stay.

CODE (0x1A) stands where a reader sees something that is no prose, a blank where there is markup that a reader
does not see, and END (0x1D) where a paragraph ends. While a text is masked, SEAM stands for such blanks: what
joins two parts of a word is known again when all markup is found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from string import ascii_letters, digits

CODE, SEAM, END = 0x1A, 0x1C, 0x1D
# A masked text, and what has to stand before the text that follows so that a construct left open goes on.
Masked = tuple[bytes, bytes]
Filler = Callable[[bytes], bytes]
Spans = Iterable[tuple[int, int, Filler]]

# The rest of a paragraph up to one of some signs; second are those that end it behind a backslash.
SAME_PARAGRAPH = rb"(?:[^%s\n\\]|\\[^%s\n]|\n(?![ \t\r]*\n))*+"
# Behind an underscore, and behind one that ends a span: no letters outside, nor what addresses have. Most
# marks in UTF-8 begin with the same bytes.
OPENING = rb"(?:(?<![\w\x80-\xff/=]_)|(?<=\xc2[\x80-\xbf]_)|(?<=\xe2\x80[\x80-\xbf]_))"
CLOSING = rb"(?<!\s_)(?![\w/]|[\x80-\xc1\xc3-\xe1\xe3-\xff]|\xe2[^\x80])"
BLANK_LINE = re.compile(rb"\n[ \t\r]*\n")
_LETTERS = (ascii_letters + digits).encode()
_OF_SCHEME = _LETTERS + b"+.-"
_OF_BOX = _LETTERS + b"._%+-" + bytes(range(128, 256))
_OF_PATH = _LETTERS + b"._~-:" + bytes(range(128, 256))
_OF_WORD = _LETTERS + b"'" + bytes(range(128, 256))
_BACK = 64  # bytes before a sign that may belong to an address or a word

# The first sign alone is sought, which is quick; what follows it decides.
_CANDIDATE = re.compile(rb"[:@/](?:(?<=:)(//)|(?<=@)()[A-Za-z0-9]|(?<=/)[\w.~-]++(/))")
_REST = (
    re.compile(rb"[^\s<>\"\\\x1a\x1c\x1d]*+"),
    re.compile(rb"[A-Za-z0-9.-]*+"),
    re.compile(rb"[\w./~:-]*+"),
)
_SEAM = re.compile(rb"\x1c(?<=[\w\x80-\xff'/@-]\x1c)\x1c*+(?=[\w\x80-\xff'/@.-])")
_REST_OF_WORD = re.compile(rb"(?:[\w\x80-\xff]|['/@.-](?=[\w\x80-\xff]))*+")
_JOINTS = frozenset("'’-‐‑/@_")
_BEFORE = (_OF_SCHEME, _OF_BOX, _OF_PATH)
_AFTER_ADDRESS = b".,;:!?)]}'*_"


def _table(filler: int) -> bytes:
    return bytes(byte if byte in b"\r\n" else filler for byte in range(256))


_TABLES = {filler: _table(filler) for filler in (CODE, SEAM, END, 0x20)}


def code(text: bytes) -> bytes:
    """Hide what a reader sees but does not read as prose."""
    return text.translate(_TABLES[CODE])


def seam(text: bytes) -> bytes:
    """Hide what a reader does not see."""
    return text.translate(_TABLES[SEAM])


def blank(text: bytes) -> bytes:
    """Hide what a reader sees as a blank."""
    return text.translate(_TABLES[0x20])


def end(text: bytes) -> bytes:
    """Hide what ends a paragraph."""
    return text[:1].translate(_TABLES[END]) + blank(text[1:])


def heading(text: bytes) -> bytes:
    """Hide the sign, two bytes or more, of a line that is a paragraph by itself."""
    return text.translate(_TABLES[END])


def hide(text: bytes, spans: Spans) -> bytes:
    """Hide spans, which are sorted and do not overlap."""
    parts, done = [], 0
    for begin, stop, filler in spans:
        parts += [text[done:begin], filler(text[begin:stop])]
        done = stop
    return b"".join([*parts, text[done:]]) if parts else text


def settled(text: bytes) -> bytes:
    """Make blanks of what a reader does not see, and hide words that have such a thing within them."""
    return hide(text, _torn(text)).replace(b"\x1c", b" ") if b"\x1c" in text else text


def _torn(text: bytes) -> Spans:
    done = 0
    for found in _SEAM.finditer(text):
        begin, stop = found.span()
        if begin < done:
            continue
        # Eight bytes hold two characters, and begin or end within others.
        before = text[max(0, begin - 8) : begin].decode(errors="ignore")[-2:]
        after = text[stop : stop + 8].decode(errors="ignore")[:2]
        if _is_torn(before, after):
            rest = _REST_OF_WORD.match(text, stop)
            begin, done = start_of_word(text, begin, done), rest.end() if rest else stop
            yield begin, done, code


def _is_torn(before: str, after: str) -> bool:
    """Whether what meets at a seam is one word: letters, or letters and what joins letters."""
    ends, begins = before[-1:].isalnum(), after[:1].isalnum()
    if ends and begins:
        return True
    if ends:
        return after[:1] in {*_JOINTS, "."} and after[1:].isalnum()
    return begins and before[-1:] in _JOINTS and before[:-1].isalnum()


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
        stop = rest.end() if rest else found.end()
        stop -= len(text[at:stop]) - len(text[at:stop].rstrip(_AFTER_ADDRESS))
        # Cut only between signs, not within one.
        while begin < at and 0x80 <= text[begin] < 0xC0:
            begin += 1
        yield begin, stop, code
        done = stop
