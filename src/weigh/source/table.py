"""`rows`: data in memory, of whatever storage, as a source."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.errors import DataError, LabelError, unknown_column
from weigh.source.arrays import (
    check_array,
    default_names,
    from_array,
    from_mapping,
    from_sequence,
    from_texts,
    is_scalar,
)
from weigh.source.base import CHUNK_ROWS, Kinds, Source, check_size, kept
from weigh.source.chunk import Chunk, Column
from weigh.source.columns import Field, Fields, check_shape, column_field, origins
from weigh.source.frames import from_frame
from weigh.source.matrix import MatrixSource, is_matrix
from weigh.source.missing import Marker, Markers, marker_list
from weigh.source.sparse import SparseSource, is_sparse, no_named_columns


def rows(
    data: Any,
    label: Any = None,
    weights: Any = None,
    *,
    names: Sequence[str] | None = None,
    missing: Marker | Iterable[Marker] = (),
) -> Source:
    """Data in memory as a source of chunks.

    Parameters
    ----------
    data : pandas or polars DataFrame, Arrow table or anything with an Arrow C interface, dict of
        columns, dict of scalars (one row), list of dicts (rows), list of lists, list of strings
        (one column 'text'), 2-D or structured NumPy array, scipy.sparse matrix, or a Source
    label : one label per row, or the name of a column; None when there are no labels
    weights : one finite number >= 0 per row, or one for all; None counts every row once
    names : names for the columns of a bare array
    missing : markers in texts and numbers that mean a missing value, such as "?" or -999
    """
    if isinstance(data, Source):
        return _relabelled(data, label, weights).marked(marker_list(missing, "rows"))
    if is_sparse(data):
        if isinstance(label, str):
            raise no_named_columns(label)
        n = data.shape[0]
        return SparseSource(data, label_field(label, n), check_weights(weights, n))
    marks = marker_list(missing, "rows")
    if is_matrix(data) and names is None and not marks and not isinstance(label, str):
        check_array(data.shape)
        n = data.shape[0]
        return MatrixSource(data, label_field(label, n), check_weights(weights, n))
    fields = check_shape(_fields(data, names))
    label_name = str(label) if isinstance(label, str) else None
    if label_name is not None and not fields.named:
        raise no_named_columns(label_name)
    labels = None if label_name is not None else label_field(label, fields.n_rows)
    return TableSource(
        fields,
        labels,
        check_weights(weights, fields.n_rows),
        label=label_name,
        missing=marks,
    )


class TableSource(Source):
    """Columns in memory, cut into chunks without copying where the storage allows it."""

    def __init__(
        self,
        fields: Fields,
        labels: Field | None = None,
        weights: NDArray[np.float64] | None = None,
        *,
        label: str | None = None,
        missing: tuple[Marker, ...] = (),
    ) -> None:
        if label is not None and label not in fields.columns:
            raise unknown_column(label, fields.columns, fields.what)
        self.names = tuple(name for name in fields.columns if name != label)
        if not self.names:
            raise DataError(f"{fields.what} has no column besides the label {label!r}.")
        self.width = len(self.names)
        self.named = fields.named
        self.label = label
        self.n_rows: int = fields.n_rows
        self._fields = fields
        self.kinds = fields.kinds
        self._labels = labels if label is None else fields.columns[label]
        self._marked_labels = label is not None
        self._weights = weights
        self.missing = missing
        self._markers = Markers(missing)

    def chunks(self, kinds: Kinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Read all rows from the start, at most `size` at a time."""
        check_size(size)
        columns = {name: self._fields.columns[name] for name in kept(self.names, kinds)}
        weights = self._weights
        for start in range(0, self.n_rows, size):
            stop = min(start + size, self.n_rows)
            yield Chunk(
                {name: self._cut(column, start, stop) for name, column in columns.items()},
                stop - start,
                labels=self._cut_labels(start, stop),
                weights=None if weights is None else weights[start:stop],
                first_row=start,
            )

    def labelled(self, name: str) -> Source:
        """The same rows with column `name` as their label."""
        if not self.named:
            raise no_named_columns(name)
        return TableSource(self._fields, None, self._weights, label=name, missing=self.missing)

    def _marked(self, missing: tuple[Marker, ...]) -> Source:
        marked = copy.copy(self)
        marked.missing, marked._markers = missing, Markers(missing)
        return marked

    def _cut(self, column: Field, start: int, stop: int) -> Column:
        piece = column.cut(start, stop)
        return self._markers.apply(piece) if self._markers else piece

    def _cut_labels(self, start: int, stop: int) -> Column | None:
        if self._labels is None:
            return None
        if self._marked_labels:
            return self._cut(self._labels, start, stop)
        return self._labels.cut(start, stop)


