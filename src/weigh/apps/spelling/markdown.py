"""Markdown: the prose of it; code, addresses, tags, mathematics and front matter are hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter

from weigh.apps.spelling.html import COMMENT, RAW, TAG, Endings, filler_of_tag, hide_entities
from weigh.apps.spelling.latex_commands import is_mathematics
from weigh.apps.spelling.markdown_blocks import blocks, hide_marks
from weigh.apps.spelling.masking import (
    BLANK_LINE,
    CLOSING,
    OPENING,
    SAME_PARAGRAPH,
    Filler,
    Masked,
    code,
    end,
    hide,
    hide_addresses,
    seam,
)

_DOLLARS = SAME_PARAGRAPH % (rb"$\x1a", b"")
_TARGET = (
    rb"[ \t]*+(?:<[^<>\n]*+>|(?:[^\s()\[\]<>\\\x1a]|\\[^\n]|\((?:[^\s()\[\]<>\\\x1a]|\\[^\n])*+\))*+)"
    rb"(?:\s++(?:\"[^\"\n]*+\"|'[^'\n]*+'|\([^()\n]*+\)))?+\s*+\)"
)
# The first sign alone is sought, which is quick; what follows it decides. No part goes beyond the next sign
# of its own kind, so that a text of nothing but such signs takes no longer than any other.
_INLINE = re.compile(
    rb"[\\$<\[\]{*_~|](?:"
    rb"(?<=\\)(?:(?P<formula>\(" + SAME_PARAGRAPH % (rb"\x1a", b"()") + rb"\\\))"
    rb"|(?P<display>(?<=\n\\)\[" + SAME_PARAGRAPH % (rb"\x1a", rb"\[\]") + rb"\\\])"
    rb"|(?P<escaped>[!-/:-@\[-`{-~]))"
    rb"|(?<=\$)(?:(?P<dollars>\$" + _DOLLARS + rb"\$\$)"
    rb"|(?P<dollar>(?![\s$])" + _DOLLARS + rb"\$(?<!\s\$)(?!\d)))"
    rb"|(?<=<)(?P<tag>" + TAG + rb")"
    rb"|(?<=\[)(?:(?P<note>\^[^\[\]\s]++\])|(?P<opens>))"
    rb"|(?<=\])(?:(?P<target>\(" + _TARGET + rb"|\[[^\[\]\n\x1a]*+\])|(?P<closes>))"
    rb"|(?<=\{)(?:(?P<attributes>[#.:][^{}\n\x1a]*+\})|(?P<template>[^{}\n\x1a]*+\}))"
    rb"|(?<=\*)(?P<stars>(?<=\S\*)\**+|\**+(?=\S))"
    rb"|(?<=_)(?P<underscores>" + OPENING + rb"_*+(?=\S)|_*+" + CLOSING + rb")"
    rb"|(?<=~)(?P<strike>~(?!~))"
    rb"|(?<=\|)(?P<bar>(?<=[ \t\n]\|)|(?=[ \t\r\n]|\Z)))"
)
_FILLERS: dict[str | None, Filler] = {
    **dict.fromkeys(["formula", "dollar", "template"], code),
    **dict.fromkeys(["display", "dollars", "bar"], end),
    **dict.fromkeys(["note", "attributes", "stars", "underscores", "strike"], seam),
}
_REFERENCE = re.compile(rb"\n([ \t>]*+\[(?:\^[^\[\]\s]++\]:|[^\[\]\n]++\]:[ \t]*+\S*+))")
_CODE_OR_RAW = re.compile(rb"[`<\\](?:(?<=`)`*+|(?<=<)" + RAW + rb"|(?<=\\)begin\{[A-Za-z]++\*?\})")
_LINE_START = re.compile(rb"(?:\A|\n)[ \t>]*+\Z")


def markdown(text: bytes) -> Masked:
    """Hide everything but the prose of a Markdown text."""
    text, opener = blocks(text)
    raw = list(_spans(text))
    if raw and raw[-1][1] > len(text):
        opener = COMMENT
    text = hide(text, raw)
    if b"]:" in text:
        text = _REFERENCE.sub(lambda found: b"\n" + end(found[1]), b"\n" + text)[1:]
    text = hide_marks(text)
    text = hide(text, sorted(_inline(text), key=itemgetter(0)))
    return hide_addresses(hide_entities(text)), opener


def _inline(text: bytes) -> Iterator[tuple[int, int, Filler]]:
    """Markup within paragraphs; the beginning of a link comes behind its text."""
    opened: list[int] = []
    for found in _INLINE.finditer(text):
        kind, (begin, stop) = found.lastgroup, found.span()
        if kind == "opens":
            opened.append(begin)
        elif kind == "closes":
            del opened[-1:]
        elif kind == "target":
            if opened:
                at = opened.pop()
                yield at - text.startswith(b"!", max(0, at - 1), at), at + 1, seam
            yield begin, stop, seam
        elif kind == "tag":
            yield begin, stop, filler_of_tag(found[0])
        elif kind in _FILLERS:
            yield begin, stop, _FILLERS[kind]


def _spans(text: bytes) -> Iterator[tuple[int, int, Filler]]:
    """Code, formulae, comments, and elements that hold code; a comment without end goes beyond the text."""
    found = [(each.start(), each[0]) for each in _CODE_OR_RAW.finditer(text)]
    partners = _partners([sign for _, sign in found])
    endings = Endings(text)
    done = 0
    for (begin, sign), partner in zip(found, partners, strict=True):
        if begin < done:
            continue
        stop = -1
        if sign.startswith(b"\\"):
            stop = endings.after_environment(begin, sign) if is_mathematics(sign[7:-1]) else -1
        elif not sign.startswith(b"`"):
            stop = endings.after(begin, sign)
            if stop < 0 and sign == COMMENT and _LINE_START.search(text[max(0, begin - 64) : begin]):
                stop = len(text) + 1
        elif partner >= 0 and text[begin - 1 : begin] != b"\\":
            stop = found[partner][0] + len(sign)
            stop = -1 if BLANK_LINE.search(text, begin, stop) else stop
        if stop >= 0:
            # What is within dollars does not hide them: see _DOLLARS.
            yield begin, stop, seam if sign == COMMENT else end if sign.startswith(b"\\") else code
            done = stop


def _partners(signs: list[bytes]) -> list[int]:
    """For each run of backticks the next one of its length, or -1."""
    partners = [-1] * len(signs)
    later: dict[int, int] = {}
    for at in range(len(signs) - 1, -1, -1):
        if signs[at].startswith(b"`"):
            partners[at] = later.get(len(signs[at]), -1)
            later[len(signs[at])] = at
    return partners
