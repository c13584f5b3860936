"""The interface of all sources of rows, and the checks they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from weigh.errors import DataError, parameter_error
from weigh.source.chunk import Chunk
from weigh.source.missing import Marker

# Column kinds are inferred from this many first rows and then fixed.
PREFIX_ROWS = 10_000
CHUNK_ROWS = 65_536

ColumnKinds = Mapping[str, str]
ChunkReader = Callable[[], Chunk]


class Source(ABC):
    """Rows that can be read repeatedly, chunk by chunk.

    Attributes
    ----------
    names : feature columns in order, without the label; empty for a sparse matrix
    width : number of feature columns
    named : whether the data has column names, rather than x0, x1, ... of a bare array
    start : index of the first column in formats with column numbers instead of names
    label : name of the label column, if the labels are a column of the data
    n_rows : number of rows, or None if it is known only after reading to the end
    kinds : kinds implied by the file format, by column name
    missing : markers of missing values; reading further rows of the same data requires them too
    bytes_total, bytes_read : size of the file and progress of the latest pass
    rows_read : number of rows yielded by the latest pass over `chunk_readers`
    """

    names: tuple[str, ...]
    width: int
    named: bool
    start: int = 0
    label: str | None
    n_rows: int | None
    kinds: ColumnKinds = MappingProxyType({})
    missing: tuple[Marker, ...] = ()
    bytes_total: int | None = None
    bytes_read: int = 0
    rows_read: int = 0

    @abstractmethod
    def chunks(self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Read all rows from the start, at most `size` at a time.

        `kinds` maps columns to their kinds: "skip" columns are omitted, and files return "number" and
        "count" columns as float64. Every call starts at the first row.
        """

    @abstractmethod
    def with_label(self, name: str) -> Source:
        """Return the same rows with column `name` as the label."""

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Yield functions that parse one chunk each and may be called in any thread."""
        self.rows_read = 0
        for chunk in self.chunks(kinds, size):
            self.rows_read += chunk.n_rows
            yield constant_reader(chunk)

    def with_missing(self, missing: Iterable[Marker]) -> Source:
        """Return the same rows with additional markers of missing values."""
        added = tuple(marker for marker in missing if marker not in self.missing)
        return self._with_missing(self.missing + added) if added else self

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        """Return the same rows with exactly these markers; sources without markers return themselves."""
        del missing
        return self

    def with_storage(self, storage: ColumnKinds) -> Source:
        """Return the same rows with columns read as `storage` says; only text files leave a choice.

        "string" columns are read as text; "mixed" columns as numbers where they look like numbers and as
        text elsewhere. Unknown columns are ignored.
        """
        del storage
        return self

    def with_columns(self, names: Sequence[str]) -> Source:
        """Return the same rows with all these columns; columns absent from a sparse file are empty.

        Sparse formats list only non-empty columns, so a short file may lack columns that a model has.
        """
        del names
        return self

    def prefix(self, n: int = PREFIX_ROWS, kinds: ColumnKinds | None = None) -> Chunk:
        """Return the first n rows, or all if there are fewer; does not affect progress."""
        return next(iter(self.chunks(kinds, size=n)))


def as_chunk_readers(chunks: Iterator[Chunk]) -> Iterator[ChunkReader]:
    """Wrap chunks as chunk readers."""
    return map(constant_reader, chunks)


def constant_reader(chunk: Chunk) -> ChunkReader:
    """Wrap a chunk as a chunk reader."""
    return lambda: chunk


def check_chunk_size(size: int) -> int:
    """Return the size, or raise ParameterError if it is below 1."""
    if size < 1:
        raise parameter_error("chunks", "size", "at least 1", size)
    return size


def find_duplicate(names: Sequence[str]) -> str | None:
    """Return the first name that occurs more than once, or None."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


def check_unique_names(names: Sequence[str], where: str) -> None:
    """Raise DataError if a column name occurs more than once."""
    duplicate = find_duplicate(names)
    if duplicate is not None:
        raise DataError(
            f"{where} has the column name {duplicate!r} more than once. Give every column its own name."
        )


def names_to_read(names: Sequence[str], kinds: ColumnKinds | None) -> list[str]:
    """Return the names of the columns that are not skipped."""
    if not kinds:
        return list(names)
    return [name for name in names if kinds.get(name) != "skip"]
