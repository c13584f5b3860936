"""Odd cells: cells of a number column that are not numbers. A few are missing, many are an error."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any

from weigh import errors
from weigh.advice import Setting, Text, join, set_kind
from weigh.deduplicated_warnings import Origin, find_origin, warn
from weigh.features.cells import PLAIN, Reading, find_unit, is_numeric, read_column
from weigh.source.base import ChunkReader
from weigh.source.cells import MAX_EXAMPLES, CellCounts, OddCell, OddRows
from weigh.source.chunk import Chunk, MatrixColumns
from weigh.source.missing import Marker
from weigh.source.values import shorten_repr

_NUMBER_START = re.compile(r"\s*[<>≤≥~≈]?=?\s*[-+\u2212(]?\s*[.,]?\d")
MAX_READ_CELLS = 20  # odd ones, for a message
MAX_ODD_SHARE = 0.01  # of the known cells of a number column


@dataclass(frozen=True)
class CellReader:
    """Reads the numeric columns of chunks; columns without a reading of their own have plain numbers."""

    numeric: Sequence[str]
    readings: Mapping[str, Reading]
    missing: tuple[Marker, ...]

    def convert(self, chunk: Chunk) -> Chunk:
        """Return the chunk with numbers instead of text, and the counts of the cells that are none."""
        if isinstance(chunk.columns, MatrixColumns):
            return chunk
        columns: dict[str, Any] = {}
        counts: dict[str, CellCounts] = {}
        for name in self.numeric:
            column = chunk.columns[name]
            if not is_numeric(column):
                reading = self.readings.get(name, PLAIN)
                columns[name], counts[name] = read_column(column, name, reading, self.missing, chunk)
        if not columns:
            return chunk
        return replace(
            chunk, columns={**chunk.columns, **columns}, cell_counts={**chunk.cell_counts, **counts}
        )

    def read(self, readers: Iterator[ChunkReader], *, is_training: bool | None) -> Iterator[ChunkReader]:
        """Add the conversion to each reader; odd cells are reported when the last one has been read.

        While training, too many odd cells are an error. None reports nothing.
        """
        tally = OddCellTally(is_training=bool(is_training))
        for at, reader in enumerate(readers):
            if is_training is None:
                yield reader.then(_convert_chunk, (self, None))
                continue
            if at == 1:
                # Threads may read the chunks; only this one knows the line of the user's code.
                tally.origin = find_origin()
            tally.n_unread += 1
            yield reader.then(_convert_chunk, (self, tally))
        tally.close()


def _convert_chunk(chunk: Chunk, job: tuple[CellReader, OddCellTally | None]) -> Chunk:
    reader, tally = job
    chunk = reader.convert(chunk)
    if tally is not None:
        tally.add(chunk)
    return chunk


class OddCellTally:
    """Counts the odd cells of one pass over a source, whose chunks threads may read in any order."""

    def __init__(self, *, is_training: bool) -> None:
        self.is_training = is_training
        self.origin: Origin | None = None
        self.n_unread = 0  # chunks that were handed out and not yet counted
        self._lock = Lock()
        self._is_closed = False
        self._n_rows = 0
        self._counts: dict[str, CellCounts] = {}
        self._odd_rows: dict[str, OddRows] = {}  # of the first chunk that has any
        self._odd_values: dict[str, list[object]] = {}  # the same for states that were read from bytes

    def add(self, chunk: Chunk) -> None:
        """Count the cells of a chunk; the last one of the pass reports the result."""
        with self._lock:
            self._n_rows += chunk.n_rows
            for name, counts in chunk.cell_counts.items():
                self._counts[name] = self._counts[name] + counts if name in self._counts else counts
                if counts.odd_rows is not None:
                    self._odd_rows.setdefault(name, counts.odd_rows)
            self.n_unread -= 1
            is_last = self._is_closed and self.n_unread == 0
        if is_last:
            self.report()

    def merge(self, other: OddCellTally) -> None:
        """Add the cells of later rows, as `from_json` returns them."""
        self._n_rows += other._n_rows
        for name, counts in other._counts.items():
            self._counts[name] = self._counts[name] + counts if name in self._counts else counts
        for name, values in other._odd_values.items():
            self._odd_values.setdefault(name, values)

    def to_json(self) -> dict[str, Any]:
        """Return the counts as plain data, for the way between processes."""
        columns = {
            name: {
                "missing": counts.n_missing,
                "odd": counts.n_odd,
                "examples": [[cell.row, _to_text(cell.value), cell.place] for cell in counts.examples],
                "values": [_to_text(value) for value in self._list_odd_values(name)],
            }
            for name, counts in self._counts.items()
            if counts.n_missing or counts.n_odd
        }
        return {"rows": self._n_rows, "columns": columns}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> OddCellTally:
        """Return the counts that `to_json` wrote."""
        tally = cls(is_training=True)
        tally._n_rows = int(data["rows"])
        for name, column in data["columns"].items():
            examples = tuple(
                OddCell(row, value, partial(str, place)) for row, value, place in column["examples"]
            )
            tally._counts[name] = CellCounts(column["missing"], column["odd"], examples)
            tally._odd_values[name] = column["values"]
        return tally

    def close(self) -> None:
        """Note that all chunks were handed out."""
        with self._lock:
            self._is_closed = True
            is_complete = self.n_unread == 0
        if is_complete:
            self.report()

    def report(self) -> None:
        """Raise ColumnError if a column has too many odd cells while training; otherwise warn of them."""
        for name, counts in self._counts.items():
            n_known = self._n_rows - counts.n_missing
            if self.is_training and counts.n_odd > _max_odd_cells(n_known):
                raise _too_many_error(name, counts, n_known, self._list_odd_values(name))
        for name, counts in self._counts.items():
            if counts.n_odd:
                n_known = self._n_rows - counts.n_missing
                warning = _odd_cells_warning(name, counts, n_known, is_training=self.is_training)
                warn(warning, [name], self.origin)

    def _list_odd_values(self, name: str) -> list[object]:
        """Return the first distinct odd values of a column."""
        if name in self._odd_values:
            return self._odd_values[name]
        odd_rows = self._odd_rows.get(name)
        rows = [] if odd_rows is None else odd_rows.numbers[:MAX_READ_CELLS].tolist()
        return list(dict.fromkeys(odd_rows.read_cell(row).value for row in rows)) if odd_rows else []


def _to_text(value: object) -> str:
    return value if isinstance(value, str) else str(value)


def _max_odd_cells(n_known: int) -> float:
    """Return how many cells may be odd: a sample of the rows of a file may have a few more by chance."""
    expected = MAX_ODD_SHARE * n_known
    return max(expected, min(10.0, expected + 3 * math.sqrt(expected)))


def _odd_cells_warning(name: str, counts: CellCounts, n_known: int, *, is_training: bool) -> errors.OddCells:
    verb = "is" if counts.n_odd == 1 else "are"
    return errors.OddCells(
        f"Column {name!r}: {_format_count(counts.n_odd, n_known)} and {verb} treated as missing: "
        f"{_format_examples(counts)}.",
        hint=_advise(name, counts, is_training=is_training),
    )


def _too_many_error(
    name: str, counts: CellCounts, n_known: int, values: Sequence[object]
) -> errors.ColumnError:
    # Naming a few of many different values as missing would not help.
    if 2 * counts.n_odd > n_known or len(values) > MAX_EXAMPLES:
        advice: Text = ("If the column is no number, use ", set_kind(name, "category"), " or another kind.")
    else:
        advice = _advise(name, counts, is_training=True)
    return errors.ColumnError(
        f"Column {name!r} is a number, but {_format_count(counts.n_odd, n_known)}, more than 1 %: "
        f"{_format_examples(counts)}.",
        hint=advice,
    )


def _format_count(n_odd: int, n_known: int) -> str:
    return f"{n_odd:,} of {n_known:,} cells {'is not a number' if n_odd == 1 else 'are not numbers'}"


def _format_examples(counts: CellCounts) -> str:
    def format_cell(cell: OddCell) -> str:
        return f"{shorten_repr(cell.value)} ({cell.place})"

    more = f" and {n_more:,} more" if (n_more := counts.n_odd - len(counts.examples)) else ""
    return ", ".join(map(format_cell, counts.examples)) + more


def _advise(name: str, counts: CellCounts, *, is_training: bool) -> Text:
    advice = advise_missing([cell.value for cell in counts.examples], "use" if is_training else "train with")
    is_category: Text = (" If the column is a category, use ", set_kind(name, "category"), ".")
    return join(advice, is_category) if is_training and not isinstance(advice, str) else advice


def _looks_like_number(value: object) -> bool:
    """Whether a cell is a number in some format, or begins with one, such as "<0.01" and "5 days"."""
    return find_unit(value) is not None or (isinstance(value, str) and _NUMBER_START.match(value) is not None)


def advise_missing(values: Sequence[object], verb: str = "use") -> Text:
    """Return how to name the words among odd values as missing; numbers in another format are not."""
    words = list(dict.fromkeys(value for value in values if not _looks_like_number(value)))
    if not words:
        which = "It looks like a number" if len(values) == 1 else "They look like numbers"
        return f"{which} in another format or unit: write all numbers of the column alike."
    which = "that means" if len(words) == 1 else "they mean"
    return (f"If {which} missing, {verb} ", Setting("missing", words), ".")
