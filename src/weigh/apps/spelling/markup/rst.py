"""Masking of reStructuredText: literal blocks, directives, roles, targets and other markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weigh.apps.spelling.markup.masking import (
    UNDERSCORE_CLOSES,
    Filler,
    MaskResult,
    mask_addresses,
    mask_code,
    mask_markup,
    mask_paragraph_end,
    mask_spans,
)

_LINE = re.compile(
    rb"(?P<indent>[ \t]*+)"
    rb"(?:(?P<mark>\.\.(?=[ \t\r\n]|\Z)[ \t]*+)"
    rb"(?:(?P<directive>[A-Za-z][\w:+.-]*?::)|(?P<note>\[[^\[\]\s]++\](?=\s)))?"
    rb"|(?P<field>:[^:\s`][^:\n`]*+:(?=\s))|(?P<prompt>>>>[ ]))?(?P<rest>[^\n]*+)\n?"
)
_INLINE = re.compile(
    rb"[\\`<:|*_](?:(?<=\\)(?:(?P<joint>[ \t])|(?P<escaped>[!-~]))"
    rb"|(?<=`)(?P<literal>`[^`\n\x1a]++(?:`[^`\n\x1a]++)*+``)|(?<=<)(?P<address>[^<>\s`\x1a]++>`__?)"
    rb"|(?<=:)(?P<role>(?:[A-Za-z][\w+.-]*+:){1,3}+`[^`\n\x1a]++`)"
    rb"|(?<=\|)(?:(?P<substituted>[^|\s\x1a][^|\n\x1a]*+\|)|(?P<bar>(?<=[ \t\n]\|)|(?=[ \t\r\n]|\Z)))"
    rb"|(?<=\*)(?P<stars>(?<=\S\*)\*?|\*?(?=\S))|(?<=`)(?P<tick>_{0,2}+)"
    rb"|(?<=_)(?P<reference>(?<=\w_)_?+" + UNDERSCORE_CLOSES + rb"))"
)
_FILLERS: dict[str | None, Filler] = {
    **dict.fromkeys(["literal", "role", "substituted"], mask_code),
    **dict.fromkeys(["address", "joint", "stars", "tick", "reference"], mask_markup),
    "bar": mask_paragraph_end,
    "escaped": bytes,
}
# Lines of punctuation only (titles, tables), and markers of list items.
_LINE_MARKERS = re.compile(
    rb"\n([ \t]*+(?:[=~^\"'`#*+.:_-][=~^\"'`#*+.:_ \t-]*+(?=\r?(?:\n|\Z))"
    rb"|(?:[*+-]|(?:[0-9]{1,3}|#)[.)])[ \t]++))"
)
# Directives whose content is prose; all others contain code, files, names or options.
_PROSE_DIRECTIVE_NAMES = b"""
    admonition attention caution centered compound container danger deprecated epigraph error figure footer
    glossary header highlights hint important list-table note only pull-quote rubric seealso sidebar table tip
    todo topic versionadded versionchanged warning
"""
_PROSE_DIRECTIVES = frozenset(_PROSE_DIRECTIVE_NAMES.split())


def mask_rst(text: bytes) -> MaskResult:
    """Mask everything but the prose of a reStructuredText text."""
    text = mask_spans(text, _block_spans(text))
    text = _LINE_MARKERS.sub(lambda match: b"\n" + mask_paragraph_end(match[1]), b"\n" + text)[1:]
    text = _INLINE.sub(lambda match: _FILLERS[match.lastgroup](match[0]), text)
    return mask_addresses(text), b""


def _block_spans(text: bytes) -> Iterator[tuple[int, int, Filler]]:
    """Yield literal blocks, comments, targets, doctests and code directives, with their indented content."""
    code_indent: int | None = None  # lines with a larger indentation are masked
    is_in_doctest = False
    for line in _LINE.finditer(text):
        indent, mark, directive, note, field, prompt, rest = line.groups()
        if not (mark or field or prompt or rest.strip()):
            is_in_doctest = False
            continue
        column = len(indent.expandtabs(8))
        is_in_doctest = is_in_doctest or bool(prompt)
        if is_in_doctest or (code_indent is not None and column > code_indent):
            yield *line.span(), mask_code
            continue
        code_indent = column if rest.rstrip().endswith(b"::") else None
        if mark is not None:
            is_prose = directive[:-2] in _PROSE_DIRECTIVES if directive else note is not None
            code_indent = code_indent if is_prose else column
            if is_prose:
                yield line.start(), line.start("rest"), mask_paragraph_end
            else:
                yield *line.span(), mask_code
        elif field:
            yield *line.span("field"), mask_paragraph_end
