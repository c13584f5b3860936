"""Columns made from other columns: functions of the rows, and lags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.columns import to_objects
from weigh.features.kind_registry import Derived, Lag
from weigh.features.kinds import Kind
from weigh.source.chunk import Chunk, Column, is_arrow, slice_column


class DerivedInput(Mapping[str, Any]):
    """What a derived column's function sees: `rows["name"]` is a NumPy array."""

    def __init__(self, chunk: Chunk) -> None:
        self._columns = chunk.columns
        self.n_rows = chunk.n_rows

    def __getitem__(self, name: str) -> Any:
        if name not in self._columns:
            raise errors.unknown_column_error(name, self._columns, "The table")
        # A view that cannot be written to: the array may be the caller's own.
        values = to_objects(self._columns[name]).view()
        values.flags.writeable = False
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


def derive_column(chunk: Chunk, name: str, kind: Kind) -> Column:
    """Return the column that a derived kind makes of a chunk."""
    if isinstance(kind, Lag):
        return _lag_column(chunk, kind)
    if not isinstance(kind, Derived) or kind.function is None:
        raise errors.ColumnError(
            f"Column {name!r} is derived by a function that the model file does not hold. Give it "
            f"again: weigh.load(path, derived={{{name!r}: function}})."
        )
    made: Any = kind.function(DerivedInput(chunk))
    column = made if is_arrow(made) else np.asarray(made)
    shape = (len(column),) if is_arrow(column) else column.shape
    if shape != (chunk.n_rows,):
        raise errors.ColumnError(
            f"The function of column {name!r} gave an array of shape {shape} for {chunk.n_rows:,} "
            f"rows; it must give one value per row."
        )
    return column


def _lag_column(chunk: Chunk, kind: Lag) -> Column:
    if kind.column not in chunk.columns:
        raise errors.unknown_column_error(kind.column, chunk.columns, "The table")
    values = to_objects(chunk.columns[kind.column])
    storage = np.float64 if values.dtype.kind in "biuf" else object
    shifted = np.full(len(values), np.nan if storage is np.float64 else None, dtype=storage)
    shifted[kind.by :] = values[: max(len(values) - kind.by, 0)]
    return shifted


def add_derived_columns(chunks: Iterable[Chunk], made: Mapping[str, Kind]) -> Iterator[Chunk]:
    """Add the derived columns to every chunk.

    A lag looks back over the chunk's edge, so that where a table was cut does not show.
    """
    back = max((kind.by for kind in made.values() if isinstance(kind, Lag)), default=0)
    tail: Chunk | None = None
    for chunk in chunks:
        whole = _concatenate_chunks(tail, chunk) if tail is not None and back else chunk
        before = whole.n_rows - chunk.n_rows
        extra = {}
        for name, kind in made.items():
            if isinstance(kind, Lag):
                extra[name] = slice_column(derive_column(whole, name, kind), before, whole.n_rows)
            else:
                extra[name] = derive_column(chunk, name, kind)
        yield replace(chunk, columns={**chunk.columns, **extra})
        tail = whole.slice(whole.n_rows - back, whole.n_rows)


def _concatenate_chunks(first: Chunk, second: Chunk) -> Chunk:
    columns = {
        name: np.concatenate([to_objects(first.columns[name]), to_objects(column)])
        for name, column in second.columns.items()
    }
    return Chunk(columns, first.n_rows + second.n_rows)
