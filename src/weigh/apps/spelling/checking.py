"""Checking a text: the occurrences whose context asks for another word of their set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from weigh.apps.spelling.chooser import LinearChooser
from weigh.apps.spelling.contexts import Occurrences, Reader
from weigh.apps.spelling.pieces import cuts
from weigh.apps.spelling.prose import masked
from weigh.apps.spelling.reasons import MORE_USUAL, Reason, strongest
from weigh.apps.spelling.suggestion import Suggestion, like

# So small that a set cannot occur in it oftener than a reader keeps occurrences of one.
PIECE = 2**20


class Found(NamedTuple):
    """An occurrence that is probably another word, by its place in bytes."""

    begin: int
    size: int
    word: str
    probability: float
    reasons: tuple[Reason, ...]


def suggestions(
    choosers: Sequence[LinearChooser], threshold: float, window: int, text: bytes, name: str
) -> list[Suggestion]:
    """What is suggested for a text of UTF-8, in its order; nothing below the threshold is."""
    found: list[Found] = []
    prose = masked(text, name)
    for begin, end in cuts(prose, PIECE):
        reader = Reader([chooser.words for chooser in choosers], window)
        reader.read(prose[begin:end], 0, 0, begin)
        for chooser, rows in zip(choosers, reader.occurrences(), strict=True):
            if len(rows):
                found.extend(_alarms(chooser, rows, threshold))
    return list(_told(sorted(found), text, name))


def _alarms(chooser: LinearChooser, rows: Occurrences, threshold: float) -> Iterator[Found]:
    chances = chooser.chances(rows)
    best = chances.argmax(axis=1)
    sure = chances[np.arange(len(rows)), best]
    for i in np.flatnonzero((best != rows.members) & (sure > threshold)).tolist():
        word, written = int(best[i]), int(rows.members[i])
        yield Found(
            begin=int(rows.begins[i]),
            size=int(rows.sizes[i]),
            word=chooser.words[word],
            probability=float(sure[i]),
            reasons=_reasons(chooser, rows.context(i), word, written),
        )


def _reasons(chooser: LinearChooser, context: list[str], word: int, written: int) -> tuple[Reason, ...]:
    usual = (MORE_USUAL, float(chooser.base[word] - chooser.base[written]))
    parts = ((feature, float(row[word] - row[written])) for feature, row in chooser.evidence(context))
    return strongest([usual, *parts])


def _told(found: list[Found], text: bytes, name: str) -> Iterator[Suggestion]:
    place = Place()
    apostrophe = ""
    for one in found:
        place = place.moved(text[place.byte : one.begin])
        written = text[one.begin : one.begin + one.size].decode("utf-8", "surrogatepass")
        if "'" in one.word:
            apostrophe = apostrophe or _usual_apostrophe(text)
        yield Suggestion(
            name=name,
            line=place.line,
            column=place.character - place.start + 1,
            begin=place.character,
            end=place.character + len(written),
            written=written,
            suggested=like(written, one.word, apostrophe),
            probability=one.probability,
            reasons=one.reasons,
        )


def _usual_apostrophe(text: bytes) -> str:
    return "’" if text.count("’".encode()) > text.count(b"'") else "'"


@dataclass(frozen=True)
class Place:
    """A place in a text: bytes and characters before it, its line, and the character that the line starts at.

    Lines end with a line feed, a carriage return, or both.
    """

    byte: int = 0
    character: int = 0
    line: int = 1
    start: int = 0

    def moved(self, passed: bytes) -> Place:
        """The place behind some more bytes, which end neither in a character nor between two line ends."""
        ends = passed.count(b"\n") + passed.count(b"\r") - passed.count(b"\r\n")
        character = self.character + characters(passed)
        start = self.start
        if ends:
            last = max(passed.rfind(b"\n"), passed.rfind(b"\r")) + 1
            start = character - characters(passed[last:])
        return Place(self.byte + len(passed), character, self.line + ends, start)


def characters(text: bytes) -> int:
    """How many characters some UTF-8 has: all bytes but those that continue one."""
    if text.isascii():
        return len(text)
    return int(np.count_nonzero((np.frombuffer(text, np.uint8) & 0xC0) != 0x80))
