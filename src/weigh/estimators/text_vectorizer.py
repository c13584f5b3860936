"""Texts as sparse rows of counts, for any learner of scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from weigh import errors
from weigh.engines import run
from weigh.features import NameArray, Schema, Text
from weigh.learn import VocabularyTask
from weigh.model.distributions.word_weights import HashBuckets, VocabularyLookup
from weigh.model.parallel import map_in_order
from weigh.source import Chunk, Source
from weigh.source import rows as rows_of


class TextVectorizer(TransformerMixin, BaseEstimator):
    """Counts of words, or of runs of characters: one row per text, one column per word.

    With the same options the matrix is exactly that of scikit-learn's ``CountVectorizer``; columns
    are in the order of the words' code points. It is found natively, on all cores, and texts may
    come from a file that does not fit into memory: ``fit(weigh.open(...))``.

    Parameters
    ----------
    counts : whether to count occurrences; False only marks presence with 1
    ngrams : how many neighbouring words (or characters) are joined, from low to high
    chars : True for runs of characters of the text, "words" for those within words; ``ngrams`` then
        says how many
    min_length : characters that a word must have
    lowercase, strip_accents : how texts are folded before they are split
    stop_words : words to leave out, a list or "english"
    min_count : words seen less often are left out; with ``counts=False``, in fewer texts
    max_words : how many words to keep, the most frequent ones
    buckets : a power of two; words are then sorted into so many columns by a hash, nothing is learned
    dtype : of the counts
    threads : how many threads count; None means all cores

    Examples
    --------
    >>> import weigh
    >>> words = weigh.TextVectorizer()
    >>> words.fit_transform(["Free money, free!", "lunch at noon"]).toarray()
    array([[0, 2, 0, 1, 0],
           [1, 0, 1, 0, 1]])
    >>> words.get_feature_names_out().tolist()
    ['at', 'free', 'lunch', 'money', 'noon']
    """

    def __init__(
        self,
        counts: bool = True,
        ngrams: tuple[int, int] = (1, 1),
        chars: bool | str = False,
        min_length: int = 2,
        lowercase: bool = True,
        strip_accents: bool = False,
        stop_words: Any = (),
        min_count: int = 1,
        max_words: int | None = None,
        buckets: int | None = None,
        dtype: Any = np.int64,
        threads: int | None = None,
    ) -> None:
        self.counts = counts
        self.ngrams = ngrams
        self.chars = chars
        self.min_length = min_length
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.stop_words = stop_words
        self.min_count = min_count
        self.max_words = max_words
        self.buckets = buckets
        self.dtype = dtype
        self.threads = threads

    def _text_kind(self) -> Text:
        settings = self.get_params(deep=False)
        return Text(**{name: value for name, value in settings.items() if name not in ("dtype", "threads")})

    def fit(self, texts: Any, y: Any = None) -> Self:
        """Find the words of some texts; y is not looked at."""
        source = _text_source(texts)
        task = VocabularyTask.for_source(source, self._text_kind())
        self.names_: NameArray = run(task, source, threads=self.threads)
        self._schema: Schema = task.schema
        every = None if self.buckets is None else HashBuckets(self.buckets, np.arange(self.buckets))
        self._words = VocabularyLookup(self.names_, every)
        return self

    def transform(self, texts: Any) -> csr_matrix:
        """Return the counts of the known words as a sparse matrix."""
        check_is_fitted(self, "names_")
        if hasattr(texts, "__len__") and len(texts) == 0:
            return csr_matrix((0, len(self.names_)), dtype=self.dtype)
        source = _text_source(texts)
        # There is one column, whatever it is called here.
        schema = replace(self._schema, names=source.names) if source.width == 1 else self._schema
        parts = list(map_in_order(self._count_chunk, schema.chunks(source)))
        indptr, indices, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        ends = np.concatenate([[0], np.cumsum(indptr)])
        return csr_matrix((values, indices, ends), shape=(len(indptr), len(self.names_)))

    def _count_chunk(self, chunk: Chunk) -> tuple[Any, Any, Any]:
        block: Any = replace(self._schema, names=list(chunk.columns)).encode(chunk)[0]
        found = self._words.entries(block)
        values = np.ones(len(found.indices)) if found.values is None else found.values
        counts = values.astype(self.dtype)
        if (counts != values).any():
            must = f"a type that holds counts up to {values.max():,.0f}"
            raise errors.parameter_error("TextVectorizer", "dtype", must, self.dtype)
        return np.diff(found.indptr), found.indices, counts

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the words, in the order of the columns; a bucket is called by its shortest word."""
        check_is_fitted(self, "names_")
        return np.array([name or f"bucket {at}" for at, name in enumerate(self.names_)], dtype=object)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each word."""
        check_is_fitted(self, "names_")
        if self.buckets is not None:
            raise errors.Unsupported("Words that are hashed into buckets have no columns of their own.")
        return {name: at for at, name in enumerate(self.names_)}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _text_source(texts: Any) -> Source:
    if isinstance(texts, str):
        raise errors.DataError("One string was given where a list of texts is expected. Give [text].")
    if isinstance(texts, (list, tuple)) and bytes in set(map(type, texts)):
        raise errors.DataError("Texts are strings, but these are bytes. Decode them first: text.decode().")
    return texts if isinstance(texts, Source) else rows_of(texts)
