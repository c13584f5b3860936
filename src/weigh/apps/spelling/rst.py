"""reStructuredText: the prose of it; literal blocks, directives, roles and targets are hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weigh.apps.spelling.masking import Masked, hidden_match, hide, hide_addresses

_LINE = re.compile(
    rb"(?P<indent>[ \t]*+)"
    rb"(?:(?P<mark>\.\.(?=[ \t\r\n]|\Z)[ \t]*+)(?P<directive>[A-Za-z][\w:+.-]*?::)?"
    rb"|(?P<field>:[^:\s`][^:\n`]*+:(?=\s))|(?P<prompt>>>>[ ]))?(?P<rest>[^\n]*+)\n?"
)
_INLINE = re.compile(
    rb"[`<:|](?:(?<=`)`[^`\n\x1a]++(?:`[^`\n\x1a]++)*+``|(?<=<)[^<>\s`\x1a]++>`__?"
    rb"|(?<=:)(?:[A-Za-z][\w+.-]*+:){1,3}+`[^`\n\x1a]++`|(?<=\|)[^|\s\x1a][^|\n\x1a]*+\|)"
)
# Directives whose content is prose; all others hold code, files, names or options.
_PROSE = b"""
    admonition attention caution centered compound container danger deprecated epigraph error figure footer
    glossary header highlights hint important list-table note pull-quote rubric seealso sidebar table tip
    topic versionadded versionchanged warning
"""
_SHOWN = frozenset(_PROSE.split())


def rst(text: bytes) -> Masked:
    """Hide everything but the prose of a text in reStructuredText."""
    text = hide(text, _blocks(text))
    return hide_addresses(_INLINE.sub(hidden_match, text)), b""


def _blocks(text: bytes) -> Iterator[tuple[int, int]]:
    """Literal blocks, comments, targets, sessions and directives of code, with what is indented below."""
    below: int | None = None  # lines that are indented more than this are hidden
    prompt = False  # whether a session goes on
    for line in _LINE.finditer(text):
        indent, mark, directive, field, asked, rest = line.groups()
        if not (mark or field or asked or rest.strip()):
            prompt = False
            continue
        column = len(indent.expandtabs(8))
        prompt = prompt or bool(asked)
        if prompt or (below is not None and column > below):
            yield line.span()
            continue
        below = column if rest.rstrip().endswith(b"::") else None
        if mark is not None:
            is_prose = directive is not None and directive[:-2] in _SHOWN
            below = below if is_prose else column
            yield line.start(), line.start("rest") if is_prose else line.end()
        elif field:
            yield line.span("field")
