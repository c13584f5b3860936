"""Lines of a text: where they begin and end, found for a whole block at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh import _core
from weigh.source.bytes import Bytes

Places = NDArray[np.int64]

NEWLINE, RETURN = 10, 13
BLANKS = b" \t\v\f\r"
IS_BLANK = np.zeros(256, dtype=bool)
IS_BLANK[list(BLANKS)] = True


@dataclass(frozen=True, eq=False)
class LineBlock:
    """Some whole lines: row i is data[begins[i] : ends[i]], without blanks before it or its end of line.

    `offset` is where in the file's text the data begin, `first_row` the number of rows before them.
    """

    data: Bytes
    begins: Places
    ends: Places
    offset: int
    first_row: int = 0

    @property
    def n_rows(self) -> int:
        """How many lines are rows: blank lines and comments are none."""
        return len(self.begins)

    @property
    def stop(self) -> int:
        """Where in the file's text the data end."""
        return self.offset + len(self.data)

    def rows_of(self, places: Places) -> Places:
        """The row in which each place stands."""
        return np.searchsorted(self.begins, places, side="right") - 1


def cut_lines(
    data: Bytes, offset: int, most: int, *, closed: bool, comment: bytes = b"", first_row: int = 0
) -> LineBlock:
    """The whole lines at the start of some data, of which at most so many are rows.

    `closed` says that nothing follows the data, so that the last line needs no end.
    """
    stops = np.flatnonzero(data == NEWLINE) + 1
    if closed and len(data) and (not len(stops) or stops[-1] < len(data)):
        stops = np.append(stops, len(data))
    begins = np.concatenate([[0], stops[:-1]])[: len(stops)]
    ends = stops - (data[stops - 1] == NEWLINE)
    ends -= (ends > begins) & (data[ends - 1] == RETURN)
    begins = past_blanks(data, begins, ends)
    rows = np.flatnonzero(ends > begins)
    if comment:
        rows = rows[data[begins[rows]] != ord(comment)]
    end = int(stops[-1]) if len(stops) else 0
    if len(rows) > most:
        rows = rows[:most]
        end = int(stops[rows[-1]])
    return LineBlock(data[:end], begins[rows], ends[rows], offset, first_row)


def past_blanks(data: Bytes, begins: Places, ends: Places) -> Places:
    """Each place moved on to the first byte that is not blank, or to its end."""
    begins = begins.copy()
    some = np.flatnonzero(begins < ends)
    for at in some[IS_BLANK[data[begins[some]]]]:
        text = data[begins[at] : ends[at]].tobytes()
        begins[at] += len(text) - len(text.lstrip(BLANKS))
    return begins


def encoded(data: Bytes, begins: Places, sizes: Places) -> tuple[NDArray[np.int32], list[str]]:
    """A code for each text at some places, and the distinct texts."""
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    letters = np.repeat(begins - offsets[:-1], sizes) + np.arange(offsets[-1])
    found: tuple[Any, list[str]] = _core.encode_strings(offsets, data[letters], None, 0)
    return found
