"""`open`: data files as a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weigh.errors import parameter
from weigh.source.base import Source
from weigh.source.csv import CsvSource, Dialect
from weigh.source.fasttext import FastTextSource
from weigh.source.file_source import BLOCK, FileSource
from weigh.source.folder import FolderSource
from weigh.source.formats import FORMATS, format_of
from weigh.source.jsonlines import JsonSource
from weigh.source.mail.mail_source import MailSource
from weigh.source.missing import Marker, marker_list
from weigh.source.parquet import ParquetSource
from weigh.source.paths import PathLike, check_readable, meant
from weigh.source.several import one_after_another
from weigh.source.svmlight import SvmlightSource
from weigh.source.vw import VwSource


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
    block: int = BLOCK,
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
        raise parameter("open", "format", f"one of {', '.join(map(repr, FORMATS))}", format)
    if block < 1:
        raise parameter("open", "block", "at least 1", block)
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
        raise parameter("open", "delimiter", "one ASCII character, no quote and no end of line", delimiter)
    dialect = Dialect(delimiter or ",", encoding, has_header, marker_list(missing), block, quotes)
    reading = _Reading(format, label, dialect, delimiter is not None, names, strings)
    return one_after_another([reading.opened(each) for each in meant(path)])


# Formats that need to be told no more than any text.
_TEXTS: dict[str, Callable[..., FileSource]] = {
    "json": JsonSource,
    "fasttext": FastTextSource,
    "libsvm": SvmlightSource,
    "folder": FolderSource,
    "mail": MailSource,
}


@dataclass(frozen=True)
class _Reading:
    """How files shall be read."""

    format: str | None
    label: str | None
    dialect: Dialect
    delimited: bool  # whether the dialect's delimiter was given
    names: Sequence[str] | None
    strings: Sequence[str]

    def opened(self, path: Path) -> FileSource:
        """One file, or a folder of files, as a source."""
        if not (path.is_dir() and self.format in {None, "folder", "mail"}):
            check_readable(path)
        kind = self.format or format_of(path, self.dialect.encoding)
        self._check_names(kind)
        label, missing = self.label, self.dialect.missing
        if kind == "parquet":
            return ParquetSource(path, label, missing)
        text: Any = {"encoding": self.dialect.encoding, "block": self.dialect.block}
        if kind == "vw":
            return VwSource(path, label, missing, **text, namespaces=self.names)
        if kind in _TEXTS:
            return _TEXTS[kind](path, label, missing, **text)
        tabbed = kind == "tsv" and not self.delimited
        dialect = replace(self.dialect, delimiter="\t") if tabbed else self.dialect
        return CsvSource(path, label, dialect, names=self.names, strings=self.strings)

    def _check_names(self, kind: str) -> None:
        fit = kind == "vw" or (kind in {"csv", "tsv"} and not self.dialect.has_header)
        if self.names is not None and not fit:
            must = "given only with has_header=False of a CSV file, or with a VW file"
            raise parameter("open", "names", must, self.names)
