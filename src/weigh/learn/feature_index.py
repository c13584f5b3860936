"""Feature indices: which column of the weight table belongs to which column, level or word of the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any, Protocol

import numpy as np

from weigh import _core
from weigh.features.blocks import (
    CategoryBlock,
    DenseBlock,
    Floats,
    Ints,
    Longs,
    Mask,
    NumberBlock,
    SparseBlock,
)
from weigh.features.columns import bin_names
from weigh.features.names import NameArray
from weigh.features.schema import ColumnGroup, Schema
from weigh.features.text_kinds import BagOfWordsKind
from weigh.features.validation import check_magnitude
from weigh.features.words import Block, TextBlock, as_sparse_block
from weigh.learn.preprocessing import IDENTITY, CurveCells, Preprocessing, Standardisation
from weigh.model.counts.count_table import CountTable, canonical_order_key
from weigh.model.counts.sufficient_statistics import FlagCounts
from weigh.model.distributions.curve_weights import CurveWeights, find_cells
from weigh.model.distributions.weights import LevelWeights, ScaledWeights
from weigh.model.distributions.word_weights import (
    GridWeights,
    HashBuckets,
    ValueWeights,
    VocabularyLookup,
    WordWeights,
)
from weigh.source.sparse_rows import SparseRows

Allocate = Callable[[int], int]  # reserves n consecutive feature indices and returns the first


class FeatureIndex:
    """Assigns an index to every feature of a schema: fixed columns first, the others as they appear.

    `preprocessing` gives, by column group, what must be known before the first row: the vocabulary, or the
    mean and standard deviation of a number. With `dense`, a single matrix of numbers is kept dense.
    """

    def __init__(
        self,
        schema: Schema,
        preprocessing: Mapping[int, Preprocessing] | None = None,
        *,
        dense: bool = False,
    ) -> None:
        self.width = 0
        self._dense = dense
        preprocessing = preprocessing or {}
        self.indexers: list[BlockIndexer] = [
            self._make_indexer(group, preprocessing.get(i)) for i, group in enumerate(schema.column_groups)
        ]

    def _make_indexer(self, group: Any, fitted: Any) -> BlockIndexer:
        if isinstance(group.kind, BagOfWordsKind):
            if group.kind.is_weighted:
                return WeightedWordIndexer(group, self.allocate, fitted)
            if group.kind.buckets:
                return HashedWordIndexer(group, self.allocate)
            return WordIndexer(group, self.allocate, fitted)
        if group.kind.shares_block:
            return FixedIndexer(group, self.allocate, dense=self._dense)
        if fitted is None:
            return LevelIndexer(group, self.allocate)
        if isinstance(fitted, CurveCells):
            return CurveIndexer(group, self.allocate, fitted)
        return StandardisedIndexer(group, self.allocate, fitted)

    def allocate(self, n: int) -> int:
        """Reserve n new feature indices and return the first."""
        first = self.width
        self.width += n
        return first

    def prepare_blocks(self, blocks: list[Block], mask: Mask | None) -> list[Any]:
        """Prepare blocks (only the rows in `mask`) for `to_rows`. Thread-safe."""
        pairs = zip(self.indexers, blocks, strict=True)
        return [indexer.prepare_block(block, mask) for indexer, block in pairs]

    def commit_names(self, accepted: bool) -> None:
        """Keep or discard the bucket names collected while blocks were prepared."""
        for indexer in self.indexers:
            if isinstance(indexer, HashedWordIndexer):
                indexer.commit_names(accepted)

    def add_counted(self, group: int, counts: Any) -> None:
        """Add the features of the counted rows of a column group, in canonical order."""
        indexer = self.indexers[group]
        if isinstance(indexer, LevelIndexer | HashedWordIndexer):  # the others know their features
            indexer.add_counted(counts)

    def to_rows(self, blocks: list[Any], *, grow: bool) -> SparseRows:
        """Combine the prepared blocks of a chunk; without `grow`, new features are dropped."""
        direct = self.indexers[0].direct_rows(blocks[0], grow) if len(self.indexers) == 1 else None
        if direct is not None:
            return direct
        builder = _core.CsrBuilder(blocks[0].n_rows)
        for indexer, block in zip(self.indexers, blocks, strict=True):
            indexer.add_block(builder, block, grow)
        return SparseRows(*builder.build(), self.width)

    def to_dense(self, blocks: list[Any]) -> Floats | None:
        """Return the rows as a dense matrix if they are one and the index is dense, otherwise None."""
        only = blocks[0] if len(blocks) == 1 else None
        return only.matrix if self._dense and isinstance(only, DenseBlock) else None

    def levels(self) -> dict[str, list[Any]]:
        """Return the known levels of each category column."""
        return {i.name: i.known_levels() for i in self.indexers if isinstance(i, LevelIndexer)}

    def standardisations(self) -> dict[str, Standardisation]:
        """Return the standardisation of each number that is rescaled for training."""
        return {
            indexer.name: indexer.standardisation
            for indexer in self.indexers
            if isinstance(indexer, StandardisedIndexer) and indexer.standardisation != IDENTITY
        }

    def feature_orders(self) -> list[Longs]:
        """Return, for each column group, its feature indices in the order of a model."""
        return [indexer.feature_order() for indexer in self.indexers]

    def build_terms(self, orders: list[Longs], table: Floats) -> list[Any]:
        """Return the terms of a model from the weights [features in these orders, classes]."""
        ends = np.cumsum([len(order) for order in orders])
        parts = zip(self.indexers, orders, np.split(table, ends[:-1]), strict=True)
        return [indexer.build_term(order, weights) for indexer, order, weights in parts]


class BlockIndexer(Protocol):
    """Maps the blocks of one column group to feature indices."""

    def prepare_block(self, block: Any, mask: Mask | None) -> Any:
        """Return the rows of a block in `mask`, ready for `add_block`. Thread-safe."""

    def direct_rows(self, block: Any, grow: bool) -> SparseRows | None:
        """Return the rows of the schema's only group if they need no assembly, otherwise None."""

    def add_block(self, builder: _core.CsrBuilder, block: Any, grow: bool) -> None:
        """Add the entries of a prepared block; without `grow`, new features are dropped."""

    def feature_order(self) -> Longs:
        """Return the feature indices in the order of the model."""

    def build_term(self, order: Longs, table: Floats) -> Any:
        """Return the term of a model from weights [features in this order, classes]."""