def _fields(data: Any, names: Sequence[str] | None) -> Fields:
    """The columns of data, by what data is."""
    if isinstance(data, (str, bytes)):
        raise DataError("A single string is not a table. Give a list of strings, or weigh.open(path).")
    fields = from_frame(data)
    if fields is None:
        fields = from_texts(data)
    if fields is None:
        if isinstance(data, Mapping):
            fields = from_mapping(data)
        elif isinstance(data, (list, tuple)):
            return from_sequence(data, names)
        else:
            return from_array(_array(data), names)
    if names is None:
        return fields
    called = default_names(len(fields.columns), names)
    columns = dict(zip(called, fields.columns.values(), strict=True))
    return Fields(columns, fields.n_rows, True, what=fields.what)


def _array(data: Any) -> NDArray[Any]:
    if isinstance(data, np.ndarray):
        return data
    array = np.asarray(data)
    if array.ndim == 0:
        raise DataError(
            f"Expected a table, got {type(data).__name__}. Give a frame, an Arrow table, a dict of "
            f"columns, a 2-D array, a scipy.sparse matrix, a list of strings, or weigh.open(path)."
        )
    return array


def label_field(label: Any, n_rows: int) -> Field | None:
    """Labels, one per row, from any array-like."""
    if label is None:
        return None
    if is_scalar(label) or isinstance(label, Mapping):
        raise LabelError(
            f"Labels must be a sequence of one per row, or a column's name, got {type(label).__name__}."
        )
    if "pandas.DataFrame" in origins(label) and label.shape[1] == 1:
        label = label.iloc[:, 0]
    shape = getattr(label, "shape", None)
    if shape is not None and len(shape) != 1:
        if len(shape) != 2 or shape[1] != 1:
            raise LabelError(f"Labels of shape {tuple(shape)} were given; give one label per row.")
        label = np.asarray(label)[:, 0]
    if isinstance(label, np.ndarray) and label.dtype.kind == "c":
        raise DataError("Complex data not supported: the labels are complex numbers.")
    field = column_field("label", label)
    if field.length != n_rows:
        raise LabelError(f"There are {field.length:,} labels for {n_rows:,} rows. Give one label per row.")
    return field


def check_weights(weights: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Weights as finite float64 >= 0, one per row."""
    if weights is None:
        return None
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("Weights must be numbers, one per row.") from None
    if array.ndim == 0:
        array = np.full(n_rows, float(array))
    if array.ndim != 1:
        raise DataError(f"Weights have shape {array.shape}. Sample weights must be 1D, one per row.")
    if len(array) != n_rows:
        raise DataError(f"There are {len(array):,} weights for {n_rows:,} rows. Give one per row.")
    wrong = ~(np.isfinite(array) & (array >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"Weights must be finite and >= 0; row {row:,} has {array[row]}.")
    if not array.any():
        raise DataError("All weights are zero, so no row counts. Give one row at least a weight above zero.")
    return array


def _relabelled(source: Source, label: Any, weights: Any) -> Source:
    """A source given again: only the name of its label may be added."""
    if weights is not None:
        raise DataError("Weights cannot be added to a source; give them where it is made.")
    if label is None or (isinstance(label, str) and label == source.label):
        return source
    if isinstance(label, str):
        return source.labelled(label)
    raise LabelError("Labels cannot be added to a source. Give the name of its label column.")
