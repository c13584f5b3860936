"""Masking: replace bytes that are not prose, except line ends, with fillers, so that offsets do not change.

CODE_BYTE (0x1A) replaces visible text that is not prose, a space replaces invisible markup, and
PARAGRAPH_BYTE (0x1D) marks the end of a paragraph. During masking MARKUP_BYTE (0x1C) stands for these spaces,
so that words with markup inside can be recognised once all markup is found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from string import ascii_letters, digits

CODE_BYTE, MARKUP_BYTE, PARAGRAPH_BYTE = 0x1A, 0x1C, 0x1D
# A masked text, and a prefix for the next piece that reopens a construct left open at the end.
MaskResult = tuple[bytes, bytes]
Filler = Callable[[bytes], bytes]
Spans = Iterable[tuple[int, int, Filler]]

# The text up to one of some characters (first) or an escaped one (second), within a paragraph.
SAME_PARAGRAPH = rb"(?:[^%s\n\\]|\\[^%s\n]|\n(?![ \t\r]*\n))*+"
# After an underscore that opens or closes emphasis: no letters or characters of addresses outside. Most
# punctuation in UTF-8 starts with the same bytes.
UNDERSCORE_OPENS = rb"(?:(?<![\w\x80-\xff/=]_)|(?<=\xc2[\x80-\xbf]_)|(?<=\xe2\x80[\x80-\xbf]_))"
UNDERSCORE_CLOSES = rb"(?<!\s_)(?![\w/]|[\x80-\xc1\xc3-\xe1\xe3-\xff]|\xe2[^\x80])"
BLANK_LINE = re.compile(rb"\n[ \t\r]*\n")
_LETTERS = (ascii_letters + digits).encode()
_SCHEME_BYTES = _LETTERS + b"+.-"
_MAILBOX_BYTES = _LETTERS + b"._%+-" + bytes(range(128, 256))
_PATH_BYTES = _LETTERS + b"._~-:" + bytes(range(128, 256))
_WORD_BYTES = _LETTERS + b"'" + bytes(range(128, 256))
_MAX_LOOKBEHIND = 64  # bytes before a match that may belong to its address or word

# The search for one leading character is fast; lookarounds decide the rest.
_ADDRESS_START = re.compile(rb"[:@/](?:(?<=:)(//)|(?<=@)()[A-Za-z0-9]|(?<=/)[\w.~-]++(/))")
_ADDRESS_REST = (
    re.compile(rb"[^\s<>\"\\\x1a\x1c\x1d]*+"),
    re.compile(rb"[A-Za-z0-9.-]*+"),
    re.compile(rb"[\w./~:-]*+"),
)
_MARKUP_INSIDE_WORD = re.compile(rb"\x1c(?<=[\w\x80-\xff'/@-]\x1c)\x1c*+(?=[\w\x80-\xff'/@.-])")
_REST_OF_WORD = re.compile(rb"(?:[\w\x80-\xff]|['/@.-](?=[\w\x80-\xff]))*+")
_WORD_JOINERS = frozenset("'’-‐‑/@_")
_BYTES_BEFORE_ADDRESS = (_SCHEME_BYTES, _MAILBOX_BYTES, _PATH_BYTES)
_TRAILING_PUNCTUATION = b".,;:!?)]}'*_"


def _translation_table(filler: int) -> bytes:
    return bytes(byte if byte in b"\r\n" else filler for byte in range(256))


_TRANSLATION_TABLES = {
    filler: _translation_table(filler) for filler in (CODE_BYTE, MARKUP_BYTE, PARAGRAPH_BYTE, 0x20)
}


def mask_code(text: bytes) -> bytes:
    """Mask visible text that is not prose."""
    return text.translate(_TRANSLATION_TABLES[CODE_BYTE])


def mask_markup(text: bytes) -> bytes:
    """Mask invisible markup."""
    return text.translate(_TRANSLATION_TABLES[MARKUP_BYTE])


def mask_space(text: bytes) -> bytes:
    """Mask text that is displayed as a space."""
    return text.translate(_TRANSLATION_TABLES[0x20])


def mask_paragraph_end(text: bytes) -> bytes:
    """Mask markup that ends a paragraph."""
    return text[:1].translate(_TRANSLATION_TABLES[PARAGRAPH_BYTE]) + mask_space(text[1:])


def mask_heading(text: bytes) -> bytes:
    """Mask the marker (two bytes or more) of a line that is a paragraph of its own."""
    return text.translate(_TRANSLATION_TABLES[PARAGRAPH_BYTE])


def mask_spans(text: bytes, spans: Spans) -> bytes:
    """Mask sorted, disjoint spans."""
    parts, end = [], 0
    for begin, stop, filler in spans:
        parts += [text[end:begin], filler(text[begin:stop])]
        end = stop
    return b"".join([*parts, text[end:]]) if parts else text


def resolve_markup_bytes(text: bytes) -> bytes:
    """Mask words with invisible markup inside, and replace other markup bytes with spaces."""
    if b"\x1c" not in text:
        return text
    return mask_spans(text, _words_with_markup_inside(text)).replace(b"\x1c", b" ")


def _words_with_markup_inside(text: bytes) -> Spans:
    end = 0
    for match in _MARKUP_INSIDE_WORD.finditer(text):
        begin, stop = match.span()
        if begin < end:
            continue
        # Eight bytes contain at least two whole characters, or all there are.
        before = text[max(0, begin - 8) : begin].decode(errors="ignore")[-2:]
        after = text[stop : stop + 8].decode(errors="ignore")[:2]
        if _is_inside_word(before, after):
            rest = _REST_OF_WORD.match(text, stop)
            begin, end = find_word_start(text, begin, end), rest.end() if rest else stop
            yield begin, end, mask_code


def _is_inside_word(before: str, after: str) -> bool:
    """Return whether the characters on both sides of markup belong to one word."""
    is_letter_before, is_letter_after = before[-1:].isalnum(), after[:1].isalnum()
    if is_letter_before and is_letter_after:
        return True
    if is_letter_before:
        return after[:1] in {*_WORD_JOINERS, "."} and after[1:].isalnum()
    return is_letter_after and before[-1:] in _WORD_JOINERS and before[:-1].isalnum()


def find_word_start(text: bytes, end: int, minimum: int) -> int:
    """Return the start, at least `minimum`, of the letters immediately before `end`."""
    before = text[max(minimum, end - _MAX_LOOKBEHIND) : end]
    begin = end - len(before) + len(before.rstrip(_WORD_BYTES))
    # Do not split a UTF-8 character.
    while begin < end and 0x80 <= text[begin] < 0xC0:
        begin += 1
    return begin


def mask_addresses(text: bytes) -> bytes:
    """Mask URLs, mail addresses, and paths with two or more slashes."""
    return mask_spans(text, _address_spans(text))


def _address_spans(text: bytes) -> Spans:
    end = 0
    for match in _ADDRESS_START.finditer(text):
        start = match.start()
        if start < end or match.lastindex is None:
            continue
        kind = match.lastindex - 1
        before = text[max(end, start - _MAX_LOOKBEHIND) : start]
        begin = start - len(before) + len(before.rstrip(_BYTES_BEFORE_ADDRESS[kind]))
        # A path may start with its slash; URLs and mail addresses need a scheme or a mailbox.
        if begin == start and kind < 2:
            continue
        rest = _ADDRESS_REST[kind].match(text, match.end())
        stop = rest.end() if rest else match.end()
        stop -= len(text[start:stop]) - len(text[start:stop].rstrip(_TRAILING_PUNCTUATION))
        # Do not split a UTF-8 character.
        while begin < start and 0x80 <= text[begin] < 0xC0:
            begin += 1
        yield begin, stop, mask_code
        end = stop
