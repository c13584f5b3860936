"""Answers of learners that are no answers: taken where they can only mean one thing, else refused by name."""

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
    "as it is": lambda found: found,
    "column": lambda found: found[:, None],
    "list": lambda found: found.tolist(),
    "first only": lambda found: found[:1],
    "twice": lambda found: np.column_stack([found, found]),
    "nothing": lambda found: None,
    "one for all": lambda found: found[0],
}


class Tree(DecisionTreeClassifier):
    """A tree that gives its predictions in some form."""

    def __init__(self, form: str = "as it is", max_depth: int = 2, random_state: int = 0) -> None:
        super().__init__(max_depth=max_depth, random_state=random_state)
        self.form = form

    def predict(self, X: Any, check_input: bool = True) -> Any:
        return FORMS[self.form](super().predict(X))


class Line(LinearRegression):
    """A line that gives its predictions in some form."""

    def __init__(self, form: str = "as it is") -> None:
        super().__init__()
        self.form = form

    def predict(self, X: Any) -> Any:
        return FORMS[self.form](super().predict(X))


class Wild(LinearRegression):
    """A line that has no number for anything."""

    def predict(self, X: Any) -> Any:
        return np.full(len(X), np.nan)


TRIALS: dict[str, Callable[[Any, Any], Any]] = {
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


@pytest.mark.parametrize("trial", TRIALS)
@pytest.mark.parametrize(("learner", "y"), LEARNERS)
def test_a_column_of_predictions_is_judged_as_the_predictions(trial: str, learner: Any, y: Any) -> None:
    plain = str(TRIALS[trial](learner(), y))
    for form in ("column", "list"):
        assert str(TRIALS[trial](learner(form), y)) == plain


@pytest.mark.parametrize("trial", TRIALS)
@pytest.mark.parametrize(("learner", "y"), LEARNERS)
@pytest.mark.parametrize("form", ["first only", "twice", "nothing", "one for all"])
def test_any_other_shape_is_refused_by_the_name_of_the_learner(
    trial: str, learner: Any, y: Any, form: str
) -> None:
    with pytest.raises(errors.DataError, match=r"The predictions of it are .* they must be one for each of"):
        TRIALS[trial](learner(form), y)


@pytest.mark.parametrize("trial", TRIALS)
def test_numbers_that_are_none_are_refused(trial: str) -> None:
    with pytest.raises(errors.DataError, match=r"The predictions of it are .* they must be finite numbers"):
        TRIALS[trial](Wild(), NUMBERS)


@pytest.mark.parametrize("trial", TRIALS)
def test_several_labels_per_row_are_refused(trial: str) -> None:
    with pytest.raises(errors.LabelError, match="The labels are lists, several per row"):
        TRIALS[trial](Tree(), [["a"], ["b"]] * 30)


class Told:
    """A classifier that answers what it is told to."""

    def __init__(self, classes: Any = ("a", "b"), **answers: Any) -> None:
        self.classes_ = classes
        given = {"predict": np.full(60, "a")} | answers
        for name, answer in given.items():
            setattr(self, name, lambda rows, answer=answer: answer)


@pytest.mark.parametrize(
    "answers",
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
def test_evaluate_refuses_answers_of_another_shape(answers: dict[str, Any]) -> None:
    with pytest.raises(errors.DataError, match=r"of Told are .* for each of the 60 rows\. Fix the learner"):
        weigh.evaluate(Told(**answers), X, CLASSES)


@pytest.mark.parametrize("classes", [None, [], 5, ["a", "a"], [1, "1", True]])
def test_evaluate_refuses_classes_that_are_not_apart(classes: Any) -> None:
    with pytest.raises(errors.Unsupported, match=r"Told has the classes .* distinct classes"):
        weigh.evaluate(Told(classes), X, CLASSES)


def test_evaluate_takes_a_column_of_predictions() -> None:
    tree = Tree().fit(X, CLASSES)
    assert str(weigh.evaluate(Tree("column").fit(X, CLASSES), X, CLASSES)) == str(
        weigh.evaluate(tree, X, CLASSES)
    )


@pytest.mark.parametrize("model", [weigh.NaiveBayes(), DecisionTreeClassifier()])
def test_evaluate_refuses_rows_and_labels_that_cannot_be_counted(model: Any) -> None:
    model.fit(X, CLASSES)
    for rows, labels in (((row for row in X), CLASSES), (X, (y for y in CLASSES)), (None, CLASSES), (X, 5)):
        with pytest.raises(errors.DataError, match=r"Expected|must be"):
            weigh.evaluate(model, rows, labels)


def test_levels_of_intervals_are_numbers_of_any_kind_within_zero_and_one() -> None:
    tree = Tree().fit(X, CLASSES)
    for level in (np.float32(0.5), np.float64(0.9), 1 - 1e-16, 1e-300):
        assert weigh.evaluate(tree, X, CLASSES, level=level).level == level


def test_a_search_that_chose_scores_of_pairs_has_no_areas() -> None:
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    three = np.arange(60) % 3
    search = GridSearchCV(SVC(), {"decision_function_shape": ["ovo"]}, cv=2).fit(X, three)
    names = [measure.name for measure in weigh.evaluate(search, X, three).measures]
    assert "roc_area" not in names
