"""Tables with typed columns: Parquet files and Excel sheets."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

from weigh import errors
from weigh.cli.options import open_binary_output
from weigh.cli.output.tables import OutputColumn, TableWriter, Values, cell_text
from weigh.cli.output.text import show_note

# The limits of an Excel sheet, the header included.
MAX_SHEET_ROWS, MAX_SHEET_COLUMNS, MAX_CELL_CHARACTERS = 1_048_576, 16_384, 32_767
MAX_EXACT_INTEGER = 10**15  # Excel keeps 15 digits


@contextmanager
def open_typed_table(path: str, format: str, columns: Sequence[OutputColumn]) -> Iterator[TableWriter]:
    """Open a Parquet file or an Excel workbook, which is replaced only when it is complete."""
    writer_type = _ParquetTable if format == "parquet" else _ExcelTable
    writer_type.check(columns)
    with open_binary_output(path) as file:
        writer = writer_type(file, columns)
        try:
            yield writer
        except BaseException:
            writer.abandon()
            raise
        writer.close()


class _ParquetTable:
    """A Parquet file with one row group per batch; the first batch sets the types of the columns."""

    def __init__(self, file: BinaryIO, columns: Sequence[OutputColumn]) -> None:
        self._file, self._columns = file, columns
        self._writer: Any = None

    @staticmethod
    def check(columns: Sequence[OutputColumn]) -> None:
        """Accept any columns."""

    def write(self, values: Values) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self._writer is None:
            fields = [
                (_as_text(column.name), _arrow_type(cells))
                for column, cells in zip(self._columns, values, strict=True)
            ]
            self._writer = pq.ParquetWriter(self._file, pa.schema(fields))
        schema = self._writer.schema
        arrays = [self._array(field, cells) for field, cells in zip(schema, values, strict=True)]
        self._writer.write_batch(pa.record_batch(arrays, schema=schema))

    def _array(self, field: Any, cells: Sequence[Any]) -> Any:
        import pyarrow as pa

        plain = _plain_cells(cells)
        try:
            if pa.types.is_integer(field.type):
                _check_integers(plain)  # which Arrow would truncate
            return pa.array(
                [_as_text(cell) for cell in plain] if field.type == pa.string() else plain, field.type
            )
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as cause:
            raise errors.DataError(
                f"Column {field.name!r} is {field.type} in the first rows, and a later value is not: "
                f"{errors.first_line(cause)}.",
                hint="Read the column as text with --strings, or write .csv.",
            ) from cause

    def close(self) -> None:
        if self._writer is None:
            self.write([[] for _ in self._columns])
        self._writer.close()

    def abandon(self) -> None:
        """Close the writer while its file is open: it writes its end whenever it is closed."""
        if self._writer is not None:
            self._writer.close()


def _arrow_type(cells: Sequence[Any]) -> Any:
    """Return the Arrow type of the cells; mixed types are text."""
    import pyarrow as pa

    try:
        found = pa.array(_plain_cells(cells)).type
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.string()
    return pa.string() if pa.types.is_null(found) else found


def _check_integers(cells: Sequence[Any]) -> None:
    for cell in cells:
        if isinstance(cell, float) and not cell.is_integer():
            raise ValueError(f"{cell!r} is no integer")


def _plain_cells(cells: Sequence[Any]) -> list[Any]:
    return [None if cell is None or cell == [] else cell_text(cell) for cell in cells]


def _as_text(cell: Any) -> Any:
    # Parquet holds UTF-8, in which lone surrogates cannot be written.
    return None if cell is None else str(cell).encode("utf-8", "backslashreplace").decode()


class _ExcelTable:
    """A workbook with one sheet, written in bounded memory; strings are never run as formulas or links."""

    def __init__(self, file: BinaryIO, columns: Sequence[OutputColumn]) -> None:
        import xlsxwriter

        self._book = xlsxwriter.Workbook(
            file, {"constant_memory": True, "default_date_format": "yyyy-mm-dd hh:mm:ss"}
        )
        self._sheet = self._book.add_worksheet("predictions")
        self._row = self._n_cut = 0
        self._sheet.freeze_panes(1, 0)
        self._write_row([column.name for column in columns])

    @staticmethod
    def check(columns: Sequence[OutputColumn]) -> None:
        """Raise an error before anything is written if a sheet cannot hold the columns."""
        try:
            import xlsxwriter  # noqa: F401
        except ImportError as cause:
            raise errors.Unsupported(
                "Writing .xlsx needs the package XlsxWriter.", hint="Run: pip install 'weigh[excel]'"
            ) from cause
        if len(columns) > MAX_SHEET_COLUMNS:
            raise errors.DataError(
                f"The table has {len(columns):,} columns, and an Excel sheet holds {MAX_SHEET_COLUMNS:,}. "
                f"Write .csv or .parquet instead."
            )

    def write(self, values: Values) -> None:
        for row in zip(*values, strict=True):
            if self._row == MAX_SHEET_ROWS:
                raise errors.DataError(
                    f"An Excel sheet holds {MAX_SHEET_ROWS - 1:,} rows, and there are more. Write .csv or "
                    f".parquet instead."
                )
            self._write_row(row)

    def _write_row(self, cells: Sequence[Any]) -> None:
        for j, cell in enumerate(cells):
            self._write_cell(j, cell_text(cell))
        self._row += 1

    def _write_cell(self, j: int, cell: Any) -> None:
        if cell is None or cell == "":
            return
        if isinstance(cell, bool):
            self._sheet.write_boolean(self._row, j, cell)
        elif isinstance(cell, int | float) and math.isfinite(cell) and abs(cell) < MAX_EXACT_INTEGER:
            self._sheet.write_number(self._row, j, cell)
        elif isinstance(cell, datetime.date) and getattr(cell, "tzinfo", None) is None:
            self._sheet.write_datetime(self._row, j, cell)
        else:
            text = _as_text(cell)
            self._n_cut += len(text) > MAX_CELL_CHARACTERS
            self._sheet.write_string(self._row, j, text[:MAX_CELL_CHARACTERS])

    def abandon(self) -> None:
        """Leave the workbook unwritten."""

    def close(self) -> None:
        self._book.close()
        if self._n_cut:
            show_note(
                f"{self._n_cut:,} texts were cut to {MAX_CELL_CHARACTERS:,} characters, the limit of a cell."
            )
