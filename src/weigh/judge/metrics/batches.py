"""Read labelled rows in batches, from a source or from rows in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.features.columns import to_objects
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.predictor import Predictor, row_count, to_python_list
from weigh.source.memory.sparse_layout import to_csr

MAX_SCORE_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class LabelledBatch:
    """Rows in the form the model takes, with labels as Python values, weights, and numbers in the data."""

    rows: Any
    labels: list[Any]
    weights: Floats
    numbers: npt.NDArray[np.int64]


def read_batches(
    predictor: Predictor, data: Any, y: Any, label: str | None, weights: Floats | None
) -> Iterator[LabelledBatch]:
    """Yield labelled batches, sized so that the class scores [n, C] of a batch stay near 32 MB."""
    size = max(64, min(65536, MAX_SCORE_CELLS // max(len(predictor.classes), 1)))
    if _is_source(data) or predictor.reads_chunks:
        batches = _source_batches(predictor, data, y, label, size)
    else:
        batches = _table_batches(data, y, label, size)
    start = 0
    for rows, labels, source_weights, numbers in batches:
        stop = start + len(labels)
        numbers = np.arange(start, stop) if numbers is None else numbers
        yield LabelledBatch(rows, labels, _batch_weights(weights, source_weights, start, stop), numbers)
        start = stop
    if start == 0:
        raise errors.DataError("There are no rows to evaluate; give at least one.")
    for name, values in (("y", y), ("sample_weight", weights)):
        if values is not None and row_count(values) != start:
            raise _length_error(name, row_count(values), f"{start:,}")


def check_sample_weights(weights: Any) -> Floats | None:
    """Return sample weights as float64; they must be one finite number >= 0 per row."""
    if weights is None:
        return None
    array = np.asarray(weights)
    is_numeric = array.ndim == 1 and array.dtype.kind in "biuf"
    if not is_numeric or not (np.isfinite(array).all() and (array >= 0).all()):
        raise errors.parameter_error("evaluate", "sample_weight", "one finite number >= 0 per row", weights)
    floats = array.astype(np.float64)
    # Intervals need the squares of the weights, which must not overflow or underflow.
    if floats.any() and not (floats[floats > 0].min() >= 1e-100 and floats.max() <= 1e100):
        must = "0 or between 1e-100 and 1e100 for every row"
        raise errors.parameter_error("evaluate", "sample_weight", must, weights)
    return floats


def _source_batches(
    predictor: Predictor, data: Any, y: Any, label: str | None, size: int
) -> Iterator[tuple[Any, list[Any], Any, Any]]:
    if y is not None:
        row_count(y)  # raises if y has no length
    source = open_source(predictor, data, y, label).with_storage(predictor.storage)
    start = 0
    for chunk in _source_chunks(predictor, source, size):
        stop = start + chunk.n_rows
        labels = chunk.labels if y is None else _slice_rows(y, start, stop)
        if y is not None and predictor.schema is not None:
            labels = predictor.schema.read_labels(np.array(to_python_list(labels), dtype=object))
        if labels is None:
            raise _missing_labels_error()
        if row_count(labels) != chunk.n_rows:
            raise _length_error("y", row_count(y), f"at least {stop:,}")
        rows = chunk if predictor.reads_chunks else _to_sklearn_rows(chunk, predictor.has_named_columns)
        yield rows, to_python_list(labels), chunk.weights, chunk.row_numbers
        start = stop


def _source_chunks(predictor: Predictor, source: Any, size: int) -> Iterator[Any]:
    """Yield chunks in the model's schema, or as the source reads them if the model has none."""
    if predictor.schema is None:
        yield from source.chunks(predictor.kinds, size=size)
        return
    for chunk in predictor.schema.chunks(source):
        for start in range(0, chunk.n_rows, size):
            yield chunk.slice(start, start + size)


