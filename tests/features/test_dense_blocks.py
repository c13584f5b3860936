"""Numbers side by side: a matrix is taken as it is, and anything else is put together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weigh import errors
from weigh.features.blocks import DenseBlock
from weigh.features.kinds import find_base_matrix
from weigh.features.validation import clean_dense_block
from weigh.source.chunk import MatrixColumns

X = np.arange(24.0).reshape(6, 4)


def columns_of(matrix: Any) -> dict[str, Any]:
    return {f"x{j}": matrix[:, j] for j in range(matrix.shape[1])}


MATRICES: dict[str, Any] = {
    "rows after each other": X,
    "columns after each other": np.asfortranarray(X),
    "every other column": X[:, ::2],
    "every other row": X[::2],
    "backwards": X[::-1, ::-1],
    "single precision": X.astype(np.float32),
    "truths": X > 5,
    "one column": X[:, :1],
}


@pytest.mark.parametrize("which", MATRICES)
def test_columns_of_one_matrix_are_encoded_without_a_copy(which: str) -> None:
    matrix = MATRICES[which]
    for table in (columns_of(matrix), MatrixColumns(matrix, [f"x{j}" for j in range(matrix.shape[1])])):
        found = find_base_matrix(table, list(table))
        np.testing.assert_array_equal(found, matrix)
        assert np.shares_memory(found, matrix)


def test_views_of_columns_are_read_only() -> None:
    found = find_base_matrix(columns_of(X), ["x0", "x1"])
    with pytest.raises(ValueError, match="read-only"):
        found[0, 0] = 1


OTHERS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "another order": ({"a": X[:, 0], "b": X[:, 2], "c": X[:, 1]}, ["a", "b", "c"]),
    "another matrix": ({"a": X[:, 0], "b": X.copy()[:, 1]}, ["a", "b"]),
    "columns of their own": ({"a": np.ones(3), "b": np.ones(3)}, ["a", "b"]),
    "another type": ({"a": X[:, 0], "b": X[:, 1].astype(int)}, ["a", "b"]),
    "another step": ({"a": X[::2, 0], "b": X[:3, 1]}, ["a", "b"]),
    "lists": ({"a": [1.0, 2.0], "b": [3.0, 4.0]}, ["a", "b"]),
    "words": ({"a": np.array([["x", "y"]])[:, 0], "b": np.array([["x", "y"]])[:, 1]}, ["a", "b"]),
    "a list in the middle": ({"a": X[:, 0], "b": [1.0] * 6, "c": X[:, 2]}, ["a", "b", "c"]),
}


@pytest.mark.parametrize("which", OTHERS)
def test_unrelated_columns_have_no_base_matrix(which: str) -> None:
    assert find_base_matrix(*OTHERS[which]) is None


def test_a_subset_of_matrix_columns_keeps_the_requested_order() -> None:
    table = MatrixColumns(X, ["a", "b", "c", "d"])
    for names in (["b", "c"], ["d", "c", "b"], ["a", "c"]):
        places = ["abcd".index(name) for name in names]
        np.testing.assert_array_equal(find_base_matrix(table, names), X[:, places])


def test_missing_values_are_zeros_and_counted_per_row() -> None:
    matrix = np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, 3.0]])
    grid = clean_dense_block(DenseBlock(matrix, ["a", "b"]))
    np.testing.assert_array_equal(grid.matrix, [[1, 0], [0, 0], [2, 3]])
    assert grid.count_missing() == 3
    kept = np.array([True, False, True])
    assert grid.count_missing(kept) == 1
    assert grid.where(kept).count_missing() == 1
    assert [grid.row(i).count_missing() for i in range(3)] == [1, 2, 0]
    assert np.isnan(matrix).sum() == 3
    whole = clean_dense_block(DenseBlock(X, ["a", "b", "c", "d"]))
    assert (whole.count_missing(), whole.row(1).count_missing(), whole.missing) == (0, 0, None)
    assert whole.matrix is X


def test_a_dense_block_has_the_same_values_in_sparse_rows() -> None:
    matrix = np.array([[0.0, 2.0], [0.0, 0.0], [3.0, 4.0]])
    entries = DenseBlock(np.asfortranarray(matrix), ["a", "b"]).to_sparse().rows
    assert entries.indptr.tolist() == [0, 1, 1, 3]
    assert entries.indices.tolist() == [1, 0, 1]
    assert entries.values is not None
    assert entries.values.tolist() == [2.0, 3.0, 4.0]


@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_whose_squares_overflow_or_underflow_are_rejected(order: Any) -> None:
    wrong = np.array([[1.0, 2.0, 3.0], [1.0, np.inf, np.nan]], order=order)
    with pytest.raises(errors.ColumnError) as refused:
        clean_dense_block(DenseBlock(wrong, ["a", "b", "c"]))
    assert str(refused.value) == (
        "Column 'b' contains infinity (inf). Replace it by a finite number, or by NaN if the value is "
        "missing."
    )
    for size, said in ((1e101, "above 1e+100"), (1e-101, "below 1e-100")):
        with pytest.raises(errors.DataError, match=said.replace("+", r"\+")):
            clean_dense_block(DenseBlock(np.full((2, 2), size), ["a", "b"]))
