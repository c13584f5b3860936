"""The learners that train a classifier for one confusion set, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from weigh import errors
from weigh.apps.spelling.classifiers import LinearWordClassifier, WordClassifier
from weigh.apps.spelling.contexts import CONTEXT_COLUMN, Occurrences
from weigh.apps.spelling.speller_data import LINEAR_LEARNERS
from weigh.engines import run
from weigh.features.blocks import Floats, Longs, Mask
from weigh.features.inference.schema import infer_schema
from weigh.features.text_kinds import Tokens
from weigh.learn.naive_bayes import BayesTask
from weigh.learn.perceptron import PerceptronTask
from weigh.learn.sgd import OnlineLogisticTask
from weigh.model.perceptron import VotedModel
from weigh.source.base import Source

# Chosen on fifty of sixty novels: trained on forty, evaluated on ten.
LOGISTIC_PRIOR_SD = 3.0  # standard deviation of the prior on the weights
PSEUDO_COUNTS = {"naive-bayes": 0.3, "bernoulli": 0.1}
PASSES = {"logistic": 10, "perceptron": 5}
LOGISTIC_TOLERANCE = 0.03  # stop when a pass improves the objective by a smaller fraction
# Features that occur once hurt logistic regression and naive Bayes, but help perceptrons.
MIN_FEATURE_COUNT = 2
# The positions of the features "before:", "after:" and "around:" in every context.
PREVIOUS, NEXT, BOTH = 0, 1, 4


def train_classifier(learner: str, rows: Occurrences) -> WordClassifier:
    """Train a classifier; if fewer than two words occur, return the majority classifier."""
    if learner not in LEARNERS:
        allowed = f"one of {errors.quote_names(LEARNERS)}"
        raise errors.parameter_error("train_classifier", "learner", allowed, learner)
    if len(np.unique(rows.members)) < 2:
        return majority_classifier(rows)
    return _TRAINERS[learner](rows)


def train_linear_classifier(learner: str, rows: Occurrences, n_features: int) -> LinearWordClassifier:
    """Train a linear classifier and keep its strongest features."""
    classifier = train_classifier(learner, rows)
    if not isinstance(classifier, LinearWordClassifier):
        allowed = f"one of {errors.quote_names(LINEAR_LEARNERS)}"
        raise errors.parameter_error("train_linear_classifier", "learner", allowed, learner)
    return classifier.select_strongest(n_features, rows)


def majority_classifier(rows: Occurrences) -> LinearWordClassifier:
    """Return the classifier that always predicts the most frequent word; ties go to the first of the set."""
    counts = np.bincount(rows.members, minlength=len(rows.words))
    return LinearWordClassifier.constant(rows.words, int(counts.argmax()))


def restrict_to_words(rows: Occurrences, is_kept: Mask) -> Occurrences:
    """Return the occurrences of some of the words of a set, as those of a smaller set."""
    new_members = np.cumsum(is_kept, dtype=np.int32) - 1
    kept_rows = rows.select(is_kept[rows.members])
    words = tuple(rows.words[member] for member in np.flatnonzero(is_kept).tolist())
    return replace(kept_rows, words=words, members=new_members[kept_rows.members].astype(np.int32))


@dataclass(frozen=True, eq=False)
class MemoryBasedClassifier:
    """Counts of each word between two neighbours, after one and before one (Banko & Brill 2001).

    It predicts from the pair (previous, next) if that was seen in training, else from the previous word, else
    from the next word, else from the overall frequencies. One pseudo-count, distributed by the overall
    frequencies, is added to the counts, so ties go to the more frequent word.
    """

    words: tuple[str, ...]
    totals: Longs
    row_by_neighbours: dict[str, int]
    counts: Longs

    @classmethod
    def from_occurrences(cls, rows: Occurrences) -> MemoryBasedClassifier:
        """Count the words of occurrences by their neighbours."""
        n_words = len(rows.words)
        ids = np.concatenate([_neighbours(rows, position) for position in (PREVIOUS, NEXT, BOTH)])
        distinct, inverse = np.unique(ids, return_inverse=True)
        cells = inverse.reshape(-1) * n_words + np.tile(rows.members, 3)
        counts = np.bincount(cells, minlength=len(distinct) * n_words).reshape(len(distinct), n_words)
        row_by_neighbours = {name: row for row, name in enumerate(rows.names.take(distinct))}
        return cls(rows.words, np.bincount(rows.members, minlength=n_words), row_by_neighbours, counts)

    @property
    def n_features(self) -> int:
        """The number of distinct neighbours and pairs of neighbours."""
        return len(self.row_by_neighbours)

    def predict_proba(self, rows: Occurrences) -> Floats:
        """Return the relative frequency of every word [n_rows, n_words] with the same neighbours."""
        counts = np.tile(self.totals, (len(rows), 1))
        for position in (NEXT, PREVIOUS, BOTH):
            indices = self._find_rows(rows, position)
            counts[indices >= 0] = self.counts[indices[indices >= 0]]
        smoothed = counts + self.totals / self.totals.sum()
        return np.asarray(smoothed / smoothed.sum(axis=1, keepdims=True))

    def _find_rows(self, rows: Occurrences, position: int) -> Longs:
        """Return the row of `counts` for the neighbour of each occurrence, or -1."""
        distinct, inverse = np.unique(_neighbours(rows, position), return_inverse=True)
        indices = [self.row_by_neighbours.get(name, -1) for name in rows.names.take(distinct)]
        return np.array(indices, dtype=np.int64)[inverse.reshape(-1)]


def _neighbours(rows: Occurrences, position: int) -> Longs:
    return rows.features.indices[rows.features.indptr[:-1] + position].astype(np.int64)


@dataclass(frozen=True, eq=False)
class VotedWordClassifier:
    """A voted perceptron; the probability of a word is its share of the votes."""

    words: tuple[str, ...]
    model: VotedModel

    @property
    def n_features(self) -> int:
        """The number of features in the model."""
        return len(self.model.features)

    def predict_proba(self, rows: Occurrences) -> Floats:
        """Return the share of the votes for every word [n_rows, n_words]."""
        votes = self.model.score_chunk(rows.to_chunk())
        assert self.model.record is not None
        total = float(self.model.record.lives.sum())
        if len(self.model.classes) == 2:
            # A binary score is the votes for the second class minus those for the first.
            votes = np.column_stack([total - votes[:, 1], total + votes[:, 1]]) / 2
        probabilities = np.zeros((len(rows), len(self.words)))
        probabilities[:, [self.words.index(label) for label in self.model.classes]] = votes / total
        return probabilities


def fit_model(learner: str, rows: Occurrences) -> Any:
    """Fit the model behind a classifier to the words that occur."""
    occurs = np.bincount(rows.members, minlength=len(rows.words)) > 0
    source = restrict_to_words(rows, occurs).to_source()
    return run(_TASKS[learner](source), source)


def _context_columns(*, counts: bool = True, min_count: int = MIN_FEATURE_COUNT) -> dict[str, Tokens]:
    return {CONTEXT_COLUMN: Tokens(counts=counts, min_count=min_count)}


def _logistic_task(source: Source) -> OnlineLogisticTask:
    return OnlineLogisticTask.for_source(
        source,
        _context_columns(),
        prior=LOGISTIC_PRIOR_SD,
        max_iter=PASSES["logistic"],
        tol=LOGISTIC_TOLERANCE,
    )


def _naive_bayes_task(source: Source) -> BayesTask:
    return BayesTask(infer_schema(source, _context_columns()), PSEUDO_COUNTS["naive-bayes"])


def _bernoulli_task(source: Source) -> BayesTask:
    return BayesTask(infer_schema(source, _context_columns(counts=False)), PSEUDO_COUNTS["bernoulli"])


def _perceptron_task(source: Source, *, keep: str = "averaged") -> PerceptronTask:
    columns = _context_columns(min_count=1)
    return PerceptronTask.for_source(source, columns, keep=keep, max_iter=PASSES["perceptron"])


_TASKS: dict[str, Callable[[Source], Any]] = {
    "logistic": _logistic_task,
    "naive-bayes": _naive_bayes_task,
    "bernoulli": _bernoulli_task,
    "perceptron": _perceptron_task,
    "voted": partial(_perceptron_task, keep="voted"),
}
LEARNERS = (*LINEAR_LEARNERS, "voted", "memory")


def _train_linear(learner: str, rows: Occurrences) -> LinearWordClassifier:
    return LinearWordClassifier.from_model(fit_model(learner, rows), rows.words)


def _train_voted_perceptron(rows: Occurrences) -> VotedWordClassifier:
    return VotedWordClassifier(rows.words, fit_model("voted", rows))


_TRAINERS: dict[str, Callable[[Occurrences], WordClassifier]] = {
    **{learner: partial(_train_linear, learner) for learner in LINEAR_LEARNERS},
    "voted": _train_voted_perceptron,
    "memory": MemoryBasedClassifier.from_occurrences,
}
