"""`open`: data files as a source."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from weigh.errors import DataError, SourceError, parameter_error, quote_names
from weigh.source.base import CHUNK_ROWS, ChunkReader, ColumnKinds, Source
from weigh.source.cells import NumberFormat
from weigh.source.chunk import Chunk
from weigh.source.dialect import is_delimiter, is_encoding
from weigh.source.files.base import DEFAULT_BLOCK_BYTES, FileSource, note_totals_row
from weigh.source.files.csv import CsvDialect, CsvSource
from weigh.source.files.dialect_detection import (
    LONG_SAMPLE_BYTES,
    TableSample,
    TextSample,
    detect_delimiter,
    detect_encoding,
    find_last_cell,
    note_assumed_encoding,
    uses_decimal_comma,
)
from weigh.source.files.formats import FORMATS, detect_format
from weigh.source.files.text_files import TextFileErrors, is_utf8
from weigh.source.missing import Marker, to_markers
from weigh.source.paths import STDIN_PATH, PathLike, check_readable, resolve_paths
from weigh.source.selected_rows import drop_missing_labels as without_missing_labels
from weigh.text import format_quantity


def open(
    path: PathLike | Sequence[PathLike],
    label: str | None = None,
    *,
    format: str | None = None,
    missing: Marker | Iterable[Marker] = ("",),
    encoding: str | None = None,
    delimiter: str | None = None,
    has_header: bool | None = None,
    names: Sequence[str] | None = None,
    strings: Sequence[str] = (),
    quotes: bool | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    sheet: str | int | None = None,
    drop_missing_labels: bool = False,
    like: Any = None,
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
    format : "csv", "tsv", "excel" (.xlsx, .xlsm, .xlsb, .xls and .ods), "parquet", "json" (one object per
        line), "fasttext" (`__label__x words`), "vw" (`label |namespace feature:value`), "libsvm" (`label
        index:value`), "folder" or "mail" (mailboxes and folders of messages); None detects it from the
        file name, for .txt and .dat from the first lines
    missing : markers of missing values in text and numbers; "" is always missing in CSV
    encoding : text encoding of the files; None or "auto" detects it: byte order marks, UTF-16, UTF-8, else
        Windows-1252 with a warning
    delimiter : field separator of a CSV file; None detects it in the first rows, among , ; tab and |
    has_header : whether the first line of a CSV file holds the column names, as usual
    names : column names of a CSV file without a header, None for x0, x1, ...; or all namespaces of
        a VW file, None for those of the first 10,000 rows
    strings : columns of a CSV file to read as text although they look like numbers
    quotes : whether '"' quotes the fields of a CSV file, as usual; False treats it as an ordinary character
    decimal, thousands : decimal sign and thousands separator of the numbers of a CSV file, such as "," and
        "."; each implies the other. None detects them: a decimal comma in the first rows that no number
        contradicts, and separators of single columns
    sheet : name or index of a sheet of a spreadsheet; None is the first with cells
    drop_missing_labels : whether to leave out rows without a label, with a warning
    like : a model; the file is read as its training file was, with the same names, quotes and markers of
        missing values. Other arguments take precedence, and so do the delimiter and the encoding that the
        file evidently has
    block : bytes of text to read at a time; also the maximum size of a row, which is 32 MB by default
    """
    if format is not None and format not in FORMATS:
        raise parameter_error("open", "format", f"one of {', '.join(map(repr, FORMATS))}", format)
    if block < 1:
        raise parameter_error("open", "block", "at least 1", block)
    if delimiter is not None and not is_delimiter(delimiter):
        raise parameter_error(
            "open", "delimiter", "one ASCII character, no letter, digit, quote or end of line", delimiter
        )
    if sheet is not None and (isinstance(sheet, bool) or not isinstance(sheet, (str, int))):
        raise parameter_error("open", "sheet", "the name or the index of a sheet", sheet)
    stored = StoredDialect.of(like)
    settings: dict[str, Any] = dict(stored.settings) | {
        name: value
        for name, value in (
            ("has_header", has_header),
            ("quotes", quotes),
            ("names", names),
            ("decimal", decimal),
            ("thousands", thousands),
        )
        if value is not None
    }
    dialect = CsvDialect(
        has_header=settings.get("has_header", True),
        missing=tuple(dict.fromkeys((*to_markers(missing), *stored.missing))),
        block=block,
        quotes=settings.get("quotes", True),
        numbers=_check_number_format(settings.get("decimal"), settings.get("thousands") or None),
    )
    has_new_names = names is not None or has_header is not None
    options = _OpenOptions(
        format,
        label,
        dialect,
        delimiter,
        None if encoding == "auto" else encoding,
        names if has_new_names else settings.get("names"),
        strings,
        stored,
        has_new_names,
        sheet,
        settings.keys().isdisjoint({"decimal", "thousands"}),
    )
    source = concatenate_files([options.open_path(file) for file in resolve_paths(path)])
    source = source.with_storage(stored.storage) if stored.storage else source
    return without_missing_labels(source, _describe_paths(path)) if drop_missing_labels else source


