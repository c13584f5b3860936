from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from weigh.errors import DataError, LabelError
from weigh.source import rows

DENSE = np.array([[0, 2, 0], [1, 0, 0], [0, 0, 3], [4, 0, 5]])


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array])
def test_every_sparse_format_gives_the_same_rows(form: str, make: type) -> None:
    source = rows(make(DENSE).asformat(form), list("abab"), np.ones(4))
    assert (source.names, source.width, source.named, source.n_rows) == ((), 3, False, 4)
    chunks = list(source.chunks(size=3))
    assert all(chunk.columns == {} for chunk in chunks)
    parts = [chunk.sparse for chunk in chunks]
    assert np.concatenate([part.indices for part in parts]).tolist() == [1, 0, 2, 0, 2]
    assert np.array_equal(np.vstack([part.to_dense() for part in parts]), DENSE)
    assert [list(chunk.labels) for chunk in chunks if chunk.labels is not None] == [
        ["a", "b", "a"],
        ["b"],
    ]
    assert [chunk.first_row for chunk in chunks] == [0, 3]


def test_values_have_64_bits() -> None:
    for dtype, expected in ((np.float32, np.float64), (np.int8, np.int64), (bool, np.int64)):
        sparse = rows(sp.csr_matrix(DENSE.astype(dtype))).prefix().sparse
        assert sparse is not None
        assert sparse.values.dtype == expected


def test_duplicates_are_summed_without_modifying_the_input() -> None:
    matrix = sp.csr_matrix((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 2))
    sparse = rows(matrix).prefix().sparse
    assert sparse is not None
    assert sparse.to_dense().tolist() == [[0.0, 3.0]]
    assert sparse.indices.tolist() == [1]
    assert matrix.nnz == 2


def test_a_matrix_of_a_million_columns_is_read_in_chunks() -> None:
    n, width = 1000, 1_000_000
    matrix = sp.csr_matrix((np.ones(n), (np.arange(n), np.arange(n) * 1000)), shape=(n, width))
    source = rows(matrix)
    assert source.width == width
    assert sum(len(chunk.sparse.indices) for chunk in source.chunks(size=300)) == n


def test_invalid_matrices_are_errors() -> None:
    with pytest.raises(DataError, match="Complex data not supported"):
        rows(sp.csr_matrix(DENSE.astype(complex)))
    with pytest.raises(DataError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\)"):
        rows(sp.csr_matrix((0, 3)))
    with pytest.raises(DataError, match=r"Found array with 0 feature\(s\) \(shape=\(3, 0\)\)"):
        rows(sp.csr_matrix((3, 0)))
    with pytest.raises(LabelError, match="a bare array has no column names"):
        rows(sp.csr_matrix(DENSE), "y")
    with pytest.raises(LabelError, match="a bare array has no column names"):
        rows(sp.csr_matrix(DENSE)).with_label("y")


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix])
def test_entries_outside_the_matrix_are_errors(make):
    broken = make(np.eye(4))
    broken.indices[0] = 1 << 30
    with pytest.raises(DataError, match="The sparse matrix is damaged"):
        rows(broken, [0, 1, 0, 1])


def test_too_many_columns_are_an_error():
    with pytest.raises(DataError, match="at most 2,147,483,647 are supported"):
        rows(sp.csr_matrix((4, 2**40)), [0, 1, 0, 1])
