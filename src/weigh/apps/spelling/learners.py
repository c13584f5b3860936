"""The learners that tell the words of a set apart, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from weigh import errors
from weigh.apps.spelling.chooser import Chooser, LinearChooser
from weigh.apps.spelling.contexts import COLUMN, Occurrences
from weigh.apps.spelling.memory import MemoryChooser
from weigh.apps.spelling.settings import KEPT
from weigh.engines import run
from weigh.features import Tokens, find_schema
from weigh.features.blocks import Floats, Mask
from weigh.learn import BayesTask, PerceptronTask
from weigh.learn.online_logistic import OnlineLogisticTask, online_penalty
from weigh.model.perceptron import VotedModel
from weigh.priors import Normal
from weigh.source import Source

# Found on the first fifty of sixty novels: learned from forty, judged on ten.
SPREAD = 3.0  # of the weights of logistic regression
PSEUDO_COUNTS = {"naive-bayes": 0.3, "bernoulli": 0.1}
PASSES = {"logistic": 10, "perceptron": 5}
SETTLED = 0.03  # the share of its objective by which a pass must better logistic regression to go on
SEEN = 2  # what occurs only once makes logistic regression and naive Bayes worse, perceptrons better


@dataclass(frozen=True, eq=False)
class VotedChooser:
    """A perceptron all of whose hypotheses decide; a word's chance is its share of the votes."""

    words: tuple[str, ...]
    model: VotedModel

    @property
    def size(self) -> int:
        """How many features it knows."""
        return len(self.model.features)

    def chances(self, rows: Occurrences) -> Floats:
        """Return the share of the votes that each word [rows, words] has in a context."""
        votes = self.model.score_chunk(rows.chunk())
        assert self.model.record is not None
        total = float(self.model.record.lives.sum())
        if len(self.model.classes) == 2:
            # The score is how many more votes the second has than the first.
            votes = np.column_stack([total - votes[:, 1], total + votes[:, 1]]) / 2
        found = np.zeros((len(rows), len(self.words)))
        found[:, [self.words.index(label) for label in self.model.classes]] = votes / total
        return found


def majority(rows: Occurrences) -> LinearChooser:
    """Return the chooser that always answers the commonest word, of several the first of the set."""
    counts = np.bincount(rows.members, minlength=len(rows.words))
    return LinearChooser.constant(rows.words, int(counts.argmax()))


def learned(learner: str, rows: Occurrences) -> Chooser:
    """Return what a learner makes of occurrences; where there is nothing to tell apart, the majority."""
    if learner not in LEARNERS:
        raise errors.parameter("learned", "learner", f"one of {errors.listing(LEARNERS)}", learner)
    if len(np.unique(rows.members)) < 2:
        return majority(rows)
    return _MAKERS[learner](rows)


def learned_weights(learner: str, rows: Occurrences, features: int) -> LinearChooser:
    """Return the strongest weights that one of the learners which give any makes of occurrences."""
    chooser = learned(learner, rows)
    if not isinstance(chooser, LinearChooser):
        raise errors.parameter("learned_weights", "learner", f"one of {errors.listing(KEPT)}", learner)
    return chooser.strongest(features, rows)


def among(rows: Occurrences, kept: Mask) -> Occurrences:
    """Return the occurrences of some of the words of a set, as those of a smaller set."""
    numbers = np.cumsum(kept, dtype=np.int32) - 1
    fewer = rows.where(kept[rows.members])
    words = tuple(word for word, is_kept in zip(rows.words, kept.tolist(), strict=True) if is_kept)
    return replace(fewer, words=words, members=numbers[fewer.members].astype(np.int32))


def model_of(learner: str, rows: Occurrences) -> Any:
    """Return the model behind a chooser: what a task learns of the words that the rows have."""
    seen = np.bincount(rows.members, minlength=len(rows.words)) > 0
    source = among(rows, seen).source()
    return run(_TASKS[learner](source), source)


def _columns(*, counts: bool = True, seen: int = SEEN) -> dict[str, Tokens]:
    return {COLUMN: Tokens(counts=counts, min_count=seen)}


def _logistic(source: Source) -> OnlineLogisticTask:
    penalty = online_penalty(Normal(SPREAD))
    passes = PASSES["logistic"]
    return OnlineLogisticTask.over(source, _columns(), l2=penalty, max_iter=passes, tol=SETTLED)


def _bayes(source: Source) -> BayesTask:
    return BayesTask(find_schema(source, _columns()), PSEUDO_COUNTS["naive-bayes"])


def _bernoulli(source: Source) -> BayesTask:
    return BayesTask(find_schema(source, _columns(counts=False)), PSEUDO_COUNTS["bernoulli"])


def _perceptron(source: Source, *, keep: str = "averaged") -> PerceptronTask:
    return PerceptronTask.over(source, _columns(seen=1), keep=keep, max_iter=PASSES["perceptron"])


_TASKS: dict[str, Callable[[Source], Any]] = {
    "logistic": _logistic,
    "naive-bayes": _bayes,
    "bernoulli": _bernoulli,
    "perceptron": _perceptron,
    "voted": partial(_perceptron, keep="voted"),
}
LEARNERS = (*KEPT, "voted", "memory")


def _weighed(learner: str, rows: Occurrences) -> LinearChooser:
    return LinearChooser.of(model_of(learner, rows), rows.words)


def _voted(rows: Occurrences) -> VotedChooser:
    return VotedChooser(rows.words, model_of("voted", rows))


_MAKERS: dict[str, Callable[[Occurrences], Chooser]] = {
    **{learner: partial(_weighed, learner) for learner in KEPT},
    "voted": _voted,
    "memory": MemoryChooser.of,
}
