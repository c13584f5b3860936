"""Recall and precision by direction: which word was written instead of which other word of its set."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from weigh import errors
from weigh.apps.spelling.classifiers import LinearWordClassifier
from weigh.apps.spelling.contexts import Corpus, Occurrences
from weigh.apps.spelling.documents import Document
from weigh.apps.spelling.evaluation.compare import format_fraction
from weigh.apps.spelling.speller import Speller
from weigh.result import Facts, Section, Table, TabularResult
from weigh.text import format_quantity

MAX_DIRECTIONS_DRAWN = 200
NOTE = (
    "errors: contexts of the second word, each checked with the first word in its place. right: contexts of "
    "the first word. precision: the share of correct suggestions if half of the words were errors."
)
TABLE_HEADINGS = ["written → meant", "errors", "found", "recall", "right", "alarms", "precision"]


@dataclass(frozen=True)
class DirectionResult(Facts):
    """Suggestions of `meant` for `written`: in contexts of `meant` (errors) and in its own (false alarms).

    `meant` is suggested in `found` of the `wrong` contexts and in `alarms` of the `right` ones.
    """

    written: str
    meant: str
    wrong: int
    found: int
    right: int
    alarms: int
    _json = ("written", "meant", "wrong", "found", "right", "alarms", "recall", "precision")

    @property
    def recall(self) -> float:
        """The share of errors that are found."""
        return self.found / self.wrong if self.wrong else math.nan

    @property
    def precision(self) -> float:
        """Precision if half of the words were wrong: r / (r + a), with recall r and false alarm rate a."""
        if not self.wrong or not self.right or not self.found + self.alarms:
            return math.nan
        return self.recall / (self.recall + self.alarms / self.right)


@dataclass(frozen=True, eq=False, repr=False)
class DirectionEvaluation(TabularResult):
    """The result of `evaluate_directions`; prints in 80 columns."""

    pairs: tuple[DirectionResult, ...]
    words: int
    threshold: float
    _frames = ("pairs",)

    def __getitem__(self, pair: tuple[str, str]) -> DirectionResult:
        for result in self.pairs:
            if (result.written, result.meant) == pair:
                return result
        raise errors.ParameterError(f"The speller has no set with {pair[0]!r} and {pair[1]!r}.")

    def plot(self) -> Any:
        """Plot the recall of the directions that occur, lowest first."""
        from weigh.pictures import bar_chart

        results = sorted((pair for pair in self.pairs if pair.wrong), key=lambda pair: pair.recall)
        rows = [{"name": f"{pair.written} → {pair.meant}", "value": pair.recall} for pair in results]
        return bar_chart(
            rows,
            x="recall",
            title="Recall by direction, lowest first",
            what="directions",
            most=MAX_DIRECTIONS_DRAWN,
        )

    @property
    def headline(self) -> str:
        """The size of the text and the threshold."""
        words = format_quantity(self.words, "word")
        return f"Every set word in {words} checked as written and swapped; P > {self.threshold:.4f}"

    def sections(self) -> list[Section]:
        """Return the results by direction."""
        return [Section("directions", [Table(self._table_rows())]), Section("notes", [NOTE])]

    def __repr__(self) -> str:
        return self.headline

    def _table_rows(self) -> list[list[str]]:
        return [
            TABLE_HEADINGS,
            *(
                [
                    f"{pair.written} → {pair.meant}",
                    f"{pair.wrong:,}",
                    f"{pair.found:,}",
                    format_fraction(pair.recall),
                    f"{pair.right:,}",
                    f"{pair.alarms:,}",
                    format_fraction(pair.precision),
                ]
                for pair in self.pairs
                if pair.wrong
            ),
        ]


def evaluate_directions(speller: Speller, documents: Iterable[Document]) -> DirectionEvaluation:
    """Swap each occurrence, one at a time, with every other word of its set and count the suggestions.

    The features of a context do not include the written word, so one prediction per occurrence is enough.
    """
    sets = [classifier.words for classifier in speller.sets]
    corpus = Corpus.read(documents, sets, speller.settings.window)
    if not any(map(len, corpus.occurrences)):
        words = format_quantity(corpus.n_words, "word")
        raise errors.DataError(
            f"No word of the speller's sets occurs in the {words} of text. Give more text."
        )
    threshold = speller.promise.threshold
    results = [
        result
        for classifier, rows in zip(speller.sets, corpus.occurrences, strict=True)
        for result in _evaluate_set(classifier, rows, threshold)
    ]
    return DirectionEvaluation(tuple(results), corpus.n_words, threshold)


def _evaluate_set(
    classifier: LinearWordClassifier, rows: Occurrences, threshold: float
) -> Iterator[DirectionResult]:
    n = len(classifier.words)
    counts = np.bincount(rows.members, minlength=n)
    probabilities = classifier.predict_proba(rows)
    best = probabilities.argmax(axis=1)
    is_above = probabilities.max(axis=1, initial=0.0) > threshold
    # predicted[i, j]: occurrences of word i for which word j is predicted above the threshold.
    cells = n * rows.members[is_above] + best[is_above]
    predicted = np.bincount(cells, minlength=n * n).reshape(n, n)
    for written, meant in permutations(range(n), 2):
        yield DirectionResult(
            classifier.words[written],
            classifier.words[meant],
            wrong=int(counts[meant]),
            found=int(predicted[meant, meant]),
            right=int(counts[written]),
            alarms=int(predicted[written, meant]),
        )
