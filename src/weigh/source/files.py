"""`open`: a data file as a source."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from weigh.errors import SourceError, parameter
from weigh.source.base import Source
from weigh.source.bytes import compression
from weigh.source.csv import CsvSource, Dialect
from weigh.source.file_source import FileSource
from weigh.source.jsonlines import JsonSource
from weigh.source.missing import Marker, marker_list
from weigh.source.parquet import ParquetSource
from weigh.source.several import one_after_another

PathLike = str | os.PathLike[str]

FORMATS = ("csv", "tsv", "parquet", "json")
_ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}


def open(
    path: PathLike | Sequence[PathLike],
    label: str | None = None,
    *,
    format: str | None = None,
    missing: Marker | Iterable[Marker] = ("",),
    encoding: str = "utf-8",
    delimiter: str | None = None,
    has_header: bool = True,
    names: Sequence[str] | None = None,
    strings: Sequence[str] = (),
    block: int = 1 << 20,
) -> Source:
    """A CSV, TSV, Parquet or JSON lines file as a source of chunks, in bounded memory.

    Parameters
    ----------
    path : the file; .gz, .bz2, .xz, .lz4 and .zst are unpacked while reading. A list of files with
        the same columns is read as one table
    label : name of the column that holds the labels
    format : "csv", "tsv", "parquet" or "json" (one object per line); None goes by the ending
    missing : markers that mean a missing value, in texts and numbers alike; "" always does in CSV
    encoding : of the text in CSV and JSON files
    delimiter : between the fields of a CSV file; None is a comma, or a tab in TSV
    has_header : whether the first line of a CSV file names the columns
    names : the columns' names in a CSV file without a header; None calls them x0, x1, ...
    strings : columns of a CSV file to read as text although they look like numbers
    block : bytes of text read at a time; a row must fit in
    """
    if format is not None and format not in FORMATS:
        raise parameter("open", "format", "one of 'csv', 'tsv', 'parquet', 'json'", format)
    if block < 1:
        raise parameter("open", "block", "at least 1", block)
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
        raise parameter("open", "delimiter", "one ASCII character, no quote and no end of line", delimiter)
    marks = marker_list(missing)
    dialect = Dialect(delimiter or ",", encoding, has_header, marks, block)

    def opened(where: Path) -> FileSource:
        kind = format or _ending(where)
        if names is not None and (has_header or kind not in {"csv", "tsv"}):
            raise parameter("open", "names", "given only with has_header=False of a CSV file", names)
        _check_exists(where)
        if kind == "parquet":
            return ParquetSource(where, label, marks)
        if kind == "json":
            return JsonSource(where, label, marks, encoding=encoding, block=block)
        tabbed = kind == "tsv" and delimiter is None
        written = replace(dialect, delimiter="\t") if tabbed else dialect
        return CsvSource(where, label, written, names=names, strings=strings)

    if isinstance(path, (str, os.PathLike)):
        return opened(Path(path))
    return one_after_another([opened(Path(each)) for each in path])


def _ending(path: Path) -> str:
    """The format a file's name stands for."""
    inner = path.with_suffix("") if compression(path) else path
    kind = _ENDINGS.get(inner.suffix.lower())
    if kind is None:
        raise SourceError(
            f"The ending of {path} does not tell its format. Give format='csv', 'tsv', 'parquet' or 'json'.",
            path,
        )
    return kind


def _check_exists(path: Path) -> None:
    if path.is_dir():
        raise SourceError(f"{path} is a folder, not a file.", path)
    if not path.exists():
        raise SourceError(f"There is no file {path}.", path)
    if not path.is_file():
        what = "a pipe" if path.is_fifo() else "not a regular file"
        raise SourceError(
            f"{path} is {what}, and rows are read more than once; save it to a file first.", path
        )
    if not os.access(path, os.R_OK):
        raise SourceError(f"{path} may not be read: permission denied.", path)
