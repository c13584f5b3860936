"""Labelled rows of a source encoded as features, cached in memory or read again for every pass."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from weigh import errors
from weigh.features.blocks import Ints, Mask
from weigh.features.schema import Schema
from weigh.learn.chunk_encoder import ChunkBlocks, ChunkEncoder, EncodedChunk, MissingCounts, weighted_rows
from weigh.learn.feature_index import FeatureIndex
from weigh.learn.preprocessing import Standardisation, fit_preprocessing, needs_first_pass
from weigh.model.counts.bayes_counts import Label
from weigh.model.counts.count_table import canonical_order_key
from weigh.model.parallel import map_in_order
from weigh.model.training_rows import TrainingRows
from weigh.source.base import Source
from weigh.source.chunk import Chunk

MAX_CACHED_BYTES = 256 << 20  # a file whose features need more is read again for every pass

Progress = Callable[[int], None]
LabelCheck = Callable[[Collection[Label]], None]


class EncodedDataset(Protocol):
    """Encoded rows that can be iterated over any number of times."""

    @property
    def feature_index(self) -> FeatureIndex:
        """The index of the features."""

    @property
    def is_cached(self) -> bool:
        """Whether all rows are in memory."""

    @property
    def is_weighted(self) -> bool:
        """Whether any rows have sample weights."""

    def chunks(self) -> Iterator[EncodedChunk]:
        """Iterate over all rows, chunk by chunk."""

    def class_indices(self, classes: Sequence[Label]) -> Ints:
        """Return the index in `classes` of each label code."""


class SourceDataset(ChunkEncoder):
    """The encoded rows of a source; the first read adds new features to the feature index.

    Rows from memory are cached as features. Rows from a file are cached with `caches_all` or if they need at
    most `MAX_CACHED_BYTES`; otherwise the file is read again for every pass, so memory use is bounded. The
    targets are numbers with `is_regression`, otherwise classes, which may be fractions only if
    `allows_fractions`. Rows of weight zero and of `ignored_classes` are left out.
    """

    def __init__(
        self,
        schema: Schema,
        source: Source,
        feature_index: FeatureIndex,
        *,
        is_regression: bool = False,
        caches_all: bool = False,
        ignored_classes: Collection[Label] = (),
        allows_fractions: bool = False,
    ) -> None:
        super().__init__(
            schema,
            feature_index,
            is_regression=is_regression,
            ignored_classes=ignored_classes,
            allows_fractions=allows_fractions,
        )
        self._source, self._caches_all = source, caches_all
        self.n_rows = 0
        self.is_weighted = False
        self.n_missing = MissingCounts()
        self.training_rows = TrainingRows()
        self._class_totals = np.zeros(0)  # total weight by label code
        self._cached_chunks: list[EncodedChunk] | None = []

    @classmethod
    def read(
        cls,
        schema: Schema,
        source: Source,
        progress: Progress | None = None,
        check: LabelCheck | None = None,
        ignored_classes: Collection[Label] = (),
        allows_fractions: bool = False,
    ) -> SourceDataset:
        """Read a source with a new feature index."""
        feature_index = make_feature_index(schema, source, ignored_classes)
        options: dict[str, Any] = {"ignored_classes": ignored_classes, "allows_fractions": allows_fractions}
        return cls(schema, source, feature_index, **options).read_all(progress, check)

    def read_all(self, progress: Progress | None = None, check: LabelCheck | None = None) -> SourceDataset:
        """Read all rows.

        With a label check, all rows are read into memory and checked before the feature index changes, so
        that a batch is learned completely or not at all.
        """
        chunks: Iterable[ChunkBlocks] = self._iter_blocks(is_training=True, hashes_rows=True)
        if check is not None:
            try:
                chunks = list(chunks)
                check({label for chunk in chunks for label in chunk.labels})
            except BaseException:
                self.feature_index.commit_names(accepted=False)
                raise
        n_bytes = 0
        caches_all = self._caches_all or check is not None or self._source.bytes_total is None
        max_bytes = None if caches_all else MAX_CACHED_BYTES
        for chunk in chunks:
            encoded = self.encode_blocks(chunk, grow=True)
            self.n_rows += len(encoded.targets)
            self.is_weighted = self.is_weighted or encoded.weights is not None
            self.n_missing.update(chunk.n_missing)
            self.training_rows = self.training_rows.plus(chunk.rows.with_frequencies(encoded.rows))
            self._count_labels(encoded)
            n_bytes += encoded.n_bytes
            if self._cached_chunks is not None:
                self._cached_chunks.append(encoded)
                if max_bytes is not None and n_bytes > max_bytes:
                    self._cached_chunks = None
            if progress is not None:
                progress(len(chunk.targets))
        if not self.n_rows and (self.is_weighted or self._ignored_classes):
            self.feature_index.commit_names(accepted=False)
            raise errors.zero_weights_error()
        self.feature_index.commit_names(accepted=True)
        return self

    @property
    def is_cached(self) -> bool:
        """Whether all rows are in memory."""
        return self._cached_chunks is not None

    def chunks(self) -> Iterator[EncodedChunk]:
        """Iterate over all rows, chunk by chunk."""
        if self._cached_chunks is not None:
            return iter(self._cached_chunks)
        return self._reread()

    def _reread(self) -> Iterator[EncodedChunk]:
        n_rows = 0
        for chunk in self._iter_blocks(is_training=None):
            n_rows += len(chunk.targets)
            if not self.labels.keys() >= set(chunk.labels) or n_rows > self.n_rows:
                raise _source_changed_error()
            yield self.encode_blocks(chunk, grow=False)
        self.feature_index.commit_names(accepted=False)
        if n_rows != self.n_rows:
            raise _source_changed_error()

    def classes(self, known: Sequence[Label] = ()) -> list[Label]:
        """Return the classes of the rows and the known classes in canonical order."""
        return sorted({*known, *self.labels}, key=canonical_order_key)

    def class_totals(self) -> dict[Label, float]:
        """Return the total weight of the rows of each class."""
        return dict(zip(self.labels, self._class_totals.tolist(), strict=True))

    def _count_labels(self, encoded: EncodedChunk) -> None:
        if not self._is_regression:
            counts = np.bincount(encoded.targets, encoded.weights, minlength=len(self.labels)).astype(
                np.float64
            )
            counts[: len(self._class_totals)] += self._class_totals
            self._class_totals = counts

    def class_indices(self, classes: Sequence[Label]) -> Ints:
        """Return the index in `classes` of each label code."""
        index = {label: i for i, label in enumerate(classes)}
        return np.array([index[label] for label in self.labels], dtype=np.int32)

    def _iter_blocks(self, *, is_training: bool | None, hashes_rows: bool = False) -> Iterator[ChunkBlocks]:
        """Yield the blocks of each chunk in order, encoded in parallel."""
        make_blocks = partial(self.make_blocks, hashes_rows=hashes_rows)
        readers = self.schema.chunk_readers(self._source, is_training=is_training)
        return map_in_order(make_blocks, readers)


def make_feature_index(
    schema: Schema,
    source: Source,
    ignored_classes: Collection[Label] = (),
    *,
    dense: bool = False,
    standardisations: Mapping[str, Standardisation] | None = None,
) -> FeatureIndex:
    """Return a feature index, after a first pass over the rows if some column needs one.

    `standardisations` replace those of these columns that the first pass finds.
    """
    if not needs_first_pass(schema):
        return FeatureIndex(schema, {}, dense=dense)
    chunks: Iterable[Chunk] = schema.chunks(source, is_training=None)
    if ignored_classes:
        masks = ((chunk, weighted_rows(chunk, ignored_classes)) for chunk in chunks)
        chunks = (chunk if mask is None else _with_zero_weights(chunk, ~mask) for chunk, mask in masks)
    fitted = fit_preprocessing(schema, chunks)
    for i, group in enumerate(schema.column_groups):
        if standardisations is not None and group.title in standardisations:
            fitted[i] = standardisations[group.title]
    return FeatureIndex(schema, fitted, dense=dense)


def _with_zero_weights(chunk: Chunk, rows: Mask) -> Chunk:
    weights = np.ones(chunk.n_rows) if chunk.weights is None else chunk.weights
    return replace(chunk, weights=np.where(rows, 0.0, weights))


def _source_changed_error() -> errors.DataError:
    return errors.DataError(
        "The file changed during training; it is read again for every pass. Do not modify it until training "
        "ends."
    )
