"""The words of texts that contribute to a verdict, as places in the texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weigh.features.columns import to_objects
from weigh.features.schema import Schema
from weigh.features.text_kinds import Text
from weigh.model.evidence.evidence import EvidenceRow
from weigh.source.chunk import Chunk, slice_column

_WORD = re.compile(r"\w+")
MAX_SPANS = 5_000  # of a text


class TextHighlighter:
    """Finds the words of evidence in the texts of rows."""

    def __init__(self, schema: Schema) -> None:
        self._columns = [
            (group.names[0], group.kind) for group in schema.column_groups if isinstance(group.kind, Text)
        ]

    def find_spans(self, chunk: Chunk, row: int, evidence: Sequence[EvidenceRow]) -> list[dict[str, Any]]:
        """Return where the words that contribute occur; offsets are UTF-16 code units, as in JavaScript."""
        if not self._columns:
            return []
        return [
            span
            for name, kind in self._columns
            for span in _find_in_column(chunk, row, name, kind, _words_of(name, evidence))
        ]


def _words_of(column: str, evidence: Sequence[EvidenceRow]) -> dict[str, EvidenceRow]:
    """Return the evidence of the words of a column; a bucket of hashed words lists those that occur."""
    prefix = f"{column}: "
    return {
        word: each
        for each in evidence
        if each.feature.startswith(prefix)
        for word in each.feature.removeprefix(prefix).split(" / ")
    }


def _find_in_column(
    chunk: Chunk, row: int, name: str, kind: Text, words: Mapping[str, EvidenceRow]
) -> list[dict[str, Any]]:
    text = to_objects(slice_column(chunk.columns[name], row, row + 1))[0]
    if not isinstance(text, str):
        return []
    spans: list[dict[str, Any]] = []
    offsets = _utf16_offsets(text)
    for start, end, gram in _find_grams(text, kind):
        if gram in words:
            each = words[gram]
            place = {"column": name, "start": offsets(start), "end": offsets(end)}
            spans.append({**place, "feature": each.feature, "nats": each.nats})
            if len(spans) == MAX_SPANS:
                break
    return spans


def _find_grams(text: str, kind: Text) -> Iterator[tuple[int, int, str]]:
    """Yield the n-grams of a text as the tokeniser forms them, with their start and end."""
    if kind.chars:
        yield from _find_characters(text, kind)
        return
    words = [(match.start(), match.end(), _fold(match[0], kind)) for match in _WORD.finditer(text)]
    stops = {word.decode("utf-8", "surrogatepass") for word in kind.folded_stop_words}
    words = [word for word in words if len(word[2]) >= kind.min_length and word[2] not in stops]
    low, high = kind.ngrams
    for first in range(len(words)):
        for last in range(first + low - 1, min(first + high, len(words))):
            gram = " ".join(word[2] for word in words[first : last + 1])
            yield words[first][0], words[last][1], gram


def _find_characters(text: str, kind: Text) -> Iterator[tuple[int, int, str]]:
    """Yield the n-grams of characters inside words; those with blanks around them are not marked."""
    low, high = kind.ngrams
    folded = _fold(text, kind)
    if len(folded) != len(text):
        return
    for length in range(low, high + 1):
        for start in range(len(folded) - length + 1):
            yield start, start + length, folded[start : start + length]


def _fold(text: str, kind: Text) -> str:
    return kind.fold(text).decode("utf-8", "surrogatepass")


def _utf16_offsets(text: str) -> Any:
    """Return the function from an index of a text to its offset in UTF-16 code units."""
    wide = [index for index, char in enumerate(text) if ord(char) > 0xFFFF]
    if not wide:
        return int
    from bisect import bisect_left

    return lambda index: index + bisect_left(wide, index)
