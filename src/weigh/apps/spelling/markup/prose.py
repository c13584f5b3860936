"""What of a text is prose, by the ending of its name: the rest is hidden."""

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

# Not within quotes that open with a backtick: those end with an apostrophe.
_INLINE_CODE = re.compile(rb"`[^\s`][^`\r\n\x1a]*+`(?<!\s`)(?![\w`\x1a])")
# Names have underscores, too, but not two that have no letters outside.
_EMPHASIS = re.compile(
    rb"_" + UNDERSCORE_OPENS + rb"(?=[^\s_])(" + SAME_PARAGRAPH % (b"_", b"_") + rb")_" + UNDERSCORE_CLOSES
)
# The marks of quoted mail, which stand between the lines of one sentence.
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
SOURCE_SUFFIXES = frozenset(f".{ending}" for ending in _SOURCE_NAMES.split())
DATA_SUFFIXES = frozenset(f".{ending}" for ending in _DATA_NAMES.split())


def format_suffix(name: str) -> str:
    """The ending of a name that tells its format, below that of a packed file."""
    stem, last = os.path.splitext(name.lower())
    return os.path.splitext(stem)[1] if last in _COMPRESSION_SUFFIXES else last


def mask_text(text: bytes, name: str) -> bytes:
    """A text of the same length without what is no prose; line ends stay.

    0x1A is what a reader sees but does not read, a blank what is not seen, and 0x1D the end of a paragraph.
    """
    return next(mask_pieces([text], name))


def mask_pieces(pieces: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The pieces of one text, masked; what one of them leaves open goes on in the next."""
    mask = _MASKS_BY_SUFFIX.get(format_suffix(name), _mask_plain_text)
    silence = Suppressions()
    opener = b""
    for piece in pieces:
        text, left = mask(opener + piece)
        yield silence.apply(piece, resolve_markup_bytes(text)[len(opener) :])
        # What stands only at the start of a document is not looked for behind a line end.
        opener = left or b"\n"


def _mask_plain_text(text: bytes) -> MaskResult:
    if b">" in text:
        text = _QUOTE_MARKS.sub(lambda found: mask_space(found[0]), b"\n" + text)[1:]
    if b"`" in text:
        text = _INLINE_CODE.sub(lambda found: mask_code(found[0]), text)
    text = mask_addresses(text)
    if b"_" in text:
        text = _EMPHASIS.sub(lambda found: mask_markup(b"_") + found[1] + mask_markup(b"_"), text)
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
    """What remarks cover in the pieces of one text, one after the other."""

    def __init__(self) -> None:
        self._is_off = False
        self._pending_lines = 0  # that are silent at the start of the next piece; the rest of one is one

    def apply(self, text: bytes, prose: bytes) -> bytes:
        """Hide what is silent in the masked text of a piece."""
        if not (self._is_off or self._pending_lines or _PRAGMA in text):
            return prose
        return mask_spans(prose, _merge_spans(self._suppressed_lines(text)))

    def _suppressed_lines(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Lines that are silent, in their order; they may overlap."""
        yield 0, self._find_line_end(text, 0, self._pending_lines)
        begin = at = 0
        while found := _SUPPRESSION_COMMENT.search(text, at):
            line = text.rfind(b"\n", at, found.start()) + 1 or at
            at = self._find_line_end(text, found.end(), 1)
            begin = begin if self._is_off else line
            remarks = _SUPPRESSION_COMMENT.findall(text, line, at)
            switches = [remark for remark in remarks if remark != b"ignore"]
            if switches:
                self._is_off = switches[-1] == b"off"
            elif not self._is_off and not _LETTER.search(_SUPPRESSION_COMMENT.sub(b"", text[line:at])):
                yield begin, self._find_line_end(text, found.end(), 2)
            if not self._is_off:
                yield begin, at
        if self._is_off:
            yield begin, len(text)

    def _find_line_end(self, text: bytes, at: int, lines: int) -> int:
        """Where so many lines end; those that the text lacks are left to the next piece."""
        self._pending_lines = 0
        for left in range(lines, 0, -1):
            at = text.find(b"\n", at) + 1
            if at == 0:
                self._pending_lines = left
                return len(text)
        return at


def _merge_spans(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int, Filler]]:
    done = 0
    for begin, stop in spans:
        if stop > done:
            yield max(begin, done), stop, mask_code
            done = stop
