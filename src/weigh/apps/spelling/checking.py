"""Checking a text: the occurrences whose context asks for another word of their set."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import tee
from typing import NamedTuple

import numpy as np

from weigh.apps.spelling.classifiers import LinearWordClassifier
from weigh.apps.spelling.contexts import ContextReader, Occurrences
from weigh.apps.spelling.documents import split_into_pieces
from weigh.apps.spelling.markup.prose import mask_pieces
from weigh.apps.spelling.suggestions import (
    PARAGRAPH_TOKEN,
    PRIOR_FEATURE,
    Suggestion,
    SuggestionReason,
    match_case,
    rank_reasons,
)

BLOCK_BYTES = 1 << 18
# Smaller than what is learned from at once: a text of nothing but words of one set takes 300 bytes for each.
MAX_PIECE_BYTES = 1 << 20
_SENTENCE_STARTS = {f"before:{mark}" for mark in (PARAGRAPH_TOKEN, *".!?")}


class MaskedPiece(NamedTuple):
    """A part of a text as it is, and with what is no prose hidden."""

    text: bytes
    prose: bytes


class DetectedError(NamedTuple):
    """An occurrence that is probably another word, by its place in bytes.

    `own` is the written word as its set has it, if it is known that a capital is its own.
    """

    begin: int
    size: int
    set_spelling: str
    word: str
    probability: float
    reasons: tuple[SuggestionReason, ...]


@dataclass(frozen=True)
class TextChecker:
    """What decides over a text: choosers, how sure they must be, and how far they see."""

    choosers: Sequence[LinearWordClassifier]
    threshold: float
    window: int

    def check(
        self, blocks: Iterable[bytes], name: str, place: TextPosition | None = None
    ) -> Iterator[Suggestion]:
        """What is suggested for a text that comes in blocks of UTF-8, in its order; it begins at a place."""
        ahead, behind = tee(split_into_pieces(blocks, MAX_PIECE_BYTES))
        place = place or TextPosition()
        for text, prose in zip(ahead, mask_pieces(behind, name), strict=True):
            place = yield from _to_suggestions(
                self._detect_errors(prose), MaskedPiece(text, prose), name, place
            )

    def _detect_errors(self, prose: bytes) -> list[DetectedError]:
        # As many as a piece has bytes: no set occurs oftener, so that none is left out.
        reader = ContextReader(
            [chooser.words for chooser in self.choosers], self.window, most=max(2, len(prose))
        )
        reader.read(prose, 0)
        found: list[DetectedError] = []
        for chooser, rows in zip(self.choosers, reader.occurrences(), strict=True):
            if len(rows):
                found.extend(_find_errors(chooser, rows, self.threshold, prose))
        return sorted(found)


def split_into_blocks(text: bytes) -> Iterator[bytes]:
    """A text in memory, block by block."""
    return (text[at : at + BLOCK_BYTES] for at in range(0, len(text), BLOCK_BYTES))


def _find_errors(
    chooser: LinearWordClassifier, rows: Occurrences, threshold: float, prose: bytes
) -> Iterator[DetectedError]:
    chances = chooser.predict_proba(rows)
    best = chances.argmax(axis=1)
    sure = chances[np.arange(len(rows)), best]
    for i in np.flatnonzero((best != rows.members) & (sure > threshold)).tolist():
        word, written = int(best[i]), int(rows.members[i])
        begin, size, context = int(rows.begins[i]), int(rows.sizes[i]), rows.context(i)
        around = NeighbourWords.around(prose, begin, begin + size)
        yield DetectedError(
            begin=begin,
            size=size,
            # Where a sentence starts, a capital may be the sentence's.
            set_spelling="" if _SENTENCE_STARTS & {*context} else chooser.words[written],
            word=chooser.words[word],
            probability=float(sure[i]),
            reasons=rank_reasons(_log_odds_by_feature(chooser, context, word, written), around.spell_feature),
        )


def _log_odds_by_feature(
    chooser: LinearWordClassifier, context: list[str], word: int, written: int
) -> Iterable[tuple[str, float]]:
    """Every feature of a context, with what it adds to the logarithm of the odds of two words."""
    evidence = dict.fromkeys(context, 0.0)
    evidence[PRIOR_FEATURE] = float(chooser.base[word] - chooser.base[written])
    evidence |= {feature: float(row[word] - row[written]) for feature, row in chooser.contributions(context)}
    return evidence.items()


def _to_suggestions(
    found: list[DetectedError], piece: MaskedPiece, name: str, place: TextPosition
) -> Generator[Suggestion, None, TextPosition]:
    """The suggestions for a piece that begins at a place; returned is the place behind it."""
    text, apostrophe, done = piece.text, "", 0
    for one in found:
        place, done = place.advance(text[done : one.begin]), one.begin
        written = text[one.begin : one.begin + one.size].decode("utf-8", "surrogatepass")
        if "'" in one.word:
            apostrophe = apostrophe or _dominant_apostrophe(piece.prose)
        suggested = match_case(written, one.word, apostrophe, one.set_spelling)
        # In capitals two words of a set may be one: MASSE is both Masse and Maße.
        if suggested == written:
            continue
        yield Suggestion(
            name=name,
            line=place.line,
            column=place.character - place.line_start + 1,
            begin=place.character,
            end=place.character + len(written),
            written=written,
            suggested=suggested,
            probability=one.probability,
            reasons=one.reasons,
        )
    return place.advance(text[done:])


def _dominant_apostrophe(prose: bytes) -> str:
    return "’" if prose.count("’".encode()) > prose.count(b"'") else "'"


@dataclass(frozen=True)
class TextPosition:
    """A place in a text: the characters before it, its line, and the character that the line starts at.

    Lines end with a line feed, a carriage return, or both.
    """

    character: int = 0
    line: int = 1
    line_start: int = 0
    is_after_return: bool = False

    def advance(self, passed: bytes) -> TextPosition:
        """The place behind some more bytes, which do not end within a character."""
        if not passed:
            return self
        ends = passed.count(b"\n") + passed.count(b"\r") - passed.count(b"\r\n")
        character, start = self.character + count_characters(passed), self.line_start
        if ends:
            last = max(passed.rfind(b"\n"), passed.rfind(b"\r")) + 1
            start = character - count_characters(passed[last:])
        # A carriage return and its line feed may be in two pieces.
        ends -= self.is_after_return and passed.startswith(b"\n")
        return TextPosition(character, self.line + ends, start, passed.endswith(b"\r"))


def count_characters(text: bytes) -> int:
    """How many characters some UTF-8 has: all bytes but those that continue one."""
    if text.isascii():
        return len(text)
    return int(np.count_nonzero((np.frombuffer(text, np.uint8) & 0xC0) != 0x80))


_MAX_DISTANCE_BYTES = 256  # bytes to each side; a word that is farther is told without its capitals
_WORD = re.compile(r"(?:[^\W_]|_\w)(?:\w|['’](?=[^\W_]))*")


@dataclass(frozen=True)
class NeighbourWords:
    """The nearest words before and after a place, as they are written, by what features call them."""

    before: dict[str, str]
    after: dict[str, str]

    @classmethod
    def around(cls, prose: bytes, begin: int, end: int) -> NeighbourWords:
        """Return the surroundings of the bytes from `begin` to `end`."""
        before, after = (
            _find_words(prose[max(begin - _MAX_DISTANCE_BYTES, 0) : begin]),
            _find_words(prose[end : end + _MAX_DISTANCE_BYTES]),
        )
        return cls(_by_feature_name(before), _by_feature_name(after[::-1]))

    def spell_feature(self, feature: str) -> str:
        """Return the words that a feature names, as the text writes them."""
        kind, _, seen = feature.partition(":")
        words = seen.split(" ")
        if kind == "around":
            return f"{self.before.get(words[0], words[0])} _ {self.after.get(words[-1], words[-1])}"
        near = {"before": self.before, "after": self.after}.get(kind.rstrip("2"), self.after | self.before)
        return " ".join(near.get(word, word) for word in words)


def _find_words(text: bytes) -> list[str]:
    return _WORD.findall(text.decode("utf-8", "ignore"))


def _by_feature_name(words: list[str]) -> dict[str, str]:
    """Words by what features call them; of those that are one to them, the last."""
    return {word.lower().replace("’", "'"): word for word in words}
