"""The learners that tell the words of a set apart, by name."""

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
from weigh.features import Tokens, infer_schema
from weigh.features.blocks import Floats, Longs, Mask
from weigh.learn import BayesTask, PerceptronTask
from weigh.learn.sgd import OnlineLogisticTask, online_penalty
from weigh.model.perceptron import VotedModel
from weigh.priors import Normal
from weigh.source import Source

PREVIOUS, NEXT, BOTH = 0, 1, 4  # where a context has its nearest words, and the two of them together


@dataclass(frozen=True, eq=False)
class MemoryBasedClassifier:
    """How often each word stood between two neighbours, after one and before one.

    It answers by (previous, next) if that pair was ever seen, else by the previous word, else by the next,
    else by how common the words are. Ties go to the commoner word, and so do equal chances: every count has
    one look more, which the words share as they share the text.
    """

    words: tuple[str, ...]
    totals: Longs
    row_by_neighbours: dict[str, int]
    table: Longs

    @classmethod
    def from_occurrences(cls, rows: Occurrences) -> MemoryBasedClassifier:
        """Return the memory of occurrences."""
        width = len(rows.words)
        ids = np.concatenate([_neighbours(rows, place) for place in (PREVIOUS, NEXT, BOTH)])
        used, numbers = np.unique(ids, return_inverse=True)
        cells = numbers.reshape(-1) * width + np.tile(rows.members, 3)
        table = np.bincount(cells, minlength=len(used) * width).reshape(len(used), width)
        places = {name: at for at, name in enumerate(rows.names.take(used))}
        return cls(rows.words, np.bincount(rows.members, minlength=width), places, table)

    @property
    def n_features(self) -> int:
        """How many neighbours, and pairs of them, it remembers."""
        return len(self.row_by_neighbours)

    def predict_proba(self, rows: Occurrences) -> Floats:
        """Return the share of every word [rows, words] where the same neighbours stood before."""
        counts = np.tile(self.totals, (len(rows), 1))
        for place in (NEXT, PREVIOUS, BOTH):
            found = self._find_rows(rows, place)
            counts[found >= 0] = self.table[found[found >= 0]]
        counted = counts + self.totals / self.totals.sum()
        return np.asarray(counted / counted.sum(axis=1, keepdims=True))

    def _find_rows(self, rows: Occurrences, place: int) -> Longs:
        """Return where the memory has a neighbour of each row, -1 where it has not."""
        used, numbers = np.unique(_neighbours(rows, place), return_inverse=True)
        known = [self.row_by_neighbours.get(name, -1) for name in rows.names.take(used)]
        return np.array(known, dtype=np.int64)[numbers.reshape(-1)]


def _neighbours(rows: Occurrences, place: int) -> Longs:
    return rows.features[rows.indptr[:-1] + place].astype(np.int64)


# Found on the first fifty of sixty novels: learned from forty, judged on ten.
LOGISTIC_PRIOR_SD = 3.0  # of the weights of logistic regression
PSEUDO_COUNTS = {"naive-bayes": 0.3, "bernoulli": 0.1}
PASSES = {"logistic": 10, "perceptron": 5}
LOGISTIC_TOLERANCE = (
    0.03  # the share of its objective by which a pass must better logistic regression to go on
)
MIN_FEATURE_COUNT = (
    2  # what occurs only once makes logistic regression and naive Bayes worse, perceptrons better
)


@dataclass(frozen=True, eq=False)
class VotedWordClassifier:
    """A perceptron all of whose hypotheses decide; a word's chance is its share of the votes."""

    words: tuple[str, ...]
    model: VotedModel

    @property
    def n_features(self) -> int:
        """How many features it knows."""
        return len(self.model.features)

    def predict_proba(self, rows: Occurrences) -> Floats:
        """Return the share of the votes that each word [rows, words] has in a context."""
        votes = self.model.score_chunk(rows.to_chunk())
        assert self.model.record is not None
        total = float(self.model.record.lives.sum())
        if len(self.model.classes) == 2:
            # The score is how many more votes the second has than the first.
            votes = np.column_stack([total - votes[:, 1], total + votes[:, 1]]) / 2
        found = np.zeros((len(rows), len(self.words)))
        found[:, [self.words.index(label) for label in self.model.classes]] = votes / total
        return found


def majority_classifier(rows: Occurrences) -> LinearWordClassifier:
    """Return the chooser that always answers the commonest word, of several the first of the set."""
    counts = np.bincount(rows.members, minlength=len(rows.words))
    return LinearWordClassifier.constant(rows.words, int(counts.argmax()))


def train_classifier(learner: str, rows: Occurrences) -> WordClassifier:
    """Return what a learner makes of occurrences; where there is nothing to tell apart, the majority."""
    if learner not in LEARNERS:
        raise errors.parameter_error("learned", "learner", f"one of {errors.quote_names(LEARNERS)}", learner)
    if len(np.unique(rows.members)) < 2:
        return majority_classifier(rows)
    return _TRAINERS[learner](rows)


def train_linear_classifier(learner: str, rows: Occurrences, features: int) -> LinearWordClassifier:
    """Return the strongest weights that one of the learners which give any makes of occurrences."""
    chooser = train_classifier(learner, rows)
    if not isinstance(chooser, LinearWordClassifier):
        raise errors.parameter_error(
            "learned_weights", "learner", f"one of {errors.quote_names(LINEAR_LEARNERS)}", learner
        )
    return chooser.select_strongest(features, rows)


def restrict_to_words(rows: Occurrences, kept: Mask) -> Occurrences:
    """Return the occurrences of some of the words of a set, as those of a smaller set."""
    numbers = np.cumsum(kept, dtype=np.int32) - 1
    fewer = rows.select(kept[rows.members])
    words = tuple(word for word, is_kept in zip(rows.words, kept.tolist(), strict=True) if is_kept)
    return replace(fewer, words=words, members=numbers[fewer.members].astype(np.int32))


def fit_model(learner: str, rows: Occurrences) -> Any:
    """Return the model behind a chooser: what a task learns of the words that the rows have."""
    seen = np.bincount(rows.members, minlength=len(rows.words)) > 0
    source = restrict_to_words(rows, seen).to_source()
    return run(_TASKS[learner](source), source)


def _context_columns(*, counts: bool = True, seen: int = MIN_FEATURE_COUNT) -> dict[str, Tokens]:
    return {CONTEXT_COLUMN: Tokens(counts=counts, min_count=seen)}


def _logistic_task(source: Source) -> OnlineLogisticTask:
    penalty = online_penalty(Normal(LOGISTIC_PRIOR_SD))
    passes = PASSES["logistic"]
    return OnlineLogisticTask.for_source(
        source, _context_columns(), l2=penalty, max_iter=passes, tol=LOGISTIC_TOLERANCE
    )


def _naive_bayes_task(source: Source) -> BayesTask:
    return BayesTask(infer_schema(source, _context_columns()), PSEUDO_COUNTS["naive-bayes"])


def _bernoulli_task(source: Source) -> BayesTask:
    return BayesTask(infer_schema(source, _context_columns(counts=False)), PSEUDO_COUNTS["bernoulli"])


def _perceptron_task(source: Source, *, keep: str = "averaged") -> PerceptronTask:
    return PerceptronTask.for_source(
        source, _context_columns(seen=1), keep=keep, max_iter=PASSES["perceptron"]
    )


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
