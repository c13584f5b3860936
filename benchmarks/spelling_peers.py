"""The same contexts learned by scikit-learn.

Its settings were the best on every fifth of the novels that are learned from. Its vectorisers get the names
of features as ready lists, which is not in their time; neither is reading in ours. Two of its learners are
also given the ready matrix, whose making is not in their time, though numbering the names is in ours: that
is what solving alone takes. Every set is learned by itself, one after the other.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Contestant, megabytes, race, ratio_table
from benchmarks.spelling_corpus import Novels
from weigh.apps.spelling.chooser import LinearChooser
from weigh.apps.spelling.confusion import ConfusionSets
from weigh.apps.spelling.contexts import Occurrences
from weigh.apps.spelling.corpus import Corpus
from weigh.apps.spelling.documents import documents
from weigh.apps.spelling.learners import learned
from weigh.apps.spelling.settings import Settings

LIST = "golding-schabes"
SEEN = 2  # contexts that a feature must be in


@dataclass(frozen=True, eq=False)
class Task:
    """One set: its occurrences to learn from and to judge by, as lists of names and as matrices of counts."""

    train: Occurrences
    test: Occurrences
    lists: list[list[str]]
    asked: list[list[str]]
    counts: Any
    asked_counts: Any


@dataclass(frozen=True)
class Learner:
    """How a set is learned, what is then answered to its contexts held out, and the bytes that needs."""

    learn: Callable[[Task], Any]
    answers: Callable[[Any, Task], Any]
    size: Callable[[Any], int | None]


def job(novels: Novels, repeats: int) -> str:
    """Learn all sets with each, and judge them on the novels held out."""
    tasks = _tasks(novels)
    timings = race([Contestant(name, partial(_all, each, tasks)) for name, each in LEARNERS.items()], repeats)
    found = [(LEARNERS[each.name], each.result) for each in timings]
    extra = {
        "mean of the sets": [f"{100 * _mean(learner, tasks, models):.2f} %" for learner, models in found],
        "size": [_told_size(learner, models) for learner, models in found],
    }
    kept = [
        model.strongest(Settings().features, task.train)
        for model, task in zip(timings[0].result, tasks, strict=True)
    ]
    small = f"{100 * _mean(OURS, tasks, kept):.2f} % with {_told_size(OURS, kept)}"
    n = sum(len(task.train) for task in tasks)
    return (
        f"{n:,} contexts of {len(tasks)} sets learned, all sets one after the other; accuracy on novels held "
        f"out; size of names and weights, scikit-learn's pickled\n\n{ratio_table(timings, extra)}\n\n"
        f"Of the first, the {Settings().features:,} features of each set that a speller keeps: {small}."
    )


def _tasks(novels: Novels) -> list[Task]:
    sets = ConfusionSets.named(LIST).sets
    corpus = Corpus.read(documents([*novels.learned, *novels.held]), sets, Settings().window)
    return [_task(rows, len(novels.learned)) for rows in corpus.sets]


def _task(rows: Occurrences, first_held: int) -> Task:
    train, test = (rows.where(kept) for kept in (rows.documents < first_held, rows.documents >= first_held))
    counts, asked = _matrix(train), _matrix(test)
    common = np.bincount(counts.indices, minlength=counts.shape[1]) >= SEEN
    return Task(train, test, _lists(train), _lists(test), counts[:, common], asked[:, common])


def _lists(rows: Occurrences) -> list[list[str]]:
    return [rows.context(i) for i in range(len(rows))]


def _matrix(rows: Occurrences) -> Any:
    from scipy.sparse import csr_matrix

    found = csr_matrix(
        (np.ones(len(rows.features)), rows.features, rows.indptr), (len(rows), len(rows.names))
    )
    found.sum_duplicates()
    return found


def _all(learner: Learner, tasks: list[Task]) -> list[Any]:
    return [learner.learn(task) for task in tasks]


def _same(names: list[str]) -> list[str]:
    return names


def _counts() -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(analyzer=_same, min_df=SEEN, dtype=np.float64)


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=1.0, max_iter=300)


def _bayes() -> Any:
    from sklearn.naive_bayes import MultinomialNB

    return MultinomialNB(alpha=0.3)


def _sgd() -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="log_loss", alpha=1e-4, average=True, random_state=0)


def _hashed() -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(analyzer=_same, n_features=2**18, norm=None, alternate_sign=False)


def _ours(name: str) -> Learner:
    return Learner(lambda task: learned(name, task.train), _chosen, _own_size)


def _chosen(model: LinearChooser, task: Task) -> Any:
    return model.chances(task.test).argmax(axis=1)


def _own_size(model: LinearChooser) -> int:
    return sum(part.nbytes for part in (model.names.text, model.names.offsets, model.base, model.table))


def _from_lists(vectoriser: Callable[[], Any], make: Callable[[], Any]) -> Learner:
    def fitted(task: Task) -> Any:
        from sklearn.pipeline import make_pipeline

        return make_pipeline(vectoriser(), make()).fit(task.lists, task.train.members)

    return Learner(fitted, lambda model, task: model.predict(task.asked), _pickled)


def _from_matrix(make: Callable[[], Any]) -> Learner:
    return Learner(
        lambda task: make().fit(task.counts, task.train.members),
        lambda model, task: model.predict(task.asked_counts),
        lambda model: None,
    )


def _pickled(model: Any) -> int:
    # What predicting needs: the copies that an average is made of do not count.
    weights = model[-1].feature_log_prob_ if hasattr(model[-1], "feature_log_prob_") else model[-1].coef_
    return len(pickle.dumps((model[0], weights)))


OURS = _ours("logistic")
LEARNERS = {
    "weigh, logistic": OURS,
    "weigh, naive-bayes": _ours("naive-bayes"),
    "CountVectorizer + LogisticRegression": _from_lists(_counts, _logistic),
    "LogisticRegression, matrix made before": _from_matrix(_logistic),
    "HashingVectorizer + SGDClassifier": _from_lists(_hashed, _sgd),
    "CountVectorizer + MultinomialNB": _from_lists(_counts, _bayes),
    "MultinomialNB, matrix made before": _from_matrix(_bayes),
}


def _mean(learner: Learner, tasks: list[Task], models: list[Any]) -> float:
    """Return the mean accuracy over the sets."""
    right = [
        learner.answers(model, task) == task.test.members for task, model in zip(tasks, models, strict=True)
    ]
    return float(np.mean([each.mean() for each in right]))


def _told_size(learner: Learner, models: list[Any]) -> str:
    sizes = [size for model in models if (size := learner.size(model)) is not None]
    return megabytes(sum(sizes)) if sizes else "-"
