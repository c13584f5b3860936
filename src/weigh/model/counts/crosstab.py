"""Tables of counts as data frames: a crosstab of pandas or polars as {class: {value: count}}."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weigh import errors
from weigh.source.memory.columns import base_type_names

FRAMES = {"pandas.DataFrame", "polars.DataFrame"}
UNNAMED_COLUMN = "value"
TOTALS = "All"  # what pandas.crosstab calls them


def read_crosstabs(columns: Any, label: str | None, owner: str) -> tuple[Any, str | None]:
    """Return the tables with frames as mappings {class: {value: count}}, and the name of the label column.

    A frame has one row per class and one column per value, as ``pandas.crosstab(classes, values)`` has it, or
    the other way round if its columns have the name `label`. In a polars frame the first column holds the
    classes. A frame alone is the table of one column.
    """
    if _is_frame(columns):
        name, index_name = _axis_names(columns)
        is_transposed = label is not None and name == label and index_name != label
        label = label or index_name
        columns = {(index_name if is_transposed else name) or UNNAMED_COLUMN: columns}
    if not isinstance(columns, Mapping):
        return columns, label
    tables = {
        name: _read_frame(table, label, f"{owner}: columns[{name!r}]") if _is_frame(table) else table
        for name, table in columns.items()
    }
    return tables, label


def _is_frame(table: object) -> bool:
    return not FRAMES.isdisjoint(base_type_names(table))


def _axis_names(frame: Any) -> tuple[str | None, str | None]:
    """Return the names of the columns' axis and of the rows' axis."""
    if "polars.DataFrame" in base_type_names(frame):
        return None, frame.columns[0] if frame.columns else None
    column, row = (None if name is None else str(name) for name in (frame.columns.name, frame.index.name))
    return column, row


def _read_frame(frame: Any, label: str | None, where: str) -> dict[Any, dict[Any, Any]]:
    """Return {class: {value: count}}."""
    rows, values, table = _frame_content(frame, where)
    if _has_totals(rows, table) or _has_totals(values, table.T):
        raise errors.ParameterError(
            f"{where} has the totals {TOTALS!r} beside its counts. Leave them out: margins=False."
        )
    column_name, row_name = _axis_names(frame)
    if label is not None and column_name == label != row_name:
        rows, values, table = values, rows, table.T
    counts = [dict(zip(values, row, strict=True)) for row in table.tolist()]
    return dict(zip(rows, counts, strict=True))


def _frame_content(frame: Any, where: str) -> tuple[list[Any], list[Any], Any]:
    """Return the names of the rows and of the columns, and the table of counts between them."""
    if "polars.DataFrame" in base_type_names(frame):
        first, *values = frame.columns or [None]
        rows, table = frame[first].to_list() if values else [], frame[values].to_numpy()
    else:
        rows, values, table = frame.index.tolist(), frame.columns.tolist(), frame.to_numpy()
    is_flat = not any(isinstance(name, tuple) for name in (*rows, *values))
    if not rows or not values or not is_flat or len({*rows}) < len(rows) or len({*values}) < len(values):
        raise errors.ParameterError(
            f"{where} must be a frame with one row per class and one column per value, each with its own "
            f"name; it has {len(rows):,} rows and {len(values):,} columns, "
            f"{errors.quote_names(rows)} and {errors.quote_names(values)}."
        )
    return rows, values, table


def _has_totals(names: Sequence[Any], table: Any) -> bool:
    """Whether the last row is called the totals and is the sum of the others."""
    return len(names) > 1 and names[-1] == TOTALS and bool(np.all(table[:-1].sum(axis=0) == table[-1]))
