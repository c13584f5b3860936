"""LIBSVM (svmlight) files: a label and numbered values per line, as wide rows."""

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
from weigh.source.chunk import Chunk, Column, SparseRows
from weigh.source.files.base import FileSource
from weigh.source.files.lines import LineBlock, LineSource
from weigh.source.files.text_files import Bytes
from weigh.source.memory.matrices import MAX_COLUMNS
from weigh.source.missing import Marker
from weigh.source.values import shorten_repr


@dataclass(frozen=True)
class IndexRange:
    """The index of the first column, the number of columns, and whether all labels are whole numbers."""

    start: int
    width: int
    has_integer_labels: bool

    def union(self, other: IndexRange) -> IndexRange:
        """The extent of both together: one index 0 in either means that both count from 0."""
        base = min(self.start, other.start)
        width = max(self.start + self.width, other.start + other.width) - base
        return IndexRange(base, width, self.has_integer_labels and other.has_integer_labels)


class LibsvmSource(LineSource):
    """Lines `label index:value ... # comment`, read as sparse rows.

    Indices ascend; they count from 1 unless an index 0 occurs. How many columns there are, and
    whether labels are whole numbers or fractions, is found by a first pass over the whole file.
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

    def _set_index_range(self, extent: IndexRange) -> LibsvmSource:
        if extent.width > MAX_COLUMNS:
            raise SourceError(
                f"{self.path} has an index beyond {MAX_COLUMNS:,}, the most there may be. "
                f"Hash the columns into fewer.",
                self.path,
            )
        self._index_range = extent
        self.width, self.start = extent.width, extent.start
        return self

    def _scan(self) -> IndexRange:
        smallest, largest, whole = 1, 0, True
        for block in self.blocks():
            low, high, only_whole = _core.scan_svmlight(block.data, block.starts, block.ends)
            smallest = min(smallest, low if low >= 0 else smallest)
            largest = max(largest, high)
            whole = whole and only_whole
        base = min(smallest, 1)
        return IndexRange(base, max(1, largest + 1 - base), whole)

    def with_columns(self, names: Sequence[str]) -> Source:
        """The same rows with at least the columns x0, x1, ... or x1, x2, ... that are named.

        A file that happens to lack index 0 cannot tell by itself from where it counts.
        """
        start = int(names[0][1:]) if names and names[0] in {"x0", "x1"} else self._index_range.start
        if start > self._index_range.start:
            raise SourceError(
                f"{self.path} has an index 0, but the model's columns are counted from 1. Count them alike.",
                self.path,
            )
        named = IndexRange(start, len(names), self._index_range.has_integer_labels)
        return copy.copy(self)._set_index_range(self._index_range.union(named))

    def align_with(self, files: Sequence[FileSource]) -> FileSource:
        """The same file, its columns counted as those of all files together."""
        extent = self._index_range
        for file in files:
            if isinstance(file, LibsvmSource):
                extent = extent.union(file._index_range)
        return copy.copy(self)._set_index_range(extent)

    def with_label(self, name: str) -> Source:
        """Refuse any other label: the columns have no names."""
        if name == self.label:
            return self
        raise SourceError(
            f"{self.path} has no column {name!r}: columns of this format have numbers, and its labels are "
            f"called {self.label!r}.",
            self.path,
        )

    def parse_block(self, block: LineBlock, kinds: ColumnKinds | None) -> Chunk:
        """The labels and sparse rows of a block."""
        del kinds  # there are no named columns they could speak of
        extent = self._index_range
        labels, indptr, indices, values, fault = _core.parse_svmlight(
            block.data, block.starts, block.ends, extent.start, extent.width
        )
        if fault is not None:
            raise self._syntax_error(block, *fault)
        wide = SparseRows.from_arrays(indptr, indices, values, extent.width)
        return Chunk({}, block.n_rows, sparse=wide, labels=self._labels(labels), first_row=block.first_row)

    def _labels(self, labels: NDArray[np.float64]) -> Column:
        numbers: NDArray[Any] = labels.astype(np.int64) if self._index_range.has_integer_labels else labels
        if self.types[self.label_column] != "string":
            return numbers
        distinct, codes = np.unique(numbers, return_inverse=True)
        return self.encode_labels(codes.astype(np.int32), list(map(str, distinct.tolist())))

    def _syntax_error(self, block: LineBlock, fault: str, place: int) -> SourceError:
        word = _word_at(block.data, place)
        line = self.file_errors.line_number(block.offset + place)
        return self.file_errors.line_error(f": {_describe_fault(fault, word, self.width)}", line)


def _word_at(data: Bytes, place: int) -> str:
    found = data[place : place + 100].tobytes().split(None, 1)
    return found[0].decode("utf-8", "replace") if found else ""


def _describe_fault(fault: str, word: str, width: int) -> str:
    """What is wrong with a word of a line."""
    told = shorten_repr(word)
    if word.startswith("qid:"):
        return f"{told} groups rows for ranking, which is not read. Leave qid: out."
    if fault == "label" and "," in word:
        return f"{told} is several labels; a classifier learns one. Write one label per line."
    if fault == "label":
        return f"the label {told} is not a number. Write 0 where it is not known."
    if fault == "index":
        return f"{told} is not index:value with a whole number as index."
    if fault == "order":
        return f"{told} comes after an index as large. Write the indices of a line in ascending order."
    if fault == "value":
        return f"the value of {told} is not a number."
    return f"the index of {told} is beyond the {width:,} columns of the file."
