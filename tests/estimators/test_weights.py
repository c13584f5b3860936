"""Sample weights and class weights: their range, zero, and sums of weights that are no longer exact."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import weigh
from weigh import errors

TABLE = {"a": ["x", "y", "x", "y"], "n": [1.0, 2.5, 3.5, 4.25], "f": [True, False, True, True]}
LABELS = ["p", "q", "p", "q"]
CLASSIFIERS = {
    "naive Bayes": weigh.NaiveBayes,
    "joint": weigh.JointBayes,
    "threshold": weigh.Threshold,
    "perceptron": weigh.Perceptron,
    "logistic": weigh.LogisticRegression,
    "online": lambda **settings: weigh.LogisticRegression(method="online", **settings),
}
COUNTING = ("naive Bayes", "joint")
WITH_CLASS_WEIGHT = ("perceptron", "logistic", "online")

pytestmark = pytest.mark.filterwarnings(
    "ignore::weigh.errors.UnfilledTable", "ignore::weigh.errors.UnlikeScales"
)

RNG = np.random.default_rng(0)
Y = np.array(list("abc") * 10)
X = RNG.normal(size=(30, 2)) + np.c_[2.0 * (Y == "b"), -2.0 * (Y == "c")]


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("weight", [1e308, 1.1e50, 9e-51, 1e-308, 5e-324])
def test_every_learner_refuses_weights_out_of_range(name: str, weight: float) -> None:
    with pytest.raises(errors.DataError) as excinfo:
        CLASSIFIERS[name]().fit(TABLE, LABELS, sample_weight=[1, weight, 1, weight])
    advice = "Divide them by their mean." if weight > 1 else "Give weight 0 to what must not count."
    assert str(excinfo.value) == (
        f"The sample weight of row 1 is {weight:.6g}; weights must be 0, or from 1e-50 to 1e+50. {advice}"
    )


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("weights", [[1e50] * 4, [1e-50] * 4, [1e50, 1e-50, 1e-50, 1e50], [2.0**53] * 4])
def test_a_model_of_any_weights_in_range_can_be_saved(
    name: str, weights: list[float], tmp_path: Path
) -> None:
    model = CLASSIFIERS[name]().fit(TABLE, LABELS, sample_weight=weights).model_
    model.save(tmp_path / "model.weigh")
    restored: Any = weigh.load(tmp_path / "model.weigh")
    assert np.isfinite(model.scores(TABLE)).all()
    np.testing.assert_array_equal(restored.scores(TABLE), model.scores(TABLE))


@pytest.mark.parametrize("name", COUNTING)
def test_large_weights_give_the_probabilities_of_weight_one_without_a_prior(name: str) -> None:
    plain, heavy = (
        CLASSIFIERS[name](prior=None).fit(TABLE, LABELS, sample_weight=[weight] * 4)
        for weight in (1.0, 2.0**160)
    )
    np.testing.assert_allclose(heavy.predict_proba(TABLE), plain.predict_proba(TABLE), rtol=1e-12)


@pytest.mark.parametrize("name", COUNTING)
def test_counts_become_floats_before_they_overflow(name: str, tmp_path: Path) -> None:
    learner = CLASSIFIERS[name](prior=None).fit(TABLE, LABELS)
    expected = learner.predict_proba(TABLE)
    for _ in range(70):
        learner.merge(learner)
    assert learner.model_.counts.rows.tolist() == [2.0**71, 2.0**71]
    np.testing.assert_allclose(learner.predict_proba(TABLE), expected, rtol=1e-12)
    learner.model_.save(tmp_path / "model.weigh")
    assert weigh.load(tmp_path / "model.weigh").to_bytes() == learner.model_.to_bytes()


def test_a_total_weight_that_would_overflow_is_refused() -> None:
    learner = weigh.NaiveBayes().fit(TABLE, LABELS)
    for _ in range(330):
        learner.merge(learner)
    before = learner.model_.to_bytes()
    with pytest.raises(errors.MergeError) as excinfo:
        learner.merge(learner)
    assert str(excinfo.value) == (
        "The rows would have a total weight of 1.7498e+100, more than 1e+100. The model is unchanged. Divide "
        "the weights by their mean."
    )
    assert learner.model_.to_bytes() == before


def test_flags_that_never_vary_stay_possible_whatever_the_weights() -> None:
    table = {"f": [True, False, True], "g": [False, True, True]}
    learner = weigh.NaiveBayes().fit(table, ["p", "q", "p"], sample_weight=[1e50, 1e50, 1e-50])
    scores = learner.model_.scores({"f": [False, True], "g": [False, True]})
    assert np.isfinite(scores).all()
    assert learner.predict_proba({"f": [False], "g": [False]}).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("scale", [1e-40, 1e40])
def test_rounding_errors_of_weights_of_any_size_are_no_unlearned_rows(scale: float) -> None:
    rng = np.random.default_rng(3)
    weights, labels = scale * (0.1 + rng.random(500)), rng.choice(["p", "q"], 500)
    table = {"a": rng.choice(list("xyz"), 500)}
    first, rest = ({"a": table["a"][part]} for part in (slice(200), slice(200, None)))
    learner = weigh.NaiveBayes().fit(table, labels, sample_weight=weights)
    learner.forget(first, labels[:200], sample_weight=weights[:200])
    expected = weigh.NaiveBayes().fit(rest, labels[200:], sample_weight=weights[200:])
    np.testing.assert_allclose(learner.predict_proba(table), expected.predict_proba(table), rtol=1e-9)
    with pytest.raises(errors.MergeError):
        learner.forget(first, labels[:200], sample_weight=10 * weights[:200])


@pytest.mark.parametrize("importance", ["1e308", "-1", "1e-300", "nan"])
def test_an_importance_out_of_range_is_an_error_of_its_line(importance: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.vw"
    path.write_text(f"1 1 |a x\n-1 {importance} |a y\n")
    with pytest.raises(errors.SourceError, match=r"rows\.vw, line 2, column 4: "):
        weigh.NaiveBayes().fit(weigh.open(path))


@pytest.mark.parametrize("name", WITH_CLASS_WEIGHT)
def test_a_class_weight_of_zero_equals_sample_weights_of_zero(name: str) -> None:
    by_class = CLASSIFIERS[name](class_weight={"c": 0}).fit(X, Y)
    by_row = CLASSIFIERS[name]().fit(X, Y, sample_weight=np.where(Y == "c", 0.0, 1.0))
    without = CLASSIFIERS[name]().fit(X[Y != "c"], Y[Y != "c"])
    assert by_class.classes_.tolist() == ["a", "b"]
    # The settings of online training name the class that was left out.
    first, second = (replace(learner.model_, online=None) for learner in (by_class, by_row))
    assert first.to_bytes() == second.to_bytes()
    np.testing.assert_array_equal(by_class.coef_, without.coef_)


@pytest.mark.parametrize("name", WITH_CLASS_WEIGHT)
@pytest.mark.parametrize("kind", [weigh.Number(scale="unit"), weigh.Text(max_words=2)])
def test_rows_of_a_class_of_weight_zero_do_not_affect_preprocessing(name: str, kind: Any) -> None:
    numbers = {"x": X[:, 0], "y": Y}
    texts = {"x": [f"word{c} common {c}" for c in Y], "y": Y}
    table = numbers if isinstance(kind, weigh.Number) else texts
    kept = {column: np.array(values)[Y != "c"] for column, values in table.items()}
    zero = CLASSIFIERS[name](class_weight={"c": 0}, columns={"x": kind}).fit(table, "y")
    without = CLASSIFIERS[name](columns={"x": kind}).fit(kept, "y")
    assert zero.model_.features == without.model_.features
    np.testing.assert_array_equal(zero.coef_, without.coef_)


@pytest.mark.parametrize("name", ["perceptron", "online"])
def test_a_class_of_weight_zero_may_be_absent_from_a_batch(name: str) -> None:
    learner = CLASSIFIERS[name](class_weight={"c": 0})
    learner.partial_fit(X[:5], Y[:5]).partial_fit(X[6:8], Y[6:8])
    assert learner.classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize("name", WITH_CLASS_WEIGHT)
def test_class_weights_that_are_all_zero_are_an_error(name: str) -> None:
    with pytest.raises(errors.DataError) as excinfo:
        CLASSIFIERS[name](class_weight=dict.fromkeys("abc", 0)).fit(X, Y)
    assert str(excinfo.value) == (
        "All weights are zero, so no row counts. Give one row at least a weight above zero."
    )


@pytest.mark.parametrize("name", WITH_CLASS_WEIGHT)
def test_products_of_weights_are_checked(name: str) -> None:
    with pytest.raises(errors.DataError) as excinfo:
        CLASSIFIERS[name](class_weight={"c": 1e50}).fit(X, Y, sample_weight=[1e50] * 30)
    assert str(excinfo.value) == (
        "A sample weight times the weight of its class is 1e+100; weights must be 0, or from 1e-50 to 1e+50. "
        "Divide them by their mean."
    )


def test_candidates_of_different_class_weights_are_tuned_together() -> None:
    grid = {"class_weight": [{"c": 0}, None]}
    result = weigh.tune(weigh.Perceptron(), grid, X, Y)
    assert len(result.trials) == 2


def test_a_trace_leaves_out_a_class_of_weight_zero() -> None:
    trace = weigh.trace(weigh.Perceptron(class_weight={"c": 0}, max_iter=2), X, Y)
    assert trace.classes == ("a", "b")


def test_a_path_leaves_out_a_class_of_weight_zero() -> None:
    learner = weigh.LogisticRegression(class_weight={"c": 0})
    without = weigh.path(weigh.LogisticRegression(), X[Y != "c"], Y[Y != "c"])
    np.testing.assert_array_equal(weigh.path(learner, X, Y).weights, without.weights)


@pytest.mark.parametrize("learner", [weigh.Perceptron(), weigh.LogisticRegression(method="online")], ids=str)
def test_a_batch_whose_weights_are_refused_changes_nothing(learner: Any) -> None:
    learner = (
        clone(learner)
        .set_params(class_weight={"a": 1e40})
        .partial_fit(np.eye(2), ["a", "b"], classes=["a", "b"])
    )
    before = learner.model_.to_bytes()
    with pytest.raises(errors.DataError, match="A sample weight times the weight of its class is 1e"):
        learner.partial_fit(np.eye(2), ["a", "c"], sample_weight=[1e40, 1.0])
    assert learner.classes_.tolist() == ["a", "b"]
    assert learner.model_.to_bytes() == before
