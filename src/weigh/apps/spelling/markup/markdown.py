"""Masking of Markdown: code, links, tags, mathematics, front matter and other markup."""

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
# The search for one leading character is fast; lookarounds decide the rest. No alternative matches beyond the
# next character of its own kind, so that matching takes linear time on any text.
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
    """Mask everything but the prose of a Markdown text."""
    text, opener = mask_blocks(text)
    raw = list(_code_spans(text))
    if raw and raw[-1][1] > len(text):
        opener = COMMENT_START
    text = mask_spans(text, raw)
    if b"]:" in text:
        text = _LINK_DEFINITION.sub(lambda match: b"\n" + mask_paragraph_end(match[1]), b"\n" + text)[1:]
    text = mask_line_markers(text)
    text = mask_spans(text, sorted(_inline_spans(text), key=itemgetter(0)))
    return mask_addresses(mask_entities(text)), opener


def _inline_spans(text: bytes) -> Iterator[tuple[int, int, Filler]]:
    """Yield markup within paragraphs, unsorted: the opening bracket of a link comes after its text."""
    open_brackets: list[int] = []
    for match in _INLINE.finditer(text):
        kind, (begin, stop) = match.lastgroup, match.span()
        if kind == "opens":
            open_brackets.append(begin)
        elif kind == "closes":
            del open_brackets[-1:]
        elif kind == "target":
            if open_brackets:
                bracket = open_brackets.pop()
                is_image = text.startswith(b"!", max(0, bracket - 1), bracket)
                yield bracket - is_image, bracket + 1, mask_markup
            yield begin, stop, mask_markup
        elif kind == "tag":
            yield begin, stop, tag_filler(match[0])
        elif kind in _FILLERS:
            yield begin, stop, _FILLERS[kind]


def _code_spans(text: bytes) -> Iterator[tuple[int, int, Filler]]:
    """Yield code, comments, raw elements and math environments; an unclosed comment ends after the text."""
    openings = [(match.start(), match[0]) for match in _CODE_OR_RAW.finditer(text)]
    partners = _match_backticks([opening for _, opening in openings])
    finder = ClosingTagFinder(text)
    end = 0
    for (begin, opening), partner in zip(openings, partners, strict=True):
        if begin < end:
            continue
        stop, filler = -1, mask_code
        if opening.startswith(b"\\"):
            stop = finder.find_environment_end(begin, opening) if is_math_environment(opening[7:-1]) else -1
            filler = mask_paragraph_end
        elif not opening.startswith(b"`"):
            stop = finder.find_end(begin, opening)
            if opening == COMMENT_START:
                filler = mask_markup
                if stop < 0 and _LINE_START.search(text[max(0, begin - 64) : begin]):
                    stop = len(text) + 1
        elif partner >= 0 and text[begin - 1 : begin] != b"\\":
            stop = openings[partner][0] + len(opening)
            stop = -1 if BLANK_LINE.search(text, begin, stop) else stop
        if stop >= 0:
            yield begin, stop, filler
            end = stop


def _match_backticks(openings: list[bytes]) -> list[int]:
    """Return for each run of backticks the index of the next one of the same length, or -1."""
    partners = [-1] * len(openings)
    next_by_length: dict[int, int] = {}
    for i in range(len(openings) - 1, -1, -1):
        if openings[i].startswith(b"`"):
            partners[i] = next_by_length.get(len(openings[i]), -1)
            next_by_length[len(openings[i])] = i
    return partners


