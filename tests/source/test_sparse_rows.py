"""SparseRows against dense NumPy arrays and scipy: every operation equals that of the dense matrix."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from weigh.source.sparse_rows import SparseRows, concatenate_views


@st.composite
def matrices(draw: st.DrawFn) -> tuple[SparseRows, np.ndarray]:
    """Rows of zero to six rows and columns, with float, integer or implied values, and the dense matrix."""
    shape = draw(st.integers(0, 6)), draw(st.integers(0, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    mask = rng.random(shape) < draw(st.sampled_from([0.0, 0.3, 1.0]))
    kind = draw(st.sampled_from([np.float64, np.int64, None]))
    if kind is None:
        return SparseRows.from_dense(mask), mask.astype(np.float64)
    dense = np.where(mask, rng.integers(-3, 4, shape), 0).astype(kind)
    # Stored zeros are entries like others.
    return SparseRows.from_dense(mask, dense), dense


def assert_same(rows: SparseRows, dense: np.ndarray) -> None:
    assert rows.shape == dense.shape
    assert (rows.indptr[0], rows.indptr[-1]) == (0, len(rows.indices))
    assert (rows.indptr.dtype, rows.indices.dtype) == (np.int64, np.int32)
    assert rows.values is None or len(rows.values) == len(rows.indices)
    assert rows.to_dense().dtype == dense.dtype
    assert np.array_equal(rows.to_dense(), dense)


@given(matrices())
def test_dense_cells_come_back(pair: tuple[SparseRows, np.ndarray]) -> None:
    rows, dense = pair
    assert_same(rows, dense)
    assert_same(pickle.loads(pickle.dumps(rows)), dense)


@given(matrices(), st.data())
def test_slices_are_views_of_the_same_rows(pair: tuple[SparseRows, np.ndarray], data: st.DataObject) -> None:
    rows, dense = pair
    start = data.draw(st.integers(0, rows.n_rows))
    stop = data.draw(st.integers(start, rows.n_rows))
    piece = rows.slice(start, stop)
    assert_same(piece, dense[start:stop])
    assert np.shares_memory(piece.indices, rows.indices) or not len(piece.indices)
    assert piece.values is None or np.shares_memory(piece.values, rows.values) or not len(piece.values)


@given(matrices(), st.data())
def test_rows_are_selected_by_mask_and_by_index(
    pair: tuple[SparseRows, np.ndarray], data: st.DataObject
) -> None:
    rows, dense = pair
    mask = np.array(
        data.draw(st.lists(st.booleans(), min_size=rows.n_rows, max_size=rows.n_rows)), dtype=bool
    )
    assert_same(rows.select(mask), dense[mask])
    positions = st.lists(st.integers(0, rows.n_rows - 1)) if rows.n_rows else st.just([])
    indices = np.array(data.draw(positions), dtype=np.int64)  # in any order, with repetitions
    assert_same(rows.select(indices), dense[indices])
    part = rows.slice(0, rows.n_rows // 2)
    assert_same(part.select(mask[: part.n_rows]), dense[: part.n_rows][mask[: part.n_rows]])


@given(matrices())
def test_entries_are_selected_by_value_and_renumbered(pair: tuple[SparseRows, np.ndarray]) -> None:
    rows, dense = pair
    positive = rows.entry_values() > 0
    assert_same(rows.select_entries(positive), np.where(dense > 0, dense, 0).astype(dense.dtype))
    columns = np.arange(rows.width, dtype=np.int32) - 1  # the first column is dropped
    assert_same(rows.renumber(columns, max(0, rows.width - 1)), dense[:, 1:])


@given(matrices(), st.integers(1, 4))
def test_concatenated_slices_are_the_whole_without_a_copy(
    pair: tuple[SparseRows, np.ndarray], size: int
) -> None:
    rows, dense = pair
    parts = [rows.slice(i, min(i + size, rows.n_rows)) for i in range(0, max(1, rows.n_rows), size)]
    whole = SparseRows.concatenate(parts, rows.width)
    assert_same(whole, dense)
    assert np.shares_memory(whole.indices, rows.indices) or not len(rows.indices)


def test_parts_with_and_without_values_are_concatenated() -> None:
    ones, twos = np.eye(2, 3), 2 * np.eye(2, 3)
    parts = [SparseRows.from_dense(ones > 0), SparseRows.from_dense(twos > 0, twos)]
    assert_same(SparseRows.concatenate(parts, 4), np.hstack([np.vstack([ones, twos]), np.zeros((4, 1))]))


@given(matrices(), st.integers(1, 3))
def test_products_are_added_to_the_output(pair: tuple[SparseRows, np.ndarray], k: int) -> None:
    rows, dense = pair
    if rows.values is not None:
        rows = SparseRows(rows.indptr, rows.indices, rows.values.astype(np.float64), rows.width)
    table = np.arange(rows.width * k, dtype=np.float64).reshape(rows.width, k)
    out = np.ones((rows.n_rows, k))
    rows.add_product(table, out)
    assert np.array_equal(out, 1.0 + dense @ table)


@given(matrices())
def test_entries_are_summed_by_row_and_by_column(pair: tuple[SparseRows, np.ndarray]) -> None:
    rows, dense = pair
    values = rows.entry_values().astype(np.float64)
    assert np.array_equal(rows.sum_by_row(values), dense.sum(axis=1))
    assert np.array_equal(rows.sum_by_column(values), dense.sum(axis=0))
    assert np.array_equal(dense[rows.entry_rows(), rows.indices], rows.entry_values())


@given(matrices())
def test_the_transpose_has_the_columns_as_rows(pair: tuple[SparseRows, np.ndarray]) -> None:
    rows, dense = pair
    assert_same(rows.transpose(), dense.T)
    assert_same(rows.transpose().transpose(), dense)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_scipys_values_are_wrapped_without_a_copy(make: Any, index: type) -> None:
    matrix = make(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 3.0]]))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    rows = SparseRows.from_scipy(matrix)
    assert_same(rows, matrix.toarray())
    assert np.shares_memory(rows.values, matrix.data)
    assert np.shares_memory(rows.indices, matrix.indices) == (index is np.int32)


@pytest.mark.parametrize("order", ["C", "F"])
def test_consecutive_pieces_are_concatenated_without_a_copy(order: Any) -> None:
    whole = np.array(np.arange(20.0).reshape(10, 2), order=order)
    result = concatenate_views([whole[:3], whole[3:4], whole[4:]])
    np.testing.assert_array_equal(result, whole)
    assert np.shares_memory(result, whole)
    assert not result.flags.writeable
    assert concatenate_views([whole]) is whole


def test_other_pieces_are_concatenated_by_copying() -> None:
    whole = np.arange(10.0)
    for pieces in (
        [whole[:3], whole[4:]],
        [whole[5:], whole[:5]],
        [whole[:2], whole[2:].copy()],
        [whole[:4:2], whole[4:]],
        [whole[:2], whole[2:].astype(np.float32)],
    ):
        result = concatenate_views(pieces)
        np.testing.assert_array_equal(result, np.concatenate(pieces))
        assert not np.shares_memory(result, whole)
