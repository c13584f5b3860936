"""What must be known before the first row is learned: words to keep, centres and scales."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh.features import Kind, Names, Number, Part, Schema, Wordy
from weigh.model.counters import WordCounter
from weigh.model.counts import FlagCounts, NumberCounts
from weigh.model.pruning import kept_words, taken_names
from weigh.model.tally import Counting
from weigh.source import Chunk


@dataclass(frozen=True)
class Scale:
    """The mean of a number, and what counts as one unit of it."""

    centre: float
    unit: float


def needs_preparation(schema: Schema) -> bool:
    """Whether some column cannot be learned before all rows were seen."""
    return any(_is_pruned(part.kind) or _is_scaled(part.kind) for part in schema.parts)


def prepare(schema: Schema, chunks: Iterable[Chunk]) -> dict[int, Names | Scale]:
    """Return, by part, the words to keep and the scales of numbers; reads all rows."""
    kinds = {at: part.kind for at, part in enumerate(schema.parts)}
    words = {
        at: WordCounter(kind) for at, kind in kinds.items() if isinstance(kind, Wordy) and _is_pruned(kind)
    }
    sums: dict[int, NumberCounts | None] = {at: None for at, kind in kinds.items() if _is_scaled(kind)}
    nobody: Any = np.zeros(1, dtype=np.int64)
    for chunk in chunks:
        blocks: list[Any] = schema.encode(chunk)
        by = Counting(np.zeros(chunk.n_rows, dtype=np.int32), 1, chunk.weights)
        # Rows of no weight have no words; others have all of theirs, for a word is seen or not.
        seen = by.classes if chunk.weights is None else np.where(chunk.weights > 0, 0, -1).astype(np.int32)
        for at, counter in words.items():
            counter.add(blocks[at], Counting(seen, 1))
        for at, before in sums.items():
            counts = NumberCounts.of(blocks[at], by)
            sums[at] = counts if before is None else before.plus(counts)
    prepared: dict[int, Names | Scale] = {}
    for at, counter in words.items():
        prepared[at] = _kept(schema.parts[at], counter.counts(nobody))
    for at, total in sums.items():
        if total is not None:
            prepared[at] = scale_of(total)
    return prepared


def _is_pruned(kind: Kind) -> bool:
    return isinstance(kind, Wordy) and (kind.min_count > 1 or kind.max_words is not None)


def _is_scaled(kind: Kind) -> bool:
    return isinstance(kind, Number) and kind.bins is None


def _kept(part: Part, counts: Any) -> Names:
    words = (counts.present if isinstance(counts, FlagCounts) else counts).canonical()
    names = taken_names(words.names, kept_words(part.kind, words.table))
    return names if isinstance(names, Names) else Names.of(names)


def scale_of(sums: NumberCounts) -> Scale:
    """Return mean and standard deviation; a number that never varies keeps its unit."""
    n = sums.totals[0]
    if not n:
        return Scale(0.0, 1.0)
    (first, e1), (second, e2) = sums.first.integers(), sums.second.integers()
    mean = first[0] * Fraction(2) ** e1 / n
    variance = second[0] * Fraction(2) ** e2 / n - mean * mean
    return Scale(float(mean), _root(variance) or 1.0)


def _root(square: Fraction) -> float:
    """Return the square root, also of what is too large or too small for a float."""
    half = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(float(square / Fraction(4) ** half)), half) if square else 0.0
