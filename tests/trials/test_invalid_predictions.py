"""Malformed predictions: accepted if they are unambiguous, otherwise an error names the learner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

import weigh
from weigh import errors

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
CLASSES = np.where(X[:, 0] + RNG.normal(size=60) > 0, "a", "b")
NUMBERS = X @ [1.0, 2.0] + RNG.normal(size=60)

FORMS: dict[str, Callable[[Any], Any]] = {
    "unchanged": lambda values: values,
    "column": lambda values: values[:, None],
    "list": lambda values: values.tolist(),
    "first only": lambda values: values[:1],
    "twice": lambda values: np.column_stack([values, values]),
    "nothing": lambda values: None,
    "one for all": lambda values: values[0],
}


class Tree(DecisionTreeClassifier):
    """A tree that returns its predictions in another form."""

    def __init__(self, form: str = "unchanged", max_depth: int = 2, random_state: int = 0) -> None:
        super().__init__(max_depth=max_depth, random_state=random_state)
        self.form = form

    def predict(self, X: Any, check_input: bool = True) -> Any:
        return FORMS[self.form](super().predict(X))


class Line(LinearRegression):
    """A linear regression that returns its predictions in another form."""

    def __init__(self, form: str = "unchanged") -> None:
        super().__init__()
        self.form = form

    def predict(self, X: Any) -> Any:
        return FORMS[self.form](super().predict(X))


class NanRegression(LinearRegression):
    """A linear regression that predicts NaN."""

    def predict(self, X: Any) -> Any:
        return np.full(len(X), np.nan)


EVALUATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "compare": lambda each, y: weigh.compare({"it": each}, X, y, folds=3, repeats=1)["it"].loss.value,
    "curve": lambda each, y: [
        (point["train"], point["validation"])
        for point in weigh.learning_curve({"it": each}, X, y, folds=3).to_dict()["curves"][0]["points"]
    ],
    "parts": lambda each, y: weigh.bias_variance({"it": each}, X, y, rounds=4).to_dict()["learners"][0][
        "loss"
    ],
}
LEARNERS = [(Tree, CLASSES), (Line, NUMBERS)]


@pytest.mark.parametrize("evaluation", EVALUATIONS)
@pytest.mark.parametrize(("learner", "y"), LEARNERS)
def test_a_column_or_list_of_predictions_is_accepted(evaluation: str, learner: Any, y: Any) -> None:
    plain = str(EVALUATIONS[evaluation](learner(), y))
    for form in ("column", "list"):
        assert str(EVALUATIONS[evaluation](learner(form), y)) == plain


@pytest.mark.parametrize("evaluation", EVALUATIONS)
@pytest.mark.parametrize(("learner", "y"), LEARNERS)
@pytest.mark.parametrize("form", ["first only", "twice", "nothing", "one for all"])
def test_other_shapes_raise_an_error_that_names_the_learner(
    evaluation: str, learner: Any, y: Any, form: str
) -> None:
    with pytest.raises(errors.DataError, match=r"The predictions of it are .* they must be one for each of"):
        EVALUATIONS[evaluation](learner(form), y)


@pytest.mark.parametrize("evaluation", EVALUATIONS)
def test_predictions_that_are_nan_raise(evaluation: str) -> None:
    with pytest.raises(errors.DataError, match=r"The predictions of it are .* they must be finite numbers"):
        EVALUATIONS[evaluation](NanRegression(), NUMBERS)


@pytest.mark.parametrize("evaluation", EVALUATIONS)
def test_several_labels_per_row_raise(evaluation: str) -> None:
    with pytest.raises(errors.LabelError, match="The labels are lists, several per row"):
        EVALUATIONS[evaluation](Tree(), [["a"], ["b"]] * 30)


class FixedClassifier:
    """A classifier with fixed outputs."""

    def __init__(self, classes: Any = ("a", "b"), **outputs: Any) -> None:
        self.classes_ = classes
        for name, output in ({"predict": np.full(60, "a")} | outputs).items():
            setattr(self, name, lambda rows, output=output: output)


@pytest.mark.parametrize(
    "outputs",
    [
        {"predict": np.array(["a"])},
        {"predict": None},
        {"predict": "a"},
        {"predict": np.full((60, 2), "a")},
        {"predict_proba": np.ones((60, 1))},
        {"predict_proba": np.full((60, 3), 1 / 3)},
        {"predict_proba": np.full((3, 2), 0.5)},
        {"predict_proba": np.full(60, 0.5)},
        {"predict_proba": None},
        {"predict_proba": np.full((60, 2), "x")},
        {"predict_log_proba": np.zeros((60, 1))},
        {"decision_function": np.zeros(3)},
        {"decision_function": 1.0},
        {"decision_function": None},
    ],
)
def test_evaluate_rejects_outputs_of_another_shape(outputs: dict[str, Any]) -> None:
    with pytest.raises(
        errors.DataError, match=r"of FixedClassifier are .* for each of the 60 rows\. Fix the learner"
    ):
        weigh.evaluate(FixedClassifier(**outputs), X, CLASSES)


@pytest.mark.parametrize("classes", [None, [], 5, ["a", "a"], [1, "1", True]])
def test_evaluate_rejects_classes_that_are_not_distinct(classes: Any) -> None:
    with pytest.raises(errors.Unsupported, match=r"FixedClassifier has the classes .* distinct classes"):
        weigh.evaluate(FixedClassifier(classes), X, CLASSES)


def test_evaluate_accepts_a_column_of_predictions() -> None:
    tree = Tree().fit(X, CLASSES)
    assert str(weigh.evaluate(Tree("column").fit(X, CLASSES), X, CLASSES)) == str(
        weigh.evaluate(tree, X, CLASSES)
    )


@pytest.mark.parametrize("model", [weigh.NaiveBayes(), DecisionTreeClassifier()])
def test_evaluate_rejects_rows_and_labels_without_a_length(model: Any) -> None:
    model.fit(X, CLASSES)
    for rows, labels in (((row for row in X), CLASSES), (X, (y for y in CLASSES)), (None, CLASSES), (X, 5)):
        with pytest.raises(errors.DataError, match=r"Expected|must be"):
            weigh.evaluate(model, rows, labels)


def test_evaluate_accepts_levels_of_any_number_type_between_zero_and_one() -> None:
    tree = Tree().fit(X, CLASSES)
    for level in (np.float32(0.5), np.float64(0.9), 1 - 1e-16, 1e-300):
        assert weigh.evaluate(tree, X, CLASSES, level=level).level == level


def test_pairwise_scores_have_no_roc_area() -> None:
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    three = np.arange(60) % 3
    search = GridSearchCV(SVC(), {"decision_function_shape": ["ovo"]}, cv=2).fit(X, three)
    names = [measure.name for measure in weigh.evaluate(search, X, three).measures]
    assert "roc_area" not in names
