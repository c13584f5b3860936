"""Masking of texts by the suffix of their name, and suppression comments (weigh-spell: ignore, off, on)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator

from weigh.apps.spelling.markup.html import mask_html
from weigh.apps.spelling.markup.latex import mask_latex
from weigh.apps.spelling.markup.markdown import mask_markdown
from weigh.apps.spelling.markup.masking import (
    SAME_PARAGRAPH,
    UNDERSCORE_CLOSES,
    UNDERSCORE_OPENS,
    Filler,
    MaskResult,
    mask_addresses,
    mask_code,
    mask_markup,
    mask_space,
    mask_spans,
    resolve_markup_bytes,
)
from weigh.apps.spelling.markup.rst import mask_rst

# Not `quotes', which open with a backtick and close with an apostrophe.
_INLINE_CODE = re.compile(rb"`[^\s`][^`\r\n\x1a]*+`(?<!\s`)(?![\w`\x1a])")
# Identifiers have underscores, too, but with letters outside.
_EMPHASIS = re.compile(
    rb"_" + UNDERSCORE_OPENS + rb"(?=[^\s_])(" + SAME_PARAGRAPH % (b"_", b"_") + rb")_" + UNDERSCORE_CLOSES
)
# Quotation marks of mail (>), which interrupt sentences at line ends.
_QUOTE_MARKS = re.compile(rb"\n[ \t]?>[ \t>]*+")
_COMPRESSION_SUFFIXES = frozenset([".gz", ".bz2", ".xz", ".zst", ".lz4"])
_SOURCE_NAMES = """
    asm bash bat c cc clj cmake cmd cpp cs css cxx dart el erl ex exs f f90 fish fs go h hh hpp hs hxx
    java jl js jsx kt kts less lisp lua m mjs mk ml mli mm nim pas php pl pm proto ps1 py pyi pyx r rb rs
    s scala scss sh sql swift ts tsx v vhd vue zig zsh
"""
_DATA_NAMES = """
    bib cfg conf csv diff ini ipynb json jsonl lock log map ndjson patch po pot svg toml tsv xml yaml yml
"""
SOURCE_SUFFIXES = frozenset(f".{name}" for name in _SOURCE_NAMES.split())
DATA_SUFFIXES = frozenset(f".{name}" for name in _DATA_NAMES.split())


def format_suffix(name: str) -> str:
    """Return the suffix of a file name in lower case, without that of a compression format."""
    stem, suffix = os.path.splitext(name.lower())
    return os.path.splitext(stem)[1] if suffix in _COMPRESSION_SUFFIXES else suffix


def mask_text(text: bytes, name: str) -> bytes:
    """Mask everything but prose; length and line ends do not change.

    0x1A replaces visible text that is not prose, a space invisible markup, and 0x1D marks the end of a
    paragraph.
    """
    return next(mask_pieces([text], name))


def mask_pieces(pieces: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Mask the pieces of one text; a construct left open in one piece continues in the next."""
    mask = _MASKS_BY_SUFFIX.get(format_suffix(name), _mask_plain_text)
    suppressions = Suppressions()
    opener = b""
    for piece in pieces:
        text, next_opener = mask(opener + piece)
        yield suppressions.apply(piece, resolve_markup_bytes(text)[len(opener) :])
        # A leading line end prevents that front matter is recognised in a later piece.
        opener = next_opener or b"\n"


def _mask_plain_text(text: bytes) -> MaskResult:
    if b">" in text:
        text = _QUOTE_MARKS.sub(lambda match: mask_space(match[0]), b"\n" + text)[1:]
    if b"`" in text:
        text = _INLINE_CODE.sub(lambda match: mask_code(match[0]), text)
    text = mask_addresses(text)
    if b"_" in text:
        text = _EMPHASIS.sub(lambda match: mask_markup(b"_") + match[1] + mask_markup(b"_"), text)
    return text, b""


_MASKS_BY_SUFFIX: dict[str, Callable[[bytes], MaskResult]] = {
    **dict.fromkeys([".md", ".markdown", ".qmd", ".rmd", ".mdx"], mask_markdown),
    **dict.fromkeys([".tex", ".ltx", ".sty"], mask_latex),
    **dict.fromkeys([".html", ".htm", ".xhtml"], mask_html),
    **dict.fromkeys([".rst", ".rest"], mask_rst),
}
MARKUP_SUFFIXES = frozenset(_MASKS_BY_SUFFIX)

_PRAGMA = b"weigh-spell:"
_SUPPRESSION_COMMENT = re.compile(rb"weigh-spell:[ \t]*+(ignore|off|on)\b")
_LETTER = re.compile(rb"[\w\x80-\xff]")


class Suppressions:
    """Masks the lines that suppression comments cover, in consecutive pieces of one text."""

    def __init__(self) -> None:
        self._is_off = False
        self._pending_lines = 0  # suppressed lines at the start of the next piece

    def apply(self, text: bytes, prose: bytes) -> bytes:
        """Mask the suppressed lines in the masked text `prose` of a piece."""
        if not (self._is_off or self._pending_lines or _PRAGMA in text):
            return prose
        return mask_spans(prose, _merge_spans(self._suppressed_lines(text)))

    def _suppressed_lines(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Yield the spans of suppressed lines in text order; they may overlap."""
        yield 0, self._find_line_end(text, 0, self._pending_lines)
        begin = line_end = 0
        while match := _SUPPRESSION_COMMENT.search(text, line_end):
            line_start = text.rfind(b"\n", line_end, match.start()) + 1 or line_end
            line_end = self._find_line_end(text, match.end(), 1)
            line = text[line_start:line_end]
            begin = begin if self._is_off else line_start
            switches = [word for word in _SUPPRESSION_COMMENT.findall(line) if word != b"ignore"]
            if switches:
                self._is_off = switches[-1] == b"off"
            elif not self._is_off and not _LETTER.search(_SUPPRESSION_COMMENT.sub(b"", line)):
                # A comment alone in its line suppresses the next line, too.
                yield begin, self._find_line_end(text, match.end(), 2)
            if not self._is_off:
                yield begin, line_end
        if self._is_off:
            yield begin, len(text)

    def _find_line_end(self, text: bytes, start: int, n_lines: int) -> int:
        """Return the end of the n-th line from `start`; missing lines stay pending for the next piece."""
        self._pending_lines = 0
        end = start
        for n_left in range(n_lines, 0, -1):
            end = text.find(b"\n", end) + 1
            if end == 0:
                self._pending_lines = n_left
                return len(text)
        return end


def _merge_spans(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int, Filler]]:
    end = 0
    for begin, stop in spans:
        if stop > end:
            yield max(begin, end), stop, mask_code
            end = stop
