"""What must be known before training: vocabularies, and the means and scales of numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import NumberBlock
from weigh.features.inference.schema import infer_schema
from weigh.features.kinds import Kind, Number
from weigh.features.names import NameArray
from weigh.features.schema import Schema
from weigh.features.text_kinds import BagOfWordsKind
from weigh.model.counts.bayes_counts import WordCounter
from weigh.model.counts.count_table import RowClasses, WordCountTable, select_names, select_vocabulary
from weigh.model.counts.sufficient_statistics import FlagCounts, NumberCounts
from weigh.source.base import Source
from weigh.source.chunk import Chunk

# The fewest rows whose standard deviations "auto" relies on: their relative error is 1/√(2n − 2), 24 % here.
MIN_ROWS = 10
_SINGLE_CLASS: Any = np.zeros(1, dtype=np.int64)  # class mapping of counts that ignore labels


@dataclass(frozen=True)
class Standardisation:
    """The mean and standard deviation with which a number is standardised."""

    centre: float
    scale: float


IDENTITY = Standardisation(0.0, 1.0)


def needs_first_pass(schema: Schema) -> bool:
    """Whether some column needs statistics of all rows before training."""
    return any(_needs_statistics(group.kind) for group in schema.column_groups)


def fit_preprocessing(schema: Schema, chunks: Iterable[Chunk]) -> dict[int, NameArray | Standardisation]:
    """Read all rows and return, by column group, the vocabulary to keep or the standardisation."""
    groups = dict(enumerate(schema.column_groups))
    kinds = {i: group.kind for i, group in groups.items() if _needs_statistics(group.kind)}
    words = {
        i: WordCounter(kind)
        for i, kind in kinds.items()
        if isinstance(kind, BagOfWordsKind) and _is_pruned(kind)
    }
    numbers = {i: _NumberStatistics(kind) for i, kind in kinds.items() if isinstance(kind, Number)}
    for chunk in chunks:
        blocks: dict[int, Any] = {
            i: kind.encode(chunk.columns, groups[i].names, schema.missing) for i, kind in kinds.items()
        }
        row_classes = RowClasses(np.zeros(chunk.n_rows, dtype=np.int32), 1, chunk.weights)
        # Words are counted unweighted, but rows of zero weight must have no effect.
        codes = np.zeros(chunk.n_rows, dtype=np.int32)
        if chunk.weights is not None:
            codes[~(chunk.weights > 0)] = -1
        for i, counter in words.items():
            counter.add(blocks[i], RowClasses(codes, 1))
        for i, statistics in numbers.items():
            statistics.add(blocks[i], row_classes)
    fitted: dict[int, NameArray | Standardisation] = {}
    for i, counter in words.items():
        fitted[i] = _kept_words(kinds[i], counter.counts(_SINGLE_CLASS))
    fitted.update({i: statistics.standardisation() for i, statistics in numbers.items()})
    return fitted


class _NumberStatistics:
    """The exact sums of a number over many chunks, and what "auto" needs to know of its values."""

    def __init__(self, kind: Number) -> None:
        self._is_automatic = kind.scale == "auto"
        self._sums: NumberCounts | None = None
        self._is_binary = True
        self._n_rows = 0

    def add(self, block: NumberBlock, row_classes: RowClasses) -> None:
        """Add the values of one chunk; rows of zero weight do not count."""
        counts = NumberCounts.from_block(block, row_classes)
        self._sums = counts if self._sums is None else self._sums.plus(counts)
        if self._is_automatic:
            values, weights = block.values, row_classes.weights
            values = values if weights is None else values[weights > 0]
            self._n_rows += len(values)
            self._is_binary &= bool(((values == 0) | (values == 1) | np.isnan(values)).all())

    def standardisation(self) -> Standardisation:
        """Return mean and standard deviation; "auto" keeps columns of 0 and 1, and those of few rows."""
        is_kept = self._is_automatic and (self._is_binary or self._n_rows < MIN_ROWS)
        return IDENTITY if self._sums is None or is_kept else fit_standardisation(self._sums)


def _needs_statistics(kind: Kind) -> bool:
    return _is_pruned(kind) or _is_standardised(kind)


def _is_pruned(kind: Kind) -> bool:
    return isinstance(kind, BagOfWordsKind) and (kind.min_count > 1 or kind.max_words is not None)


def _is_standardised(kind: Kind) -> bool:
    return isinstance(kind, Number) and kind.bins is None


def _kept_words(kind: Kind, counts: Any) -> NameArray:
    words = (counts.present if isinstance(counts, FlagCounts) else counts).canonical()
    names = select_names(words.names, select_vocabulary(kind, words.table))
    return names if isinstance(names, NameArray) else NameArray.from_strings(names)


def fit_standardisation(sums: NumberCounts) -> Standardisation:
    """Return the exactly computed mean and standard deviation; a constant number has scale 1."""
    n = sums.totals[0]
    if not n:
        return IDENTITY
    (sum_x, exponent_x), (sum_xx, exponent_xx) = sums.sum_x.to_integers(), sums.sum_xx.to_integers()
    mean = sum_x[0] * Fraction(2) ** exponent_x / n
    variance = sum_xx[0] * Fraction(2) ** exponent_xx / n - mean * mean
    return Standardisation(float(mean), _square_root(variance) or 1.0)


def _square_root(x: Fraction) -> float:
    """Return the square root of x, which may itself overflow or underflow a float."""
    exponent = (x.numerator.bit_length() - x.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(float(x / Fraction(4) ** exponent)), exponent) if x else 0.0


class VocabularyCounter:
    """Counts the words of many chunks regardless of labels."""

    def __init__(self, schema: Schema, kind: BagOfWordsKind) -> None:
        self._schema = schema
        self._words = WordCounter(kind)

    def add(self, chunk: Chunk) -> None:
        """Count the words of one chunk."""
        row_classes = RowClasses(np.zeros(chunk.n_rows, dtype=np.int32), 1)
        self._words.add(self._schema.encode(chunk)[0], row_classes)

    def merge(self, other: VocabularyCounter) -> None:
        """Add the words of another counter."""
        self._words.merge(other._words, _SINGLE_CLASS, 1)

    def counts(self) -> WordCountTable:
        """Return the count of each word."""
        counts = self._words.counts(_SINGLE_CLASS)
        words = counts.present if isinstance(counts, FlagCounts) else counts
        assert isinstance(words, WordCountTable)
        return words


@dataclass(frozen=True)
class VocabularyTask:
    """Finds the vocabulary of a source with one column, pruned as its kind says."""

    schema: Schema
    kind: BagOfWordsKind

    @classmethod
    def for_source(cls, source: Source, kind: BagOfWordsKind) -> VocabularyTask:
        """Return the task for a source with one column of texts or of token lists."""
        if source.width != 1:
            raise errors.DataError(
                f"A vocabulary is built from one column of texts, but there are {source.width:,} columns: "
                f"{errors.quote_names(source.names)}. Give the text column alone."
            )
        return cls(infer_schema(source, kind), kind)

    def counter(self) -> VocabularyCounter:
        """Return an empty counter."""
        return VocabularyCounter(self.schema, self.kind)

    def merge(self, first: WordCountTable, second: WordCountTable) -> WordCountTable:
        """Return the sum of two counts."""
        return first.plus(second)

    def finish(self, counts: WordCountTable) -> NameArray:
        """Return the kept words in sorted order, or the bucket names of hashed words."""
        return counts.canonical().names if counts.is_hashed else _kept_words(self.kind, counts)
