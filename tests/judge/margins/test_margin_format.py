"""A margin as text, plain data and HTML, and what it refuses."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from tests.judge.margins.designs import XOR, make_design, separable

from weigh import errors
from weigh.judge.margins.margin import margin
from weigh.judge.margins.margin_format import LINE_WIDTH
from weigh.learn.design_matrix import DesignMatrix


def test_one_class_is_refused():
    with pytest.raises(errors.DataError) as refusal:
        margin(make_design([[1], [2]], [0, 0], ["spam"]))
    assert str(refusal.value) == (
        "margin needs rows of two classes, got 2 of one: 'spam'. Add rows of another class, or check that y "
        "names the label column."
    )


def test_three_classes_are_refused_with_two_ways_to_ask():
    with pytest.raises(errors.DataError) as refusal:
        margin(make_design([[1], [2], [3]], [0, 1, 2], ["a", "b", "c"]))
    assert str(refusal.value) == (
        "margin needs rows of two classes, got 3: 'a', 'b', 'c'. Ask for one class against the rest, with "
        "[label == 'a' for label in y] as y, or for a pair, with the rows of two classes only."
    )


def test_a_class_without_rows_does_not_count():
    found = margin(make_design([[1], [4]], [0, 2], ["a", "b", "c"]))
    assert found.classes == ("a", "c")


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_values_that_are_no_numbers_are_refused(value):
    with pytest.raises(errors.DataError, match="needs finite numbers; the values contain nan or infinity"):
        margin(make_design([[1], [value]], [0, 1]))


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"tol": 0.0}, "margin: tol must be above 0 and below 1, got 0.0."),
        ({"max_iter": 0}, "margin: max_iter must be at least 1, got 0."),
    ],
)
def test_bad_parameters_are_refused(parameters, told):
    with pytest.raises(errors.ParameterError) as refusal:
        margin(make_design([[1], [4]], [0, 1]), **parameters)
    assert str(refusal.value) == told


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

Both means are the same point, exactly, so no plane parts the classes. Radius
1.732 with the constant 1, 1.414 without."""
    assert str(margin(make_design(XOR, [0, 1, 1, 0]))) == text


def test_long_names_and_many_rows_stay_within_eighty_columns():
    rng = np.random.default_rng(0)
    for codes in (rng.integers(0, 2, 300), None):
        X, parted = separable(rng, 300, 40)
        rows = make_design(X, parted if codes is None else codes, ["a long name of a class " * 4, "b" * 90])
        found = margin(
            DesignMatrix(["feature " * 20 + str(j) for j in range(40)], *list(vars(rows).values())[1:])
        )
        assert max(map(len, str(found).splitlines())) <= LINE_WIDTH


@pytest.mark.parametrize("codes", [[0, 0, 0, 1], [0, 1, 1, 0]])
def test_the_result_is_plain_data_and_html(codes):
    found = margin(make_design(XOR, codes, [False, True]))
    data = json.loads(json.dumps(found.to_dict()))
    assert data["separable"] is found.separable
    assert data["classes"] == [False, True]
    assert found._repr_html_().count("<table ") == (2 if found.separable else 1)
    if found.separable:
        assert data["exact"]["distance_square"] == "1/8"
        assert data["distance"]["w"] == dict(found.distance.w)
    else:
        assert data["proof"]["first"] == {"0": "1/2", "3": "1/2"}
