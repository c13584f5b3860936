"""Labelled rows of a source encoded as features, cached in memory or read again for every pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from weigh import errors
from weigh.advice import Setting, Step, Text
from weigh.features.blocks import CategoryBlock, DenseBlock, Floats, Ints, Mask
from weigh.features.columns import to_numbers
from weigh.features.row_hashes import add_label_hashes, add_target_hashes, hash_features
from weigh.features.schema import Schema
from weigh.features.validation import MAX_MAGNITUDE
from weigh.learn.feature_index import FeatureIndex
from weigh.learn.preprocessing import Standardisation, fit_preprocessing, needs_first_pass
from weigh.model.counts.bayes_counts import Label, encode_labels, missing_labels_error
from weigh.model.counts.count_table import canonical_order_key
from weigh.model.input_summary import InputSummary
from weigh.model.parallel import map_in_order
from weigh.model.training_rows import TrainingRows
from weigh.source.base import Source
from weigh.source.chunk import Chunk, to_pylist
from weigh.source.sparse_rows import SparseRows

MAX_CACHED_BYTES = 256 << 20  # a file whose features need more is read again for every pass

Progress = Callable[[int], None]
LabelCheck = Callable[[Collection[Label]], None]
MissingCounts = Counter[str]  # missing numbers by column; those of a bare array have no name
Targets = Any  # label codes (Ints) for classification, numbers (Floats) for regression


class EncodedChunk(NamedTuple):
    """Features, targets and weights of some rows; `weights` None means one each.

    Dense features are in `dense` [n, d], and `rows` is then empty.
    """

    rows: SparseRows
    targets: Targets
    weights: Floats | None
    dense: Floats | None = None

    @property
    def n_bytes(self) -> int:
        """The memory used by the arrays."""
        parts = (*self.rows.csr, self.targets, self.weights, self.dense)
        return sum(part.nbytes for part in parts if part is not None)


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


class _ChunkBlocks(NamedTuple):
    """The blocks of one chunk before their features are indexed; `targets` are codes into `labels`."""

    blocks: list[Any]
    targets: Targets
    labels: list[Label]
    weights: Floats | None
    n_missing: MissingCounts
    rows: TrainingRows


class SourceDataset:
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
        self.schema, self._source = schema, source
        self._is_regression, self._caches_all = is_regression, caches_all
        self._ignored_classes, self._allows_fractions = ignored_classes, allows_fractions
        self.feature_index: FeatureIndex = feature_index
        self.labels: dict[Label, int] = {}  # code by label, in order of appearance
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
        chunks: Iterable[_ChunkBlocks] = self._iter_blocks(is_training=True, hashes_rows=True)
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
            encoded = self._encode_blocks(chunk, grow=True)
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
            yield self._encode_blocks(chunk, grow=False)
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

    def _iter_blocks(self, *, is_training: bool | None, hashes_rows: bool = False) -> Iterator[_ChunkBlocks]:
        """Yield the blocks of each chunk in order, encoded in parallel."""
        make_blocks = partial(self._make_blocks, hashes_rows=hashes_rows)
        readers = self.schema.chunk_readers(self._source, is_training=is_training)
        return map_in_order(make_blocks, readers)

    def _make_blocks(self, chunk: Chunk, *, hashes_rows: bool) -> _ChunkBlocks:
        targets, labels = self._encode_targets(chunk)
        weights, mask = chunk.weights, _weighted_rows(chunk, self._ignored_classes)
        if mask is not None:
            # A row of zero weight must have no effect, not even through its label or values.
            weights = None if weights is None else weights[mask]
            if self._is_regression:
                targets = targets[mask]
            else:
                weighted = CategoryBlock(targets, labels).where(mask)
                targets, labels = weighted.codes, weighted.levels
        encoded = self.schema.encode(chunk)
        n_missing = self._count_missing(chunk, encoded, mask)
        rows = (
            self._hash_rows(encoded, chunk.n_rows, mask, targets, labels) if hashes_rows else TrainingRows()
        )
        blocks = self.feature_index.prepare_blocks(encoded, mask)
        return _ChunkBlocks(blocks, targets, labels, weights, n_missing, rows)

    def _count_missing(self, chunk: Chunk, blocks: list[Any], mask: Mask | None) -> MissingCounts:
        """Return the missing numbers of each column, by name in a named table.

        Parts of dates are left out, and numbers for which the user asked for the mean.
        """
        is_used = slice(None) if mask is None else mask
        pairs = zip(self.schema.column_groups, blocks, strict=True)
        means = {g.names[0]: block.values for g, block in pairs if getattr(g.kind, "scale", None) == "auto"}
        counts = {
            name: int(np.isnan(values[is_used]).sum())
            for name, values in means.items()
            if name in self.schema.names
        }
        return self._count_missing_values(chunk, blocks, mask) + MissingCounts(counts)

    def _count_missing_values(self, chunk: Chunk, blocks: list[Any], mask: Mask | None) -> MissingCounts:
        dense = [block for block in blocks if isinstance(block, DenseBlock)]
        total = sum(block.count_missing(mask) for block in dense)
        if not total or not self.schema.named:
            return MissingCounts({"": total} if total else {})
        names = [name for block in dense for name in block.names if name in chunk.columns]
        numbers = {name: to_numbers(chunk.columns[name], name, self.schema.missing) for name in names}
        is_used = slice(None) if mask is None else mask
        counts = {name: int(np.isnan(column[is_used]).sum()) for name, column in numbers.items()}
        return MissingCounts({name: count for name, count in counts.items() if count} or {"": total})

    def _hash_rows(
        self, blocks: list[Any], n_rows: int, mask: Mask | None, targets: Targets, labels: list[Label]
    ) -> TrainingRows:
        hashes = hash_features(self.schema, blocks, n_rows)
        hashes = hashes if mask is None else hashes[mask]
        if self._is_regression:
            add_target_hashes(targets, hashes)
        else:
            add_label_hashes(labels, targets, hashes)
        return TrainingRows.from_hashes(hashes, InputSummary.from_blocks(self.schema, blocks, n_rows, mask))

    def _encode_targets(self, chunk: Chunk) -> tuple[Targets, list[Label]]:
        if self._is_regression:
            return numeric_targets(chunk), []
        return encode_labels(chunk, allows_fractions=self._allows_fractions)

    def _encode_blocks(self, chunk: _ChunkBlocks, *, grow: bool) -> EncodedChunk:
        codes = np.array(
            [self.labels.setdefault(label, len(self.labels)) for label in chunk.labels], dtype=np.int32
        )
        targets = codes[chunk.targets] if len(codes) else chunk.targets
        dense = self.feature_index.to_dense(chunk.blocks)
        rows = EMPTY_ROWS if dense is not None else self.feature_index.to_rows(chunk.blocks, grow=grow)
        return EncodedChunk(rows, targets, chunk.weights, dense)


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
        masks = ((chunk, _weighted_rows(chunk, ignored_classes)) for chunk in chunks)
        chunks = (chunk if mask is None else _with_zero_weights(chunk, ~mask) for chunk, mask in masks)
    fitted = fit_preprocessing(schema, chunks)
    for i, group in enumerate(schema.column_groups):
        if standardisations is not None and group.title in standardisations:
            fitted[i] = standardisations[group.title]
    return FeatureIndex(schema, fitted, dense=dense)


def _weighted_rows(chunk: Chunk, ignored_classes: Collection[Label]) -> Mask | None:
    """Return the rows that have a weight above zero and a class that counts; None means all rows."""
    is_used = np.ones(chunk.n_rows, dtype=bool) if chunk.weights is None else chunk.weights > 0
    if ignored_classes:
        codes, labels = encode_labels(chunk, allows_fractions=True)
        is_used &= ~np.isin(codes, [c for c, label in enumerate(labels) if label in ignored_classes])
    return None if is_used.all() else is_used


def _with_zero_weights(chunk: Chunk, rows: Mask) -> Chunk:
    weights = np.ones(chunk.n_rows) if chunk.weights is None else chunk.weights
    return replace(chunk, weights=np.where(rows, 0.0, weights))


EMPTY_ROWS = SparseRows(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), None, 0)


def _source_changed_error() -> errors.DataError:
    return errors.DataError(
        "The file changed during training; it is read again for every pass. Do not modify it until training "
        "ends."
    )


def numeric_targets(chunk: Chunk) -> Floats:
    """Return the targets of a chunk as finite numbers, or raise LabelError."""
    if chunk.labels is None:
        raise errors.LabelError(
            "There are no targets to learn from. Give the name of the label column, or y: one number per row."
        )
    try:
        numbers = to_numbers(chunk.labels, "label")
    except errors.ColumnError as cause:
        raise _non_numeric_error(chunk) from cause
    is_missing = np.isnan(numbers)
    if is_missing.any():
        raise missing_labels_error(chunk, is_missing, " (NaN)")
    if np.abs(numbers).max(initial=0.0) > MAX_MAGNITUDE:
        raise errors.LabelError(
            f"A label has the magnitude {np.abs(numbers).max():.6g}; squares of numbers above "
            f"{MAX_MAGNITUDE:g} overflow. Divide the labels by the largest magnitude."
        )
    return np.ascontiguousarray(numbers)


def _non_numeric_error(chunk: Chunk) -> errors.LabelError:
    """Return the error for labels of which some are not numbers."""
    labels = to_pylist(chunk.labels)
    is_odd = [not _is_number(label) for label in labels]
    odd = labels[is_odd.index(True)] if any(is_odd) else None
    hint: Text = (
        "For classes ",
        Step("classifiers", "use LogisticRegression, NaiveBayes or Perceptron"),
        ".",
    )
    if isinstance(odd, str) and 2 * sum(is_odd) < len(labels):
        hint = (
            "If it means that the label is missing, say so: ",
            Setting("missing", odd),
            ". ",
            errors.DROP_MISSING_LABELS,
        )
    label = errors.one_line_repr(odd)
    message = f"A regression predicts numbers, but the label {label} is not a number."
    return errors.LabelError(message, hint=hint)


def _is_number(label: Any) -> bool:
    try:
        return not np.isnan(float(label))
    except (TypeError, ValueError, OverflowError):
        return label is None
