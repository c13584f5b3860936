"""Texts, and lists of ready-made names: split where they are counted or scored, not before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from weigh import _core, errors
from weigh.features.blocks import CategoryBlock, DenseBlock, Floats, Longs, Mask, NumberBlock, SparseBlock
from weigh.features.columns import is_missing, read_utf8, to_objects
from weigh.features.names import NameArray
from weigh.features.validation import check_exact_counts, check_non_negative
from weigh.source.chunk import Column, ListColumn, TextColumn, is_arrow, slice_column, to_pylist


class TokeniserKind(Protocol):
    """What a block must know of its kind: how to split, and whether to count."""

    @property
    def token_settings(self) -> _core.TokenSettings:
        """How the native code splits values into words."""

    @property
    def counts(self) -> bool:
        """Whether occurrences are counted, or only presence."""


@dataclass(frozen=True, eq=False)
class TextBlock:
    """A column of texts, or of lists of names, as a block that is not split yet.

    Counting and scoring split it natively; `entries` makes sparse rows of it for whoever needs
    them. Texts that are `marks` are missing. `known` marks rows that have a value at all; None
    means that all have.
    """

    column: Column
    kind: TokeniserKind
    markers: tuple[str, ...]
    documents: _core.Documents
    known: npt.NDArray[np.bool_] | None
    missing: None = None  # no single word can be missing

    @classmethod
    def from_column(cls, column: Column, kind: TokeniserKind, marks: tuple[str, ...] = ()) -> TextBlock:
        """Return the block of a column of texts or lists."""
        if isinstance(column, ListColumn):
            names = _to_documents(column.names, [])
            lists = _core.Documents.from_token_lists(names, column.indptr, column.values)
            return cls(column, kind, marks, lists, column.known)
        documents = _to_documents(column, list(marks))
        known = documents.present
        return cls(column, kind, marks, documents, None if known is None else known.astype(bool))

    def __reduce__(self) -> tuple[Any, ...]:
        # Documents are views of the column's memory, and mean nothing elsewhere.
        return TextBlock.from_column, (self.column, self.kind, self.markers)

    @property
    def settings(self) -> _core.TokenSettings:
        """How the native code splits the rows."""
        return self.kind.token_settings

    @property
    def n_rows(self) -> int:
        return len(self.documents)

    def where(self, kept: Mask) -> TextBlock:
        """Return some of the rows."""
        if isinstance(self.column, ListColumn):
            return TextBlock.from_column(_filter_lists(self.column, kept), self.kind, self.markers)
        return TextBlock.from_column(to_objects(self.column)[kept], self.kind, self.markers)

    def row(self, i: int) -> TextBlock:
        """Return one row as a block of its own."""
        return TextBlock.from_column(slice_column(self.column, i, i + 1), self.kind, self.markers)

    def to_sparse(self) -> SparseBlock:
        """Return the words as sparse rows with names of their own, in order of first appearance."""
        vocabulary = _core.Vocabulary(0)
        indptr, indices, values = vocabulary.find_or_add(self.documents, self.settings)
        return self._sparse_block(indptr, indices, values, NameArray(*vocabulary.names()))

    def look_up(self, vocabulary: _core.Vocabulary, names: Sequence[str]) -> SparseBlock:
        """Return the words that a vocabulary knows, under its numbers."""
        return self._sparse_block(*vocabulary.find(self.documents, self.settings), names)

    def _sparse_block(self, indptr: Longs, indices: Any, values: Floats, names: Sequence[str]) -> SparseBlock:
        return SparseBlock(indptr, indices, values if self.kind.counts else None, names, known=self.known)

    def count_known_words(self, vocabulary: _core.Vocabulary) -> list[tuple[int, float, str]]:
        """Return number, count and name of the known words of all rows, by number.

        The names are those that occur here: a bucket that several words share has them all.
        """
        own = self.to_sparse()
        amounts = np.bincount(own.indices, own.values, minlength=len(own.names)).tolist()
        told: dict[int, tuple[float, str]] = {}
        for word, amount in zip(own.names, amounts, strict=True):
            for number in vocabulary.find(_single_list_document([word]), self.settings)[1].tolist():
                before, named = told.get(number, (0.0, ""))
                together = before + amount if self.kind.counts else 1.0
                told[number] = together, f"{named} / {word}" if named else word
        return [(number, *told[number]) for number in sorted(told)]


def as_sparse_block(block: SparseBlock | DenseBlock | TextBlock) -> SparseBlock:
    """Return the sparse rows of a block of columns or words."""
    return block if isinstance(block, SparseBlock) else block.to_sparse()


Block = CategoryBlock | NumberBlock | SparseBlock | DenseBlock | TextBlock


def encode_texts(column: Column, name: str, kind: TokeniserKind, markers: Collection[object]) -> TextBlock:
    """Return a column of texts as words; a missing text is a row that is not known."""
    words = TextBlock.from_column(column, kind, tuple(mark for mark in markers if isinstance(mark, str)))
    if words.documents.invalid_rows:
        for value in to_objects(column)[words.documents.invalid_rows]:
            if not is_missing(value, markers):
                raise errors.ColumnError(
                    f"Column {name!r} holds text, but one value is {value!r}. Turn it into a string, or "
                    f"give the column another kind, such as columns={{{name!r}: 'category'}}."
                )
    return words


def encode_tokens(column: Column, name: str, kind: TokeniserKind, markers: Collection[object]) -> TextBlock:
    """Return a column of lists as words; a missing list is a row that is not known."""
    lists = column if isinstance(column, ListColumn) else _to_list_column(column, name, markers)
    if lists.values is not None:
        check_non_negative(np.array([lists.values.min(initial=0.0)]), [name])
        check_exact_counts(np.array([lists.values.max(initial=0.0)]), [name])
    return TextBlock.from_column(lists, kind)


def _to_documents(column: Column, marks: list[str]) -> _core.Documents:
    if isinstance(column, TextColumn):
        return _core.Documents.from_spans(column.starts, column.sizes, column.data, column.overflow, marks)
    if is_arrow(column) and str(column.type) in _ARROW_READERS:
        return _ARROW_READERS[str(column.type)](column, marks)
    # An array of our own: strings are read without Python's lock, and must outlive changes of the given one.
    return _core.Documents.from_objects(np.array(to_objects(column), dtype=object), marks)


def _documents_from_arrow_strings(column: Column, marks: list[str], offset_type: Any) -> _core.Documents:
    valid, offsets, text = column.buffers()
    ends = np.frombuffer(offsets, dtype=offset_type)[column.offset : column.offset + len(column) + 1]
    return _core.Documents.from_strings(
        ends, _buffer_bytes(text), _buffer_bitmap(valid), column.offset, marks
    )


def _documents_from_arrow_views(column: Column, marks: list[str]) -> _core.Documents:
    valid, views, *texts = column.buffers()
    held = np.frombuffer(views, dtype=np.uint8)[16 * column.offset : 16 * (column.offset + len(column))]
    buffers = [_buffer_bytes(each) for each in texts]
    return _core.Documents.from_string_views(held, buffers, _buffer_bitmap(valid), column.offset, marks)


_ARROW_READERS: dict[str, Callable[[Column, list[str]], _core.Documents]] = {
    "string": lambda column, marks: _documents_from_arrow_strings(column, marks, np.int32),
    "large_string": lambda column, marks: _documents_from_arrow_strings(column, marks, np.int64),
    "string_view": _documents_from_arrow_views,
}


def _buffer_bytes(buffer: Any) -> npt.NDArray[np.uint8]:
    return np.frombuffer(buffer if buffer is not None else b"", dtype=np.uint8)


def _buffer_bitmap(buffer: Any) -> npt.NDArray[np.uint8] | None:
    return None if buffer is None else np.frombuffer(buffer, dtype=np.uint8)


def _single_list_document(names: list[str]) -> _core.Documents:
    """One row that is a list of names."""
    texts = _to_documents(np.array(names, dtype=object), [])
    return _core.Documents.from_token_lists(texts, np.array([0, len(names)]), None)


def _to_list_column(column: Column, name: str, markers: Collection[object]) -> ListColumn:
    """Return lists of strings end to end."""
    rows = read_utf8(column, name, to_pylist)
    known = np.array([not is_missing(row, markers) for row in rows], dtype=bool)
    flat: list[str] = []
    indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    for i, row in enumerate(rows):
        if known[i]:
            flat.extend(_check_name_list(row, name))
        indptr[i + 1] = len(flat)
    packed = NameArray.from_strings(flat)
    texts = TextColumn(packed.offsets[:-1], np.diff(packed.offsets), packed.text)
    return ListColumn(indptr, texts, None, None if known.all() else known)


def _filter_lists(lists: ListColumn, kept: Mask) -> ListColumn:
    sizes = np.diff(lists.indptr)
    names = np.repeat(kept, sizes)
    texts = to_objects(lists.names)[int(lists.indptr[0]) : int(lists.indptr[-1])][names]
    packed = NameArray.from_strings(texts)
    return ListColumn(
        np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64),
        TextColumn(packed.offsets[:-1], np.diff(packed.offsets), packed.text),
        None if lists.values is None else lists.values[int(lists.indptr[0]) : int(lists.indptr[-1])][names],
        None if lists.known is None else lists.known[kept],
    )


def _check_name_list(row: object, name: str) -> list[str]:
    names: list[Any] = list(row) if isinstance(row, (list, tuple, set, frozenset, np.ndarray)) else [None]
    if all(isinstance(word, str) for word in names):
        return names
    raise errors.ColumnError(
        f"Column {name!r} holds lists of names, but one value is {row!r}. Give every row a list of strings."
    )
