"""All masks: lengths, line ends, fillers, linear time, and invisible markup."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.apps.spelling.markup.linear_time import takes_linear_time
from weigh.apps.spelling.contexts import ContextReader
from weigh.apps.spelling.markup.prose import (
    DATA_SUFFIXES,
    SOURCE_SUFFIXES,
    format_suffix,
    mask_pieces,
    mask_text,
)

TEXTS = Path(__file__).parent / "texts"
DOCS = Path(__file__).resolve().parents[4] / "docs"
NAMES = ["a.txt", "a.md", "a.tex", "a.html", "a.rst"]


def decode_fragments(fragments: str) -> list[str]:
    """Split a string at spaces; in its parts _ is a space, ↵ is LF, ¬ is CR LF and → is a tab."""
    return [
        fragment.replace("_", " ").replace("↵", "\n").replace("¬", "\r\n").replace("→", "\t")
        for fragment in fragments.split()
    ]


UNDERSCORES = ["_", "__", "_there_", "_a_b_", "\x1c"]
FRAGMENTS = UNDERSCORES + decode_fragments(
    r"` `` ``` ~~~ $ $$ [ ] ]( ( ) { } < > <!-- --> \ \( \) \[ \] ↵ ↵↵ ¬ ____ → _ >_ -_ 1._ # !!!_ [^1]: [^1]"
    r" ]:_ ---↵ \begin{verbatim} \end{verbatim} \begin{ \label{ \newcommand \verb| | % \item[ &amp; <pre>"
    r" </pre> <a ::↵ .._note::_ .._code:: :role:` >>>_ http:// a@b /a/b their 5 é ’ * ** ~~ ]( <b> </b> <p>"
    r" \section{ \footnote{ \emph{ {\em_ & ~ \& \\ \iffalse \fi === weigh-spell:_ignore weigh-spell:_off"
)
markup = st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join).map(str.encode)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=100, deadline=None)
@given(text=st.one_of(markup, st.binary(max_size=60)))
def test_mask_keeps_length_and_line_ends_and_uses_three_fillers(name: str, text: bytes) -> None:
    found = mask_text(text, name)
    assert len(found) == len(text)
    assert all(
        new == old or (new in b"\x1a\x1d " and old not in b"\r\n")
        for new, old in zip(found, text, strict=True)
    )


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=100, deadline=None)
@given(text=markup)
def test_masking_is_monotone_and_gives_utf8(name: str, text: bytes) -> None:
    found = mask_text(text, name)
    found.decode()
    again = mask_text(found, name)
    # More may be masked: characters that were part of an address, or escaped, may now be markup.
    assert all(new in b"\x1a\x1d " for new, old in zip(again, found, strict=True) if old in b"\x1a\x1d ")


KEPT, MASKED = b"shownword", b"hiddenword"


@pytest.mark.parametrize("name", ["article.tex", "everything.md", "page.html", "guide.rst"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["unix", "dos"])
def test_exactly_the_prose_of_a_document_is_kept(name: str, end: bytes) -> None:
    text = (TEXTS / name).read_bytes().replace(b"\n", end)
    found = mask_text(text, name)
    unmasked = [line for line in found.splitlines() if MASKED in line]
    lost = [
        was
        for was, line in zip(text.splitlines(), found.splitlines(), strict=True)
        if was.count(KEPT) != line.count(KEPT)
    ]
    assert (unmasked, lost) == ([], [])


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_code_of_the_documentation_is_masked(page: Path) -> None:
    found = mask_text(page.read_bytes(), page.name)
    assert not [
        line for line in found.splitlines() if re.search(rb"```|import weigh|^\$ |>>>|https?://|\.md\)", line)
    ]
    assert found.count(b" the ") > 0.5 * len(re.findall(rb"^[A-Z].* the ", found, re.M)) > 0


def test_addresses_paths_and_code_of_plain_text_are_masked() -> None:
    text = (
        "See http://x.org/a(there), or www@their.org; there: /usr/their/there and and/or.\n"
        "`There,' he said, `is their `code x` and `more`.' Their 1/2 of it."
    )
    assert mask_text(text.encode(), "a.txt").decode().replace("\x1a", "·") == (
        "See ····················), or ·············; there: ················ and and/or.\n"
        "`There,' he said, `is their ········ and ······.' Their 1/2 of it."
    )


# Strings that are repeated many times.
HOSTILE = {
    "a.txt": "` `a_ :// a@ a/ a:// ↵> ↵>_ >",
    "a.md": r"* *a ~~ | **a [a](b '_ [a](b_( ![ ↵>_ ↵#_ ↵-_[_] ↵=_x"
    r" ` $ [ < ]( ](x) <!-- ↵<!-- $a_ { <a_ \( ↵ ↵↵____a >_ -_ ~~~↵ [^ ][ <pre> $↵ \$ ↵["
    r" `_↵``↵ ↵↵-_↵↵_____x \begin{align} <a='",
    "a.tex": r"} & ~ \a{ \section{ \emph{a}b \iffalse \iffalse\fi \if \\ \$"
    r" \ $ { % %↵ \begin{ \begin{verbatim} \begin{x} \label{ \newcommand{ \def\a \verb| \[ \( \cite["
    r" $↵↵ \cite{} \label{{} \newcommand{}{ \a[↵ \begin{x}[↵",
    "a.html": "<b> a<b> a</b>- <p> &nbsp; < <!-- <pre> <pre></pre & a&amp; <a↵ <a↵↵ <a=' =' =\"'",
    "a.rst": "* *a ↵=_x ↵-_ a` ` ``a :a :a: | |a <a a::↵ ..__a↵ >>>_↵ ↵",
}


@pytest.mark.parametrize(
    ("name", "fragment"),
    [
        *(
            (name, fragment)
            for name, fragments in HOSTILE.items()
            for fragment in decode_fragments(fragments)
        ),
        *(
            (name, fragment)
            for name in NAMES
            for fragment in ["_", "_a", "a_ ", "\x1c", "\x1ca", "weigh-spell: on "]
        ),
    ],
    ids=repr,
)
def test_masking_takes_linear_time_on_hostile_text(name: str, fragment: str) -> None:
    assert takes_linear_time(fragment.encode(), name)


def test_code_block_continues_in_the_next_piece() -> None:
    code = b"```\nhiddenword\n\nhiddenword\n```\nshownword\n"
    cut = code.index(b"\n\n") + 2
    whole = mask_text(code, "a.md")
    assert b"".join(mask_pieces([code[:cut], code[cut:]], "a.md")) == whole
    assert MASKED not in whole
    assert KEPT in whole


@pytest.mark.parametrize(
    ("name", "first", "second", "expected"),
    [
        ("a.md", "a\n> ```\n> b\n", "> b\n> ```\n> c\n", "···\n·····\n  c\n"),
        ("a.md", "a\n<!-- b\n\n", "b --> c\n", "      c\n"),
        ("a.md", "a\n\n", "---\nb: c\n---\n", "¶  \nb: c\n¶  \n"),
        ("a.tex", "a \\begin{lstlisting}[x=y]\nb\n\n", "b \\end{lstlisting} c\n", "·················· c\n"),
        ("a.html", "a <script src=x>b\n\n", "b</script> c\n", "·········· c\n"),
        ("a.tex", "a \\end{document}\nb\n\n", "b\n", "·\n"),
        ("a.tex", "a \\iffalse b\n\n", "\\ifx b\\fi\\fi c\n", "             c\n"),
        ("a.html", "a <!-- b\n\n", "b --> c\n", "      c\n"),
    ],
)
def test_open_constructs_continue_in_the_next_piece(
    name: str, first: str, second: str, expected: str
) -> None:
    pieces = list(mask_pieces([first.encode(), second.encode()], name))
    assert pieces[1].decode().translate({0x1A: "·", 0x1D: "¶"}) == expected


def contexts(text: str, name: str) -> list[list[str]]:
    """Return the contexts of *to* and *two* in a text."""
    reader = ContextReader([["to"], ["two"]])
    reader.read(mask_text(text.encode(), name), 0)
    return [rows.context(i) for rows in reader.occurrences() for i in range(len(rows))]


# Each displays the same sentence; text before and after it belongs to other paragraphs.
SENTENCE = "It was to late."
MARKED = {
    "a.txt": [
        "It was _to_ late.",
        "_It was to late._",
        "It was _to\nlate._",
        "> It was to\n> late.",
        ">> It\n> > was to\n>>late.",
    ],
    "a.md": [
        *("It was **to** late.", "It was *to* late.", "It was _to_ late.", "It was __to__ late."),
        *("It was **to late**.", "It was ~~to~~ late.", "***It was** to* late.", "**It was _to_ late.**"),
        *("It was to [late](x).", "It was [to](x 'two') late.", "It was [**to**][x] late."),
        *("It was ![to](a_b.png) late.", "It was to[^two] late.", "It was <b>to</b> late."),
        *(
            "It was <!-- two --> to late.",
            "It was&nbsp;to late.",
            "> It was to\n> late.",
            "- > It was to late.",
        ),
        *("# There\nIt was to late.\n## There", "There\n===\nIt was to late.\n\nThere\n---\n"),
        *("- There\n- It was to\n  late.\n- There", "1. It was to late.\n2. There", "- [ ] It was to late."),
        *("| A | It was to late. | it |\n|---|:-:|---|\n| there | x |", "There\n* * *\nIt was to late."),
        *("There\n$$\nx\n$$\nIt was to late.", "[there]: http://x.org\nIt was to late.\n[^a]: There"),
        *("there<p>It was to late.</p>there", "> # There\n> It was to late.\n>\n> there"),
        *('!!! note "There"\n    It was to late.', "There\n:   It was to late."),
    ],
    "a.tex": [
        *(r"It was \emph{to} late.", r"It was {\em to} late.", "It was~to late.", "It was to~late."),
        *("It was to % two\nlate.", r"It was \textbf{\emph{to}} late.", r"It was\ to late."),
        *(r"It was \textcolor{red}{to} late.", r"It was \label{two}to late.", r"It was \mine[x]{to} late."),
        *("It was \\iffalse two \\ifx two\\fi two \\fi to late.", r"\href{two}{It was} to late."),
        *(
            "It was to late.\n\\end{document}\nIt was two",
            r"\section[two]{There} It was to late. \chapter{A}",
        ),
        *(r"There\item It was to late.\item There", r"There\begin{quote}It was to late.\end{quote} There"),
        *(r"There\footnote{It was to late.} is", r"There \[x\]It was to late. $$y$$ there"),
        *(r"There & It was to late. \\ There", r"\begin{equation}x\end{equation} It was to late. \par There"),
    ],
    "a.html": [
        *(
            "It was <b>to</b> late.",
            "It was&nbsp;to&#160;late.",
            "It was<br>to late.",
            "It was <!-- two -->to late.",
        ),
        *("<p>It was to late.<p>There", "<UL><LI>There<li>It was <a\nhref=x>to</a> late.</ul>There"),
        *("<h1>There</h1>It was to late.", "<td>There</td><td>It was to late.</td><td>There</td>"),
    ],
    "a.rst": [
        *(
            "It was **to** late.",
            "It was *to* late.",
            "It was to `late <http://x.org>`_.",
            "It was `to`_ late.",
        ),
        *("It was to_ late.", "=====\nThere\n=====\nIt was to late.\n\nThere\n-----\n"),
        *(
            "- There\n- It was to\n  late.\n- There",
            "#. There\n#. It was to late.",
            ".. note:: It was to late.",
        ),
        *("| there | It was to late. |\n+-------+-----+\n",),
    ],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in MARKED.items() for text in texts])
def test_markup_does_not_separate_words(name: str, text: str) -> None:
    assert contexts(text, name) == contexts(SENTENCE, "a.txt")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(
            ("a.txt", text)
            for text in ["a_to_b", "_to_b", "_to_-day", "_a_to_", "__to__ x", "_to it", "in_ to_"]
        ),
        *(
            ("a.md", text)
            for text in ["**un**to", "to**s**", "**to**-day", "*to*'s", "[to](x)s", "a*to*", "to_day"]
        ),
        *(("a.md", text) for text in ["**to**.py", "é**to**", "well-*to*-do", "*in*_to_"]),
        *(
            ("a.tex", text)
            for text in [r"\emph{un}to", r"to\textbf{s}", r"un\-to", r"{\em to}-day", r"to\_s"]
        ),
        *(("a.html", text) for text in ["<b>un</b>to", "to<i>s</i>", "<b>to</b>’s"]),
        *(("a.rst", text) for text in ["*un*\\ to", "**to**-day"]),
    ],
)
def test_markup_does_not_split_words(name: str, text: str) -> None:
    assert contexts(f"It was {text} late.", name) == []


@pytest.mark.parametrize("before", ["“", "—", "(", "«", "‘", "..."])
@pytest.mark.parametrize(
    ("name", "fragment"), [("a.txt", "_"), ("a.md", "_"), ("a.md", "**"), ("a.rst", "*")]
)
def test_emphasis_may_adjoin_punctuation(before: str, name: str, fragment: str) -> None:
    for after in ["”", "—", ")", "»", "’", ".", ",", "--"]:
        marked = f"It was {before}{fragment}to{fragment}{after} late."
        assert contexts(marked, name) == contexts(marked.replace(fragment, ""), "a.txt")


def test_plain_characters_are_not_masked() -> None:
    for name, text in [
        ("a.md", "2 * to * [two] to"),
        ("a.tex", r"5\% to \& two"),
        ("a.html", "to < two > to"),
    ]:
        assert contexts(text, name) == contexts(text.replace("\\", " "), "a.txt")


def test_format_suffix_ignores_compression() -> None:
    assert format_suffix("a/B.MD.GZ") == ".md"
    assert format_suffix("a.md.xz") == ".md"
    assert format_suffix("standard input") == ""
    assert not SOURCE_SUFFIXES & DATA_SUFFIXES


COMMENTS = {"a.md": "<!-- {} -->", "a.tex": "% {}", "a.html": "<!-- {} -->", "a.rst": ".. {}", "a.txt": "{}"}


def visible_words(text: str, name: str) -> list[str]:
    """Return the words of a text that are not masked."""
    return mask_text(text.encode(), name).decode().translate({0x1A: " ", 0x1D: " "}).split()


@pytest.mark.parametrize("name", COMMENTS)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["unix", "dos"])
def test_ignore_comment_suppresses_its_line_or_the_next(name: str, end: str) -> None:
    comment = COMMENTS[name].format("weigh-spell: ignore")
    if name != "a.rst":  # where a comment starts its line
        assert visible_words(end.join(["one", f"two {comment}", "three", ""]), name) == ["one", "three"]
    text = end.join(["one", "", f"  {comment}", "two", "", "three"])
    assert visible_words(text, name) == ["one", "three"]


@pytest.mark.parametrize("name", COMMENTS)
def test_lines_between_off_and_on_are_suppressed(name: str) -> None:
    off, on, ignore = (COMMENTS[name].format(f"weigh-spell: {word}") for word in ("off", "on", "ignore"))
    text = f"one\n\n{off}\n\ntwo\n\n{ignore}\n\n{off}\ntwo\n\n{on}\n\nthree\n\n{on}\n\nfour\n\n{off}\n\nfive"
    assert visible_words(text, name) == ["one", "three", "four"]


def test_similar_words_are_not_suppression_comments() -> None:
    text = "weigh-spell: ignored\nweigh-spell: one\nweigh-spell ignore\nweigh-spell:off\nx\n"
    assert visible_words(text, "a.txt") == [
        "weigh-spell:",
        "ignored",
        "weigh-spell:",
        "one",
        "weigh-spell",
        "ignore",
    ]


LINES = st.lists(
    st.sampled_from(
        [
            "a",
            "b c",
            "",
            "weigh-spell: ignore",
            "d weigh-spell: ignore e",
            "weigh-spell: off",
            "weigh-spell: on",
        ]
    ),
    max_size=12,
)


def suppressed_lines(lines: list[str]) -> list[bool]:
    """Return which lines are suppressed."""
    suppressed, is_off, is_next = [], False, False
    for line in lines:
        suppressed.append(is_off or is_next or "weigh-spell" in line)
        is_next = not is_off and line == "weigh-spell: ignore"
        is_off = line.endswith("off") or (is_off and not line.endswith(": on"))
    return suppressed


@given(LINES, st.data())
def test_suppression_does_not_depend_on_pieces(lines: list[str], data: st.DataObject) -> None:
    pieces, rest = [], [line + "\n" for line in lines]
    while rest:
        cut = data.draw(st.integers(1, len(rest)))
        pieces.append("".join(rest[:cut]).encode())
        rest = rest[cut:]
    found = b"".join(mask_pieces(pieces, "a.txt")).decode().splitlines()
    assert found == [
        "\x1a" * len(line) if is_suppressed else line
        for line, is_suppressed in zip(lines, suppressed_lines(lines), strict=True)
    ]


def test_split_line_is_suppressed_to_its_end() -> None:
    pieces = [b"a weigh-spell: ignore b ", b"c ", b"d\ne\n", b"weigh-spell: ignore", b" \n", b"f\ng\n"]
    assert b"".join(mask_pieces(pieces, "a.txt")).replace(b"\x1a", b"").split() == [b"e", b"g"]


def test_many_suppression_comments_in_one_line_take_linear_time() -> None:
    assert takes_linear_time(b"weigh-spell: ignore x ", "a.txt", 1 << 16)
