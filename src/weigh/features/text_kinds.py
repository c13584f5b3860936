"""Kinds of columns that hold bags of words: running text and lists of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

from weigh import _core, errors
from weigh.features.kinds import ColumnMap, Kind, MarkerTuple
from weigh.features.words import Block, encode_texts, encode_tokens
from weigh.parameters.kinds import TEXT

TOKEN_UNITS = {False: "words", True: "characters", "words": "characters within words"}
MAX_NATIVE_LENGTH = 2**31  # longer than any text, and fits a machine word


@dataclass(frozen=True, repr=False)
class BagOfWordsKind(Kind):
    """Base of text and tokens: how words are counted and which are kept.

    `counts=False` uses only which words occur (Bernoulli), otherwise how often (multinomial). Words that
    occur fewer than `min_count` times, and all but the `max_words` most frequent, stay in the counts and are
    left out of the finished model. With `buckets` (a power of two) words are hashed into that many buckets:
    memory does not depend on the vocabulary, and words in the same bucket share its counts.

    `weighting` turns the count of a word in a text into its value: "log" is 1 + ln(count), "tfidf" the count
    times the inverse document frequency 1 + ln((1 + n) / (1 + d)) of a word that d of n training texts
    contain, "log-tfidf" both. `norm` divides the values of a text by their sum ("l1") or by the root of the
    sum of their squares ("l2"). With either, `min_count` and `max_words` count texts, not occurrences.
    """

    counts: bool = True
    min_count: int = field(default=1, kw_only=True)
    max_words: int | None = field(default=None, kw_only=True)
    buckets: int | None = field(default=None, kw_only=True)
    weighting: str = field(default="counts", kw_only=True)
    norm: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.buckets is not None and (self.min_count > 1 or self.max_words is not None):
            must = "None with min_count or max_words, because buckets cannot be pruned"
            raise errors.parameter_error(type(self).__name__, "buckets", must, self.buckets)

    @property
    def family(self) -> str:
        """The distribution within a class."""
        if self.is_weighted and not self.counts:
            raise errors.Unsupported(
                "Naive Bayes uses either values of words (weighting, norm) or only whether they occur "
                "(counts=False), not both.",
                hint="Leave out one of the two.",
            )
        return "multinomial" if self.counts else "bernoulli"

    @property
    def is_weighted(self) -> bool:
        """Whether the words of a text have values other than their counts."""
        return self.weighting != "counts" or self.norm is not None

    @property
    def takes_logs(self) -> bool:
        """Whether values are logarithms of counts."""
        return self.weighting in ("log", "log-tfidf")

    @property
    def uses_idf(self) -> bool:
        """Whether values are multiplied by the inverse document frequency."""
        return self.weighting in ("tfidf", "log-tfidf")

    @property
    def token_settings(self) -> _core.TokenSettings:
        """How the native code splits values into words."""
        return _cached_token_settings(self)

    def to_native(self) -> _core.TokenSettings:
        """Return the settings of the native code."""
        return _core.TokenSettings("words", False, False, 1, 1, 1, [])


@dataclass(frozen=True, repr=False)
class Text(BagOfWordsKind):
    """Running text: lower-cased words, tokenised like `CountVectorizer`.

    `ngrams=(1, 2)` adds bigrams. `chars=True` uses character n-grams instead of words, `chars="words"` only
    those within words, padded with blanks; `ngrams` is then the range of lengths. Words shorter than
    `min_length` and `stop_words` (a list, or "english") are removed before n-grams are formed;
    `lowercase=False` keeps capitals, `strip_accents=True` turns é into e.
    """

    name: ClassVar[str] = "text"
    ngrams: tuple[int, int] = TEXT.defaults["ngrams"]
    chars: bool | str = False
    min_length: int = 2
    lowercase: bool = True
    strip_accents: bool = False
    stop_words: str | tuple[str, ...] = ()

    def to_native(self) -> _core.TokenSettings:
        """Return the settings of the native code."""
        shortest, low, high = (min(n, MAX_NATIVE_LENGTH) for n in (self.min_length, *self.ngrams))
        return _core.TokenSettings(
            TOKEN_UNITS[self.chars],
            self.lowercase,
            self.strip_accents,
            shortest,
            low,
            high,
            self.folded_stop_words,
        )

    @property
    def folded_stop_words(self) -> list[bytes]:
        """The stop words, folded like the texts, so that they can match."""
        words = STOP_WORDS_ENGLISH if self.stop_words == "english" else self.stop_words
        return [self.fold(word) for word in words]

    def fold(self, text: str) -> bytes:
        """Return a text as the tokeniser folds it, in UTF-8."""
        return _core.fold(text.encode("utf-8", "surrogatepass"), self.lowercase, self.strip_accents)

    def to_json(self) -> dict[str, Any]:
        """Return the kind as plain data, with the Unicode version of the tokeniser."""
        return super().to_json() | {"unicode": _core.UNICODE_VERSION}

    def encode(self, columns: ColumnMap, names: Sequence[str], missing: MarkerTuple) -> Block:
        """Return the words of one column."""
        return encode_texts(columns[names[0]], names[0], self, missing)


@dataclass(frozen=True, repr=False)
class Tokens(BagOfWordsKind):
    """Lists of ready-made tokens, counted like the words of a text."""

    name: ClassVar[str] = "tokens"

    def encode(self, columns: ColumnMap, names: Sequence[str], missing: MarkerTuple) -> Block:
        """Return the tokens of one column."""
        return encode_tokens(columns[names[0]], names[0], self, missing)


# Cached outside the kind, which must remain plain data: it is compared, copied and pickled.
@lru_cache(maxsize=64)
def _cached_token_settings(kind: BagOfWordsKind) -> _core.TokenSettings:
    return kind.to_native()


_STOP_WORD_LIST = """
    a about above across after afterwards again against all almost alone along already also although
    always am among an and another any anybody anyone anything anywhere are around as at away be
    became because become becomes been before behind being below beside besides between beyond both
    but by can cannot could did do does doing done down during each either else enough even ever
    every everybody everyone everything everywhere few for from further had has have having he hence
    her here hers herself him himself his how however i if in indeed instead into is it its itself
    just least less many may me meanwhile might mine more moreover most much must my myself near
    neither never nevertheless no nobody none nor not nothing now nowhere of off often on once one
    only onto or other others otherwise our ours ourselves out over own per perhaps quite rather
    same shall she should since so some somebody somehow someone something sometimes somewhere still
    such than that the their theirs them themselves then thence there thereby therefore these they
    this those though through throughout thus to together too toward towards under unless until up
    upon us very via was we were what whatever when whenever where whereas wherever whether which
    while who whoever whole whom whose why will with within without would yet you your yours
    yourself yourselves
"""

STOP_WORDS_ENGLISH = tuple(_STOP_WORD_LIST.split())
