"""Markdown: the prose of it; code, addresses, tags, mathematics and front matter are hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter

from weigh.apps.spelling.markup.html import (
    COMMENT_START,
    RAW_ELEMENT_START,
    TAG,
    ClosingTagFinder,
    mask_entities,
    tag_filler,
)
from weigh.apps.spelling.markup.latex import is_math_environment
from weigh.apps.spelling.markup.masking import (
    BLANK_LINE,
    SAME_PARAGRAPH,
    UNDERSCORE_CLOSES,
    UNDERSCORE_OPENS,
    Filler,
    MaskResult,
    mask_addresses,
    mask_code,
    mask_heading,
    mask_markup,
    mask_paragraph_end,
    mask_space,
    mask_spans,
)

_DOLLARS = SAME_PARAGRAPH % (rb"$\x1a", b"")
_LINK_TARGET = (
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
    rb"|(?<=\])(?:(?P<target>\(" + _LINK_TARGET + rb"|\[[^\[\]\n\x1a]*+\])|(?P<closes>))"
    rb"|(?<=\{)(?:(?P<attributes>[#.:][^{}\n\x1a]*+\})|(?P<template>[^{}\n\x1a]*+\}))"
    rb"|(?<=\*)(?P<stars>(?<=\S\*)\**+|\**+(?=\S))"
    rb"|(?<=_)(?P<underscores>" + UNDERSCORE_OPENS + rb"_*+(?=\S)|_*+" + UNDERSCORE_CLOSES + rb")"
    rb"|(?<=~)(?P<strike>~(?!~))"
    rb"|(?<=\|)(?P<bar>(?<=[ \t\n]\|)|(?=[ \t\r\n]|\Z)))"
)
_FILLERS: dict[str | None, Filler] = {
    **dict.fromkeys(["formula", "dollar", "template"], mask_code),
    **dict.fromkeys(["display", "dollars", "bar"], mask_paragraph_end),
    **dict.fromkeys(["note", "attributes", "stars", "underscores", "strike"], mask_markup),
}
_LINK_DEFINITION = re.compile(rb"\n([ \t>]*+\[(?:\^[^\[\]\s]++\]:|[^\[\]\n]++\]:[ \t]*+\S*+))")
_CODE_OR_RAW = re.compile(
    rb"[`<\\](?:(?<=`)`*+|(?<=<)" + RAW_ELEMENT_START + rb"|(?<=\\)begin\{[A-Za-z]++\*?\})"
)
_LINE_START = re.compile(rb"(?:\A|\n)[ \t>]*+\Z")


def mask_markdown(text: bytes) -> MaskResult:
    """Hide everything but the prose of a Markdown text."""
    text, opener = mask_blocks(text)
    raw = list(_code_spans(text))
    if raw and raw[-1][1] > len(text):
        opener = COMMENT_START
    text = mask_spans(text, raw)
    if b"]:" in text:
        text = _LINK_DEFINITION.sub(lambda found: b"\n" + mask_paragraph_end(found[1]), b"\n" + text)[1:]
    text = mask_line_markers(text)
    text = mask_spans(text, sorted(_inline_spans(text), key=itemgetter(0)))
    return mask_addresses(mask_entities(text)), opener


def _inline_spans(text: bytes) -> Iterator[tuple[int, int, Filler]]:
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
                yield at - text.startswith(b"!", max(0, at - 1), at), at + 1, mask_markup
            yield begin, stop, mask_markup
        elif kind == "tag":
            yield begin, stop, tag_filler(found[0])
        elif kind in _FILLERS:
            yield begin, stop, _FILLERS[kind]


def _code_spans(text: bytes) -> Iterator[tuple[int, int, Filler]]:
    """Code, formulae, comments, and elements that hold code; a comment without end goes beyond the text."""
    found = [(each.start(), each[0]) for each in _CODE_OR_RAW.finditer(text)]
    partners = _match_backticks([sign for _, sign in found])
    endings = ClosingTagFinder(text)
    done = 0
    for (begin, sign), partner in zip(found, partners, strict=True):
        if begin < done:
            continue
        stop = -1
        if sign.startswith(b"\\"):
            stop = endings.find_environment_end(begin, sign) if is_math_environment(sign[7:-1]) else -1
        elif not sign.startswith(b"`"):
            stop = endings.find_end(begin, sign)
            if stop < 0 and sign == COMMENT_START and _LINE_START.search(text[max(0, begin - 64) : begin]):
                stop = len(text) + 1
        elif partner >= 0 and text[begin - 1 : begin] != b"\\":
            stop = found[partner][0] + len(sign)
            stop = -1 if BLANK_LINE.search(text, begin, stop) else stop
        if stop >= 0:
            # What is within dollars does not hide them: see _DOLLARS.
            yield (
                begin,
                stop,
                mask_markup
                if sign == COMMENT_START
                else mask_paragraph_end
                if sign.startswith(b"\\")
                else mask_code,
            )
            done = stop


def _match_backticks(signs: list[bytes]) -> list[int]:
    """For each run of backticks the next one of its length, or -1."""
    partners = [-1] * len(signs)
    later: dict[int, int] = {}
    for at in range(len(signs) - 1, -1, -1):
        if signs[at].startswith(b"`"):
            partners[at] = later.get(len(signs[at]), -1)
            later[len(signs[at])] = at
    return partners


_FRONT_MATTER = re.compile(
    rb"(---|\+\+\+)[ \t]*+\r?\n(?=[\w\"'#-])(?:[^\n]*+\n)*?(?:\1|\.\.\.)[ \t]*+(?=[\r\n]|\Z)"
)
# A line across the page, which looks as if it were items of a list.
_THEMATIC_BREAK = rb"[-*](?:[ \t]++[-*]){2,}+[ \t\r]*+(?:\n|\Z)"
_BLOCK_LINE = re.compile(
    rb"(?P<indent>[ \t>]*+)"
    rb"(?P<item>(?!" + _THEMATIC_BREAK + rb")(?:[-*+\x1d]|[0-9]{1,9}[.)])[ \t]++)?+"
    rb"(?P<fence>`{3,}+(?=[^`\n\x1a]*+(?:\n|\Z))|~{3,}+)?+"
    rb"(?P<aside>(?:!!!|\?\?\?|===|\[\^[^\[\]\s]++\]:|:[ \t]))?+"
    rb"(?P<rest>[^\n]*+)\n?"
)
# Marks at the beginning of a line, and lines that are nothing but marks. What is a title stands alone in its
# line; an item, a note or a cell may go on in the next.
_LINE_MARKERS = re.compile(
    rb"\n(?=[ \t]*+[>*+#=:!?|0-9_-])(?:"
    rb"(?P<line>[ \t>]*+(?:[=_*|:+-][=_*|:+ \t-]*+)(?=\r?(?:\n|\Z)))"
    rb"|(?P<indent>[ \t>]*+)"
    rb"(?P<items>(?:(?:[*+-]|[0-9]{1,3}[.)])[ \t]++(?:\[[ xX]\][ \t]++)?[ \t>]*+|:[ \t]++)*+)"
    rb"(?P<title>(?:#{1,6}|!!!|\?\?\?\+?|===)[ \t]++)?+)"
)
_CODE_INDENT = 4  # columns by which code is indented


@dataclass
class _BlockParser:
    """What the lines so far have opened."""

    spans: list[tuple[int, int, Filler]] = field(default_factory=list)
    content_column: int = 0  # the column at which the text of the list item around begins
    is_after_blank: bool = True  # whether the line before is blank
    is_in_code: bool = False  # whether the line before is indented code

    def parse_line(self, line: re.Match[bytes]) -> bool:
        """Go on by a line; tell whether it begins a fenced block."""
        indent, item, fence, aside, rest = line.groups()
        if not (item or fence or aside or rest.strip()):
            self.is_after_blank = True
            return False
        if not (indent or item or fence or aside or self.is_after_blank or self.is_in_code):
            return False  # a paragraph goes on, as most lines do
        column = _content_column(indent)
        if rest.startswith(b"\x1a"):
            # What was hidden before may have begun a list or a note.
            self.content_column, self.is_after_blank, self.is_in_code = (
                max(self.content_column, column + _CODE_INDENT),
                False,
                False,
            )
            return fence is not None
        self.is_in_code = (
            self.is_in_code or self.is_after_blank
        ) and column >= self.content_column + _CODE_INDENT
        was_blank, self.is_after_blank = self.is_after_blank, False
        if self.is_in_code:
            self.spans.append((line.end("indent"), line.end(), mask_code))
            return False
        if was_blank and column < self.content_column:
            self.content_column = column
        if item:
            self.content_column = column + min(len(item.expandtabs(_CODE_INDENT)), _CODE_INDENT + 1)
        elif aside:
            self.content_column = column + _CODE_INDENT
        return fence is not None


def mask_blocks(text: bytes) -> MaskResult:
    """Hide front matter and blocks of code; a fence that does not close goes on behind the text."""
    front = _FRONT_MATTER.match(text)
    at = front.end() if front else 0
    walk = _BlockParser(spans=[(0, at, mask_code)] if front else [])
    opener = b""
    while at < len(text) and not opener:
        opening = next(filter(walk.parse_line, _BLOCK_LINE.finditer(text, at)), None)
        if opening is None:
            break
        quote = b"> " if b">" in opening["indent"] else b""
        closing = _closing_fence(opening["fence"], bool(quote)).search(text, opening.end() - 1)
        at = closing.end() if closing else len(text)
        walk.spans.append((opening.start("fence"), at, mask_code))
        opener = b"" if closing else quote + opening["fence"] + b"\n"
    return mask_spans(text, walk.spans), opener


def mask_line_markers(text: bytes) -> bytes:
    """Hide the marks of headings, quotations, lists and notes, and lines across the page."""
    return _LINE_MARKERS.sub(_mask_line_marker, b"\n" + text)[1:]


def _mask_line_marker(found: re.Match[bytes]) -> bytes:
    line, indent, items, title = found.groups(b"")
    return (
        b"\n"
        + mask_paragraph_end(line)
        + mask_space(indent)
        + mask_paragraph_end(items)
        + mask_heading(title)
    )


@lru_cache(64)
def _closing_fence(fence: bytes, quoted: bool) -> re.Pattern[bytes]:
    """What ends a fenced block: as many signs or more, or the end of the quotation it is in."""
    closing = rb"\n[ \t>]*+%s{%d,}+[ \t\r]*+(?=\n|\Z)" % (fence[:1], len(fence))
    return re.compile(closing + rb"|\n(?![ \t]*+(?:>|\Z))" if quoted else closing)


def _content_column(indent: bytes) -> int:
    """The column at which a line's text begins, within the quotation it is in."""
    if not indent:
        return 0
    _, quoted, inner = indent.rpartition(b">")
    return max(0, len(inner.expandtabs(_CODE_INDENT)) - len(quoted))
