"""The blocks of Markdown: front matter and code, which are no prose, and the marks at which others begin."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from weigh.apps.spelling.masking import Filler, Masked, blank, code, end, heading, hide

_FRONT = re.compile(rb"(---|\+\+\+)[ \t]*+\r?\n(?=[\w\"'#-])(?:[^\n]*+\n)*?(?:\1|\.\.\.)[ \t]*+(?=[\r\n]|\Z)")
# A line across the page, which looks as if it were items of a list.
_RULE = rb"[-*](?:[ \t]++[-*]){2,}+[ \t\r]*+(?:\n|\Z)"
_LINE = re.compile(
    rb"(?P<indent>[ \t>]*+)"
    rb"(?P<item>(?!" + _RULE + rb")(?:[-*+\x1d]|[0-9]{1,9}[.)])[ \t]++)?+"
    rb"(?P<fence>`{3,}+(?=[^`\n\x1a]*+(?:\n|\Z))|~{3,}+)?+"
    rb"(?P<aside>(?:!!!|\?\?\?|===|\[\^[^\[\]\s]++\]:|:[ \t]))?+"
    rb"(?P<rest>[^\n]*+)\n?"
)
# Marks at the beginning of a line, and lines that are nothing but marks. What is a title stands alone in its
# line; an item, a note or a cell may go on in the next.
_MARKS = re.compile(
    rb"\n(?=[ \t]*+[>*+#=:!?|0-9_-])(?:"
    rb"(?P<line>[ \t>]*+(?:[=_*|:+-][=_*|:+ \t-]*+)(?=\r?(?:\n|\Z)))"
    rb"|(?P<indent>[ \t>]*+)"
    rb"(?P<items>(?:(?:[*+-]|[0-9]{1,3}[.)])[ \t]++(?:\[[ xX]\][ \t]++)?[ \t>]*+|:[ \t]++)*+)"
    rb"(?P<title>(?:#{1,6}|!!!|\?\?\?\+?|===)[ \t]++)?+)"
)
_TAB = 4  # columns by which code is indented


@dataclass
class _Walk:
    """What the lines so far have opened."""

    spans: list[tuple[int, int, Filler]] = field(default_factory=list)
    base: int = 0  # the column at which the text of the list item around begins
    blank: bool = True  # whether the line before is blank
    code: bool = False  # whether the line before is indented code

    def opens_fence(self, line: re.Match[bytes]) -> bool:
        """Go on by a line; tell whether it begins a fenced block."""
        indent, item, fence, aside, rest = line.groups()
        if not (item or fence or aside or rest.strip()):
            self.blank = True
            return False
        if not (indent or item or fence or aside or self.blank or self.code):
            return False  # a paragraph goes on, as most lines do
        column = _column(indent)
        if rest.startswith(b"\x1a"):
            # What was hidden before may have begun a list or a note.
            self.base, self.blank, self.code = max(self.base, column + _TAB), False, False
            return fence is not None
        self.code = (self.code or self.blank) and column >= self.base + _TAB
        was_blank, self.blank = self.blank, False
        if self.code:
            self.spans.append((line.end("indent"), line.end(), code))
            return False
        if was_blank and column < self.base:
            self.base = column
        if item:
            self.base = column + min(len(item.expandtabs(_TAB)), _TAB + 1)
        elif aside:
            self.base = column + _TAB
        return fence is not None


def blocks(text: bytes) -> Masked:
    """Hide front matter and blocks of code; a fence that does not close goes on behind the text."""
    front = _FRONT.match(text)
    at = front.end() if front else 0
    walk = _Walk(spans=[(0, at, code)] if front else [])
    opener = b""
    while at < len(text) and not opener:
        opening = next(filter(walk.opens_fence, _LINE.finditer(text, at)), None)
        if opening is None:
            break
        quote = b"> " if b">" in opening["indent"] else b""
        closing = _closing(opening["fence"], bool(quote)).search(text, opening.end() - 1)
        at = closing.end() if closing else len(text)
        walk.spans.append((opening.start("fence"), at, code))
        opener = b"" if closing else quote + opening["fence"] + b"\n"
    return hide(text, walk.spans), opener


def hide_marks(text: bytes) -> bytes:
    """Hide the marks of headings, quotations, lists and notes, and lines across the page."""
    return _MARKS.sub(_without_marks, b"\n" + text)[1:]


def _without_marks(found: re.Match[bytes]) -> bytes:
    line, indent, items, title = found.groups(b"")
    return b"\n" + end(line) + blank(indent) + end(items) + heading(title)


@lru_cache(64)
def _closing(fence: bytes, quoted: bool) -> re.Pattern[bytes]:
    """What ends a fenced block: as many signs or more, or the end of the quotation it is in."""
    closing = rb"\n[ \t>]*+%s{%d,}+[ \t\r]*+(?=\n|\Z)" % (fence[:1], len(fence))
    return re.compile(closing + rb"|\n(?![ \t]*+(?:>|\Z))" if quoted else closing)


def _column(indent: bytes) -> int:
    """The column at which a line's text begins, within the quotation it is in."""
    if not indent:
        return 0
    _, quoted, inner = indent.rpartition(b">")
    return max(0, len(inner.expandtabs(_TAB)) - len(quoted))