class FixedIndexer:
    """Columns of one block that are all known from the schema: flags, counts, values, products."""

    def __init__(self, group: ColumnGroup, allocate: Allocate, *, dense: bool = False) -> None:
        self._group = group
        self._dense = dense
        self._first = allocate(len(group.features))

    def prepare_block(self, block: SparseBlock | DenseBlock, mask: Mask | None) -> SparseBlock | DenseBlock:
        """Return the rows in `mask`, dense only if the index is dense."""
        prepared = block if self._dense else as_sparse_block(block)
        return prepared if mask is None else prepared.where(mask)

    def direct_rows(self, block: SparseBlock | DenseBlock, grow: bool) -> SparseRows:
        """Return the rows of the block: its column numbers are the feature indices."""
        del grow
        return as_sparse_block(block).rows

    def add_block(self, builder: _core.CsrBuilder, block: SparseBlock | DenseBlock, grow: bool) -> None:
        """Add the entries of a prepared block."""
        del grow  # all columns are known from the beginning
        block = as_sparse_block(block)
        builder.add_entries(*block.rows.csr, self.feature_order().astype(np.int32))

    def feature_order(self) -> Longs:
        """Return the feature indices of the columns."""
        return np.arange(self._first, self._first + len(self._group.features))

    def build_term(self, order: Longs, table: Floats) -> WordWeights:
        """Return the term of the columns."""
        del order
        value_term = GridWeights if self._dense else ValueWeights
        term = WordWeights if self._group.kind.name == "count" else value_term
        return term(self._group.title, self._group.features, table, True)


