"""The rows of a source gathered for solvers: one matrix, targets, weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import algebra
from weigh.features import Schema
from weigh.features.blocks import Floats, Longs
from weigh.learn.dataset import EncodedChunk, Progress, SourceDataset
from weigh.learn.feature_index import FeatureIndex
from weigh.learn.linear.matrix import DenseMatrix, Matrix, SparseMatrix
from weigh.learn.linear.moments import Moments
from weigh.learn.preprocessing import fit_preprocessing, needs_first_pass
from weigh.source import Source


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Rows in memory over the features of a space; `y` are numbers, or places among the classes.

    Features have the numbers of the space, which are not in the order of a model.
    """

    schema: Schema
    feature_index: FeatureIndex
    X: Matrix
    y: Any
    weights: Floats | None
    classes: list[Any]
    n_missing: int
    chunks: list[EncodedChunk]  # the pieces that the matrix may be a view of

    @property
    def feature_orders(self) -> list[Longs]:
        """The numbers of each part's features in the order of a model."""
        return self.feature_index.feature_orders()

    @property
    def feature_names(self) -> list[str]:
        """The features' names by their numbers."""
        orders, found = self.feature_orders, [""] * self.feature_index.width
        terms = self.feature_index.build_terms(orders, np.zeros((sum(map(len, orders)), 1)))
        for term, order in zip(terms, orders, strict=True):
            for at, name in zip(order.tolist(), term.features().names, strict=True):
                found[at] = name
        return found

    @property
    def column_features(self) -> list[tuple[str, Longs]]:
        """Which features each column of the table has."""
        found: list[tuple[str, Longs]] = []
        for part, own in zip(self.schema.column_groups, self.feature_orders, strict=True):
            together = part.kind.shares_block and len(part.names) == len(own)
            names = part.names if together else [part.title]
            places = own.reshape(-1, 1) if together else [own]
            found += list(zip(names, places, strict=True))
        return found


def read_dataset(
    schema: Schema, source: Source, *, measured: bool, keeps: bool = True, progress: Progress | None = None
) -> SourceDataset:
    """Read all rows of a source for the first time; unless it `keeps` them a large file's are not held."""
    prepared = fit_preprocessing(schema, schema.chunks(source)) if needs_first_pass(schema) else {}
    space = FeatureIndex(schema, prepared, dense=True)
    return SourceDataset(schema, source, space, measured=measured, keeps=keeps).read_all(progress)


def load_training_data(
    schema: Schema, source: Source, *, measured: bool, progress: Progress | None = None
) -> TrainingData:
    """Read all rows of a source into memory."""
    return build_training_data(
        schema, read_dataset(schema, source, measured=measured, progress=progress), measured=measured
    )


def build_training_data(schema: Schema, reading: SourceDataset, *, measured: bool) -> TrainingData:
    """Return the rows that a reading has kept."""
    space, held = reading.feature_index, list(reading.chunks())
    classes = [] if measured else reading.classes()
    places = None if measured else reading.class_indices(classes)
    targets = [part.targets if places is None else places[part.targets] for part in held]
    weights = None
    if reading.is_weighted:
        weights = np.concatenate(
            [_unit_weights(part) if part.weights is None else part.weights for part in held]
        )
    X = stack_chunks(held, space.width)
    return TrainingData(
        schema, space, X, concatenate_views(targets), weights, classes, reading.n_missing, held
    )


def _unit_weights(part: EncodedChunk) -> Floats:
    return np.ones(len(part.targets))


def stack_chunks(held: list[EncodedChunk], width: int) -> Matrix:
    """Return encoded rows as one matrix, a view of them where they lie one after the other."""
    if held[0].dense is not None:
        return DenseMatrix(concatenate_views([part.dense for part in held]))
    rows = [part.rows for part in held]
    sizes = np.concatenate([np.diff(each.indptr) for each in rows])
    indptr: Longs = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=indptr[1:])
    indices = [each.indices[each.indptr[0] : each.indptr[-1]] for each in rows]
    values: list[Any] = [
        None if each.values is None else each.values[each.indptr[0] : each.indptr[-1]] for each in rows
    ]
    if all(each is None for each in values):
        return SparseMatrix(indptr, concatenate_views(indices), None, width)
    filled = [
        np.ones(len(index)) if each is None else each for each, index in zip(values, indices, strict=True)
    ]
    return SparseMatrix(indptr, concatenate_views(indices), concatenate_views(filled), width)


def concatenate_views(pieces: Sequence[Any]) -> Any:
    """Return the pieces as one array; it is a view if they are consecutive rows of one."""
    first = pieces[0]
    if len(pieces) == 1:
        return first
    begin = _data_address(first)
    for piece in pieces:
        same = piece.dtype == first.dtype and piece.strides == first.strides
        # Without a common owner nothing would keep the memory of the later pieces.
        if not same or _data_address(piece) != begin or _memory_owner(piece) is not _memory_owner(first):
            return np.concatenate(pieces)
        begin += len(piece) * piece.strides[0]
    shape = (sum(map(len, pieces)), *first.shape[1:])
    return np.lib.stride_tricks.as_strided(first, shape, first.strides, writeable=False)


def _memory_owner(array: Any) -> Any:
    """Return the object whose memory an array is a view of."""
    while getattr(array, "base", None) is not None:
        array = array.base
    return array


def _data_address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def compress_dataset(schema: Schema, reading: SourceDataset, bias: bool) -> tuple[TrainingData, Moments]:
    """Return as many rows as there are features, and one, for which squared loss is what it is for all.

    With a bias they are counted from the means, so none is left to learn. Of the whole its moments are
    returned, from the means in any case.
    """
    whole = Moments.from_batches(_iter_batches(reading))
    counted = whole if bias else whole.without_intercept()
    table = np.empty((whole.width + 1, whole.width + 1))
    table[:-1, :-1] = counted.gram
    table[-1, :-1] = table[:-1, -1] = counted.cross
    table[-1, -1] = counted.yy
    size = np.sqrt(np.maximum(np.diagonal(table), 0.0))
    size[size == 0] = 1.0
    # Scaled, so that columns of small numbers keep their digits beside those of large ones.
    values, vectors = algebra.eigh(table / size[:, None] / size[None, :])
    rows = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T * size
    X = DenseMatrix(np.ascontiguousarray(rows[:, :-1]))
    y = np.ascontiguousarray(rows[:, -1])
    return TrainingData(schema, reading.feature_index, X, y, None, [], reading.n_missing, []), whole


def _iter_batches(reading: SourceDataset) -> Iterator[tuple[Matrix, Floats, Floats | None]]:
    for part in reading.chunks():
        if len(part.targets):
            yield stack_chunks([part], reading.feature_index.width), part.targets, part.weights
