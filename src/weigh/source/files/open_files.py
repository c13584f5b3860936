"""`open`: data files as a source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from weigh.errors import DataError, parameter_error, quote_names
from weigh.source.base import CHUNK_ROWS, ChunkReader, ColumnKinds, Source
from weigh.source.chunk import Chunk
from weigh.source.files.base import DEFAULT_BLOCK_BYTES, FileSource
from weigh.source.files.csv import CsvDialect, CsvSource
from weigh.source.files.formats import FORMATS, detect_format
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
    """Open data files as a source of chunks, read in bounded memory.

    Parameters
    ----------
    path : the file; .gz, .bz2, .xz, .lz4 and .zst are decompressed while reading. A pattern such as
        "data/*.csv" or a list of files with the same columns is read as one table. A folder with one
        subfolder per class gives a row per file, a Maildir a row per message. "-" is standard input
    label : name of the label column; in formats with a separate label (fastText, VW, LIBSVM, folders,
        mail), the name to use instead of "label"
    format : "csv", "tsv", "parquet", "json" (one object per line), "fasttext" (`__label__x words`),
        "vw" (`label |namespace feature:value`), "libsvm" (`label index:value`), "folder" or
        "mail" (mailboxes and folders of messages); None detects it from the file name
    missing : markers of missing values in text and numbers; "" is always missing in CSV
    encoding : text encoding of the files
    delimiter : field separator of a CSV file; None is a comma, or a tab in TSV
    has_header : whether the first line of a CSV file holds the column names
    names : column names of a CSV file without a header, None for x0, x1, ...; or all namespaces of
        a VW file, None for those of the first 10,000 rows
    strings : columns of a CSV file to read as text although they look like numbers
    quotes : whether '"' quotes the fields of a CSV file; False treats it as an ordinary character
    block : bytes of text to read at a time; also the maximum size of a row, which is 32 MB by default
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
    options = _OpenOptions(format, label, dialect, delimiter is not None, names, strings)
    return concatenate_files([options.open_path(file) for file in resolve_paths(path)])


# Module and class of each reader but that of CSV; a reader is imported when a file needs it.
_READERS = {
    "parquet": ("files.arrow_formats", "ParquetSource"),
    "json": ("files.arrow_formats", "JsonLinesSource"),
    "fasttext": ("files.fasttext", "FastTextSource"),
    "vw": ("files.vowpal_wabbit", "VwSource"),
    "libsvm": ("files.libsvm", "LibsvmSource"),
    "folder": ("files.folder", "FolderSource"),
    "mail": ("mail.mail_source", "MailSource"),
}


@dataclass(frozen=True)
class _OpenOptions:
    """The options of `open`."""

    format: str | None
    label: str | None
    dialect: CsvDialect
    has_delimiter: bool  # whether the user set the delimiter
    names: Sequence[str] | None
    strings: Sequence[str]

    def open_path(self, path: Path) -> FileSource:
        """Open one file or folder as a source."""
        if not (path.is_dir() and self.format in {None, "folder", "mail"}):
            check_readable(path)
        file_format = self.format or detect_format(path, self.dialect.encoding)
        self._check_names(file_format)
        if file_format in _READERS:
            module, name = _READERS[file_format]
            reader = getattr(import_module(f"weigh.source.{module}"), name)
            source: FileSource = reader(path, self.label, self.dialect.missing, **self._options(file_format))
            return source
        use_tab = file_format == "tsv" and not self.has_delimiter
        dialect = replace(self.dialect, delimiter="\t") if use_tab else self.dialect
        return CsvSource(path, self.label, dialect, names=self.names, strings=self.strings)

    def _options(self, file_format: str) -> dict[str, Any]:
        """Return the options of a reader."""
        if file_format == "parquet":
            return {}
        text_options = {"encoding": self.dialect.encoding, "block": self.dialect.block}
        return {**text_options, "namespaces": self.names} if file_format == "vw" else text_options

    def _check_names(self, file_format: str) -> None:
        has_names = file_format == "vw" or (file_format in {"csv", "tsv"} and not self.dialect.has_header)
        if self.names is not None and not has_names:
            must = "given only for a CSV file without a header, or for a VW file"
            raise parameter_error("open", "names", must, self.names)


def concatenate_files(files: Sequence[FileSource]) -> Source:
    """Return one source of all files; a column that is text in one of them is text in all."""
    if not files:
        raise parameter_error("open", "path", "a file, or a list of one at least", [])
    if len(files) > 1:
        files = [file.align_with(files) for file in files]
    first = files[0]
    for file in files:
        if set(file.names) != set(first.names):
            different = sorted(set(file.names) ^ set(first.names))
            raise DataError(
                f"{first.path} and {file.path} do not have the same columns: only one of them has "
                f"{quote_names(different)}."
            )
    if len(files) == 1:
        return first
    storage = {name: "string" for file in files for name, kind in file.types.items() if str(kind) == "string"}
    return ConcatenatedSource([file.with_storage(storage) for file in files])


class ConcatenatedSource(Source):
    """The rows of several files; columns are matched by name, and the first file defines them."""

    def __init__(self, sources: Sequence[Source]) -> None:
        first = sources[0]
        self.names, self.width, self.named, self.label = first.names, first.width, first.named, first.label
        self.kinds, self.missing, self.start = first.kinds, first.missing, first.start
        self.n_rows = None
        known = [source.n_entries for source in sources if source.n_entries is not None]
        self.n_entries = sum(known) if len(known) == len(sources) else None
        self.bytes_total = sum(source.bytes_total or 0 for source in sources)
        self.sources = sources

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Yield the chunk readers of all files, with row numbers that count across files."""
        self.bytes_read = n_rows = n_bytes = 0
        for source in self.sources:
            n_rows_before = n_rows
            for reader in source.chunk_readers(kinds, size):
                self.bytes_read = n_bytes + source.bytes_read
                n_rows += reader.n_rows
                yield reader.then(_shift_first_row, n_rows_before) if n_rows_before else reader
            n_bytes += source.bytes_total or 0
        self.bytes_read = n_bytes

    def _read_prefix(self, n: int, kinds: ColumnKinds | None) -> Chunk:
        return self.sources[0].prefix(n, kinds)

    def with_label(self, name: str) -> Source:
        """Return the same files with another label column."""
        return ConcatenatedSource([source.with_label(name) for source in self.sources])

    def with_columns(self, names: Sequence[str]) -> Source:
        """Return the same files, each with all these columns."""
        return ConcatenatedSource([source.with_columns(names) for source in self.sources])

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        return ConcatenatedSource([source._with_missing(missing) for source in self.sources])

    def with_storage(self, storage: ColumnKinds) -> Source:
        """Return the same files with columns read as `storage` says."""
        return ConcatenatedSource([source.with_storage(storage) for source in self.sources])


def _shift_first_row(chunk: Chunk, n_rows_before: int) -> Chunk:
    return replace(chunk, first_row=n_rows_before + chunk.first_row)
