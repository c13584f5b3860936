"""Training and test documents of an evaluation, and the scores of a learner on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.advice import Step
from weigh.apps.spelling.contexts import Corpus, Occurrences
from weigh.apps.spelling.documents import NO_FILE, Document
from weigh.apps.spelling.learners import LEARNERS, majority_classifier, train_classifier
from weigh.text import format_quantity

Ints = npt.NDArray[np.int64]
HELD_OUT_EVERY = 6  # without test documents, the last sixth of the documents is held out
MAJORITY = "majority"


@dataclass(frozen=True, eq=False)
class HeldOutSplit:
    """The occurrences of every set in training documents, followed by test documents.

    `document_words` has the number of words of each document; those from `first_test_document` on are test
    documents.
    """

    occurrences: tuple[Occurrences, ...]
    document_words: Ints
    first_test_document: int

    @property
    def training_words(self) -> Ints:
        """The number of words of each training document."""
        return self.document_words[: self.first_test_document]

    @property
    def test_words(self) -> Ints:
        """The number of words of each test document."""
        return self.document_words[self.first_test_document :]

    def training_occurrences(self, set_index: int) -> Occurrences:
        """Return the occurrences of a set in the training documents."""
        rows = self.occurrences[set_index]
        return rows.select(rows.documents < self.first_test_document)

    def test_occurrences(self, set_index: int) -> Occurrences:
        """Return the occurrences of a set in the test documents."""
        rows = self.occurrences[set_index]
        return rows.select(rows.documents >= self.first_test_document)


def read_split(
    documents: Iterable[Document],
    test_documents: Iterable[Document] | None,
    sets: Sequence[Sequence[str]],
    window: int,
) -> HeldOutSplit:
    """Read training and test documents; without the latter, hold out the last sixth of the documents."""
    n_training = 0
    paths: list[Path] = []

    def all_documents() -> Iterator[Document]:
        nonlocal n_training
        for document in documents:
            n_training += 1
            paths.append(document.path)
            yield document
        for document in test_documents or ():
            paths.append(document.path)
            yield document

    corpus = Corpus.read(all_documents(), sets, window)
    if test_documents is None:
        n_training -= max(1, n_training // HELD_OUT_EVERY)
    _check_disjoint(paths[:n_training], paths[n_training:])
    split = HeldOutSplit(corpus.occurrences, np.array(corpus.document_words, np.int64), n_training)
    n_test_words = format_quantity(int(split.test_words.sum()), "word")
    if n_training < 1 or split.training_words.sum() == 0 or split.test_words.sum() == 0:
        raise errors.DataError(
            f"There is too little text: {format_quantity(int(split.training_words.sum()), 'word')} to learn "
            f"from and {n_test_words} to test on.",
            hint=("Give at least two documents, or ", Step("test documents", "give test documents"), "."),
        )
    if not any(len(split.test_occurrences(i)) for i in range(len(split.occurrences))):
        raise errors.DataError(
            f"No word of any set occurs in the {n_test_words} of the test documents. Give more text, or sets "
            "of words "
            "that occur in it."
        )
    return split


def _check_disjoint(training: Sequence[Path], test: Sequence[Path]) -> None:
    """Raise `DataError` if a file is used for training and for testing."""
    resolved = {path.resolve() for path in training if path != NO_FILE}
    for path in test:
        if path.resolve() in resolved:
            raise errors.DataError(
                f"{path} is a training document and a test document. Use it for one of the two only."
            )


def check_learners(learners: Sequence[str], owner: str) -> tuple[str, ...]:
    """Return the names of learners without duplicates; raise `ParameterError` for unknown ones."""
    names = tuple(dict.fromkeys([learners] if isinstance(learners, str) else learners))
    if not names or not set(names) <= set(LEARNERS):
        raise errors.parameter_error(owner, "learners", f"some of {errors.quote_names(LEARNERS)}", learners)
    return names


class SetScore(NamedTuple):
    """The number of correct predictions for one set, and the number of features of the classifier."""

    right: int
    features: int


def score_learner(learner: str, train: Occurrences, test: Occurrences) -> SetScore:
    """Train a learner, or the majority baseline, and score its predictions on test occurrences."""
    classifier = majority_classifier(train) if learner == MAJORITY else train_classifier(learner, train)
    is_correct = classifier.predict_proba(test).argmax(axis=1) == test.members
    return SetScore(int(is_correct.sum()), classifier.n_features)
