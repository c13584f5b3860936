"""A folder per class, a file per row."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weigh.errors import SourceError
from weigh.source.base import CHUNK_ROWS, PREFIX_ROWS, Kinds, Piece, check_size
from weigh.source.bytes import MARK, is_utf8, unpacked
from weigh.source.chunk import Chunk, Texts
from weigh.source.damage import DAMAGE
from weigh.source.faults import TextFaults
from weigh.source.file_source import PREFIX_BYTES
from weigh.source.formats import data_ending, format_of
from weigh.source.missing import Marker
from weigh.source.paths import files_below
from weigh.source.text_source import TextSource

TEXT = "text"


@dataclass(frozen=True)
class _File:
    path: str
    label: int
    size: int


class FolderSource(TextSource):
    """Files below folders that name their classes; each file's text is a row.

    Files are read in the order of their sorted names, folder by folder; hidden ones are left out.
    """

    def __init__(
        self, path: Path, label: str | None, missing: tuple[Marker, ...], *, encoding: str, block: int
    ) -> None:
        super().__init__(path, label, missing, encoding=encoding, block=block)
        self._is_utf8 = self._known_encoding()
        try:
            self.classes, self._files = _listed(path)
        except OSError as error:
            raise self.faults.of_reading(error) from error
        if not self._files:
            raise SourceError(f"The folders in {path} hold no files.", path)
        self.n_rows = len(self._files)
        self.bytes_total = sum(file.size for file in self._files)
        self.kinds = {TEXT: "text"}
        self.describe({self.label_column: "string", TEXT: "text"}, self.label_column)

    def chunks(self, kinds: Kinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Read all files, at most `size` of them and about a block at a time."""
        return (piece() for piece in self.pieces(kinds, size))

    def pieces(self, kinds: Kinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Piece]:
        """Put files together to about a block; they are read when their piece is called."""
        check_size(size)
        self.bytes_read = self.rows_read = 0
        while self.rows_read < len(self._files):
            start = self.rows_read
            stop = self._stop(start, size, self.block)
            self.bytes_read += sum(file.size for file in self._files[start:stop])
            self.rows_read = stop
            yield self._piece(start, stop, kinds)

    def prefix(self, n: int = PREFIX_ROWS, kinds: Kinds | None = None) -> Chunk:
        """The first n files, or fewer when they exceed 32 MB."""
        return self._piece(0, self._stop(0, check_size(n), PREFIX_BYTES), kinds)()

    def _stop(self, start: int, most: int, size: int) -> int:
        """Where files of about so many bytes end, one at least."""
        stop = min(start + most, len(self._files))
        for at in range(start, stop):
            size -= self._files[at].size
            if size <= 0:
                return at + 1
        return stop

    def _piece(self, start: int, stop: int, kinds: Kinds | None) -> Piece:
        files = self._files[start:stop]

        def read() -> Chunk:
            texts = [self._text(file) for file in files]
            sizes = np.array([len(text) for text in texts], dtype=np.int64)
            data = np.frombuffer(b"".join(texts), dtype=np.uint8)
            codes = np.array([file.label for file in files], dtype=np.int32)
            columns = {
                self.label_column: self.labels_of(codes, self.classes),
                TEXT: Texts(np.cumsum(sizes) - sizes, sizes, data),
            }
            return self.chunk_of(columns, start, kinds)

        return read

    def _text(self, file: _File) -> bytes:
        """A file's text in UTF-8."""
        path = Path(file.path)
        most = max(self.block, PREFIX_BYTES)
        try:
            stream, raw = unpacked(path)
            with raw, stream:
                data: bytes = stream.read(most + 1)
            if len(data) > most:
                raise SourceError(
                    f"{path} is longer than {most:,} bytes. Give block= more than the longest file has.", path
                )
            text = data.decode("utf-8" if self._is_utf8 else self.encoding)
        except DAMAGE as error:
            raise TextFaults(path, self.encoding).of_reading(error) from error
        return data.removeprefix(MARK) if self._is_utf8 else text.encode("utf-8", "surrogatepass")

    def _known_encoding(self) -> bool:
        try:
            return is_utf8(self.encoding)
        except LookupError as error:
            raise self.faults.of_reading(error) from error


def _listed(path: Path) -> tuple[list[str], list[_File]]:
    """The classes of a folder, and all files below them."""
    classes = class_names(path)
    if not classes:
        raise _no_classes(path)
    files = [
        _File(file, code, os.stat(file).st_size)
        for code, name in enumerate(classes)
        for file in files_below(os.path.join(path, name))
    ]
    return classes, files


def class_names(path: Path) -> list[str]:
    """The folders of a folder, sorted."""
    if not path.is_dir():
        raise SourceError(f"{path} is a file. Give a folder that holds a folder per class.", path)
    names = sorted(
        entry.name for entry in os.scandir(path) if entry.is_dir() and not entry.name.startswith(".")
    )
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise SourceError(
                f"The folder {name!r} in {path} is not named in UTF-8. Rename it.", path
            ) from error
    return names


def _no_classes(path: Path) -> SourceError:
    ending = data_ending(path)
    told = f"{path} is a folder without a folder per class."
    if ending is not None and format_of(Path(f"x{ending}"), "utf-8") == "mail":
        told += " To read the messages in it, give format='mail'."
    elif ending is not None:
        told += f" To read the files in it as one table, give {str(path / ('*' + ending))!r}."
    return SourceError(told, path)
