"""Derived columns: functions of other columns, and lags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Step
from weigh.features.columns import to_objects
from weigh.features.kind_registry import Derived, Lag
from weigh.features.kinds import Kind
from weigh.source.chunk import Chunk, Column, is_arrow, slice_column


class DerivedInput(Mapping[str, Any]):
    """The argument of a derived column's function: `rows["name"]` is a NumPy array."""

    def __init__(self, chunk: Chunk) -> None:
        self._columns = chunk.columns
        self.n_rows = chunk.n_rows

    def __getitem__(self, name: str) -> Any:
        if name not in self._columns:
            raise errors.unknown_column_error(name, self._columns, "The table")
        # A read-only view, because the array may belong to the caller.
        values = to_objects(self._columns[name], name).view()
        values.flags.writeable = False
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


def derive_column(chunk: Chunk, name: str, kind: Kind) -> Column:
    """Compute a derived column of a chunk."""
    if isinstance(kind, Lag):
        return _lag_column(chunk, kind)
    if not isinstance(kind, Derived) or kind.function is None:
        raise errors.ColumnError(
            f"Column {name!r} is derived by a function that is not stored in the model file.",
            hint=Step(
                "derived function", f"Pass it again: weigh.load(path, derived={{{name!r}: function}})."
            ),
        )
    values: Any = kind.function(DerivedInput(chunk))
    column = values if is_arrow(values) else np.asarray(values)
    shape = (len(column),) if is_arrow(column) else column.shape
    if shape != (chunk.n_rows,):
        raise errors.ColumnError(
            f"The function of column {name!r} returned an array of shape {shape} for {chunk.n_rows:,} "
            f"rows; it must return one value per row."
        )
    return column


def _lag_column(chunk: Chunk, kind: Lag) -> Column:
    if kind.column not in chunk.columns:
        raise errors.unknown_column_error(kind.column, chunk.columns, "The table")
    values = to_objects(chunk.columns[kind.column], kind.column)
    storage = np.float64 if values.dtype.kind in "biuf" else object
    shifted = np.full(len(values), np.nan if storage is np.float64 else None, dtype=storage)
    (by,) = kind.steps
    shifted[by:] = values[: max(len(values) - by, 0)]
    return shifted


def add_derived_columns(chunks: Iterable[Chunk], derived: Mapping[str, Kind]) -> Iterator[Chunk]:
    """Add the derived columns to every chunk.

    Lags look back into the previous chunk, so the result does not depend on the chunk size.
    """
    max_lag = max(
        (step for kind in derived.values() if isinstance(kind, Lag) for step in kind.steps), default=0
    )
    tail: Chunk | None = None
    for chunk in chunks:
        whole = _concatenate_chunks(tail, chunk) if tail is not None and max_lag else chunk
        n_before = whole.n_rows - chunk.n_rows
        columns = {}
        for name, kind in derived.items():
            if isinstance(kind, Lag):
                columns[name] = slice_column(derive_column(whole, name, kind), n_before, whole.n_rows)
            else:
                columns[name] = derive_column(chunk, name, kind)
        yield replace(chunk, columns={**chunk.columns, **columns})
        tail = whole.slice(whole.n_rows - max_lag, whole.n_rows)


def _concatenate_chunks(first: Chunk, second: Chunk) -> Chunk:
    columns = {
        name: np.concatenate([to_objects(first.columns[name]), to_objects(column)])
        for name, column in second.columns.items()
    }
    return Chunk(columns, first.n_rows + second.n_rows)
