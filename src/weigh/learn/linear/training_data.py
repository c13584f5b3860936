"""Training data for solvers: the rows of a source as one design matrix, with targets and weights."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats, Longs, Mask
from weigh.features.schema import Schema
from weigh.learn.chunk_encoder import EncodedChunk, MissingCounts
from weigh.learn.dataset import Progress, SourceDataset, make_feature_index
from weigh.learn.feature_index import FeatureIndex
from weigh.learn.linear.matrix import DenseMatrix, Matrix, SparseMatrix, binary_features
from weigh.learn.linear.moments import Moments
from weigh.model.counts.bayes_counts import Label
from weigh.model.counts.count_table import is_identity
from weigh.model.training_rows import TrainingRows
from weigh.source.base import Source
from weigh.source.sparse_rows import SparseRows, concatenate_views


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Design matrix in memory; `y` are numeric targets or class indices.

    Features have the indices of `feature_index`, which are not in the order of a model.
    """

    schema: Schema
    feature_index: FeatureIndex
    X: Matrix
    y: Any
    weights: Floats | None
    classes: list[Any]
    n_missing: MissingCounts
    chunks: list[EncodedChunk]  # keeps the memory that the matrix may be a view of
    training_rows: TrainingRows | None = None
    is_binary: Mask | None = None  # features of 0 and 1; None if the matrix has the rows themselves

    @property
    def feature_orders(self) -> list[Longs]:
        """Feature indices of each column group, in the order of a model."""
        return self.feature_index.feature_orders()

    @property
    def feature_names(self) -> Sequence[str]:
        """Feature names by feature index."""
        orders = self.feature_orders
        terms = self.feature_index.build_terms(orders, np.zeros((sum(map(len, orders)), 1)))
        if len(terms) == 1 and is_identity(orders[0], self.feature_index.width):
            names_in_order: Sequence[str] = terms[0].features().names  # there may be millions
            return names_in_order
        names = [""] * self.feature_index.width
        for term, order in zip(terms, orders, strict=True):
            for index, name in zip(order.tolist(), term.features().names, strict=True):
                names[index] = name
        return names

    @property
    def column_features(self) -> list[tuple[str, Longs]]:
        """Feature indices of each column of the table."""
        columns: list[tuple[str, Longs]] = []
        for group, order in zip(self.schema.column_groups, self.feature_orders, strict=True):
            is_one_per_column = group.kind.shares_block and len(group.names) == len(order)
            names = group.names if is_one_per_column else [group.title]
            indices = order.reshape(-1, 1) if is_one_per_column else [order]
            columns += list(zip(names, indices, strict=True))
        return columns


def read_dataset(
    schema: Schema,
    source: Source,
    *,
    is_regression: bool,
    caches_all: bool = True,
    ignored_classes: Collection[Label] = (),
    progress: Progress | None = None,
) -> SourceDataset:
    """Read all rows of a source once; without `caches_all`, a large file is not kept in memory.

    `is_regression` means that the targets are numbers, not classes.
    """
    dataset = SourceDataset(
        schema,
        source,
        make_feature_index(schema, source, ignored_classes, dense=True),
        is_regression=is_regression,
        caches_all=caches_all,
        ignored_classes=ignored_classes,
    )
    return dataset.read_all(progress)


def load_training_data(
    schema: Schema,
    source: Source,
    *,
    is_regression: bool,
    ignored_classes: Collection[Label] = (),
    progress: Progress | None = None,
) -> TrainingData:
    """Read all rows of a source into memory."""
    dataset = read_dataset(
        schema, source, is_regression=is_regression, ignored_classes=ignored_classes, progress=progress
    )
    return build_training_data(schema, dataset, is_regression=is_regression)


def build_training_data(schema: Schema, dataset: SourceDataset, *, is_regression: bool) -> TrainingData:
    """Return the cached rows of a dataset as training data."""
    feature_index, chunks = dataset.feature_index, list(dataset.chunks())
    classes = [] if is_regression else dataset.classes()
    class_indices = None if is_regression else dataset.class_indices(classes)
    targets = [c.targets if class_indices is None else class_indices[c.targets] for c in chunks]
    weights = None
    if dataset.is_weighted:
        weights = np.concatenate(
            [np.ones(len(c.targets)) if c.weights is None else c.weights for c in chunks]
        )
    X, y = stack_chunks(chunks, feature_index.width), concatenate_views(targets)
    rows = dataset.training_rows.finish(feature_index.feature_orders())
    return TrainingData(schema, feature_index, X, y, weights, classes, dataset.n_missing, chunks, rows)


def stack_chunks(chunks: list[EncodedChunk], width: int) -> Matrix:
    """Return encoded chunks as one matrix, a view if they are contiguous in memory."""
    if chunks[0].dense is not None:
        return DenseMatrix(concatenate_views([chunk.dense for chunk in chunks]))
    return SparseMatrix(SparseRows.concatenate([chunk.rows for chunk in chunks], width))


def compress_dataset(
    schema: Schema, dataset: SourceDataset, has_intercept: bool
) -> tuple[TrainingData, Moments]:
    """Compress a dataset to width + 1 rows with the same squared loss for all weights.

    The rows are a square root of the moments of (X, y), from an eigendecomposition. With an intercept they
    are centred, so the compressed problem has no intercept. Also returns the centred moments of the whole
    dataset.
    """
    is_binary = np.ones(dataset.feature_index.width, dtype=bool)
    moments = Moments.from_batches(_iter_batches(dataset, is_binary))
    rows = dataset.training_rows
    return compress_moments(
        schema, dataset.feature_index, moments, has_intercept, is_binary, dataset.n_missing, rows
    )


def compress_moments(
    schema: Schema,
    feature_index: FeatureIndex,
    moments: Moments,
    has_intercept: bool,
    is_binary: Mask,
    n_missing: MissingCounts,
    record: TrainingRows,
) -> tuple[TrainingData, Moments]:
    """Return width + 1 rows with these centred moments as training data, and the moments."""
    used = moments if has_intercept else moments.without_intercept()
    gram = np.empty((moments.width + 1, moments.width + 1))
    gram[:-1, :-1] = used.gram
    gram[-1, :-1] = gram[:-1, -1] = used.cross
    gram[-1, -1] = used.yy
    scale = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    scale[scale == 0] = 1.0
    # Scaling keeps the digits of columns of small numbers beside columns of large ones.
    values, vectors = algebra.eigh(gram / scale[:, None] / scale[None, :])
    rows = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T * scale
    X = DenseMatrix(np.ascontiguousarray(rows[:, :-1]))
    y = np.ascontiguousarray(rows[:, -1])
    training_rows = record.finish(feature_index.feature_orders())
    data = TrainingData(schema, feature_index, X, y, None, [], n_missing, [], training_rows, is_binary)
    return data, moments


def _iter_batches(dataset: SourceDataset, is_binary: Mask) -> Iterator[tuple[Matrix, Floats, Floats | None]]:
    """Yield matrix, targets and weights of the chunks; `is_binary` becomes false for features beyond 0, 1."""
    for chunk in dataset.chunks():
        if len(chunk.targets):
            X = stack_chunks([chunk], dataset.feature_index.width)
            is_binary &= binary_features(X)
            yield X, chunk.targets, chunk.weights
