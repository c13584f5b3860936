"""Labelled rows that can be cut into parts, whatever they are stored in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing

from weigh import errors
from weigh.features.columns import is_gap, to_objects
from weigh.learn.measured import measured
from weigh.source import Chunk, Source
from weigh.source import rows as rows_of
from weigh.source.chunk import to_pylist
from weigh.source.columns import origins
from weigh.source.sparse import is_sparse

Places = npt.NDArray[np.int64]

FRAMES = {"pandas.DataFrame", "polars.DataFrame"}


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows as a learner takes them, without their labels, and one label per row.

    `data` is what scikit-learn can cut by rows (an array, a sparse matrix, a frame, a list), or a mapping
    from names to such columns. `classes` is how many different labels there are, in parts that of the whole.
    """

    data: Any
    labels: npt.NDArray[Any]
    classes: int

    @classmethod
    def of(cls, X: Any, y: Any = None) -> LabelledRows:
        """Take labelled rows as `fit` does: y is an array, a column's name, or None of a source."""
        if y is None and not isinstance(X, Source):
            raise errors.LabelError("The rows have no labels. Give one per row, or the name of their column.")
        chunks = list((X if y is None else rows_of(X, y)).chunks())
        labels, data = _labels(chunks), _as_given(X, y)
        return cls(_columns(chunks) if data is None else data, labels, len(set(labels.tolist())))

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, places: Places) -> LabelledRows:
        """Return the rows of these places, in this order."""
        return LabelledRows(_taken(self.data, places), self.labels[places], self.classes)

    def with_data(self, data: Any) -> LabelledRows:
        """Return the same labels with the rows in another form."""
        return LabelledRows(data, self.labels, self.classes)

    def measured(self) -> LabelledRows:
        """Return the same rows labelled with the numbers that a regression learns; others are refused."""
        return LabelledRows(self.data, measured(Chunk({}, len(self), labels=self.labels)), self.classes)

    def numbers(self) -> Any:
        """Return the rows as one matrix, missing numbers as NaN; None where a column holds anything else."""
        if is_sparse(self.data) or (isinstance(self.data, np.ndarray) and self.data.dtype.kind in "biuf"):
            return self.data
        found = []
        for column in _columns(list(rows_of(self.data).chunks())).values():
            numbers = _numbers(column)
            if numbers is None:
                return None
            found.append(numbers)
        return np.column_stack(found)


def _labels(chunks: Sequence[Chunk]) -> npt.NDArray[Any]:
    if not chunks or chunks[0].labels is None:
        raise errors.LabelError("The rows have no labels. Give the name of their column.")
    if any(chunk.weights is not None for chunk in chunks):
        raise errors.Unsupported("Trials count every row once, and these rows have weights of their own.")
    labels = [value for chunk in chunks for value in to_pylist(chunk.labels)]
    _refuse_gaps(labels)
    return _column(labels)


def _column(values: list[Any]) -> npt.NDArray[Any]:
    """Return values as an array of their own type where they share one."""
    types = set(map(type, values))
    if types <= {int, float} or (len(types) == 1 and types <= {bool, str}):
        return np.array(values)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _refuse_gaps(labels: Iterable[Any]) -> None:
    for row, label in enumerate(labels):
        if is_gap(label):
            raise errors.LabelError(f"Row {row:,} (the first is 0) has no label. Leave such rows out.")
        if isinstance(label, list | set | dict | np.ndarray):
            raise errors.several_labels("lists")


def _as_given(X: Any, y: Any) -> Any:
    """Return rows that scikit-learn can cut in the storage they came in, without labels; None of others."""
    if origins(X) & FRAMES:
        return X[[name for name in X.columns if name != y]] if isinstance(y, str) else X
    if is_sparse(X):
        return X.tocsr()
    return X if isinstance(X, np.ndarray | list | tuple) and not isinstance(y, str) else None


def _columns(chunks: Sequence[Chunk]) -> Any:
    """Return the rows by column; what is tried again and again has to be in memory."""
    if chunks[0].wide is not None:
        from scipy.sparse import vstack

        return vstack([chunk.wide for chunk in chunks], format="csr")
    names = list(chunks[0].columns)
    parts = ([to_objects(chunk.columns[name]) for chunk in chunks] for name in names)
    return {name: np.concatenate(part) for name, part in zip(names, parts, strict=True)}


def _taken(data: Any, places: Places) -> Any:
    if isinstance(data, Mapping):
        return {name: column[places] for name, column in data.items()}
    return _safe_indexing(data, places)


def _numbers(column: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Return a column as numbers; None where it holds something else."""
    if column.dtype.kind != "O":
        return column if column.dtype.kind in "biuf" else None
    known = [value for value in column.tolist() if not is_gap(value)]
    if not known or not all(isinstance(value, int | float) for value in known):
        return None
    return np.array([np.nan if is_gap(value) else value for value in column.tolist()], np.float64)
