"""Rivals are evaluated in any storage, at a cost that depends on the rows only, or left out with a reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin

import weigh
from weigh.trials import candidates
from weigh.trials.candidates import Experiment
from weigh.trials.rivals import RIVALS, Rival, RivalLosses, RowSize, measure_rivals

N = 300
TEXTS = [f"good film number{k % 7}" if k % 2 else f"bad plot number{k % 5} again" for k in range(N)]
LABELS = np.array(["bad", "good"] * (N // 2))
X = np.random.default_rng(0).normal(size=(N, 3))


def measure(
    data: Any,
    y: Any = LABELS,
    learner: Any = None,
    loss: str | None = None,
    rivals: tuple[Rival, ...] = RIVALS,
) -> RivalLosses:
    experiment = Experiment.of(weigh.NaiveBayes() if learner is None else learner, data, y, loss, "test")
    return measure_rivals(experiment, experiment.splits(5, 2, 0, "test"), 200, 0, rivals)


def row_size(data: Any, learner: Any = None) -> RowSize:
    experiment = Experiment.of(learner or weigh.NaiveBayes(), data, LABELS, None, "test")
    return RowSize.of(next(iter(experiment.candidates.values())))


STORAGES = {
    "list of texts": TEXTS,
    "array of texts": np.array(TEXTS, dtype=object),
    "fixed-width array of texts": np.array(TEXTS),
    "frame": pd.DataFrame({"text": TEXTS}),
    "list of dicts": [{"text": text} for text in TEXTS],
    "mapping": {"text": TEXTS},
}


@pytest.mark.parametrize("name", STORAGES)
def test_texts_are_as_wide_as_they_have_distinct_words_in_every_storage(name: str) -> None:
    columns = (
        {"text": "text"} if isinstance(STORAGES[name], dict | pd.DataFrame) or "dicts" in name else "auto"
    )
    size = row_size(STORAGES[name], weigh.NaiveBayes(columns=columns))
    assert (size.n_columns, size.n_values, size.has_texts) == (0, 3.5, True)


@pytest.mark.parametrize(
    "data",
    [X, X.tolist(), pd.DataFrame(X, columns=list("abc")), [dict(zip("abc", row, strict=True)) for row in X]],
    ids=["array", "list of lists", "frame", "list of dicts"],
)
def test_tables_are_as_wide_as_they_have_columns(data: Any) -> None:
    assert row_size(data) == RowSize(3, 3.0, 2, has_texts=False)


def test_sparse_rows_are_as_wide_as_they_have_entries() -> None:
    data = csr_matrix((np.ones(2 * N), np.arange(2 * N) % 1000, 2 * np.arange(N + 1)), shape=(N, 1000))
    assert row_size(data).n_values == 2.0


def test_a_learning_curve_of_a_one_dimensional_array_of_texts_is_measured() -> None:
    curve = weigh.learning_curve(weigh.NaiveBayes(), np.array(TEXTS, dtype=object), LABELS, sizes=[100, 200])
    assert list(curve.diagnosis.left_out) == ["tree"]


def test_wide_rows_and_many_classes_leave_fewer_rows() -> None:
    assert RowSize(3, 3.0, 2, has_texts=False).limit_rows(5_000) == 2_000
    assert RowSize(3, 3.0, 2, has_texts=False).limit_rows(100) == 100
    assert RowSize(100, 100.0, 10, has_texts=False).limit_rows(5_000) == 300
    assert RowSize(9_000, 9_000.0, 10, has_texts=False).limit_rows(5_000) == 200


def test_the_rivals_are_all_other_learners() -> None:
    assert set(measure(X).losses) == {"logistic", "perceptron", "tree"}
    assert set(measure(X, learner=weigh.Perceptron()).losses) == {"naive-bayes", "logistic", "tree"}
    # A perceptron has no log loss, so it is none of the learners to compare with.
    probable = measure(X, loss="log_loss")
    assert (set(probable.losses) <= {"logistic", "tree"}, "perceptron" in probable.left_out) == (True, False)


def test_the_losses_are_those_of_the_folds_of_the_first_repeat() -> None:
    found = measure(X, X[:, 0] > 0)
    assert found.rows == 200
    assert {len(losses) for losses in found.losses.values()} == {5}
    assert found.losses["logistic"].mean() < 0.1


def test_a_tree_of_texts_and_of_wide_tables_is_left_out() -> None:
    assert measure(TEXTS).left_out == {"tree": "a text has too many words"}
    wide = np.random.default_rng(0).normal(size=(N, 101))
    assert measure(wide).left_out == {"tree": "there are more than 100 columns"}


def test_no_rival_of_very_wide_rows_is_evaluated() -> None:
    size = RowSize(6_000, 6_000.0, 2, has_texts=False)
    why = "the rows have too many values and classes"
    assert {size.objection(rival, size.limit_rows(5_000)) for rival in RIVALS} == {why}


def test_slow_rivals_are_evaluated_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(10**6))
    monkeypatch.setattr(candidates.time, "perf_counter", lambda: 60.0 * next(ticks))
    assert set(measure(X).losses) == {"logistic", "perceptron", "tree"}


class Broken(ClassifierMixin, BaseEstimator):
    """A classifier with an error of programming."""

    def fit(self, X: Any, y: Any) -> Broken:
        raise TypeError("unsupported operand")


def test_an_error_of_a_rival_leaves_it_out_with_the_reason() -> None:
    broken = Rival("broken", Broken, "the broken one")
    found = measure(X, rivals=(*RIVALS, broken))
    assert set(found.losses) == {"logistic", "perceptron", "tree"}
    assert found.left_out == {"broken": "TypeError: unsupported operand"}


def test_regressions_and_several_learners_have_no_rivals() -> None:
    for learner, y in (("linear", X[:, 0]), (["naive-bayes", "logistic"], LABELS)):
        found = measure(X, y, learner)
        assert (found.losses, found.left_out) == ({}, {})
