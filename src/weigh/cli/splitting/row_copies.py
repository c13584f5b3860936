"""Copy rows of data files into two files, as they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, BinaryIO

import numpy as np

from weigh import errors
from weigh.cli.options import compress, open_binary_output
from weigh.cli.output.tables import table_format
from weigh.source.base import Source
from weigh.source.files.base import FileSource
from weigh.source.files.csv import CsvSource

Progress = Callable[[int, int], None]

LEFT_OUT = 2  # the part of rows that are copied to neither file: 0 is for training, 1 for testing
# Formats in which every line with text is a row.
_LINE_SOURCES = ("JsonLinesSource", "FastTextSource", "VwSource", "LibsvmSource")


class RowCopier:
    """Copies the rows of files of one format into a training and a test file."""

    def __init__(self, files: Sequence[FileSource], train: str, test: str) -> None:
        self._files, self._paths = files, (train, test)

    @classmethod
    def for_source(cls, source: Source, train: str, test: str) -> RowCopier:
        """Return the copier for opened files, or raise Unsupported for formats that have no rows to copy."""
        files = getattr(source, "sources", [source])
        kinds = {type(file).__name__ for file in files}
        if len(kinds) > 1 or not kinds <= {"CsvSource", "ParquetSource", *_LINE_SOURCES}:
            raise errors.Unsupported(_format_refusal(files, len(kinds) > 1))
        for path in (train, test):
            _check_ending(path, files[0])
        return cls(files, train, test)

    def copy(self, is_test: Any, is_copied: Any, progress: Progress) -> None:
        """Write both files; they are replaced only when both are complete.

        `is_copied` says which of all rows are copied, and `is_test` which of these are test rows.
        """
        parts = np.full(len(is_copied), LEFT_OUT, dtype=np.int8)
        parts[is_copied] = is_test
        with ExitStack() as stack:
            outputs = [stack.enter_context(open_binary_output(path)) for path in self._paths]
            if type(self._files[0]).__name__ == "ParquetSource":
                _copy_parquet(self._files, parts, outputs, progress)
                return
            packed = [
                stack.enter_context(compress(file, path))
                for file, path in zip(outputs, self._paths, strict=True)
            ]
            _copy_texts(self._files, parts, packed, progress)


def _format_refusal(files: Sequence[Any], are_mixed: bool) -> str:
    if are_mixed:
        return (
            "The files have different formats, so their rows cannot be in one file. Divide them one by one."
        )
    return (
        f"{getattr(files[0], 'path', 'The data')} cannot be divided: its rows are no lines to copy. Convert "
        f"it to CSV or Parquet first."
    )


def _check_ending(path: str, data: FileSource) -> None:
    """Raise FileError if the ending of an output says that it has another format than the data."""
    has_tabs = isinstance(data, CsvSource) and data.dialect.delimiter == "\t"
    wanted = {
        "CsvSource": ("csv", "tsv") if has_tabs else ("csv",),
        "ParquetSource": ("parquet",),
        "JsonLinesSource": ("json",),
    }
    if table_format(path, as_json=False) in wanted.get(type(data).__name__, ("csv",)):
        return
    endings = {
        "CsvSource": ".tsv" if has_tabs else ".csv",
        "ParquetSource": ".parquet",
        "JsonLinesSource": ".jsonl",
    }
    raise errors.FileError(
        f"The rows are copied as they are written, so {path} must end in "
        f"{endings.get(type(data).__name__, '.txt')}, like the data."
    )


def _copy_texts(
    files: Sequence[FileSource], parts: Any, outputs: Sequence[BinaryIO], progress: Progress
) -> None:
    """Copy the texts of rows, with the header of CSV files first."""
    ending = files[0].line_ending() if isinstance(files[0], CsvSource) else b"\n"
    header = _read_header(files)
    for file in outputs:
        file.write(header + ending if header else b"")
    row, part_of_row = 0, parts.tolist()
    for records in (block for file in files for block in _read_records(file)):
        selected: tuple[list[bytes], ...] = ([], [], [])
        for record, part in zip(records, part_of_row[row : row + len(records)], strict=False):
            selected[part].append(record + ending)
        row += len(records)
        for file, texts in zip(outputs, selected, strict=False):
            file.writelines(texts)
        progress(row, len(part_of_row))
    _check_row_count(row, len(part_of_row))


def _check_row_count(n_rows: int, n_before: int) -> None:
    if n_rows != n_before:
        raise errors.DataError(
            f"The data has {n_rows:,} rows now and had {n_before:,} before. Do not change it while "
            f"it is read."
        )


def _read_header(files: Sequence[FileSource]) -> bytes:
    headers = [file.header_text() if isinstance(file, CsvSource) else b"" for file in files]
    for file, header in zip(files, headers, strict=True):
        if header.strip() != headers[0].strip():
            raise errors.DataError(
                f"The headers of {files[0].path} and {file.path} differ, so their rows cannot be in one "
                f"file. Divide the files one by one."
            )
    return headers[0]


def _read_records(file: FileSource) -> Iterable[list[bytes]]:
    return file.record_texts() if isinstance(file, CsvSource) else _read_lines(file)


def _read_lines(file: FileSource) -> Iterator[list[bytes]]:
    """Yield the lines with text, decompressed, some at a time."""
    from itertools import islice

    from weigh.source.files.text_files import open_decompressing

    lines, raw = open_decompressing(file.path)
    with raw, lines:
        filled = (line.rstrip(b"\r\n") for line in lines if line.strip())
        while block := list(islice(filled, 10_000)):
            yield block


def _copy_parquet(
    files: Sequence[FileSource], parts: Any, outputs: Sequence[BinaryIO], progress: Progress
) -> None:
    """Copy rows of Parquet files batch by batch, with types that hold the values of all files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    row = 0
    try:
        opened = [pq.ParquetFile(file.path) for file in files]
        schema = pa.unify_schemas([file.schema_arrow for file in opened], promote_options="permissive")
        with ExitStack() as stack:
            # A writer writes its end when it is closed, so it is closed before its file in any case.
            writers = [stack.enter_context(pq.ParquetWriter(file, schema)) for file in outputs]
            for batch in (batch for file in opened for batch in file.iter_batches()):
                part_of_row = parts[row : row + batch.num_rows]
                row += batch.num_rows
                for part, writer in enumerate(writers):
                    selected = _to_schema(batch, schema).filter(pa.array(part_of_row == part))
                    writer.write_batch(selected)
                progress(row, len(parts))
    except pa.ArrowException as cause:
        raise errors.DataError(
            f"The rows cannot be in one Parquet file: {errors.first_line(cause)}. Divide the files "
            f"one by one."
        ) from cause
    _check_row_count(row, len(parts))


def _to_schema(batch: Any, schema: Any) -> Any:
    """Return a batch with the columns and types of all files; columns that its file lacks are missing."""
    import pyarrow as pa

    known = set(batch.schema.names)
    columns = [
        batch.column(field.name).cast(field.type)
        if field.name in known
        else pa.nulls(batch.num_rows, field.type)
        for field in schema
    ]
    return pa.record_batch(columns, schema=schema)
