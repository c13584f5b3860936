"""Finding the table in the cells of a spreadsheet: its header, rows and columns of plain values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from weigh.source.files.units_row import MAX_INSPECTED_VALUES, find_units
from weigh.source.values import array_from_list, to_plain_value

Row = list[Any]
MergedRange = tuple[tuple[int, int], tuple[int, int]]  # first and last cell: row, column
MAX_EXACT_INTEGER = 2**53
LETTERS = 26


@dataclass(frozen=True)
class SheetTable:
    """The header and the rows of a table in a sheet; empty cells are None.

    `first_column` is the position of the first column in the sheet, and `header_row` the number of the
    header's last row there, from 1. `unnamed` lists the names made up for columns without one. `units` are
    those of a row of units below the header, which is left out.
    """

    names: list[str]
    rows: list[Row]
    header_row: int
    unnamed: tuple[str, ...]
    units: tuple[str, ...] = ()


def find_table(
    cells: Sequence[Sequence[Any]], merged: Sequence[MergedRange] | None, *, has_header: bool = True
) -> SheetTable | None:
    """Return the table in the cells of a sheet, None if all are empty.

    Empty rows and columns around it and titles above it, which have one cell each, are left out. `merged` are
    the merged ranges, None if the format does not tell. A header of two rows is joined: 'Q1' above 'sales'
    is 'Q1 sales'.
    """
    rows = [[None if cell == "" else cell for cell in row] for row in cells]
    used = [[j for j, cell in enumerate(row) if cell is not None] for row in rows]
    if not any(used):
        return None
    first, last = min(js[0] for js in used if js), max(js[-1] for js in used if js)
    start = next(i for i, js in enumerate(used) if js)
    if has_header and last > first:
        wide = (i for i in range(start, len(rows)) if len(used[i]) > 1)
        start = next(wide, start)
    # The rows of titles may have been wider than the table.
    below = [js for js in used[start:] if js]
    first, last = min(js[0] for js in below), max(js[-1] for js in below)
    rows = [row[first : last + 1] for row in rows]
    if not has_header:
        return SheetTable([], _rows_with_values(rows[start:]), start, ())
    header, n_header = _read_header(rows, start, first, merged)
    columns = [
        j
        for j, name in enumerate(header)
        if name or any(row[j] is not None for row in rows[start + n_header :])
    ]
    names = [header[j] or f"column {column_letters(first + j)}" for j in columns]
    unnamed = tuple(name for name, j in zip(names, columns, strict=True) if not header[j])
    body = [[row[j] for j in columns] for row in rows[start + n_header :]]
    body = _rows_with_values(body)
    units = _find_units(body)
    return SheetTable(names, body[bool(units) :], start + n_header, unnamed, units)


def _find_units(body: list[Row]) -> tuple[str, ...]:
    if len(body) < 2:
        return ()
    return tuple(find_units(body[0], lambda j: _list_values(body[1 : MAX_INSPECTED_VALUES + 1], j)))


def _list_values(rows: list[Row], column: int) -> Iterator[Any]:
    return (row[column] for row in rows if row[column] is not None)


def _rows_with_values(rows: list[Row]) -> list[Row]:
    return [row for row in rows if any(cell is not None for cell in row)]


def _read_header(
    rows: list[Row], start: int, first_column: int, merged: Sequence[MergedRange] | None
) -> tuple[list[str], int]:
    """Return the names of all columns, "" for none, and the number of rows of the header."""
    upper = rows[start]
    names = [_cell_name(cell) for cell in upper]
    if start + 1 == len(rows):
        return names, 1
    lower = rows[start + 1]
    groups = _find_groups(upper, lower, start, first_column, merged)
    if groups is None:
        return names, 1
    joined = [
        " ".join(part for part in (group, _cell_name(cell)) if part)
        for group, cell in zip(groups, lower, strict=True)
    ]
    return joined, 2


def _find_groups(
    upper: Row, lower: Row, row: int, first_column: int, merged: Sequence[MergedRange] | None
) -> list[str] | None:
    """Return the name of the group of every column if the header has two rows, else None."""
    if not all(cell is None or isinstance(cell, str) for cell in lower):
        return None
    names = [_cell_name(cell) for cell in upper]
    if merged is not None:
        spans = [
            (left, right) for (top, left), (bottom, right) in merged if top == bottom == row and right > left
        ]
        spans = [(left - first_column, right - first_column) for left, right in spans]
        spans = [(left, right) for left, right in spans if left >= 0 and any(lower[left : right + 1])]
        for left, right in spans:
            names[left : right + 1] = [names[left]] * (right + 1 - left)
        return names if spans else None
    # Without merged ranges, a gap that only the lower row fills belongs to the name before it.
    gaps = [j for j, cell in enumerate(upper) if cell is None]
    if not gaps or gaps[0] == 0 or any(lower[j] is None for j in gaps):
        return None
    for j in gaps:
        names[j] = names[j - 1]
    return names


def _cell_name(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return " ".join(str(to_plain_value(cell)).split())


def column_letters(index: int) -> str:
    """Return the letters of a column as spreadsheets write them: A, B, ..., Z, AA."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, LETTERS)
        letters = chr(ord("A") + rest) + letters
    return letters


def to_column(values: Sequence[Any]) -> NDArray[Any]:
    """Return cells as a column; numbers that are all whole become integers, and times ISO text.

    Midnights are dates if the column has no other times of day.
    """
    times = [value for value in values if isinstance(value, dt.datetime)]
    has_dates = all(value.time() == dt.time() for value in times)
    plain = [_plain_cell(value, has_dates=has_dates) for value in values]
    numbers = [value for value in plain if type(value) is float]
    if numbers and all(number.is_integer() and abs(number) < MAX_EXACT_INTEGER for number in numbers):
        plain = [int(value) if type(value) is float else value for value in plain]
    return array_from_list(plain)


def _plain_cell(value: Any, *, has_dates: bool) -> Any:
    if type(value) in (str, float, bool, int, type(None)):
        return value
    if isinstance(value, dt.datetime) and has_dates:
        value = value.date()
    elif isinstance(value, dt.date) and not isinstance(value, dt.datetime) and not has_dates:
        value = dt.datetime.combine(value, dt.time())
    return to_plain_value(value)


def to_text(value: Any) -> Any:
    """Return a cell as a text file would write it; missing cells stay missing."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if value is None or isinstance(value, str) else str(value)
