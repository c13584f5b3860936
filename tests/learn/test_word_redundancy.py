"""Groups of words, counts and flags that occur in the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from weigh.learn.word_redundancy import WordGroup, find_word_groups
from weigh.source.sparse_rows import SparseRows


def find(matrix: Any, y: Any, names: Any = None, weights: Any = None, **options: Any) -> list[WordGroup]:
    csr = sp.csr_matrix(np.asarray(matrix, dtype=float))
    width = csr.shape[1]
    rows = SparseRows(csr.indptr.astype(np.int64), csr.indices.astype(np.int32), csr.data, width)
    names = names or [f"w{j}" for j in range(width)]
    weights = np.ones(len(y)) if weights is None else weights
    return find_word_groups(rows, names, np.asarray(y), weights, **{"by_name": False, **options})


def words(n: int = 400, width: int = 8, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return (rng.random((n, width)) < 0.3).astype(float), rng.integers(0, 2, n)


def test_independent_words_form_no_group() -> None:
    assert find(*words()) == []


def test_words_in_the_same_rows_form_a_group_with_their_occurrences() -> None:
    X, y = words()
    X[:, [3, 6]] = X[:, [1]] * [2, 5]  # only presence counts
    assert find(X, y) == [WordGroup("w1", ("w3", "w6"), 1.0, 2 * X[:, 1].sum())]


def test_the_groups_with_the_most_occurrences_are_first() -> None:
    X, y = words()
    X[:, 0] = np.arange(400) % 10 == 0
    X[:, 1] = X[:, 0]
    X[:, 3] = X[:, 2]
    assert [group.first for group in find(X, y)] == ["w2", "w0"]


def test_the_later_word_repeats_the_other_by_name_or_by_column() -> None:
    X, y = words()
    X[:, 1] = X[:, 0]
    names = ["z", "a", *(f"w{j}" for j in range(6))]
    assert [(g.first, g.repeats) for g in find(X, y, names)] == [("z", ("a",))]
    assert [(g.first, g.repeats) for g in find(X, y, names, by_name=True)] == [("a", ("z",))]


def test_words_that_exclude_each_other_are_a_group_only_as_flags() -> None:
    X, y = words()
    X[:, 1] = 1 - X[:, 0]
    assert find(X, y) == []
    assert [(g.first, g.repeats) for g in find(X, y, finds_opposites=True)] == [("w0", ("w1",))]


def test_words_that_depend_only_through_the_class_form_no_group() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 600)
    X = (rng.random((600, 6)) < np.where(y, 0.8, 0.1)[:, None]).astype(float)
    assert find(X, y) == []


def test_a_row_that_occurs_several_times_counts_as_often() -> None:
    X, y = words(60)
    X[:, 1] = X[:, 0]
    (once,) = find(X, y)
    (thrice,) = find(X, y, weights=np.full(60, 3.0))
    assert thrice.n_occurrences == 3 * once.n_occurrences
    assert find(np.repeat(X, 3, axis=0), np.repeat(y, 3)) == [thrice]
