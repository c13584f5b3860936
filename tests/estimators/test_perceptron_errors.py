"""The error messages of the perceptron and the methods that it does not have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import weigh
from weigh import errors

X = np.array([[1.0, 2.0], [-1.0, 0.5], [0.0, 1.0], [2.0, -1.0]])
Y = ["a", "b", "a", "b"]
KEEP = "'averaged', 'last', 'voted' or 'lazy'"
WEIGHTS = "None, 'balanced' or a mapping from class to a number: 0, or from 1e-50 to 1e+50"
TWO = np.array([1.0, 2.0])

INVALID_PARAMETERS: list[tuple[str, Any, str]] = [
    ("keep", "best", f"Perceptron: keep must be {KEEP}, got 'best'."),
    ("keep", None, f"Perceptron: keep must be {KEEP}, got None."),
    ("keep", TWO, f"Perceptron: keep must be {KEEP}, got array([1., 2.])."),
    ("record", 1, "Perceptron: record must be True or False, got 1."),
    ("margin", -1, "Perceptron: margin must be a number of at least 0, got -1."),
    ("margin", "wide", "Perceptron: margin must be a number of at least 0, got 'wide'."),
    ("margin", np.nan, "Perceptron: margin must be a number of at least 0, got nan."),
    ("margin", np.inf, "Perceptron: margin must be a number of at least 0, got inf."),
    ("margin", TWO, "Perceptron: margin must be a number of at least 0, got array([1., 2.])."),
    ("relative", "yes", "Perceptron: relative must be True or False, got 'yes'."),
    ("rate", 0, "Perceptron: rate must be a number above 0, at most 1e+100, got 0."),
    ("rate", np.inf, "Perceptron: rate must be a number above 0, at most 1e+100, got inf."),
    ("max_iter", 0, "Perceptron: max_iter must be at least 1, got 0."),
    ("max_iter", 2.5, "Perceptron: max_iter must be a whole number of at least 1, got 2.5."),
    ("shuffle", None, "Perceptron: shuffle must be True or False, got None."),
    ("random_state", -1, "Perceptron: random_state must be at least 0, got -1."),
    ("multiclass", "ovr", "Perceptron: multiclass must be 'joint' or 'one-vs-rest', got 'ovr'."),
    ("multiclass", TWO, "Perceptron: multiclass must be 'joint' or 'one-vs-rest', got array([1., 2.])."),
    ("bias", 0, "Perceptron: bias must be True or False, got 0."),
    ("scale", "std", "Perceptron: scale must be 'auto', 'unit' or None, got 'std'."),
    ("scale", TWO, "Perceptron: scale must be 'auto', 'unit' or None, got array([1., 2.])."),
    ("class_weight", "even", f"Perceptron: class_weight must be {WEIGHTS}, got 'even'."),
    ("class_weight", TWO, f"Perceptron: class_weight must be {WEIGHTS}, got array([1., 2.])."),
    ("class_weight", {"a": -1}, f"Perceptron: class_weight must be {WEIGHTS}, got {{'a': -1}}."),
    ("class_weight", {"a": "1"}, f"Perceptron: class_weight must be {WEIGHTS}, got {{'a': '1'}}."),
    ("class_weight", {"a": 1e51}, f"Perceptron: class_weight must be {WEIGHTS}, got {{'a': 1e+51}}."),
    ("class_weight", {"a": 1e-51}, f"Perceptron: class_weight must be {WEIGHTS}, got {{'a': 1e-51}}."),
    ("class_weight", {"a": "x"}, f"Perceptron: class_weight must be {WEIGHTS}, got 'x'."),
    ("class_weight", {"z": 1}, "Perceptron: class_weight names the class 'z'; the rows have 'a', 'b'."),
]


@pytest.mark.parametrize(("name", "value", "message"), INVALID_PARAMETERS)
def test_invalid_parameters_are_errors(name: str, value: Any, message: str) -> None:
    learner = weigh.Perceptron(**{name: value})
    for learn in (learner.fit, learner.partial_fit):
        with pytest.raises(errors.ParameterError) as excinfo:
            learn(X, Y)
        assert str(excinfo.value) == message
    assert not hasattr(learner, "classes_")


def error_message(call: Any) -> str:
    with pytest.raises(errors.WeighError) as excinfo:
        call()
    return str(excinfo.value)


def test_one_class_is_an_error() -> None:
    message = (
        "A perceptron separates classes, and all 4 rows are of one class, 'a'. "
        "Give rows of another class too."
    )
    assert error_message(lambda: weigh.Perceptron().fit(X, ["a"] * 4)) == message
    assert error_message(lambda: weigh.Perceptron().partial_fit(X, ["a"] * 4)) == message
    assert error_message(lambda: weigh.Perceptron().partial_fit(X, ["a"] * 4, classes=["a"])) == message
    declared = weigh.Perceptron("last").partial_fit(X, ["a"] * 4, classes=["a", "b"])
    assert declared.classes_.tolist() == ["a", "b"]


def test_rows_of_zero_weight_are_ignored() -> None:
    assert "of one class, 'a'" in error_message(lambda: weigh.Perceptron().fit(X, Y, [1.0, 0.0, 1.0, 0.0]))
    assert error_message(lambda: weigh.Perceptron().fit(X, Y, [0.0] * 4)) == (
        "All weights are zero, so no row counts. Give one row at least a weight above zero."
    )


def test_too_large_and_infinite_values_are_errors() -> None:
    assert error_message(lambda: weigh.Perceptron().fit(X * 1e200, Y)) == (
        "A value has the magnitude 2e+200; squares of numbers above 1e+100 overflow. "
        "Divide the columns by their largest values."
    )
    assert error_message(lambda: weigh.Perceptron().fit(np.where(X[:, :1] == 2, np.inf, X), Y)) == (
        "Column 'x0' contains infinity (inf). "
        "Replace it by a finite number, or by NaN if the value is missing."
    )


def test_another_number_of_features_than_in_training_is_an_error() -> None:
    learner = weigh.Perceptron().fit(X, Y)
    message = "X has 1 features, but Perceptron is expecting 2 features as input, as in training: 'x0', 'x1'."
    for call in (learner.predict, learner.decision_function, lambda rows: learner.partial_fit(rows, Y)):
        assert error_message(lambda call=call: call(X[:, :1])) == message


def test_missing_and_multiple_labels_are_errors() -> None:
    assert error_message(lambda: weigh.Perceptron().fit(X)) == (
        "Perceptron requires y to be passed, but the target y is None. "
        "Give one label per row, or the name of the label column."
    )
    assert "Input y contains NaN" in error_message(lambda: weigh.Perceptron().fit(X, [0.0, 1.0, np.nan, 1.0]))
    with pytest.raises(errors.LabelError):
        weigh.Perceptron().fit(X, [["a", "b"], ["a"], ["b"], ["a"]])


def test_undeclared_classes_are_an_error() -> None:
    learner = weigh.Perceptron().partial_fit(X, Y, classes=["a", "b"])
    assert error_message(lambda: learner.partial_fit(X, ["a", "b", "c", "d"], classes=["a", "b"])) == (
        "y has the label 'c', 'd' that is not among the classes 'a', 'b'."
    )
    assert error_message(lambda: learner.partial_fit(X, Y, classes=["a"])) == (
        "y has the label 'b' that is not among the classes 'a'."
    )


def test_skipping_all_columns_is_an_error() -> None:
    table = {"n": [1.0, 2.0], "l": [0, 1]}
    assert error_message(lambda: weigh.Perceptron(columns={"n": "skip"}).fit(table, "l")) == (
        "All columns are skipped, so there is nothing to learn from."
    )


def test_an_unfitted_learner_raises_not_fitted_error() -> None:
    learner = weigh.Perceptron()
    for name in ("coef_", "intercept_", "certificate_", "mistakes_", "converged_", "n_iter_", "schema_"):
        with pytest.raises(NotFittedError):
            getattr(learner, name)
    with pytest.raises(NotFittedError):
        learner.predict(X)


def test_the_perceptron_has_no_probabilities() -> None:
    learner = weigh.Perceptron().fit(X, Y)
    assert not hasattr(learner, "predict_proba")
    message = (
        "A perceptron's scores are not probabilities; only their order is meaningful. Use predict or scores; "
        "for probabilities, calibrate the model with weigh.calibrate or train NaiveBayes."
    )
    assert error_message(lambda: learner.model_.predict_proba(X)) == message
    assert error_message(lambda: learner.predict(X, weigh.Decision(unsure=0.9))) == message


def test_a_voted_perceptron_has_no_weights() -> None:
    learner = weigh.Perceptron("voted").fit(X, Y)
    message = (
        "A voted perceptron has no single weight vector. Use keep('averaged') or keep('last') to get one."
    )
    assert error_message(lambda: learner.coef_) == message
    assert error_message(lambda: learner.intercept_) == message
    assert learner.model_.keep("averaged").coef.shape == (2,)


def test_missing_numbers_are_allowed() -> None:
    X_missing = np.where(X == 2.0, np.nan, X)
    learner = weigh.Perceptron("last").fit(X_missing, Y)
    assert learner.predict(X_missing).shape == (4,)
    assert learner.decision_function([[np.nan, np.nan]]) == learner.intercept_
