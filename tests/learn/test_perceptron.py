"""Numbers that drown out all others are told."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import weigh
from weigh import errors

TABLE = {
    "grams": [70.5, 180.0, 90.25, 150.75],
    "ripe": [True, False, True, False],
    "fruit": ["a", "b", "a", "b"],
}


def test_a_column_a_hundred_times_larger_is_told_with_what_helps() -> None:
    with pytest.warns(errors.UnlikeScales) as told:
        weigh.Perceptron().fit(TABLE, "fruit")
    assert str(told[0].message) == (
        "Column 'grams' has numbers of up to 180, the other features of up to 1: a perceptron listens to the "
        "largest. Try scale='unit'."
    )


@pytest.mark.parametrize(
    ("rows", "settings"),
    [
        (TABLE, {"scale": "unit"}),
        (TABLE | {"grams": [70.5, 80.0, 90.25, 50.75]}, {}),
        (TABLE | {"other": [1.5, 2.5, 3.5, 4.5]}, {}),
        ({name: TABLE[name] for name in ("grams", "fruit")}, {}),
    ],
)
def test_rescaled_like_or_single_columns_are_not(rows, settings) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weigh.Perceptron(**settings).fit(rows, "fruit")


def test_a_bare_matrix_is_taken_as_it_is() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weigh.Perceptron().fit(np.array([[1.0, 5000.0], [0.5, 3000.0]]), [0, 1])


def test_more_rows_of_a_run_are_not_judged_again() -> None:
    with pytest.warns(errors.UnlikeScales):
        learner = weigh.Perceptron().partial_fit(TABLE, "fruit")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.partial_fit(TABLE, "fruit")
