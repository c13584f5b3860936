"""How text that is no prose is hidden: bytes but line ends become fillers, so that offsets stay.

CODE (0x1A) stands where a reader sees something that is no prose, a blank where there is markup that a reader
does not see, and END (0x1D) where a paragraph ends. While a text is masked, SEAM stands for such blanks: what
joins two parts of a word is known again when all markup is found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from string import ascii_letters, digits

CODE_BYTE, MARKUP_BYTE, PARAGRAPH_BYTE = 0x1A, 0x1C, 0x1D
# A masked text, and what has to stand before the text that follows so that a construct left open goes on.
MaskResult = tuple[bytes, bytes]
Filler = Callable[[bytes], bytes]
Spans = Iterable[tuple[int, int, Filler]]

# The rest of a paragraph up to one of some signs; second are those that end it behind a backslash.
SAME_PARAGRAPH = rb"(?:[^%s\n\\]|\\[^%s\n]|\n(?![ \t\r]*\n))*+"
# Behind an underscore, and behind one that ends a span: no letters outside, nor what addresses have. Most
# marks in UTF-8 begin with the same bytes.
UNDERSCORE_OPENS = rb"(?:(?<![\w\x80-\xff/=]_)|(?<=\xc2[\x80-\xbf]_)|(?<=\xe2\x80[\x80-\xbf]_))"
UNDERSCORE_CLOSES = rb"(?<!\s_)(?![\w/]|[\x80-\xc1\xc3-\xe1\xe3-\xff]|\xe2[^\x80])"
BLANK_LINE = re.compile(rb"\n[ \t\r]*\n")
_LETTERS = (ascii_letters + digits).encode()
_SCHEME_BYTES = _LETTERS + b"+.-"
_MAILBOX_BYTES = _LETTERS + b"._%+-" + bytes(range(128, 256))
_PATH_BYTES = _LETTERS + b"._~-:" + bytes(range(128, 256))
_WORD_BYTES = _LETTERS + b"'" + bytes(range(128, 256))
_MAX_LOOKBEHIND = 64  # bytes before a sign that may belong to an address or a word

# The first sign alone is sought, which is quick; what follows it decides.
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
    """Hide what a reader sees but does not read as prose."""
    return text.translate(_TRANSLATION_TABLES[CODE_BYTE])


def mask_markup(text: bytes) -> bytes:
    """Hide what a reader does not see."""
    return text.translate(_TRANSLATION_TABLES[MARKUP_BYTE])


def mask_space(text: bytes) -> bytes:
    """Hide what a reader sees as a blank."""
    return text.translate(_TRANSLATION_TABLES[0x20])


def mask_paragraph_end(text: bytes) -> bytes:
    """Hide what ends a paragraph."""
    return text[:1].translate(_TRANSLATION_TABLES[PARAGRAPH_BYTE]) + mask_space(text[1:])


def mask_heading(text: bytes) -> bytes:
    """Hide the sign, two bytes or more, of a line that is a paragraph by itself."""
    return text.translate(_TRANSLATION_TABLES[PARAGRAPH_BYTE])


def mask_spans(text: bytes, spans: Spans) -> bytes:
    """Hide spans, which are sorted and do not overlap."""
    parts, done = [], 0
    for begin, stop, filler in spans:
        parts += [text[done:begin], filler(text[begin:stop])]
        done = stop
    return b"".join([*parts, text[done:]]) if parts else text


def resolve_markup_bytes(text: bytes) -> bytes:
    """Make blanks of what a reader does not see, and hide words that have such a thing within them."""
    return (
        mask_spans(text, _words_with_markup_inside(text)).replace(b"\x1c", b" ") if b"\x1c" in text else text
    )


def _words_with_markup_inside(text: bytes) -> Spans:
    done = 0
    for found in _MARKUP_INSIDE_WORD.finditer(text):
        begin, stop = found.span()
        if begin < done:
            continue
        # Eight bytes hold two characters, and begin or end within others.
        before = text[max(0, begin - 8) : begin].decode(errors="ignore")[-2:]
        after = text[stop : stop + 8].decode(errors="ignore")[:2]
        if _is_inside_word(before, after):
            rest = _REST_OF_WORD.match(text, stop)
            begin, done = find_word_start(text, begin, done), rest.end() if rest else stop
            yield begin, done, mask_code


def _is_inside_word(before: str, after: str) -> bool:
    """Whether what meets at a seam is one word: letters, or letters and what joins letters."""
    ends, begins = before[-1:].isalnum(), after[:1].isalnum()
    if ends and begins:
        return True
    if ends:
        return after[:1] in {*_WORD_JOINERS, "."} and after[1:].isalnum()
    return begins and before[-1:] in _WORD_JOINERS and before[:-1].isalnum()


def find_word_start(text: bytes, at: int, least: int) -> int:
    """Where the letters right before a place begin, not before `least`."""
    before = text[max(least, at - _MAX_LOOKBEHIND) : at]
    begin = at - len(before) + len(before.rstrip(_WORD_BYTES))
    # Not within a sign.
    while begin < at and 0x80 <= text[begin] < 0xC0:
        begin += 1
    return begin


def mask_addresses(text: bytes) -> bytes:
    """Hide URLs, mail addresses, and paths of two slashes or more."""
    return mask_spans(text, _address_spans(text))


def _address_spans(text: bytes) -> Spans:
    done = 0
    for found in _ADDRESS_START.finditer(text):
        at = found.start()
        if at < done or found.lastindex is None:
            continue
        kind = found.lastindex - 1
        before = text[max(done, at - _MAX_LOOKBEHIND) : at]
        begin = at - len(before) + len(before.rstrip(_BYTES_BEFORE_ADDRESS[kind]))
        # A path may begin with its slash; the others need a scheme or a mailbox.
        if begin == at and kind < 2:
            continue
        rest = _ADDRESS_REST[kind].match(text, found.end())
        stop = rest.end() if rest else found.end()
        stop -= len(text[at:stop]) - len(text[at:stop].rstrip(_TRAILING_PUNCTUATION))
        # Cut only between signs, not within one.
        while begin < at and 0x80 <= text[begin] < 0xC0:
            begin += 1
        yield begin, stop, mask_code
        done = stop
