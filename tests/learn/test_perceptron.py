"""The warning about columns of very different scales."""

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


def test_a_column_a_hundred_times_larger_causes_a_warning_with_advice() -> None:
    with pytest.warns(errors.UnlikeScales) as caught:
        weigh.Perceptron().fit(TABLE, "fruit")
    assert str(caught[0].message) == (
        "Column 'grams' has numbers of up to 180, the other features of up to 1, so the perceptron mostly "
        "learns from this column. Try scale='unit'."
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
def test_rescaled_similar_or_single_columns_cause_no_warning(rows, settings) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weigh.Perceptron(**settings).fit(rows, "fruit")


def test_a_matrix_without_names_causes_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weigh.Perceptron().fit(np.array([[1.0, 5000.0], [0.5, 3000.0]]), [0, 1])


def test_further_batches_cause_no_second_warning() -> None:
    with pytest.warns(errors.UnlikeScales):
        learner = weigh.Perceptron().partial_fit(TABLE, "fruit")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.partial_fit(TABLE, "fruit")
