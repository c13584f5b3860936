"""Rows of features: dense and sparse ones answer alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weigh.learn.linear.matrix import DenseMatrix, InterceptMatrix, SparseMatrix


def compressed(array: Any, ones: bool = False) -> SparseMatrix:
    """Return the same rows in compressed form."""
    held = array != 0
    indptr = np.concatenate([[0], np.cumsum(held.sum(axis=1))]).astype(np.int64)
    return SparseMatrix(
        indptr, np.nonzero(held)[1].astype(np.int32), None if ones else array[held], array.shape[1]
    )


@pytest.fixture(params=[True, False], ids=["ones", "valued"])
def pair(request: pytest.FixtureRequest) -> tuple[DenseMatrix, SparseMatrix]:
    """The same rows twice; some are empty, and so is a feature."""
    rng = np.random.default_rng(2)
    array = rng.integers(-3, 4, (40, 6)) * (rng.random((40, 6)) < 0.5) * (rng.random(40) < 0.8)[:, None]
    array[:, 4] = 0
    array = np.abs(np.sign(array)) if request.param else array
    return DenseMatrix(array.astype(np.float64)), compressed(array.astype(np.float64), request.param)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (0,)])
def test_products_agree(pair: tuple[DenseMatrix, SparseMatrix], shape: tuple[int, ...]) -> None:
    dense, sparse = pair
    rng = np.random.default_rng(4)
    w, r = (rng.integers(-5, 6, (size, *shape)).astype(np.float64) for size in (6, 40))
    np.testing.assert_array_equal(sparse.times(w), dense.times(w))
    np.testing.assert_array_equal(sparse.transposed_times(r), dense.transposed_times(r))
    assert sparse.times(w).shape == (40, *shape)


def test_a_transposed_table_is_a_table(pair: tuple[DenseMatrix, SparseMatrix]) -> None:
    dense, sparse = pair
    w = np.arange(18.0).reshape(3, 6).T
    np.testing.assert_array_equal(sparse.times(w), dense.times(w))


def test_squares_and_products_of_features_agree(pair: tuple[DenseMatrix, SparseMatrix]) -> None:
    dense, sparse = pair
    s = np.random.default_rng(4).integers(0, 3, 40) ** 2.0
    np.testing.assert_array_equal(sparse.squared_times(s), dense.squared_times(s))
    np.testing.assert_allclose(sparse.weighted_gram(s), dense.weighted_gram(s), rtol=1e-14, atol=1e-13)
    np.testing.assert_array_equal(sparse.weighted_gram(None), dense.weighted_gram(None))


def test_long_rows_are_weighed_block_by_block() -> None:
    array = np.random.default_rng(0).normal(size=(5000, 3))
    s = np.arange(5000.0)
    np.testing.assert_allclose(
        DenseMatrix(array).weighted_gram(s), array.T @ (s[:, None] * array), rtol=1e-12, atol=1e-6
    )


def test_columns_agree_and_are_contiguous(pair: tuple[DenseMatrix, SparseMatrix]) -> None:
    which = np.array([5, 0, 4])
    found = [each.dense_columns(which) for each in pair]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], pair[0].array[:, which])
    assert all(each.flags.f_contiguous for each in found)


@pytest.mark.parametrize("which", [[], [3], [0, 4, 5], range(6)])
def test_features_agree(pair: tuple[DenseMatrix, SparseMatrix], which: list[int]) -> None:
    kept = np.isin(np.arange(6), list(which))
    dense, sparse = (each.select_features(kept) for each in pair)
    assert (dense.width, sparse.width) == (len(which), len(which))
    np.testing.assert_array_equal(
        sparse.dense_columns(np.arange(len(which))), dense.dense_columns(np.arange(len(which)))
    )
    w = np.arange(len(which)) + 1.0
    np.testing.assert_array_equal(sparse.times(w), dense.times(w))


def test_a_feature_of_ones_is_one_more_column(pair: tuple[DenseMatrix, SparseMatrix]) -> None:
    longer = DenseMatrix(np.column_stack([pair[0].array, np.ones(40)]))
    s, w, r = np.arange(40.0), np.arange(14.0).reshape(7, 2), np.arange(80.0).reshape(40, 2)
    kept = np.array([True, False, True, False, False, False, True])
    for each in map(InterceptMatrix, pair):
        np.testing.assert_array_equal(each.times(w), longer.times(w))
        np.testing.assert_array_equal(each.transposed_times(r), longer.transposed_times(r))
        np.testing.assert_array_equal(each.squared_times(s), longer.squared_times(s))
        np.testing.assert_allclose(each.weighted_gram(s), longer.weighted_gram(s), atol=1e-12)
        np.testing.assert_array_equal(each.weighted_gram(None), longer.weighted_gram(None))
        np.testing.assert_array_equal(
            each.dense_columns(np.array([6, 2])), longer.dense_columns(np.array([6, 2]))
        )
        np.testing.assert_array_equal(
            each.select_features(kept).times(w[kept]), longer.select_features(kept).times(w[kept])
        )
        np.testing.assert_array_equal(
            each.select_features(~kept).times(w[~kept]), longer.select_features(~kept).times(w[~kept])
        )
        np.testing.assert_array_equal(each.select_rows(s > 30).times(w), longer.select_rows(s > 30).times(w))
        assert each.density == pytest.approx((pair[0].width * each.X.density + 1) / 7)


def test_rows_agree(pair: tuple[DenseMatrix, SparseMatrix]) -> None:
    dense, sparse = pair
    kept = np.random.default_rng(6).random(40) < 0.4
    some = sparse.select_rows(kept)
    again = some.select_rows(np.arange(some.n_rows) % 2 == 0)
    np.testing.assert_array_equal(some.dense_columns(np.arange(6)), dense.select_rows(kept).array)
    np.testing.assert_array_equal(again.dense_columns(np.arange(6)), dense.array[kept][::2])
    assert (some.n_rows, some.width) == (kept.sum(), 6)