class LevelIndexer:
    """A category or a binned number: one feature per level except the reference level."""

    def __init__(self, group: ColumnGroup, allocate: Allocate) -> None:
        self._group = group
        self.name = group.names[0]
        self._allocate = allocate
        self._reference_level = getattr(group.kind, "against", None)
        self._level_indices: dict[Any, int] = {}
        bins = getattr(group.kind, "bins", None)
        self._declared_levels = tuple(bin_names(bins) if bins else getattr(group.kind, "levels", None) or ())
        for level in self._declared_levels:
            self._level_index(level, True)

    def _level_index(self, level: Any, grow: bool) -> int:
        """Return the feature index of a level, or −1 if it has none."""
        if self._reference_level is not None and level == self._reference_level:
            return -1
        index = self._level_indices.get(level, -1)
        if index < 0 and grow:
            index = self._level_indices[level] = self._allocate(1)
        return index

    def prepare_block(self, block: CategoryBlock, mask: Mask | None) -> CategoryBlock:
        """Return the rows in `mask`."""
        return block if mask is None else block.where(mask)

    def direct_rows(self, block: CategoryBlock, grow: bool) -> None:
        """Return None: codes must be assembled into rows."""
        del block, grow

    def add_block(self, builder: _core.CsrBuilder, block: CategoryBlock, grow: bool) -> None:
        """Add one entry per row for its level."""
        indices: Ints = np.full(max(1, len(block.levels)), -1, dtype=np.int32)
        # A block may list levels that none of its rows has; these must not get a feature.
        for code in np.unique(block.codes[block.codes >= 0]).tolist():
            indices[code] = self._level_index(block.levels[code], grow)
        builder.add_codes(block.codes, indices)

    def add_counted(self, counts: CountTable) -> None:
        """Add a feature for each level."""
        for level in counts.names:
            self._level_index(level, True)

    def levels(self) -> list[Any]:
        """Return the levels that have a feature: declared ones first, then the others sorted."""
        declared = [level for level in self._declared_levels if level in self._level_indices]
        return declared + sorted(self._level_indices.keys() - set(declared), key=canonical_order_key)

    def known_levels(self) -> list[Any]:
        """Return all levels including the reference level."""
        return [*self._level_indices, *([] if self._reference_level is None else [self._reference_level])]

    def feature_order(self) -> Longs:
        """Return the feature indices in the order of `levels`."""
        return np.array([self._level_indices[level] for level in self.levels()], dtype=np.int64)

    def build_term(self, order: Longs, table: Floats) -> LevelWeights:
        """Return the term of the levels; an unseen level contributes zero."""
        del order
        weights = np.vstack([table, np.zeros((1, table.shape[1]))])
        return LevelWeights(self._group.title, self.levels(), weights, self._reference_level)


class StandardisedIndexer:
    """A number that is standardised for training."""

    def __init__(self, group: ColumnGroup, allocate: Allocate, standardisation: Standardisation) -> None:
        self.name = group.title
        self._first = allocate(1)
        self.standardisation = standardisation

    def prepare_block(self, block: NumberBlock, mask: Mask | None) -> NumberBlock:
        """Return the standardised rows in `mask`."""
        if self.standardisation == IDENTITY:
            check_magnitude(float(np.nanmax(np.abs(block.values), initial=0.0)))
        scaled = NumberBlock((block.values - self.standardisation.centre) / self.standardisation.scale)
        return scaled if mask is None else scaled.where(mask)

    def direct_rows(self, block: NumberBlock, grow: bool) -> None:
        """Return None: the column must be assembled into rows."""
        del block, grow

    def add_block(self, builder: _core.CsrBuilder, block: NumberBlock, grow: bool) -> None:
        """Add the column."""
        del grow
        builder.add_column(block.values, self._first)

    def feature_order(self) -> Longs:
        """Return the single feature index."""
        return np.array([self._first])

    def build_term(self, order: Longs, table: Floats) -> ScaledWeights:
        """Return the term of the number, which applies the same standardisation."""
        del order
        return ScaledWeights(self.name, table, self.standardisation.centre, self.standardisation.scale)


class CurveIndexer:
    """A number as a curve: one feature per cell, the last for missing values."""

    def __init__(self, group: ColumnGroup, allocate: Allocate, cells: CurveCells) -> None:
        self.name = group.title
        self.cells = cells
        self._n_features = len(cells.positions) + 1
        self._first = allocate(self._n_features)

    def prepare_block(self, block: NumberBlock, mask: Mask | None) -> CategoryBlock:
        """Return the cells of the rows in `mask`."""
        block = block if mask is None else block.where(mask)
        return CategoryBlock(find_cells(block.values, self.cells.cuts), [])

    def direct_rows(self, block: CategoryBlock, grow: bool) -> None:
        """Return None: codes must be assembled into rows."""
        del block, grow

    def add_block(self, builder: _core.CsrBuilder, block: CategoryBlock, grow: bool) -> None:
        """Add one entry per row for its cell."""
        del grow  # all cells are known from the beginning
        builder.add_codes(block.codes, self.feature_order().astype(np.int32))

    def feature_order(self) -> Longs:
        """Return the feature indices of the cells."""
        return np.arange(self._first, self._first + self._n_features)

    def build_term(self, order: Longs, table: Floats) -> CurveWeights:
        """Return the term of the curve, without what only the fit knows: counts, strengths and errors."""
        del order
        cells, counts = self.cells, np.zeros(self._n_features)
        return CurveWeights(self.name, cells.cuts, table, counts, cells.positions, cells.limits, np.zeros(3))


