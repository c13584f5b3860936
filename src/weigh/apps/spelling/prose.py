"""What of a text is prose, by the ending of its name: the rest is hidden."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator

from weigh.apps.spelling.html import html
from weigh.apps.spelling.latex import latex
from weigh.apps.spelling.markdown import markdown
from weigh.apps.spelling.masking import Masked, hidden_match, hide_addresses
from weigh.apps.spelling.rst import rst

# Not within quotes that open with a backtick: those end with an apostrophe.
_CODE = re.compile(rb"`[^\s`][^`\r\n\x1a]*+`(?<!\s`)(?![\w`\x1a])")
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
    """A text of the same length in which everything that is no prose is 0x1A; line ends stay."""
    return next(masked_pieces([text], name))


def masked_pieces(pieces: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The pieces of one text, masked; what one of them leaves open goes on in the next."""
    mask = _MASKS.get(ending(name), _plain)
    opener = b""
    for piece in pieces:
        text, left = mask(opener + piece)
        yield text[len(opener) :]
        # What stands only at the start of a document is not looked for behind a line end.
        opener = left or b"\n"


def _plain(text: bytes) -> Masked:
    if b"`" in text:
        text = _CODE.sub(hidden_match, text)
    return hide_addresses(text), b""


_MASKS: dict[str, Callable[[bytes], Masked]] = {
    **dict.fromkeys([".md", ".markdown", ".qmd", ".rmd", ".mdx"], markdown),
    **dict.fromkeys([".tex", ".ltx", ".sty"], latex),
    **dict.fromkeys([".html", ".htm", ".xhtml"], html),
    **dict.fromkeys([".rst", ".rest"], rst),
}
MARKUP = frozenset(_MASKS)
