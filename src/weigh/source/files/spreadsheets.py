"""Spreadsheets (.xlsx, .xlsm, .xlsb, .xls, .ods), read into memory with python-calamine."""

from __future__ import annotations

import copy
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from weigh.advice import Setting
from weigh.deduplicated_warnings import warn
from weigh.errors import OddSheet, SourceError, WeighError, closest, first_line, quote_names
from weigh.source.base import CHUNK_ROWS, ChunkReader, ColumnKinds, Source, check_chunk_size
from weigh.source.chunk import Chunk, Column
from weigh.source.files.base import FileSource, note_totals_row, parse_numeral
from weigh.source.files.sheet_layout import LETTERS, SheetTable, find_table, to_column, to_text
from weigh.source.files.units_row import note_units_row
from weigh.source.memory.columns import numpy_column
from weigh.source.memory.conversion import column_names
from weigh.source.missing import Marker, MarkerReplacer
from weigh.source.values import array_from_list

# Larger sheets would take gigabytes; they are quickly saved as CSV.
MAX_CELLS = 20_000_000
MAX_UNPACKED_BYTES = 1 << 29
_READ_BYTES = 1 << 20
_OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # of .xls, and of other files that are encrypted
_XLSX_CELL = re.compile(rb"""<(?:\w+:)?c\b[^<>]*?\br=["']([A-Z]{1,3})(\d{1,7})["']""")
_XLSX_ROW = re.compile(rb"""<(?:\w+:)?row\b[^<>]*?\br=["'](\d{1,7})["']""")
_ODS_CELLS = re.compile(rb'<table:table-cell[^<>]*number-columns-repeated="(\d+)"[^<>]*[^/<>]>')
_ODS_ROWS = re.compile(
    rb'<table:table-row[^<>]*number-rows-repeated="(\d+)"[^<>]*>\s*<table:table-cell[^<>]*value-type'
)
ODS_CELLS_PER_REPEAT = 1000  # a guess on the safe side


