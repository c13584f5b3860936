"""Folders of text files: one subfolder per class, one file per row."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weigh.advice import Setting, Step, Text
from weigh.errors import SourceError
from weigh.source.base import CHUNK_ROWS, ChunkReader, ColumnKinds, check_chunk_size
from weigh.source.chunk import Chunk, TextColumn
from weigh.source.files.base import MAX_PREFIX_BYTES, TextSource
from weigh.source.files.formats import detect_format, find_data_suffix
from weigh.source.files.text_files import UTF8_BOM, TextFileErrors, is_utf8, open_decompressing
from weigh.source.missing import Marker
from weigh.source.paths import READ_ERRORS, walk_files

TEXT_COLUMN = "text"


@dataclass(frozen=True)
class _LabelledFile:
    path: str
    label: int
    size: int


class FolderSource(TextSource):
    """Text files in folders named after their classes; each file is a row.

    Files are read in sorted order, folder by folder; hidden files are skipped.
    """

    def __init__(
        self, path: Path, label: str | None, missing: tuple[Marker, ...], *, encoding: str, block: int
    ) -> None:
        super().__init__(path, label, missing, encoding=encoding, block=block)
        self._is_utf8 = self._check_encoding()
        try:
            self.classes, self._files = _list_files(path)
        except OSError as error:
            raise self.file_errors.read_error(error) from error
        if not self._files:
            raise SourceError(f"The folders in {path} hold no files.", path)
        self.n_rows = len(self._files)
        self.bytes_total = sum(file.size for file in self._files)
        self.kinds = {TEXT_COLUMN: "text"}
        self.set_columns({self.label_column: "string", TEXT_COLUMN: "text"}, self.label_column)

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Yield readers of about one block of files each."""
        check_chunk_size(size)
        self.bytes_read = stop = 0
        while stop < len(self._files):
            start, stop = stop, self._batch_end(stop, size, self.block)
            self.bytes_read += sum(file.size for file in self._files[start:stop])
            yield ChunkReader(stop - start, self._read_files, start, stop, kinds)

    def _read_prefix(self, n: int, kinds: ColumnKinds | None) -> Chunk:
        return self._read_files(0, self._batch_end(0, n, MAX_PREFIX_BYTES), kinds)

    def _batch_end(self, start: int, max_files: int, n_bytes: int) -> int:
        """Return the end of a batch of about `n_bytes`, at least one file."""
        stop = min(start + max_files, len(self._files))
        for i in range(start, stop):
            n_bytes -= self._files[i].size
            if n_bytes <= 0:
                return i + 1
        return stop

    def _read_files(self, start: int, stop: int, kinds: ColumnKinds | None) -> Chunk:
        files = self._files[start:stop]
        texts = [self._read_text(file) for file in files]
        sizes = np.array([len(text) for text in texts], dtype=np.int64)
        data = np.frombuffer(b"".join(texts), dtype=np.uint8)
        codes = np.array([file.label for file in files], dtype=np.int32)
        columns = {
            self.label_column: self.encode_labels(codes, self.classes),
            TEXT_COLUMN: TextColumn(np.cumsum(sizes) - sizes, sizes, data),
        }
        return self.make_chunk(columns, start, kinds)

    def _read_text(self, file: _LabelledFile) -> bytes:
        """Return the text of a file in UTF-8."""
        path = Path(file.path)
        max_bytes = max(self.block, MAX_PREFIX_BYTES)
        try:
            stream, raw = open_decompressing(path)
            with raw, stream:
                data: bytes = stream.read(max_bytes + 1)
            if len(data) > max_bytes:
                raise SourceError(
                    f"{path} is longer than {max_bytes:,} bytes.",
                    path,
                    hint=Step("block for a file", "Give block= the size of the longest file."),
                )
            text = data.decode("utf-8" if self._is_utf8 else self.encoding)
        except READ_ERRORS as error:
            raise TextFileErrors(path, self.encoding).read_error(error) from error
        return data.removeprefix(UTF8_BOM) if self._is_utf8 else text.encode("utf-8", "surrogatepass")

    def _check_encoding(self) -> bool:
        try:
            return is_utf8(self.encoding)
        except LookupError as error:
            raise self.file_errors.read_error(error) from error


def _list_files(path: Path) -> tuple[list[str], list[_LabelledFile]]:
    """Return the classes of a folder and all files below them."""
    classes = class_names(path)
    if not classes:
        raise _no_classes_error(path)
    files = [
        _LabelledFile(file, code, os.stat(file).st_size)
        for code, name in enumerate(classes)
        for file in walk_files(os.path.join(path, name))
    ]
    return classes, files


def class_names(path: Path) -> list[str]:
    """Return the sorted names of the subfolders, without hidden ones."""
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


def _no_classes_error(path: Path) -> SourceError:
    suffix = find_data_suffix(path)
    hint: Text = ""
    if suffix is not None and detect_format(Path(f"x{suffix}"), "utf-8") == "mail":
        hint = ("To read the messages in it, give ", Setting("format", "mail"), ".")
    elif suffix is not None:
        hint = f"To read the files in it as one table, give {str(path / ('*' + suffix))!r}."
    return SourceError(f"{path} is a folder without a folder per class.", path, hint=hint)
