"""`evaluate` on scikit-learn classifiers, models, sources, weights and bad input."""

from __future__ import annotations

import dataclasses
import json
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import metrics
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import weigh
from weigh import errors
from weigh.judge import Evaluation, evaluate
from weigh.judge.metrics import batches
from weigh.source import rows

X, CODES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
Y = NAMES[CODES]
WEIGHTS = np.random.default_rng(0).gamma(1.0, size=150)
NB = GaussianNB().fit(X[::2], Y[::2])


class FakeModel:
    """A model with this library's interface: p(a)=3/4, p(x=1|a)=2/3, p(x=1|b)=1/3."""

    classes = ("a", "b")
    label = "y"

    def scores(self, chunk):
        x = np.asarray(chunk.columns["x"])
        a = np.where(x == 1, 2 / 3, 1 / 3)
        return np.log(np.stack([0.75 * a, 0.25 * (1 - a)], axis=1))

    def log_proba(self, chunk):
        joint = self.scores(chunk)
        return joint - np.log(np.exp(joint).sum(axis=1, keepdims=True))


def value(evaluation, name):
    return evaluation.measure(name).value


def is_same(one, other):
    return one.to_dict() == other.to_dict()


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_measures_equal_those_of_scikit_learn(weights):
    result = evaluate(NB, X, Y, sample_weight=weights)
    predicted, proba = NB.predict(X), NB.predict_proba(X)
    assert value(result, "accuracy") == pytest.approx(
        metrics.accuracy_score(Y, predicted, sample_weight=weights)
    )
    assert value(result, "zero_one") == pytest.approx(1 - value(result, "accuracy"))
    assert value(result, "log_loss") == pytest.approx(metrics.log_loss(Y, proba, sample_weight=weights))
    assert value(result, "squared") == pytest.approx(
        np.average((1 - proba[np.arange(150), CODES]) ** 2, weights=weights)
    )
    np.testing.assert_allclose(
        result.confusion.table(), metrics.confusion_matrix(Y, predicted, sample_weight=weights)
    )
    total = 150 if weights is None else weights.sum()
    assert value(result, "conditional_log_likelihood") == pytest.approx(-total * value(result, "log_loss"))


def test_every_storage_gives_the_same_evaluation():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = GaussianNB().fit(frame[::2], Y[::2])
    with_label = frame.assign(species=Y)
    whole = evaluate(model, frame, Y)
    assert isinstance(whole, Evaluation)
    assert is_same(whole, evaluate(model, with_label, "species"))
    assert is_same(whole, evaluate(model, with_label, label="species"))
    assert is_same(whole, evaluate(model, pl.DataFrame(with_label.to_dict("list")), "species"))
    assert is_same(whole, evaluate(NB, X, pa.array(Y.tolist())))
    assert is_same(whole, evaluate(NB, X.tolist(), Y.tolist()))
    assert is_same(whole, evaluate(NB, X, Y[:, None]))
    assert is_same(whole, evaluate(model, rows(with_label), "species"))
    assert is_same(whole, evaluate(model, rows(with_label, "species")))
    assert is_same(whole, evaluate(NB, rows(X), Y))


def test_batches_give_the_same_result_as_the_whole(monkeypatch):
    whole = evaluate(NB, X, Y, sample_weight=WEIGHTS)
    monkeypatch.setattr(batches, "MAX_SCORE_CELLS", 0)
    parts = evaluate(NB, X, Y, sample_weight=WEIGHTS)
    for one, other in zip(whole.measures, parts.measures, strict=True):
        assert (one.value, one.low, one.high) == pytest.approx(
            (other.value, other.low, other.high), nan_ok=True
        )


def test_sparse_rows_and_texts_are_accepted():
    counts = sparse.coo_array(np.array([[2, 0], [0, 3], [1, 0], [0, 1]]))
    model = MultinomialNB().fit(counts, [0, 1, 0, 1])
    assert value(evaluate(model, counts, [0, 1, 0, 0]), "accuracy") == 0.75
    texts = ["good film", "bad film", "good", "bad"]
    piped = make_pipeline(CountVectorizer(), MultinomialNB()).fit(texts, [1, 0, 1, 0])
    assert value(evaluate(piped, texts, [1, 0, 1, 1]), "accuracy") == 0.75