def _describe_paths(path: PathLike | Sequence[PathLike]) -> str:
    paths = [path] if isinstance(path, (str, os.PathLike)) else path
    first = "Standard input" if os.fspath(paths[0]) == STDIN_PATH else os.fspath(paths[0])
    return first if len(paths) == 1 else f"{first} and {format_quantity(len(paths) - 1, 'other file')}"


def _check_number_format(decimal: str | None, thousands: str | None) -> NumberFormat:
    """Return the format of numbers; a point cannot separate both decimals and thousands, nor can a comma."""
    if decimal is None:
        decimal = "," if thousands == "." else "."
    if decimal == "," and thousands is None:
        thousands = "."
    if decimal not in (".", ","):
        raise parameter_error("open", "decimal", "'.' or ','", decimal)
    allowed = [separator for separator in (",", ".", " ", "'") if separator != decimal]
    if thousands is not None and thousands not in allowed:
        listing = " or ".join(map(repr, allowed))
        raise parameter_error("open", "thousands", f"{listing} if decimal={decimal!r}", thousands)
    return NumberFormat(decimal, thousands or "")


# Module and class of each reader but that of CSV; a reader is imported when a file needs it.
_READERS = {
    "excel": ("files.spreadsheets", "SpreadsheetSource"),
    "parquet": ("files.arrow_formats", "ParquetSource"),
    "json": ("files.arrow_formats", "JsonLinesSource"),
    "fasttext": ("files.fasttext", "FastTextSource"),
    "vw": ("files.vowpal_wabbit", "VwSource"),
    "libsvm": ("files.libsvm", "LibsvmSource"),
    "folder": ("files.folder", "FolderSource"),
    "mail": ("mail.mail_source", "MailSource"),
}


# Formats without text, or whose parts have encodings of their own.
_BINARY_FORMATS = {"excel", "parquet", "folder", "mail"}


