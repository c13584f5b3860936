"""Checking a text: the occurrences whose context asks for another word of their set."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import tee
from typing import NamedTuple

import numpy as np

from weigh.apps.spelling.chooser import LinearChooser
from weigh.apps.spelling.contexts import Occurrences, Reader
from weigh.apps.spelling.documents import pieces
from weigh.apps.spelling.prose import masked_pieces
from weigh.apps.spelling.reasons import MORE_USUAL, PARAGRAPH, Reason, weighed
from weigh.apps.spelling.suggestion import Suggestion, like
from weigh.apps.spelling.surroundings import Surroundings

BLOCK = 1 << 18
# Smaller than what is learned from at once: a text of nothing but words of one set takes 300 bytes for each.
PIECE = 1 << 20
_SENTENCE_STARTS = {f"before:{mark}" for mark in (PARAGRAPH, *".!?")}


class Piece(NamedTuple):
    """A part of a text as it is, and with what is no prose hidden."""

    text: bytes
    prose: bytes


class Found(NamedTuple):
    """An occurrence that is probably another word, by its place in bytes.

    `own` is the written word as its set has it, if it is known that a capital is its own.
    """

    begin: int
    size: int
    own: str
    word: str
    probability: float
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class Judge:
    """What decides over a text: choosers, how sure they must be, and how far they see."""

    choosers: Sequence[LinearChooser]
    threshold: float
    window: int

    def suggestions(
        self, blocks: Iterable[bytes], name: str, place: Place | None = None
    ) -> Iterator[Suggestion]:
        """What is suggested for a text that comes in blocks of UTF-8, in its order; it begins at a place."""
        ahead, behind = tee(pieces(blocks, PIECE))
        place = place or Place()
        for text, prose in zip(ahead, masked_pieces(behind, name), strict=True):
            place = yield from _told(self._found(prose), Piece(text, prose), name, place)

    def _found(self, prose: bytes) -> list[Found]:
        # As many as a piece has bytes: no set occurs oftener, so that none is left out.
        reader = Reader([chooser.words for chooser in self.choosers], self.window, most=max(2, len(prose)))
        reader.read(prose, 0)
        found: list[Found] = []
        for chooser, rows in zip(self.choosers, reader.occurrences(), strict=True):
            if len(rows):
                found.extend(_alarms(chooser, rows, self.threshold, prose))
        return sorted(found)


def in_blocks(text: bytes) -> Iterator[bytes]:
    """A text in memory, block by block."""
    return (text[at : at + BLOCK] for at in range(0, len(text), BLOCK))


def _alarms(chooser: LinearChooser, rows: Occurrences, threshold: float, prose: bytes) -> Iterator[Found]:
    chances = chooser.chances(rows)
    best = chances.argmax(axis=1)
    sure = chances[np.arange(len(rows)), best]
    for i in np.flatnonzero((best != rows.members) & (sure > threshold)).tolist():
        word, written = int(best[i]), int(rows.members[i])
        begin, size, context = int(rows.begins[i]), int(rows.sizes[i]), rows.context(i)
        around = Surroundings.of(prose, begin, begin + size)
        yield Found(
            begin=begin,
            size=size,
            # Where a sentence starts, a capital may be the sentence's.
            own="" if _SENTENCE_STARTS & {*context} else chooser.words[written],
            word=chooser.words[word],
            probability=float(sure[i]),
            reasons=weighed(_evidence(chooser, context, word, written), around.written),
        )


def _evidence(
    chooser: LinearChooser, context: list[str], word: int, written: int
) -> Iterable[tuple[str, float]]:
    """Every feature of a context, with what it adds to the logarithm of the odds of two words."""
    evidence = dict.fromkeys(context, 0.0)
    evidence[MORE_USUAL] = float(chooser.base[word] - chooser.base[written])
    evidence |= {feature: float(row[word] - row[written]) for feature, row in chooser.evidence(context)}
    return evidence.items()


def _told(found: list[Found], piece: Piece, name: str, place: Place) -> Generator[Suggestion, None, Place]:
    """The suggestions for a piece that begins at a place; returned is the place behind it."""
    text, apostrophe, done = piece.text, "", 0
    for one in found:
        place, done = place.moved(text[done : one.begin]), one.begin
        written = text[one.begin : one.begin + one.size].decode("utf-8", "surrogatepass")
        if "'" in one.word:
            apostrophe = apostrophe or _usual_apostrophe(piece.prose)
        suggested = like(written, one.word, apostrophe, one.own)
        # In capitals two words of a set may be one: MASSE is both Masse and Maße.
        if suggested == written:
            continue
        yield Suggestion(
            name=name,
            line=place.line,
            column=place.character - place.start + 1,
            begin=place.character,
            end=place.character + len(written),
            written=written,
            suggested=suggested,
            probability=one.probability,
            reasons=one.reasons,
        )
    return place.moved(text[done:])


def _usual_apostrophe(prose: bytes) -> str:
    return "’" if prose.count("’".encode()) > prose.count(b"'") else "'"


@dataclass(frozen=True)
class Place:
    """A place in a text: the characters before it, its line, and the character that the line starts at.

    Lines end with a line feed, a carriage return, or both.
    """

    character: int = 0
    line: int = 1
    start: int = 0
    returned: bool = False

    def moved(self, passed: bytes) -> Place:
        """The place behind some more bytes, which do not end within a character."""
        if not passed:
            return self
        ends = passed.count(b"\n") + passed.count(b"\r") - passed.count(b"\r\n")
        character, start = self.character + characters(passed), self.start
        if ends:
            last = max(passed.rfind(b"\n"), passed.rfind(b"\r")) + 1
            start = character - characters(passed[last:])
        # A carriage return and its line feed may be in two pieces.
        ends -= self.returned and passed.startswith(b"\n")
        return Place(character, self.line + ends, start, passed.endswith(b"\r"))


def characters(text: bytes) -> int:
    """How many characters some UTF-8 has: all bytes but those that continue one."""
    if text.isascii():
        return len(text)
    return int(np.count_nonzero((np.frombuffer(text, np.uint8) & 0xC0) != 0x80))