def open_source(predictor: Predictor, data: Any, y: Any, label: str | None) -> Any:
    """Open rows with the requested label column, else the source's labels, else the model's label column."""
    from weigh.source.memory.table import rows

    if y is not None:
        return rows(data, missing=predictor.missing)
    if label is None and _is_source(data):
        has_labels = data.label is not None or data.prefix(1).labels is not None
        label = predictor.label if predictor.label in data.names and not has_labels else None
        return rows(data, label, missing=predictor.missing)
    return rows(data, label or predictor.label, missing=predictor.missing)


def _table_batches(
    data: Any, y: Any, label: str | None, size: int
) -> Iterator[tuple[Any, list[Any], None, None]]:
    if y is None:
        data, y = _split_label_column(data, label)
    if hasattr(data, "tocsr"):
        data = to_csr(data)
    n = row_count(data)
    if row_count(y) != n:
        raise _length_error("y", row_count(y), f"{n:,}")
    for start in range(0, n, size):
        yield (
            _slice_rows(data, start, start + size),
            to_python_list(_slice_rows(y, start, start + size)),
            None,
            None,
        )


def _split_label_column(data: Any, label: str | None) -> tuple[Any, Any]:
    if label is None:
        raise _missing_labels_error()
    if not hasattr(data, "columns"):
        raise errors.LabelError(
            f"label={label!r} names a column, but {type(data).__name__} has no named columns. "
            "Give y as an array of labels."
        )
    names = list(data.columns)
    if label not in names:
        raise errors.unknown_column_error(label, map(str, names), "The table")
    return data[[name for name in names if name != label]], data[label]


def _to_sklearn_rows(chunk: Any, named: bool) -> Any:
    """Convert a chunk for scikit-learn: sparse, or a data frame for named columns, or an array."""
    if chunk.sparse is not None:
        from scipy.sparse import csr_matrix

        rows = chunk.sparse
        return csr_matrix((rows.entry_values(), rows.indices, rows.indptr), shape=rows.shape)
    columns = {name: to_objects(column, name) for name, column in chunk.columns.items()}
    return _to_pandas(columns) if named else np.column_stack(list(columns.values()))


def _to_pandas(columns: dict[str, Any]) -> Any:
    try:
        import pandas
    except ImportError:
        raise errors.Unsupported(
            "The classifier was trained on named columns, and passing it rows of a source with their names "
            "needs pandas. Install pandas, or give the rows as you gave them to fit."
        ) from None
    return pandas.DataFrame(columns)


def _batch_weights(sample_weights: Floats | None, source_weights: Any, start: int, stop: int) -> Floats:
    if sample_weights is None:
        weights = check_sample_weights(source_weights)
        return np.ones(stop - start) if weights is None else weights
    if len(sample_weights) < stop:
        raise _length_error("sample_weight", len(sample_weights), f"at least {stop:,}")
    return sample_weights[start:stop]


def check_label_present(label: Any, row: int) -> None:
    """Raise LabelError for a missing label: None, NaN, pandas' NA or NaT."""
    is_nan = isinstance(label, float) and label != label
    if label is None or is_nan or type(label).__name__ in ("NAType", "NaTType"):
        raise errors.LabelError(
            f"Row {row:,} (the first is 0) has no label, so it cannot be evaluated.",
            hint=errors.DROP_MISSING_LABELS,
        )


def _is_source(data: Any) -> bool:
    return hasattr(data, "chunks") and hasattr(data, "prefix")


def _slice_rows(data: Any, start: int, stop: int) -> Any:
    return data.iloc[start:stop] if hasattr(data, "iloc") else data[start:stop]


def _length_error(name: str, got: int, rows: str) -> errors.DataError:
    return errors.DataError(f"{name} has {got:,} values for {rows} rows; give one per row.")


def _missing_labels_error() -> errors.LabelError:
    return errors.LabelError(
        "The rows have no labels to evaluate against. Give y: an array of labels, or the name of the label "
        "column."
    )
