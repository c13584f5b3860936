"""Learning curves have the losses that scikit-learn finds on the same rows, for any number of workers."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import learning_curve as peer_curve
from sklearn.naive_bayes import GaussianNB

import weigh
from weigh import errors
from weigh.trials.learning_curves import LearningCurve
from weigh.trials.splits import find_strata, repeated_folds, stratified_order

RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 3, 240)
ROWS = RNG.normal(size=(240, 4)) + 0.8 * LABELS[:, None]
NUMBERS = ROWS @ [1.0, 2.0, 0.0, -1.0] + RNG.normal(size=240)
SIZES = [12, 30, 90, 192]
PEERS = {
    "zero_one": lambda scores: 1 - scores,
    "log_loss": lambda scores: -scores,
    "squared_error": lambda scores: -scores,
    "absolute_error": lambda scores: -scores,
}
SCORING = {
    "zero_one": "accuracy",
    "log_loss": "neg_log_loss",
    "squared_error": "neg_mean_squared_error",
    "absolute_error": "neg_mean_absolute_error",
}


@pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns")
@pytest.mark.parametrize(
    ("learner", "loss"),
    [
        (weigh.NaiveBayes(), "zero_one"),
        (GaussianNB(), "zero_one"),
        (LogisticRegression(), "log_loss"),
        (weigh.LogisticRegression(), "log_loss"),
        (LinearRegression(), "squared_error"),
        (weigh.LinearRegression(), "absolute_error"),
    ],
)
def test_losses_equal_scikit_learns_on_the_same_splits(learner: Any, loss: str) -> None:
    is_regression = loss.endswith("error")
    y = NUMBERS if is_regression else LABELS
    groups = find_strata(y, is_regression)
    splits = repeated_folds(groups, 5, 2, 7, "here")
    cv = [
        (stratified_order(s.train, groups, np.random.default_rng([7, s.repeat, s.fold])), s.test)
        for s in splits
    ]
    sizes, train, test = peer_curve(learner, ROWS, y, train_sizes=SIZES, cv=cv, scoring=SCORING[loss])
    result = weigh.learning_curve(learner, ROWS, y, sizes=SIZES, loss=loss, seed=7)
    points = result.curves[0].points
    assert [point.rows for point in points] == sizes.tolist()
    peer = PEERS[loss]
    np.testing.assert_allclose([p.train.value for p in points], peer(train).mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose([p.validation.value for p in points], peer(test).mean(axis=1), rtol=1e-12)


def to_json(curve: LearningCurve) -> Any:
    """Return the curve as JSON, without the times."""
    facts = curve.to_dict()
    for each in facts["curves"]:
        for point in each["points"]:
            del point["seconds"]
    return json.dumps(facts)


def test_results_depend_on_the_seed_but_not_on_the_number_of_workers() -> None:
    learners = ["naive-bayes", "tree"]
    curves = [
        weigh.learning_curve(learners, ROWS, LABELS, n_jobs=jobs, seed=seed, repeats=1)
        for jobs, seed in [(None, 0), (2, 0), (1, 1)]
    ]
    assert to_json(curves[0]) == to_json(curves[1])
    assert to_json(curves[0]) != to_json(curves[2])


def test_the_squared_loss_is_that_of_the_true_class() -> None:
    result = weigh.learning_curve(GaussianNB(), ROWS, LABELS, sizes=[150], loss="squared")
    groups = find_strata(LABELS, False)
    means = []
    for split in repeated_folds(groups, 5, 2, 0, "here"):
        order = stratified_order(split.train, groups, np.random.default_rng([0, split.repeat, split.fold]))[
            :150
        ]
        proba = GaussianNB().fit(ROWS[order], LABELS[order]).predict_proba(ROWS[split.test])
        means.append(np.square(1 - proba[np.arange(len(proba)), LABELS[split.test]]).mean())
    assert result.curves[0].points[0].validation.value == pytest.approx(np.mean(means), rel=1e-12)


def test_default_sizes_grow_geometrically_up_to_all_training_rows() -> None:
    assert weigh.learning_curve("naive-bayes", ROWS, LABELS).sizes == (10, 15, 23, 35, 54, 83, 126, 192)
    big = {"x": np.tile([0.0, 1.0], 4000)}
    assert weigh.learning_curve("threshold", big, np.tile(["a", "b"], 4000)).sizes == (
        50, 100, 200, 400, 800, 1600, 3200, 6400,
    )  # fmt: skip


def test_the_baseline_is_a_constant_prediction() -> None:
    y = np.array(["a"] * 75 + ["b"] * 25)
    result = weigh.learning_curve("naive-bayes", RNG.normal(size=(100, 2)), y).diagnosis.baseline
    assert result.value == pytest.approx(0.25, abs=1e-12)
    result = weigh.learning_curve("linear", ROWS, NUMBERS, folds=4).diagnosis.baseline
    assert result.value == pytest.approx(NUMBERS.var(), rel=0.03)


def test_one_curve_can_be_queried_directly_and_several_by_name() -> None:
    one = weigh.learning_curve("naive-bayes", ROWS, LABELS, loss="squared")
    assert one.law is one["naive-bayes"].law
    assert one.at(500).value == pytest.approx(one.curves[0].at(500).value)
    assert one.size_for(0.5).target == 0.5
    two = weigh.learning_curve(["naive-bayes", "tree"], ROWS, LABELS)
    assert [each.name for each in two] == ["naive-bayes", "tree"]
    with pytest.raises(
        errors.Unsupported, match="There are curves of several learners: 'naive-bayes', 'tree'"
    ):
        two.at(500)
    with pytest.raises(
        errors.ParameterError, match=r"there is no curve of 'three'; .* Did you mean 'tree'\?"
    ):
        two["three"]


def test_extrapolation_without_a_law_raises() -> None:
    curve = weigh.learning_curve("naive-bayes", ROWS, LABELS, sizes=[20, 100])
    assert curve.law is None
    with pytest.raises(
        errors.Unsupported, match="No power law fits the curve of naive-bayes: at least 4 sizes"
    ):
        curve.at(1000)
    assert "no power law: at least 4 sizes are needed, and there are 2" in str(curve)


def test_infinite_losses_are_reported() -> None:
    rows = {"x": list("abcd" * 30), "y": list("nnyy" * 29 + "ynyy")}
    curve = weigh.learning_curve(weigh.NaiveBayes(prior=None), rows, "y", loss="log_loss", folds=3)
    assert curve.diagnosis.verdict == "undecided"
    assert curve.curves[0].no_law == "some losses are infinite"
    assert math.isinf(curve.diagnosis.validation.value)
    json.dumps(curve.to_dict(), allow_nan=False)
    assert "inf" in str(curve)


def test_infinite_losses_are_not_plotted() -> None:
    pytest.importorskip("altair")
    rows = {"x": list("abcd" * 30), "y": list("nnyy" * 29 + "ynyy")}
    learners = {"none": weigh.NaiveBayes(prior=None), "one": weigh.NaiveBayes()}
    curve = weigh.learning_curve(learners, rows, "y", loss="log_loss", folds=3)
    spec = json.dumps(curve.plot().to_dict())
    assert "one, validation" in spec
    assert "Infinity" not in spec


def test_text_and_tables_have_curves_too() -> None:
    texts = [("good fine " if k % 2 else "bad poor ") + f"word{k % 7}" for k in range(60)]
    result = weigh.learning_curve(["naive-bayes", "neighbours"], texts, [k % 2 for k in range(60)])
    assert result["naive-bayes"].diagnosis.verdict == "fine"


def test_it_prints_within_80_columns_and_escapes_names() -> None:
    name = "<b>a very long name of a learner that somebody gave, for reasons unknown to all</b>"
    result = weigh.learning_curve({name: "naive-bayes", "tree": "tree"}, ROWS, LABELS)
    assert max(map(len, str(result).split("\n"))) <= 80
    assert "<b>" not in result._repr_html_()
    assert "&lt;b&gt;" in result._repr_html_()
    json.dumps(result.to_dict(), allow_nan=False)


def test_the_plot_shows_training_and_validation_losses() -> None:
    pytest.importorskip("altair")
    result = weigh.learning_curve(["naive-bayes", "tree"], ROWS, LABELS, loss="squared")
    spec = json.dumps(result.plot().to_dict())
    assert "naive-bayes, validation" in spec
    assert "tree, training" in spec


def test_progress_is_called_after_every_fold() -> None:
    calls: list[tuple[int, int]] = []
    weigh.learning_curve(
        "naive-bayes", ROWS, LABELS, folds=3, repeats=1, progress=lambda *done: calls.append(done)
    )
    assert calls == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"sizes": [5, 500]}, errors.ParameterError, "sizes must be whole numbers of rows from 3 to 192"),
        ({"sizes": [0.5]}, errors.ParameterError, "sizes must be a whole number"),
        ({"sizes": []}, errors.ParameterError, "sizes must be whole numbers of rows from 3 to 192"),
        ({"folds": 1}, errors.ParameterError, "folds must be at least 2, got 1"),
        ({"folds": 500}, errors.DataError, "500 folds need at least 500 rows, got 240"),
        ({"repeats": 0}, errors.ParameterError, "repeats must be at least 1, got 0"),
        ({"level": 95}, errors.ParameterError, "level must be a number between 0 and 1, got 95"),
        ({"loss": "hinge"}, errors.ParameterError, "loss must be for classifiers one of 'zero_one'"),
        ({"loss": "squared_error"}, errors.ParameterError, "loss must be for classifiers one of"),
        ({"n_jobs": 0}, errors.ParameterError, "n_jobs must be a number of workers"),
    ],
)
def test_invalid_settings_raise(settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        weigh.learning_curve("naive-bayes", ROWS, LABELS, **settings)


def test_losses_that_a_learner_does_not_support_raise() -> None:
    with pytest.raises(errors.Unsupported, match="needs probabilities, which 'perceptron' cannot give"):
        weigh.learning_curve(["perceptron", "tree"], ROWS, LABELS, loss="log_loss")
    with pytest.raises(errors.Unsupported, match="are classifiers and regressions"):
        weigh.learning_curve(["linear", "tree"], ROWS, LABELS)
