"""LIBSVM (svmlight) files: a label and index:value pairs per line, as sparse rows."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from weigh import _core
from weigh.errors import SourceError
from weigh.source.base import ColumnKinds, Source
from weigh.source.chunk import Chunk, Column
from weigh.source.files.base import FileSource
from weigh.source.files.lines import LineBlock, LineSource
from weigh.source.files.text_files import Bytes
from weigh.source.memory.matrices import MAX_COLUMNS
from weigh.source.missing import Marker
from weigh.source.sparse_rows import SparseRows
from weigh.source.values import shorten_repr

COLON = ord(":")


@dataclass(frozen=True)
class IndexRange:
    """The index of the first column, the number of columns, and whether all labels are whole numbers."""

    start: int
    width: int
    has_integer_labels: bool

    def union(self, other: IndexRange) -> IndexRange:
        """Return the range that covers both; an index 0 in either means that both count from 0."""
        base = min(self.start, other.start)
        width = max(self.start + self.width, other.start + other.width) - base
        return IndexRange(base, width, self.has_integer_labels and other.has_integer_labels)


class LibsvmSource(LineSource):
    """Lines `label index:value ... # comment`, read as sparse rows.

    Indices ascend and count from 1 unless an index 0 occurs. A first pass over the whole file determines
    the number of columns and whether all labels are integers.
    """

    comment: ClassVar[bytes] = b"#"
    named = False

    def __init__(
        self, path: Path, label: str | None, missing: tuple[Marker, ...], *, encoding: str, block: int
    ) -> None:
        super().__init__(path, label, missing, encoding=encoding, block=block)
        self.names = ()
        self.label = self.label_column
        self.types = {self.label_column: "mixed"}
        self.first_block(1)
        self._set_index_range(self._scan())

    def _set_index_range(self, index_range: IndexRange) -> LibsvmSource:
        if index_range.width > MAX_COLUMNS:
            raise SourceError(
                f"{self.path} has an index above {MAX_COLUMNS:,}, the maximum. Hash the columns into fewer.",
                self.path,
            )
        self._index_range = index_range
        self.width, self.start = index_range.width, index_range.start
        return self

    def _scan(self) -> IndexRange:
        min_index, max_index, has_integer_labels = 1, 0, True
        self.n_entries = 0
        for block in self.blocks():
            self.n_entries += int(np.count_nonzero(block.data == COLON))
            low, high, are_integers = _core.scan_svmlight(block.data, block.starts, block.ends)
            min_index = min(min_index, low if low >= 0 else min_index)
            max_index = max(max_index, high)
            has_integer_labels = has_integer_labels and are_integers
        start = min(min_index, 1)
        return IndexRange(start, max(1, max_index + 1 - start), has_integer_labels)

    def with_columns(self, names: Sequence[str]) -> Source:
        """Return the same rows with at least the named columns x0, x1, ... or x1, x2, ...

        A file without index 0 may still count from 0, which only the names can tell.
        """
        start = int(names[0][1:]) if names and names[0] in {"x0", "x1"} else self._index_range.start
        if start > self._index_range.start:
            raise SourceError(
                f"{self.path} has an index 0, but the model's columns are counted from 1. Count them alike.",
                self.path,
            )
        named_range = IndexRange(start, len(names), self._index_range.has_integer_labels)
        return copy.copy(self)._set_index_range(self._index_range.union(named_range))

    def align_with(self, files: Sequence[FileSource]) -> FileSource:
        """Return the same file with the index range of all files."""
        index_range = self._index_range
        for file in files:
            if isinstance(file, LibsvmSource):
                index_range = index_range.union(file._index_range)
        return copy.copy(self)._set_index_range(index_range)

    def with_label(self, name: str) -> Source:
        """Return this source, or raise SourceError for another label because columns have no names."""
        if name == self.label:
            return self
        raise SourceError(
            f"{self.path} has no column {name!r}: columns of this format have numbers, and its labels are "
            f"called {self.label!r}.",
            self.path,
        )

    def parse_block(self, block: LineBlock, kinds: ColumnKinds | None) -> Chunk:
        """Parse the labels and sparse rows of a block."""
        del kinds  # they refer to named columns
        labels, indptr, indices, values, fault = _core.parse_svmlight(
            block.data, block.starts, block.ends, self.start, self.width
        )
        if fault is not None:
            raise self._syntax_error(block, *fault)
        rows = SparseRows(indptr, indices, values, self.width)
        return Chunk({}, block.n_rows, sparse=rows, labels=self._labels(labels), first_row=block.first_row)

    def _labels(self, labels: NDArray[np.float64]) -> Column:
        numbers: NDArray[Any] = labels.astype(np.int64) if self._index_range.has_integer_labels else labels
        if self.types[self.label_column] != "string":
            return numbers
        distinct, codes = np.unique(numbers, return_inverse=True)
        return self.encode_labels(codes.astype(np.int32), list(map(str, distinct.tolist())))

    def _syntax_error(self, block: LineBlock, fault: str, offset: int) -> SourceError:
        word = _word_at(block.data, offset)
        line = self.file_errors.line_number(block.offset + offset)
        return self.file_errors.line_error(f": {_describe_fault(fault, word, self.width)}", line)


def _word_at(data: Bytes, offset: int) -> str:
    words = data[offset : offset + 100].tobytes().split(None, 1)
    return words[0].decode("utf-8", "replace") if words else ""


def _describe_fault(fault: str, word: str, width: int) -> str:
    """Describe a syntax error reported by the native parser."""
    quoted = shorten_repr(word)
    if word.startswith("qid:"):
        return f"{quoted} groups rows for ranking, which is not supported. Remove the qid: fields."
    if fault == "label" and "," in word:
        return f"{quoted} is several labels; a classifier learns one. Write one label per line."
    if fault == "label":
        return f"the label {quoted} is not a number. Write 0 where it is not known."
    if fault == "index":
        return f"{quoted} is not index:value with a whole number as index."
    if fault == "order":
        return f"{quoted} is out of order. Write the indices of a line in ascending order, each once."
    if fault == "value":
        return f"the value of {quoted} is not a number."
    return f"the index of {quoted} is beyond the {width:,} columns of the file."
