"""`open`: data files as a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weigh.errors import DataError, parameter_error, quote_names
from weigh.source.base import CHUNK_ROWS, PREFIX_ROWS, ChunkReader, ColumnKinds, Source
from weigh.source.chunk import Chunk
from weigh.source.files.arrow_formats import JsonLinesSource, ParquetSource
from weigh.source.files.base import DEFAULT_BLOCK_BYTES, FileSource
from weigh.source.files.csv import CsvDialect, CsvSource
from weigh.source.files.fasttext import FastTextSource
from weigh.source.files.folder import FolderSource
from weigh.source.files.formats import FORMATS, detect_format
from weigh.source.files.libsvm import LibsvmSource
from weigh.source.files.vowpal_wabbit import VwSource
from weigh.source.mail.mail_source import MailSource
from weigh.source.missing import Marker, to_markers
from weigh.source.paths import PathLike, check_readable, resolve_paths


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
    quotes: bool = True,
    block: int = DEFAULT_BLOCK_BYTES,
) -> Source:
    """Data files as a source of chunks, in bounded memory.

    Parameters
    ----------
    path : the file; .gz, .bz2, .xz, .lz4 and .zst are unpacked while reading. A pattern such as
        "data/*.csv" or a list of files with the same columns is read as one table. A folder that
        holds a folder per class gives a row per file, a Maildir one per message. "-" is standard input
    label : name of the column that holds the labels; where labels have a place of their own (fastText,
        VW, LIBSVM, folders, mail), what to call them instead of "label"
    format : "csv", "tsv", "parquet", "json" (one object per line), "fasttext" (`__label__x words`),
        "vw" (`label |namespace feature:value`), "libsvm" (`label index:value`), "folder" or
        "mail" (mailboxes and folders of messages); None goes by the ending
    missing : markers that mean a missing value, in texts and numbers alike; "" always does in CSV
    encoding : of the text in files
    delimiter : between the fields of a CSV file; None is a comma, or a tab in TSV
    has_header : whether the first line of a CSV file names the columns
    names : the columns' names in a CSV file without a header, where None calls them x0, x1, ...; or
        all namespaces of a VW file, where None finds those of the first 10,000 rows
    strings : columns of a CSV file to read as text although they look like numbers
    quotes : whether a field of a CSV file that begins with '"' is quoted; False takes every '"' as it is
    block : bytes of text read at a time; a row has at most 32 MB, or so many if another number is given
    """
    if format is not None and format not in FORMATS:
        raise parameter_error("open", "format", f"one of {', '.join(map(repr, FORMATS))}", format)
    if block < 1:
        raise parameter_error("open", "block", "at least 1", block)
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
        raise parameter_error(
            "open", "delimiter", "one ASCII character, no quote and no end of line", delimiter
        )
    dialect = CsvDialect(delimiter or ",", encoding, has_header, to_markers(missing), block, quotes)
    reading = _OpenOptions(format, label, dialect, delimiter is not None, names, strings)
    return concatenate_files([reading.open_path(each) for each in resolve_paths(path)])


# Formats that need to be told no more than any text.
_TEXT_SOURCES: dict[str, Callable[..., FileSource]] = {
    "json": JsonLinesSource,
    "fasttext": FastTextSource,
    "libsvm": LibsvmSource,
    "folder": FolderSource,
    "mail": MailSource,
}


@dataclass(frozen=True)
class _OpenOptions:
    """How files shall be read."""

    format: str | None
    label: str | None
    dialect: CsvDialect
    has_delimiter: bool  # whether the dialect's delimiter was given
    names: Sequence[str] | None
    strings: Sequence[str]

    def open_path(self, path: Path) -> FileSource:
        """One file, or a folder of files, as a source."""
        if not (path.is_dir() and self.format in {None, "folder", "mail"}):
            check_readable(path)
        kind = self.format or detect_format(path, self.dialect.encoding)
        self._check_names(kind)
        label, missing = self.label, self.dialect.missing
        if kind == "parquet":
            return ParquetSource(path, label, missing)
        text: Any = {"encoding": self.dialect.encoding, "block": self.dialect.block}
        if kind == "vw":
            return VwSource(path, label, missing, **text, namespaces=self.names)
        if kind in _TEXT_SOURCES:
            return _TEXT_SOURCES[kind](path, label, missing, **text)
        tabbed = kind == "tsv" and not self.has_delimiter
        dialect = replace(self.dialect, delimiter="\t") if tabbed else self.dialect
        return CsvSource(path, label, dialect, names=self.names, strings=self.strings)

    def _check_names(self, kind: str) -> None:
        fit = kind == "vw" or (kind in {"csv", "tsv"} and not self.dialect.has_header)
        if self.names is not None and not fit:
            must = "given only with has_header=False of a CSV file, or with a VW file"
            raise parameter_error("open", "names", must, self.names)


def concatenate_files(files: Sequence[FileSource]) -> Source:
    """One source of all files; a column that is text in one of them is text in all."""
    if not files:
        raise parameter_error("open", "path", "a file, or a list of one at least", [])
    if len(files) > 1:
        files = [file.align_with(files) for file in files]
    first = files[0]
    for file in files:
        if set(file.names) != set(first.names):
            odd = sorted(set(file.names) ^ set(first.names))
            raise DataError(
                f"{first.path} and {file.path} do not have the same columns: only one of them has "
                f"{quote_names(odd)}."
            )
    if len(files) == 1:
        return first
    texts = {name: "string" for file in files for name, kind in file.types.items() if str(kind) == "string"}
    return ConcatenatedSource([file.with_storage(texts) for file in files])


class ConcatenatedSource(Source):
    """Files in a row; columns are matched by name, the first file says which there are."""

    def __init__(self, sources: Sequence[Source]) -> None:
        first = sources[0]
        self.names, self.width, self.named, self.label = first.names, first.width, first.named, first.label
        self.kinds, self.missing, self.start = first.kinds, first.missing, first.start
        self.n_rows = None
        self.bytes_total = sum(source.bytes_total or 0 for source in sources)
        self._sources = sources

    def chunks(self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Read all files from the start, at most `size` rows at a time."""
        return (piece() for piece in self.chunk_readers(kinds, size))

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Read like `chunks`, but leave making each chunk to whoever calls it, in any thread."""
        self.bytes_read = self.rows_read = 0
        rows = size_before = 0
        for source in self._sources:
            for piece in source.chunk_readers(kinds, size):
                self.bytes_read = size_before + source.bytes_read
                self.rows_read = rows + source.rows_read
                yield _shift_first_row(piece, rows)
            rows += source.rows_read
            size_before += source.bytes_total or 0
        self.bytes_read = size_before

    def prefix(self, n: int = PREFIX_ROWS, kinds: ColumnKinds | None = None) -> Chunk:
        """The first rows, of the first file."""
        return self._sources[0].prefix(n, kinds)

    def with_label(self, name: str) -> Source:
        """The same files with another label column."""
        return ConcatenatedSource([source.with_label(name) for source in self._sources])

    def with_columns(self, names: Sequence[str]) -> Source:
        """The same files, with columns of these names that they lack."""
        return ConcatenatedSource([source.with_columns(names) for source in self._sources])

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        return ConcatenatedSource([source.with_missing(missing) for source in self._sources])

    def with_storage(self, storage: ColumnKinds) -> Source:
        """The same files, read as `storage` says."""
        return ConcatenatedSource([source.with_storage(storage) for source in self._sources])


def _shift_first_row(piece: ChunkReader, rows: int) -> ChunkReader:
    """A piece of a file before which so many rows of other files stand."""
    if rows == 0:
        return piece

    def moved() -> Chunk:
        chunk = piece()
        return replace(chunk, first_row=rows + chunk.first_row)

    return moved
