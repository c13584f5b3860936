"""A margin as text, JSON and HTML, and invalid input."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tests.judge.margins.designs import XOR, make_design, separable
from weigh import errors
from weigh.judge.margins.margin import margin
from weigh.learn.design_matrix import DesignMatrix
from weigh.result import LINE_WIDTH


def test_one_class_is_rejected():
    with pytest.raises(errors.DataError) as error:
        margin(make_design([[1], [2]], [0, 0], ["spam"]))
    assert str(error.value) == (
        "margin needs rows of two classes, got 2 of one: 'spam'. Add rows of another class, or check that y "
        "names the label column."
    )


def test_three_classes_are_rejected_with_advice():
    with pytest.raises(errors.DataError) as error:
        margin(make_design([[1], [2], [3]], [0, 1, 2], ["a", "b", "c"]))
    assert str(error.value) == (
        "margin needs rows of two classes, got 3: 'a', 'b', 'c'. Compare one class with the rest, with "
        "[label == 'a' for label in y] as y, or give only the rows of two classes."
    )


def test_a_class_without_rows_does_not_count():
    result = margin(make_design([[1], [4]], [0, 2], ["a", "b", "c"]))
    assert result.classes == ("a", "c")


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_non_finite_values_are_rejected(value):
    with pytest.raises(errors.DataError, match="needs finite numbers; the values contain nan or infinity"):
        margin(make_design([[1], [value]], [0, 1]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tol": 0.0}, "margin: tol must be above 0 and below 1, got 0.0."),
        ({"max_iter": 0}, "margin: max_iter must be at least 1, got 0."),
    ],
)
def test_invalid_parameters_are_rejected(parameters, message):
    with pytest.raises(errors.ParameterError) as error:
        margin(make_design([[1], [4]], [0, 1]), **parameters)
    assert str(error.value) == message


def test_a_separable_result_prints_both_margins():
    text = """\
Margin of 2 rows, 1 feature, 'a' (−) against 'b' (+): separable.

  margin         at least       at most  squared  support
  distance            1.5           1.5      9/4   2 rows
  augmented  0.5570860145  0.5570860145     9/29   2 rows

  weight  distance  augmented
  x0       +1.0000    +0.3714
  bias     −2.5000    −0.9285

Radius 4.123 with the constant 1, 4 without."""
    assert str(margin(make_design([[1], [4]], [0, 1]))) == text


def test_an_inseparable_result_prints_its_proof():
    text = """\
Margin of 4 rows, 2 features, 'a' (−) against 'b' (+): not separable.

  class  row  weight
  'a'      0     1/2
  'a'      3     1/2
  'b'      1     1/2
  'b'      2     1/2

With these weights both classes have the same mean, exactly, so no plane
separates them. Radius 1.732 with the constant 1, 1.414 without."""
    assert str(margin(make_design(XOR, [0, 1, 1, 0]))) == text


def test_long_names_and_many_rows_stay_within_eighty_columns():
    rng = np.random.default_rng(0)
    for codes in (rng.integers(0, 2, 300), None):
        X, separable_codes = separable(rng, 300, 40)
        rows = make_design(
            X, separable_codes if codes is None else codes, ["a long name of a class " * 4, "b" * 90]
        )
        result = margin(
            DesignMatrix(["feature " * 20 + str(j) for j in range(40)], *list(vars(rows).values())[1:])
        )
        assert max(map(len, str(result).splitlines())) <= LINE_WIDTH


@pytest.mark.parametrize("codes", [[0, 0, 0, 1], [0, 1, 1, 0]])
def test_the_result_converts_to_json_and_html(codes):
    result = margin(make_design(XOR, codes, [False, True]))
    data = json.loads(json.dumps(result.to_dict()))
    assert data["separable"] is result.separable
    assert data["classes"] == [False, True]
    assert result._repr_html_().count("<table ") == (2 if result.separable else 1)
    if result.separable:
        assert data["exact"]["distance_square"] == "1/8"
        assert data["distance"]["w"] == dict(result.distance.w)
    else:
        assert data["proof"]["first"] == {"0": "1/2", "3": "1/2"}
