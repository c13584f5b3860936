"""HTML: the prose between tags; comments, scripts and code are hidden."""

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
# Behind a "<": comments, and elements whose content is no prose.
RAW_ELEMENT_START = (
    rb"(?:!--|(?i:script|style|pre|code|kbd|samp|var|tt|textarea|svg|math|template|head)(?=[\s>]))"
)
# Up to the next tag or a blank line, so that a stray sign hides nothing and is looked at once; a value in
# quotes may have the sign that ends a tag.
TAG = rb"[A-Za-z/!?](?:=\"[^\"<\n\x1a]*+\"|='[^'<\n\x1a]*+'|[^<>\n\x1a]|\n(?![ \t\r]*\n))*+>"
_RAW_ELEMENT = re.compile(rb"<" + RAW_ELEMENT_START)
_TAG = re.compile(rb"<" + TAG)
_TAG_NAME = re.compile(rb"</?([A-Za-z][A-Za-z0-9-]*+)(?=[\s/>])")
# Elements that part what a reader sees; all others stand within a sentence.
_BLOCK_ELEMENT_NAMES = b"""
    address article aside blockquote body button caption center col colgroup dd details dialog div dl dt
    fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 header hgroup hr html iframe
    label legend li link main menu meta nav object ol optgroup option p section select summary table tbody
    td tfoot th thead title tr ul video
"""
_BLOCK_ELEMENTS = frozenset(_BLOCK_ELEMENT_NAMES.split())
# A word with a sign written out, such as there&rsquo;s: its parts are not words.
_ENTITY = re.compile(rb"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});[\w']*+")
_SPACE_ENTITY = re.compile(rb"&(?:nbsp|ensp|emsp|thinsp|#160|#[xX][aA]0);")


def tag_filler(tag: bytes) -> Filler:
    """How a tag is hidden: by what it does to the text around it."""
    found = _TAG_NAME.match(tag)
    if found is None:
        return mask_markup if tag.startswith((b"</", b"<!", b"<?")) else mask_code
    name = found[1].lower()
    return (
        mask_paragraph_end
        if name in _BLOCK_ELEMENTS
        else mask_space
        if name in {b"br", b"wbr"}
        else mask_markup
    )


class ClosingTagFinder:
    """Where elements, comments and environments end; what has no end is sought once only."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._lower = b""
        self._unclosed: set[bytes] = set()

    def find_end(self, begin: int, opening: bytes) -> int:
        """Where what opens at a place ends, or -1."""
        if opening == COMMENT_START:
            return self._find(b"-->", begin + len(COMMENT_START), self._text)
        self._lower = self._lower or self._text.lower()
        return self._find(b"</" + opening[1:].lower(), begin, self._lower)

    def find_environment_end(self, begin: int, opening: bytes) -> int:
        """Where an environment of LaTeX that opens at a place ends, or -1."""
        return self._find(opening.replace(b"begin", b"end", 1), begin, self._text)

    def _find(self, mark: bytes, begin: int, text: bytes) -> int:
        if mark in self._unclosed:
            return -1
        at = text.find(mark, begin)
        if at < 0:
            self._unclosed.add(mark)
            return -1
        at += len(mark)
        return at + text.startswith(b">", at)


def mask_html(text: bytes) -> MaskResult:
    """Hide everything but the text that a browser shows as prose."""
    raw = list(_raw_element_spans(text))
    left = _RAW_ELEMENT.match(text, raw[-1][0]) if raw and raw[-1][1] > len(text) else None
    opener = b"" if left is None else COMMENT_START if left[0] == COMMENT_START else left[0] + b">"
    text = mask_spans(text, raw)
    text = _TAG.sub(lambda found: tag_filler(found[0])(found[0]), text)
    return mask_addresses(mask_entities(text)), opener


def mask_entities(text: bytes) -> bytes:
    """Hide words with a sign that is written out; some are blanks."""
    if b"&" in text:
        text = _SPACE_ENTITY.sub(lambda found: mask_space(found[0]), text)
    return mask_spans(text, _entity_spans(text))


def _raw_element_spans(text: bytes) -> Iterator[tuple[int, int, Filler]]:
    """Comments and elements of code; one that does not end goes beyond the text."""
    endings = ClosingTagFinder(text)
    done = 0
    for found in _RAW_ELEMENT.finditer(text):
        if found.start() < done:
            continue
        done = endings.find_end(found.start(), found[0])
        if done < 0:
            done = len(text) + 1
        yield found.start(), done, mask_markup if found[0] == COMMENT_START else mask_code


def _entity_spans(text: bytes) -> Spans:
    done = 0
    for found in _ENTITY.finditer(text):
        begin, done = find_word_start(text, found.start(), done), found.end()
        yield begin, done, mask_code
