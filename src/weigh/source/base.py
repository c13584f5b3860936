"""What every source of rows offers, and the checks they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from weigh.errors import DataError, parameter_error
from weigh.source.chunk import Chunk
from weigh.source.missing import Marker

# Kinds are found from this many first rows, and then frozen.
PREFIX_ROWS = 10_000
CHUNK_ROWS = 65_536

ColumnKinds = Mapping[str, str]
ChunkReader = Callable[[], Chunk]


class Source(ABC):
    """Rows that can be read again and again, chunk by chunk.

    Attributes
    ----------
    names : feature columns in order, without the label; empty when the rows are wide (sparse)
    width : number of feature columns
    named : whether the names came with the data, or are x0, x1, ... of a bare array
    start : the number of the first column where columns have numbers and no names
    label : the label column's name, if the labels are a column of the data
    n_rows : number of rows, or None when only reading to the end can tell
    kinds : kinds that the format itself gives its columns, by name: a file of texts holds text
    missing : markers that the rows were read with; whoever reads more such rows needs them too
    bytes_total, bytes_read : size of the file and how far the latest pass has come, for progress
    rows_read : how many rows the latest pass over `pieces` has handed out
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

        `kinds` maps columns to their kinds: "skip" columns are left out, and files store "number"
        and "count" columns as float64. Every call starts again at the first row.
        """

    @abstractmethod
    def with_label(self, name: str) -> Source:
        """The same rows with column `name` as their label."""

    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Read like `chunks`, but leave making each chunk to whoever calls it, in any thread."""
        self.rows_read = 0
        for chunk in self.chunks(kinds, size):
            self.rows_read += chunk.n_rows
            yield constant_reader(chunk)

    def with_missing(self, missing: Iterable[Marker]) -> Source:
        """The same rows, in which these markers mean missing values too."""
        beyond = tuple(mark for mark in missing if mark not in self.missing)
        return self._with_missing(self.missing + beyond) if beyond else self

    def _with_missing(self, missing: tuple[Marker, ...]) -> Source:
        """The same rows with these markers and no others; rows that can hold none stay as they are."""
        del missing
        return self

    def with_storage(self, storage: ColumnKinds) -> Source:
        """The same rows, columns read as `storage` says; only text files leave a choice.

        "string" columns hold text whatever they look like; "mixed" ones hold numbers where they
        look like numbers, and text elsewhere. Columns that do not exist are passed over.
        """
        del storage
        return self

    def with_columns(self, names: Sequence[str]) -> Source:
        """The same rows with all these columns, where what a file does not mention means empty.

        Sparse formats write down only what there is: a short file may lack columns that a model has.
        """
        del names
        return self

    def prefix(self, n: int = PREFIX_ROWS, kinds: ColumnKinds | None = None) -> Chunk:
        """The first n rows, or all when there are fewer; consumes nothing."""
        return next(iter(self.chunks(kinds, size=n)))


def as_chunk_readers(chunks: Iterator[Chunk]) -> Iterator[ChunkReader]:
    """Chunks that are already made, as pieces."""
    return map(constant_reader, chunks)


def constant_reader(chunk: Chunk) -> ChunkReader:
    """A chunk that is already made, as a piece."""
    return lambda: chunk


def check_chunk_size(size: int) -> int:
    """Refuse a chunk size that would never end."""
    if size < 1:
        raise parameter_error("chunks", "size", "at least 1", size)
    return size


def find_duplicate(names: Sequence[str]) -> str | None:
    """The first name that occurs twice, if any."""
    return next((name for name, times in Counter(names).items() if times > 1), None)


def check_unique_names(names: Sequence[str], where: str) -> None:
    """Refuse columns that cannot be told apart by name."""
    twice = find_duplicate(names)
    if twice is not None:
        raise DataError(
            f"{where} has the column name {twice!r} more than once. Give every column its own name."
        )


def names_to_read(names: Sequence[str], kinds: ColumnKinds | None) -> list[str]:
    """The names that are not skipped."""
    if not kinds:
        return list(names)
    return [name for name in names if kinds.get(name) != "skip"]
