"""Checking a text: find the occurrences whose context calls for another word of their confusion set."""

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
# Smaller than the pieces used in training: a text made of set words only takes 300 bytes per occurrence.
MAX_PIECE_BYTES = 1 << 20
_SENTENCE_STARTS = {f"before:{mark}" for mark in (PARAGRAPH_TOKEN, *".!?")}


class MaskedPiece(NamedTuple):
    """A piece of text, unchanged and with everything but prose masked."""

    text: bytes
    prose: bytes


class DetectedError(NamedTuple):
    """An occurrence that is probably meant to be another word.

    `begin` and `size` are in bytes. `set_spelling` is the written word as its set spells it, or "" at the
    start of a sentence, where a capital may belong to the sentence.
    """

    begin: int
    size: int
    set_spelling: str
    word: str
    probability: float
    reasons: tuple[SuggestionReason, ...]


@dataclass(frozen=True)
class TextChecker:
    """The classifiers of all sets, the threshold above which they suggest a word, and the context window."""

    classifiers: Sequence[LinearWordClassifier]
    threshold: float
    window: int

    def check(
        self, blocks: Iterable[bytes], name: str, start: TextPosition | None = None
    ) -> Iterator[Suggestion]:
        """Yield the suggestions for a text that comes in blocks of UTF-8, in text order.

        `start` is the position of the first character.
        """
        unmasked, to_mask = tee(split_into_pieces(blocks, MAX_PIECE_BYTES))
        position = start or TextPosition()
        for text, prose in zip(unmasked, mask_pieces(to_mask, name), strict=True):
            piece = MaskedPiece(text, prose)
            position = yield from _to_suggestions(self._detect_errors(prose), piece, name, position)

    def _detect_errors(self, prose: bytes) -> list[DetectedError]:
        sets = [classifier.words for classifier in self.classifiers]
        # A set cannot occur more often than there are bytes, so no occurrence is dropped.
        reader = ContextReader(sets, self.window, max_occurrences=max(2, len(prose)))
        reader.read(prose, 0)
        detected: list[DetectedError] = []
        for classifier, rows in zip(self.classifiers, reader.occurrences(), strict=True):
            if len(rows):
                detected.extend(_find_errors(classifier, rows, self.threshold, prose))
        return sorted(detected)


def split_into_blocks(text: bytes) -> Iterator[bytes]:
    """Yield a text in blocks of `BLOCK_BYTES`."""
    return (text[start : start + BLOCK_BYTES] for start in range(0, len(text), BLOCK_BYTES))


def _find_errors(
    classifier: LinearWordClassifier, rows: Occurrences, threshold: float, prose: bytes
) -> Iterator[DetectedError]:
    probabilities = classifier.predict_proba(rows)
    best = probabilities.argmax(axis=1)
    best_probability = probabilities[np.arange(len(rows)), best]
    for i in np.flatnonzero((best != rows.members) & (best_probability > threshold)).tolist():
        word, written = int(best[i]), int(rows.members[i])
        begin, size, context = int(rows.byte_offsets[i]), int(rows.byte_lengths[i]), rows.context(i)
        neighbours = NeighbourWords.around(prose, begin, begin + size)
        log_odds = _log_odds_by_feature(classifier, context, word, written)
        yield DetectedError(
            begin=begin,
            size=size,
            set_spelling="" if _SENTENCE_STARTS & {*context} else classifier.words[written],
            word=classifier.words[word],
            probability=float(best_probability[i]),
            reasons=rank_reasons(log_odds, neighbours.surface_form),
        )


def _log_odds_by_feature(
    classifier: LinearWordClassifier, context: list[str], word: int, written: int
) -> Iterable[tuple[str, float]]:
    """Return every feature of a context with its contribution to log P(word) − log P(written)."""
    log_odds = dict.fromkeys(context, 0.0)
    log_odds[PRIOR_FEATURE] = float(classifier.intercept[word] - classifier.intercept[written])
    for feature, contribution in classifier.contributions(context):
        log_odds[feature] = float(contribution[word] - contribution[written])
    return log_odds.items()


