"""The parts of a space: how the features of each kind of block are numbered and named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Protocol

import numpy as np

from weigh import _core
from weigh.features import (
    BagOfWordsKind,
    Block,
    CategoryBlock,
    ColumnGroup,
    DenseBlock,
    NameArray,
    NumberBlock,
    NumberedNames,
    Schema,
    SparseBlock,
    TextBlock,
)
from weigh.features.blocks import Floats, Ints, Longs, Mask
from weigh.features.columns import bin_names
from weigh.features.words import as_sparse_block
from weigh.learn.preprocessing import Standardisation
from weigh.model.counts.count_table import canonical_order_key
from weigh.model.distributions.weights import LevelWeights, ScaledWeights
from weigh.model.distributions.word_weights import GridWeights, HashBuckets, ValueWeights, WordWeights

Allocate = Callable[[int], int]


class BlockIndexer(Protocol):
    """What a space needs of a part."""

    def prepare_block(self, block: Any, kept: Mask | None) -> Any:
        """Return a block, or the kept rows of it, ready to be added; may be done in any thread."""

    def direct_rows(self, block: Any, grow: bool) -> SparseBlock | None:
        """Return the rows of the only part of a space, if they need no assembly."""

    def add_block(self, assembly: _core.CsrBuilder, block: Any, grow: bool) -> None:
        """Put a block's rows under the numbers of its features."""

    def feature_order(self) -> Longs:
        """Return the numbers of the features in the order of the model."""

    def build_term(self, order: Longs, table: Floats) -> Any:
        """Return the term of a model from weights [features in that order, classes]."""


class FixedIndexer:
    """Columns that form one block: flags, counts, values, products."""

    def __init__(self, part: ColumnGroup, take: Allocate, *, dense: bool = False) -> None:
        self._part = part
        self._dense = dense  # whether learners may add up a matrix in any order
        self._first = take(len(part.features))

    def prepare_block(self, block: SparseBlock | DenseBlock, kept: Mask | None) -> SparseBlock | DenseBlock:
        """Return the rows, with their zeros if those are wanted."""
        own = block if self._dense else as_sparse_block(block)
        return own if kept is None else own.where(kept)

    def direct_rows(self, block: SparseBlock | DenseBlock, grow: bool) -> SparseBlock:
        """Return the block, whose numbers are its columns'."""
        del grow
        return as_sparse_block(block)

    def add_block(self, assembly: _core.CsrBuilder, block: SparseBlock | DenseBlock, grow: bool) -> None:
        """Put a block's rows under the numbers of its features."""
        del grow  # the columns of a schema are all there from the beginning
        block = as_sparse_block(block)
        assembly.add_entries(block.indptr, block.indices, block.values, self.feature_order().astype(np.int32))

    def feature_order(self) -> Longs:
        """Return the numbers of the columns."""
        return np.arange(self._first, self._first + len(self._part.features))

    def build_term(self, order: Longs, table: Floats) -> WordWeights:
        """Return the term of the columns."""
        del order
        valued = GridWeights if self._dense else ValueWeights
        kind = WordWeights if self._part.kind.name == "count" else valued
        return kind(self._part.title, self._part.features, table, True)


