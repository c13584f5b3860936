"""Several files of the same columns, read one after the other as one source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from weigh.errors import DataError, listing, parameter
from weigh.source.base import CHUNK_ROWS, PREFIX_ROWS, Kinds, Piece, Source
from weigh.source.chunk import Chunk
from weigh.source.file_source import FileSource
from weigh.source.missing import Marker


def one_after_another(files: Sequence[FileSource]) -> Source:
    """One source of all files; a column that is text in one of them is text in all."""
    if not files:
        raise parameter("open", "path", "a file, or a list of one at least", [])
    if len(files) > 1:
        files = [file.beside(files) for file in files]
    first = files[0]
    for file in files:
        if set(file.names) != set(first.names):
            odd = sorted(set(file.names) ^ set(first.names))
            raise DataError(
                f"{first.path} and {file.path} do not have the same columns: only one of them has "
                f"{listing(odd)}."
            )
    if len(files) == 1:
        return first
    texts = {name: "string" for file in files for name, kind in file.types.items() if str(kind) == "string"}
    return FileRow([file.stored(texts) for file in files])


class FileRow(Source):
    """Files in a row; columns are matched by name, the first file says which there are."""

    def __init__(self, sources: Sequence[Source]) -> None:
        first = sources[0]
        self.names, self.width, self.named, self.label = first.names, first.width, first.named, first.label
        self.kinds, self.missing, self.start = first.kinds, first.missing, first.start
        self.n_rows = None
        self.bytes_total = sum(source.bytes_total or 0 for source in sources)
        self._sources = sources

    def chunks(self, kinds: Kinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Read all files from the start, at most `size` rows at a time."""
        return (piece() for piece in self.pieces(kinds, size))

    def pieces(self, kinds: Kinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Piece]:
        """Read like `chunks`, but leave making each chunk to whoever calls it, in any thread."""
        self.bytes_read = self.rows_read = 0
        rows = size_before = 0
        for source in self._sources:
            for piece in source.pieces(kinds, size):
                self.bytes_read = size_before + source.bytes_read
                self.rows_read = rows + source.rows_read
                yield _moved(piece, rows)
            rows += source.rows_read
            size_before += source.bytes_total or 0
        self.bytes_read = size_before

    def prefix(self, n: int = PREFIX_ROWS, kinds: Kinds | None = None) -> Chunk:
        """The first rows, of the first file."""
        return self._sources[0].prefix(n, kinds)

    def labelled(self, name: str) -> Source:
        """The same files with another label column."""
        return FileRow([source.labelled(name) for source in self._sources])

    def completed(self, names: Sequence[str]) -> Source:
        """The same files, with columns of these names that they lack."""
        return FileRow([source.completed(names) for source in self._sources])

    def _marked(self, missing: tuple[Marker, ...]) -> Source:
        return FileRow([source.marked(missing) for source in self._sources])

    def stored(self, storage: Kinds) -> Source:
        """The same files, read as `storage` says."""
        return FileRow([source.stored(storage) for source in self._sources])


def _moved(piece: Piece, rows: int) -> Piece:
    """A piece of a file before which so many rows of other files stand."""
    if rows == 0:
        return piece

    def moved() -> Chunk:
        chunk = piece()
        return replace(chunk, first_row=rows + chunk.first_row)

    return moved
