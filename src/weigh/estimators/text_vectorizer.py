"""The scikit-learn transformer from texts to sparse word counts or weighted values."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from weigh import errors
from weigh.advice import Setting
from weigh.deduplicated_warnings import warn
from weigh.engines import run
from weigh.estimators.base import ThreadSafeEstimator, serialised
from weigh.features.columns import is_missing
from weigh.features.names import NameArray
from weigh.features.schema import Schema
from weigh.features.text_kinds import Text
from weigh.learn.preprocessing import VocabularyTask
from weigh.model.distributions.word_weights import VocabularyLookup
from weigh.model.parallel import map_in_order
from weigh.source.base import Source
from weigh.source.chunk import Chunk
from weigh.source.memory.table import rows as rows_of
from weigh.source.sparse_rows import SparseRows


class TextVectorizer(TransformerMixin, ThreadSafeEstimator):
    """Counts or weighted values of words or character n-grams: one row per text, one column per word.

    With the same options the matrix equals that of scikit-learn's ``CountVectorizer``, and with
    ``weighting="tfidf", norm="l2"`` that of ``TfidfVectorizer``; the columns are sorted by code point.
    Counting is native and uses all cores, and texts may come from a file that does not fit into memory:
    ``fit(weigh.open(...))``. The texts of a generator are kept as a list. Like ``CountVectorizer``, it
    refuses an empty vocabulary and warns of stop words for characters; unlike it, a missing text (None or
    NaN) has no words, and bytes must be decoded first.

    Parameters
    ----------
    counts : whether to count occurrences; False marks presence with 1
    ngrams : smallest and largest n of the word (or character) n-grams
    chars : True for character n-grams of the text, "words" for those within words
    min_length : minimum number of characters of a word
    lowercase, strip_accents : how texts are normalised before tokenising
    stop_words : words to leave out, a list or "english"
    min_count : minimum number of occurrences of a word; of texts with ``counts=False``, a weighting or a norm
    max_words : maximum number of words; the most frequent ones are kept
    buckets : a power of two: hash words into this many columns instead of learning a vocabulary
    dtype : type of the values; None means int64 for counts and float64 with a weighting or a norm
    threads : number of threads; None means all cores
    weighting : "counts"; "log" for 1 + ln(count); "tfidf" for the count times the inverse document frequency
        1 + ln((1 + n) / (1 + d)) of a word that d of n texts contain; "log-tfidf" for both
    norm : "l1" or "l2" divides the values of a text by their norm; None does not

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

    names_: NameArray
    _vocabulary: tuple[Schema, VocabularyLookup]  # replaced as a whole, because other threads may read it

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
        dtype: Any = None,
        threads: int | None = None,
        weighting: str = "counts",
        norm: str | None = None,
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
        self.weighting = weighting
        self.norm = norm

    def _text_kind(self) -> Text:
        settings = self.get_params(deep=False)
        return Text(**{name: value for name, value in settings.items() if name not in ("dtype", "threads")})

    @serialised
    def fit(self, texts: Any, y: Any = None) -> Self:
        """Learn the vocabulary of the texts; y is ignored."""
        source, kind = _text_source(_to_list(texts)), self._text_kind()
        if kind.chars and kind.stop_words:
            warn(
                errors.UnusedParameter(
                    "stop_words has no effect: characters are counted, not words.",
                    hint=("Leave it out, or use ", Setting("chars", False), "."),
                )
            )
        task = VocabularyTask.for_source(source, kind)
        words: VocabularyLookup = run(task, source, threads=self.threads)
        if not len(words.names):
            raise _empty_vocabulary_error(kind)
        self.__dict__.update(names_=words.names, _vocabulary=(task.schema, words))
        return self

    @serialised
    def fit_transform(self, texts: Any, y: Any = None) -> csr_matrix:
        """Learn the vocabulary of the texts and return their counts or values; y is ignored."""
        texts = _to_list(texts)  # a generator can be read only once
        return self.fit(texts).transform(texts)

    def transform(self, texts: Any) -> csr_matrix:
        """Return the counts or values of the known words as a sparse matrix."""
        check_is_fitted(self, "names_")
        schema, words = self._vocabulary
        texts = _to_list(texts)
        if hasattr(texts, "__len__") and len(texts) == 0:
            return csr_matrix((0, len(words.names)), dtype=self._value_dtype(words))
        source = _text_source(texts)
        # The name of a single column does not matter.
        schema = replace(schema, names=source.names) if source.width == 1 else schema
        parts = list(map_in_order(partial(self._count_chunk, schema, words), schema.chunk_readers(source)))
        rows = SparseRows.concatenate(parts, len(words.names))
        return csr_matrix((rows.values, rows.indices, rows.indptr), shape=rows.shape)

    def _count_chunk(self, schema: Schema, words: VocabularyLookup, chunk: Chunk) -> SparseRows:
        """Return the counts of one chunk."""
        block: Any = replace(schema, names=list(chunk.columns)).encode(chunk)[0]
        entries, dtype = words.entries(block), self._value_dtype(words)
        values = entries.entry_values()
        counts = values.astype(dtype, copy=False)
        if words.weighting is not None:
            if counts.dtype.kind != "f":
                constraint = "a floating-point type with a weighting or a norm"
                raise errors.parameter_error("TextVectorizer", "dtype", constraint, self.dtype)
            return replace(entries, values=counts)
        if (counts != values).any():
            constraint = f"a type that holds counts up to {values.max():,.0f}"
            raise errors.parameter_error("TextVectorizer", "dtype", constraint, self.dtype)
        return replace(entries, values=counts)

    def _value_dtype(self, words: VocabularyLookup) -> Any:
        if self.dtype is not None:
            return self.dtype
        return np.int64 if words.weighting is None else np.float64

    def inverse_transform(self, X: Any) -> list[npt.NDArray[Any]]:
        """Return the words that occur in each row of a matrix, in the order of the columns."""
        words, rows = np.array(list(self.vocabulary_)), csr_matrix(X, copy=True)
        rows.eliminate_zeros()
        rows.sort_indices()
        return [words[part] for part in np.split(rows.indices, rows.indptr[1:-1])] if rows.shape[0] else []

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the words in the order of the columns; a bucket is named after its shortest word."""
        check_is_fitted(self, "names_")
        return np.array([name or f"bucket {j}" for j, name in enumerate(self.names_)], dtype=object)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column index of each word."""
        check_is_fitted(self, "names_")
        if self.buckets is not None:
            raise errors.Unsupported("Words that are hashed into buckets have no columns of their own.")
        return {name: j for j, name in enumerate(self.names_)}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _to_list(texts: Any) -> Any:
    """Return the texts of an iterator, a set or a view as a list; anything else unchanged."""
    is_container = any(hasattr(texts, name) for name in ("__getitem__", "__arrow_c_stream__"))
    is_iterable = isinstance(texts, Iterable) and not isinstance(texts, Source)
    return list(texts) if is_iterable and not is_container else texts