class LevelIndexer:
    """A category, or a number in bins: one feature per level, but none for the one it is weighed against."""

    def __init__(self, part: ColumnGroup, take: Allocate) -> None:
        self._part = part
        self.name = part.names[0]
        self._allocate = take
        self._reference_level = getattr(part.kind, "against", None)
        self._level_indices: dict[Any, int] = {}
        bins = getattr(part.kind, "bins", None)
        self._declared_levels = tuple(bin_names(bins) if bins else getattr(part.kind, "levels", None) or ())
        for level in self._declared_levels:
            self._level_index(level, True)

    def _level_index(self, level: Any, grow: bool) -> int:
        if self._reference_level is not None and level == self._reference_level:
            return -1
        known = self._level_indices.get(level, -1)
        if known < 0 and grow:
            known = self._level_indices[level] = self._allocate(1)
        return known

    def prepare_block(self, block: CategoryBlock, kept: Mask | None) -> CategoryBlock:
        """Return the rows, which are ready."""
        return block if kept is None else block.where(kept)

    def direct_rows(self, block: CategoryBlock, grow: bool) -> None:
        """Leave also a space of only this part to the assembly."""
        del block, grow

    def add_block(self, assembly: _core.CsrBuilder, block: CategoryBlock, grow: bool) -> None:
        """Put a block's rows under the numbers of their levels."""
        numbers: Ints = np.full(max(1, len(block.levels)), -1, dtype=np.int32)
        # Only levels that some row has: a table may know many more.
        for code in np.unique(block.codes[block.codes >= 0]).tolist():
            numbers[code] = self._level_index(block.levels[code], grow)
        assembly.add_codes(block.codes, numbers)

    def levels(self) -> list[Any]:
        """Return the levels that have a feature: declared ones first, then the others sorted."""
        declared = [level for level in self._declared_levels if level in self._level_indices]
        return declared + sorted(self._level_indices.keys() - set(declared), key=canonical_order_key)

    def known_levels(self) -> list[Any]:
        """Return all levels, with or without a feature."""
        return [*self._level_indices, *([] if self._reference_level is None else [self._reference_level])]

    def feature_order(self) -> Longs:
        """Return the numbers of the levels: declared ones first, then the others sorted."""
        return np.array([self._level_indices[level] for level in self.levels()], dtype=np.int64)

    def build_term(self, order: Longs, table: Floats) -> LevelWeights:
        """Return the term of the levels; one never seen adds nothing."""
        del order
        unseen = np.zeros((1, table.shape[1]))
        return LevelWeights(
            self._part.title, self.levels(), np.vstack([table, unseen]), self._reference_level
        )


class StandardisedIndexer:
    """A number that is learned centred and in standard deviations."""

    def __init__(self, part: ColumnGroup, take: Allocate, scale: Standardisation) -> None:
        self._part = part
        self._first = take(1)
        self._standardisation = scale

    def prepare_block(self, block: NumberBlock, kept: Mask | None) -> NumberBlock:
        """Return the rows centred and scaled."""
        scaled = NumberBlock((block.values - self._standardisation.centre) / self._standardisation.scale)
        return scaled if kept is None else scaled.where(kept)

    def direct_rows(self, block: NumberBlock, grow: bool) -> None:
        """Leave also a space of only this part to the assembly."""
        del block, grow

    def add_block(self, assembly: _core.CsrBuilder, block: NumberBlock, grow: bool) -> None:
        """Put a block's rows under the number's own."""
        del grow
        assembly.add_column(block.values, self._first)

    def feature_order(self) -> Longs:
        """Return the one number."""
        return np.array([self._first])

    def build_term(self, order: Longs, table: Floats) -> ScaledWeights:
        """Return the term of the number."""
        del order
        return ScaledWeights(
            self._part.title, table, self._standardisation.centre, self._standardisation.scale
        )


class FeatureRows(NamedTuple):
    """Sparse rows of features; values None means one each."""

    indptr: Longs
    indices: Ints
    values: Floats | None


