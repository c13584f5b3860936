"""The text of a document that an editor has open, and its places as the Language Server Protocol counts them.

A place is a line and a number of code units within it, both from zero: bytes in UTF-8, half words in UTF-16,
characters in UTF-32, as the editor and the server have agreed. A line ends with LF, CR LF or CR and with
nothing else, though Python knows more line ends.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from itertools import accumulate

LinePosition = tuple[int, int]

# Half a character: nothing can be said in UTF-8 of it. What stands for it has its length in every encoding.
_SURROGATES = re.compile("[\ud800-\udfff]")
_REPLACEMENT_CHARACTER = "\ufffd"
_LINE_ENDS = ("\r", "\n")


class TextDocument:
    """Lines that can be changed, so that a change costs what it touches and not the whole document."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self._encoding = encoding
        self.replace(text)

    def replace(self, text: str) -> None:
        """Take another text as a whole."""
        self._lines = _split_lines(_replace_surrogates(text))

    def change(self, begin: LinePosition, end: LinePosition, text: str) -> None:
        """Put a text in the place of what lies between two places."""
        (first, before), (last, after) = sorted((self._clamp_position(begin), self._clamp_position(end)))
        changed = self._line(first)[:before] + _replace_surrogates(text) + self._line(last)[after:]
        # Where CR and LF come together they are one line end.
        if changed.startswith("\n") and first and self._lines[first - 1].endswith("\r"):
            first -= 1
            changed = self._lines[first] + changed
        self._lines[first : last + 1] = _split_lines(changed)

    def to_string(self) -> str:
        """The text."""
        return "".join(self._lines)

    def position_index(self) -> PositionIndex:
        """Where the characters of the text are as it is now."""
        return PositionIndex(tuple(self._lines), self._encoding)

    def offset_at(self, place: LinePosition) -> int:
        """The number of characters before a place."""
        line, column = self._clamp_position(place)
        return sum(map(len, self._lines[:line])) + column

    def _line(self, number: int) -> str:
        return self._lines[number] if number < len(self._lines) else ""

    def _clamp_position(self, place: LinePosition) -> tuple[int, int]:
        """Line and characters of a place; what is beyond a line is its end, and beyond all lines the end."""
        number, units = place
        if number < len(self._lines):
            line = self._lines[number]
            length = len(line) - (2 if line.endswith("\r\n") else line.endswith(_LINE_ENDS))
            # Every character takes a unit at least, so that the rest of a long line need not be looked at.
            return number, _count_characters(line[: min(units, length)], units, self._encoding)
        if self._lines and not self._lines[-1].endswith(_LINE_ENDS):
            return len(self._lines) - 1, len(self._lines[-1])
        return len(self._lines), 0


class PositionIndex:
    """Where the characters of a text are.

    Asked in their order, it counts each only once: a long line may have much to tell of.
    """

    def __init__(self, lines: tuple[str, ...], encoding: str) -> None:
        self._lines = lines
        self._encoding = encoding
        if not lines or lines[-1].endswith(_LINE_ENDS):
            self._lines = (*lines, "")
        self._begins = list(accumulate(map(len, self._lines[:-1]), initial=0))
        self._last = (0, 0, 0)

    def __call__(self, at: int) -> LinePosition:
        line = bisect_right(self._begins, at) - 1
        begin = self._begins[line]
        last_line, last, units = self._last
        if last_line != line or last > at:
            last, units = begin, 0
        units += _count_code_units(self._lines[line][last - begin : at - begin], self._encoding)
        self._last = (line, at, units)
        return line, units


def _split_lines(text: str) -> list[str]:
    return list(io.StringIO(text, newline=""))


def _replace_surrogates(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return _SURROGATES.sub(_REPLACEMENT_CHARACTER, text)
    return text


def _count_code_units(text: str, encoding: str) -> int:
    if text.isascii() or encoding == "utf-32":
        return len(text)
    return len(text.encode("utf-8")) if encoding == "utf-8" else len(text.encode("utf-16-le")) // 2


def _count_characters(text: str, units: int, encoding: str) -> int:
    """How many characters of a text take so many code units; one that is cut does not count."""
    if text.isascii() or encoding == "utf-32":
        return min(units, len(text))
    if encoding == "utf-8":
        return len(text.encode("utf-8")[:units].decode("utf-8", "ignore"))
    return len(text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore"))