def _text_source(texts: Any) -> Source:
    if isinstance(texts, str):
        raise errors.DataError("One string was given where a list of texts is expected. Give [text].")
    is_vector = isinstance(texts, np.ndarray) and texts.ndim == 1
    if isinstance(texts, (list, tuple)) or is_vector:
        types = {type(text) for text in texts if not is_missing(text)}
        if any(issubclass(each, bytes) for each in types):
            raise errors.DataError("Texts must be strings, got bytes. Decode them first: text.decode().")
        if types and all(issubclass(each, numbers.Number) for each in types):
            raise errors.DataError(f"Texts must be strings, got {types.pop().__name__}.")
        if not types and len(texts):
            return rows_of({"text": list(texts)})  # all missing
    return texts if isinstance(texts, Source) else rows_of(texts)


def _empty_vocabulary_error(kind: Text) -> errors.DataError:
    """Return the error for texts without any word to count."""
    unit = "n-gram" if kind.chars else "word"
    if kind.min_count > 1:
        times = "in at least {:,} texts" if kind.is_weighted else "at least {:,} times"
        return errors.DataError(
            f"The vocabulary is empty: no {unit} occurs {times.format(kind.min_count)}.",
            hint=("Try ", Setting("min_count", 1), "."),
        )
    if kind.chars:
        return errors.DataError("The vocabulary is empty: the texts are too short for the n-grams.")
    return errors.DataError(
        f"The vocabulary is empty: the texts have no words of at least {kind.min_length} characters that are "
        "not stop words."
    )
