"""The posterior of linear regression: covariances, intervals, predictive standard deviations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t
from sklearn.linear_model import BayesianRidge

from tests.learn.linear.designs import classical, law, make_problem
from weigh.errors import DataError, ParameterError
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.posterior import gaussian_posterior


@law
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 12), st.booleans())
def test_the_covariance_equals_that_of_weights_and_intercept_jointly(
    seed: int, n: int, d: int, bias: bool
) -> None:
    rng = np.random.default_rng(seed)
    X, y, s = rng.normal(size=(n, d)) + 1, rng.normal(size=n), rng.uniform(0.5, 2, n)
    l2, sigma = rng.uniform(0.3, 2, d), 0.7
    result = gaussian_posterior(Moments.from_problem(make_problem(X, y, bias=bias, weights=s)), l2, sigma)
    # The intercept as one more, unpenalised feature.
    Z = np.column_stack([X, np.ones(n)]) if bias else X
    covariance = sigma**2 * np.linalg.inv(Z.T * s @ Z + np.diag(np.append(l2, [0.0] * bias)))
    np.testing.assert_allclose(result.covariance, covariance[:d, :d], rtol=1e-8, atol=1e-10)
    mean = covariance @ (Z.T @ (s * y)) / sigma**2
    np.testing.assert_allclose(result.mean, mean[:d], atol=1e-9)
    np.testing.assert_allclose(result.factor @ result.factor.T, result.covariance, atol=1e-12)
    assert (result.factor == np.tril(result.factor)).all()
    if bias:
        assert result.intercept == pytest.approx(mean[d], abs=1e-8)
        assert result.intercept_sd == pytest.approx(math.sqrt(covariance[d, d]), rel=1e-8)
        np.testing.assert_allclose(result.intercept_covariance, covariance[:d, d], atol=1e-9)
    rows = rng.normal(size=(5, d))
    extended = np.column_stack([rows, np.ones(5)]) if bias else rows
    variance = np.einsum("ij,jk,ik->i", extended, covariance, extended)
    np.testing.assert_allclose(result.predictive_sd(rows), np.sqrt(sigma**2 + variance), rtol=1e-8)
    np.testing.assert_allclose(result.predictive_sd(rows, noise=False), np.sqrt(variance), rtol=1e-8)


@pytest.mark.parametrize("shape", [(40, 5), (5, 40)])
def test_the_covariance_equals_scikit_learns(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=shape), rng.normal(size=shape[0])
    peer = BayesianRidge(fit_intercept=False).fit(X, y)
    expected = np.linalg.inv(peer.lambda_ * np.eye(shape[1]) + peer.alpha_ * X.T @ X)
    moments = Moments.from_problem(make_problem(X, y, bias=False))
    result = gaussian_posterior(moments, np.full(shape[1], peer.lambda_ / peer.alpha_), peer.alpha_**-0.5)
    np.testing.assert_allclose(result.covariance, expected, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(result.mean, peer.coef_, rtol=1e-6, atol=1e-10)
    _, sd = peer.predict(X, return_std=True)
    if shape[0] > shape[1]:
        np.testing.assert_allclose(result.predictive_sd(X), sd, rtol=1e-8)


@law
@given(st.integers(0, 10**6), st.integers(3, 20), st.integers(1, 5))
def test_the_predictive_variance_is_smallest_at_the_mean_of_the_rows(seed: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 10 * rng.normal(size=d)
    result = gaussian_posterior(Moments.from_problem(make_problem(X, rng.normal(size=n))), np.ones(d), 0.5)
    points = X.mean(axis=0) + np.vstack([np.zeros(d), rng.normal(size=(20, d))])
    sd = result.predictive_sd(points)
    assert sd[0] == pytest.approx(0.5 * math.sqrt(1 + 1 / n), rel=1e-9)
    assert (sd[1:] > sd[0]).all()


def test_without_a_prior_intervals_follow_student_s_t() -> None:
    x, y = np.array([1.0, 2, 3, 4, 5]), np.array([1.0, 3, 2, 5, 4])
    result = classical(make_problem(x[:, None], y))
    # Slope 0.8, residual sum of squares 3.6 with 3 degrees of freedom, Σ (x − 3)² = 10.
    assert result.mean[0] == pytest.approx(0.8, rel=1e-14)
    assert (result.dof, result.sigma) == (3.0, pytest.approx(math.sqrt(1.2), rel=1e-14))
    assert result.sd[0] == pytest.approx(math.sqrt(0.12), rel=1e-14)
    assert result.intercept_sd == pytest.approx(math.sqrt(1.2 / 5 + 9 * 0.12), rel=1e-14)
    low, high = result.interval(0.9)
    assert high[0] - low[0] == pytest.approx(2 * t.ppf(0.95, 3) * math.sqrt(0.12), rel=1e-10)
    below, above = result.intercept_interval(0.9)
    assert (below + above) / 2 == pytest.approx(0.6, rel=1e-12)
    from_moments = classical(Moments.from_problem(make_problem(x[:, None], y)))
    assert from_moments.sd[0] == pytest.approx(result.sd[0], rel=1e-12)


def test_duplicate_features_count_once() -> None:
    x, y = np.array([1.0, 2, 3, 4, 5]), np.array([1.0, 3, 2, 5, 4])
    result = classical(make_problem(np.column_stack([x, x]), y))
    assert result.dof == 3.0
    np.testing.assert_allclose(result.sd, math.sqrt(0.12) / 2, rtol=1e-10)
    np.testing.assert_allclose(result.factor @ result.factor.T, result.covariance, atol=1e-12)


def test_weights_are_relative_precisions_of_rows() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    plain, tripled = (classical(make_problem(X, y, weights=s)) for s in (None, np.full(20, 3.0)))
    np.testing.assert_allclose(tripled.sd, plain.sd, rtol=1e-12)
    assert tripled.sigma == pytest.approx(plain.sigma * math.sqrt(3), rel=1e-12)
    dropped = classical(make_problem(X, y, weights=np.where(np.arange(20) < 5, 0.0, 1.0)))
    assert dropped.dof == 12.0


def test_samples_have_the_posterior_s_mean_and_covariance() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)) + 2, rng.normal(size=30)
    result = gaussian_posterior(Moments.from_problem(make_problem(X, y)), np.ones(3), 1.0)
    W, b = result.sample(200_000, seed=1)
    sampled = np.cov(np.column_stack([W, b]).T)
    np.testing.assert_allclose(sampled[:3, :3], result.covariance, atol=0.02 * result.covariance.max())
    np.testing.assert_allclose(sampled[3, :3], result.intercept_covariance, atol=0.02 * sampled[3, 3])
    assert math.sqrt(sampled[3, 3]) == pytest.approx(result.intercept_sd, rel=0.02)
    np.testing.assert_array_equal(W, result.sample(200_000, seed=1)[0])
    student = classical(make_problem(X[:7], y[:7]))
    samples, _ = student.sample(200_000)
    # The variance of Student's t with 3 degrees of freedom converges slowly; quartiles do not.
    quartile = np.quantile(samples[:, 0], 0.75)
    expected = student.mean[0] + t.ppf(0.75, 3) * student.sd[0]
    assert quartile == pytest.approx(expected, abs=0.02 * student.sd[0])


def test_too_few_rows_and_invalid_levels_are_errors() -> None:
    X = np.random.default_rng(0).normal(size=(3, 2))
    with pytest.raises(DataError, match="3 rows were given for 3 weights"):
        classical(make_problem(X, np.arange(3.0)))
    result = gaussian_posterior(Moments.from_problem(make_problem(X, np.arange(3.0))), np.ones(2), 1.0)
    with pytest.raises(ParameterError, match=r"level must be a number between 0 and 1, got 95"):
        result.interval(95)


def test_dependent_unpenalised_features_have_a_pseudo_inverse() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    Z = np.column_stack([X, X[:, 0], np.full(12, 0.1)])
    y = rng.normal(size=12)
    result = gaussian_posterior(Moments.from_problem(make_problem(Z, y)), np.array([0.0, 1.0, 0.0, 0.0]), 1.0)
    single = gaussian_posterior(Moments.from_problem(make_problem(X, y)), np.array([0.0, 1.0]), 1.0)
    assert result.mean[0] + result.mean[2] == pytest.approx(single.mean[0], rel=1e-9)
    np.testing.assert_allclose(result.predictive_sd(Z), single.predictive_sd(X), rtol=1e-9)