class WordIndexer:
    """Words by name; with a given vocabulary, other words have no feature."""

    def __init__(self, group: ColumnGroup, allocate: Allocate, vocabulary: NameArray | None = None) -> None:
        self._group = group
        self._allocate = allocate
        self._word_ids = _core.NameIndexer(0)
        self._feature_indices: Ints = np.zeros(0, dtype=np.int32)  # by word id, increasing
        self._closed = vocabulary is not None
        if vocabulary is not None:
            self._word_ids.index(vocabulary.text, vocabulary.offsets, True)
            self._allocate_new_words()

    def _allocate_new_words(self) -> None:
        n_new = len(self._word_ids) - len(self._feature_indices)
        if n_new:
            first = self._allocate(n_new)
            new = np.arange(first, first + n_new, dtype=np.int32)
            self._feature_indices = np.concatenate([self._feature_indices, new])

    def prepare_block(self, block: TextBlock, mask: Mask | None) -> SparseBlock:
        """Tokenise the rows in `mask`, with words numbered within the block in order of first use."""
        block = block if mask is None else block.where(mask)
        block_ids = _core.NameIndexer(0)
        indptr, indices, values = block_ids.index_tokens(block.documents, block.settings)
        names = NameArray(*block_ids.names())
        return SparseBlock(
            SparseRows(indptr, indices, values if block.kind.counts else None, len(names)), names
        )

    def direct_rows(self, block: SparseBlock, grow: bool) -> None:
        """Return None: words must be looked up by name."""
        del block, grow

    def add_block(self, builder: _core.CsrBuilder, block: SparseBlock, grow: bool) -> None:
        """Add the entries of a prepared block."""
        names = block.names if isinstance(block.names, NameArray) else NameArray.from_strings(block.names)
        word_ids = self._word_ids.index(names.text, names.offsets, grow and not self._closed)
        self._allocate_new_words()
        indices = np.append(self._feature_indices, np.int32(-1))[np.where(word_ids < 0, -1, word_ids)]
        builder.add_entries(*block.rows.csr, indices)

    def _names(self) -> NameArray:
        return NameArray(*self._word_ids.names())

    def feature_order(self) -> Longs:
        """Return the feature indices of the words in sorted order."""
        return self._feature_indices[self._names().argsort()].astype(np.int64)

    def build_term(self, order: Longs, table: Floats) -> WordWeights:
        """Return the term of the words."""
        # Feature indices increase with word ids, so the rank of an index is its word id.
        names = self._names().take(np.searchsorted(self._feature_indices, order))
        return WordWeights(self._group.title, names, table, False)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_word_ids": self._names()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._word_ids = _core.NameIndexer(0)
        self._word_ids.index(state["_word_ids"].text, state["_word_ids"].offsets, True)


class WeightedWordIndexer:
    """Weighted words; words that the first pass did not see have no feature."""

    def __init__(self, group: ColumnGroup, allocate: Allocate, words: VocabularyLookup) -> None:
        self._group = group
        self._words = words
        self._first = allocate(len(words.names))

    def prepare_block(self, block: TextBlock, mask: Mask | None) -> SparseRows:
        """Return the values of the words of the rows in `mask`."""
        return self._words.entries(block if mask is None else block.where(mask))

    def direct_rows(self, block: SparseRows, grow: bool) -> SparseRows:
        """Return the rows of the only group, whose columns are the feature indices."""
        del grow
        return block

    def add_block(self, builder: _core.CsrBuilder, block: SparseRows, grow: bool) -> None:
        """Add the entries of a prepared block."""
        del grow
        builder.add_entries(*block.csr, self.feature_order().astype(np.int32))

    def feature_order(self) -> Longs:
        """Return the feature indices of the words in sorted order."""
        return np.arange(self._first, self._first + len(self._words.names))

    def build_term(self, order: Longs, table: Floats) -> WordWeights:
        """Return the term of the words, which applies the same weighting."""
        del order
        words = self._words
        return WordWeights(self._group.title, words.names, table, False, words.buckets, words.weighting)


