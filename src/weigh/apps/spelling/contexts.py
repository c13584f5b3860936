"""Contexts: where texts have the words of confusion sets, and what stands around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import _core
from weigh.errors import parameter
from weigh.features.blocks import Ints, Longs, Mask
from weigh.features.names import Names
from weigh.source.base import Source
from weigh.source.chunk import Chunk, Coded, Lists, Texts
from weigh.source.columns import Field, Fields
from weigh.source.table import TableSource

WINDOW = 6
WIDEST = 100  # words to each side that a reader can look at
# Of one set; beyond, half of them are dropped, so that any amount of text fits into memory.
MOST = 2**20
COLUMN = "context"
OWN_CAPITAL = "capital"


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
    names: Names
    taken: float = 1.0

    def __len__(self) -> int:
        return len(self.members)

    def where(self, kept: Mask | npt.NDArray[np.integer[Any]]) -> Occurrences:
        """Return some of the occurrences: those that a mask affirms, or those of these numbers."""
        rows = np.flatnonzero(kept) if kept.dtype == np.bool_ else kept
        sizes = np.diff(self.indptr)[rows]
        indptr = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(sizes, out=indptr[1:])
        # Where entry j of the new rows stood: as far behind its row's old beginning as behind its new one.
        old = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], sizes)
        columns = {name: getattr(self, name)[rows] for name in _COLUMNS}
        return replace(self, **columns, indptr=indptr, features=self.features[old])

    def without(self, feature: str) -> Occurrences:
        """Return the occurrences as if they did not have a feature."""
        # Names of a reader are in the order in which they were met: those of its length are few.
        alike = np.flatnonzero(np.diff(self.names.offsets) == len(feature.encode())).tolist()
        kept = self.features != next((k for k in alike if self.names[k] == feature), -1)
        before = np.concatenate([[0], np.cumsum(kept)])
        return replace(self, features=self.features[kept], indptr=before[self.indptr])

    def context(self, i: int) -> list[str]:
        """Return the names of the features of one occurrence."""
        return [self.names[k] for k in self.features[self.indptr[i] : self.indptr[i + 1]].tolist()]

    def chunk(self) -> Chunk:
        """Return all as the rows of one column, `context`, labelled with their words."""
        return Chunk({COLUMN: self._lists(0, len(self))}, len(self), labels=self._labels(0, len(self)))

    def source(self) -> Source:
        """Return all as a source of such rows, for whatever learns from sources."""
        columns = {COLUMN: Field(self._lists, len(self))}
        fields = Fields(columns, len(self), True, what="The contexts", kinds={COLUMN: "tokens"})
        return TableSource(fields, Field(self._labels, len(self)))

    def _lists(self, start: int, stop: int) -> Lists:
        indptr = self.indptr[start : stop + 1]
        features = self.features[indptr[0] : indptr[-1]]
        offsets = self.names.offsets
        begins = offsets[features]
        return Lists(indptr - indptr[0], Texts(begins, offsets[features + 1] - begins, self.names.text))

    def _labels(self, start: int, stop: int) -> Coded:
        return Coded(self.members[start:stop], list(self.words))


_COLUMNS = ("members", "documents", "at", "begins", "sizes")


class Reader:
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

    def __init__(self, sets: Sequence[Sequence[str]], window: int = WINDOW, *, most: int = MOST) -> None:
        if type(window) is not int or not 0 <= window <= WIDEST:
            raise parameter("Reader", "window", f"a whole number up to {WIDEST}", window)
        if type(most) is not int or most < 2:
            raise parameter("Reader", "most", "a whole number from 2 on", most)
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
        names = Names(*self._native.names())
        found = [
            Occurrences(words, *self._native.columns(k), names, 1 / self._native.stride(k))
            for k, words in enumerate(self.sets)
        ]
        # Where a capital is part of a word (man, Mann), it tells what is written and not what is meant.
        return [rows.without(OWN_CAPITAL) if _has_capitals(rows.words) else rows for rows in found]


def _has_capitals(words: Sequence[str]) -> bool:
    return any(word != word.lower() for word in words)
