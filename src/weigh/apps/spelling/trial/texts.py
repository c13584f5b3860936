"""Texts read once for a trial: what may be learned from, and what is held out to judge by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.apps.spelling.contexts import Occurrences
from weigh.apps.spelling.corpus import Corpus
from weigh.apps.spelling.documents import NO_FILE, Document
from weigh.apps.spelling.learners import LEARNERS
from weigh.text import counted

Ints = npt.NDArray[np.int64]
HELD = 6  # one document in so many is held out where nobody says which


@dataclass(frozen=True, eq=False)
class Texts:
    """The occurrences of every set in documents read once, those from `first_held` on to judge by.

    `words` counts the words of each document.
    """

    rows: tuple[Occurrences, ...]
    words: Ints
    first_held: int

    @property
    def learnable(self) -> Ints:
        """The words of each document that may be learned from."""
        return self.words[: self.first_held]

    @property
    def held(self) -> Ints:
        """The words of each document held out."""
        return self.words[self.first_held :]

    def to_learn(self, at: int) -> Occurrences:
        """The occurrences of a set that may be learned from."""
        return self.rows[at].where(self.rows[at].documents < self.first_held)

    def to_judge(self, at: int) -> Occurrences:
        """The occurrences of a set in the documents held out."""
        return self.rows[at].where(self.rows[at].documents >= self.first_held)


def read(
    documents: Iterable[Document],
    held: Iterable[Document] | None,
    sets: Sequence[Sequence[str]],
    window: int,
    owner: str,
) -> Texts:
    """Read documents to learn from and to judge by; without the latter the last sixth is held out."""
    first = 0
    paths: list[Path] = []

    def noted() -> Iterator[Document]:
        nonlocal first
        for each in documents:
            first += 1
            paths.append(each.path)
            yield each
        for each in held or ():
            paths.append(each.path)
            yield each

    corpus = Corpus.read(noted(), sets, window)
    words = corpus.words
    if held is None:
        first -= max(1, first // HELD)
    _require_apart(paths[:first], paths[first:], owner)
    if first < 1 or sum(words[:first]) == 0 or sum(words[first:]) == 0:
        raise errors.DataError(
            f"{owner}: {counted(sum(words[:first]), 'word')} to learn from and "
            f"{counted(sum(words[first:]), 'word')} to judge by are not enough. Give two documents or "
            "more, or say which ones to judge by."
        )
    texts = Texts(corpus.sets, np.array(words, np.int64), first)
    if not any(len(texts.to_judge(at)) for at in range(len(texts.rows))):
        raise errors.DataError(
            f"{owner}: no word of any set is in the {counted(sum(words[first:]), 'word')} held out. "
            "Give more text, or sets of words that are in it."
        )
    return texts


def _require_apart(learned: Sequence[Path], judged: Sequence[Path], owner: str) -> None:
    """Refuse to judge by a file that is learned from."""
    known = {path.resolve() for path in learned if path != NO_FILE}
    for path in judged:
        if path.resolve() in known:
            raise errors.DataError(
                f"{owner}: {path} is among the texts to learn from and among those to judge by. Give it "
                "for one of the two."
            )


def checked_learners(learners: Sequence[str], owner: str) -> tuple[str, ...]:
    """Return the names of learners, each once."""
    found = tuple(dict.fromkeys([learners] if isinstance(learners, str) else learners))
    if not found or not set(found) <= set(LEARNERS):
        raise errors.parameter(owner, "learners", f"some of {errors.listing(LEARNERS)}", learners)
    return found
