"""What of a text is prose, by the ending of its name: the rest is hidden."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator

from weigh.apps.spelling.html import html
from weigh.apps.spelling.latex import latex
from weigh.apps.spelling.markdown import markdown
from weigh.apps.spelling.masking import (
    CLOSING,
    OPENING,
    SAME_PARAGRAPH,
    Masked,
    blank,
    code,
    hide_addresses,
    seam,
    settled,
)
from weigh.apps.spelling.rst import rst
from weigh.apps.spelling.silence import Silence

# Not within quotes that open with a backtick: those end with an apostrophe.
_CODE = re.compile(rb"`[^\s`][^`\r\n\x1a]*+`(?<!\s`)(?![\w`\x1a])")
# Names have underscores, too, but not two that have no letters outside.
_EMPHASIS = re.compile(rb"_" + OPENING + rb"(?=[^\s_])(" + SAME_PARAGRAPH % (b"_", b"_") + rb")_" + CLOSING)
# The marks of quoted mail, which stand between the lines of one sentence.
_QUOTED = re.compile(rb"\n[ \t]?>[ \t>]*+")
_PACKED = frozenset([".gz", ".bz2", ".xz", ".zst", ".lz4"])
_SOURCE = """
    asm bash bat c cc clj cmake cmd cpp cs css cxx dart el erl ex exs f f90 fish fs go h hh hpp hs hxx
    java jl js jsx kt kts less lisp lua m mjs mk ml mli mm nim pas php pl pm proto ps1 py pyi pyx r rb rs
    s scala scss sh sql swift ts tsx v vhd vue zig zsh
"""
_DATA = """
    bib cfg conf csv diff ini ipynb json jsonl lock log map ndjson patch po pot svg toml tsv xml yaml yml
"""
SOURCE = frozenset(f".{ending}" for ending in _SOURCE.split())
DATA = frozenset(f".{ending}" for ending in _DATA.split())


def ending(name: str) -> str:
    """The ending of a name that tells its format, below that of a packed file."""
    stem, last = os.path.splitext(name.lower())
    return os.path.splitext(stem)[1] if last in _PACKED else last


def masked(text: bytes, name: str) -> bytes:
    """A text of the same length without what is no prose; line ends stay.

    0x1A is what a reader sees but does not read, a blank what is not seen, and 0x1D the end of a paragraph.
    """
    return next(masked_pieces([text], name))


def masked_pieces(pieces: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The pieces of one text, masked; what one of them leaves open goes on in the next."""
    mask = _MASKS.get(ending(name), _plain)
    silence = Silence()
    opener = b""
    for piece in pieces:
        text, left = mask(opener + piece)
        yield silence.over(piece, settled(text)[len(opener) :])
        # What stands only at the start of a document is not looked for behind a line end.
        opener = left or b"\n"


def _plain(text: bytes) -> Masked:
    if b">" in text:
        text = _QUOTED.sub(lambda found: blank(found[0]), b"\n" + text)[1:]
    if b"`" in text:
        text = _CODE.sub(lambda found: code(found[0]), text)
    text = hide_addresses(text)
    if b"_" in text:
        text = _EMPHASIS.sub(lambda found: seam(b"_") + found[1] + seam(b"_"), text)
    return text, b""


_MASKS: dict[str, Callable[[bytes], Masked]] = {
    **dict.fromkeys([".md", ".markdown", ".qmd", ".rmd", ".mdx"], markdown),
    **dict.fromkeys([".tex", ".ltx", ".sty"], latex),
    **dict.fromkeys([".html", ".htm", ".xhtml"], html),
    **dict.fromkeys([".rst", ".rest"], rst),
}
MARKUP = frozenset(_MASKS)
