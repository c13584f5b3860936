"""What every mask promises: the same length, the same line ends, nothing but 0x1A, and time in proportion."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weigh.apps.spelling.prose import DATA, SOURCE, ending, masked, masked_pieces

TEXTS = Path(__file__).parent / "texts"
DOCS = Path(__file__).resolve().parents[3] / "docs"
NAMES = ["a.txt", "a.md", "a.tex", "a.html", "a.rst"]


def written(signs: str) -> list[str]:
    """Signs parted by blanks, in which _ is a blank, ↵ a line end, ¬ one of DOS and → a tab."""
    return [
        sign.replace("_", " ").replace("↵", "\n").replace("¬", "\r\n").replace("→", "\t")
        for sign in signs.split()
    ]


SIGNS = written(
    r"` `` ``` ~~~ $ $$ [ ] ]( ( ) { } < > <!-- --> \ \( \) \[ \] ↵ ↵↵ ¬ ____ → _ >_ -_ 1._ # !!!_ [^1]: [^1]"
    r" ]:_ ---↵ \begin{verbatim} \end{verbatim} \begin{ \label{ \newcommand \verb| | % \item[ &amp; <pre>"
    r" </pre> <a ::↵ .._note::_ .._code:: :role:` >>>_ http:// a@b /a/b their 5 é ’"
)
markup = st.lists(st.sampled_from(SIGNS), max_size=30).map("".join).map(str.encode)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=100, deadline=None)
@given(text=st.one_of(markup, st.binary(max_size=60)))
def test_a_mask_keeps_lengths_and_line_ends_and_writes_one_sign(name: str, text: bytes) -> None:
    found = masked(text, name)
    assert len(found) == len(text)
    assert all(
        new == old or (new == 0x1A and old not in b"\r\n") for new, old in zip(found, text, strict=True)
    )


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=100, deadline=None)
@given(text=markup)
def test_a_masked_text_stays_as_it_is_and_is_utf8(name: str, text: bytes) -> None:
    found = masked(text, name)
    found.decode()
    assert masked(found, name) == found


SHOWN, HIDDEN = b"shownword", b"hiddenword"


@pytest.mark.parametrize("name", ["article.tex", "everything.md", "page.html", "guide.rst"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["unix", "dos"])
def test_the_prose_of_a_real_document_stays_and_nothing_else(name: str, end: bytes) -> None:
    text = (TEXTS / name).read_bytes().replace(b"\n", end)
    found = masked(text, name)
    left = [line for line in found.splitlines() if HIDDEN in line]
    lost = [
        was
        for was, line in zip(text.splitlines(), found.splitlines(), strict=True)
        if was.count(SHOWN) != line.count(SHOWN)
    ]
    assert (left, lost) == ([], [])


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_no_code_of_our_own_pages_is_taken_for_prose(page: Path) -> None:
    found = masked(page.read_bytes(), page.name)
    assert not [
        line for line in found.splitlines() if re.search(rb"```|import weigh|^\$ |>>>|http|\.md\)", line)
    ]
    assert found.count(b" the ") > 0.5 * len(re.findall(rb"^[A-Z].* the ", found, re.M)) > 0


def test_plain_text_loses_its_addresses_paths_and_code_only() -> None:
    text = (
        "See http://x.org/a(there), or www@their.org; there: /usr/their/there and and/or.\n"
        "`There,' he said, `is their `code x` and `more`.' Their 1/2 of it."
    )
    assert masked(text.encode(), "a.txt").decode().replace("\x1a", "·") == (
        "See ····················), or ·············; there: ················ and and/or.\n"
        "`There,' he said, `is their ········ and ······.' Their 1/2 of it."
    )


# What is written again and again.
HOSTILE = {
    "a.txt": "` `a_ :// a@ a/ a://",
    "a.md": r"` $ [ < ]( ](x) <!-- ↵<!-- $a_ { <a_ \( ↵ ↵↵____a >_ -_ ~~~↵ [^ ][ <pre> $↵ \$ ↵["
    " `_↵``↵ ↵↵-_↵↵_____x",
    "a.tex": r"\ $ { % %↵ \begin{ \begin{verbatim} \begin{x} \label{ \newcommand{ \def\a \verb| \[ \( \cite["
    r" $↵↵ \cite{} \label{{} \newcommand{}{",
    "a.html": "< <!-- <pre> <pre></pre & a&amp; <a↵ <a↵↵",
    "a.rst": "` ``a :a :a: | |a <a a::↵ ..__a↵ >>>_↵ ↵",
}


@pytest.mark.parametrize(
    ("name", "sign"), [(name, sign) for name, signs in HOSTILE.items() for sign in written(signs)], ids=repr
)
def test_hostile_text_takes_time_in_proportion(name: str, sign: str) -> None:
    unit = sign.encode()
    seconds = []
    for size in (1 << 14, 1 << 17):
        text = b"x" + unit * (size // len(unit))
        start = time.process_time()
        masked(text, name)
        seconds.append(time.process_time() - start)
    # Eight times the text: 64 times the time if it were quadratic.
    assert seconds[1] < 24 * max(seconds[0], 0.01)


def test_a_block_of_code_goes_on_in_the_next_piece() -> None:
    code = b"```\nhiddenword\n\nhiddenword\n```\nshownword\n"
    cut = code.index(b"\n\n") + 2
    whole = masked(code, "a.md")
    assert b"".join(masked_pieces([code[:cut], code[cut:]], "a.md")) == whole
    assert HIDDEN not in whole
    assert SHOWN in whole


@pytest.mark.parametrize(
    ("name", "first", "second", "expected"),
    [
        ("a.md", "a\n> ```\n> b\n", "> b\n> ```\n> c\n", "···\n·····\n> c\n"),
        ("a.md", "a\n<!-- b\n\n", "b --> c\n", "····· c\n"),
        ("a.md", "a\n\n", "---\nb: c\n---\n", "---\nb: c\n---\n"),
        ("a.tex", "a \\begin{lstlisting}[x=y]\nb\n\n", "b \\end{lstlisting} c\n", "·················· c\n"),
        ("a.html", "a <script src=x>b\n\n", "b</script> c\n", "·········· c\n"),
        ("a.html", "a <!-- b\n\n", "b --> c\n", "····· c\n"),
    ],
)
def test_what_a_piece_leaves_open_hides_the_start_of_the_next(
    name: str, first: str, second: str, expected: str
) -> None:
    pieces = list(masked_pieces([first.encode(), second.encode()], name))
    assert pieces[1].decode().replace("\x1a", "·") == expected


def test_the_ending_below_a_packing_tells_the_format() -> None:
    assert ending("a/B.MD.GZ") == ".md"
    assert ending("a.md.xz") == ".md"
    assert ending("standard input") == ""
    assert not SOURCE & DATA
