"""scikit-learn's estimator checks, each as one test."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import weigh

LEARNERS = [
    weigh.NaiveBayes(),
    weigh.JointBayes(),
    weigh.Threshold(),
    weigh.NaiveBayes(prior=None, threads=1),
    weigh.NaiveBayes(columns="count"),
    weigh.NaiveBayes(class_prior="uniform", number=weigh.Number(spread="shared")),
    weigh.NaiveBayes(calibration="auto"),
    weigh.NaiveBayes(calibration="temperature"),
    weigh.NaiveBayes(calibration="platt"),
    weigh.NaiveBayes(calibration="isotonic"),
    weigh.Perceptron(),
    weigh.Perceptron("voted", multiclass="one-vs-rest"),
    weigh.Perceptron("last", margin=0.1, relative=True, shuffle=False, class_weight="balanced"),
    weigh.Perceptron("lazy", record=True, scale="unit", rate=0.5, max_iter=5),
    weigh.LinearRegression(),
    weigh.LinearRegression(weigh.Normal(2), weigh.Normal(1), bias=False),
    weigh.LinearRegression(weigh.Penalty(l1=0.1, l2=0.1), scale="unit"),
    weigh.LinearRegression(weigh.Penalty(l1=0.1), noise="laplace"),
    weigh.LogisticRegression(),
    weigh.LogisticRegression(weigh.Laplace(1), class_weight="balanced"),
    weigh.LogisticRegression(method="online"),
    weigh.LogisticRegression(curves="auto"),
    weigh.LogisticRegression(curves="auto", pairs=2, class_weight="balanced"),
    weigh.LinearRegression(curves="auto", pairs="auto"),
]
# For a learner that updates row by row, a weight is not equivalent to repetition.
SAMPLE_WEIGHT_CHECKS = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    "a row of weight 2 is one larger step, not two steps",
)


CURVE_CHECKS = {
    "check_sample_weight_equivalence_on_dense_data": (
        "the cells and strengths of curves are chosen by the number of rows, whatever their weights"
    )
}


def is_online(learner: Any) -> bool:
    return isinstance(learner, weigh.Perceptron) or getattr(learner, "method", "") == "online"


# The random tables of the checks are too small for a joint table, which warns.
@pytest.mark.filterwarnings("ignore::weigh.errors.UnfilledTable")
# Scores for random labels are useless, and partial_fit drops the calibration; both cause warnings.
@pytest.mark.filterwarnings("ignore::weigh.errors.UselessScores")
@pytest.mark.filterwarnings("ignore::weigh.errors.FlatColumns")
@pytest.mark.filterwarnings("ignore::weigh.errors.StaleCalibration")
@parametrize_with_checks(LEARNERS, expected_failed_checks=weigh.expected_failed_checks)
def test_the_learner_passes_the_check(estimator: Any, check: Any) -> None:
    check(estimator)


def test_only_the_expected_checks_fail() -> None:
    for learner in LEARNERS:
        has_curves = getattr(learner, "curves", None) is not None
        expected = SAMPLE_WEIGHT_CHECKS if is_online(learner) else CURVE_CHECKS if has_curves else {}
        assert weigh.expected_failed_checks(learner) == expected


def test_expected_failures_are_declared_by_the_class_with_a_reason() -> None:
    class Odd(weigh.NaiveBayes):
        _failed_checks = {"check_odd": "because"}  # noqa: RUF012

    assert weigh.expected_failed_checks(Odd()) == {"check_odd": "because"}


@pytest.mark.parametrize(
    ("columns", "is_positive_only"),
    [
        ("count", True),
        (weigh.Count(), True),
        ({"a": "count", "b": weigh.Count()}, False),  # there may be other columns
        (weigh.NaiveBayes("count").fit([[1, 2], [3, 4]], [0, 1]).schema_, True),
        ({"a": "count", "b": "number"}, False),
        ({}, False),
        ("auto", False),
        ("flag", False),
        ("number", False),
        (weigh.Text(), False),
    ],
)
@pytest.mark.parametrize("learner", [weigh.NaiveBayes, weigh.Perceptron, weigh.LogisticRegression])
def test_learners_of_counts_declare_that_numbers_are_not_negative(
    learner: Any, columns: Any, is_positive_only: bool
) -> None:
    assert learner(columns=columns).__sklearn_tags__().input_tags.positive_only == is_positive_only
