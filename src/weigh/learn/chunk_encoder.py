"""Labelled chunks encoded as features: blocks, targets, hashes of the rows, missing numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from weigh import errors
from weigh.advice import Setting, Step, Text
from weigh.features.blocks import CategoryBlock, DenseBlock, Floats, Mask
from weigh.features.columns import to_numbers
from weigh.features.row_hashes import add_label_hashes, add_target_hashes, hash_features
from weigh.features.schema import Schema
from weigh.features.validation import MAX_MAGNITUDE
from weigh.learn.feature_index import FeatureIndex
from weigh.model.counts.bayes_counts import Label, encode_labels, missing_labels_error
from weigh.model.input_summary import InputSummary
from weigh.model.training_rows import TrainingRows
from weigh.source.chunk import Chunk, to_pylist
from weigh.source.sparse_rows import SparseRows

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


class ChunkBlocks(NamedTuple):
    """The blocks of one chunk before their features are indexed; `targets` are codes into `labels`."""

    blocks: list[Any]
    targets: Targets
    labels: list[Label]
    weights: Floats | None
    n_missing: MissingCounts
    rows: TrainingRows


class ChunkEncoder:
    """Encodes labelled chunks as features; new features may be added to the feature index.

    The targets are numbers with `is_regression`, otherwise classes, which may be fractions only if
    `allows_fractions`. Rows of weight zero and of `ignored_classes` are left out.
    """

    def __init__(
        self,
        schema: Schema,
        feature_index: FeatureIndex,
        *,
        is_regression: bool = False,
        ignored_classes: Collection[Label] = (),
        allows_fractions: bool = False,
    ) -> None:
        self.schema, self.feature_index = schema, feature_index
        self._is_regression = is_regression
        self._ignored_classes, self._allows_fractions = ignored_classes, allows_fractions
        self.labels: dict[Label, int] = {}  # code by label, in order of appearance

    def make_blocks(self, chunk: Chunk, *, hashes_rows: bool) -> ChunkBlocks:
        """Return the blocks of a chunk, thread-safely, for `encode_blocks`."""
        targets, labels = self._encode_targets(chunk)
        weights, mask = chunk.weights, weighted_rows(chunk, self._ignored_classes)
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
        return ChunkBlocks(blocks, targets, labels, weights, n_missing, rows)

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

    def encode_blocks(self, chunk: ChunkBlocks, *, grow: bool) -> EncodedChunk:
        """Return blocks as features; without `grow`, new features are dropped."""
        codes = np.array(
            [self.labels.setdefault(label, len(self.labels)) for label in chunk.labels], dtype=np.int32
        )
        targets = codes[chunk.targets] if len(codes) else chunk.targets
        dense = self.feature_index.to_dense(chunk.blocks)
        rows = EMPTY_ROWS if dense is not None else self.feature_index.to_rows(chunk.blocks, grow=grow)
        return EncodedChunk(rows, targets, chunk.weights, dense)


def weighted_rows(chunk: Chunk, ignored_classes: Collection[Label]) -> Mask | None:
    """Return the rows that have a weight above zero and a class that counts; None means all rows."""
    is_used = np.ones(chunk.n_rows, dtype=bool) if chunk.weights is None else chunk.weights > 0
    if ignored_classes:
        codes, labels = encode_labels(chunk, allows_fractions=True)
        is_used &= ~np.isin(codes, [c for c, label in enumerate(labels) if label in ignored_classes])
    return None if is_used.all() else is_used


EMPTY_ROWS = SparseRows(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), None, 0)


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
