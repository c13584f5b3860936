"""Feature extraction from raw messages: named features for people, hashed features for the ledger."""

from __future__ import annotations

import os
import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from weigh import _core
from weigh.errors import parameter_error

# Raise it whenever the features or the identity of any message change: a store would no longer recognise
# what it has learned.
FEATURES_VERSION = 1
PAIRS = ("none", "pairs", "sparse")
VIEWS = ("headers", "body")
MAX_FEATURES_PER_VIEW = _core.MAIL_MAX_FEATURES
FEATURE_COUNTS = struct.Struct(
    "<II"
)  # hashed features begin with the numbers of header keys and of body keys
_MAX_CHARACTERS = 16


@dataclass(frozen=True)
class MailFeature:
    """A feature of a message.

    `view` is an index into `VIEWS`. `key` is a hash of the name, keyed by the salt and the view.
    """

    view: int
    name: str
    key: int


@dataclass(frozen=True)
class ParsedMail:
    """The features of one message as (view, name, key), headers first, in order of appearance; and hashed."""

    features: Sequence[tuple[int, str, int]]
    hashed_features: bytes

    def names(self, wanted: Collection[tuple[int, int]]) -> dict[tuple[int, int], str]:
        """Return the names of the wanted features by (view, key)."""
        keys = {key for _, key in wanted}
        return {
            (view, key): name for view, name, key in self.features if key in keys and (view, key) in wanted
        }


@dataclass(frozen=True)
class FeatureExtractor:
    r"""Maps raw messages to sets of binary features.

    Parameters
    ----------
    pairs : "none", "pairs" or "sparse"
        Which words are combined: none, neighbours ("a b"), or words up to four positions apart ("a _ _ b").
    characters : int
        Length n of the character n-grams at the start of headers and text, up to 16; 0 for none.
    salt : int
        64-bit key of the hash. Without it keys cannot be traced back to names; with it anybody can test
        whether a word that they guess has been learned.

    Examples
    --------
    >>> FeatureExtractor().named_features(b"Subject: hello\n\nYou won $100")[-2].name
    'won $100'
    """

    pairs: str = "pairs"
    characters: int = 0
    salt: int = 0

    def __post_init__(self) -> None:
        if self.pairs not in PAIRS:
            raise parameter_error("FeatureExtractor", "pairs", "'none', 'pairs' or 'sparse'", self.pairs)
        if type(self.characters) is not int or not 0 <= self.characters <= _MAX_CHARACTERS:
            expected = f"a whole number up to {_MAX_CHARACTERS}"
            raise parameter_error("FeatureExtractor", "characters", expected, self.characters)
        if type(self.salt) is not int or not 0 <= self.salt < 1 << 64:
            raise parameter_error("FeatureExtractor", "salt", "a whole number of at most 64 bits", self.salt)

    def hashed_features(self, contents: Sequence[bytes], threads: int | None = None) -> list[bytes]:
        """Return the hashed features of each raw message, which are what is learned and stored.

        Layout, little-endian: the numbers of header and body features (32 bits each), then their keys (64
        bits each), sorted within each view. Each view keeps its first 20,000 features. By default all
        available cores are used; the result does not depend on `threads`, and no more than the cores are
        started.
        """
        return _core.hash_mail_features(*self._core_arguments(contents, threads))

    def identify(self, contents: Sequence[bytes], threads: int | None = None) -> list[tuple[bytes, bytes]]:
        """Return the 16-byte identity and the hashed features of each raw message.

        The identity does not depend on where a message is stored. It ignores line endings, trailing empty
        lines, the mbox "From " line, the ">" that mbox files put before "From " in bodies, and the headers
        that filters and mailboxes write, which are not features either. It is a hash keyed by the salt.
        """
        return _core.hash_mail_features_with_ids(*self._core_arguments(contents, threads))

    def named_features(self, content: bytes) -> list[MailFeature]:
        """Return the features of a raw message with their names, in order of appearance."""
        return [MailFeature(*feature) for feature in self.parse(content).features]

    def parse(self, content: bytes) -> ParsedMail:
        """Return the named and the hashed features of a raw message, which is parsed once."""
        return ParsedMail(*_core.extract_mail_features(content, self.pairs, self.characters, self.salt))

    def _core_arguments(
        self, contents: Sequence[bytes], threads: int | None
    ) -> tuple[list[bytes], str, int, int, int]:
        if threads is not None and (type(threads) is not int or threads < 1):
            raise parameter_error("FeatureExtractor", "threads", "a whole number of at least 1", threads)
        max_threads = min(threads or 0, os.cpu_count() or 1)
        return list(contents), self.pairs, self.characters, self.salt, max_threads
