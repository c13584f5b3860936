"""Masking of HTML: tags, comments, scripts, code and character references."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weigh.apps.spelling.markup.masking import (
    Filler,
    MaskResult,
    Spans,
    find_word_start,
    mask_addresses,
    mask_code,
    mask_markup,
    mask_paragraph_end,
    mask_space,
    mask_spans,
)

COMMENT_START = b"<!--"
# After a "<": comments, and elements whose content is not prose.
RAW_ELEMENT_START = (
    rb"(?:!--|(?i:script|style|pre|code|kbd|samp|var|tt|textarea|svg|math|template|head)(?=[\s>]))"
)
# Ends at the next tag or a blank line, so that a stray "<" masks nothing and matching takes linear time. A
# quoted value may contain ">".
TAG = rb"[A-Za-z/!?](?:=\"[^\"<\n\x1a]*+\"|='[^'<\n\x1a]*+'|[^<>\n\x1a]|\n(?![ \t\r]*\n))*+>"
_RAW_ELEMENT = re.compile(rb"<" + RAW_ELEMENT_START)
_TAG = re.compile(rb"<" + TAG)
_TAG_NAME = re.compile(rb"</?([A-Za-z][A-Za-z0-9-]*+)(?=[\s/>])")
# Elements that separate paragraphs; all others are inline.
_BLOCK_ELEMENT_NAMES = b"""
    address article aside blockquote body button caption center col colgroup dd details dialog div dl dt
    fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 header hgroup hr html iframe
    label legend li link main menu meta nav object ol optgroup option p section select summary table tbody
    td tfoot th thead title tr ul video
"""
_BLOCK_ELEMENTS = frozenset(_BLOCK_ELEMENT_NAMES.split())
# A word from its first character reference on, such as there&rsquo;s: its parts are not words.
_ENTITY = re.compile(rb"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});[\w']*+")
_SPACE_ENTITY = re.compile(rb"&(?:nbsp|ensp|emsp|thinsp|#160|#[xX][aA]0);")


def tag_filler(tag: bytes) -> Filler:
    """Return the filler of a tag: paragraph end, space or invisible markup."""
    match = _TAG_NAME.match(tag)
    if match is None:
        return mask_markup if tag.startswith((b"</", b"<!", b"<?")) else mask_code
    name = match[1].lower()
    if name in _BLOCK_ELEMENTS:
        return mask_paragraph_end
    return mask_space if name in {b"br", b"wbr"} else mask_markup


class ClosingTagFinder:
    """Finds the ends of elements, comments and environments; a missing end is searched for only once."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._lower = b""
        self._unclosed: set[bytes] = set()

    def find_end(self, begin: int, opening: bytes) -> int:
        """Return the end of the comment or element that opens at `begin`, or -1."""
        if opening == COMMENT_START:
            return self._find(b"-->", begin + len(COMMENT_START), self._text)
        self._lower = self._lower or self._text.lower()
        return self._find(b"</" + opening[1:].lower(), begin, self._lower)

    def find_environment_end(self, begin: int, opening: bytes) -> int:
        """Return the end of the LaTeX environment that opens at `begin`, or -1."""
        return self._find(opening.replace(b"begin", b"end", 1), begin, self._text)

    def _find(self, closing: bytes, begin: int, text: bytes) -> int:
        if closing in self._unclosed:
            return -1
        index = text.find(closing, begin)
        if index < 0:
            self._unclosed.add(closing)
            return -1
        end = index + len(closing)
        return end + text.startswith(b">", end)


def mask_html(text: bytes) -> MaskResult:
    """Mask everything but the prose that a browser displays."""
    raw = list(_raw_element_spans(text))
    unclosed = _RAW_ELEMENT.match(text, raw[-1][0]) if raw and raw[-1][1] > len(text) else None
    opener = (
        b"" if unclosed is None else COMMENT_START if unclosed[0] == COMMENT_START else unclosed[0] + b">"
    )
    text = mask_spans(text, raw)
    text = _TAG.sub(lambda match: tag_filler(match[0])(match[0]), text)
    return mask_addresses(mask_entities(text)), opener


def mask_entities(text: bytes) -> bytes:
    """Mask words with character references; references to spaces become spaces."""
    if b"&" in text:
        text = _SPACE_ENTITY.sub(lambda match: mask_space(match[0]), text)
    return mask_spans(text, _entity_spans(text))


def _raw_element_spans(text: bytes) -> Iterator[tuple[int, int, Filler]]:
    """Yield comments and elements of code; the end of an unclosed one is after the text."""
    finder = ClosingTagFinder(text)
    end = 0
    for match in _RAW_ELEMENT.finditer(text):
        if match.start() < end:
            continue
        end = finder.find_end(match.start(), match[0])
        if end < 0:
            end = len(text) + 1
        yield match.start(), end, mask_markup if match[0] == COMMENT_START else mask_code


def _entity_spans(text: bytes) -> Spans:
    end = 0
    for match in _ENTITY.finditer(text):
        begin, end = find_word_start(text, match.start(), end), match.end()
        yield begin, end, mask_code