def test_scikit_learn_gets_the_rows_of_a_libsvm_file_as_a_sparse_matrix(tmp_path, monkeypatch):
    (tmp_path / "a.svm").write_text("1 1:1\n0 2:2\n1 1:3\n")
    model = MultinomialNB().fit([[1, 0], [0, 1]], [1, 0])
    given = []
    predict = MultinomialNB.predict_log_proba
    monkeypatch.setattr(
        MultinomialNB, "predict_log_proba", lambda self, X: (given.append(X), predict(self, X))[1]
    )
    assert value(evaluate(model, weigh.open(tmp_path / "a.svm")), "accuracy") == 1.0
    assert given[0].format == "csr"
    assert given[0].toarray().tolist() == [[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]


SHARES = ["accuracy", "zero_one", "balanced_accuracy", "macro_precision", "macro_recall", "macro_f1"]


def test_a_classifier_without_probabilities_has_prediction_measures_and_areas():
    model = Perceptron().fit(X, Y)
    result = evaluate(model, X, Y)
    assert [measure.name for measure in result.measures] == [*SHARES, "roc_area", "pr_area"]
    bare = SimpleNamespace(classes_=model.classes_, predict=model.predict)
    assert [measure.name for measure in evaluate(bare, X, Y).measures] == SHARES
    with pytest.raises(errors.Unsupported, match="no measure 'log_loss'; it has 'accuracy'"):
        result.measure("log_loss")


def test_predict_log_proba_is_optional():
    model = KNeighborsClassifier(3).fit(X, Y)
    assert not hasattr(model, "predict_log_proba")
    proba = model.predict_proba(X)[np.arange(150), CODES]
    assert value(evaluate(model, X, Y), "squared") == pytest.approx(np.mean((1 - proba) ** 2))


def test_a_zero_probability_is_reported():
    tree = DecisionTreeClassifier(random_state=0).fit(X[:, :1], Y)
    wrong = int((tree.predict_proba(X[:, :1])[np.arange(150), CODES] == 0).sum())
    assert evaluate(tree, X[:, :1], Y).impossible == wrong
    result = evaluate(DecisionTreeClassifier(random_state=0).fit(X, Y), X, np.roll(Y, 1))
    log_loss = result.measure("log_loss")
    assert (log_loss.value, log_loss.low, log_loss.high) == (np.inf, np.inf, np.inf)
    assert result.impossible == 3
    assert value(result, "squared") == pytest.approx(3 / 150)
    assert value(result, "conditional_log_likelihood") == -np.inf


def test_unseen_labels_are_errors_with_probability_zero():
    labels_with_unseen = Y.astype(object)
    labels_with_unseen[:3] = "orchid"
    result = evaluate(NB, X, labels_with_unseen)
    assert result.unseen == (("orchid", 3),)
    assert result.impossible == 0
    assert value(result, "accuracy") == pytest.approx(np.mean(NB.predict(X) == labels_with_unseen))
    assert value(result, "log_loss") == np.inf
    assert result.confusion.unseen().tolist() == [3, 0, 0]
    assert result.per_class[0].precision.value == pytest.approx(47 / 50)
    assert result.per_class[0].support == 47


def test_a_model_reports_joint_and_conditional_likelihood():
    result = evaluate(FakeModel(), rows({"x": [1, 1, 0], "y": ["a", "b", "b"]}))
    # p(1,a) = 1/2, p(1,b) = 1/12, p(0,b) = 1/6; p(a|1) = 6/7, p(b|1) = 1/7, p(b|0) = 2/5.
    assert value(result, "joint_log_likelihood") == pytest.approx(np.log(1 / 2 / 12 / 6))
    assert value(result, "conditional_log_likelihood") == pytest.approx(np.log(6 / 7 / 7 * 2 / 5))
    assert value(result, "squared") == pytest.approx((1 / 49 + 36 / 49 + 9 / 25) / 3)
    assert value(result, "accuracy") == pytest.approx(1 / 3)


def test_a_model_uses_its_label_column_in_every_storage():
    columns = {"x": [1, 1, 0], "y": ["a", "b", "b"]}
    whole = evaluate(FakeModel(), columns)
    assert is_same(whole, evaluate(FakeModel(), pd.DataFrame(columns)))
    assert is_same(whole, evaluate(FakeModel(), pa.table(columns)))
    assert is_same(whole, evaluate(FakeModel(), rows(columns)))
    assert is_same(whole, evaluate(FakeModel(), {"x": [1, 1, 0]}, columns["y"]))
    assert is_same(whole, evaluate(FakeModel(), rows({"x": [1, 1, 0]}), columns["y"]))
    with pytest.raises(errors.ColumnError, match="no column 'y'"):
        evaluate(FakeModel(), {"x": [1, 1, 0]})
    with pytest.raises(errors.LabelError, match="no labels to evaluate against"):
        evaluate(FakeModel(), rows({"x": [1, 1, 0]}))


def test_labels_and_weights_of_a_source_are_used():
    labels, weights = pa.array(["a", "b", "b"]), np.array([2.0, 0.0, 1.0])
    result = evaluate(FakeModel(), rows({"x": [1, 1, 0]}, labels, weights))
    assert value(result, "accuracy") == pytest.approx(2 / 3)
    assert value(result, "joint_log_likelihood") == pytest.approx(np.log(1 / 4 / 6))
    assert (result.n, result.weight) == (3, 3.0)
    named = rows({"x": [1, 1, 0], "truth": ["a", "b", "b"]}, "truth")
    again = evaluate(FakeModel(), named, "truth", sample_weight=weights)
    assert is_same(result, again)
    assert is_same(again, evaluate(FakeModel(), named, sample_weight=weights))


def test_a_requested_label_takes_precedence_over_the_sources_labels():
    source = rows({"x": [1, 1], "other": ["a", "a"]}, ["b", "b"])
    assert value(evaluate(FakeModel(), source), "accuracy") == 0.0
    assert value(evaluate(FakeModel(), source, "other"), "accuracy") == 1.0
    with pytest.raises(errors.ColumnError, match=r"no column 'othr'.*Did you mean 'other'"):
        evaluate(FakeModel(), source, "othr")


def test_labels_of_a_source_take_precedence_over_the_models_label_column():
    source = rows({"x": [1, 1], "y": ["a", "a"]}, ["b", "b"])
    assert value(evaluate(FakeModel(), source), "accuracy") == 0.0


def test_a_discriminative_model_has_no_joint_likelihood():
    model = FakeModel()
    model.is_generative = False
    result = evaluate(model, rows({"x": [1, 0]}, ["a", "b"]))
    assert [measure.name for measure in result.measures][-1] == "conditional_log_likelihood"


def test_impossible_rows_raise_the_models_own_error():
    class Mute(FakeModel):
        def scores(self, chunk):
            return np.full((chunk.n_rows, 2), -np.inf)

        def log_proba(self, _chunk):
            raise errors.ImpossibleEvidence("every class has probability zero")

    with pytest.raises(errors.ImpossibleEvidence):
        evaluate(Mute(), rows({"x": [1]}, ["a"]))


@pytest.mark.parametrize("as_column", [True, False])
def test_missing_markers_are_treated_as_in_prediction(as_column):
    training = {"a": [1.0, 2.0, -999, 8.0, 9.0, 7.5], "b": ["u", "?", "u", "v", "v", "v"]}
    labels = ["p", "p", "p", "q", "q", "q"]
    model = weigh.NaiveBayes(missing=[-999, "?"]).fit(training, labels).model_
    model = dataclasses.replace(model, schema=dataclasses.replace(model.schema, label="y"))
    new = {"a": [-999, 8.0, -999], "b": ["v", "?", "?"]}
    truth = ["q", "q", "p"]
    none = {"a": [None, 8.0, None], "b": ["v", None, None]}
    expected = evaluate(model, none, truth)
    result = evaluate(model, new | {"y": truth}) if as_column else evaluate(model, new, truth)
    assert is_same(result, expected)
    assert value(result, "accuracy") == np.mean(model.predict(new) == np.array(truth))
    log_loss = -np.mean(model.log_proba(new)[[0, 1, 2], [1, 1, 0]])
    assert value(result, "log_loss") == pytest.approx(log_loss)


def test_scores_that_differ_by_rounding_tie_as_in_prediction():
    class Tied(FakeModel):
        tie = "first"

        def scores(self, chunk):
            return np.tile([np.log(0.5), np.nextafter(np.log(0.5), 0)], (chunk.n_rows, 1))

    source = rows({"x": [1, 0]}, ["a", "b"])
    assert evaluate(Tied(), source).confusion.table().tolist() == [[1, 0], [1, 0]]
    Tied.tie = "last"
    assert evaluate(Tied(), source).confusion.table().tolist() == [[0, 1], [0, 1]]


def test_named_columns_of_a_source_need_pandas(monkeypatch):
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    named = GaussianNB().fit(frame, Y)
    source = rows(frame, Y)
    assert is_same(evaluate(named, source), evaluate(named, frame, Y))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(errors.Unsupported, match="Install pandas, or give the rows"):
        evaluate(named, source)


def test_an_estimator_is_evaluated_by_its_model():
    source = rows({"x": [1, 1, 0], "y": ["a", "b", "b"]})
    estimator = SimpleNamespace(model_=FakeModel())
    assert is_same(evaluate(estimator, source), evaluate(FakeModel(), source))


def test_to_dict_is_json_even_with_infinite_and_undefined_numbers():
    model = GaussianNB().fit(X, CODES)
    result = evaluate(model, X[:3], [0, 7, 0])
    read = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert read["measures"][8] == {"name": "log_loss", "value": "inf", "low": "inf", "high": "inf"}
    assert read["per_class"][2]["precision"]["value"] is None
    assert read["unseen"] == [{"label": 7, "rows": 1}]
    assert {"true": None, "predicted": 0, "weight": 1.0} in read["confusion"]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_a_missing_label_is_rejected_with_its_row(missing):
    labels = [*Y[:99], missing, *Y[100:]]
    with pytest.raises(errors.LabelError, match=r"Row 99 .* has no label"):
        evaluate(NB, X, labels)


BAD = {
    "no labels": ((NB, X), {}, errors.LabelError, "no labels to evaluate against"),
    "no names": ((NB, X, "species"), {}, errors.LabelError, "has no named columns"),
    "no column": ((NB, pd.DataFrame({"a": [1]}), "b"), {}, errors.ColumnError, "it has 'a'"),
    "both": ((NB, X, Y), {"label": "a"}, errors.ParameterError, "left out when y is given"),
    "table y": ((NB, X, np.stack([Y, Y], 1)), {}, errors.LabelError, r"shape \(150, 2\)"),
    "lists": ((NB, X[:2], [["a"], ["b"]]), {}, errors.LabelError, "one label per row"),
    "short y": ((NB, X, Y[:9]), {}, errors.DataError, "y has 9 values for 150 rows"),
    "level": ((NB, X, Y), {"level": 95}, errors.ParameterError, "between 0 and 1, got 95"),
    "rows": ((NB, X[:0], Y[:0]), {}, errors.DataError, "no rows to evaluate"),
    "weights": (
        (NB, X[:2], Y[:2]),
        {"sample_weight": [1, -1]},
        errors.ParameterError,
        "finite number >= 0",
    ),
    "vanishing weights": (
        (NB, X[:2], Y[:2]),
        {"sample_weight": [1e-300, 1e-300]},
        errors.ParameterError,
        "0 or between 1e-100 and 1e100",
    ),
    "few weights": (
        (NB, X, Y),
        {"sample_weight": [1]},
        errors.DataError,
        "sample_weight has 1 values for at least 150 rows",
    ),
    "many weights": (
        (NB, X, Y),
        {"sample_weight": np.ones(151)},
        errors.DataError,
        "sample_weight has 151 values for 150 rows",
    ),
    "zero weights": ((NB, X, Y), {"sample_weight": 0 * WEIGHTS}, errors.DataError, "sum to zero"),
    "unfitted": ((GaussianNB(), X, Y), {}, errors.Unsupported, "GaussianNB without classes"),
    "no model": ((object(), X, CODES), {}, errors.Unsupported, "classifier or regression, got obj"),
    "several outputs": (
        (KNeighborsClassifier().fit(X, np.stack([CODES, CODES], 1)), X, CODES),
        {},
        errors.Unsupported,
        "several labels per row",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_input_is_rejected(case):
    args, kwargs, error, words = BAD[case]
    with pytest.raises(error, match=words):
        evaluate(*args, **kwargs)
