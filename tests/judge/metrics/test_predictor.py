"""`evaluate` on scikit-learn's classifiers: with and without probabilities, alone and in pipelines."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from tests.judge.metrics.scripted import evaluate_scripted
from weigh import errors
from weigh.judge import evaluate
from weigh.judge.metrics import batches

PROBABILISTIC = [
    DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    KNeighborsClassifier(5),
    RandomForestClassifier(10, random_state=0),
    HistGradientBoostingClassifier(max_iter=5),
    GaussianNB(),
    make_pipeline(StandardScaler(), LogisticRegression()),
]
SCORE_ONLY = [LinearSVC(), RidgeClassifier(), SVC(), make_pipeline(StandardScaler(), LinearSVC())]


def name(model):
    return type(getattr(model, "steps", [(None, model)])[-1][1]).__name__


@pytest.mark.parametrize("model", PROBABILISTIC, ids=name)
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_measures_of_probabilities_equal_scikit_learns(model, load):
    X, y = load(return_X_y=True, as_frame=True)
    model.fit(X[::2], y[::2])
    X, y = X[1::2], y[1::2]
    result, table = evaluate(model, X, y), model.predict_proba(X)
    scores = table if table.shape[1] > 2 else table[:, 1]
    expected = {
        "accuracy": model.score(X, y),
        "brier": metrics.brier_score_loss(y, table),
        "roc_area": metrics.roc_auc_score(y, scores, multi_class="ovr"),
        "pr_area": metrics.average_precision_score(y, scores),
    }
    values = {measure_name: result.measure(measure_name).value for measure_name in expected}
    assert values == pytest.approx(expected, rel=1e-12)
    error = result.measure("calibration_error")
    assert 0 <= error.low <= error.value <= error.high <= 1


@pytest.mark.parametrize("model", SCORE_ONLY, ids=name)
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_scores_without_probabilities_have_areas(model, load):
    X, y = load(return_X_y=True)
    model.fit(X[::2], y[::2])
    X, y = X[1::2], y[1::2]
    result, scores = evaluate(model, X, y), model.decision_function(X)
    columns = [scores] if scores.ndim == 1 else scores.T
    areas = [
        metrics.roc_auc_score(y == code, column)
        for code, column in zip(model.classes_[-len(columns) :], columns, strict=True)
    ]
    assert result.measure("roc_area").value == pytest.approx(np.mean(areas), rel=1e-12)
    assert "log_loss" not in [measure.name for measure in result.measures]


@pytest.mark.parametrize("classes", [3, 4])
@pytest.mark.parametrize("wrapped", [False, True])
def test_pairwise_scores_give_no_areas(classes, wrapped):
    X, y = load_iris(return_X_y=True)
    y = np.where(X[:, 0] > 6, classes - 1, y)
    model = SVC(decision_function_shape="ovo")
    model = (make_pipeline(model) if wrapped else model).fit(X, y)
    # Three classes have three pairs, so their scores have the shape of one-vs-rest scores.
    assert model.decision_function(X).shape == (150, classes * (classes - 1) // 2)
    result = evaluate(model, X, y)
    assert "roc_area" not in [measure.name for measure in result.measures]
    assert result.omitted == (
        "The classifier gives no probabilities, and its scores are for pairs of classes, so there are no "
        "other measures.",
    )


def test_one_vs_one_and_one_vs_rest_agree_for_two_classes():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    pairs, rest = (evaluate(SVC(decision_function_shape=s).fit(X, y), X, y) for s in ("ovo", "ovr"))
    assert pairs.measure("roc_area") == rest.measure("roc_area")


@pytest.mark.parametrize(
    ("table", "values_text"),
    [
        ([[0.5, 0.5], [np.nan, np.nan]], "nan, nan"),
        ([[0.5, 0.5], [1.0, 1.0]], "1, 1"),
        ([[0.5, 0.5], [1.5, -0.5]], "1.5, -0.5"),
        ([[0.2] * 5, [0.3] * 5], "0.3, 0.3, 0.3, 0.3, …"),
    ],
)
def test_invalid_probabilities_are_rejected(table, values_text):
    with pytest.raises(errors.DataError) as error:
        evaluate_scripted([0, 1], table)
    assert str(error.value) == (
        f"The classifier gave row 1 (the first is 0) the probabilities {values_text}; they must be shares "
        "that sum to 1. Fix the classifier, or leave such rows out."
    )


def test_nan_scores_are_rejected():
    with pytest.raises(errors.DataError, match=r"row 1 .* the scores 1, nan, 0; they must be numbers\."):
        evaluate_scripted([0, 1], [[1.0, 2.0, 0.0], [1.0, np.nan, 0.0]], as_scores=True)


def test_the_row_of_an_error_counts_from_the_first_batch(monkeypatch):
    monkeypatch.setattr(batches, "MAX_SCORE_CELLS", 128)
    table = np.full((200, 2), 0.5)
    table[150] = np.nan
    with pytest.raises(errors.DataError, match="row 150 "):
        evaluate_scripted([0, 1] * 100, table)


def test_single_precision_probabilities_are_accepted():
    table = np.random.default_rng(0).dirichlet(np.ones(50), 200).astype(np.float32)
    assert evaluate_scripted(np.arange(200) % 50, table).measure("log_loss").value > 0


def test_a_pipeline_on_a_table_with_categories_is_evaluated():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"sky": rng.choice(["sun", "rain"], 60), "warm": rng.normal(size=60)})
    table["play"] = np.where((table["sky"] == "sun") ^ (rng.random(60) < 0.2), "yes", "no")
    ready = make_column_transformer((OneHotEncoder(), ["sky"]), remainder="passthrough")
    model = make_pipeline(ready, LogisticRegression()).fit(table[["sky", "warm"]], table["play"])
    result = evaluate(model, table, "play")
    truth = model.predict_proba(table[["sky", "warm"]])[:, 1]
    expected = metrics.roc_auc_score(table["play"] == "yes", truth)
    assert result.measure("roc_area").value == pytest.approx(expected, rel=1e-12)


def test_underflowing_probabilities_use_predict_log_proba():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X, y)
    far = np.vstack([X, [[500.0, 0.0, 0.0, 0.0]]])
    assert model.predict_proba(far)[-1, 0] == 0.0
    result = evaluate(model, far, [*y, 0])
    logarithms = model.predict_log_proba(far)[np.arange(151), [*y, 0]]
    assert result.measure("log_loss").value == pytest.approx(-logarithms.mean(), rel=1e-12)
    assert result.impossible == 0
