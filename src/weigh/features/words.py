"""Texts, and lists of ready-made names: split where they are counted or scored, not before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from weigh import _core, errors
from weigh.features.blocks import Codes, Entries, Floats, Grid, Longs, Mask, Numbers
from weigh.features.columns import is_gap, readable, to_objects
from weigh.features.count_checks import refuse_huge, refuse_negative
from weigh.features.names import Names
from weigh.source.chunk import Column, Lists, Texts, cut_column, is_arrow, to_pylist


class Splitting(Protocol):
    """What a block must know of its kind: how to split, and whether to count."""

    @property
    def splitting(self) -> _core.TokenSettings:
        """How the native code splits values into words."""

    @property
    def counts(self) -> bool:
        """Whether occurrences are counted, or only presence."""


@dataclass(frozen=True, eq=False)
class Words:
    """A column of texts, or of lists of names, as a block that is not split yet.

    Counting and scoring split it natively; `entries` makes sparse rows of it for whoever needs
    them. Texts that are `marks` are missing. `known` marks rows that have a value at all; None
    means that all have.
    """

    column: Column
    kind: Splitting
    marks: tuple[str, ...]
    documents: _core.Documents
    known: npt.NDArray[np.bool_] | None
    missing: None = None  # no single word can be missing

    @classmethod
    def of(cls, column: Column, kind: Splitting, marks: tuple[str, ...] = ()) -> Words:
        """Return the block of a column of texts or lists."""
        if isinstance(column, Lists):
            names = _texts(column.names, [])
            lists = _core.Documents.from_token_lists(names, column.indptr, column.values)
            return cls(column, kind, marks, lists, column.known)
        documents = _texts(column, list(marks))
        known = documents.present
        return cls(column, kind, marks, documents, None if known is None else known.astype(bool))

    def __reduce__(self) -> tuple[Any, ...]:
        # Documents are views of the column's memory, and mean nothing elsewhere.
        return Words.of, (self.column, self.kind, self.marks)

    @property
    def settings(self) -> _core.TokenSettings:
        """How the native code splits the rows."""
        return self.kind.splitting

    @property
    def n_rows(self) -> int:
        return len(self.documents)

    def where(self, kept: Mask) -> Words:
        """Return some of the rows."""
        if isinstance(self.column, Lists):
            return Words.of(_lists_where(self.column, kept), self.kind, self.marks)
        return Words.of(to_objects(self.column)[kept], self.kind, self.marks)

    def row(self, i: int) -> Words:
        """Return one row as a block of its own."""
        return Words.of(cut_column(self.column, i, i + 1), self.kind, self.marks)

    def entries(self) -> Entries:
        """Return the words as sparse rows with names of their own, in order of first appearance."""
        vocabulary = _core.Vocabulary(0)
        indptr, indices, values = vocabulary.find_or_add(self.documents, self.settings)
        return self._entries(indptr, indices, values, Names(*vocabulary.names()))

    def found(self, vocabulary: _core.Vocabulary, names: Sequence[str]) -> Entries:
        """Return the words that a vocabulary knows, under its numbers."""
        return self._entries(*vocabulary.find(self.documents, self.settings), names)

    def _entries(self, indptr: Longs, indices: Any, values: Floats, names: Sequence[str]) -> Entries:
        return Entries(indptr, indices, values if self.kind.counts else None, names, known=self.known)

    def told(self, vocabulary: _core.Vocabulary) -> list[tuple[int, float, str]]:
        """Return number, count and name of the known words of all rows, by number.

        The names are those that occur here: a bucket that several words share has them all.
        """
        own = self.entries()
        amounts = np.bincount(own.indices, own.values, minlength=len(own.names)).tolist()
        told: dict[int, tuple[float, str]] = {}
        for word, amount in zip(own.names, amounts, strict=True):
            for number in vocabulary.find(_given([word]), self.settings)[1].tolist():
                before, named = told.get(number, (0.0, ""))
                together = before + amount if self.kind.counts else 1.0
                told[number] = together, f"{named} / {word}" if named else word
        return [(number, *told[number]) for number in sorted(told)]


def as_entries(block: Entries | Grid | Words) -> Entries:
    """Return the sparse rows of a block of columns or words."""
    return block if isinstance(block, Entries) else block.entries()


Block = Codes | Numbers | Entries | Grid | Words


def text_words(column: Column, name: str, kind: Splitting, markers: Collection[object]) -> Words:
    """Return a column of texts as words; a missing text is a row that is not known."""
    words = Words.of(column, kind, tuple(mark for mark in markers if isinstance(mark, str)))
    if words.documents.invalid_rows:
        for value in to_objects(column)[words.documents.invalid_rows]:
            if not is_gap(value, markers):
                raise errors.ColumnError(
                    f"Column {name!r} holds text, but one value is {value!r}. Turn it into a string, or "
                    f"give the column another kind, such as columns={{{name!r}: 'category'}}."
                )
    return words


def token_words(column: Column, name: str, kind: Splitting, markers: Collection[object]) -> Words:
    """Return a column of lists as words; a missing list is a row that is not known."""
    lists = column if isinstance(column, Lists) else _lists(column, name, markers)
    if lists.values is not None:
        refuse_negative(np.array([lists.values.min(initial=0.0)]), [name])
        refuse_huge(np.array([lists.values.max(initial=0.0)]), [name])
    return Words.of(lists, kind)


def _texts(column: Column, marks: list[str]) -> _core.Documents:
    if isinstance(column, Texts):
        return _core.Documents.from_spans(column.begins, column.sizes, column.data, column.spilled, marks)
    if is_arrow(column) and str(column.type) in _ARROW:
        return _ARROW[str(column.type)](column, marks)
    # An array of our own: strings are read without Python's lock, and must outlive changes of the given one.
    return _core.Documents.from_objects(np.array(to_objects(column), dtype=object), marks)


def _arrow_strings(column: Column, marks: list[str], offset_type: Any) -> _core.Documents:
    valid, offsets, text = column.buffers()
    ends = np.frombuffer(offsets, dtype=offset_type)[column.offset : column.offset + len(column) + 1]
    return _core.Documents.from_strings(ends, _bytes(text), _bitmap(valid), column.offset, marks)


def _arrow_views(column: Column, marks: list[str]) -> _core.Documents:
    valid, views, *texts = column.buffers()
    held = np.frombuffer(views, dtype=np.uint8)[16 * column.offset : 16 * (column.offset + len(column))]
    buffers = [_bytes(each) for each in texts]
    return _core.Documents.from_string_views(held, buffers, _bitmap(valid), column.offset, marks)


_ARROW: dict[str, Callable[[Column, list[str]], _core.Documents]] = {
    "string": lambda column, marks: _arrow_strings(column, marks, np.int32),
    "large_string": lambda column, marks: _arrow_strings(column, marks, np.int64),
    "string_view": _arrow_views,
}


def _bytes(buffer: Any) -> npt.NDArray[np.uint8]:
    return np.frombuffer(buffer if buffer is not None else b"", dtype=np.uint8)


def _bitmap(buffer: Any) -> npt.NDArray[np.uint8] | None:
    return None if buffer is None else np.frombuffer(buffer, dtype=np.uint8)


def _given(names: list[str]) -> _core.Documents:
    """One row that is a list of names."""
    texts = _texts(np.array(names, dtype=object), [])
    return _core.Documents.from_token_lists(texts, np.array([0, len(names)]), None)


def _lists(column: Column, name: str, markers: Collection[object]) -> Lists:
    """Return lists of strings end to end."""
    rows = readable(column, name, to_pylist)
    known = np.array([not is_gap(row, markers) for row in rows], dtype=bool)
    flat: list[str] = []
    indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    for i, row in enumerate(rows):
        if known[i]:
            flat.extend(_names(row, name))
        indptr[i + 1] = len(flat)
    packed = Names.of(flat)
    texts = Texts(packed.offsets[:-1], np.diff(packed.offsets), packed.text)
    return Lists(indptr, texts, None, None if known.all() else known)


def _lists_where(lists: Lists, kept: Mask) -> Lists:
    sizes = np.diff(lists.indptr)
    names = np.repeat(kept, sizes)
    texts = to_objects(lists.names)[int(lists.indptr[0]) : int(lists.indptr[-1])][names]
    packed = Names.of(texts)
    return Lists(
        np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64),
        Texts(packed.offsets[:-1], np.diff(packed.offsets), packed.text),
        None if lists.values is None else lists.values[int(lists.indptr[0]) : int(lists.indptr[-1])][names],
        None if lists.known is None else lists.known[kept],
    )


def _names(row: object, name: str) -> list[str]:
    names: list[Any] = list(row) if isinstance(row, (list, tuple, set, frozenset, np.ndarray)) else [None]
    if all(isinstance(word, str) for word in names):
        return names
    raise errors.ColumnError(
        f"Column {name!r} holds lists of names, but one value is {row!r}. Give every row a list of strings."
    )
