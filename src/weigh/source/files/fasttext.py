"""fastText files: a label and a text per line."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from weigh.source.base import ColumnKinds
from weigh.source.chunk import Chunk, TextColumn
from weigh.source.files.lines import (
    IS_BLANK,
    NEWLINE,
    LineBlock,
    LineSource,
    Offsets,
    encode_spans,
    skip_blanks,
)
from weigh.source.files.text_files import Bytes
from weigh.source.missing import Marker

LABEL_PREFIX = b"__label__"
TEXT_COLUMN = "text"
_SPACE, _TAB = 32, 9
_USUAL_LABEL_BYTES = 24  # bytes that most labels and the blank behind them have


class FastTextSource(LineSource):
    """Lines `__label__x words ...`: labels of text, and one column `text` that stays where it was read."""

    def __init__(
        self, path: Path, label: str | None, missing: tuple[Marker, ...], *, encoding: str, block: int
    ) -> None:
        super().__init__(path, label, missing, encoding=encoding, block=block)
        self.kinds = {TEXT_COLUMN: "text"}
        self.set_columns({self.label_column: "string", TEXT_COLUMN: "text"}, self.label_column)
        self.first_block(1)

    def parse_block(self, block: LineBlock, kinds: ColumnKinds | None) -> Chunk:
        """The labels and texts of a block; the texts are not copied."""
        self.check_utf8(block.data)
        marks = find_labels(block.data)
        rows = block.rows_at(marks)
        self._check_labels(block, marks, rows)
        begins = marks + len(LABEL_PREFIX)
        ends = _find_label_ends(block.data, begins, block.ends[rows])
        codes = np.full(block.n_rows, -1, dtype=np.int32)
        codes[rows], names = encode_spans(block.data, begins, ends - begins)
        labels = self.encode_labels(codes, names)
        starts = block.starts.copy()
        starts[rows] = np.minimum(ends + 1, block.ends[rows])
        starts = skip_blanks(block.data, starts, block.ends)
        texts = TextColumn(starts, block.ends - starts, block.data)
        return self.make_chunk({self.label_column: labels, TEXT_COLUMN: texts}, block.first_row, kinds)

    def _check_labels(self, block: LineBlock, marks: Offsets, rows: Offsets) -> None:
        """Refuse a label that is not the first word of its line, or not the only one there."""
        odd = np.flatnonzero(marks != block.starts[rows])
        if not len(odd):
            return
        at = odd[0]
        line = self.file_errors.line_number(block.offset + int(marks[at]))
        if at and rows[at - 1] == rows[at]:
            what = " has several labels; a classifier learns one. Write one label per line."
        else:
            what = " has its label behind words. Write the label first."
        raise self.file_errors.line_error(what, line)


def find_labels(data: Bytes) -> Offsets:
    """Where words that begin with `__label__` begin."""
    places: Offsets = np.flatnonzero(data[: max(0, len(data) - len(LABEL_PREFIX) + 1)] == LABEL_PREFIX[0])
    for at, sign in enumerate(LABEL_PREFIX):
        places = places[data[places + at] == sign]
    before = data[places - 1]
    words: Offsets = places[(places == 0) | (before == NEWLINE) | IS_BLANK[before]]
    return words


def _find_label_ends(data: Bytes, begins: Offsets, ends: Offsets) -> Offsets:
    """The first blank behind each beginning, or the end of its line."""
    near = data[np.minimum(begins[:, None] + np.arange(_USUAL_LABEL_BYTES), len(data) - 1)]
    blank = (near == _SPACE) | (near == _TAB)
    found = begins + blank.argmax(axis=1)
    for row in np.flatnonzero(~blank.any(axis=1)):
        line = data[begins[row] : ends[row]].tobytes().replace(b"\t", b" ")
        found[row] = begins[row] + len(line.partition(b" ")[0])
    stops: Offsets = np.minimum(found, ends)
    return stops
