"""The interface of all sources of rows, and the checks they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from weigh.errors import DataError, parameter_error
from weigh.source.cells import NumberFormat
from weigh.source.chunk import Chunk
from weigh.source.missing import Marker

# Column kinds are inferred from this many first rows and then fixed.
PREFIX_ROWS = 10_000
CHUNK_ROWS = 65_536

# A larger prefix is read again when it is needed instead of being kept.
MAX_KEPT_BYTES = 80_000_000

ColumnKinds = Mapping[str, str]
# The kinds whose columns files read as numbers; flags may be words.
NUMBER_KINDS = frozenset({"number", "count", "value", "products", "curve"})


class ChunkReader:
    """One chunk of `n_rows` rows that is still to be read; `read` may be called in any thread."""

    def __init__(self, n_rows: int, parse: Callable[..., Chunk], *arguments: Any) -> None:
        self.n_rows, self._parse, self._arguments = n_rows, parse, arguments
        self._steps: list[tuple[Callable[..., Chunk], Any]] = []

    @classmethod
    def split(
        cls, n_rows: int, size: int, parse: Callable[..., Chunk], *arguments: Any
    ) -> Iterator[ChunkReader]:
        """Yield readers of parse(start, stop, *arguments) for all rows, at most `size` rows each."""
        for start in range(0, max(n_rows, 1), size):
            stop = min(start + size, n_rows)
            yield cls(stop - start, parse, start, stop, *arguments)

    def then(self, step: Callable[..., Chunk], argument: Any) -> ChunkReader:
        """Add a step: `read` applies step(chunk, argument) to the parsed chunk."""
        self._steps.append((step, argument))
        return self

    def read(self) -> Chunk:
        """Parse the rows and apply the steps."""
        chunk = self._parse(*self._arguments)
        for step, argument in self._steps:
            chunk = step(chunk, argument)
        return chunk


class Source(ABC):
    """Rows that can be read repeatedly, chunk by chunk.

    Threads may share a source: every pass over its rows is independent of the others.

    Attributes
    ----------
    names : feature columns in order, without the label; empty for a sparse matrix
    width : number of feature columns
    named : whether the data has column names, rather than x0, x1, ... of a bare array
    start : index of the first column in formats with column numbers instead of names
    label : name of the label column, if the labels are a column of the data
    n_rows : number of rows, or None if it is known only after reading to the end
    n_entries : number of stored values if the rows are sparse, otherwise None
    kinds : kinds implied by the file format, by column name
    missing : markers of missing values; reading further rows of the same data requires them too
    file_dialect : settings with which a file was read, where they differ from the defaults; see `weigh.open`
    number_format : how all numbers of a text file are written if the user stated it
    paths : the files that the rows are read from; empty for data in memory
    bytes_total, bytes_read : size of the file and progress of the latest pass
    """

    names: tuple[str, ...]
    width: int
    named: bool
    start: int = 0
    label: str | None
    n_rows: int | None
    n_entries: int | None = None
    kinds: ColumnKinds = MappingProxyType({})
    missing: tuple[Marker, ...] = ()
    file_dialect: Mapping[str, Any] = MappingProxyType({})
    number_format: NumberFormat | None = None
    paths: tuple[str, ...] = ()
    bytes_total: int | None = None
    bytes_read: int = 0
    _prefix: tuple[int, Chunk] | None = None  # the number of rows requested, and the rows

    @abstractmethod
    def chunk_readers(
        self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS
    ) -> Iterator[ChunkReader]:
        """Yield readers of all rows from the start, at most `size` rows each.

        `kinds` maps columns to their kinds: "skip" columns are omitted, and files return numeric
        columns as float64. Every call starts at the first row.
        """

    @abstractmethod
    def with_label(self, name: str) -> Source:
        """Return the same rows with column `name` as the label."""

    def chunks(self, kinds: ColumnKinds | None = None, size: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Read all rows from the start, at most `size` at a time."""
        return (reader.read() for reader in self.chunk_readers(kinds, size))

    def with_missing(self, missing: Iterable[Marker]) -> Source:
        """Return the same rows with additional markers of missing values."""
        added = tuple(marker for marker in missing if marker not in self.missing)
        return self._with_missing(self.missing + added) if added else self

    def without_markers(self) -> Source:
        """Return the same rows without markers of missing values, which are then ordinary values."""
        return self._with_missing(()) if self.missing else self

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

    def with_number_formats(self, formats: Mapping[str, NumberFormat]) -> Source:
        """Return the same rows with the numbers of these columns parsed as written; only CSV files do so."""
        del formats
        return self

    def with_columns(self, names: Sequence[str]) -> Source:
        """Return the same rows with all these columns; columns absent from a sparse file are empty.

        Sparse formats list only non-empty columns, so a short file may lack columns that a model has.
        """
        del names
        return self

    def prefix(self, n: int = PREFIX_ROWS, kinds: ColumnKinds | None = None) -> Chunk:
        """Return the first n rows, or all if there are fewer; does not affect progress.

        Without `kinds` they are read once and kept if they are small: inference, warnings and checks share
        them. Files return fewer rows if these exceed 32 MB.
        """
        check_chunk_size(n)
        if kinds is not None:
            return self._read_prefix(n, kinds)
        kept = self._prefix  # read once, because another thread may replace it
        # Fewer rows than requested are all that there are, or all that a file returns.
        if kept is not None and (n <= kept[0] or kept[1].n_rows < kept[0]):
            return kept[1].slice(0, n)
        rows = self._read_prefix(n, None)
        if _count_bytes(rows) <= MAX_KEPT_BYTES:
            self._prefix = n, rows
        return rows

    def _read_prefix(self, n: int, kinds: ColumnKinds | None) -> Chunk:
        return next(self.chunk_readers(kinds, n)).read()

    def format_place(self, row: int) -> str:
        """Return where one of the first rows is, for a message: text files count lines."""
        return f"row {row:,}"

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes of a copy, which reads its own first rows: its columns may differ."""
        return {name: value for name, value in self.__dict__.items() if name != "_prefix"}


def _count_bytes(chunk: Chunk) -> int:
    """Return the size of the columns; lists and objects count as one word per row."""
    sparse = [] if chunk.sparse is None else [array for array in chunk.sparse.csr if array is not None]
    return sum(getattr(part, "nbytes", 8 * chunk.n_rows) for part in [*chunk.columns.values(), *sparse])


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
