"""Labels that are measured: numbers of any storage, and refusals of what is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from weigh import errors
from weigh.learn.dataset import numeric_targets
from weigh.source import Chunk, rows


def chunk(labels: Any, first_row: int = 0) -> Chunk:
    return Chunk({"a": np.zeros(len(labels))}, len(labels), labels=labels, first_row=first_row)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([1.0, 2.0, -3.0]),
        np.array([1, 2, -3], dtype=np.int8),
        np.array([1, 2, -3], dtype=np.float32),
        np.array([0, 1.0, 0, 2.0, 0, -3.0])[1::2],
        pa.array([1.0, 2.0, -3.0]),
        pa.array([1, 2, -3]),
    ],
)
def test_numbers_of_any_storage_are_floats_in_a_row(labels: Any) -> None:
    found = numeric_targets(chunk(labels))
    assert found.dtype == np.float64
    assert found.flags.c_contiguous
    assert found.tolist() == [1.0, 2.0, -3.0]


def test_truths_are_ones_and_zeros() -> None:
    assert numeric_targets(chunk(np.array([True, False]))).tolist() == [1.0, 0.0]


def test_numbers_of_a_column_are_read() -> None:
    (found,) = rows({"a": [1, 2], "y": [0.5, 2]}, "y").chunks()
    assert numeric_targets(found).tolist() == [0.5, 2.0]


def test_no_labels_are_refused() -> None:
    with pytest.raises(errors.LabelError) as refused:
        numeric_targets(Chunk({"a": np.zeros(2)}, 2))
    assert str(refused.value) == (
        "There is nothing to learn to predict. Give the name of the label column, or y: one number per row."
    )


def test_words_are_refused_with_the_way_out() -> None:
    with pytest.raises(errors.LabelError) as refused:
        numeric_targets(chunk(np.array(["low", "high"])))
    assert str(refused.value) == (
        "A regression predicts numbers, and some label is none: 'low'. For classes use LogisticRegression, "
        "NaiveBayes or Perceptron."
    )


def test_missing_labels_are_counted_and_the_first_is_named() -> None:
    with pytest.raises(errors.LabelError) as refused:
        numeric_targets(chunk(np.array([1.0, np.nan, 2.0, np.nan]), first_row=1000))
    assert str(refused.value) == (
        "The label is missing (NaN) in 2 of 4 rows (first: row 1,001). Leave such rows out before fitting."
    )


def test_numbers_beyond_squares_are_refused() -> None:
    with pytest.raises(errors.LabelError) as refused:
        numeric_targets(chunk(np.array([1.0, -1e150])))
    assert str(refused.value) == (
        "A label has the size 1e+150; beyond 1e+100 the square of a number is none any more. Divide the "
        "labels by their largest."
    )