_FRONT_MATTER = re.compile(
    rb"(---|\+\+\+)[ \t]*+\r?\n(?=[\w\"'#-])(?:[^\n]*+\n)*?(?:\1|\.\.\.)[ \t]*+(?=[\r\n]|\Z)"
)
# A thematic break with spaces, which looks like nested list items.
_THEMATIC_BREAK = rb"[-*](?:[ \t]++[-*]){2,}+[ \t\r]*+(?:\n|\Z)"
_BLOCK_LINE = re.compile(
    rb"(?P<indent>[ \t>]*+)"
    rb"(?P<item>(?!" + _THEMATIC_BREAK + rb")(?:[-*+\x1d]|[0-9]{1,9}[.)])[ \t]++)?+"
    rb"(?P<fence>`{3,}+(?=[^`\n\x1a]*+(?:\n|\Z))|~{3,}+)?+"
    rb"(?P<aside>(?:!!!|\?\?\?|===|\[\^[^\[\]\s]++\]:|:[ \t]))?+"
    rb"(?P<rest>[^\n]*+)\n?"
)
# Markers at the start of a line, and lines of markers only. A title is a paragraph of its own; an item, note
# or cell may continue in the next line.
_LINE_MARKERS = re.compile(
    rb"\n(?=[ \t]*+[>*+#=:!?|0-9_-])(?:"
    rb"(?P<line>[ \t>]*+(?:[=_*|:+-][=_*|:+ \t-]*+)(?=\r?(?:\n|\Z)))"
    rb"|(?P<indent>[ \t>]*+)"
    rb"(?P<items>(?:(?:[*+-]|[0-9]{1,3}[.)])[ \t]++(?:\[[ xX]\][ \t]++)?[ \t>]*+|:[ \t]++)*+)"
    rb"(?P<title>(?:#{1,6}|!!!|\?\?\?\+?|===)[ \t]++)?+)"
)
_CODE_INDENT = 4  # columns


@dataclass
class _BlockParser:
    """The state of the block structure after the lines parsed so far."""

    spans: list[tuple[int, int, Filler]] = field(default_factory=list)
    content_column: int = 0  # where the content of the enclosing list item starts
    is_after_blank: bool = True
    is_in_code: bool = False  # whether the last line was indented code

    def parse_line(self, line: re.Match[bytes]) -> bool:
        """Update the state with a line; return whether it opens a fenced block."""
        indent, item, fence, aside, rest = line.groups()
        if not (item or fence or aside or rest.strip()):
            self.is_after_blank = True
            return False
        if not (indent or item or fence or aside or self.is_after_blank or self.is_in_code):
            return False  # a continuation line of a paragraph, the most common case
        column = _content_column(indent)
        if rest.startswith(b"\x1a"):
            # The masked text may have started a list item or a note.
            self.content_column = max(self.content_column, column + _CODE_INDENT)
            self.is_after_blank = self.is_in_code = False
            return fence is not None
        is_indented = column >= self.content_column + _CODE_INDENT
        self.is_in_code = (self.is_in_code or self.is_after_blank) and is_indented
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
    """Mask front matter and blocks of code; an unclosed fence is reopened in the next piece."""
    front_matter = _FRONT_MATTER.match(text)
    end = front_matter.end() if front_matter else 0
    parser = _BlockParser(spans=[(0, end, mask_code)] if front_matter else [])
    opener = b""
    while end < len(text) and not opener:
        opening = next(filter(parser.parse_line, _BLOCK_LINE.finditer(text, end)), None)
        if opening is None:
            break
        quote = b"> " if b">" in opening["indent"] else b""
        closing = _closing_fence(opening["fence"], bool(quote)).search(text, opening.end() - 1)
        end = closing.end() if closing else len(text)
        parser.spans.append((opening.start("fence"), end, mask_code))
        opener = b"" if closing else quote + opening["fence"] + b"\n"
    return mask_spans(text, parser.spans), opener


def mask_line_markers(text: bytes) -> bytes:
    """Mask the markers of headings, quotations, lists and notes, and thematic breaks."""
    return _LINE_MARKERS.sub(_mask_line_marker, b"\n" + text)[1:]


def _mask_line_marker(match: re.Match[bytes]) -> bytes:
    line, indent, items, title = match.groups(b"")
    masked = mask_paragraph_end(line) + mask_space(indent) + mask_paragraph_end(items) + mask_heading(title)
    return b"\n" + masked


@lru_cache(64)
def _closing_fence(fence: bytes, quoted: bool) -> re.Pattern[bytes]:
    """Return the pattern that ends a fenced block: a fence at least as long, or the end of its quotation."""
    closing = rb"\n[ \t>]*+%s{%d,}+[ \t\r]*+(?=\n|\Z)" % (fence[:1], len(fence))
    return re.compile(closing + rb"|\n(?![ \t]*+(?:>|\Z))" if quoted else closing)


def _content_column(indent: bytes) -> int:
    """Return the column at which the content of a line starts, relative to its quotation."""
    if not indent:
        return 0
    _, quoted, inner = indent.rpartition(b">")
    return max(0, len(inner.expandtabs(_CODE_INDENT)) - len(quoted))
