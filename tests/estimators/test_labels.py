"""Labels that classifiers and regressions refuse, whatever contains them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import weigh
from weigh import errors

X = np.arange(24.0).reshape(12, 2) % 7
FRACTIONS = np.arange(12) * 0.5
CLASSIFIERS = [
    weigh.NaiveBayes(),
    weigh.JointBayes(),
    weigh.Perceptron(),
    weigh.LogisticRegression(),
    weigh.LogisticRegression(method="online"),
    weigh.Threshold(),
]
CONTINUOUS = {
    "array": FRACTIONS,
    "single precision": FRACTIONS.astype(np.float32),
    "objects": FRACTIONS.astype(object),
    "list": FRACTIONS.tolist(),
    "fractions": [Fraction(k, 3) for k in range(12)],
    "pandas": pd.Series(FRACTIONS),
    "pandas with missing values": pd.Series(FRACTIONS, dtype="Float64"),
    "pandas categories": pd.Series(FRACTIONS).astype("category"),
    "polars": pl.Series(FRACTIONS),
    "Arrow": pa.array(FRACTIONS),
    "Arrow dictionary": pa.array(FRACTIONS).dictionary_encode(),
}


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("learner", CLASSIFIERS, ids=lambda each: type(each).__name__)
def test_a_classifier_refuses_continuous_labels(learner: Any, name: str) -> None:
    labels = CONTINUOUS[name]
    for fit in (
        lambda: learner.fit(X, labels),
        lambda: learner.fit({"x": X[:, 0], "y": labels}, "y"),
    ):
        with pytest.raises(ValueError, match=r"^Unknown label type: continuous\. .* such as 0\.") as caught:
            fit()
        assert isinstance(caught.value, errors.LabelError)
        assert str(caught.value).endswith(
            "To predict numbers, use LinearRegression; for classes, give the labels as strings."
        )


def test_continuous_labels_of_a_file_and_of_a_batch_are_refused(tmp_path: Any) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,0.5\n2,1.5\n3,2.5\n")
    with pytest.raises(errors.LabelError, match="Unknown label type: continuous"):
        weigh.NaiveBayes().fit(weigh.open(path, label="y"))
    with pytest.raises(errors.LabelError, match="Unknown label type: continuous"):
        weigh.NaiveBayes().partial_fit(X, FRACTIONS)


@pytest.mark.parametrize("make", [np.array, pd.Series, pl.Series, pa.array, list])
def test_whole_numbers_stored_as_floats_are_classes(make: Any) -> None:
    labels = [1.0, 2.0] * 6
    assert weigh.NaiveBayes().fit(X, make(labels)).classes_.tolist() == [1, 2]
    assert weigh.NaiveBayes().fit({"x": X[:, 0], "y": make(labels)}, "y").classes_.tolist() == [1, 2]


@pytest.mark.parametrize(
    "learner", [*CLASSIFIERS, weigh.LinearRegression()], ids=lambda each: type(each).__name__
)
@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        (sp.csr_matrix(FRACTIONS[:, None]), "Sparse data was passed for y"),
        (sp.coo_array(FRACTIONS), "Sparse data was passed for y"),
        (np.array([1j, 2] * 6), "Complex data not supported"),
        ([1j, 2] * 6, "Complex data not supported"),
        (pd.Series(np.array([1j, 2] * 6)), "Complex data not supported"),
        (np.array([1j, 2] * 6).astype(object), "Complex data not supported"),
        (np.array(3), "y cannot be read as one label per row: y should be a 1d array"),
        (np.zeros((12, 2, 2)), "y cannot be read as one label per row: Found array with dim 3"),
        (pl.Series([2**100] * 12, dtype=pl.Int128), "Column 'label' cannot be read"),
        (np.zeros(12, [("a", float)]), r"Column 'label' has NumPy type|y cannot be read"),
        (np.zeros(12, "V4"), r"Column 'label' has NumPy type"),
        ([b"\xff", b"a"] * 6, "bytes that are not UTF-8 text"),
    ],
)
def test_labels_without_a_reading_are_errors_of_weigh(learner: Any, labels: Any, problem: str) -> None:
    with pytest.raises(errors.DataError, match=problem):
        learner.fit(X, labels)


@pytest.mark.parametrize("make", [pl.Series, pa.array, pd.Series])
def test_nan_labels_are_missing_in_every_container(make: Any) -> None:
    with pytest.raises(errors.LabelError, match=r"missing in 1 of the first 12 rows|Input y contains NaN"):
        weigh.NaiveBayes().fit(X, make([1.0, 2.0] * 5 + [1.0, np.nan]))


@pytest.mark.parametrize("learner", [weigh.NaiveBayes(), weigh.LinearRegression()])
def test_missing_labels_are_counted_over_stated_rows(learner: Any) -> None:
    n = 32_561
    labels = np.ones(n, dtype=object)
    labels[17] = None
    with pytest.raises(errors.LabelError) as caught:
        learner.fit({"x": np.arange(n) % 5 * 1.0, "y": labels}, "y")
    message = str(caught.value)
    assert f"in 1 of the first {n:,} rows (first: row 17)" in message


def test_missing_labels_of_a_later_chunk_are_counted_over_its_rows() -> None:
    n = 70_000
    labels = np.array(["a", "b"] * (n // 2), dtype=object)
    labels[69_000:69_002] = None
    with pytest.raises(errors.LabelError) as caught:
        weigh.NaiveBayes(threads=1).fit({"x": np.arange(n) % 5 * 1.0, "y": labels}, "y")
    assert str(caught.value) == (
        "The label is missing in 2 of rows 65,536 to 69,999 (first: row 69,000). Leave such rows out; of "
        "a file, weigh.open(..., drop_missing_labels=True) does that."
    )