class FeatureIndex:
    """Numbers for the features of a schema's parts: fixed columns first come, the others as they appear.

    `prepared` gives, by part, what had to be known before the first row: the words to keep, or the
    centre and scale of a number. A `dense` space leaves numbers that came as a matrix as they are.
    """

    def __init__(
        self,
        schema: Schema,
        prepared: Mapping[int, NameArray | Standardisation] | None = None,
        *,
        dense: bool = False,
    ) -> None:
        self.width = 0
        self._dense = dense
        prepared = prepared or {}
        self.indexers: list[BlockIndexer] = [
            self._make_indexer(part, prepared.get(at)) for at, part in enumerate(schema.column_groups)
        ]

    def _make_indexer(self, part: Any, known: Any) -> BlockIndexer:
        if isinstance(part.kind, BagOfWordsKind):
            return (
                HashedWordIndexer(part, self.allocate)
                if part.kind.buckets
                else WordIndexer(part, self.allocate, known)
            )
        if part.kind.shares_block:
            return FixedIndexer(part, self.allocate, dense=self._dense)
        return (
            LevelIndexer(part, self.allocate)
            if known is None
            else StandardisedIndexer(part, self.allocate, known)
        )

    def allocate(self, number: int) -> int:
        """Return the first of so many numbers that no feature has yet."""
        first = self.width
        self.width += number
        return first

    def prepare_blocks(self, blocks: list[Block], kept: Mask | None) -> list[Any]:
        """Return blocks, or the kept rows of them, ready to be put into rows; may be done in any thread."""
        return [part.prepare_block(block, kept) for part, block in zip(self.indexers, blocks, strict=True)]

    def commit_names(self, accepted: bool) -> None:
        """Keep what was learned of blocks while they were made, or drop it with their rows."""
        for part in self.indexers:
            if isinstance(part, HashedWordIndexer):
                part.commit_names(accepted)

    def to_rows(self, blocks: list[Any], *, grow: bool) -> FeatureRows:
        """Return the blocks of some rows as one; unless they may grow, new features are left out."""
        only = self.indexers[0].direct_rows(blocks[0], grow) if len(self.indexers) == 1 else None
        if only is not None:
            return FeatureRows(only.indptr, only.indices, only.values)
        assembly = _core.CsrBuilder(blocks[0].n_rows)
        for part, block in zip(self.indexers, blocks, strict=True):
            part.add_block(assembly, block, grow)
        return FeatureRows(*assembly.build())

    def to_dense(self, blocks: list[Any]) -> Floats | None:
        """Return the rows with all their zeros, if they came so and are to stay so."""
        # Beside other parts a matrix has to be put together with them.
        only = blocks[0] if len(blocks) == 1 else None
        return only.matrix if self._dense and isinstance(only, DenseBlock) else None

    def levels(self) -> dict[str, list[Any]]:
        """Return the levels that columns of categories have, by column."""
        return {part.name: part.known_levels() for part in self.indexers if isinstance(part, LevelIndexer)}

    def feature_orders(self) -> list[Longs]:
        """Return the numbers of each part's features in the order of a model."""
        return [part.feature_order() for part in self.indexers]

    def build_terms(self, orders: list[Longs], table: Floats) -> list[Any]:
        """Return the terms of a model from the weights of those features, one after the other."""
        ends = np.cumsum([len(order) for order in orders])
        pieces = zip(self.indexers, orders, np.split(table, ends[:-1]), strict=True)
        return [part.build_term(order, piece) for part, order, piece in pieces]


class WordIndexer:
    """Words by name; known words are numbered beforehand, and then no others have a number."""

    def __init__(self, part: ColumnGroup, take: Allocate, known: NameArray | None = None) -> None:
        self._part = part
        self._allocate = take
        self._native = _core.NameIndexer(0)
        self._places: Ints = np.zeros(0, dtype=np.int32)  # numbers in the space, by native number
        self._closed = known is not None
        if known is not None:
            self._native.index(known.text, known.offsets, True)
            self._allocate_new_words()

    def _allocate_new_words(self) -> None:
        new = len(self._native) - len(self._places)
        if new:
            first = self._allocate(new)
            self._places = np.concatenate([self._places, np.arange(first, first + new, dtype=np.int32)])

    def prepare_block(self, block: TextBlock, kept: Mask | None) -> SparseBlock:
        """Return the rows split, under names of their own; words stay in the order of their first use."""
        block = block if kept is None else block.where(kept)
        own = _core.NameIndexer(0)
        indptr, indices, values = own.index_tokens(block.documents, block.settings)
        return SparseBlock(indptr, indices, values if block.kind.counts else None, NameArray(*own.names()))

    def direct_rows(self, block: SparseBlock, grow: bool) -> None:
        """Leave also a space of only this part to the assembly, for words have to be found by name."""
        del block, grow

    def add_block(self, assembly: _core.CsrBuilder, block: SparseBlock, grow: bool) -> None:
        """Put a block's rows under the numbers of their words."""
        names = block.names if isinstance(block.names, NameArray) else NameArray.from_strings(block.names)
        found = self._native.index(names.text, names.offsets, grow and not self._closed)
        self._allocate_new_words()
        places = np.append(self._places, np.int32(-1))[np.where(found < 0, -1, found)]
        assembly.add_entries(block.indptr, block.indices, block.values, places)

    def _names(self) -> NameArray:
        return NameArray(*self._native.names())

    def feature_order(self) -> Longs:
        """Return the numbers of the words in the order of the model: sorted."""
        return self._places[self._names().argsort()].astype(np.int64)

    def build_term(self, order: Longs, table: Floats) -> WordWeights:
        """Return the term of the words."""
        # Numbers rise with the native ones, so that these are their ranks.
        names = self._names().take(np.searchsorted(self._places, order))
        return WordWeights(self._part.title, names, table, False)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_native": self._names()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._native = _core.NameIndexer(0)
        self._native.index(state["_native"].text, state["_native"].offsets, True)


