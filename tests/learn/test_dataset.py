"""Numeric targets: conversion from any storage, and errors for labels that are not numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from weigh import errors
from weigh.learn.chunk_encoder import numeric_targets
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
def test_numbers_of_any_storage_become_contiguous_floats(labels: Any) -> None:
    targets = numeric_targets(chunk(labels))
    assert targets.dtype == np.float64
    assert targets.flags.c_contiguous
    assert targets.tolist() == [1.0, 2.0, -3.0]


def test_booleans_become_ones_and_zeros() -> None:
    assert numeric_targets(chunk(np.array([True, False]))).tolist() == [1.0, 0.0]


def test_numbers_of_a_column_are_read() -> None:
    (chunk_read,) = rows({"a": [1, 2], "y": [0.5, 2]}, "y").chunks()
    assert numeric_targets(chunk_read).tolist() == [0.5, 2.0]


def test_missing_targets_are_an_error() -> None:
    with pytest.raises(errors.LabelError) as excinfo:
        numeric_targets(Chunk({"a": np.zeros(2)}, 2))
    assert str(excinfo.value) == (
        "There are no targets to learn from. Give the name of the label column, or y: one number per row."
    )


def test_non_numeric_labels_are_an_error_with_advice() -> None:
    with pytest.raises(errors.LabelError) as excinfo:
        numeric_targets(chunk(np.array(["low", "high"])))
    assert str(excinfo.value) == (
        "A regression predicts numbers, but the label 'low' is not a number. For classes use "
        "LogisticRegression, NaiveBayes or Perceptron."
    )


def test_missing_labels_are_counted_in_the_error() -> None:
    with pytest.raises(errors.LabelError) as excinfo:
        numeric_targets(chunk(np.array([1.0, np.nan, 2.0, np.nan]), first_row=1000))
    assert str(excinfo.value) == (
        "The label is missing (NaN) in 2 of rows 1,000 to 1,003 (first: row 1,001). Leave such rows "
        "out; of a file, weigh.open(..., drop_missing_labels=True) does that."
    )


def test_labels_whose_squares_overflow_are_an_error() -> None:
    with pytest.raises(errors.LabelError) as excinfo:
        numeric_targets(chunk(np.array([1.0, -1e150])))
    assert str(excinfo.value) == (
        "A label has the magnitude 1e+150; squares of numbers above 1e+100 overflow. Divide the labels by "
        "the largest magnitude."
    )
