"""Design matrices: dense and sparse storage give the same results."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.learn.linear.designs import to_sparse
from weigh.learn.linear.matrix import DenseMatrix, InterceptMatrix, SparseMatrix


@pytest.fixture(params=[True, False], ids=["ones", "valued"])
def pair(request: pytest.FixtureRequest) -> tuple[DenseMatrix, SparseMatrix]:
    """The same matrix in both forms, with empty rows and an empty feature."""
    rng = np.random.default_rng(2)
    array = rng.integers(-3, 4, (40, 6)) * (rng.random((40, 6)) < 0.5) * (rng.random(40) < 0.8)[:, None]
    array[:, 4] = 0
    array = np.abs(np.sign(array)) if request.param else array
    sparse = to_sparse(array.astype(np.float64))
    if request.param:
        sparse = SparseMatrix(replace(sparse.rows, values=None))
    return DenseMatrix(array.astype(np.float64)), sparse


@pytest.mark.parametrize("shape", [(), (1,), (3,), (0,)])
def test_dense_and_sparse_products_agree(
    pair: tuple[DenseMatrix, SparseMatrix], shape: tuple[int, ...]
) -> None:
    dense, sparse = pair
    rng = np.random.default_rng(4)
    w, r = (rng.integers(-5, 6, (size, *shape)).astype(np.float64) for size in (6, 40))
    np.testing.assert_array_equal(sparse.times(w), dense.times(w))
    np.testing.assert_array_equal(sparse.transposed_times(r), dense.transposed_times(r))
    assert sparse.times(w).shape == (40, *shape)


def test_a_transposed_argument_is_accepted(pair: tuple[DenseMatrix, SparseMatrix]) -> None:
    dense, sparse = pair
    w = np.arange(18.0).reshape(3, 6).T
    np.testing.assert_array_equal(sparse.times(w), dense.times(w))


def test_squared_sums_and_gram_matrices_agree(pair: tuple[DenseMatrix, SparseMatrix]) -> None:
    dense, sparse = pair
    s = np.random.default_rng(4).integers(0, 3, 40) ** 2.0
    np.testing.assert_array_equal(sparse.squared_times(s), dense.squared_times(s))
    np.testing.assert_allclose(sparse.weighted_gram(s), dense.weighted_gram(s), rtol=1e-14, atol=1e-13)
    np.testing.assert_array_equal(sparse.weighted_gram(None), dense.weighted_gram(None))


def test_the_weighted_gram_of_many_rows_is_summed_over_blocks() -> None:
    array = np.random.default_rng(0).normal(size=(5000, 3))
    s = np.arange(5000.0)
    np.testing.assert_allclose(
        DenseMatrix(array).weighted_gram(s), array.T @ (s[:, None] * array), rtol=1e-12, atol=1e-6
    )


def test_dense_columns_agree_and_are_contiguous(pair: tuple[DenseMatrix, SparseMatrix]) -> None:
    indices = np.array([5, 0, 4])
    result = [matrix.dense_columns(indices) for matrix in pair]
    np.testing.assert_array_equal(result[0], result[1])
    np.testing.assert_array_equal(result[0], pair[0].array[:, indices])
    assert all(columns.flags.f_contiguous for columns in result)


@pytest.mark.parametrize("indices", [[], [3], [0, 4, 5], range(6)])
def test_selected_features_agree(pair: tuple[DenseMatrix, SparseMatrix], indices: list[int]) -> None:
    mask = np.isin(np.arange(6), list(indices))
    dense, sparse = (matrix.select_features(mask) for matrix in pair)
    assert (dense.width, sparse.width) == (len(indices), len(indices))
    np.testing.assert_array_equal(
        sparse.dense_columns(np.arange(len(indices))), dense.dense_columns(np.arange(len(indices)))
    )
    w = np.arange(len(indices)) + 1.0
    np.testing.assert_array_equal(sparse.times(w), dense.times(w))


def test_an_intercept_matrix_equals_an_extra_column_of_ones(pair: tuple[DenseMatrix, SparseMatrix]) -> None:
    extended = DenseMatrix(np.column_stack([pair[0].array, np.ones(40)]))
    s, w, r = np.arange(40.0), np.arange(14.0).reshape(7, 2), np.arange(80.0).reshape(40, 2)
    mask = np.array([True, False, True, False, False, False, True])
    for matrix in map(InterceptMatrix, pair):
        np.testing.assert_array_equal(matrix.times(w), extended.times(w))
        np.testing.assert_array_equal(matrix.transposed_times(r), extended.transposed_times(r))
        np.testing.assert_array_equal(matrix.squared_times(s), extended.squared_times(s))
        np.testing.assert_allclose(matrix.weighted_gram(s), extended.weighted_gram(s), atol=1e-12)
        np.testing.assert_array_equal(matrix.weighted_gram(None), extended.weighted_gram(None))
        np.testing.assert_array_equal(
            matrix.dense_columns(np.array([6, 2])), extended.dense_columns(np.array([6, 2]))
        )
        np.testing.assert_array_equal(
            matrix.select_features(mask).times(w[mask]), extended.select_features(mask).times(w[mask])
        )
        np.testing.assert_array_equal(
            matrix.select_features(~mask).times(w[~mask]), extended.select_features(~mask).times(w[~mask])
        )
        np.testing.assert_array_equal(
            matrix.select_rows(s > 30).times(w), extended.select_rows(s > 30).times(w)
        )
        assert matrix.density == pytest.approx((pair[0].width * matrix.X.density + 1) / 7)


def test_selected_rows_agree(pair: tuple[DenseMatrix, SparseMatrix]) -> None:
    dense, sparse = pair
    mask = np.random.default_rng(6).random(40) < 0.4
    selected = sparse.select_rows(mask)
    again = selected.select_rows(np.arange(selected.n_rows) % 2 == 0)
    np.testing.assert_array_equal(selected.dense_columns(np.arange(6)), dense.select_rows(mask).array)
    np.testing.assert_array_equal(again.dense_columns(np.arange(6)), dense.array[mask][::2])
    assert (selected.n_rows, selected.width) == (mask.sum(), 6)
