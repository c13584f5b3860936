"""Products of sparse rows against NumPy, on shapes of all sorts and on several threads."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from weigh import _core

SHAPES = [(0, 3), (1, 1), (7, 4), (200, 9), (3000, 120)]  # the last one is long enough for two threads


@pytest.fixture(params=SHAPES, ids=str)
def shape(request: pytest.FixtureRequest) -> tuple[int, int]:
    return request.param  # type: ignore[no-any-return]  # pytest's request carries no types


@pytest.fixture(params=[True, False], ids=["valued", "ones"])
def rows(request: pytest.FixtureRequest, shape: tuple[int, int]) -> tuple[Any, Any]:
    """Compressed rows of which some are empty, and the same with all zeros."""
    rng = np.random.default_rng(3)
    filled = (rng.random(shape) < 0.6) & (rng.random(shape[0]) < 0.9)[:, None]
    dense = np.where(filled, rng.integers(-4, 5, shape) if request.param else 1, 0).astype(np.float64)
    indptr = np.concatenate([[0], np.cumsum(filled.sum(axis=1))]).astype(np.int64)
    values = dense[filled] if request.param else None
    return (indptr, np.nonzero(filled)[1].astype(np.int32), values), dense


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("columns", [1, 3])
def test_products_are_those_of_the_dense_rows(rows: tuple[Any, Any], threads: int, columns: int) -> None:
    held, dense = rows
    rng = np.random.default_rng(5)
    w = rng.integers(-9, 9, (dense.shape[1], columns)).astype(np.float64)
    r = rng.integers(-9, 9, (dense.shape[0], columns)).astype(np.float64)
    scores, sums = np.full((dense.shape[0], columns), np.nan), np.full((dense.shape[1], columns), np.nan)
    _core.sparse_times(*held, w, threads, scores)
    _core.sparse_transposed_times(*held, r, threads, sums)
    np.testing.assert_array_equal(scores, dense @ w)
    np.testing.assert_array_equal(sums, dense.T @ r)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_squares_and_products_of_features_are_those_of_the_dense_rows(
    rows: tuple[Any, Any], threads: int
) -> None:
    held, dense = rows
    s = np.random.default_rng(5).integers(0, 9, len(dense)).astype(np.float64)
    squares = np.full(dense.shape[1], np.nan)
    _core.sparse_squared_times(*held, s, threads, squares)
    np.testing.assert_array_equal(squares, s @ dense**2)
    places = np.arange(dense.shape[1], dtype=np.int32)[::-1].copy()
    places[0] = -1
    gram = np.full((dense.shape[1] - 1, dense.shape[1] - 1), np.nan)
    _core.sparse_weighted_gram(*held, places, s, threads, gram)
    kept = dense[:, :0:-1]
    np.testing.assert_array_equal(gram, kept.T @ (s[:, None] * kept))
    _core.sparse_weighted_gram(*held, places, None, threads, gram)
    np.testing.assert_array_equal(gram, kept.T @ kept)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_selected_features_are_the_columns_of_the_dense_rows(rows: tuple[Any, Any], threads: int) -> None:
    held, dense = rows
    which = np.random.default_rng(5).permutation(dense.shape[1])[: dense.shape[1] // 2 + 1]
    places = np.full(dense.shape[1], -1, np.int32)
    places[which] = np.arange(len(which))
    indptr, numbers, values = _core.sparse_select_columns(*held, places, len(which), threads)
    found = np.zeros((len(dense), len(which)))
    found[numbers, np.repeat(np.arange(len(which)), np.diff(indptr))] = values
    np.testing.assert_array_equal(found, dense[:, which])
    assert all(np.all(np.diff(numbers[a:b]) > 0) for a, b in itertools.pairwise(indptr))


def test_wrong_sizes_are_refused() -> None:
    indptr, indices, values = np.array([0, 1]), np.array([2], np.int32), np.ones(1)
    table, out = np.ones((2, 1)), np.ones((1, 1))
    with pytest.raises(ValueError, match="an index is out of range"):
        _core.sparse_times(indptr, indices, values, table, 1, out)
    with pytest.raises(ValueError, match="the tables differ in width"):
        _core.sparse_times(indptr, indices, values, np.ones((3, 2)), 1, out)
    with pytest.raises(ValueError, match="an index is out of range"):
        _core.sparse_transposed_times(indptr, indices, values, out, 1, table)
    with pytest.raises(ValueError, match="one more entry"):
        _core.sparse_squared_times(indptr, indices, values, np.ones(2), 1, np.ones(3))
    with pytest.raises(ValueError, match="index_map has an index out of range"):
        _core.sparse_select_columns(indptr, indices, values, np.array([0, 1, 2], np.int32), 2, 1)
    with pytest.raises(ValueError, match="s must have one value per row"):
        _core.sparse_weighted_gram(
            indptr, indices, values, np.zeros(3, np.int32), np.ones(2), 1, np.ones((1, 1))
        )
