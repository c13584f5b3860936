"""The values of words in a text: logarithms of counts, inverse document frequencies, norms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Ints
from weigh.features.names import NameArray
from weigh.features.text_kinds import BagOfWordsKind
from weigh.features.words import TextBlock
from weigh.immutable import Immutable, read_only
from weigh.source.sparse_rows import SparseRows

FIXED_POINT_SCALE = 2.0**32  # values of naive Bayes are whole multiples of 1 / FIXED_POINT_SCALE


@dataclass(frozen=True, eq=False)
class TermWeighting(Immutable):
    """How the counts of a text's words become values, as `Text(weighting=…, norm=…)` says.

    The value of a word is f(count) · idf, with f(count) = count or 1 + ln(count), and
    idf = 1 + ln((1 + n) / (1 + d)) for a word that d of the n training texts contain (`documents`; None
    means without idf). Then the values are divided by their norm over the words of the vocabulary. This is
    scikit-learn's `TfidfVectorizer`.

    With `normalises_first`, for naive Bayes, the values without idf are divided by their norm over all words
    of the text, rounded to multiples of 2⁻³², and then multiplied by the idf: their sums are exact, and idf
    and vocabulary can change afterwards.
    """

    takes_logs: bool
    norm: str | None
    documents: Any = None
    n_documents: float = 0
    normalises_first: bool = False

    @classmethod
    def from_kind(cls, kind: BagOfWordsKind, documents: Any, n_documents: float) -> TermWeighting:
        """Return the weighting of a kind; the document frequencies are ignored if it uses none."""
        if not kind.uses_idf:
            return cls(kind.takes_logs, kind.norm)
        return cls(kind.takes_logs, kind.norm, documents, n_documents)

    @cached_property
    @read_only
    def idf(self) -> Floats | None:
        """The inverse document frequency of each word; zero for a word of no text."""
        return (
            None if self.documents is None else inverse_document_frequencies(self.documents, self.n_documents)
        )

    @property
    def label(self) -> str:
        """The name of a value in explanations."""
        return "tf" if self.documents is None else "tf-idf"

    def look_up(
        self, block: TextBlock, vocabulary: _core.Vocabulary, size: int, bucket_columns: Ints | None
    ) -> SparseRows:
        """Return the values of the words of a vocabulary; hashed words have the columns of their buckets."""
        if not self.normalises_first:
            rows = block.look_up(vocabulary, size)
            return weigh_rows(rows, self.takes_logs, self.norm, self.idf)
        rows, names = index_words(block, 0 if bucket_columns is None else len(bucket_columns))
        rows = weigh_rows(rows, self.takes_logs, self.norm)
        values = np.rint(rows.entry_values() * FIXED_POINT_SCALE) / FIXED_POINT_SCALE
        columns = vocabulary.indices(names.text, names.offsets) if bucket_columns is None else bucket_columns
        known = replace(rows, values=values).renumber(columns, size)
        if self.idf is None:
            return known
        return replace(known, values=known.entry_values() * self.idf[known.indices])


def inverse_document_frequencies(documents: Any, n_documents: float) -> Floats:
    """Return 1 + ln((1 + n) / (1 + d)) for each document frequency d, and 0 where d = 0."""
    idf = np.log((1.0 + n_documents) / (1.0 + np.asarray(documents, dtype=np.float64))) + 1.0
    return np.where(np.asarray(documents) > 0, idf, 0.0)


def weigh_rows(rows: SparseRows, takes_logs: bool, norm: str | None, idf: Floats | None = None) -> SparseRows:
    """Return rows of counts as rows of values; a fresh array of counts is changed in place."""
    values = rows.entry_values()
    _core.weigh_rows(rows.indptr, rows.indices, values, idf, takes_logs, norm or "none")
    return replace(rows, values=values)


def index_words(block: TextBlock, n_buckets: int) -> tuple[SparseRows, NameArray]:
    """Return the counts of all words of a block in the order of their first use in each text, and the names.

    The order within a row depends on nothing but its text, so that sums over a row always round alike.
    """
    indexer = _core.NameIndexer(n_buckets)
    indptr, indices, values = indexer.index_tokens(block.documents, block.settings)
    rows = SparseRows(indptr, indices, values if block.kind.counts else None, len(indexer))
    return rows, NameArray(*indexer.names())
