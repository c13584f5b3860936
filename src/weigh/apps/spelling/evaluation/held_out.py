"""Texts read once for a trial: what may be learned from, and what is held out to judge by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.apps.spelling.contexts import Corpus, Occurrences
from weigh.apps.spelling.documents import NO_FILE, Document
from weigh.apps.spelling.learners import LEARNERS, majority_classifier, train_classifier
from weigh.judge.metrics.confidence_intervals import Measure, clopper_pearson
from weigh.judge.metrics.losses import Floats
from weigh.text import format_quantity

Ints = npt.NDArray[np.int64]
HELD_OUT_EVERY = 6  # one document in so many is held out where nobody says which


@dataclass(frozen=True, eq=False)
class HeldOutSplit:
    """The occurrences of every set in documents read once, those from `first_held` on to judge by.

    `words` counts the words of each document.
    """

    occurrences: tuple[Occurrences, ...]
    document_words: Ints
    first_test_document: int

    @property
    def training_words(self) -> Ints:
        """The words of each document that may be learned from."""
        return self.document_words[: self.first_test_document]

    @property
    def test_words(self) -> Ints:
        """The words of each document held out."""
        return self.document_words[self.first_test_document :]

    def training_occurrences(self, at: int) -> Occurrences:
        """The occurrences of a set that may be learned from."""
        return self.occurrences[at].select(self.occurrences[at].documents < self.first_test_document)

    def test_occurrences(self, at: int) -> Occurrences:
        """The occurrences of a set in the documents held out."""
        return self.occurrences[at].select(self.occurrences[at].documents >= self.first_test_document)


def read_split(
    documents: Iterable[Document],
    held: Iterable[Document] | None,
    sets: Sequence[Sequence[str]],
    window: int,
    owner: str,
) -> HeldOutSplit:
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
    words = corpus.document_words
    if held is None:
        first -= max(1, first // HELD_OUT_EVERY)
    _check_disjoint(paths[:first], paths[first:], owner)
    if first < 1 or sum(words[:first]) == 0 or sum(words[first:]) == 0:
        raise errors.DataError(
            f"{owner}: {format_quantity(sum(words[:first]), 'word')} to learn from and "
            f"{format_quantity(sum(words[first:]), 'word')} to judge by are not enough. Give two documents or "
            "more, or say which ones to judge by."
        )
    texts = HeldOutSplit(corpus.occurrences, np.array(words, np.int64), first)
    if not any(len(texts.test_occurrences(at)) for at in range(len(texts.occurrences))):
        raise errors.DataError(
            f"{owner}: no word of any set is in the {format_quantity(sum(words[first:]), 'word')} held out. "
            "Give more text, or sets of words that are in it."
        )
    return texts


def _check_disjoint(learned: Sequence[Path], judged: Sequence[Path], owner: str) -> None:
    """Refuse to judge by a file that is learned from."""
    known = {path.resolve() for path in learned if path != NO_FILE}
    for path in judged:
        if path.resolve() in known:
            raise errors.DataError(
                f"{owner}: {path} is among the texts to learn from and among those to judge by. Give it "
                "for one of the two."
            )


def check_learners(learners: Sequence[str], owner: str) -> tuple[str, ...]:
    """Return the names of learners, each once."""
    found = tuple(dict.fromkeys([learners] if isinstance(learners, str) else learners))
    if not found or not set(found) <= set(LEARNERS):
        raise errors.parameter_error(owner, "learners", f"some of {errors.quote_names(LEARNERS)}", learners)
    return found


MAJORITY = "majority"
CONFIDENCE_LEVEL = 0.95


class SetScore(NamedTuple):
    """How many occurrences a learner got right, and how many features it keeps."""

    right: int
    features: int


def score_learner(learner: str, train: Occurrences, test: Occurrences) -> SetScore:
    """Learn from some occurrences and choose a word for others; the majority is the commonest word."""
    chooser = majority_classifier(train) if learner == MAJORITY else train_classifier(learner, train)
    return SetScore(
        int((chooser.predict_proba(test).argmax(axis=1) == test.members).sum()), chooser.n_features
    )


def proportion(name: str, part: int, whole: int) -> Measure:
    """A share with its exact 95 % interval; nan of nothing."""
    k, n = np.array([[part], [whole]], np.float64)
    low, high = clopper_pearson(k, n, CONFIDENCE_LEVEL)
    return Measure(name, part / whole if whole else math.nan, float(low[0]), float(high[0]))


def standard_error_over_sets(values: Floats) -> Floats:
    """The standard error of the mean over the sets, which are the last axis; nan of one set."""
    sets = values.shape[-1]
    if sets < 2:
        return np.full(values.shape[:-1], math.nan)
    return np.asarray(values.std(axis=-1, ddof=1) / math.sqrt(sets))
