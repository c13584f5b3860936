"""Occurrences of the words of confusion sets in texts, and the features of their contexts."""

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
from weigh.source.sparse_rows import SparseRows

DEFAULT_WINDOW = 6
MAX_WINDOW = 100  # words on each side
# Occurrences kept per set; beyond that, half of them are dropped, so any amount of text fits in memory.
MAX_OCCURRENCES = 2**20
CONTEXT_COLUMN = "context"
OWN_CAPITAL_FEATURE = "capital"


@dataclass(frozen=True, eq=False)
class Occurrences:
    """The occurrences of the words of one confusion set in texts, in reading order.

    Occurrence i is `words[members[i]]`: word number `positions[i]` of document `documents[i]`, at byte
    `byte_offsets[i]` with length `byte_lengths[i]`. Its context is row i of `features`, whose columns are
    `names`; a feature may be repeated. All sets of one reader share `names`. `sampling_fraction` is the
    fraction of all occurrences that was kept: 1, or about 1/2, 1/4, ...
    """

    words: tuple[str, ...]
    members: Ints
    documents: Ints
    positions: Longs
    byte_offsets: Longs
    byte_lengths: Ints
    features: SparseRows
    names: NameArray
    sampling_fraction: float = 1.0

    def __len__(self) -> int:
        return len(self.members)

    def select(self, selection: Mask | npt.NDArray[np.integer[Any]]) -> Occurrences:
        """Return the occurrences selected by a boolean mask or by indices."""
        rows = np.flatnonzero(selection) if selection.dtype == np.bool_ else selection
        columns = {name: getattr(self, name)[rows] for name in _COLUMNS}
        return replace(self, **columns, features=self.features.select(rows))

    def drop_feature(self, feature: str) -> Occurrences:
        """Return the occurrences without one feature."""
        # The names of a reader are not sorted, but few have the same length as the feature.
        candidates = np.flatnonzero(np.diff(self.names.offsets) == len(feature.encode())).tolist()
        kept = self.features.indices != next((k for k in candidates if self.names[k] == feature), -1)
        return replace(self, features=self.features.select_entries(kept))

    def context(self, i: int) -> list[str]:
        """Return the feature names of occurrence i."""
        return [self.names[k] for k in self.features.slice(i, i + 1).indices.tolist()]

    def to_chunk(self) -> Chunk:
        """Return a chunk with one column, `context`, labelled with the words."""
        columns = {CONTEXT_COLUMN: self._feature_lists(0, len(self))}
        return Chunk(columns, len(self), labels=self._labels(0, len(self)))

    def to_source(self) -> Source:
        """Return the same rows as a source."""
        columns = {CONTEXT_COLUMN: LazyColumn(self._feature_lists, len(self))}
        fields = LazyTable(
            columns, len(self), True, description="The contexts", kinds={CONTEXT_COLUMN: "tokens"}
        )
        return TableSource(fields, LazyColumn(self._labels, len(self)))

    def _feature_lists(self, start: int, stop: int) -> ListColumn:
        features, offsets = self.features.slice(start, stop), self.names.offsets
        starts = offsets[features.indices]
        names = TextColumn(starts, offsets[features.indices + 1] - starts, self.names.text)
        return ListColumn(features.indptr, names)

    def _labels(self, start: int, stop: int) -> DictionaryColumn:
        return DictionaryColumn(self.members[start:stop], list(self.words))


_COLUMNS = ("members", "documents", "positions", "byte_offsets", "byte_lengths")


class ContextReader:
    """Finds the words of all confusion sets and their contexts in one pass over texts.

    Parameters
    ----------
    sets : sequences of words with ' as apostrophe; case is ignored; no word may occur twice
    window : number of words on each side that count as near
    max_occurrences : number of occurrences kept per set
        A set that exceeds it drops half of them and from then on keeps about half (a quarter, ...) of the new
        ones. A hash of the running number decides, so equal texts keep the same occurrences and words that
        alternate are sampled fairly.

    A context ends at the end of its paragraph or piece.
    """

    def __init__(
        self,
        sets: Sequence[Sequence[str]],
        window: int = DEFAULT_WINDOW,
        *,
        max_occurrences: int = MAX_OCCURRENCES,
    ) -> None:
        if type(window) is not int or not 0 <= window <= MAX_WINDOW:
            raise parameter_error("ContextReader", "window", f"a whole number from 0 to {MAX_WINDOW}", window)
        if type(max_occurrences) is not int or max_occurrences < 2:
            raise parameter_error(
                "ContextReader", "max_occurrences", "a whole number of at least 2", max_occurrences
            )
        self.sets = tuple(tuple(words) for words in sets)
        lower = [[word.lower() for word in words] for words in self.sets]
        self._native = _core.ContextReader(lower, window, max_occurrences)

    def read(self, piece: bytes, document: int, words: int = 0, offset: int = 0) -> int:
        """Read a piece of UTF-8 text and return its number of words.

        `document` is the index of its document; `words` and `offset` count the words and bytes of the
        document before this piece. Invalid UTF-8 separates words.
        """
        return self._native.read(piece, document, words, offset)

    def occurrences(self) -> list[Occurrences]:
        """Return the occurrences in all text read so far, by set."""
        names = NameArray(*self._native.names())
        by_set = []
        for k, words in enumerate(self.sets):
            columns = self._native.columns(k)
            features = SparseRows(*columns[5:], None, len(names))
            by_set.append(Occurrences(words, *columns[:5], features, names, 1 / self._native.stride(k)))
        # Where the words themselves differ in capitals (man, Mann), the capital reveals the written word, not
        # the intended one.
        return [
            rows.drop_feature(OWN_CAPITAL_FEATURE) if _has_capitals(rows.words) else rows for rows in by_set
        ]


def _has_capitals(words: Sequence[str]) -> bool:
    return any(word != word.lower() for word in words)


Progress = Callable[[int], object]


@dataclass(frozen=True, eq=False)
class Corpus:
    """The number of words of each document, and the occurrences of each set in all of them."""

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
        """Read documents piece by piece; `progress` is called with the size of each piece in bytes."""
        reader, document_words = ContextReader(sets, window), []
        for index, document in enumerate(documents):
            n_words = offset = 0
            for piece in document.pieces:
                n_words += reader.read(piece, index, n_words, offset)
                offset += len(piece)
                if progress is not None:
                    progress(len(piece))
            document_words.append(n_words)
        return cls(tuple(document_words), tuple(reader.occurrences()))

    @property
    def n_words(self) -> int:
        """The number of words in all documents."""
        return sum(self.document_words)

    @property
    def n_held_out_words(self) -> int:
        """The number of held-out words."""
        return count_held_out_words(self.document_words)

    def is_held_out(self, rows: Occurrences) -> Mask:
        """Return the mask of held-out occurrences."""
        return held_out_mask(rows.documents, rows.positions, self.document_words)
