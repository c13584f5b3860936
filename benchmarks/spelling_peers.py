"""The same contexts learned by scikit-learn.

Its settings were the best on every fifth of the novels that are learned from. Its vectorisers get the names
of features as ready lists, which is not in their time; neither is reading in ours. Every set is learned by
itself, one after the other.
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


@dataclass(frozen=True, eq=False)
class Task:
    """One set: its occurrences to learn from and to judge by, and their contexts as lists of names."""

    train: Occurrences
    test: Occurrences
    lists: list[list[str]]
    asked: list[list[str]]


def job(novels: Novels, repeats: int) -> str:
    """Learn all sets with each, and judge them on the novels held out."""
    tasks = _tasks(novels)
    calls: dict[str, Callable[[Task], Any]] = {
        "weigh, logistic": lambda task: learned("logistic", task.train),
        "weigh, naive-bayes": lambda task: learned("naive-bayes", task.train),
        **{name: partial(_fitted, make) for name, make in PEERS.items()},
    }
    timings = race([Contestant(name, partial(_all, call, tasks)) for name, call in calls.items()], repeats)
    extra = {
        "mean of the sets": [f"{100 * _mean(tasks, each.result):.2f} %" for each in timings],
        "size": [megabytes(sum(map(_size, each.result))) for each in timings],
    }
    kept = [each.strongest(Settings().features) for each in timings[0].result]
    small = f"{100 * _mean(tasks, kept):.2f} % with {megabytes(sum(map(_size, kept)))}"
    n = sum(len(task.train) for task in tasks)
    return (
        f"{n:,} contexts of {len(tasks)} sets learned, all sets one after the other; accuracy on novels held "
        f"out; size of names and weights, scikit-learn's pickled\n\n{ratio_table(timings, extra)}\n\n"
        f"Of the first, the {Settings().features:,} strongest features of each set alone: {small}."
    )


def _tasks(novels: Novels) -> list[Task]:
    sets = ConfusionSets.named(LIST).sets
    corpus = Corpus.read(documents([*novels.learned, *novels.held]), sets, Settings().window)
    return [_task(rows, len(novels.learned)) for rows in corpus.sets]


def _task(rows: Occurrences, first_held: int) -> Task:
    train, test = (rows.where(kept) for kept in (rows.documents < first_held, rows.documents >= first_held))
    return Task(train, test, *([part.context(i) for i in range(len(part))] for part in (train, test)))


def _all(call: Callable[[Task], Any], tasks: list[Task]) -> list[Any]:
    return [call(task) for task in tasks]


def _fitted(make: Callable[[], Any], task: Task) -> Any:
    return make().fit(task.lists, task.train.members)


def _same(names: list[str]) -> list[str]:
    return names


def _counts() -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(analyzer=_same, min_df=2, dtype=np.float64)


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(_counts(), LogisticRegression(C=1.0, max_iter=300))


def _sgd() -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    hashed = HashingVectorizer(analyzer=_same, n_features=2**18, norm=None, alternate_sign=False)
    return make_pipeline(hashed, SGDClassifier(loss="log_loss", alpha=1e-4, average=True, random_state=0))


def _bayes() -> Any:
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    return make_pipeline(_counts(), MultinomialNB(alpha=0.3))


PEERS: dict[str, Callable[[], Any]] = {
    "CountVectorizer + LogisticRegression": _logistic,
    "HashingVectorizer + SGDClassifier": _sgd,
    "CountVectorizer + MultinomialNB": _bayes,
}


def _mean(tasks: list[Task], models: list[Any]) -> float:
    """Return the mean accuracy over the sets."""
    return float(np.mean([_accuracy(task, model) for task, model in zip(tasks, models, strict=True)]))


def _accuracy(task: Task, model: Any) -> float:
    if isinstance(model, LinearChooser):
        return float((model.chances(task.test).argmax(axis=1) == task.test.members).mean())
    return float((model.predict(task.asked) == task.test.members).mean())


def _size(model: Any) -> int:
    if isinstance(model, LinearChooser):
        return int(model.names.text.nbytes + model.table.nbytes)
    # What predicting needs: the copies that an average is made of do not count.
    weights = model[-1].feature_log_prob_ if hasattr(model[-1], "feature_log_prob_") else model[-1].coef_
    return len(pickle.dumps((model[0], weights)))