class HashedWordIndexer:
    """Words by bucket: buckets are numbered when they are first used, and names are gathered beside.

    Each thread gathers names of its own, for which of two is the better does not depend on who saw it.
    """

    def __init__(self, part: ColumnGroup, take: Allocate) -> None:
        self._part = part
        assert isinstance(part.kind, BagOfWordsKind)
        assert part.kind.buckets is not None
        self._counts, self._buckets = part.kind.counts, part.kind.buckets
        self._allocate = take
        self._places = _core.IndexCompactor(np.full(self._buckets, -1, dtype=np.int32))
        self._numbers: Ints = np.zeros(0, dtype=np.int32)  # in the space, by place
        self._named = _core.NameIndexer(self._buckets)
        self._namers: SimpleQueue[_core.NameIndexer] = SimpleQueue()

    def prepare_block(self, block: TextBlock, kept: Mask | None) -> SparseBlock:
        """Return the rows split, under the numbers of the buckets."""
        block = block if kept is None else block.where(kept)
        try:
            namer = self._namers.get_nowait()
        except Empty:
            namer = _core.NameIndexer(self._buckets)
        indptr, indices, values = namer.index_tokens(block.documents, block.settings)
        self._namers.put(namer)
        return SparseBlock(indptr, indices, values if self._counts else None, NumberedNames(self._buckets))

    def direct_rows(self, block: SparseBlock, grow: bool) -> SparseBlock:
        """Return the rows of the only part of a space, whose numbers are the places."""
        indices = self._places.compact(block.indices, grow)
        self._allocate(len(self._places) - len(self._numbers))
        self._numbers = np.arange(len(self._places), dtype=np.int32)
        return replace(block, indices=indices)

    def add_block(self, assembly: _core.CsrBuilder, block: SparseBlock, grow: bool) -> None:
        """Put a block's rows under the numbers of their buckets."""
        found = self._places.compact(block.indices, grow)
        new = len(self._places) - len(self._numbers)
        first = self._allocate(new)
        self._numbers = np.concatenate([self._numbers, np.arange(first, first + new, dtype=np.int32)])
        assembly.add_entries(block.indptr, found, block.values, self._numbers)

    def _used_buckets(self) -> Longs:
        return np.flatnonzero(self._places.mapping() >= 0)

    def feature_order(self) -> Longs:
        """Return the numbers of the buckets in use."""
        return self._numbers[self._places.mapping()[self._used_buckets()]].astype(np.int64)

    def commit_names(self, accepted: bool) -> None:
        """Take over the names of the rows that were read, or drop them with the rows."""
        while not self._namers.empty():
            namer = self._namers.get_nowait()
            if accepted:
                self._named.merge(namer)

    def _names(self) -> NameArray:
        return NameArray(*self._named.names())

    def build_term(self, order: Longs, table: Floats) -> WordWeights:
        """Return the term of the buckets in use."""
        del order
        used = self._used_buckets()
        buckets = HashBuckets(self._buckets, used)
        return WordWeights(self._part.title, self._names().take(used), table, False, buckets)

    def __getstate__(self) -> dict[str, Any]:
        state = {key: value for key, value in vars(self).items() if key != "_namers"}
        return state | {"_named": self._names(), "_places": self._places.mapping()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._places = _core.IndexCompactor(state["_places"])
        names = state["_named"].take(np.flatnonzero(np.diff(state["_named"].offsets)))
        self._named = _core.NameIndexer(self._buckets)
        self._named.index(names.text, names.offsets, True)
        self._namers = SimpleQueue()
