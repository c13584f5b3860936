"""What must be known before the first row is learned: words to keep, centres and scales."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import BagOfWordsKind, ColumnGroup, Kind, NameArray, Number, Schema, infer_schema
from weigh.model.counts.bayes_counts import WordCounter
from weigh.model.counts.count_table import RowClasses, WordCountTable, select_names, select_vocabulary
from weigh.model.counts.sufficient_statistics import FlagCounts, NumberCounts
from weigh.source import Chunk, Source
from weigh.source.base import ChunkReader


@dataclass(frozen=True)
class Standardisation:
    """The mean of a number, and what counts as one unit of it."""

    centre: float
    scale: float


def needs_first_pass(schema: Schema) -> bool:
    """Whether some column cannot be learned before all rows were seen."""
    return any(_is_pruned(part.kind) or _is_scaled(part.kind) for part in schema.column_groups)


def fit_preprocessing(schema: Schema, chunks: Iterable[Chunk]) -> dict[int, NameArray | Standardisation]:
    """Return, by part, the words to keep and the scales of numbers; reads all rows."""
    kinds = {at: part.kind for at, part in enumerate(schema.column_groups)}
    words = {
        at: WordCounter(kind)
        for at, kind in kinds.items()
        if isinstance(kind, BagOfWordsKind) and _is_pruned(kind)
    }
    sums: dict[int, NumberCounts | None] = {at: None for at, kind in kinds.items() if _is_scaled(kind)}
    nobody: Any = np.zeros(1, dtype=np.int64)
    for chunk in chunks:
        blocks: list[Any] = schema.encode(chunk)
        by = RowClasses(np.zeros(chunk.n_rows, dtype=np.int32), 1, chunk.weights)
        # Rows of no weight have no words; others have all of theirs, for a word is seen or not.
        seen = by.classes if chunk.weights is None else np.where(chunk.weights > 0, 0, -1).astype(np.int32)
        for at, counter in words.items():
            counter.add(blocks[at], RowClasses(seen, 1))
        for at, before in sums.items():
            counts = NumberCounts.from_block(blocks[at], by)
            sums[at] = counts if before is None else before.plus(counts)
    prepared: dict[int, NameArray | Standardisation] = {}
    for at, counter in words.items():
        prepared[at] = _select_vocabulary(schema.column_groups[at], counter.counts(nobody))
    for at, total in sums.items():
        if total is not None:
            prepared[at] = fit_standardisation(total)
    return prepared


def _is_pruned(kind: Kind) -> bool:
    return isinstance(kind, BagOfWordsKind) and (kind.min_count > 1 or kind.max_words is not None)


def _is_scaled(kind: Kind) -> bool:
    return isinstance(kind, Number) and kind.bins is None


def _select_vocabulary(part: ColumnGroup, counts: Any) -> NameArray:
    words = (counts.present if isinstance(counts, FlagCounts) else counts).canonical()
    names = select_names(words.names, select_vocabulary(part.kind, words.table))
    return names if isinstance(names, NameArray) else NameArray.from_strings(names)


def fit_standardisation(sums: NumberCounts) -> Standardisation:
    """Return mean and standard deviation; a number that never varies keeps its unit."""
    n = sums.totals[0]
    if not n:
        return Standardisation(0.0, 1.0)
    (first, e1), (second, e2) = sums.sum_x.to_integers(), sums.sum_xx.to_integers()
    mean = first[0] * Fraction(2) ** e1 / n
    variance = second[0] * Fraction(2) ** e2 / n - mean * mean
    return Standardisation(float(mean), _square_root(variance) or 1.0)


def _square_root(square: Fraction) -> float:
    """Return the square root, also of what is too large or too small for a float."""
    half = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(float(square / Fraction(4) ** half)), half) if square else 0.0


class VocabularyCounter:
    """Gathers the words of many chunks, whatever their labels."""

    def __init__(self, schema: Schema, kind: BagOfWordsKind) -> None:
        self._schema = schema
        self._words = WordCounter(kind)

    def add(self, chunk: Chunk) -> None:
        """Count the words of one chunk."""
        everything = RowClasses(np.zeros(chunk.n_rows, dtype=np.int32), 1)
        self._words.add(self._schema.encode(chunk)[0], everything)

    def join(self, other: VocabularyCounter) -> None:
        """Take over the words of another."""
        self._words.merge(other._words, np.zeros(1, dtype=np.int64), 1)

    def counts(self) -> WordCountTable:
        """Return how often each word occurs."""
        counts = self._words.counts(np.zeros(1, dtype=np.int64))
        found = counts.present if isinstance(counts, FlagCounts) else counts
        assert isinstance(found, WordCountTable)
        return found


@dataclass(frozen=True)
class VocabularyTask:
    """The words of the one column of a source, as its kind keeps them."""

    schema: Schema
    kind: BagOfWordsKind

    @classmethod
    def for_source(cls, source: Source, kind: BagOfWordsKind) -> VocabularyTask:
        """Return the task for a source of one column of texts, or of lists of names."""
        if source.width != 1:
            raise errors.DataError(
                f"A vocabulary is made of one column of texts, but there are {source.width:,}: "
                f"{errors.quote_names(source.names)}. Give that column alone."
            )
        return cls(infer_schema(source, kind), kind)

    def chunks(self, source: Source) -> Iterator[Chunk]:
        """Read the source in the schema's names."""
        return self.schema.chunks(source)

    def pieces(self, source: Source) -> Iterator[ChunkReader]:
        """Read the source in the schema's names, leaving the work to whoever calls a piece."""
        return self.schema.chunk_readers(source)

    def counter(self) -> VocabularyCounter:
        """Return what gathers the words of many chunks."""
        return VocabularyCounter(self.schema, self.kind)

    def merge(self, first: WordCountTable, second: WordCountTable) -> WordCountTable:
        """Return the counts of both together."""
        return first.plus(second)

    def finish(self, counts: WordCountTable) -> NameArray:
        """Return the names that are kept, in order; of buckets, those of their shortest words."""
        counts = counts.canonical()
        if counts.is_hashed:
            return counts.names
        names = select_names(counts.names, select_vocabulary(self.kind, counts.table))
        return names if isinstance(names, NameArray) else NameArray.from_strings(names)
