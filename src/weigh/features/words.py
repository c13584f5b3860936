"""Blocks of texts and token lists, which are tokenised where they are counted or scored."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from weigh import _core, errors
from weigh.advice import set_kind
from weigh.features.blocks import CategoryBlock, DenseBlock, Floats, Longs, Mask, NumberBlock, SparseBlock
from weigh.features.columns import is_missing, to_objects
from weigh.features.names import NameArray
from weigh.features.validation import check_exact_counts, check_non_negative
from weigh.source.chunk import Column, ListColumn, TextColumn, is_arrow, slice_column, to_pylist
from weigh.source.sparse_rows import SparseRows


class TokeniserKind(Protocol):
    """The part of a kind that a block needs: how to tokenise, and whether to count."""

    @property
    def token_settings(self) -> _core.TokenSettings:
        """How the native code splits values into words."""

    @property
    def counts(self) -> bool:
        """Whether occurrences are counted, or only presence."""


@dataclass(frozen=True, eq=False)
class TextBlock:
    """A column of texts or of token lists as a block that is not tokenised yet.

    Counting and scoring tokenise it natively; `to_sparse` returns sparse rows. Texts equal to one of
    `markers` are missing. `known` marks the rows that have a value; None means all.
    """

    column: Column
    kind: TokeniserKind
    markers: tuple[str, ...]
    documents: _core.Documents
    known: npt.NDArray[np.bool_] | None
    missing: None = None  # single words cannot be missing

    @classmethod
    def from_column(cls, column: Column, kind: TokeniserKind, markers: tuple[str, ...] = ()) -> TextBlock:
        """Return the block of a column of texts or lists."""
        if isinstance(column, ListColumn):
            names = _to_documents(column.names, [])
            lists = _core.Documents.from_token_lists(names, column.indptr, column.values)
            return cls(column, kind, markers, lists, column.known)
        documents = _to_documents(column, list(markers))
        known = documents.present
        return cls(column, kind, markers, documents, None if known is None else known.astype(bool))

    def __reduce__(self) -> tuple[Any, ...]:
        # Documents are views of the column's memory, which another process does not have.
        return TextBlock.from_column, (self.column, self.kind, self.markers)

    @property
    def settings(self) -> _core.TokenSettings:
        """How the native code splits the rows."""
        return self.kind.token_settings

    @property
    def n_rows(self) -> int:
        return len(self.documents)

    def where(self, mask: Mask) -> TextBlock:
        """Return the selected rows."""
        if isinstance(self.column, ListColumn):
            return TextBlock.from_column(_filter_lists(self.column, mask), self.kind, self.markers)
        return TextBlock.from_column(to_objects(self.column)[mask], self.kind, self.markers)

    def row(self, i: int) -> TextBlock:
        """Return one row as a block."""
        return TextBlock.from_column(slice_column(self.column, i, i + 1), self.kind, self.markers)

    def to_sparse(self) -> SparseBlock:
        """Return the words as sparse rows, with their names in order of first appearance."""
        vocabulary = _core.Vocabulary(0)
        csr = vocabulary.find_or_add(self.documents, self.settings)
        names = NameArray(*vocabulary.names())
        return SparseBlock(self._to_rows(*csr, len(names)), names, known=self.known)

    def look_up(self, vocabulary: _core.Vocabulary, size: int) -> SparseRows:
        """Return the words of a vocabulary of the given size, numbered by the vocabulary."""
        return self._to_rows(*vocabulary.find(self.documents, self.settings), size)

    def look_up_unsorted(self, vocabulary: _core.Vocabulary, size: int) -> SparseRows:
        """Return the same with the words of each row in order of first appearance, which is faster."""
        return self._to_rows(*vocabulary.find_unsorted(self.documents, self.settings), size)

    def _to_rows(self, indptr: Longs, indices: Any, values: Floats, width: int) -> SparseRows:
        return SparseRows(indptr, indices, values if self.kind.counts else None, width)

    def unknown_words(self, vocabulary: _core.Vocabulary) -> list[str]:
        """Return the words that the vocabulary does not have, in order of first appearance."""
        words: Sequence[str] = self.to_sparse().names
        return [word for word in words if not self._numbers_of(word, vocabulary)]

    def _numbers_of(self, word: str, vocabulary: _core.Vocabulary) -> list[int]:
        """Return the number of a word in the vocabulary, or nothing."""
        numbers: list[int] = vocabulary.find(_single_list_document([word]), self.settings)[1].tolist()
        return numbers

    def count_known_words(self, vocabulary: _core.Vocabulary) -> list[tuple[int, float, str]]:
        """Return number, count and name of the known words of all rows, by number.

        The names are those that occur in this block: a bucket lists all of its words.
        """
        words = self.to_sparse()
        counts = np.bincount(words.rows.indices, words.rows.values, minlength=len(words.names)).tolist()
        totals: dict[int, tuple[float, str]] = {}
        for word, count in zip(words.names, counts, strict=True):
            for number in self._numbers_of(word, vocabulary):
                total, names = totals.get(number, (0.0, ""))
                total = total + count if self.kind.counts else 1.0
                totals[number] = total, f"{names} / {word}" if names else word
        return [(number, *totals[number]) for number in sorted(totals)]


def as_sparse_block(block: SparseBlock | DenseBlock | TextBlock) -> SparseBlock:
    """Return a block as sparse rows."""
    return block if isinstance(block, SparseBlock) else block.to_sparse()


Block = CategoryBlock | NumberBlock | SparseBlock | DenseBlock | TextBlock


def encode_texts(column: Column, name: str, kind: TokeniserKind, markers: Collection[object]) -> TextBlock:
    """Return the block of a column of texts; rows with a missing text are not known."""
    words = TextBlock.from_column(
        column, kind, tuple(marker for marker in markers if isinstance(marker, str))
    )
    if words.documents.invalid_rows:
        for value in to_objects(column, name)[words.documents.invalid_rows]:
            if not is_missing(value, markers):
                raise errors.ColumnError(
                    f"Column {name!r} contains text, but one value is {errors.one_line_repr(value)}.",
                    hint=(
                        "Convert it to a string, or give the column another kind, such as ",
                        set_kind(name, "category"),
                        ".",
                    ),
                )
    return words


def encode_tokens(column: Column, name: str, kind: TokeniserKind, markers: Collection[object]) -> TextBlock:
    """Return the block of a column of token lists; rows with a missing list are not known."""
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
    # A copy: strings are read without the GIL, and the caller may change the array.
    return _core.Documents.from_objects(np.array(to_objects(column), dtype=object), marks)


def _documents_from_arrow_strings(column: Column, marks: list[str], offset_type: Any) -> _core.Documents:
    valid, offsets, text = column.buffers()
    ends = np.frombuffer(offsets, dtype=offset_type)[column.offset : column.offset + len(column) + 1]
    return _core.Documents.from_strings(
        ends, _buffer_bytes(text), _buffer_bitmap(valid), column.offset, marks
    )


def _documents_from_arrow_views(column: Column, marks: list[str]) -> _core.Documents:
    valid, views, *texts = column.buffers()
    records = np.frombuffer(views, dtype=np.uint8)[16 * column.offset : 16 * (column.offset + len(column))]
    buffers = [_buffer_bytes(text) for text in texts]
    return _core.Documents.from_string_views(records, buffers, _buffer_bitmap(valid), column.offset, marks)


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
    """Return one row with a list of tokens."""
    texts = _to_documents(np.array(names, dtype=object), [])
    return _core.Documents.from_token_lists(texts, np.array([0, len(names)]), None)


def _to_list_column(column: Column, name: str, markers: Collection[object]) -> ListColumn:
    """Return a column of lists of strings as one flat list with row offsets."""
    rows = to_pylist(column, name)
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


def _filter_lists(lists: ListColumn, mask: Mask) -> ListColumn:
    start, stop = int(lists.indptr[0]), int(lists.indptr[-1])
    values = None if lists.values is None else lists.values[start:stop]
    # The columns are the positions of the names, so that rows are selected in one place.
    rows = SparseRows(lists.indptr - start, np.arange(start, stop, dtype=np.int32), values, stop).select(mask)
    names = replace(
        lists.names, starts=lists.names.starts[rows.indices], sizes=lists.names.sizes[rows.indices]
    )
    return ListColumn(rows.indptr, names, rows.values, None if lists.known is None else lists.known[mask])


def _check_name_list(row: object, name: str) -> list[str]:
    names: list[Any] = list(row) if isinstance(row, (list, tuple, set, frozenset, np.ndarray)) else [None]
    if all(isinstance(word, str) for word in names):
        return names
    raise errors.ColumnError(
        f"Column {name!r} contains lists of tokens, but one value is {errors.one_line_repr(row)}. Give every "
        "row a list of strings."
    )