class HashedWordIndexer:
    """Words by hash bucket; a bucket gets a feature when it is first used.

    Each thread collects bucket names separately. The choice between two names of a bucket does not depend on
    the order in which they are merged.
    """

    def __init__(self, group: ColumnGroup, allocate: Allocate) -> None:
        self._group = group
        assert isinstance(group.kind, BagOfWordsKind)
        assert group.kind.buckets is not None
        self._counts, self._n_buckets = group.kind.counts, group.kind.buckets
        self._allocate = allocate
        self._compactor = _core.IndexCompactor(np.full(self._n_buckets, -1, dtype=np.int32))
        self._feature_indices: Ints = np.zeros(0, dtype=np.int32)  # by compact bucket index
        self._bucket_names = _core.NameIndexer(self._n_buckets)
        self._thread_names: SimpleQueue[_core.NameIndexer] = SimpleQueue()

    def prepare_block(self, block: TextBlock, mask: Mask | None) -> SparseRows:
        """Tokenise and hash the rows in `mask`."""
        block = block if mask is None else block.where(mask)
        try:
            names = self._thread_names.get_nowait()
        except Empty:
            names = _core.NameIndexer(self._n_buckets)
        indptr, indices, values = names.index_tokens(block.documents, block.settings)
        self._thread_names.put(names)
        return SparseRows(indptr, indices, values if self._counts else None, self._n_buckets)

    def direct_rows(self, block: SparseRows, grow: bool) -> SparseRows:
        """Return the rows of the only group, whose compact bucket indices are the feature indices."""
        indices = self._compactor.compact(block.indices, grow)
        self._allocate(len(self._compactor) - len(self._feature_indices))
        self._feature_indices = np.arange(len(self._compactor), dtype=np.int32)
        return replace(block, indices=indices, width=len(self._compactor))

    def add_block(self, builder: _core.CsrBuilder, block: SparseRows, grow: bool) -> None:
        """Add the entries of a prepared block."""
        indices = self._compactor.compact(block.indices, grow)
        n_new = len(self._compactor) - len(self._feature_indices)
        first = self._allocate(n_new)
        new = np.arange(first, first + n_new, dtype=np.int32)
        self._feature_indices = np.concatenate([self._feature_indices, new])
        builder.add_entries(block.indptr, indices, block.values, self._feature_indices)

    def add_counted(self, counts: Any) -> None:
        """Add a feature for each bucket with words, and their names."""
        words: Any = counts.present if isinstance(counts, FlagCounts) else counts
        used = np.flatnonzero(words.table.any(axis=0))
        self._compactor.compact(used.astype(np.int32), True)
        first = self._allocate(len(used))
        self._feature_indices = np.arange(first, first + len(used), dtype=np.int32)
        names = words.names.take(np.flatnonzero(np.diff(words.names.offsets)))
        self._bucket_names.index(names.text, names.offsets, True)

    def _used_buckets(self) -> Longs:
        return np.flatnonzero(self._compactor.mapping() >= 0)

    def feature_order(self) -> Longs:
        """Return the feature indices of the used buckets."""
        return self._feature_indices[self._compactor.mapping()[self._used_buckets()]].astype(np.int64)

    def commit_names(self, accepted: bool) -> None:
        """Keep or discard the names collected by the threads."""
        while not self._thread_names.empty():
            names = self._thread_names.get_nowait()
            if accepted:
                self._bucket_names.merge(names)

    def _names(self) -> NameArray:
        return NameArray(*self._bucket_names.names())

    def build_term(self, order: Longs, table: Floats) -> WordWeights:
        """Return the term of the used buckets."""
        del order
        used = self._used_buckets()
        buckets = HashBuckets(self._n_buckets, used)
        return WordWeights(self._group.title, self._names().take(used), table, False, buckets)

    def __getstate__(self) -> dict[str, Any]:
        state = {key: value for key, value in vars(self).items() if key != "_thread_names"}
        return state | {"_bucket_names": self._names(), "_compactor": self._compactor.mapping()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._compactor = _core.IndexCompactor(state["_compactor"])
        names = state["_bucket_names"].take(np.flatnonzero(np.diff(state["_bucket_names"].offsets)))
        self._bucket_names = _core.NameIndexer(self._n_buckets)
        self._bucket_names.index(names.text, names.offsets, True)
        self._thread_names = SimpleQueue()
