"""The text of an open document, and its positions in the Language Server Protocol.

A position is a line and a number of code units within it, both from zero, in the negotiated encoding (UTF-8,
UTF-16 or UTF-32). Lines end with LF, CR LF or CR only, although Python knows more line ends.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from itertools import accumulate

LinePosition = tuple[int, int]

# Lone surrogates cannot be encoded; their replacement has the same length in every encoding.
_SURROGATES = re.compile("[\ud800-\udfff]")
_REPLACEMENT_CHARACTER = "\ufffd"
_LINE_ENDS = ("\r", "\n")


class TextDocument:
    """A text stored as lines, so that the cost of a change does not grow with the whole document."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self._encoding = encoding
        self.replace(text)

    def replace(self, text: str) -> None:
        """Replace the whole text."""
        self._lines = _split_lines(_replace_surrogates(text))

    def change(self, begin: LinePosition, end: LinePosition, text: str) -> None:
        """Replace the text between two positions."""
        (first, before), (last, after) = sorted((self._clamp_position(begin), self._clamp_position(end)))
        changed = self._line(first)[:before] + _replace_surrogates(text) + self._line(last)[after:]
        # An adjacent CR and LF become one line end.
        if changed.startswith("\n") and first and self._lines[first - 1].endswith("\r"):
            first -= 1
            changed = self._lines[first] + changed
        self._lines[first : last + 1] = _split_lines(changed)

    def to_string(self) -> str:
        """Return the text."""
        return "".join(self._lines)

    def position_index(self) -> PositionIndex:
        """Return the positions of the characters of the current text."""
        return PositionIndex(tuple(self._lines), self._encoding)

    def offset_at(self, position: LinePosition) -> int:
        """Return the number of characters before a position."""
        line, column = self._clamp_position(position)
        return sum(map(len, self._lines[:line])) + column

    def _line(self, number: int) -> str:
        return self._lines[number] if number < len(self._lines) else ""

    def _clamp_position(self, position: LinePosition) -> tuple[int, int]:
        """Return line and column in characters, clamped to the end of the line and of the text."""
        number, units = position
        if number < len(self._lines):
            line = self._lines[number]
            length = len(line) - (2 if line.endswith("\r\n") else line.endswith(_LINE_ENDS))
            # A character has at least one code unit, so the rest of a long line can be ignored.
            return number, _count_characters(line[: min(units, length)], units, self._encoding)
        if self._lines and not self._lines[-1].endswith(_LINE_ENDS):
            return len(self._lines) - 1, len(self._lines[-1])
        return len(self._lines), 0


class PositionIndex:
    """Converts character offsets to positions.

    Queries in increasing order take linear time in total, even if a long line has many suggestions.
    """

    def __init__(self, lines: tuple[str, ...], encoding: str) -> None:
        self._lines = lines
        self._encoding = encoding
        if not lines or lines[-1].endswith(_LINE_ENDS):
            self._lines = (*lines, "")
        self._line_starts = list(accumulate(map(len, self._lines[:-1]), initial=0))
        self._last = (0, 0, 0)  # line, offset and code units of the last query

    def __call__(self, offset: int) -> LinePosition:
        line = bisect_right(self._line_starts, offset) - 1
        start = self._line_starts[line]
        last_line, last_offset, units = self._last
        if last_line != line or last_offset > offset:
            last_offset, units = start, 0
        units += _count_code_units(self._lines[line][last_offset - start : offset - start], self._encoding)
        self._last = (line, offset, units)
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
    """Return the number of whole characters in the first `units` code units of a text."""
    if text.isascii() or encoding == "utf-32":
        return min(units, len(text))
    if encoding == "utf-8":
        return len(text.encode("utf-8")[:units].decode("utf-8", "ignore"))
    return len(text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore"))
