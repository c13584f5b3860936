"""scikit-learn on the speller's contexts.

The peers' settings were the best on every fifth training novel. Their vectorisers get lists of feature names,
which are made beforehand, as is reading for ours. Two of the learners also run on a matrix made beforehand,
to show the time of the solver alone, although our time includes numbering the names. The confusion sets are
learned one after the other.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.data import Novels
from weigh.apps.spelling.classifiers import LinearWordClassifier
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.contexts import Corpus, Occurrences
from weigh.apps.spelling.documents import read_documents
from weigh.apps.spelling.learners import train_classifier
from weigh.apps.spelling.speller_data import SpellerSettings

SET_LIST = "golding-schabes"
MIN_DOCUMENT_FREQUENCY = 2  # minimum number of contexts with a feature


@dataclass(frozen=True, eq=False)
class SetTask:
    """A confusion set: training and test occurrences, as lists of feature names and as count matrices."""

    train: Occurrences
    test: Occurrences
    train_features: list[list[str]]
    test_features: list[list[str]]
    train_counts: Any
    test_counts: Any


@dataclass(frozen=True)
class SetLearner:
    """How to learn a set, predict its held-out contexts, and measure the size of the model."""

    learn: Callable[[SetTask], Any]
    predict: Callable[[Any, SetTask], Any]
    model_bytes: Callable[[Any], int | None]


def read_tasks(novels: Novels) -> list[SetTask]:
    """Return the training and test contexts of every confusion set."""
    sets = ConfusionSets.by_name(SET_LIST).sets
    corpus = Corpus.read(read_documents([*novels.training, *novels.held_out]), sets, SpellerSettings().window)
    return [_make_task(rows, len(novels.training)) for rows in corpus.occurrences]


def _make_task(rows: Occurrences, n_training: int) -> SetTask:
    train, test = (rows.select(mask) for mask in (rows.documents < n_training, rows.documents >= n_training))
    train_counts, test_counts = _count_matrix(train), _count_matrix(test)
    common = np.bincount(train_counts.indices, minlength=train_counts.shape[1]) >= MIN_DOCUMENT_FREQUENCY
    return SetTask(
        train,
        test,
        _feature_lists(train),
        _feature_lists(test),
        train_counts[:, common],
        test_counts[:, common],
    )


def _feature_lists(rows: Occurrences) -> list[list[str]]:
    return [rows.context(i) for i in range(len(rows))]


def _count_matrix(rows: Occurrences) -> Any:
    from scipy.sparse import csr_matrix

    counts = csr_matrix(
        (rows.features.entry_values(), rows.features.indices, rows.features.indptr), rows.features.shape
    )
    counts.sum_duplicates()
    return counts


def _identity(names: list[str]) -> list[str]:
    return names


def _count_vectoriser() -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(analyzer=_identity, min_df=MIN_DOCUMENT_FREQUENCY, dtype=np.float64)


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=1.0, max_iter=300)


def _bayes() -> Any:
    from sklearn.naive_bayes import MultinomialNB

    return MultinomialNB(alpha=0.3)


def _sgd() -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="log_loss", alpha=1e-4, average=True, random_state=0)


def _hashing_vectoriser() -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(analyzer=_identity, n_features=2**18, norm=None, alternate_sign=False)


def _weigh_learner(name: str) -> SetLearner:
    return SetLearner(lambda task: train_classifier(name, task.train), _choose_words, _weigh_bytes)


def _choose_words(model: LinearWordClassifier, task: SetTask) -> Any:
    return model.predict_proba(task.test).argmax(axis=1)


def _weigh_bytes(model: LinearWordClassifier) -> int:
    return sum(
        part.nbytes for part in (model.names.text, model.names.offsets, model.intercept, model.weights)
    )


def _pipeline_learner(vectoriser: Callable[[], Any], make: Callable[[], Any]) -> SetLearner:
    def fit(task: SetTask) -> Any:
        from sklearn.pipeline import make_pipeline

        return make_pipeline(vectoriser(), make()).fit(task.train_features, task.train.members)

    return SetLearner(fit, lambda model, task: model.predict(task.test_features), _pickle_bytes)


def _matrix_learner(make: Callable[[], Any]) -> SetLearner:
    return SetLearner(
        lambda task: make().fit(task.train_counts, task.train.members),
        lambda model, task: model.predict(task.test_counts),
        lambda model: None,
    )


def _pickle_bytes(model: Any) -> int:
    # Only what prediction needs; the copies kept for averaging do not count.
    weights = model[-1].feature_log_prob_ if hasattr(model[-1], "feature_log_prob_") else model[-1].coef_
    return len(pickle.dumps((model[0], weights)))


LEARNERS = {
    "weigh, logistic": _weigh_learner("logistic"),
    "weigh, naive-bayes": _weigh_learner("naive-bayes"),
    "CountVectorizer + LogisticRegression": _pipeline_learner(_count_vectoriser, _logistic),
    "LogisticRegression, matrix made before": _matrix_learner(_logistic),
    "HashingVectorizer + SGDClassifier": _pipeline_learner(_hashing_vectoriser, _sgd),
    "CountVectorizer + MultinomialNB": _pipeline_learner(_count_vectoriser, _bayes),
    "MultinomialNB, matrix made before": _matrix_learner(_bayes),
}


def fit_all(name: str, tasks: list[SetTask]) -> list[Any]:
    return [LEARNERS[name].learn(task) for task in tasks]


def model_facts(name: str, tasks: list[SetTask], models: list[Any]) -> dict[str, float]:
    """Return the mean accuracy over the sets and the size of names and weights in megabytes."""
    learner = LEARNERS[name]
    pairs = list(zip(tasks, models, strict=True))
    hits = [learner.predict(model, task) == task.test.members for task, model in pairs]
    sizes = [size for model in models if (size := learner.model_bytes(model)) is not None]
    accuracy = float(np.mean([hit.mean() for hit in hits]))
    return {"mean of the sets": accuracy, **({"size, MB": sum(sizes) / 1e6} if sizes else {})}
