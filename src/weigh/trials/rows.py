"""Labelled rows that can be cut into parts, whatever they are stored in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.features.columns import is_gap, to_objects
from weigh.source import Source
from weigh.source import rows as rows_of
from weigh.source.chunk import to_pylist

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows as a learner takes them, without their labels, and one label per row."""

    data: Any
    labels: npt.NDArray[Any]

    @classmethod
    def of(cls, X: Any, y: Any = None) -> LabelledRows:
        """Take labelled rows as `fit` does: y is an array, a column's name, or None of a source."""
        if isinstance(X, Source):
            return cls._read(X if y is None else rows_of(X, y))
        if y is None:
            raise errors.LabelError("The rows have no labels. Give one per row, or the name of their column.")
        labels = _labels(rows_of(X, y))
        return cls(_without(X, y) if isinstance(y, str) else _cuttable(X), labels)

    @classmethod
    def _read(cls, source: Source) -> LabelledRows:
        """Read a source to its end; what is tried again and again has to be in memory."""
        chunks = list(source.chunks())
        if not chunks or chunks[0].labels is None:
            raise errors.LabelError("The rows have no labels. Give the name of their column.")
        if any(chunk.weights is not None for chunk in chunks):
            raise errors.Unsupported("Trials count every row once, and these rows have weights of their own.")
        labels = _column([value for chunk in chunks for value in to_pylist(chunk.labels)])
        _refuse_gaps(labels)
        if chunks[0].wide is not None:
            from scipy.sparse import vstack

            return cls(vstack([chunk.wide for chunk in chunks], format="csr"), labels)
        names = list(chunks[0].columns)
        parts = ([to_objects(chunk.columns[name]) for chunk in chunks] for name in names)
        return cls({name: np.concatenate(part) for name, part in zip(names, parts, strict=True)}, labels)

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, places: Places) -> LabelledRows:
        """Return the rows of these places, in this order."""
        return LabelledRows(_taken(self.data, places), self.labels[places])

    @property
    def is_numeric(self) -> bool:
        """Whether the rows are numbers only, none missing, as scikit-learn's learners want them."""
        if hasattr(self.data, "tocsr"):
            return bool(np.isfinite(self.data.data).all())
        if isinstance(self.data, Mapping | list):
            return False
        if isinstance(self.data, np.ndarray):
            return self.data.dtype.kind in "biuf" and bool(np.isfinite(self.data).all())
        columns = rows_of(self.data).prefix(len(self.labels)).columns.values()
        arrays = [np.asarray(to_objects(column)) for column in columns]
        return all(each.dtype.kind in "biuf" and bool(np.isfinite(each).all()) for each in arrays)


def _labels(source: Source) -> npt.NDArray[Any]:
    labels = _column([value for chunk in source.chunks() for value in to_pylist(chunk.labels)])
    _refuse_gaps(labels)
    return labels


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


def _without(X: Any, label: str) -> Any:
    """Return a table without its column of labels, in the storage that it came in."""
    if isinstance(X, Mapping):
        return {name: _cuttable(column) for name, column in X.items() if name != label}
    if hasattr(X, "iloc"):
        return X.drop(columns=label)
    if hasattr(X, "drop_columns"):
        return X.drop_columns([label])
    if hasattr(X, "drop"):
        return X.drop(label)
    if isinstance(X, list):
        return [{name: value for name, value in row.items() if name != label} for row in X]
    raise errors.LabelError(
        f"Label {label!r} names a column, and {type(X).__name__} cannot be cut into columns. Give y as an "
        f"array of labels."
    )


def _cuttable(X: Any) -> Any:
    """Return rows in a form that `_taken` can cut."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    if isinstance(X, Mapping):
        return {name: _cuttable(column) for name, column in X.items()}
    return list(X) if isinstance(X, tuple) else X


def _taken(data: Any, places: Places) -> Any:
    if isinstance(data, Mapping):
        return {name: _taken(column, places) for name, column in data.items()}
    if isinstance(data, list):
        return [data[place] for place in places.tolist()]
    if hasattr(data, "iloc"):
        return data.iloc[places]
    if hasattr(data, "take") and not isinstance(data, np.ndarray) and not hasattr(data, "tocsr"):
        return data.take(places)
    return data[places]
