"""Moments: they can be added and subtracted, and keep their digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learn.linear.designs import Floats, centred, law, to_sparse
from weigh.errors import DataError
from weigh.learn.linear.matrix import DenseMatrix
from weigh.learn.linear.moments import Moments


def assert_close(result: Moments, expected: Moments, tol: float = 1e-12, floor: float = 1e-3) -> None:
    """Compare moments relative to the features' norms, which count as at least `floor`."""
    assert result.n_rows == expected.n_rows
    assert result.total_weight == pytest.approx(expected.total_weight, rel=tol)
    norms = np.sqrt(np.diagonal(expected.gram)) + floor
    assert (np.abs(result.mean_x - expected.mean_x) <= tol * (np.abs(expected.mean_x) + norms)).all()
    assert result.mean_y == pytest.approx(expected.mean_y, rel=tol, abs=tol)
    assert np.abs((result.gram - expected.gram) / norms / norms[:, None]).max(initial=0.0) < tol
    assert np.abs((result.cross - expected.cross) / norms).max(initial=0.0) < tol * (1 + np.sqrt(expected.yy))
    assert result.yy == pytest.approx(expected.yy, rel=tol, abs=tol)
    assert result.sum_log_weights == pytest.approx(expected.sum_log_weights, rel=tol, abs=tol)


def random_rows(seed: int, n: int, d: int) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, d) + rng.normal(size=d)
    return X, rng.normal(size=n), rng.uniform(0.1, 3, n)


@law
@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(0, 5), st.booleans(), st.booleans())
def test_moments_are_weighted_sums_of_centred_products(
    seed: int, n: int, d: int, bias: bool, weighted: bool
) -> None:
    X, y, s = random_rows(seed, n, d)
    result = Moments.from_rows(DenseMatrix(X), y, s if weighted else None, has_intercept=bias)
    s = s if weighted else np.ones(n)
    A, v = centred(X, s, bias=bias), y - (s @ y / s.sum() if bias else 0.0)
    expected = Moments(
        n, s.sum(), X[0] - A[0], y[0] - v[0], A.T * s @ A, A.T * s @ v, s @ v**2, np.log(s).sum(), bias
    )
    assert_close(result, expected, 1e-10)


@law
@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(1, 5), st.booleans(), st.data())
def test_moments_of_parts_can_be_added_and_subtracted(
    seed: int, n: int, d: int, bias: bool, data: st.DataObject
) -> None:
    X, y, s = random_rows(seed, n, d)
    cut = data.draw(st.integers(1, n - 1))
    whole = Moments.from_rows(DenseMatrix(X), y, s, has_intercept=bias)
    first, second = (
        Moments.from_rows(DenseMatrix(X[p]), y[p], s[p], has_intercept=bias)
        for p in (slice(cut), slice(cut, n))
    )
    assert_close(first.plus(second), whole, 1e-10)
    assert_close(whole.minus(first), second, 1e-9, float(np.sqrt(whole.gram.max())))
    batches = [(DenseMatrix(X[i : i + 1]), y[i : i + 1], s[i : i + 1]) for i in range(n)]
    assert_close(Moments.from_batches(batches, has_intercept=bias), whole, 1e-10)


def test_moments_do_not_depend_on_the_storage_of_rows() -> None:
    rng = np.random.default_rng(3)
    # Long enough for several blocks.
    X = rng.normal(size=(9_000, 4)) * (rng.random((9_000, 4)) < 0.3) + np.array([0, 0, 0, 50.0])
    y, s = rng.normal(size=9_000), rng.uniform(0.5, 2, 9_000)
    expected = Moments.from_rows(DenseMatrix(X), y, s)
    assert_close(Moments.from_rows(DenseMatrix(np.asfortranarray(X)), y, s), expected)
    assert_close(Moments.from_rows(to_sparse(X), y, s), expected)
    assert_close(Moments.from_rows(DenseMatrix(np.repeat(X, 2, axis=0)[::2]), y, s), expected)


def test_a_row_of_weight_two_has_the_moments_of_two_rows() -> None:
    X, y, _ = random_rows(0, 6, 2)
    repeated = Moments.from_rows(DenseMatrix(np.vstack([X, X[:1]])), np.append(y, y[0]))
    weighted = Moments.from_rows(DenseMatrix(X), y, np.array([2.0, 1, 1, 1, 1, 1]))
    assert (weighted.n_rows, weighted.total_weight, repeated.n_rows) == (6, 7.0, 7)
    np.testing.assert_allclose(weighted.gram, repeated.gram, rtol=1e-12)


def test_rows_of_weight_zero_are_ignored() -> None:
    X, y, _ = random_rows(0, 6, 2)
    result = Moments.from_rows(DenseMatrix(X), y, np.array([0.0, 1, 1, 1, 1, 1]))
    assert_close(result, Moments.from_rows(DenseMatrix(X[1:]), y[1:]))
    assert Moments.from_rows(DenseMatrix(X), y, np.zeros(6)).total_weight == 0.0


