"""Native leave-one-out scores against short references that estimate everything again without the row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import weigh
from weigh import _core

SHAPES = [(2, 1), (7, 2), (40, 3), (300, 2)]  # rows, classes


@pytest.fixture(params=SHAPES, ids=str)
def shape(request: pytest.FixtureRequest) -> tuple[int, int]:
    return request.param  # type: ignore[no-any-return]  # pytest's request carries no types


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def moments_of(x: Any, w: Any) -> list[float]:
    """Return weight, mean, 0 and variance of the known values."""
    x, w = x[~np.isnan(x)], w[~np.isnan(x)]
    if not w.sum():
        return [0.0, math.nan, math.nan, math.nan]
    mean = float((w * x).sum() / w.sum())
    return [float(w.sum()), mean, 0.0, float((w * (x - mean) ** 2).sum() / w.sum())]


def group_moments(x: Any, y: Any, w: Any, classes: int) -> Any:
    groups = [moments_of(x[y == c], w[y == c]) for c in range(classes)]
    return np.array([*groups, moments_of(x, w)]).T.copy()


def pooled_variance(moments: Any) -> float:
    return float(np.nansum(moments[0, :-1] * moments[3, :-1]) / moments[0, -1])


def log_density(x: float, moments: Any, floor: float, shared: float | None) -> Any:
    """Return the log density in every class; a class without values has the moments of all."""
    filled = np.where(np.isnan(moments[:, :-1]), moments[:, -1:], moments[:, :-1])
    variance = np.maximum(filled[3] if shared is None else shared, floor * moments[3, -1])
    return -0.5 * np.log(2 * np.pi * variance) - 0.5 * (x - filled[1]) ** 2 / variance


def numbers(rng: np.random.Generator, n: int, classes: int) -> tuple[Any, Any, Any]:
    y = rng.integers(0, classes, n).astype(np.int32)
    x = rng.normal(size=n) * (1.0 + y) + y
    x[rng.random(n) < 0.1] = np.nan
    x[y == classes - 1] *= 1e-4  # a class below the floor
    return x, y, rng.choice([1.0, 2.0, 0.5, 0.0], n)


def assert_few(irregular: Any, classes: int) -> None:
    """Assert that only rows are irregular that hold most of the variance or weight of a group."""
    assert irregular.sum() <= 3 * (classes + 1)


@pytest.mark.parametrize("spread", ["own", "shared", "given"])
def test_gaussian_scores_equal_those_of_moments_without_the_row(
    spread: str, shape: tuple[int, int], rng: np.random.Generator
) -> None:
    n, classes = shape
    x, y, w = numbers(rng, n, classes)
    moments, floor = group_moments(x, y, w, classes), 0.01
    scores, irregular = np.zeros((n, classes)), np.zeros(n, dtype=np.uint8)
    arguments = np.repeat(x[:, None], 2, axis=1)[:, 1], y, w, moments, floor
    if spread == "own":
        _core.leave_out_gaussian(*arguments, irregular, scores)
    else:
        variance = 4.0 if spread == "given" else pooled_variance(moments)
        _core.leave_out_shared_gaussian(*arguments, variance, spread == "given", irregular, scores)
    assert_few(irregular, classes)
    for i in range(n):
        if irregular[i] or np.isnan(x[i]):
            assert not scores[i].any()
            continue
        others = group_moments(np.delete(x, i), np.delete(y, i), np.delete(w, i), classes)
        if w[i] and w[i] < w[y == y[i]].sum():  # the rest of a row of weight 2 is left out too
            others = group_moments(x, y, np.where(np.arange(n) == i, 0.0, w), classes)
        shared = {"own": None, "shared": pooled_variance(others), "given": 4.0}[spread]
        limit = 0.0 if spread == "given" else floor
        np.testing.assert_allclose(
            scores[i], log_density(x[i], others, limit, shared), rtol=1e-10, atol=1e-10
        )


def test_rows_that_hold_most_of_the_variance_are_irregular() -> None:
    x, y = np.array([0.0, 0.1, -0.1, 1e9, 5.0, 6.0, 7.0]), np.array([0, 0, 0, 0, 1, 1, 1], dtype=np.int32)
    moments = group_moments(x, y, np.ones(7), 2)
    scores, irregular = np.zeros((7, 2)), np.zeros(7, dtype=np.uint8)
    _core.leave_out_gaussian(x, y, np.ones(7), moments, 1e-4, irregular, scores)
    assert irregular.tolist() == [0, 0, 0, 1, 0, 0, 0]
    assert not scores[3].any()


def test_the_only_row_of_a_class_is_irregular() -> None:
    x, y = np.array([0.0, 1.0, 2.0]), np.array([0, 0, 1], dtype=np.int32)
    irregular, scores = np.zeros(3, dtype=np.uint8), np.zeros((3, 2))
    _core.leave_out_gaussian(x, y, np.ones(3), group_moments(x, y, np.ones(3), 2), 1e-4, irregular, scores)
    assert irregular[2] == 1


def sparse_rows(rng: np.random.Generator, n: int, width: int) -> tuple[Any, Any, Any, Any]:
    """Return a matrix of counts as a table and as CSR arrays."""
    table = rng.poisson(0.7, (n, width)) * (rng.random((n, width)) < 0.5)
    rows, indices = np.nonzero(table)
    indptr = np.searchsorted(rows, np.arange(n + 1)).astype(np.int64)
    return table, indptr, indices.astype(np.int32), table[rows, indices].astype(np.float64)


def expected_words(row: Any, counts: Any, pseudo: Any, min_count: int) -> Any:
    """Return Σ value × log P(word) over the words that the counts without the row still have."""
    kept = counts.sum(axis=0) >= min_count
    smoothed = (counts + pseudo)[:, kept]
    with np.errstate(divide="ignore"):
        logs = np.log(smoothed / smoothed.sum(axis=1, keepdims=True))
    return (logs * np.where(row[kept] > 0, row[kept], np.nan)).T[row[kept] > 0].sum(axis=0)


@pytest.mark.parametrize("min_count", [0, 1, 3])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.int64])
@pytest.mark.parametrize("smoothing", [1.0, 0.0])
def test_words_equal_those_of_counts_without_the_row(
    min_count: int, dtype: Any, smoothing: float, shape: tuple[int, int], rng: np.random.Generator
) -> None:
    n, classes = shape
    table, indptr, indices, values = sparse_rows(rng, n, 12)
    y = rng.integers(0, classes, n).astype(np.int32)
    counts = np.array([table[y == c].sum(axis=0) for c in range(classes)])
    pseudo = smoothing * np.arange(1.0, 13.0) / 6
    kept = counts.sum(axis=0) >= min_count
    class_totals = (counts + pseudo)[:, kept].sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.ascontiguousarray(np.log((counts + pseudo) / class_totals[:, None]).T)
    is_kept_entry = kept[indices]
    starts = np.concatenate([[0], np.cumsum(is_kept_entry)])[indptr]
    scores, irregular = np.zeros((n, classes)), np.zeros(n, dtype=np.uint8)
    _core.leave_out_words(
        starts, indices[is_kept_entry], values[is_kept_entry], y, np.ones(n), counts.astype(dtype),
        counts.sum(axis=0).astype(float), pseudo, class_totals, logs, float(min_count), irregular, scores,
    )  # fmt: skip
    for i in range(n):
        left = counts.copy()
        left[y[i]] -= table[i]
        totals = (left + pseudo)[:, left.sum(axis=0) >= min_count].sum(axis=1)
        assert irregular[i] == (totals <= 0).any()
        if irregular[i]:
            assert not scores[i].any()
        else:
            expected = expected_words(table[i], left, pseudo, min_count)
            np.testing.assert_allclose(scores[i], expected, rtol=1e-12, atol=1e-12)


def test_own_class_scores_use_the_own_table(shape: tuple[int, int], rng: np.random.Generator) -> None:
    n, classes = shape
    table, indptr, indices, _ = sparse_rows(rng, n, 5)
    y = rng.integers(0, classes, n).astype(np.int32)
    plain, own = rng.normal(size=(2, 5, classes))
    scores = rng.normal(size=(n, classes))
    expected = scores.copy()
    for i in range(n):
        for j in np.flatnonzero(table[i]):
            for c in range(classes):
                expected[i, c] += own[j, c] if c == y[i] else plain[j, c]
    _core.score_own_class(indptr, indices, y, plain, own, scores)
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_unsorted_rows_have_the_same_words_in_order_of_appearance() -> None:
    texts = ["b1 a1 b1 zz c1", "", "c1 c1 a1"]
    model = weigh.NaiveBayes(columns={"t": "text"}).fit({"t": ["a1 b1", "c1", "b1"]}, [1, 2, 1]).model_
    block = model.schema.encode(next(model.chunks({"t": texts})))[0]
    vocabulary = model.terms[0].vocabulary
    ordered, unsorted = block.look_up(vocabulary, 3), block.look_up_unsorted(vocabulary, 3)
    assert ordered.indptr.tolist() == unsorted.indptr.tolist() == [0, 3, 3, 5]
    assert (ordered.indices.tolist(), ordered.values.tolist()) == ([0, 1, 2, 0, 2], [1, 2, 1, 1, 2])
    assert (unsorted.indices.tolist(), unsorted.values.tolist()) == ([1, 0, 2, 2, 0], [2, 1, 1, 2, 1])
