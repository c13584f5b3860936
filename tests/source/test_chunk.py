from __future__ import annotations

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from weigh.source import Chunk
from weigh.source.chunk import DictionaryColumn, is_arrow, to_pylist
from weigh.source.sparse_rows import SparseRows


def small() -> Chunk:
    return Chunk(
        {"a": np.arange(5.0), "b": pa.array(["p", "q", None, "r", "s"])},
        5,
        labels=np.array([0, 1, 0, 1, 0]),
        weights=np.arange(5.0),
        first_row=100,
    )


def test_arrow_columns_are_distinguished_from_numpy_columns() -> None:
    assert is_arrow(pa.array(["a"]))
    assert not is_arrow(np.zeros(1))


def test_slice_applies_to_columns_labels_and_weights() -> None:
    piece = small().slice(1, 4)
    assert piece.n_rows == 3
    assert piece.columns["a"].tolist() == [1.0, 2.0, 3.0]
    assert piece.columns["b"].to_pylist() == ["q", None, "r"]
    assert piece.labels is not None
    assert piece.labels.tolist() == [1, 0, 1]
    assert piece.weights is not None
    assert piece.weights.tolist() == [1.0, 2.0, 3.0]


def test_dictionary_columns_are_sliced_and_listed_like_others() -> None:
    column = DictionaryColumn(np.array([1, -1, 0, 1], dtype=np.int32), ["p", "q"])
    piece = Chunk({"a": column}, 4).slice(1, 4).columns["a"]
    assert len(piece) == 3
    assert np.shares_memory(piece.codes, column.codes)
    assert to_pylist(piece) == [None, "p", "q"]
    assert to_pylist(pa.array(["p", None])) == ["p", None]
    assert to_pylist(np.array([1, 2])) == [1, 2]
    assert not is_arrow(column)


def test_slice_adjusts_first_row() -> None:
    assert small().slice(2, 4).first_row == 102


def test_slice_bounds_are_clipped_to_the_chunk() -> None:
    assert small().slice(3, 99).n_rows == 2
    assert small().slice(9, 99).n_rows == 0


def test_slice_of_numbers_is_a_view() -> None:
    chunk = small()
    assert np.shares_memory(chunk.slice(1, 3).columns["a"], chunk.columns["a"])


def test_sparse_slice_equals_scipys_and_copies_no_values() -> None:
    rng = np.random.default_rng(0)
    matrix = sp.csr_matrix(rng.integers(0, 3, size=(50, 7)))
    piece = Chunk({}, 50, sparse=SparseRows.from_scipy(matrix)).slice(11, 31).sparse
    assert np.array_equal(piece.to_dense(), matrix[11:31].toarray())
    assert np.shares_memory(piece.values, matrix.data)
