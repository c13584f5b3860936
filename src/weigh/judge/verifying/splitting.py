"""Splitting texts into words in plain Python, to check what was split natively.

Nothing here shares code with training: it says again, character by character, what the kinds'
documentation says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from weigh.features import Text
from weigh.features.stop_words import ENGLISH

MASK = 2**64 - 1
FIRST, SECOND = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
SHORT = 16  # bytes of a word that is its own key


def text_words(text: str, kind: Text) -> list[str]:
    """The words of a text, or its runs of characters, as the kind asks for them."""
    text = _folded(text, kind)
    if kind.chars == "words":
        return [run for word in text.split() for run in _runs_within(f" {word} ", *kind.ngrams)]
    if kind.chars:
        return list(_runs(re.sub(r"\s\s+", " ", text), "", *kind.ngrams))
    stops = {_folded(word, kind) for word in (ENGLISH if kind.stop_words == "english" else kind.stop_words)}
    words = [w for w in _words(text) if len(w) >= kind.min_length and w not in stops]
    return list(_runs(words, " ", *kind.ngrams))


def _folded(text: str, kind: Text) -> str:
    text = text.lower() if kind.lowercase else text
    return _without_accents(text) if kind.strip_accents else text


def _without_accents(text: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def _words(text: str) -> list[str]:
    return "".join(sign if sign.isalnum() or sign == "_" else " " for sign in text).split(" ")


def _runs(units: str | list[str], between: str, low: int, high: int) -> Iterator[str]:
    for n in range(low, high + 1):
        for at in range(len(units) - n + 1):
            yield between.join(units[at : at + n])


def _runs_within(word: str, low: int, high: int) -> Iterator[str]:
    if len(word) < low:
        yield word
    yield from _runs(word, "", low, high)


def bucket_of(word: str, buckets: int) -> int:
    """The bucket of a word: the last bits of its hash."""
    data = word.encode("utf-8", "surrogatepass")
    if len(data) <= SHORT:
        padded = data.ljust(SHORT, b"\0")
        return _mix(int.from_bytes(padded[:8], "little"), int.from_bytes(padded[8:], "little")) % buckets
    key = len(data)
    for at in range(0, len(data), 8):
        start = min(at, len(data) - 8)
        turned = key ^ int.from_bytes(data[start : start + 8], "little")
        key = ((turned << 23 | turned >> 41) & MASK) * FIRST & MASK
    return _mix(key, 0) % buckets


def _mix(low: int, high: int) -> int:
    product = (low ^ FIRST) * (high ^ SECOND)
    return (product ^ product >> 64) & MASK
