"""Copy rows of data files into two files, as they are written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, BinaryIO

from weigh import errors
from weigh.cli.options import compress, open_binary_output
from weigh.source.base import Source
from weigh.source.files.base import FileSource
from weigh.source.files.csv import CsvSource

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
            raise errors.Unsupported(
                "Only tables in files of one format can be divided. Convert them to CSV or Parquet first."
            )
        is_parquet = kinds == {"ParquetSource"}
        for path in (train, test):
            if is_parquet is not path.lower().endswith((".parquet", ".pq")):
                wanted = ".parquet" if is_parquet else os.path.splitext(files[0].path)[1] or ".csv"
                raise errors.FileError(
                    f"The rows are copied as they are written, so {path} must end in {wanted}, like the data."
                )
        return cls(files, train, test)

    def copy(self, is_test: Any) -> None:
        """Write both files; they are replaced only when both are complete."""
        with ExitStack() as stack:
            outputs = [stack.enter_context(open_binary_output(path)) for path in self._paths]
            if type(self._files[0]).__name__ == "ParquetSource":
                _copy_parquet(self._files, is_test, outputs)
                return
            packed = [
                stack.enter_context(compress(file, path))
                for file, path in zip(outputs, self._paths, strict=True)
            ]
            _copy_texts(self._files, is_test, packed)


def _copy_texts(files: Sequence[FileSource], is_test: Any, outputs: Sequence[BinaryIO]) -> None:
    """Copy the texts of rows, with the header of CSV files first."""
    ending = files[0].line_ending() if isinstance(files[0], CsvSource) else b"\n"
    header = _read_header(files)
    for file in outputs:
        file.write(header + ending if header else b"")
    row, flags = 0, is_test.tolist()
    for records in (block for file in files for block in _read_records(file)):
        parts: tuple[list[bytes], list[bytes]] = ([], [])
        for record, flag in zip(records, flags[row : row + len(records)], strict=False):
            parts[flag].append(record + ending)
        row += len(records)
        for file, part in zip(outputs, parts, strict=True):
            file.writelines(part)
    if row != len(flags):
        raise errors.DataError(
            f"The data has {row:,} rows now and had {len(flags):,} before. Do not change it while it is read."
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


def _copy_parquet(files: Sequence[FileSource], is_test: Any, outputs: Sequence[BinaryIO]) -> None:
    """Copy rows of Parquet files batch by batch, with their types."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    opened = [pq.ParquetFile(file.path) for file in files]
    writers = [pq.ParquetWriter(file, opened[0].schema_arrow) for file in outputs]
    row = 0
    for batch in (batch for file in opened for batch in file.iter_batches()):
        mask = is_test[row : row + batch.num_rows]
        row += batch.num_rows
        for writer, selected in zip(writers, (~mask, mask), strict=True):
            writer.write_batch(batch.cast(writer.schema).filter(pa.array(selected)))
    for writer in writers:
        writer.close()
