"""Contexts: where texts have the words of confusion sets, and what stands around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import _core
from weigh.apps.spelling.documents import Document
from weigh.apps.spelling.false_alarms import count_held_out_words, held_out_mask
from weigh.errors import parameter_error
from weigh.features.blocks import Ints, Longs, Mask
from weigh.features.names import NameArray
from weigh.source.base import Source
from weigh.source.chunk import Chunk, DictionaryColumn, ListColumn, TextColumn
from weigh.source.memory.columns import LazyColumn, LazyTable
from weigh.source.memory.table import TableSource

DEFAULT_WINDOW = 6
MAX_WINDOW = 100  # words to each side that a reader can look at
# Of one set; beyond, half of them are dropped, so that any amount of text fits into memory.
MAX_OCCURRENCES = 2**20
CONTEXT_COLUMN = "context"
OWN_CAPITAL_FEATURE = "capital"


@dataclass(frozen=True, eq=False)
class Occurrences:
    """The words of one confusion set in texts, in the order in which they were read.

    Occurrence i is `words[members[i]]`, the word number `at[i]` of document `documents[i]`, whose bytes
    begin at `begins[i]` there and are `sizes[i]` many. Its context is the features indptr[i] to
    indptr[i + 1], which are numbers of `names`; all sets of a reader share these. `taken` is the share
    of all occurrences that was kept: 1, or about 1/2, 1/4, ...
    """

    words: tuple[str, ...]
    members: Ints
    documents: Ints
    at: Longs
    begins: Longs
    sizes: Ints
    indptr: Longs
    features: Ints
    names: NameArray
    sampling_fraction: float = 1.0

    def __len__(self) -> int:
        return len(self.members)

    def select(self, kept: Mask | npt.NDArray[np.integer[Any]]) -> Occurrences:
        """Return some of the occurrences: those that a mask affirms, or those of these numbers."""
        rows = np.flatnonzero(kept) if kept.dtype == np.bool_ else kept
        sizes = np.diff(self.indptr)[rows]
        indptr = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(sizes, out=indptr[1:])
        # Where entry j of the new rows stood: as far behind its row's old beginning as behind its new one.
        old = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], sizes)
        columns = {name: getattr(self, name)[rows] for name in _COLUMNS}
        return replace(self, **columns, indptr=indptr, features=self.features[old])

    def drop_feature(self, feature: str) -> Occurrences:
        """Return the occurrences as if they did not have a feature."""
        # Names of a reader are in the order in which they were met: those of its length are few.
        alike = np.flatnonzero(np.diff(self.names.offsets) == len(feature.encode())).tolist()
        kept = self.features != next((k for k in alike if self.names[k] == feature), -1)
        before = np.concatenate([[0], np.cumsum(kept)])
        return replace(self, features=self.features[kept], indptr=before[self.indptr])

    def context(self, i: int) -> list[str]:
        """Return the names of the features of one occurrence."""
        return [self.names[k] for k in self.features[self.indptr[i] : self.indptr[i + 1]].tolist()]

    def to_chunk(self) -> Chunk:
        """Return all as the rows of one column, `context`, labelled with their words."""
        return Chunk(
            {CONTEXT_COLUMN: self._feature_lists(0, len(self))}, len(self), labels=self._labels(0, len(self))
        )

    def to_source(self) -> Source:
        """Return all as a source of such rows, for whatever learns from sources."""
        columns = {CONTEXT_COLUMN: LazyColumn(self._feature_lists, len(self))}
        fields = LazyTable(
            columns, len(self), True, description="The contexts", kinds={CONTEXT_COLUMN: "tokens"}
        )
        return TableSource(fields, LazyColumn(self._labels, len(self)))

    def _feature_lists(self, start: int, stop: int) -> ListColumn:
        indptr = self.indptr[start : stop + 1]
        features = self.features[indptr[0] : indptr[-1]]
        offsets = self.names.offsets
        begins = offsets[features]
        return ListColumn(
            indptr - indptr[0], TextColumn(begins, offsets[features + 1] - begins, self.names.text)
        )

    def _labels(self, start: int, stop: int) -> DictionaryColumn:
        return DictionaryColumn(self.members[start:stop], list(self.words))


_COLUMNS = ("members", "documents", "at", "begins", "sizes")


class ContextReader:
    """One pass over texts that finds the words of all confusion sets and their contexts.

    Parameters
    ----------
    sets : sequences of words with ' for ’; capitals do not matter; no word twice
    window : how many words to each side are near
    most : how many occurrences of a set are kept
        A set that has as many drops half of them, and from then on takes half (a quarter, ...) of what comes.
        Which ones is said by their mixed numbers: equal texts keep the same, and no order of words matters.

    A context ends where a paragraph or the piece ends.
    """

    def __init__(
        self, sets: Sequence[Sequence[str]], window: int = DEFAULT_WINDOW, *, most: int = MAX_OCCURRENCES
    ) -> None:
        if type(window) is not int or not 0 <= window <= MAX_WINDOW:
            raise parameter_error("Reader", "window", f"a whole number up to {MAX_WINDOW}", window)
        if type(most) is not int or most < 2:
            raise parameter_error("Reader", "most", "a whole number from 2 on", most)
        self.sets = tuple(tuple(words) for words in sets)
        self._native = _core.ContextReader(
            [[word.lower() for word in words] for words in self.sets], window, most
        )

    def read(self, piece: bytes, document: int, words: int = 0, begin: int = 0) -> int:
        """Read a piece of UTF-8 and return how many words it has.

        `document` is the number of the document that it belongs to; `words` and `begin` are the words and
        bytes that came before it there. Bytes that are no UTF-8 are marks between words.
        """
        return self._native.read(piece, document, words, begin)

    def occurrences(self) -> list[Occurrences]:
        """Return what was found in all that was read, by set."""
        names = NameArray(*self._native.names())
        found = [
            Occurrences(words, *self._native.columns(k), names, 1 / self._native.stride(k))
            for k, words in enumerate(self.sets)
        ]
        # Where a capital is part of a word (man, Mann), it tells what is written and not what is meant.
        return [
            rows.drop_feature(OWN_CAPITAL_FEATURE) if _has_capitals(rows.words) else rows for rows in found
        ]


def _has_capitals(words: Sequence[str]) -> bool:
    return any(word != word.lower() for word in words)


Progress = Callable[[int], object]


@dataclass(frozen=True, eq=False)
class Corpus:
    """What was found in documents: the words of each, and the occurrences of each set."""

    document_words: tuple[int, ...]
    occurrences: tuple[Occurrences, ...]

    @classmethod
    def read(
        cls,
        documents: Iterable[Document],
        sets: Sequence[Sequence[str]],
        window: int,
        progress: Progress | None = None,
    ) -> Corpus:
        """Read documents, piece by piece; `progress` is called with the bytes of each piece."""
        reader, words = ContextReader(sets, window), []
        for number, document in enumerate(documents):
            seen = begin = 0
            for piece in document.pieces:
                seen += reader.read(piece, number, seen, begin)
                begin += len(piece)
                if progress is not None:
                    progress(len(piece))
            words.append(seen)
        return cls(tuple(words), tuple(reader.occurrences()))

    @property
    def n_words(self) -> int:
        """The words of all documents."""
        return sum(self.document_words)

    @property
    def n_held_out_words(self) -> int:
        """The words that are held out."""
        return count_held_out_words(self.document_words)

    def is_held_out(self, rows: Occurrences) -> Mask:
        """Return which of some occurrences are held out."""
        return held_out_mask(rows.documents, rows.at, self.document_words)