class SpreadsheetSource(FileSource):
    """A sheet of a spreadsheet as a table in memory."""

    def __init__(
        self,
        path: Path,
        label: str | None,
        missing: tuple[Marker, ...],
        *,
        sheet: str | int | None = None,
        usual_sheet: str | int | None = None,
        has_header: bool = True,
        names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(path, missing)
        self._markers = MarkerReplacer(missing)
        self._usual_sheet = usual_sheet  # read if there is one with this name
        table = self._read_table(sheet, has_header)
        columns = table.names
        if not has_header:
            columns = column_names(len(table.rows[0]), names)
            self.named = names is not None
            self.file_dialect = {**self.file_dialect, "has_header": False}
            if self.named:
                self.file_dialect = {**self.file_dialect, "names": columns}
        self.check_unique_columns(columns)
        if table.unnamed:
            self._note_missing_names(table)
        if table.units:
            note_units_row(path, table.units)
        self.n_rows = len(table.rows)
        first_cell = next(cell for cell in table.rows[-1] if cell is not None)
        if self.n_rows > 2 and isinstance(first_cell, str):
            note_totals_row(path, first_cell, self.n_rows - 1)
        cells = zip(*table.rows, strict=True)
        self._columns = {name: to_column(values) for name, values in zip(columns, cells, strict=True)}
        self.set_columns({name: _storage(column) for name, column in self._columns.items()}, label)

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Yield readers of slices of the table."""
        check_chunk_size(size)
        self.bytes_read = self.bytes_total or 0
        yield from ChunkReader.split(self.n_rows or 0, size, self._read_rows, kinds or {})

    def with_storage(self, storage: ColumnKinds) -> Source:
        """Return the same table with columns read as text, or as numbers where they look like numbers."""
        changed = {name: word for name, word in storage.items() if name in self.types}
        if not changed:
            return self
        source = copy.copy(self)
        source._columns = {
            name: _with_storage(column, changed[name]) if name in changed else column
            for name, column in self._columns.items()
        }
        types = {name: _storage(column) for name, column in source._columns.items()}
        return source.set_columns(types, self.label)

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        source = copy.copy(self)
        source.missing, source._markers = missing, MarkerReplacer(missing)
        return source

    def _read_rows(self, start: int, stop: int, kinds: ColumnKinds) -> Chunk:
        names = [name for name in self.types if kinds.get(name) != "skip" or name == self.label]
        columns = {name: self._read_column(name, start, stop) for name in names}
        labels = None if self.label is None else columns.pop(self.label)
        return Chunk(columns, stop - start, labels=labels, first_row=start)

    def _read_column(self, name: str, start: int, stop: int) -> Column:
        values = numpy_column(name, self._columns[name]).read(start, stop)
        return self._markers.apply(values) if self._markers else values

    def _read_table(self, sheet: str | int | None, has_header: bool) -> SheetTable:
        """Return the table of a sheet, by default of the first one that has cells."""
        check_size(self.path)
        with _reader_errors(self.path), self.path.open("rb") as file:
            workbook = _import_calamine(self.path).CalamineWorkbook.from_filelike(file)
            sheet, selected = self._select_sheets(sheet, workbook)
            tables = {name: self._read_sheet(workbook, name, has_header) for name in selected}
        filled = {name: table for name, table in tables.items() if table is not None}
        if not filled:
            what = "has no cells" if sheet is None else f"has no cells in the sheet {selected[0]!r}"
            raise SourceError(f"{self.path} {what}.", self.path)
        name = next(iter(filled))
        if not filled[name].rows:
            raise SourceError(f"{self.path}, sheet {name!r}: there is a header but no rows.", self.path)
        if sheet is not None:
            self.file_dialect = {"sheet": name}
        elif len(filled) > 1:
            self._note_sheets(list(filled))
        return filled[name]

    def _select_sheets(
        self, sheet: str | int | None, workbook: Any
    ) -> tuple[str | int | None, Sequence[str]]:
        """Return the sheet that was asked for, if any, and the names of those to read."""
        names = workbook.sheet_names
        if sheet is None and self._usual_sheet in names:
            sheet = self._usual_sheet
        if sheet is not None:
            return sheet, [self._find_sheet(sheet, names)]
        visible = [
            each.name
            for each in workbook.sheets_metadata
            if str(each.typ).endswith("WorkSheet") and str(each.visible).endswith(".Visible")
        ]
        return None, visible or names

    def _read_sheet(self, workbook: Any, name: str, has_header: bool) -> SheetTable | None:
        sheet = workbook.get_sheet_by_name(name)
        if sheet.height * sheet.width > MAX_CELLS:
            raise _size_error(
                self.path, f"has {sheet.height:,} rows and {sheet.width:,} columns in the sheet {name!r}"
            )
        rows, merged = sheet.to_python(skip_empty_area=False), sheet.merged_cell_ranges
        return find_table(rows, merged, has_header=has_header)

    def _find_sheet(self, sheet: str | int, names: Sequence[str]) -> str:
        if sheet in names:
            return str(sheet)
        if isinstance(sheet, int) or sheet.isdecimal():
            index = int(sheet)
            if 0 <= index < len(names):
                return names[index]
        raise SourceError(
            f"{self.path} has no sheet {sheet!r}; it has {quote_names(names)}.",
            self.path,
            parameter="sheet",
            value=sheet,
            suggestion=closest(str(sheet), list(names)),
        )

    def _note_sheets(self, names: Sequence[str]) -> None:
        warn(
            OddSheet(
                f"{self.path} has {len(names)} sheets with cells: {quote_names(names)}. The first was read.",
                hint=("For another, give ", Setting("sheet", names[1]), "."),
            ),
            [self.path],
        )

    def _note_missing_names(self, table: SheetTable) -> None:
        plural = len(table.unnamed) > 1
        warn(
            OddSheet(
                f"{self.path}: {'columns have' if plural else 'a column has'} no name in row "
                f"{table.header_row:,}, the header, and {'are' if plural else 'is'} called "
                f"{quote_names(table.unnamed)}."
            ),
            [self.path],
        )


def _storage(column: Any) -> str:
    kind = column.dtype.kind
    if kind == "O":
        return "string" if any(isinstance(value, str) for value in column) else "mixed"
    return {"b": "flag", "i": "integer"}.get(kind, "number")


def _with_storage(column: Any, word: str) -> Any:
    """Return a column as text, or with its numerals as numbers ("mixed")."""
    values = [None if value != value else value for value in column.tolist()]
    if word == "string":
        return array_from_list([to_text(value) for value in values])
    return array_from_list([_number_or_value(value) for value in values])


def _number_or_value(value: Any) -> Any:
    number = parse_numeral(value.strip()) if isinstance(value, str) else None
    return value if number is None else number


def _import_calamine(path: Path) -> Any:
    try:
        import python_calamine
    except ImportError as error:
        raise SourceError(
            f"{path} is a spreadsheet, which needs the package python-calamine: pip install 'weigh[excel]'. "
            "Or save it as CSV.",
            path,
        ) from error
    return python_calamine


@contextmanager
def _reader_errors(path: Path) -> Iterator[None]:
    """Raise SourceError instead of an error of the reader."""
    try:
        yield
    except (WeighError, KeyboardInterrupt):
        raise
    except BaseException as error:
        # The reader is written in Rust, whose panics are no ordinary exceptions.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        is_protected = type(error).__name__ == "PasswordError" or _is_ole(path)
        raise _protected_error(path) if is_protected else _damaged_error(path, first_line(error)) from error


def _is_ole(path: Path) -> bool:
    with path.open("rb") as file:
        return path.suffix.lower() != ".xls" and file.read(len(_OLE_MAGIC)) == _OLE_MAGIC


def check_size(path: Path) -> None:
    """Raise SourceError for a spreadsheet that is too large when unpacked.

    The reader allocates all cells up to the last one, so one cell in a far corner can take hundreds of
    gigabytes. The sizes stated in the file may be wrong, so the sheets are unpacked.
    """
    with path.open("rb") as file:
        magic = file.read(2)
    if not magic:
        raise SourceError(f"{path} is empty.", path)
    if magic == b"PK":
        with _reader_errors(path), zipfile.ZipFile(path) as archive:
            _check_archive(archive, path)


def _check_archive(archive: zipfile.ZipFile, path: Path) -> None:
    n_bytes = sum(entry.file_size for entry in archive.infolist())
    if n_bytes > MAX_UNPACKED_BYTES:
        raise _size_error(path, f"unpacks to {n_bytes:,} bytes")
    n_bytes = 0
    for entry in archive.infolist():
        name = entry.filename
        if not name.endswith((".xml", ".bin")):
            continue
        extent = _Extent()
        with archive.open(entry) as file:
            rest = b""
            while part := file.read(_READ_BYTES):
                n_bytes += len(part)
                if n_bytes > MAX_UNPACKED_BYTES:
                    raise _size_error(path, f"unpacks to more than {MAX_UNPACKED_BYTES:,} bytes")
                extent.add(rest + part, name)
                rest = (rest + part)[-200:]
        if extent.n_cells > MAX_CELLS:
            raise _size_error(path, f"has a sheet with {extent}")


class _Extent:
    """The last row and column of a sheet, found without reading its cells."""

    def __init__(self) -> None:
        self.last_row = 0
        self.letters = b""
        self.repeats = 0

    def add(self, xml: bytes, name: str) -> None:
        """Scan a part of a sheet."""
        if "worksheets/" in name:
            rows = [*_XLSX_ROW.findall(xml)]
            for letters, row in _XLSX_CELL.findall(xml):
                rows.append(row)
                if (len(letters), letters) > (len(self.letters), self.letters):
                    self.letters = letters
            self.last_row = max([self.last_row, *map(int, rows)])
        elif name == "content.xml":
            # Repeated empty cells and rows up to the end of a sheet are usual.
            counts = [*_ODS_CELLS.findall(xml), *_ODS_ROWS.findall(xml)]
            self.repeats = max([self.repeats, *map(int, counts)])

    @property
    def n_cells(self) -> int:
        """The number of cells that the reader would allocate."""
        width = 0
        for letter in self.letters:
            width = LETTERS * width + letter - ord("A") + 1
        return max(self.last_row * width, self.repeats * ODS_CELLS_PER_REPEAT)

    def __str__(self) -> str:
        if self.letters:
            return f"a cell {self.letters.decode()}{self.last_row}"
        return f"{self.repeats:,} equal cells or rows"


def _size_error(path: Path, problem: str) -> SourceError:
    return SourceError(
        f"{path} {problem}, too much for a spreadsheet. Delete what is not part of the table, or save the "
        "sheet as CSV.",
        path,
    )


def _damaged_error(path: Path, reason: str) -> SourceError:
    return SourceError(
        f"{path} cannot be read as a spreadsheet: {reason}. Open it and save it again, or save it as CSV.",
        path,
    )


def _protected_error(path: Path) -> SourceError:
    return SourceError(f"{path} is protected with a password, or damaged. Save it without a password.", path)
