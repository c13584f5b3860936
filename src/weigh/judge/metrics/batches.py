"""Labelled rows in batches, from a source or from the rows as they were given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.columns import to_objects
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.predictor import Predictor, row_count, to_python_list

MAX_SCORE_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class LabelledBatch:
    """Rows as the classifier takes them, with their labels as Python values and their weights."""

    rows: Any
    labels: list[Any]
    weights: Floats


def read_batches(
    subject: Predictor, data: Any, y: Any, label: str | None, weights: Floats | None
) -> Iterator[LabelledBatch]:
    """Read labelled rows; a batch's table of class scores stays near 32 MB for any many classes."""
    size = max(64, min(65536, MAX_SCORE_CELLS // max(len(subject.classes), 1)))
    if _is_source(data) or subject.reads_chunks:
        pieces = _source_batches(subject, data, y, label, size)
    else:
        pieces = _table_batches(data, y, label, size)
    start = 0
    for rows, labels, own in pieces:
        stop = start + len(labels)
        yield LabelledBatch(rows, labels, _batch_weights(weights, own, start, stop))
        start = stop
    if start == 0:
        raise errors.DataError("There are no rows to evaluate; give at least one.")
    for name, given in (("y", y), ("sample_weight", weights)):
        if given is not None and row_count(given) != start:
            raise _length_error(name, row_count(given), f"{start:,}")


def check_sample_weights(weights: Any) -> Floats | None:
    """Sample weights as float64: one per row, finite, none negative."""
    if weights is None:
        return None
    given = np.asarray(weights)
    fit = given.ndim == 1 and given.dtype.kind in "biuf"
    if not fit or not (np.isfinite(given).all() and (given >= 0).all()):
        raise errors.parameter_error("evaluate", "sample_weight", "one finite number >= 0 per row", weights)
    found = given.astype(np.float64)
    # The squares of others are no numbers any more, and intervals need them.
    if found.any() and not (found[found > 0].min() >= 1e-100 and found.max() <= 1e100):
        must = "0 or between 1e-100 and 1e100 for every row"
        raise errors.parameter_error("evaluate", "sample_weight", must, weights)
    return found


def _source_batches(
    subject: Predictor, data: Any, y: Any, label: str | None, size: int
) -> Iterator[tuple[Any, list[Any], Any]]:
    if y is not None:
        row_count(y)  # refuses what cannot be cut
    source = _open_source(subject, data, y, label).with_storage(subject.storage)
    start = 0
    for chunk in _source_chunks(subject, source, size):
        stop = start + chunk.n_rows
        labels = chunk.labels if y is None else _slice_rows(y, start, stop)
        if labels is None:
            raise _missing_labels_error()
        if row_count(labels) != chunk.n_rows:
            raise _length_error("y", row_count(y), f"at least {stop:,}")
        taken = chunk if subject.reads_chunks else _to_sklearn_rows(chunk, subject.has_named_columns)
        yield taken, to_python_list(labels), chunk.weights
        start = stop


def _source_chunks(subject: Predictor, source: Any, size: int) -> Iterator[Any]:
    """Read in the schema of a model that has one, else as the source gives the rows."""
    if subject.schema is None:
        yield from source.chunks(subject.kinds, size=size)
        return
    for chunk in subject.schema.chunks(source):
        for start in range(0, chunk.n_rows, size):
            yield chunk.slice(start, start + size)


def _open_source(subject: Predictor, data: Any, y: Any, label: str | None) -> Any:
    """Labelled by the column asked for, else by the source's own labels, else by the model's."""
    from weigh.source import rows

    if y is not None:
        return rows(data, missing=subject.missing)
    if label is None and _is_source(data):
        has_labels = data.label is not None or data.prefix(1).labels is not None
        known = subject.label in data.names
        return rows(data, subject.label if known and not has_labels else None, missing=subject.missing)
    return rows(data, label or subject.label, missing=subject.missing)


def _table_batches(data: Any, y: Any, label: str | None, size: int) -> Iterator[tuple[Any, list[Any], None]]:
    if y is None:
        data, y = _split_label_column(data, label)
    if hasattr(data, "tocsr"):
        data = data.tocsr()
    n = row_count(data)
    if row_count(y) != n:
        raise _length_error("y", row_count(y), f"{n:,}")
    for start in range(0, n, size):
        yield (
            _slice_rows(data, start, start + size),
            to_python_list(_slice_rows(y, start, start + size)),
            None,
        )


def _split_label_column(data: Any, label: str | None) -> tuple[Any, Any]:
    if label is None:
        raise _missing_labels_error()
    if not hasattr(data, "columns"):
        raise errors.LabelError(
            f"Label {label!r} names a column, and {type(data).__name__} has no named columns. "
            "Give y as an array of labels."
        )
    names = list(data.columns)
    if label not in names:
        raise errors.unknown_column_error(label, map(str, names), "The table")
    return data[[name for name in names if name != label]], data[label]


def _to_sklearn_rows(chunk: Any, named: bool) -> Any:
    """A chunk in a form that scikit-learn takes: sparse, a frame for trained names, or an array."""
    if chunk.sparse is not None:
        return chunk.sparse
    columns = {name: to_objects(column) for name, column in chunk.columns.items()}
    return _to_pandas(columns) if named else np.column_stack(list(columns.values()))


def _to_pandas(columns: dict[str, Any]) -> Any:
    try:
        import pandas
    except ImportError:
        raise errors.Unsupported(
            "The classifier was trained on named columns, and a source's rows keep their names for it only "
            "in a pandas table. Install pandas, or give the rows as you gave them to fit."
        ) from None
    return pandas.DataFrame(columns)


def _batch_weights(given: Floats | None, own: Any, start: int, stop: int) -> Floats:
    if given is None:
        found = check_sample_weights(own)
        return np.ones(stop - start) if found is None else found
    if len(given) < stop:
        raise _length_error("sample_weight", len(given), f"at least {stop:,}")
    return given[start:stop]


def check_label_present(label: Any, row: int) -> None:
    """Refuse a label that stands for none: None, NaN, pandas' NA and NaT."""
    nan = isinstance(label, float) and label != label
    if label is None or nan or type(label).__name__ in ("NAType", "NaTType"):
        raise errors.LabelError(
            f"Row {row:,} (the first is 0) has no label. "
            "Leave out the rows without a label; they cannot be judged."
        )


def _is_source(data: Any) -> bool:
    return hasattr(data, "chunks") and hasattr(data, "prefix")


def _slice_rows(data: Any, start: int, stop: int) -> Any:
    return data.iloc[start:stop] if hasattr(data, "iloc") else data[start:stop]


def _length_error(name: str, got: int, rows: str) -> errors.DataError:
    return errors.DataError(f"{name} has {got:,} values for {rows} rows; give one per row.")


def _missing_labels_error() -> errors.LabelError:
    return errors.LabelError(
        "The rows have no labels to judge by. Give y: an array of labels, or the name of the label column."
    )
