"""LaTeX: the prose of it; commands, mathematics, comments, code and keys are hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weigh.apps.spelling.latex_commands import ALL_HIDDEN, CODE, LABELLED, arguments_hidden, is_mathematics
from weigh.apps.spelling.masking import SAME_PARAGRAPH, Masked, hide, hide_addresses, start_of_word

_DOLLARS = SAME_PARAGRAPH % (rb"$\x1a", b"")
# Comments and what holds its text as it stands; an escaped sign is passed over.
_VERBATIM = re.compile(
    rb"[%\\](?:(?P<hidden>(?<=%)[^\n]*+"
    rb"|(?<=\\)(?:url|nolinkurl|path|href)\{[^{}\n]*+\}"
    rb"|(?<=\\)(?:verb|lstinline|mintinline)\b\*?(?:\[[^\[\]\n]*+\])?(?:\{[\w+-]++\}(?=[^\sA-Za-z{]))?"
    rb"(?P<mark>[^\sA-Za-z{*\\\x80-\xff])[^\n]*?(?P=mark))"
    rb"|(?<=\\)(?:begin\{(?P<code>[A-Za-z]+\*?)\}|[^A-Za-z]))"
)
_COMMAND = re.compile(
    rb"[\\$](?:(?<=\$)(?:\$" + _DOLLARS + rb"\$\$|(?!\$)" + _DOLLARS + rb"\$)"
    rb"|(?<=\\)(?:(?P<name>[A-Za-z@]++)\*?"
    rb"|\(" + SAME_PARAGRAPH % (b"", b"()") + rb"\\\)|\[" + SAME_PARAGRAPH % (b"", b"\\[\\]") + rb"\\\]"
    rb"|\\\*?(?:\[[^\[\]\s]*+\])?|[^A-Za-z\s\x1a\x80-\xff]))"
)
# A word from its first accent on, such as Ni\~no from there: its parts are not words.
_ACCENTED = re.compile(
    rb"(?:\\(?:['`^\"~=.]|[cvuHkrdb](?=\{))(?:\{\\?[A-Za-z]?+\}|\\[ij](?![A-Za-z])(?:\{\})?|[A-Za-z])"
    rb"[A-Za-z\x80-\xff]*+)++"
)
_ENVIRONMENT = re.compile(rb"\{([A-Za-z]+\*?)\}")
_OPTIONS = re.compile(rb"(?:\[[^\[\]\n]*+\])*+")
# The arguments of an environment that are no title: column types, widths, counts.
_SIZES = re.compile(rb"(?:\[[^\[\]\n]*+\]|\{(?:[^{}\s]|\{[^{}\s]*+\})*+\})*+")
_KEY = re.compile(rb"[ \t]*+\{[^{}\n]*+\}")
_DEFINED = re.compile(rb"(?:[ \t]*+(?:\\[A-Za-z@]++|#[0-9]|=|\*|\[[^\[\]\n]*+\]))*+[ \t]*+")
_BRACE = re.compile(rb"[{}\\](?:(?<=\\)[^\n])?")


def latex(text: bytes) -> Masked:
    """Hide everything but the prose of a LaTeX text."""
    verbatim = list(_verbatim(text))
    opener = b""
    if verbatim and verbatim[-1][1] > len(text):
        begin = verbatim[-1][0]
        opener = text[begin : text.index(b"}", begin) + 1]
    text = hide(text, verbatim)
    return hide_addresses(hide(text, _Commands(text).spans())), opener


def _verbatim(text: bytes) -> Iterator[tuple[int, int]]:
    """Comments, and environments and commands of code; an environment without end goes beyond the text."""
    done = 0
    while found := _VERBATIM.search(text, done):
        done = found.end()
        name = found["code"]
        if found["hidden"] is not None:
            yield found.span()
        elif name is not None and (name in CODE or is_mathematics(name)):
            end = b"\\end{" + name + b"}"
            at = text.find(end, done)
            done = at + len(end) if at >= 0 else len(text) + 1
            yield found.start(), done


class _Commands:
    """The commands and formulae of a text without comments and code."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._closing: dict[int, int] | None = None

    def spans(self) -> Iterator[tuple[int, int]]:
        """What is hidden: formulae, words with accents, commands with those arguments that are no prose."""
        done = 0
        while found := _COMMAND.search(self._text, done):
            begin, name = found.start(), found["name"]
            accented = _ACCENTED.match(self._text, begin)
            if accented:
                begin, done = start_of_word(self._text, begin, done), accented.end()
            else:
                done = found.end() if name is None else self._after(name, found.end())
            yield begin, done

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
        for _ in range(arguments_hidden(name)):
            at = self._matched(_OPTIONS, self._after_argument(at))
        return at

    def _after_definition(self, at: int) -> int:
        while True:
            begin = self._matched(_DEFINED, at)
            end = self._after_argument(begin)
            if end == begin:
                return begin
            at = end

    def _after_argument(self, at: int) -> int:
        key = _KEY.match(self._text, at)
        if key:
            return key.end()
        if self._text[at : at + 1] != b"{":
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
