"""`rows`: data in memory of any storage as a source."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.errors import (
    MAX_WEIGHT,
    MIN_WEIGHT,
    DataError,
    LabelError,
    unknown_column_error,
    weight_range_error,
    zero_weights_error,
)
from weigh.source.base import ColumnKinds, Source
from weigh.source.chunk import Chunk, Column
from weigh.source.memory.columns import (
    LazyColumn,
    LazyTable,
    base_type_names,
    check_not_empty,
    is_partitioned,
    lazy_column,
)
from weigh.source.memory.conversion import (
    check_array_shape,
    column_names,
    is_scalar,
    table_from_array,
    table_from_frame,
    table_from_mapping,
    table_from_sequence,
    table_from_texts,
)
from weigh.source.memory.matrices import (
    DenseMatrixSource,
    MemorySource,
    SparseMatrixSource,
    is_numeric_matrix,
    is_sparse,
    no_column_names_error,
)
from weigh.source.missing import Marker, MarkerReplacer, to_markers


def rows(
    data: Any,
    label: Any = None,
    weights: Any = None,
    *,
    names: Sequence[str] | None = None,
    missing: Marker | Iterable[Marker] = (),
) -> Source:
    """Return data in memory as a source of chunks.

    Parameters
    ----------
    data : pandas or polars DataFrame, Arrow table or anything with an Arrow C interface, dict of
        columns, dict of scalars (one row), list of dicts (rows), list of lists, list of strings
        (one column 'text'), 2-D or structured NumPy array, scipy.sparse matrix, polars LazyFrame, DuckDB
        relation, Dask or Spark DataFrame, or a Source
    label : one label per row, or the name of a column; None when there are no labels
    weights : one number per row, 0 or from 1e-50 to 1e50, or one for all; None counts every row once
    names : names for the columns of a bare array
    missing : markers in texts and numbers that mean a missing value, such as "?" or -999
    """
    if isinstance(data, Source):
        return _with_new_label(data, label, weights).with_missing(to_markers(missing, "rows"))
    if is_partitioned(data):
        # Imported here because it reads partitions as tables of this module.
        from weigh.source.partitioned.rows import partitioned_source

        return partitioned_source(data, label, weights, to_markers(missing, "rows"))
    if (label is None or isinstance(label, str)) and weights is None and names is None and is_query(data):
        # Imported here because it reads batches as tables of this module.
        from weigh.source.streams import StreamSource

        return StreamSource(data, label, to_markers(missing, "rows"))
    if is_sparse(data):
        if isinstance(label, str):
            raise no_column_names_error(label)
        n = data.shape[0]
        return SparseMatrixSource(data, label_column(label, n), check_weights(weights, n))
    markers = to_markers(missing, "rows")
    if is_numeric_matrix(data) and names is None and not markers and not isinstance(label, str):
        check_array_shape(data.shape)
        n = data.shape[0]
        return DenseMatrixSource(data, label_column(label, n), check_weights(weights, n))
    table = check_not_empty(_to_lazy_table(data, names))
    label_name = str(label) if isinstance(label, str) else None
    if label_name is not None and not table.named:
        raise no_column_names_error(label_name)
    labels = None if label_name is not None else label_column(label, table.n_rows)
    weights = check_weights(weights, table.n_rows)
    return TableSource(table, labels, weights, label=label_name, missing=markers)


_QUERIES = frozenset({"polars.LazyFrame", "_duckdb.DuckDBPyRelation", "duckdb.DuckDBPyRelation"})


def is_query(data: Any) -> bool:
    """Whether data are a query that yields its rows batch by batch, without running it."""
    return bool(base_type_names(data) & _QUERIES)


class TableSource(MemorySource):
    """Columns in memory, sliced into chunks without copying where the storage allows it."""

    def __init__(
        self,
        table: LazyTable,
        labels: LazyColumn | None = None,
        weights: NDArray[np.float64] | None = None,
        *,
        label: str | None = None,
        missing: tuple[Marker, ...] = (),
    ) -> None:
        if label is not None and label not in table.columns:
            raise unknown_column_error(label, table.columns, table.description)
        self.names = tuple(name for name in table.columns if name != label)
        if not self.names:
            raise DataError(f"{table.description} has no column besides the label {label!r}.")
        self.width = len(self.names)
        self.named = table.named
        self.label = label
        self.n_rows: int = table.n_rows
        self._table = table
        self.kinds = table.kinds
        self._labels = labels if label is None else table.columns[label]
        self._labels_have_markers = label is not None
        self._weights = weights
        self.missing = missing
        self._markers = MarkerReplacer(missing)

    def read_rows(self, start: int, stop: int, kinds: ColumnKinds | None) -> Chunk:
        """Return rows start to stop of the columns that are not skipped."""
        names = self.names if not kinds else [name for name in self.names if kinds.get(name) != "skip"]
        columns = {name: self._read_column(self._table.columns[name], start, stop) for name in names}
        weights = None if self._weights is None else self._weights[start:stop]
        labels = self._read_labels(start, stop)
        return Chunk(columns, stop - start, labels=labels, weights=weights, first_row=start)

    def _read_prefix(self, n: int, kinds: ColumnKinds | None) -> Chunk:
        """Read the first rows; columns that cannot be read may be skipped later."""
        try:
            return super()._read_prefix(n, kinds)
        except DataError:
            if kinds is not None or not self.named:
                raise
        unreadable: dict[str, Exception] = {}
        for name in self.names:
            try:
                self._read_column(self._table.columns[name], 0, min(n, self.n_rows))
            except DataError as error:
                unreadable[name] = error
        return replace(super()._read_prefix(n, dict.fromkeys(unreadable, "skip")), unreadable=unreadable)

    def with_label(self, name: str) -> Source:
        """Return the same rows with column `name` as the label."""
        if not self.named:
            raise no_column_names_error(name)
        return TableSource(self._table, None, self._weights, label=name, missing=self.missing)

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        source = copy.copy(self)
        source.missing, source._markers = missing, MarkerReplacer(missing)
        return source

    def _read_column(self, column: LazyColumn, start: int, stop: int) -> Column:
        values = column.read(start, stop)
        return self._markers.apply(values) if self._markers else values

    def _read_labels(self, start: int, stop: int) -> Column | None:
        if self._labels is None:
            return None
        if self._labels_have_markers:
            return self._read_column(self._labels, start, stop)
        return self._labels.read(start, stop)


def _to_lazy_table(data: Any, names: Sequence[str] | None) -> LazyTable:
    """Convert data of any supported type to a table."""
    if isinstance(data, (str, bytes)):
        raise DataError("A single string is not a table. Give a list of strings, or weigh.open(path).")
    table = table_from_mapping(data) if isinstance(data, dict) else table_from_frame(data)
    if table is None:
        table = table_from_texts(data)
    if table is None:
        if isinstance(data, Mapping):
            table = table_from_mapping(data)
        elif isinstance(data, (list, tuple)):
            return table_from_sequence(data, names)
        else:
            return table_from_array(_to_array(data), names)
    if names is None:
        return table
    renamed = column_names(len(table.columns), names)
    columns = dict(zip(renamed, table.columns.values(), strict=True))
    return LazyTable(columns, table.n_rows, True, description=table.description)


def _to_array(data: Any) -> NDArray[Any]:
    if isinstance(data, np.ndarray):
        return data
    array = np.asarray(data)
    if array.ndim == 0:
        raise DataError(
            f"Expected a table, got {type(data).__name__}. Give a frame, an Arrow table, a dict of "
            f"columns, a 2-D array, a scipy.sparse matrix, a list of strings, or weigh.open(path)."
        )
    return array


def label_column(label: Any, n_rows: int) -> LazyColumn | None:
    """Return the labels, one per row, from any array-like."""
    if label is None:
        return None
    if is_scalar(label) or isinstance(label, Mapping):
        raise LabelError(
            f"Labels must be a sequence of one per row, or a column's name, got {type(label).__name__}."
        )
    if "pandas.DataFrame" in base_type_names(label) and label.shape[1] == 1:
        label = label.iloc[:, 0]
    shape = getattr(label, "shape", None)
    if shape is not None and len(shape) != 1:
        if len(shape) != 2 or shape[1] != 1:
            raise LabelError(f"Labels of shape {tuple(shape)} were given; give one label per row.")
        label = np.asarray(label)[:, 0]
    if isinstance(label, np.ndarray) and label.dtype.kind == "c":
        raise DataError("Complex data not supported: the labels are complex numbers.")
    column = lazy_column("label", label)
    if column.length != n_rows:
        raise LabelError(f"There are {column.length:,} labels for {n_rows:,} rows. Give one label per row.")
    return column


def check_weights(weights: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return the weights as float64 within `WEIGHT_RANGE`, one per row."""
    if weights is None:
        return None
    array = _to_floats(weights)
    if array.ndim == 0:
        array = np.full(n_rows, float(array))
    if array.ndim != 1:
        raise DataError(f"Weights have shape {array.shape}. Sample weights must be 1D, one per row.")
    if len(array) != n_rows:
        raise DataError(f"There are {len(array):,} weights for {n_rows:,} rows. Give one per row.")
    is_invalid = ~(np.isfinite(array) & (array >= 0))
    if is_invalid.any():
        row = int(np.argmax(is_invalid))
        raise DataError(f"Weights must be finite and >= 0; row {row:,} has {array[row]}.")
    is_outside = (array > MAX_WEIGHT) | ((array < MIN_WEIGHT) & (array > 0))
    if is_outside.any():
        row = int(np.argmax(is_outside))
        raise weight_range_error(f"The sample weight of row {row:,}", float(array[row]))
    if not array.any():
        raise zero_weights_error()
    return array


def _to_floats(weights: Any) -> NDArray[np.float64]:
    """Return weights as floats; raise DataError for texts, even of digits, and for complex numbers."""
    try:
        array = np.asarray(weights)
        is_object = array.dtype.kind == "O"
        if array.dtype.kind in "biuf" or (is_object and not {str, bytes} & set(map(type, array.flat))):
            return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        pass
    raise DataError("Weights must be numbers, one per row.")


def _with_new_label(source: Source, label: Any, weights: Any) -> Source:
    """Return a source with another label column; labels and weights cannot be added to it."""
    if weights is not None:
        raise DataError("Weights cannot be added to a source; give them where it is created.")
    if label is None or (isinstance(label, str) and label == source.label):
        return source
    if isinstance(label, str):
        return source.with_label(label)
    raise LabelError("Labels cannot be added to a source. Give the name of its label column.")
