"""HTML: the prose between tags; comments, scripts and code are hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weigh.apps.spelling.masking import (
    Filler,
    Masked,
    Spans,
    blank,
    code,
    end,
    hide,
    hide_addresses,
    seam,
    start_of_word,
)

COMMENT = b"<!--"
# Behind a "<": comments, and elements whose content is no prose.
RAW = rb"(?:!--|(?i:script|style|pre|code|kbd|samp|var|tt|textarea|svg|math|template|head)(?=[\s>]))"
# Up to the next tag or a blank line, so that a stray sign hides nothing and is looked at once; a value in
# quotes may have the sign that ends a tag.
TAG = rb"[A-Za-z/!?](?:=\"[^\"<\n\x1a]*+\"|='[^'<\n\x1a]*+'|[^<>\n\x1a]|\n(?![ \t\r]*\n))*+>"
_BEGIN = re.compile(rb"<" + RAW)
_TAG = re.compile(rb"<" + TAG)
_NAME = re.compile(rb"</?([A-Za-z][A-Za-z0-9-]*+)(?=[\s/>])")
# Elements that part what a reader sees; all others stand within a sentence.
_PARTING = b"""
    address article aside blockquote body button caption center col colgroup dd details dialog div dl dt
    fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 header hgroup hr html iframe
    label legend li link main menu meta nav object ol optgroup option p section select summary table tbody
    td tfoot th thead title tr ul video
"""
_BLOCKS = frozenset(_PARTING.split())
# A word with a sign written out, such as there&rsquo;s: its parts are not words.
_ENTITY = re.compile(rb"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});[\w']*+")
_SPACES = re.compile(rb"&(?:nbsp|ensp|emsp|thinsp|#160|#[xX][aA]0);")


def filler_of_tag(tag: bytes) -> Filler:
    """How a tag is hidden: by what it does to the text around it."""
    found = _NAME.match(tag)
    if found is None:
        return seam if tag.startswith((b"</", b"<!", b"<?")) else code
    name = found[1].lower()
    return end if name in _BLOCKS else blank if name in {b"br", b"wbr"} else seam


class Endings:
    """Where elements, comments and environments end; what has no end is sought once only."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._lower = b""
        self._lacking: set[bytes] = set()

    def after(self, begin: int, opening: bytes) -> int:
        """Where what opens at a place ends, or -1."""
        if opening == COMMENT:
            return self._found(b"-->", begin + len(COMMENT), self._text)
        self._lower = self._lower or self._text.lower()
        return self._found(b"</" + opening[1:].lower(), begin, self._lower)

    def after_environment(self, begin: int, opening: bytes) -> int:
        """Where an environment of LaTeX that opens at a place ends, or -1."""
        return self._found(opening.replace(b"begin", b"end", 1), begin, self._text)

    def _found(self, mark: bytes, begin: int, text: bytes) -> int:
        if mark in self._lacking:
            return -1
        at = text.find(mark, begin)
        if at < 0:
            self._lacking.add(mark)
            return -1
        at += len(mark)
        return at + text.startswith(b">", at)


def html(text: bytes) -> Masked:
    """Hide everything but the text that a browser shows as prose."""
    raw = list(_raw(text))
    left = _BEGIN.match(text, raw[-1][0]) if raw and raw[-1][1] > len(text) else None
    opener = b"" if left is None else COMMENT if left[0] == COMMENT else left[0] + b">"
    text = hide(text, raw)
    text = _TAG.sub(lambda found: filler_of_tag(found[0])(found[0]), text)
    return hide_addresses(hide_entities(text)), opener


def hide_entities(text: bytes) -> bytes:
    """Hide words with a sign that is written out; some are blanks."""
    if b"&" in text:
        text = _SPACES.sub(lambda found: blank(found[0]), text)
    return hide(text, _entities(text))


def _raw(text: bytes) -> Iterator[tuple[int, int, Filler]]:
    """Comments and elements of code; one that does not end goes beyond the text."""
    endings = Endings(text)
    done = 0
    for found in _BEGIN.finditer(text):
        if found.start() < done:
            continue
        done = endings.after(found.start(), found[0])
        if done < 0:
            done = len(text) + 1
        yield found.start(), done, seam if found[0] == COMMENT else code


def _entities(text: bytes) -> Spans:
    done = 0
    for found in _ENTITY.finditer(text):
        begin, done = start_of_word(text, found.start(), done), found.end()
        yield begin, done, code
