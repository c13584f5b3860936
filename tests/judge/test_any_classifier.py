"""`evaluate` on scikit-learn's classifiers: trees, neighbours, machines without probabilities, pipelines."""

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

from weigh.judge import evaluate

PROBABLE = [
    DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    KNeighborsClassifier(5),
    RandomForestClassifier(10, random_state=0),
    HistGradientBoostingClassifier(max_iter=5),
    GaussianNB(),
    make_pipeline(StandardScaler(), LogisticRegression()),
]
SCORED = [LinearSVC(), RidgeClassifier(), SVC(), make_pipeline(StandardScaler(), LinearSVC())]


def name(model):
    return type(getattr(model, "steps", [(None, model)])[-1][1]).__name__


@pytest.mark.parametrize("model", PROBABLE, ids=name)
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_probabilities_are_judged_as_scikit_learn_does(model, load):
    X, y = load(return_X_y=True, as_frame=True)
    model.fit(X[::2], y[::2])
    X, y = X[1::2], y[1::2]
    found, table = evaluate(model, X, y), model.predict_proba(X)
    scores = table if table.shape[1] > 2 else table[:, 1]
    expected = {
        "accuracy": model.score(X, y),
        "brier": metrics.brier_score_loss(y, table),
        "roc_area": metrics.roc_auc_score(y, scores, multi_class="ovr"),
        "pr_area": metrics.average_precision_score(y, scores),
    }
    values = {each: found.measure(each).value for each in expected}
    assert values == pytest.approx(expected, rel=1e-12)
    error = found.measure("calibration_error")
    assert 0 <= error.low <= error.value <= error.high <= 1


@pytest.mark.parametrize("model", SCORED, ids=name)
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_scores_without_probabilities_have_areas(model, load):
    X, y = load(return_X_y=True)
    model.fit(X[::2], y[::2])
    X, y = X[1::2], y[1::2]
    found, scores = evaluate(model, X, y), model.decision_function(X)
    columns = [scores] if scores.ndim == 1 else scores.T
    areas = [
        metrics.roc_auc_score(y == code, column)
        for code, column in zip(model.classes_[-len(columns) :], columns, strict=True)
    ]
    assert found.measure("roc_area").value == pytest.approx(np.mean(areas), rel=1e-12)
    assert "log_loss" not in [measure.name for measure in found.measures]


def test_scores_of_pairs_of_classes_are_no_scores_of_classes():
    X, y = load_iris(return_X_y=True)
    model = SVC(decision_function_shape="ovo").fit(X, np.where(X[:, 0] > 6, 3, y))
    assert model.decision_function(X).shape == (150, 6)
    found = evaluate(model, X, y)
    assert found.omitted == ("The classifier gives no probabilities, so there are no other measures.",)


def test_a_pipeline_on_a_table_with_words_is_judged():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"sky": rng.choice(["sun", "rain"], 60), "warm": rng.normal(size=60)})
    table["play"] = np.where((table["sky"] == "sun") ^ (rng.random(60) < 0.2), "yes", "no")
    ready = make_column_transformer((OneHotEncoder(), ["sky"]), remainder="passthrough")
    model = make_pipeline(ready, LogisticRegression()).fit(table[["sky", "warm"]], table["play"])
    found = evaluate(model, table, "play")
    truth = model.predict_proba(table[["sky", "warm"]])[:, 1]
    expected = metrics.roc_auc_score(table["play"] == "yes", truth)
    assert found.measure("roc_area").value == pytest.approx(expected, rel=1e-12)


def test_probabilities_too_small_for_a_number_keep_their_logarithm():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X, y)
    far = np.vstack([X, [[500.0, 0.0, 0.0, 0.0]]])
    assert model.predict_proba(far)[-1, 0] == 0.0
    found = evaluate(model, far, [*y, 0])
    logarithms = model.predict_log_proba(far)[np.arange(151), [*y, 0]]
    assert found.measure("log_loss").value == pytest.approx(-logarithms.mean(), rel=1e-12)
    assert found.impossible == 0
