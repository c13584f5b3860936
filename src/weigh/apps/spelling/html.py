"""HTML: the prose between tags; comments, scripts and code are hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weigh.apps.spelling.masking import Masked, Spans, hidden_match, hide, hide_addresses, start_of_word

COMMENT = b"<!--"
# Behind a "<": comments, and elements whose content is no prose.
RAW = rb"(?:!--|(?i:script|style|pre|code|kbd|samp|var|tt|textarea|svg|math|template|head)(?=[\s>]))"
# Up to the next tag or a blank line, so that a stray sign hides nothing and is looked at once.
TAG = rb"[A-Za-z/!?](?:[^<>\n\x1a]|\n(?![ \t\r]*\n))*+>"
_BEGIN = re.compile(rb"<" + RAW)
_TAG = re.compile(rb"<" + TAG)
# A word with a sign written out, such as there&rsquo;s: its parts are not words.
_ENTITY = re.compile(rb"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});[\w']*+")
_SPACES = (b"&nbsp;", b"&ensp;", b"&emsp;", b"&thinsp;", b"&#160;")


class Endings:
    """Where elements and comments end; what has no end is sought once only."""

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

    def _found(self, end: bytes, begin: int, text: bytes) -> int:
        if end in self._lacking:
            return -1
        at = text.find(end, begin)
        if at < 0:
            self._lacking.add(end)
            return -1
        at += len(end)
        return at + text.startswith(b">", at)


def html(text: bytes) -> Masked:
    """Hide everything but the text that a browser shows as prose."""
    raw = list(_raw(text))
    left = _BEGIN.match(text, raw[-1][0]) if raw and raw[-1][1] > len(text) else None
    opener = b"" if left is None else COMMENT if left[0] == COMMENT else left[0] + b">"
    text = hide(text, raw)
    text = _TAG.sub(hidden_match, text)
    return hide_addresses(hide_entities(text)), opener


def hide_entities(text: bytes) -> bytes:
    """Hide words with a sign that is written out."""
    return hide(text, _entities(text))


def _raw(text: bytes) -> Iterator[tuple[int, int]]:
    """Comments and elements of code; one that does not end goes beyond the text."""
    endings = Endings(text)
    done = 0
    for found in _BEGIN.finditer(text):
        if found.start() < done:
            continue
        done = endings.after(found.start(), found[0])
        if done < 0:
            done = len(text) + 1
        yield found.start(), done


def _entities(text: bytes) -> Spans:
    done = 0
    for found in _ENTITY.finditer(text):
        if not found[0].startswith(_SPACES):
            yield start_of_word(text, found.start(), done), found.end()
            done = found.end()
