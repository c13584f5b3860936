"""Markdown: the prose of it; code, addresses, tags, mathematics and front matter are hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weigh.apps.spelling.html import COMMENT, RAW, TAG, Endings, hide_entities
from weigh.apps.spelling.markdown_blocks import blocks
from weigh.apps.spelling.masking import BLANK_LINE, SAME_PARAGRAPH, Masked, hidden, hide, hide_addresses

_DOLLARS = SAME_PARAGRAPH % (rb"$\x1a", b"")
# The first sign alone is sought, which is quick; what follows it decides. No part goes beyond the next sign
# of its own kind, so that a text of nothing but such signs takes no longer than any other.
_INLINE = re.compile(
    rb"[\\$<(\[{](?:"
    rb"(?<=\\)(?:\(" + SAME_PARAGRAPH % (rb"\x1a", b"()") + rb"\\\)"
    rb"|(?<=\n\\)\[" + SAME_PARAGRAPH % (rb"\x1a", rb"\[\]") + rb"\\\]"
    rb"|(?P<escaped>[!-/:-@\[-`{-~]))"
    rb"|(?<=\$)(?:\$" + _DOLLARS + rb"\$\$|(?![\s$])" + _DOLLARS + rb"\$(?<!\s\$)(?!\d))"
    rb"|(?<=<)" + TAG + rb"|(?<=\]\()[ \t]*+"
    rb"(?:<[^<>\n]*+>|(?:[^\s()\[\]<>\\\x1a]|\\[^\n]|\((?:[^\s()\[\]<>\\\x1a]|\\[^\n])*+\))*+)(?=\s*+\)|\s++[\"'(])"
    rb"|(?<=\]\[)[^\[\]\n\x1a]*+\]"
    rb"|(?<=\[)\^[^\[\]\s]++\]"
    rb"|(?<=\{)[^{}\n\x1a]*+\})"
)
_REFERENCE = re.compile(rb"\n[ \t>]*+\[(?:\^[^\[\]\s]++\]:|[^\[\]\n]++\]:[ \t]*+\S*+)")
_CODE_OR_RAW = re.compile(rb"[`<](?:(?<=`)`*+|(?<=<)" + RAW + rb")")
_LINE_START = re.compile(rb"(?:\A|\n)[ \t>]*+\Z")


def markdown(text: bytes) -> Masked:
    """Hide everything but the prose of a Markdown text."""
    text, opener = blocks(text)
    raw = list(_spans(text))
    if raw and raw[-1][1] > len(text):
        opener = COMMENT
    text = hide(text, raw)
    text = _INLINE.sub(_hidden, text)
    if b"]:" in text:
        text = _REFERENCE.sub(_hidden, b"\n" + text)[1:]
    return hide_addresses(hide_entities(text)), opener


def _hidden(found: re.Match[bytes]) -> bytes:
    return found[0] if found.lastgroup == "escaped" else hidden(found[0])


def _spans(text: bytes) -> Iterator[tuple[int, int]]:
    """Code, comments, and elements of HTML that hold code; a comment without end goes beyond the text."""
    found = [(each.start(), each[0]) for each in _CODE_OR_RAW.finditer(text)]
    partners = _partners([sign for _, sign in found])
    endings = Endings(text)
    done = 0
    for (begin, sign), partner in zip(found, partners, strict=True):
        if begin < done:
            continue
        end = -1
        if not sign.startswith(b"`"):
            end = endings.after(begin, sign)
            if end < 0 and sign == COMMENT and _LINE_START.search(text[max(0, begin - 64) : begin]):
                end = len(text) + 1
        elif partner >= 0 and text[begin - 1 : begin] != b"\\":
            end = found[partner][0] + len(sign)
            end = -1 if BLANK_LINE.search(text, begin, end) else end
        if end >= 0:
            yield begin, end
            done = end


def _partners(signs: list[bytes]) -> list[int]:
    """For each run of backticks the next one of its length, or -1."""
    partners = [-1] * len(signs)
    later: dict[int, int] = {}
    for at in range(len(signs) - 1, -1, -1):
        if signs[at].startswith(b"`"):
            partners[at] = later.get(len(signs[at]), -1)
            later[len(signs[at])] = at
    return partners
