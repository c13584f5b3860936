"""Moments: parts add up to the whole, can be taken out again, and lose no digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learn.linear.designs import Floats, centred, law, sparse
from weigh.errors import DataError
from weigh.learn.linear.matrix import DenseMatrix
from weigh.learn.linear.moments import Moments


def same(found: Moments, wanted: Moments, tol: float = 1e-12, beside: float = 1e-3) -> None:
    """Compare moments by what they are in size, and features that hardly vary by what is beside them."""
    assert found.n_rows == wanted.n_rows
    assert found.total_weight == pytest.approx(wanted.total_weight, rel=tol)
    size = np.sqrt(np.diagonal(wanted.gram)) + beside
    assert (np.abs(found.mean_x - wanted.mean_x) <= tol * (np.abs(wanted.mean_x) + size)).all()
    assert found.mean_y == pytest.approx(wanted.mean_y, rel=tol, abs=tol)
    assert np.abs((found.gram - wanted.gram) / size / size[:, None]).max(initial=0.0) < tol
    assert np.abs((found.cross - wanted.cross) / size).max(initial=0.0) < tol * (1 + np.sqrt(wanted.yy))
    assert found.yy == pytest.approx(wanted.yy, rel=tol, abs=tol)
    assert found.sum_log_weights == pytest.approx(wanted.sum_log_weights, rel=tol, abs=tol)


def drawn(seed: int, n: int, d: int) -> tuple[Floats, Floats, Floats]:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d)) * 10.0 ** draw.integers(-2, 3, d) + draw.normal(size=d)
    return X, draw.normal(size=n), draw.uniform(0.1, 3, n)


@law
@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(0, 5), st.booleans(), st.booleans())
def test_moments_are_sums_of_squares_from_the_means(
    seed: int, n: int, d: int, bias: bool, weighted: bool
) -> None:
    X, y, s = drawn(seed, n, d)
    found = Moments.from_rows(DenseMatrix(X), y, s if weighted else None, bias=bias)
    s = s if weighted else np.ones(n)
    A, v = centred(X, s, bias=bias), y - (s @ y / s.sum() if bias else 0.0)
    wanted = Moments(
        n, s.sum(), X[0] - A[0], y[0] - v[0], A.T * s @ A, A.T * s @ v, s @ v**2, np.log(s).sum(), bias
    )
    same(found, wanted, 1e-10)


@law
@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(1, 5), st.booleans(), st.data())
def test_parts_add_up_to_the_whole_and_can_be_taken_out(
    seed: int, n: int, d: int, bias: bool, data: st.DataObject
) -> None:
    X, y, s = drawn(seed, n, d)
    cut = data.draw(st.integers(1, n - 1))
    whole = Moments.from_rows(DenseMatrix(X), y, s, bias=bias)
    first, second = (
        Moments.from_rows(DenseMatrix(X[p]), y[p], s[p], bias=bias) for p in (slice(cut), slice(cut, n))
    )
    same(first.plus(second), whole, 1e-10)
    same(whole.minus(first), second, 1e-9, float(np.sqrt(whole.gram.max())))
    batches = [(DenseMatrix(X[i : i + 1]), y[i : i + 1], s[i : i + 1]) for i in range(n)]
    same(Moments.from_batches(batches, bias=bias), whole, 1e-10)


def test_the_storage_of_rows_does_not_matter() -> None:
    draw = np.random.default_rng(3)
    # Long enough for several blocks.
    X = draw.normal(size=(9_000, 4)) * (draw.random((9_000, 4)) < 0.3) + np.array([0, 0, 0, 50.0])
    y, s = draw.normal(size=9_000), draw.uniform(0.5, 2, 9_000)
    wanted = Moments.from_rows(DenseMatrix(X), y, s)
    same(Moments.from_rows(DenseMatrix(np.asfortranarray(X)), y, s), wanted)
    same(Moments.from_rows(sparse(X), y, s), wanted)
    same(Moments.from_rows(DenseMatrix(np.repeat(X, 2, axis=0)[::2]), y, s), wanted)


def test_a_row_of_weight_two_counts_like_two_rows_but_is_one() -> None:
    X, y, _ = drawn(0, 6, 2)
    twice = Moments.from_rows(DenseMatrix(np.vstack([X, X[:1]])), np.append(y, y[0]))
    once = Moments.from_rows(DenseMatrix(X), y, np.array([2.0, 1, 1, 1, 1, 1]))
    assert (once.n_rows, once.total_weight, twice.n_rows) == (6, 7.0, 7)
    np.testing.assert_allclose(once.gram, twice.gram, rtol=1e-12)


def test_rows_without_a_weight_do_not_count() -> None:
    X, y, _ = drawn(0, 6, 2)
    found = Moments.from_rows(DenseMatrix(X), y, np.array([0.0, 1, 1, 1, 1, 1]))
    same(found, Moments.from_rows(DenseMatrix(X[1:]), y[1:]))
    assert Moments.from_rows(DenseMatrix(X), y, np.zeros(6)).total_weight == 0.0


@pytest.mark.parametrize("drift", [0.0, 1e6])
def test_a_feature_far_from_zero_keeps_its_digits(drift: float) -> None:
    draw = np.random.default_rng(1)
    n = 3_000
    X = draw.normal(size=(n, 3)) + np.array([1e8, 0.0, -1e7])
    # Most rows lie elsewhere than the first ones.
    X[n // 16 + 1 : 2 * n // 16 - 1, 1] += drift
    y = draw.normal(size=n)
    found = Moments.from_rows(DenseMatrix(X), y)
    means = [sum(map(Fraction, column)) / n for column in X.T.tolist()]
    exact = sum((Fraction(x) - means[0]) ** 2 for x in X[:, 0].tolist())
    assert found.gram[0, 0] == pytest.approx(float(exact), rel=1e-12)
    mixed = sum(
        (Fraction(a) - means[0]) * (Fraction(c) - means[2])
        for a, c in zip(X[:, 0].tolist(), X[:, 2].tolist(), strict=True)
    )
    assert found.gram[0, 2] == pytest.approx(float(mixed), abs=1e-12 * float(exact))
    assert found.mean_x[0] == pytest.approx(float(means[0]), rel=1e-15)
    parts = [Moments.from_rows(DenseMatrix(X[i::3]), y[i::3]) for i in range(3)]
    assert parts[0].plus(parts[1]).plus(parts[2]).gram[0, 0] == pytest.approx(float(exact), rel=1e-9)


def test_a_feature_that_jumps_where_nobody_looked_keeps_its_digits() -> None:
    draw = np.random.default_rng(2)
    X = draw.normal(size=(6_400, 1))
    # Pieces of 32 rows in every 400 are looked at first.
    X[np.arange(6_400) % 400 >= 32] += 1e8
    s = np.where(np.arange(6_400) % 400 < 32, 1e-30, 1.0)
    found = Moments.from_rows(DenseMatrix(X), X[:, 0] * 0, s)
    kept = X[s == 1.0, 0]
    exact = float(np.square(kept - kept.mean()).sum())
    assert found.gram[0, 0] == pytest.approx(exact, rel=1e-7)


def test_the_spread_of_a_constant_feature_is_zero() -> None:
    X = np.column_stack([np.full(50, 0.1), np.arange(50.0), np.zeros(50)])
    found = Moments.from_rows(DenseMatrix(X), np.arange(50.0))
    assert (found.std > 0).tolist() == [False, True, False]
    halves = [Moments.from_rows(DenseMatrix(X[i::2]), np.arange(50.0)[i::2]) for i in range(2)]
    assert (halves[0].plus(halves[1]).std > 0).tolist() == [False, True, False]


def test_the_squared_error_of_moments_is_that_of_the_rows() -> None:
    X, y, s = drawn(5, 20, 3)
    found = Moments.from_rows(DenseMatrix(X), y, s)
    W, b = np.random.default_rng(0).normal(size=(3, 4)), np.arange(4.0)
    wanted = s @ np.square(y[:, None] - b - X @ W)
    np.testing.assert_allclose(found.squared_error(W, b), wanted, rtol=1e-10)
    best = s @ np.square(y[:, None] - found.intercept(W) - X @ W)
    np.testing.assert_allclose(found.squared_error(W), best, rtol=1e-10)


def test_moments_that_do_not_fit_together_are_refused() -> None:
    one, two = Moments.zeros(1), Moments.zeros(2)
    with pytest.raises(DataError, match=r"Moments of 1 and of 2 features cannot be added\."):
        one.plus(two)
    with pytest.raises(DataError, match=r"Moments with and without a bias cannot be added\."):
        one.minus(Moments.zeros(1, bias=False))
    with pytest.raises(DataError, match=r"There are no rows to learn from: give at least one batch\."):
        Moments.from_batches([])


def test_nothing_added_changes_nothing() -> None:
    X, y, s = drawn(1, 8, 2)
    found = Moments.from_rows(DenseMatrix(X), y, s)
    same(found.plus(Moments.zeros(2)), found)
    same(Moments.zeros(2).plus(found), found)
    assert found.minus(found).total_weight == 0.0
