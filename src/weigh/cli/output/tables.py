"""Tables that are written row by row, as CSV, TSV or JSON lines, or as a typed file by the ending."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TextIO

import click

from weigh.cli.options import open_output
from weigh.cli.output.text import to_json_text
from weigh.csv_writer import CsvWriter

MAX_CACHED_FIELDS = 10_000

# Formats by ending; any other file is CSV, unless its ending means something else.
_FORMATS = {
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
}
_OTHER_ENDINGS = (
    *(".xls", ".xlsm", ".xlsb", ".ods", ".feather", ".arrow", ".ipc", ".orc", ".avro", ".h5", ".hdf5"),
    *(".pkl", ".pickle", ".npy", ".npz", ".html", ".htm", ".xml", ".pdf", ".doc", ".docx", ".md", ".yaml"),
    *(".db", ".sqlite", ".sav", ".dta", ".rds", ".weigh", ".png", ".svg"),
    *(".zip", ".bz2", ".xz", ".zst", ".lz4", ".tar", ".tgz", ".7z"),
)
TYPED_FORMATS = ("parquet", "xlsx")


@dataclass(frozen=True)
class OutputColumn:
    """A column of a table: numbers with `digits` are rounded in text formats.

    In JSON, a column with a `group` is a value of the object of that name, under `key`.
    """

    name: str
    digits: int | None = None
    group: str = ""
    key: str = ""


Values = Sequence[Sequence[Any]]  # one sequence per column; a list in a cell is several texts


class TableWriter(Protocol):
    """Writes a table in batches of rows."""

    def write(self, values: Values) -> None:
        """Write rows, given column by column."""


def table_format(path: str | None, as_json: bool) -> str:
    """Return the format of an output file by its ending; `as_json` requests JSON lines."""
    name = (path or "").lower()
    is_compressed = name.endswith(".gz")
    name = name.removesuffix(".gz")
    other = next((ending for ending in _OTHER_ENDINGS if name.endswith(ending)), None)
    if other is not None:
        raise click.UsageError(
            f"{path!r} ends in {other}, which cannot be written. Use .csv, .tsv or .jsonl (also with .gz), "
            f".parquet or .xlsx."
        )
    found = next((kind for ending, kind in _FORMATS.items() if name.endswith(ending)), "csv")
    if found in TYPED_FORMATS and (as_json or is_compressed):
        option = "--json" if as_json else ".gz"
        raise click.UsageError(f"{option} cannot be combined with a file of the type .{found}.")
    return "json" if as_json else found


@contextmanager
def open_table(
    path: str | None, format: str, columns: Sequence[OutputColumn], raw: bool
) -> Iterator[TableWriter]:
    """Open standard output or a file as a table; the file is replaced only when it is complete."""
    if format in TYPED_FORMATS and path is not None:
        from weigh.cli.output.typed_tables import open_typed_table

        with open_typed_table(path, format, columns) as writer:
            yield writer
        return
    with open_output(path) as file:
        if format == "json":
            yield _JsonLinesTable(file, columns)
        else:
            yield _CsvTable(CsvWriter(file, raw, "\t" if format == "tsv" else ","), columns)


def cell_text(value: Any) -> Any:
    """Return a cell with several texts as one text."""
    if isinstance(value, dict):
        return "; ".join(f"{name}:{number:g}" for name, number in value.items())
    return "; ".join(map(str, value)) if isinstance(value, list) else value


class _CsvTable:
    """A table as CSV or TSV."""

    def __init__(self, writer: CsvWriter, columns: Sequence[OutputColumn]) -> None:
        self._writer, self._columns = writer, columns
        # Labels and categories repeat, and escaping is slow.
        self._fields: list[dict[Any, str]] = [{} for _ in columns]
        writer.write_row(column.name for column in columns)

    def write(self, values: Values) -> None:
        texts = [self._format(j, column) for j, column in enumerate(values)]
        self._writer.write_fields(zip(*texts, strict=True))

    def _format(self, j: int, values: Sequence[Any]) -> list[str]:
        digits = self._columns[j].digits
        if digits is not None:
            return ["" if value is None else f"{value:.{digits}g}" for value in values]
        fields, field = self._fields[j], self._writer.field
        texts = [cell_text(value) for value in values]
        for text in set(texts) - fields.keys():
            fields[text] = field(text)
        found = [fields[text] for text in texts]
        if len(fields) > MAX_CACHED_FIELDS:
            fields.clear()
        return found


class _JsonLinesTable:
    """A table as JSON lines; a list without texts is left out."""

    def __init__(self, file: TextIO, columns: Sequence[OutputColumn]) -> None:
        self._file, self._columns = file, columns

    def write(self, values: Values) -> None:
        self._file.writelines(to_json_text(self._object(row)) + "\n" for row in zip(*values, strict=True))

    def _object(self, row: Sequence[Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for column, value in zip(self._columns, row, strict=True):
            if value == []:
                continue
            if column.group:
                found.setdefault(column.group, {})[column.key] = value
            else:
                found[column.name] = value if isinstance(value, _JSON_TYPES) else str(value)
        return found


_JSON_TYPES = (str, int, float, list, dict, type(None))  # dates and decimals become text
