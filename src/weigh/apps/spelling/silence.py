"""Remarks by which a writer silences the speller: what they cover is hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weigh.apps.spelling.masking import Filler, code, hide

_NAME = b"weigh-spell:"
_REMARK = re.compile(rb"weigh-spell:[ \t]*+(ignore|off|on)\b")
_LETTER = re.compile(rb"[\w\x80-\xff]")


class Silence:
    """What remarks cover in the pieces of one text, one after the other."""

    def __init__(self) -> None:
        self._is_off = False
        self._lines = 0  # that are silent at the start of the next piece; the rest of one is one

    def over(self, text: bytes, prose: bytes) -> bytes:
        """Hide what is silent in the masked text of a piece."""
        if not (self._is_off or self._lines or _NAME in text):
            return prose
        return hide(prose, _apart(self._silent(text)))

    def _silent(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Lines that are silent, in their order; they may overlap."""
        yield 0, self._after(text, 0, self._lines)
        begin = at = 0
        while found := _REMARK.search(text, at):
            line = text.rfind(b"\n", at, found.start()) + 1 or at
            at = self._after(text, found.end(), 1)
            begin = begin if self._is_off else line
            remarks = _REMARK.findall(text, line, at)
            switches = [remark for remark in remarks if remark != b"ignore"]
            if switches:
                self._is_off = switches[-1] == b"off"
            elif not self._is_off and not _LETTER.search(_REMARK.sub(b"", text[line:at])):
                yield begin, self._after(text, found.end(), 2)
            if not self._is_off:
                yield begin, at
        if self._is_off:
            yield begin, len(text)

    def _after(self, text: bytes, at: int, lines: int) -> int:
        """Where so many lines end; those that the text lacks are left to the next piece."""
        self._lines = 0
        for left in range(lines, 0, -1):
            at = text.find(b"\n", at) + 1
            if at == 0:
                self._lines = left
                return len(text)
        return at


def _apart(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int, Filler]]:
    done = 0
    for begin, stop in spans:
        if stop > done:
            yield max(begin, done), stop, code
            done = stop
