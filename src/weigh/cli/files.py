"""Several files of the same columns, read one after the other as one source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from weigh import errors
from weigh.source import Chunk, Source

CHUNK_ROWS = 65_536


class FileRow(Source):
    """Files in a row; columns are matched by name, the first file says which there are."""

    def __init__(self, sources: Sequence[Source], paths: Sequence[str]) -> None:
        first = sources[0]
        for source, path in zip(sources, paths, strict=True):
            if set(source.names) != set(first.names):
                odd = sorted(set(source.names) ^ set(first.names))
                raise errors.DataError(
                    f"{paths[0]} and {path} do not have the same columns: only one of them has "
                    f"{errors.listing(odd)}."
                )
        self.names, self.width, self.named, self.label = first.names, first.width, first.named, first.label
        self.n_rows = None
        self.bytes_total = sum(source.bytes_total or 0 for source in sources)
        self._sources = sources

    def chunks(self, kinds: Any = None, size: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Read all files from the start."""
        done = before = 0
        for source in self._sources:
            for chunk in source.chunks(kinds, size):
                self.bytes_read = before + source.bytes_read
                yield replace(chunk, first_row=done + chunk.first_row)
            done += chunk.first_row + chunk.n_rows
            before += source.bytes_total or 0

    def prefix(self, n: int = 10_000, kinds: Any = None) -> Chunk:
        """The first rows, of the first file."""
        return self._sources[0].prefix(n, kinds)

    def labelled(self, name: str) -> Source:
        """The same files with another label column."""
        return FileRow([source.labelled(name) for source in self._sources], [""] * len(self._sources))


def open_all(paths: Sequence[str], opened: Callable[..., Source]) -> Source:
    """Open one or more files; a column that is text in one of them is text in all."""
    sources = [opened(path) for path in paths]
    if len(sources) == 1:
        return sources[0]
    types = [getattr(source, "types", {}) for source in sources]
    mixed = [name for name in types[0] if len({str(each.get(name)) == "string" for each in types}) > 1]
    if mixed:
        sources = [
            opened(path, strings=[n for n in mixed if n in t]) for path, t in zip(paths, types, strict=True)
        ]
    return FileRow(sources, paths)
