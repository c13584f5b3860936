"""fastText files: one label and one text per line."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from weigh.source.base import ColumnKinds
from weigh.source.chunk import Chunk, TextColumn
from weigh.source.files.formats import LABEL_PREFIX
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

TEXT_COLUMN = "text"
_SPACE, _TAB = 32, 9
_USUAL_LABEL_BYTES = 24  # enough for most labels and the blank after them


class FastTextSource(LineSource):
    """Lines `__label__x words ...`: text labels, and one column `text` of spans of the read buffer."""

    def __init__(
        self, path: Path, label: str | None, missing: tuple[Marker, ...], *, encoding: str, block: int
    ) -> None:
        super().__init__(path, label, missing, encoding=encoding, block=block)
        self.kinds = {TEXT_COLUMN: "text"}
        self.set_columns({self.label_column: "string", TEXT_COLUMN: "text"}, self.label_column)
        self.first_block(1)

    def parse_block(self, block: LineBlock, kinds: ColumnKinds | None) -> Chunk:
        """Parse the labels and texts of a block; the texts are not copied."""
        self.check_utf8(block.data)
        prefixes = find_labels(block.data)
        rows = block.rows_at(prefixes)
        self._check_labels(block, prefixes, rows)
        label_starts = prefixes + len(LABEL_PREFIX)
        label_ends = _find_label_ends(block.data, label_starts, block.ends[rows])
        codes = np.full(block.n_rows, -1, dtype=np.int32)
        codes[rows], names = encode_spans(block.data, label_starts, label_ends - label_starts)
        labels = self.encode_labels(codes, names)
        starts = block.starts.copy()
        starts[rows] = np.minimum(label_ends + 1, block.ends[rows])
        starts = skip_blanks(block.data, starts, block.ends)
        texts = TextColumn(starts, block.ends - starts, block.data)
        return self.make_chunk({self.label_column: labels, TEXT_COLUMN: texts}, block.first_row, kinds)

    def _check_labels(self, block: LineBlock, prefixes: Offsets, rows: Offsets) -> None:
        """Raise SourceError for a label that is not the first word of its line or not the only label."""
        misplaced = np.flatnonzero(prefixes != block.starts[rows])
        if not len(misplaced):
            return
        i = misplaced[0]
        line = self.file_errors.line_number(block.offset + int(prefixes[i]))
        if i and rows[i - 1] == rows[i]:
            problem = " has several labels; a classifier learns one. Write one label per line."
        else:
            problem = " has its label after other words. Write the label first."
        raise self.file_errors.line_error(problem, line)


def find_labels(data: Bytes) -> Offsets:
    """Return the offsets of words that begin with `__label__`."""
    offsets: Offsets = np.flatnonzero(data[: max(0, len(data) - len(LABEL_PREFIX) + 1)] == LABEL_PREFIX[0])
    for i, byte in enumerate(LABEL_PREFIX):
        offsets = offsets[data[offsets + i] == byte]
    before = data[offsets - 1]
    words: Offsets = offsets[(offsets == 0) | (before == NEWLINE) | IS_BLANK[before]]
    return words


def _find_label_ends(data: Bytes, starts: Offsets, line_ends: Offsets) -> Offsets:
    """Return the offset of the first blank after each start, at most the end of its line."""
    window = data[np.minimum(starts[:, None] + np.arange(_USUAL_LABEL_BYTES), len(data) - 1)]
    is_blank = (window == _SPACE) | (window == _TAB)
    label_ends = starts + is_blank.argmax(axis=1)
    for row in np.flatnonzero(~is_blank.any(axis=1)):
        line = data[starts[row] : line_ends[row]].tobytes().replace(b"\t", b" ")
        label_ends[row] = starts[row] + len(line.partition(b" ")[0])
    result: Offsets = np.minimum(label_ends, line_ends)
    return result