def _to_suggestions(
    detected: list[DetectedError], piece: MaskedPiece, name: str, position: TextPosition
) -> Generator[Suggestion, None, TextPosition]:
    """Yield the suggestions for a piece that starts at a position; return the position of its end."""
    text, apostrophe, offset = piece.text, "", 0
    for error in detected:
        position, offset = position.advance(text[offset : error.begin]), error.begin
        written = text[error.begin : error.begin + error.size].decode("utf-8", "surrogatepass")
        if "'" in error.word:
            apostrophe = apostrophe or _dominant_apostrophe(piece.prose)
        suggested = match_case(written, error.word, apostrophe, error.set_spelling)
        # In capitals two words of a set may be equal: MASSE is both Masse and Maße.
        if suggested == written:
            continue
        yield Suggestion(
            name=name,
            line=position.line,
            column=position.character - position.line_start + 1,
            begin=position.character,
            end=position.character + len(written),
            written=written,
            suggested=suggested,
            probability=error.probability,
            reasons=error.reasons,
        )
    return position.advance(text[offset:])


def _dominant_apostrophe(prose: bytes) -> str:
    return "’" if prose.count("’".encode()) > prose.count(b"'") else "'"


@dataclass(frozen=True)
class TextPosition:
    """A position in a text: character offset, line (from 1), and offset of the line's first character.

    Lines end with LF, CR or CR LF.
    """

    character: int = 0
    line: int = 1
    line_start: int = 0
    is_after_return: bool = False

    def advance(self, text: bytes) -> TextPosition:
        """Return the position after this text, which must consist of whole characters."""
        if not text:
            return self
        n_lines = text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")
        character, line_start = self.character + count_characters(text), self.line_start
        if n_lines:
            last = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
            line_start = character - count_characters(text[last:])
        # CR and LF of one line end may be in two pieces.
        n_lines -= self.is_after_return and text.startswith(b"\n")
        return TextPosition(character, self.line + n_lines, line_start, text.endswith(b"\r"))


def count_characters(text: bytes) -> int:
    """Count the characters of UTF-8 text: all bytes except continuation bytes."""
    if text.isascii():
        return len(text)
    return int(np.count_nonzero((np.frombuffer(text, np.uint8) & 0xC0) != 0x80))


_MAX_DISTANCE_BYTES = 256  # on each side; a word farther away is shown in lower case
_WORD = re.compile(r"(?:[^\W_]|_\w)(?:\w|['’](?=[^\W_]))*")


@dataclass(frozen=True)
class NeighbourWords:
    """The words near an occurrence as the text spells them, by their names in features."""

    before: dict[str, str]
    after: dict[str, str]

    @classmethod
    def around(cls, prose: bytes, begin: int, end: int) -> NeighbourWords:
        """Return the neighbours of the bytes from `begin` to `end`."""
        before = _find_words(prose[max(begin - _MAX_DISTANCE_BYTES, 0) : begin])
        after = _find_words(prose[end : end + _MAX_DISTANCE_BYTES])
        return cls(_by_feature_name(before), _by_feature_name(after[::-1]))

    def surface_form(self, feature: str) -> str:
        """Return the words that a feature names, as the text spells them."""
        kind, _, names = feature.partition(":")
        words = names.split(" ")
        if kind == "around":
            return f"{self.before.get(words[0], words[0])} _ {self.after.get(words[-1], words[-1])}"
        near = {"before": self.before, "after": self.after}.get(kind.rstrip("2"), self.after | self.before)
        return " ".join(near.get(word, word) for word in words)


def _find_words(text: bytes) -> list[str]:
    return _WORD.findall(text.decode("utf-8", "ignore"))


def _by_feature_name(words: list[str]) -> dict[str, str]:
    """Index words by their names in features; the last of several with one name wins."""
    return {word.lower().replace("’", "'"): word for word in words}