@dataclass(frozen=True)
class StoredDialect:
    """How a model's training file was read: its dialect, markers, label and storage of columns."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    missing: tuple[Marker, ...] = ()
    label: str | None = None
    storage: ColumnKinds = field(default_factory=dict)

    @classmethod
    def of(cls, model: Any) -> StoredDialect:
        """Return what a model, or an estimator that has one, knows about its file."""
        if model is None:
            return cls()
        fitted = getattr(model, "model_", model)
        schema = getattr(fitted, "schema", None)
        if schema is None:
            raise parameter_error("open", "like", "a model or a fitted learner", model)
        return cls(dict(schema.dialect), tuple(schema.missing), schema.label, fitted.storage)


def _check_encoding(path: Path, encoding: str) -> None:
    try:
        is_utf8(encoding)
    except LookupError as error:
        raise TextFileErrors(path, encoding).read_error(error) from error
    if not is_encoding(encoding):
        raise parameter_error("open", "encoding", "an encoding of text such as 'utf-8' or 'cp1252'", encoding)


@dataclass(frozen=True)
class _OpenOptions:
    """The options of `open`; a delimiter or encoding of None is to be detected."""

    format: str | None
    label: str | None
    dialect: CsvDialect
    delimiter: str | None
    encoding: str | None
    names: Sequence[str] | None
    strings: Sequence[str]
    stored: StoredDialect
    has_new_names: bool  # whether the user said what the first line is
    sheet: str | int | None
    detects_numbers: bool  # whether neither the user nor a model says how numbers are written

    def open_path(self, path: Path) -> FileSource:
        """Open one file or folder as a source."""
        if not (path.is_dir() and self.format in {None, "folder", "mail"}):
            check_readable(path)
        file_format = self.format or detect_format(
            path, self.encoding, is_delimited=self.delimiter is not None
        )
        self._check_names(file_format)
        if self.sheet is not None and file_format != "excel":
            raise parameter_error("open", "sheet", "given only for a spreadsheet", self.sheet)
        if file_format in _BINARY_FORMATS:
            usual = self.stored.settings.get("encoding", "utf-8")
            return self._open_as(path, file_format, self.encoding or usual)
        if self.encoding is not None:
            _check_encoding(path, self.encoding)
            return self._open_as(path, file_format, self.encoding)
        return self._open_with_detection(path, file_format)

    def _open_with_detection(self, path: Path, file_format: str) -> FileSource:
        """Open a file in the encoding that its first bytes show, or else those of its first rows."""
        preferred = self.stored.settings.get("encoding")
        start = TextSample.read(path)
        encoding = detect_encoding(start, preferred)
        try:
            source = self._open_as(path, file_format, encoding, start)
        except SourceError:
            if encoding != "utf-8":
                raise
            encoding = detect_encoding(TextSample.read(path, LONG_SAMPLE_BYTES), preferred)
            if encoding == "utf-8":
                raise
            source = self._open_as(path, file_format, encoding)
        if encoding != preferred:
            note_assumed_encoding(path, encoding)
        return source

    def _open_as(
        self, path: Path, file_format: str, encoding: str, start: TextSample | None = None
    ) -> FileSource:
        if file_format in _READERS:
            module, name = _READERS[file_format]
            reader = getattr(import_module(f"weigh.source.{module}"), name)
            options = self._options(file_format, encoding)
            opened: FileSource = reader(path, self.label, self.dialect.missing, **options)
            return opened
        dialect, names = self._complete_dialect(file_format, encoding, start or TextSample.read(path))
        source = CsvSource(path, self.label, dialect, names=names, strings=self.strings)
        if dialect.encoding in {"utf-8", "cp1252", "latin-1"}:
            note_totals_row(path, find_last_cell(path, dialect.delimiter))
        return source

    def _options(self, file_format: str, encoding: str) -> dict[str, Any]:
        """Return the options of a reader."""
        if file_format == "parquet":
            return {}
        if file_format == "excel":
            usual = self.stored.settings.get("sheet")
            layout = {"has_header": self.dialect.has_header, "names": self.names}
            return {"sheet": self.sheet, "usual_sheet": usual, **layout}
        text_options = {"encoding": encoding, "block": self.dialect.block}
        namespaces = self.names if self.has_new_names else None
        return {**text_options, "namespaces": namespaces} if file_format == "vw" else text_options

    def _complete_dialect(
        self, file_format: str, encoding: str, start: TextSample
    ) -> tuple[CsvDialect, Sequence[str] | None]:
        """Return the dialect of a CSV file and the names of its columns if it has no header."""
        names, sample = self.names, self._sample(start, encoding)
        dialect = replace(self.dialect, encoding=encoding, delimiter=self.delimiter or ",")
        has_stored_names = names is not None and not self.has_new_names
        if self.delimiter is None:
            default = self.stored.settings.get("delimiter", "\t" if file_format == "tsv" else ",")
            dialect = replace(dialect, delimiter=detect_delimiter(sample, default, self._header_check()))
        if self.detects_numbers and uses_decimal_comma(sample, dialect.delimiter):
            dialect = replace(dialect, numbers=NumberFormat(",", "."))
        if names is None or not has_stored_names:
            return dialect, names
        # The new file may have a header, or lack the label.
        header, label = sample.split(dialect.delimiter).header, self.stored.label
        features = [name for name in names if name != label]
        if set(features) <= set(header):
            return replace(dialect, has_header=True), None
        return dialect, features if len(header) == len(features) else names

    def _sample(self, start: TextSample, encoding: str) -> TableSample:
        try:
            text = "" if not start.data else start.decode(encoding)
        except LookupError:  # which the reader reports
            text = ""
        return TableSample(text, start.is_whole, self.dialect.quotes)

    def _header_check(self) -> Callable[[Sequence[str]], bool] | None:
        """Return a function that says whether the first record can be right, if anything is known of it."""
        if not self.dialect.has_header:
            names = self.names
            return None if names is None else lambda record: len(record) == len(names)
        label = self.label
        return None if label is None else lambda record: label in record

    def _check_names(self, file_format: str) -> None:
        has_names = file_format == "vw" or (
            file_format in {"csv", "tsv", "excel"} and not self.dialect.has_header
        )
        if self.has_new_names and self.names is not None and not has_names:
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
        self.file_dialect = first.file_dialect
        self.number_format = first.number_format
        self.paths = tuple(path for source in sources for path in source.paths)
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
            file = source.paths[0] if source.paths else "", n_rows
            for reader in source.chunk_readers(kinds, size):
                self.bytes_read = n_bytes + source.bytes_read
                n_rows += reader.n_rows
                yield reader.then(_add_file, file)
            n_bytes += source.bytes_total or 0
        self.bytes_read = n_bytes

    def _read_prefix(self, n: int, kinds: ColumnKinds | None) -> Chunk:
        return self.sources[0].prefix(n, kinds)

    def format_place(self, row: int) -> str:
        """Return the place of one of the first rows in the first file."""
        return self.sources[0].format_place(row)

    def with_label(self, name: str) -> Source:
        """Return the same files with another label column."""
        return ConcatenatedSource([source.with_label(name) for source in self.sources])

    def with_columns(self, names: Sequence[str]) -> Source:
        """Return the same files, each with all these columns."""
        return ConcatenatedSource([source.with_columns(names) for source in self.sources])

    def with_number_formats(self, formats: Mapping[str, NumberFormat]) -> Source:
        """Return the same files with the numbers of these columns parsed as written."""
        return ConcatenatedSource([source.with_number_formats(formats) for source in self.sources])

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        return ConcatenatedSource([source._with_missing(missing) for source in self.sources])

    def with_storage(self, storage: ColumnKinds) -> Source:
        """Return the same files with columns read as `storage` says."""
        return ConcatenatedSource([source.with_storage(storage) for source in self.sources])


def _add_file(chunk: Chunk, file: tuple[str, int]) -> Chunk:
    return chunk.in_file(*file)
