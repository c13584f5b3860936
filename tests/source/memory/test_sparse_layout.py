from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import weigh
from weigh.errors import DataError
from weigh.source import rows

DENSE = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 3.0], [4.0, 0.0, 5.0]])
LABELS = ["a", "b", "a", "b"]


def with_value(attribute: str, index: int, value: int) -> Callable[[Any], None]:
    def damage(matrix: Any) -> None:
        array = getattr(matrix, attribute)
        array[index] = value

    return damage


def with_coordinate(axis: int, value: int) -> Callable[[Any], None]:
    def damage(matrix: Any) -> None:
        coordinates = [array.copy() for array in matrix.coords]
        coordinates[axis][0] = value
        matrix.coords = tuple(coordinates)

    return damage


def with_attribute(attribute: str, change: Callable[[Any], Any]) -> Callable[[Any], None]:
    return lambda matrix: setattr(matrix, attribute, change(getattr(matrix, attribute)))


def shorten(array: Any) -> Any:
    return array[:-1]


DAMAGES = {
    "COO row after the last": ("coo", with_coordinate(0, 1_000_000)),
    "COO row before the first": ("coo", with_coordinate(0, -1_000_000)),
    "COO column after the last": ("coo", with_coordinate(1, 3)),
    "COO column before the first": ("coo", with_coordinate(1, -1)),
    "COO coordinates that are not whole": ("coo", with_attribute("coords", lambda c: (c[0] * 1e9, c[1]))),
    "COO with fewer values": ("coo", with_attribute("data", shorten)),
    "CSC with a negative indptr": ("csc", with_value("indptr", -1, -5)),
    "CSC with an indptr beyond the entries": ("csc", with_value("indptr", -1, 100)),
    "CSC row after the last": ("csc", with_value("indices", 0, 4)),
    "CSR with a negative indptr": ("csr", with_value("indptr", -1, -(2**31))),
    "CSR with a descending indptr": ("csr", with_value("indptr", 1, 4)),
    "CSR with a short indptr": ("csr", with_attribute("indptr", shorten)),
    "CSR with lists for arrays": ("csr", with_attribute("indices", list)),
    "CSR with fewer values": ("csr", with_attribute("data", shorten)),
    "BSR with an indptr beyond the entries": ("bsr", with_value("indptr", -1, 100)),
    "BSR block column after the last": ("bsr", with_value("indices", 0, 3)),
    "BSR with flat values": ("bsr", with_attribute("data", np.ravel)),
    "LIL column after the last": ("lil", lambda m: m.rows[0].append(9) or m.data[0].append(1.0)),
    "LIL with more columns than values": ("lil", lambda m: m.rows[0].append(2)),
    "LIL with too few rows": ("lil", with_attribute("rows", shorten)),
    "LIL with text": ("lil", lambda m: m.data[0].__setitem__(0, "x")),
    "DOK key outside": ("dok", lambda m: m._dict.__setitem__((100, 0), 1.0)),
    "DOK value that is no number": ("dok", lambda m: m._dict.__setitem__((0, 0), "x")),
    "DIA with too few offsets": ("dia", with_attribute("offsets", shorten)),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_matrix_is_refused_before_scipy_converts_it(name: str) -> None:
    form, damage = DAMAGES[name]
    matrix = sp.csr_matrix(DENSE).asformat(form)
    damage(matrix)
    with pytest.raises(
        DataError, match=r"^The sparse matrix is damaged: .*\. Build it again from its entries\.$"
    ):
        weigh.NaiveBayes().fit(matrix, LABELS)


def test_the_message_says_which_array_is_wrong() -> None:
    matrix = sp.coo_matrix(DENSE)
    with_coordinate(0, 4)(matrix)
    with pytest.raises(DataError) as caught:
        rows(matrix)
    assert str(caught.value) == (
        "The sparse matrix is damaged: rows must be from 0 to 3. Build it again from its entries."
    )


@pytest.mark.parametrize("dtype", [object, "U8", "M8[s]"])
def test_values_that_are_not_numbers_are_refused(dtype: Any) -> None:
    matrix = sp.csr_matrix(DENSE)
    matrix.data = matrix.data.astype(int).astype(dtype)
    with pytest.raises(
        DataError, match=r"^The sparse matrix holds values of type .*\. Convert them to numbers\.$"
    ):
        rows(matrix)


def test_unsigned_integers_beyond_63_bits_become_floats() -> None:
    matrix = sp.csr_matrix(np.array([[2**63 + 2048, 0]], dtype=np.uint64))
    sparse = rows(matrix).prefix().sparse
    assert sparse is not None
    assert sparse.to_dense().tolist() == [[2.0**63 + 2048, 0.0]]


def test_evaluating_another_librarys_classifier_refuses_a_damaged_matrix() -> None:
    from sklearn.naive_bayes import MultinomialNB

    matrix = sp.coo_matrix(DENSE)
    model = MultinomialNB().fit(matrix, LABELS)
    with_coordinate(0, 1_000_000)(matrix)
    with pytest.raises(DataError, match="The sparse matrix is damaged"):
        weigh.evaluate(model, matrix, LABELS)
