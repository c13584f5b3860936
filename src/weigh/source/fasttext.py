"""fastText files: a label and a text per line."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from weigh.source.base import Kinds
from weigh.source.bytes import Bytes
from weigh.source.chunk import Chunk, Texts
from weigh.source.line_block import IS_BLANK, NEWLINE, LineBlock, Places, encoded, past_blanks
from weigh.source.line_source import LineSource
from weigh.source.missing import Marker

PREFIX = b"__label__"
TEXT = "text"
_SPACE, _TAB = 32, 9
_USUAL = 24  # bytes that most labels and the blank behind them have


class FastTextSource(LineSource):
    """Lines `__label__x words ...`: labels of text, and one column `text` that stays where it was read."""

    def __init__(
        self, path: Path, label: str | None, missing: tuple[Marker, ...], *, encoding: str, block: int
    ) -> None:
        super().__init__(path, label, missing, encoding=encoding, block=block)
        self.kinds = {TEXT: "text"}
        self.describe({self.label_column: "string", TEXT: "text"}, self.label_column)
        self.first(1)

    def read(self, block: LineBlock, kinds: Kinds | None) -> Chunk:
        """The labels and texts of a block; the texts are not copied."""
        self.check_text(block.data)
        marks = label_places(block.data)
        rows = block.rows_of(marks)
        self._check_labels(block, marks, rows)
        begins = marks + len(PREFIX)
        ends = _label_ends(block.data, begins, block.ends[rows])
        codes = np.full(block.n_rows, -1, dtype=np.int32)
        codes[rows], names = encoded(block.data, begins, ends - begins)
        labels = self.labels_of(codes, names)
        starts = block.begins.copy()
        starts[rows] = np.minimum(ends + 1, block.ends[rows])
        starts = past_blanks(block.data, starts, block.ends)
        texts = Texts(starts, block.ends - starts, block.data)
        return self.chunk_of({self.label_column: labels, TEXT: texts}, block.first_row, kinds)

    def _check_labels(self, block: LineBlock, marks: Places, rows: Places) -> None:
        """Refuse a label that is not the first word of its line, or not the only one there."""
        odd = np.flatnonzero(marks != block.begins[rows])
        if not len(odd):
            return
        at = odd[0]
        line = self.faults.line(block.offset + int(marks[at]))
        if at and rows[at - 1] == rows[at]:
            what = " has several labels; a classifier learns one. Write one label per line."
        else:
            what = " has its label behind words. Write the label first."
        raise self.faults.told(what, line)


def label_places(data: Bytes) -> Places:
    """Where words that begin with `__label__` begin."""
    places: Places = np.flatnonzero(data[: max(0, len(data) - len(PREFIX) + 1)] == PREFIX[0])
    for at, sign in enumerate(PREFIX):
        places = places[data[places + at] == sign]
    before = data[places - 1]
    words: Places = places[(places == 0) | (before == NEWLINE) | IS_BLANK[before]]
    return words


def _label_ends(data: Bytes, begins: Places, ends: Places) -> Places:
    """The first blank behind each beginning, or the end of its line."""
    near = data[np.minimum(begins[:, None] + np.arange(_USUAL), len(data) - 1)]
    blank = (near == _SPACE) | (near == _TAB)
    found = begins + blank.argmax(axis=1)
    for row in np.flatnonzero(~blank.any(axis=1)):
        line = data[begins[row] : ends[row]].tobytes().replace(b"\t", b" ")
        found[row] = begins[row] + len(line.partition(b" ")[0])
    stops: Places = np.minimum(found, ends)
    return stops
