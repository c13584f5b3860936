"""Made-up sentences in which the neighbours mostly determine the word."""

from __future__ import annotations

import random

from weigh.apps.spelling.contexts import ContextReader, Occurrences

PAIR = ("weather", "whether")
THREE = ("their", "there", "they're")
_BEFORE = {
    "weather": ("the", "fine", "bad", "this"),
    "whether": ("know", "asked", "see", "the"),
    "their": ("with", "in", "sold", "over"),
    "there": ("over", "is", "went", "in"),
    "they're": ("think", "say", "that", "is"),
}
_AFTER = {
    "weather": ("was", "is", "to", "changed"),
    "whether": ("to", "it", "he", "was"),
    "their": ("house", "own", "dogs", "was"),
    "there": ("was", "is", "and", "to"),
    "they're": ("going", "not", "ready", "own"),
}
_ELSE = ("and", "so", "we", "laugh", "cry", "house", "boat", "Mary", "then", "walked", "along", "gladly")


def text(words: tuple[str, ...] = PAIR + THREE, sentences: int = 400, seed: int = 1) -> str:
    """Return sentences of seven words, one per paragraph; the first words of a set are the most frequent."""
    draw = random.Random(seed)
    lines = []
    for _ in range(sentences):
        word = min(draw.choice(words), draw.choice(words), key=words.index)
        first, second, third, fourth = (draw.choice(_ELSE) for _ in range(4))
        before, after = draw.choice(_BEFORE[word]), draw.choice(_AFTER[word])
        lines.append(f"{first} {second} {before} {word} {after} {third} {fourth}.")
    return "\n\n".join(lines)


def read(words: tuple[str, ...], content: str) -> Occurrences:
    """Return the occurrences of one set in a text."""
    reader = ContextReader([words])
    reader.read(content.encode(), 0)
    return reader.occurrences()[0]


def occurrences(words: tuple[str, ...] = PAIR, sentences: int = 400, seed: int = 1) -> Occurrences:
    """Return the occurrences of one set in sentences of its words."""
    return read(words, text(words, sentences, seed))


def as_rows(rows: Occurrences) -> list[dict[str, list[str]]]:
    """Return occurrences as rows for any model."""
    return [{"context": rows.context(i)} for i in range(len(rows))]
