"""Curves of classes over one column, and the boundaries of maximum likelihood and maximum a posteriori."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import weigh
from weigh import errors

HEIGHTS = {"height": [1.5, 2.2, 1.8, 1.2, 0.9], "giraffe": [True, True, True, False, False]}


def animals(deviation: float) -> Any:
    return weigh.BayesModel.from_parameters(
        class_prior={"Dog": 0.95, "Horse": 0.05},
        columns={"speed": {"Dog": (5.0, deviation), "Horse": (11.5, deviation)}},
    )


@pytest.mark.parametrize("deviation", [1.0, 1.2867, 2.0])
def test_the_boundaries_of_horses_and_dogs_are_those_of_the_closed_form(deviation: float) -> None:
    curves = weigh.regions(animals(deviation), {"speed": [0.0, 16.0]})
    expected = {"MAP": 8.25 + deviation**2 * math.log(19) / 6.5, "ML": 8.25}
    assert {each.rule: each.x for each in curves.boundaries} == pytest.approx(expected, abs=1e-10)
    assert {(each.below, each.above) for each in curves.boundaries} == {("Dog", "Horse")}


def test_the_curves_are_densities_and_probabilities() -> None:
    curves = weigh.class_curves(animals(1.0), {"speed": [0.0, 16.0]})
    bells = [np.exp(-0.5 * (curves.x - mean) ** 2) / math.sqrt(2 * math.pi) for mean in (5.0, 11.5)]
    np.testing.assert_allclose(curves.heights("likelihood"), np.transpose(bells), rtol=1e-12)
    joint = np.transpose(bells) * [0.95, 0.05]
    np.testing.assert_allclose(curves.heights(), joint, rtol=1e-12)
    np.testing.assert_allclose(
        curves.heights("probability"), joint / joint.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-300
    )


def test_a_threshold_on_heights_has_its_cut_as_boundary() -> None:
    curves = weigh.regions(weigh.Threshold().fit(HEIGHTS, "giraffe"), HEIGHTS)
    assert [(each.rule, each.x, each.below, each.above) for each in curves.boundaries] == [
        ("MAP", 1.35, False, True)
    ]
    assert (curves.errors, curves.quantities) == (0, ("probability",))


def test_the_boundary_of_a_logistic_regression_is_where_its_sigmoid_is_one_half() -> None:
    fitted = weigh.LogisticRegression(scale=None).fit(HEIGHTS, "giraffe")
    (boundary,) = weigh.regions(fitted, HEIGHTS).boundaries
    assert boundary.x == pytest.approx(float(-fitted.intercept_[0] / fitted.coef_[0, 0]), abs=1e-10)


def test_a_perceptron_has_scores_and_a_scikit_learn_classifier_probabilities() -> None:
    from sklearn.tree import DecisionTreeClassifier

    scores = weigh.regions(weigh.Perceptron().fit(HEIGHTS, "giraffe"), HEIGHTS)
    assert scores.quantities == ("score",)
    X = np.array(HEIGHTS["height"])[:, None]
    tree = weigh.regions(DecisionTreeClassifier().fit(X, HEIGHTS["giraffe"]), X, HEIGHTS["giraffe"])
    assert [each.x for each in tree.boundaries] == [pytest.approx(1.35)]


def test_a_classifier_of_several_columns_is_shown_over_one_with_the_others_fixed() -> None:
    table = HEIGHTS | {"legs": [4.0, 4.0, 4.0, 6.0, 8.0]}
    fitted = weigh.NaiveBayes().fit(table, "giraffe")
    curves = weigh.class_curves(fitted, table, across="height", hold={"legs": 8.0})
    assert curves.held == {"legs": 8.0}
    rows = {"height": curves.x, "legs": [8.0] * len(curves.x)}
    np.testing.assert_array_equal(curves.scores, fitted.model_.scores(rows))


def test_the_number_of_grid_points_of_regions_is_that_of_the_curves() -> None:
    fitted = weigh.Threshold().fit(HEIGHTS, "giraffe")
    assert [len(weigh.regions(fitted, HEIGHTS, **cells).x) for cells in ({"cells": 7}, {})] == [7, 240]


def test_a_single_class_has_a_curve_and_no_boundary() -> None:
    lone = {"height": [1.5, 2.2, 1.8], "giraffe": [True] * 3}
    curves = weigh.class_curves(weigh.NaiveBayes().fit(lone, "giraffe"), lone)
    assert curves.boundaries == ()
    assert curves.plot("likelihood").to_dict()["layer"][0]["encoding"]["y"]["title"] == "p(x | True)"


def test_invalid_arguments_are_rejected() -> None:
    curves = weigh.regions(weigh.Threshold().fit(HEIGHTS, "giraffe"), HEIGHTS)
    with pytest.raises(errors.ParameterError, match="which must be one of 'probability', got 'density'"):
        curves.plot("density")
    coloured = {"colour": ["u", "v"], "y": [0, 1]}
    named = HEIGHTS | {"colour": list("uvuvu")}
    with pytest.raises(errors.ColumnError, match="class_curves needs numeric columns, but 'colour' is a"):
        weigh.class_curves(weigh.NaiveBayes().fit(named, "giraffe"), named, across="colour")
    with pytest.raises(errors.ColumnError, match="class_curves needs a numeric column"):
        weigh.class_curves(weigh.NaiveBayes().fit(coloured, "y"), coloured)
