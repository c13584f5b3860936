"""What the filter looks at in a message: features with names for people and keys for the ledger."""

from __future__ import annotations

import os
from collections.abc import Container, Sequence
from dataclasses import dataclass

from weigh import _core
from weigh.errors import parameter_error

# Of features and identities: to be raised whenever a message may get others than before. What a store has
# learned of the old ones would no longer be what it meets.
FEATURES_VERSION = 1
PAIRS = ("none", "pairs", "sparse")
VIEWS = ("headers", "body")
MAX_FEATURES_PER_VIEW = _core.MAIL_MAX_FEATURES
_MAX_CHARACTERS = 16


@dataclass(frozen=True)
class MailFeature:
    """Something that a message has.

    `view` is a place in `VIEWS`. The `key` is a hash of the name, keyed by the salt and other in each view.
    """

    view: int
    name: str
    key: int


@dataclass(frozen=True)
class FeatureExtractor:
    r"""The map from raw messages to features that are there or not.

    Parameters
    ----------
    pairs : "none", "pairs" or "sparse"
        Which words are joined: none, neighbours ("a b"), or words up to four apart ("a _ _ b").
    characters : int
        Length of runs of bytes at the start of headers and text, up to 16; none if 0.
    salt : int
        Key of the hash, 64 bits. Without it the names behind keys cannot be guessed; with it whoever has a
        list of words can try them.

    Examples
    --------
    >>> Features().named(b"Subject: hello\n\nYou won $100")[-1].name
    'won $100'
    """

    pairs: str = "pairs"
    characters: int = 0
    salt: int = 0

    def __post_init__(self) -> None:
        if self.pairs not in PAIRS:
            raise parameter_error("Features", "pairs", "'none', 'pairs' or 'sparse'", self.pairs)
        if type(self.characters) is not int or not 0 <= self.characters <= _MAX_CHARACTERS:
            raise parameter_error(
                "Features", "characters", f"a whole number up to {_MAX_CHARACTERS}", self.characters
            )
        if type(self.salt) is not int or not 0 <= self.salt < 1 << 64:
            raise parameter_error("Features", "salt", "a whole number of at most 64 bits", self.salt)

    def hashed_features(self, contents: Sequence[bytes], threads: int | None = None) -> list[bytes]:
        """Return what is learned and stored of each raw message: the keys of its features.

        A print has the numbers of features of the headers and of the body (32 bits each), then their keys
        (64 bits each), each view's in order; all little-endian. A view has at most 20,000 features, the
        first ones. `threads` left out means all cores this process may use. Any number gives the same, and
        no more are started than there are cores.
        """
        return _core.hash_mail_features(*self._core_arguments(contents, threads))

    def identify(self, contents: Sequence[bytes], threads: int | None = None) -> list[tuple[bytes, bytes]]:
        """Return the 16 bytes that each raw message is known by, and its print.

        They are the same wherever a message lies: lines may end in CRLF or LF, empty ones may be at the end,
        and the mailbox's own first line ("From …"), the ">" before "From " that mailboxes put into bodies and
        headers that filters and mailboxes write (those that are no features either) do not count. Everything
        else does. The salt is the key of this hash, too.
        """
        return _core.hash_mail_features_with_ids(*self._core_arguments(contents, threads))

    def named_features(self, content: bytes) -> list[MailFeature]:
        """Return the features of one raw message with their names, in the order in which they are met."""
        found = _core.extract_mail_features(content, self.pairs, self.characters, self.salt)
        return [MailFeature(*each) for each in found]

    def feature_names(self, content: bytes, wanted: Container[tuple[int, int]]) -> dict[tuple[int, int], str]:
        """Return the names of some features of a raw message, by view and key."""
        found = _core.extract_mail_features(content, self.pairs, self.characters, self.salt)
        return {(view, key): name for view, name, key in found if (view, key) in wanted}

    def _core_arguments(
        self, contents: Sequence[bytes], threads: int | None
    ) -> tuple[list[bytes], str, int, int, int]:
        if threads is not None and (type(threads) is not int or threads < 1):
            raise parameter_error("prints", "threads", "a whole number from 1 on", threads)
        most = min(threads or 0, os.cpu_count() or 1)
        return list(contents), self.pairs, self.characters, self.salt, most