@pytest.mark.parametrize("drift", [0.0, 1e6])
def test_a_feature_far_from_zero_keeps_its_digits(drift: float) -> None:
    rng = np.random.default_rng(1)
    n = 3_000
    X = rng.normal(size=(n, 3)) + np.array([1e8, 0.0, -1e7])
    # A run of rows outside the sampled ones lies elsewhere.
    X[n // 16 + 1 : 2 * n // 16 - 1, 1] += drift
    y = rng.normal(size=n)
    result = Moments.from_rows(DenseMatrix(X), y)
    means = [sum(map(Fraction, column)) / n for column in X.T.tolist()]
    exact = sum((Fraction(x) - means[0]) ** 2 for x in X[:, 0].tolist())
    assert result.gram[0, 0] == pytest.approx(float(exact), rel=1e-12)
    mixed = sum(
        (Fraction(a) - means[0]) * (Fraction(c) - means[2])
        for a, c in zip(X[:, 0].tolist(), X[:, 2].tolist(), strict=True)
    )
    assert result.gram[0, 2] == pytest.approx(float(mixed), abs=1e-12 * float(exact))
    assert result.mean_x[0] == pytest.approx(float(means[0]), rel=1e-15)
    parts = [Moments.from_rows(DenseMatrix(X[i::3]), y[i::3]) for i in range(3)]
    assert parts[0].plus(parts[1]).plus(parts[2]).gram[0, 0] == pytest.approx(float(exact), rel=1e-9)


def test_a_feature_that_differs_in_the_sampled_rows_keeps_its_digits() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(6_400, 1))
    # The first 32 of every 400 rows are sampled for a first estimate of the mean.
    X[np.arange(6_400) % 400 >= 32] += 1e8
    s = np.where(np.arange(6_400) % 400 < 32, 1e-30, 1.0)
    result = Moments.from_rows(DenseMatrix(X), X[:, 0] * 0, s)
    x = X[s == 1.0, 0]
    exact = float(np.square(x - x.mean()).sum())
    assert result.gram[0, 0] == pytest.approx(exact, rel=1e-7)


def test_the_standard_deviation_of_a_constant_feature_is_zero() -> None:
    X = np.column_stack([np.full(50, 0.1), np.arange(50.0), np.zeros(50)])
    result = Moments.from_rows(DenseMatrix(X), np.arange(50.0))
    assert (result.std > 0).tolist() == [False, True, False]
    halves = [Moments.from_rows(DenseMatrix(X[i::2]), np.arange(50.0)[i::2]) for i in range(2)]
    assert (halves[0].plus(halves[1]).std > 0).tolist() == [False, True, False]


def test_the_squared_error_from_moments_equals_that_of_the_rows() -> None:
    X, y, s = random_rows(5, 20, 3)
    result = Moments.from_rows(DenseMatrix(X), y, s)
    W, b = np.random.default_rng(0).normal(size=(3, 4)), np.arange(4.0)
    expected = s @ np.square(y[:, None] - b - X @ W)
    np.testing.assert_allclose(result.squared_error(W, b), expected, rtol=1e-10)
    best = s @ np.square(y[:, None] - result.intercept(W) - X @ W)
    np.testing.assert_allclose(result.squared_error(W), best, rtol=1e-10)


def test_incompatible_moments_are_errors() -> None:
    one, two = Moments.zeros(1), Moments.zeros(2)
    with pytest.raises(DataError, match=r"Moments of 1 and of 2 features cannot be combined\."):
        one.plus(two)
    with pytest.raises(DataError, match=r"Moments with and without an intercept cannot be combined\."):
        one.minus(Moments.zeros(1, has_intercept=False))
    with pytest.raises(DataError, match=r"There are no rows to learn from: give at least one batch\."):
        Moments.from_batches([])


def test_empty_moments_are_neutral() -> None:
    X, y, s = random_rows(1, 8, 2)
    result = Moments.from_rows(DenseMatrix(X), y, s)
    assert_close(result.plus(Moments.zeros(2)), result)
    assert_close(Moments.zeros(2).plus(result), result)
    assert result.minus(result).total_weight == 0.0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("offset", [10.0, 1e3, 1e6, 1e9])
def test_the_rounding_of_squared_errors_is_within_its_bound(seed: int, offset: float) -> None:
    rng = np.random.default_rng(seed)
    X = offset * rng.uniform(0.5, 1.5) + rng.normal(size=(400, 2))
    X[:, 0] += np.linspace(-5, 5, 400)
    y = X @ [1.0, 2.0] + offset * (seed % 3) + 10.0 ** rng.uniform(-3, 1) * rng.normal(size=400)
    parts = [slice(k, k + 50) if seed % 2 else slice(k // 50, None, 8) for k in range(0, 400, 50)]
    moments = Moments.from_batches((DenseMatrix(X[rows]), y[rows], None) for rows in parts)
    w = np.linalg.solve(moments.gram, moments.cross)
    exact = [Fraction(c) for c in w.tolist()]
    residuals = [
        Fraction(target) - sum((Fraction(x) * c for x, c in zip(row, exact, strict=True)), Fraction(0))
        for row, target in zip(X.tolist(), y.tolist(), strict=True)
    ]
    mean = sum(residuals, Fraction(0)) / 400
    squared_error = sum(((r - mean) ** 2 for r in residuals), Fraction(0))
    error = abs(Fraction(float(moments.squared_error(w))) - squared_error) / 2
    assert error <= Fraction(moments.rounding_error(w))
