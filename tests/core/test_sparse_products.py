"""Products of sparse rows against NumPy, on many shapes and several threads."""

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
    """Return sparse rows, some of them empty, and the same as a dense matrix."""
    rng = np.random.default_rng(3)
    filled = (rng.random(shape) < 0.6) & (rng.random(shape[0]) < 0.9)[:, None]
    dense = np.where(filled, rng.integers(-4, 5, shape) if request.param else 1, 0).astype(np.float64)
    indptr = np.concatenate([[0], np.cumsum(filled.sum(axis=1))]).astype(np.int64)
    values = dense[filled] if request.param else None
    return (indptr, np.nonzero(filled)[1].astype(np.int32), values), dense


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("columns", [1, 3])
def test_products_equal_dense_products(rows: tuple[Any, Any], threads: int, columns: int) -> None:
    csr, dense = rows
    rng = np.random.default_rng(5)
    w = rng.integers(-9, 9, (dense.shape[1], columns)).astype(np.float64)
    r = rng.integers(-9, 9, (dense.shape[0], columns)).astype(np.float64)
    scores, sums = np.full((dense.shape[0], columns), np.nan), np.full((dense.shape[1], columns), np.nan)
    _core.sparse_times(*csr, w, threads, scores)
    _core.sparse_transposed_times(*csr, r, threads, sums)
    np.testing.assert_array_equal(scores, dense @ w)
    np.testing.assert_array_equal(sums, dense.T @ r)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_squares_and_gram_matrices_equal_dense_ones(rows: tuple[Any, Any], threads: int) -> None:
    csr, dense = rows
    s = np.random.default_rng(5).integers(0, 9, len(dense)).astype(np.float64)
    squares = np.full(dense.shape[1], np.nan)
    _core.sparse_squared_times(*csr, s, threads, squares)
    np.testing.assert_array_equal(squares, s @ dense**2)
    index_map = np.arange(dense.shape[1], dtype=np.int32)[::-1].copy()
    index_map[0] = -1
    gram = np.full((dense.shape[1] - 1, dense.shape[1] - 1), np.nan)
    _core.sparse_weighted_gram(*csr, index_map, s, threads, gram)
    kept = dense[:, :0:-1]
    np.testing.assert_array_equal(gram, kept.T @ (s[:, None] * kept))
    _core.sparse_weighted_gram(*csr, index_map, None, threads, gram)
    np.testing.assert_array_equal(gram, kept.T @ kept)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_selected_columns_equal_dense_columns(rows: tuple[Any, Any], threads: int) -> None:
    csr, dense = rows
    selected = np.random.default_rng(5).permutation(dense.shape[1])[: dense.shape[1] // 2 + 1]
    index_map = np.full(dense.shape[1], -1, np.int32)
    index_map[selected] = np.arange(len(selected))
    indptr, row_indices, values = _core.sparse_select_columns(*csr, index_map, len(selected), threads)
    found = np.zeros((len(dense), len(selected)))
    found[row_indices, np.repeat(np.arange(len(selected)), np.diff(indptr))] = values
    np.testing.assert_array_equal(found, dense[:, selected])
    assert all(np.all(np.diff(row_indices[a:b]) > 0) for a, b in itertools.pairwise(indptr))


def test_mismatched_sizes_are_rejected() -> None:
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
