"""What must be known before training: vocabularies, and the means and scales of numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats, NumberBlock
from weigh.features.curves import Curve
from weigh.features.inference.schema import find_cuts, infer_schema
from weigh.features.kinds import Kind, Number
from weigh.features.names import NameArray
from weigh.features.schema import Schema
from weigh.features.term_weighting import TermWeighting
from weigh.features.text_kinds import BagOfWordsKind
from weigh.model.counts.bayes_counts import GroupCounts, WordCounter
from weigh.model.counts.count_table import RowClasses, WordCountTable, select_names, select_vocabulary
from weigh.model.counts.sufficient_statistics import FlagCounts, NumberCounts
from weigh.model.distributions.word_weights import HashBuckets, VocabularyLookup
from weigh.source.base import Source
from weigh.source.chunk import Chunk

# The fewest rows whose standard deviations "auto" relies on: their relative error is 1/√(2n − 2), 24 % here.
MIN_ROWS = 10
# Curves have many cells, because a straight line over few of them is coarse and the prior smooths them. All
# curves of a table have at most as many cells as there are rows, or 400, because time grows with their cube.
MIN_CELLS, MAX_CELLS = 8, 128
MAX_CURVE_VALUE = 1e302  # larger numbers of a cell may add up to infinity
MIN_ALL_CELLS, MAX_ALL_CELLS = 400, 1_500
_SINGLE_CLASS: Any = np.zeros(1, dtype=np.int64)  # class mapping of counts that ignore labels


@dataclass(frozen=True)
class Standardisation:
    """The mean and standard deviation with which a number is standardised."""

    centre: float
    scale: float


IDENTITY = Standardisation(0.0, 1.0)


@dataclass(frozen=True, eq=False)
class CurveCells:
    """The cells of a curve: cuts, mean values of the rows in each cell, smallest and largest value.

    `unique_shares` are the shares of the rows in each cell whose values no other row has.
    """

    cuts: Floats
    positions: Floats
    limits: Floats
    unique_shares: Floats


Preprocessing = NameArray | VocabularyLookup | Standardisation | CurveCells  # of one column group


def needs_first_pass(schema: Schema) -> bool:
    """Whether some column needs statistics of all rows before training."""
    return any(_needs_statistics(group.kind) for group in schema.column_groups)


def fit_preprocessing(schema: Schema, chunks: Iterable[Chunk]) -> dict[int, Preprocessing]:
    """Read all rows and return, by column group, the vocabulary to keep or the standardisation."""
    groups = dict(enumerate(schema.column_groups))
    kinds = {i: group.kind for i, group in groups.items() if _needs_statistics(group.kind)}
    words = {
        i: _vocabulary_counter(kind)
        for i, kind in kinds.items()
        if isinstance(kind, BagOfWordsKind) and needs_vocabulary(kind)
    }
    numbers_of_curves: dict[int, list[Floats]] = {
        i: [np.zeros(0)] for i, kind in kinds.items() if isinstance(kind, Curve)
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
        for i, values in numbers_of_curves.items():
            weights = chunk.weights
            values.append(blocks[i].values if weights is None else blocks[i].values[weights > 0])
    fitted: dict[int, Preprocessing] = {}
    for i, values in numbers_of_curves.items():
        fitted[i] = fit_cells(kinds[i], np.concatenate(values), len(numbers_of_curves), groups[i].title)
    for i, counter in words.items():
        fitted[i] = fit_vocabulary(kinds[i], counter.counts(_SINGLE_CLASS))
    fitted.update({i: statistics.standardisation() for i, statistics in numbers.items()})
    return fitted


class _NumberStatistics:
    """The exact sums of a number over many chunks, and what "auto" needs to know of its values."""

    def __init__(self, kind: Number) -> None:
        self._kind, self._is_automatic = kind, kind.scale == "auto"
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
        """Return mean and standard deviation."""
        return standardise(self._kind, self._sums, self._n_rows, is_binary=self._is_binary)


def standardise(kind: Any, sums: NumberCounts | None, n_rows: int, *, is_binary: bool) -> Standardisation:
    """Return mean and standard deviation; "auto" keeps columns of 0 and 1, and those of few rows."""
    is_kept = kind.scale == "auto" and (is_binary or n_rows < MIN_ROWS)
    return IDENTITY if sums is None or is_kept else fit_standardisation(sums)


def _needs_statistics(kind: Kind) -> bool:
    return needs_vocabulary(kind) or _is_standardised(kind) or isinstance(kind, Curve)


def fit_cells(kind: Any, values: Floats, n_curves: int, name: str) -> CurveCells:
    """Return the cells of a curve: at quantiles, with cells of their own for frequent values."""
    values = values[~np.isnan(values)]
    if np.isinf(values).any():
        raise errors.ColumnError(f"Column {name!r} contains infinity. Leave such cells empty.")
    if len(values) and np.abs(values).max() > MAX_CURVE_VALUE:
        raise errors.ColumnError(
            f"Column {name!r} has the magnitude {np.abs(values).max():.6g}; sums of numbers above "
            f"{MAX_CURVE_VALUE:g} overflow. Divide the column by its largest value."
        )
    cuts = np.zeros(0)
    if isinstance(kind.bins, tuple):
        cuts = np.array(kind.bins)
    elif len(values) and values.min() < values.max():
        cuts = np.array(
            find_cuts(
                values, kind.bins if isinstance(kind.bins, int) else _n_cells(len(values), n_curves), name
            )
        )
    cells = np.searchsorted(cuts, values, side="left")
    counts = np.bincount(cells, minlength=len(cuts) + 1)
    sums = np.bincount(cells, values, minlength=len(cuts) + 1)
    limits = np.array([values.min(), values.max()]) if len(values) else np.zeros(2)
    # Cells without rows lie between their cuts.
    edges = np.concatenate([limits[:1], cuts, limits[1:]])
    positions = np.where(counts > 0, sums / np.maximum(counts, 1), (edges[1:] + edges[:-1]) / 2)
    unique, repetitions = np.unique(values, return_counts=True)
    n_unique = np.bincount(
        np.searchsorted(cuts, unique[repetitions == 1], side="left"), minlength=len(counts)
    )
    return CurveCells(cuts, positions, limits, n_unique / np.maximum(counts, 1))


def _n_cells(n_rows: int, n_curves: int) -> int:
    """Return the number of cells of a curve: fewer for few rows and for many curves."""
    affordable = max(MIN_ALL_CELLS, min(n_rows, MAX_ALL_CELLS)) // n_curves
    return max(MIN_CELLS, min(MAX_CELLS, n_rows, affordable))


def needs_vocabulary(kind: Kind) -> bool:
    """Whether the words of a column are chosen or weighted by their counts in all rows."""
    if not isinstance(kind, BagOfWordsKind):
        return False
    return kind.min_count > 1 or kind.max_words is not None or kind.is_weighted


def _vocabulary_counter(kind: BagOfWordsKind) -> WordCounter:
    """Return a counter of words, or of the texts that contain each word if the words are weighted."""
    return WordCounter(to_counted_kind(kind))


def to_counted_kind(kind: Any) -> Any:
    """Return the kind whose counts give the features: of weighted words, the texts that contain them."""
    is_weighted = isinstance(kind, BagOfWordsKind) and kind.is_weighted
    return replace(kind, counts=False, weighting="counts", norm=None) if is_weighted else kind


def _is_standardised(kind: Kind) -> bool:
    return isinstance(kind, Number) and kind.bins is None


def fit_vocabulary(kind: Any, counts: Any) -> NameArray | VocabularyLookup:
    """Return the kept words, with their weighting if the kind has one."""
    return _weigh_words(kind, counts) if kind.is_weighted else _kept_words(kind, counts)


def _weigh_words(kind: BagOfWordsKind, counts: FlagCounts) -> VocabularyLookup:
    """Return the vocabulary and the weighting from the texts that contain each word."""
    present, n_documents = counts.present.canonical(), int(counts.known[0, 0])
    assert isinstance(present, WordCountTable)
    kept = select_vocabulary(kind, present.table)
    kept = np.arange(present.table.shape[1]) if kept is None else kept
    buckets = HashBuckets(kind.buckets, kept) if kind.buckets else None
    weighting = TermWeighting.from_kind(kind, present.table[0, kept].astype(np.int64), n_documents)
    return VocabularyLookup(present.names.take(kept), buckets, weighting=weighting)


def keep_all_words(counts: Any) -> NameArray:
    """Return all words that were counted, in sorted order."""
    words: Any = counts.present if isinstance(counts, FlagCounts) else counts
    names: NameArray = words.canonical().names
    return names


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
        self._words = _vocabulary_counter(kind)

    def add(self, chunk: Chunk) -> None:
        """Count the words of one chunk."""
        row_classes = RowClasses(np.zeros(chunk.n_rows, dtype=np.int32), 1)
        self._words.add(self._schema.encode(chunk)[0], row_classes)

    def merge(self, other: VocabularyCounter) -> None:
        """Add the words of another counter."""
        self._words.merge(other._words, _SINGLE_CLASS, 1)

    def counts(self) -> GroupCounts:
        """Return the count of each word."""
        return self._words.counts(_SINGLE_CLASS)


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

    def merge(self, first: Any, second: Any) -> Any:
        """Return the sum of two counts."""
        return first.plus(second)

    def finish(self, counts: Any) -> VocabularyLookup:
        """Return the kept words in sorted order with their weighting, or all buckets of hashed words."""
        words: Any = counts.present if isinstance(counts, FlagCounts) else counts
        if words.is_hashed:
            return self._all_buckets(counts, words.canonical())
        fitted = fit_vocabulary(self.kind, counts)
        return fitted if isinstance(fitted, VocabularyLookup) else VocabularyLookup(fitted)

    def _all_buckets(self, counts: Any, words: WordCountTable) -> VocabularyLookup:
        n_buckets = words.table.shape[1]
        weighting = None
        if self.kind.is_weighted:
            weighting = TermWeighting.from_kind(
                self.kind, words.table[0].astype(np.int64), int(counts.known[0, 0])
            )
        buckets = HashBuckets(n_buckets, np.arange(n_buckets))
        return VocabularyLookup(words.names, buckets, weighting=weighting)
