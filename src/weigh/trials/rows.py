"""Labelled rows that can be indexed by row, in any storage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing

from weigh import errors
from weigh.features.columns import is_missing, to_objects
from weigh.features.label_numbers import detect_label_numbers, read_labels
from weigh.learn.chunk_encoder import numeric_targets
from weigh.source.base import Source
from weigh.source.chunk import Chunk, to_pylist
from weigh.source.memory.columns import base_type_names
from weigh.source.memory.matrices import is_sparse
from weigh.source.memory.table import check_weights
from weigh.source.memory.table import rows as rows_of
from weigh.source.sparse_rows import SparseRows

RowIndices = npt.NDArray[np.int64]

FRAME_TYPES = {"pandas.DataFrame", "polars.DataFrame"}


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows in the form that learners accept, without their labels, and one label per row.

    `data` is anything that scikit-learn can index by row (array, sparse matrix, data frame, list), or a
    mapping from column names to arrays. `n_classes` is the number of distinct labels; subsets keep the
    number of the whole. `weights` is None if all rows count alike.
    """

    data: Any
    labels: npt.NDArray[Any]
    n_classes: int
    weights: npt.NDArray[np.float64] | None = None

    @classmethod
    def of(cls, X: Any, y: Any = None, sample_weight: Any = None) -> LabelledRows:
        """Read labelled rows as `fit` does: y is an array, a column name, or None for a source."""
        if y is None and not isinstance(X, Source):
            raise errors.LabelError(
                "The rows have no labels. Give one label per row, or the name of the label column."
            )
        chunks = list((X if y is None else rows_of(X, y)).chunks())
        labels, data = _read_labels(chunks), _indexable_rows(X, y)
        weights = (
            _read_weights(chunks) if sample_weight is None else check_weights(sample_weight, len(labels))
        )
        n_classes = len(set(labels.tolist()))
        return cls(_read_columns(chunks) if data is None else data, labels, n_classes, weights)

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, indices: RowIndices) -> LabelledRows:
        """Return the rows at these indices, in this order."""
        weights = None if self.weights is None else self.weights[indices]
        return LabelledRows(_take_rows(self.data, indices), self.labels[indices], self.n_classes, weights)

    def with_data(self, data: Any) -> LabelledRows:
        """Return the same labels with other data."""
        return replace(self, data=data)

    def with_numeric_labels(self) -> LabelledRows:
        """Return the same rows with their labels as floats; raises if a label is not a number."""
        found = detect_label_numbers(self.labels)
        labels = self.labels if found is None else read_labels(self.labels, found.reading)
        return replace(self, labels=numeric_targets(Chunk({}, len(self), labels=labels)))

    def to_matrix(self) -> Any:
        """Return the rows as one matrix with NaN for missing values, or None if a column is not numeric."""
        if is_sparse(self.data) or (isinstance(self.data, np.ndarray) and self.data.dtype.kind in "biuf"):
            return self.data
        columns = []
        for column in _read_columns(list(rows_of(self.data).chunks())).values():
            numbers = _numeric_column(column)
            if numbers is None:
                return None
            columns.append(numbers)
        return np.column_stack(columns)


def _read_labels(chunks: Sequence[Chunk]) -> npt.NDArray[Any]:
    if not chunks or chunks[0].labels is None:
        raise errors.LabelError("The rows have no labels. Give the name of the label column.")
    labels = [value for chunk in chunks for value in to_pylist(chunk.labels)]
    _check_labels(labels)
    return _to_array(labels)


def _read_weights(chunks: Sequence[Chunk]) -> npt.NDArray[np.float64] | None:
    weights = [chunk.weights for chunk in chunks if chunk.weights is not None]
    return np.concatenate(weights) if weights else None


def _to_array(values: list[Any]) -> npt.NDArray[Any]:
    """Return values as a typed array if they share a type, otherwise as objects."""
    types = set(map(type, values))
    if types <= {int, float} or (len(types) == 1 and types <= {bool, str}):
        return np.array(values)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _check_labels(labels: Iterable[Any]) -> None:
    for row, label in enumerate(labels):
        if is_missing(label):
            raise errors.LabelError(
                f"Row {row:,} (the first is 0) has no label.", hint=errors.DROP_MISSING_LABELS
            )
        if isinstance(label, list | set | dict | np.ndarray):
            raise errors.multiple_labels_error("lists")


def _indexable_rows(X: Any, y: Any) -> Any:
    """Return X without its labels if scikit-learn can index it by row, otherwise None."""
    if base_type_names(X) & FRAME_TYPES:
        return X[[name for name in X.columns if name != y]] if isinstance(y, str) else X
    if is_sparse(X):
        return X.tocsr()
    return X if isinstance(X, np.ndarray | list | tuple) and not isinstance(y, str) else None


def _read_columns(chunks: Sequence[Chunk]) -> Any:
    """Return all chunks in memory, as one sparse matrix or as a mapping from names to columns."""
    if chunks[0].sparse is not None:
        from scipy.sparse import csr_matrix

        sparse = [chunk.sparse for chunk in chunks if chunk.sparse is not None]
        rows = SparseRows.concatenate(sparse, sparse[0].width)
        return csr_matrix((rows.entry_values(), rows.indices, rows.indptr), shape=rows.shape)
    names = list(chunks[0].columns)
    parts = ([to_objects(chunk.columns[name], name) for chunk in chunks] for name in names)
    return {name: np.concatenate(part) for name, part in zip(names, parts, strict=True)}


def _take_rows(data: Any, indices: RowIndices) -> Any:
    if isinstance(data, Mapping):
        return {name: column[indices] for name, column in data.items()}
    return _safe_indexing(data, indices)


def _numeric_column(column: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Return a column as numbers, or None if it contains anything else."""
    if column.dtype.kind != "O":
        return column if column.dtype.kind in "biuf" else None
    present = [value for value in column.tolist() if not is_missing(value)]
    if not present or not all(isinstance(value, int | float) for value in present):
        return None
    return np.array([np.nan if is_missing(value) else value for value in column.tolist()], np.float64)
