"""Errors put into a text: words replaced by others of their sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from weigh.apps.spelling.contexts import Occurrences, Reader
from weigh.apps.spelling.prose import masked
from weigh.apps.spelling.suggestion import like


class Place(NamedTuple):
    """Where a text has a word of a set: bytes from and to, and which word of which set it is."""

    begin: int
    end: int
    set: int
    member: int


class Swap(NamedTuple):
    """A word that was replaced: where the other begins in the new text, in characters, and both words."""

    begin: int
    original: str
    written: str
    set: int


def places(text: bytes, name: str, sets: Sequence[Sequence[str]]) -> tuple[int, list[Place]]:
    """Return how many words a text has, and where it has those of the sets, in their order."""
    reader = Reader(sets, 0)
    words = reader.read(masked(text, name), 0)
    found = [place for at, rows in enumerate(reader.occurrences()) for place in _places(at, rows)]
    return words, sorted(found)


def _places(at: int, rows: Occurrences) -> list[Place]:
    ends = (rows.begins + rows.sizes).tolist()
    columns = zip(rows.begins.tolist(), ends, rows.members.tolist(), strict=True)
    return [Place(begin, end, at, member) for begin, end, member in columns]


def rewritten(
    text: bytes,
    chosen: Sequence[Place],
    sets: Sequence[Sequence[str]],
    rng: np.random.Generator,
) -> tuple[str, list[Swap]]:
    """Put another word of its set, drawn at random, at each of these places, with the same capitals."""
    # Words without an apostrophe take that which the text uses.
    apostrophe = "’" if "’".encode() in text else "'"
    parts: list[str] = []
    swaps: list[Swap] = []
    last = length = 0
    for place in sorted(chosen):
        before, original = _text(text[last : place.begin]), _text(text[place.begin : place.end])
        words = sets[place.set]
        other = (place.member + int(rng.integers(1, len(words)))) % len(words)
        written = like(original, words[other], apostrophe, words[place.member])
        swaps.append(Swap(length + len(before), original, written, place.set))
        parts += [before, written]
        length += len(before) + len(written)
        last = place.end
    return "".join([*parts, _text(text[last:])]), swaps


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def as_in_sets(word: str) -> str:
    """A word as it is compared with those of sets."""
    return word.lower().replace("’", "'")
