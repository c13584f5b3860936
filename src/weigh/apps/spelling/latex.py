"""LaTeX: the prose of it; commands, mathematics, comments, code and keys are hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weigh.apps.spelling.latex_commands import (
    ALL_HIDDEN,
    CODE,
    LABELLED,
    TITLES,
    arguments_hidden,
    filler_of_command,
    is_mathematics,
)
from weigh.apps.spelling.masking import (
    SAME_PARAGRAPH,
    Filler,
    Masked,
    blank,
    code,
    end,
    hide,
    hide_addresses,
    seam,
    start_of_word,
)

_DOLLARS = SAME_PARAGRAPH % (rb"$\x1a", b"")
# Comments and what holds its text as it stands; an escaped sign is passed over.
_VERBATIM = re.compile(
    rb"[%\\](?:(?P<unseen>(?<=%)[^\n]*+|(?<=\\)href\{[^{}\n]*+\})"
    rb"|(?<=\\)(?:(?P<hidden>(?:url|nolinkurl|path)\{[^{}\n]*+\}"
    rb"|(?:[vV]erb|lstinline|mintinline)\b\*?(?:\[[^\[\]\n]*+\])?(?:\{[\w+-]++\}(?=[^\sA-Za-z{]))?"
    rb"(?P<mark>[^\sA-Za-z{*\\\x80-\xff])[^\n]*?(?P=mark))"
    rb"|begin\{(?P<code>[A-Za-z]+\*?)\}|(?P<last>end\{document\})|(?P<false>iffalse)(?![A-Za-z])|[^A-Za-z]))"
)
_IF = re.compile(rb"\\(?:(?P<end>fi)(?![A-Za-z])|if(?!f(?![A-Za-z])))")
_COMMAND = re.compile(
    rb"[\\${}~&](?:(?<=\$)(?:(?P<dollars>\$" + _DOLLARS + rb"\$\$)|(?P<dollar>(?!\$)" + _DOLLARS + rb"\$))"
    rb"|(?<=\\)(?:(?P<name>[A-Za-z@]++)\*?"
    rb"|(?P<formula>\(" + SAME_PARAGRAPH % (b"", b"()") + rb"\\\))"
    rb"|(?P<display>\[" + SAME_PARAGRAPH % (b"", b"\\[\\]") + rb"\\\])"
    rb"|(?P<row>\\\*?(?:\[[^\[\]\s]*+\])?)|(?P<space>[ \t])|(?P<sign>[%&$#_{}])"
    rb"|(?P<other>[^A-Za-z\s\x1a\x80-\xff]))"
    rb"|(?<=[{}])(?P<brace>)|(?<=~)(?P<tie>)|(?<=&)(?P<cell>))"
)
_FILLERS: dict[str | None, Filler] = {
    **dict.fromkeys(["dollar", "formula"], code),
    **dict.fromkeys(["dollars", "display", "row", "cell"], end),
    **dict.fromkeys(["space", "tie"], blank),
    **dict.fromkeys(["sign", "other", "brace"], seam),
}
# A word from its first accent on, such as Ni\~no from there: its parts are not words.
_ACCENTED = re.compile(
    rb"(?:\\(?:['`^\"~=.]|[cvuHkrdb](?=\{))(?:\{\\?[A-Za-z]?+\}|\\[ij](?![A-Za-z])(?:\{\})?|[A-Za-z])"
    rb"[A-Za-z\x80-\xff]*+)++"
)
_ENVIRONMENT = re.compile(rb"\{([A-Za-z]+\*?)\}")
_OPTION = rb"\[(?:[^\[\]\n]|\n(?![ \t\r]*\n))*+\]"
_OPTIONS = re.compile(rb"(?:" + _OPTION + rb")*+")
# The arguments of an environment that are no title: column types, widths, counts.
_SIZES = re.compile(rb"(?:" + _OPTION + rb"|\{(?:[^{}\s]|\{[^{}\s]*+\})*+\})*+")
_KEY = re.compile(rb"[ \t]*+\{[^{}\n]*+\}")
_DEFINED = re.compile(rb"(?:[ \t]*+(?:\\[A-Za-z@]++|#[0-9]|=|\*|\[[^\[\]\n]*+\]))*+[ \t]*+")
_BRACE = re.compile(rb"[{}\\](?:(?<=\\)[^\n])?")


def latex(text: bytes) -> Masked:
    """Hide everything but the prose of a LaTeX text."""
    verbatim = list(_verbatim(text))
    opener = b""
    if verbatim and verbatim[-1][1] > len(text):
        left = _VERBATIM.match(text, verbatim[-1][0])
        # A blank, lest it be one word with what follows.
        opener = left[0] + b" " if left else b""
    text = hide(text, verbatim)
    return hide_addresses(hide(text, _Commands(text).spans())), opener


def _verbatim(text: bytes) -> Iterator[tuple[int, int, Filler]]:
    """Comments, code, and what is left out of the print; what has no end goes beyond the text."""
    done, beyond = 0, len(text) + 1
    while found := _VERBATIM.search(text, done):
        begin, done = found.span()
        name = found["code"]
        if found["unseen"] is not None:
            yield begin, done, seam
        elif found["hidden"] is not None:
            yield begin, done, code
        elif found["last"]:
            done = beyond
            yield begin, done, code
        elif found["false"]:
            done = _after_fi(text, done) or beyond
            yield begin, done, seam
        elif name is not None and (name in CODE or is_mathematics(name)):
            closing = b"\\end{" + name + b"}"
            at = text.find(closing, done)
            done = at + len(closing) if at >= 0 else beyond
            yield begin, done, code if name in CODE else end


def _after_fi(text: bytes, at: int) -> int:
    """Where a condition that was opened ends, with those within it; 0 if it does not."""
    depth = 1
    for found in _IF.finditer(text, at):
        depth += -1 if found["end"] else 1
        if depth == 0:
            return found.end()
    return 0


class _Commands:
    """The commands and formulae of a text without comments and code."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._closing: dict[int, int] | None = None
        self._title_ends: set[int] = set()

    def spans(self) -> Iterator[tuple[int, int, Filler]]:
        """What is hidden: formulae, words with accents, commands with those arguments that are no prose."""
        done = 0
        while found := _COMMAND.search(self._text, done):
            (begin, stop), kind = found.span(), found.lastgroup
            accented = _ACCENTED.match(self._text, begin) if kind in {"name", "other"} else None
            if accented:
                begin, done = start_of_word(self._text, begin, done), accented.end()
                yield begin, done, code
            elif kind == "name":
                done = self._after(found["name"], stop)
                yield begin, done, self._filler(found["name"], done)
            else:
                done = stop
                filler = end if begin in self._title_ends else _FILLERS[kind]
                yield begin, begin + 1 if kind == "sign" else stop, filler

    def _filler(self, name: bytes, at: int) -> Filler:
        takes_text = self._text.startswith(b"{", at) and not self._text.startswith(b"{}", at)
        return filler_of_command(name, takes_text)

    def _after(self, name: bytes, at: int) -> int:
        """Where a command's hidden arguments end."""
        if name in {b"begin", b"end"}:
            environment = _ENVIRONMENT.match(self._text, at)
            at = environment.end() if environment else at
            return self._matched(_SIZES, at) if name == b"begin" else at
        if name in ALL_HIDDEN:
            return self._after_definition(at)
        if name in LABELLED:
            return at
        at = self._matched(_OPTIONS, at)
        if name in TITLES and self._text.startswith(b"{", at):
            self._title_ends.add(self._after_braces(at) - 1)
        for _ in range(arguments_hidden(name)):
            at = self._matched(_OPTIONS, self._after_argument(at))
        return at

    def _after_definition(self, at: int) -> int:
        while True:
            begin = self._matched(_DEFINED, at)
            at = self._after_argument(begin)
            if at == begin:
                return begin

    def _after_argument(self, at: int) -> int:
        key = _KEY.match(self._text, at)
        if key:
            return key.end()
        return self._after_braces(at)

    def _after_braces(self, at: int) -> int:
        if not self._text.startswith(b"{", at):
            return at
        if self._closing is None:
            self._closing = _closing(self._text)
        return self._closing.get(at, at)

    def _matched(self, pattern: re.Pattern[bytes], at: int) -> int:
        found = pattern.match(self._text, at)
        return found.end() if found else at


def _closing(text: bytes) -> dict[int, int]:
    """The end of every brace that closes."""
    ends, opened = {}, []
    for found in _BRACE.finditer(text):
        if found[0] == b"{":
            opened.append(found.start())
        elif found[0] == b"}" and opened:
            ends[opened.pop()] = found.end()
    return ends
