"""The Bayesian linear model: covariances, intervals, predictive spread."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t
from sklearn.linear_model import BayesianRidge

from tests.learn.linear.designs import classical, law, problem
from weigh.errors import DataError, ParameterError
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.posterior import gaussian_posterior


@law
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 12), st.booleans())
def test_the_covariance_is_that_of_weights_and_bias_together(seed: int, n: int, d: int, bias: bool) -> None:
    draw = np.random.default_rng(seed)
    X, y, s = draw.normal(size=(n, d)) + 1, draw.normal(size=n), draw.uniform(0.5, 2, n)
    l2, sigma = draw.uniform(0.3, 2, d), 0.7
    found = gaussian_posterior(Moments.from_problem(problem(X, y, bias=bias, weights=s)), l2, sigma)
    # The bias as one more feature, without a penalty.
    Z = np.column_stack([X, np.ones(n)]) if bias else X
    whole = sigma**2 * np.linalg.inv(Z.T * s @ Z + np.diag(np.append(l2, [0.0] * bias)))
    np.testing.assert_allclose(found.covariance, whole[:d, :d], rtol=1e-8, atol=1e-10)
    mean = whole @ (Z.T @ (s * y)) / sigma**2
    np.testing.assert_allclose(found.mean, mean[:d], atol=1e-9)
    np.testing.assert_allclose(found.factor @ found.factor.T, found.covariance, atol=1e-12)
    assert (found.factor == np.tril(found.factor)).all()
    if bias:
        assert found.intercept == pytest.approx(mean[d], abs=1e-8)
        assert found.intercept_sd == pytest.approx(math.sqrt(whole[d, d]), rel=1e-8)
        np.testing.assert_allclose(found.intercept_covariance, whole[:d, d], atol=1e-9)
    rows = draw.normal(size=(5, d))
    full = np.column_stack([rows, np.ones(5)]) if bias else rows
    inner = np.einsum("ij,jk,ik->i", full, whole, full)
    np.testing.assert_allclose(found.predictive_sd(rows), np.sqrt(sigma**2 + inner), rtol=1e-8)
    np.testing.assert_allclose(found.predictive_sd(rows, noise=False), np.sqrt(inner), rtol=1e-8)


@pytest.mark.parametrize("shape", [(40, 5), (5, 40)])
def test_the_covariance_is_that_of_scikit_learn(shape: tuple[int, int]) -> None:
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=shape), draw.normal(size=shape[0])
    peer = BayesianRidge(fit_intercept=False).fit(X, y)
    wanted = np.linalg.inv(peer.lambda_ * np.eye(shape[1]) + peer.alpha_ * X.T @ X)
    moments = Moments.from_problem(problem(X, y, bias=False))
    found = gaussian_posterior(moments, np.full(shape[1], peer.lambda_ / peer.alpha_), peer.alpha_**-0.5)
    np.testing.assert_allclose(found.covariance, wanted, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.mean, peer.coef_, rtol=1e-6, atol=1e-10)
    _, sd = peer.predict(X, return_std=True)
    if shape[0] > shape[1]:
        np.testing.assert_allclose(found.predictive_sd(X), sd, rtol=1e-8)


@law
@given(st.integers(0, 10**6), st.integers(3, 20), st.integers(1, 5))
def test_predictions_are_surest_at_the_mean_of_the_rows(seed: int, n: int, d: int) -> None:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d)) + 10 * draw.normal(size=d)
    found = gaussian_posterior(Moments.from_problem(problem(X, draw.normal(size=n))), np.ones(d), 0.5)
    around = X.mean(axis=0) + np.vstack([np.zeros(d), draw.normal(size=(20, d))])
    sd = found.predictive_sd(around)
    assert sd[0] == pytest.approx(0.5 * math.sqrt(1 + 1 / n), rel=1e-9)
    assert (sd[1:] > sd[0]).all()


def test_without_a_prior_the_intervals_are_students() -> None:
    x, y = np.array([1.0, 2, 3, 4, 5]), np.array([1.0, 3, 2, 5, 4])
    found = classical(problem(x[:, None], y))
    # Slope 0.8, residual squares 3.6 on 3 degrees of freedom, Σ (x − 3)² = 10.
    assert found.mean[0] == pytest.approx(0.8, rel=1e-14)
    assert (found.dof, found.sigma) == (3.0, pytest.approx(math.sqrt(1.2), rel=1e-14))
    assert found.sd[0] == pytest.approx(math.sqrt(0.12), rel=1e-14)
    assert found.intercept_sd == pytest.approx(math.sqrt(1.2 / 5 + 9 * 0.12), rel=1e-14)
    low, high = found.interval(0.9)
    assert high[0] - low[0] == pytest.approx(2 * t.ppf(0.95, 3) * math.sqrt(0.12), rel=1e-10)
    below, above = found.intercept_interval(0.9)
    assert (below + above) / 2 == pytest.approx(0.6, rel=1e-12)
    again = classical(Moments.from_problem(problem(x[:, None], y)))
    assert again.sd[0] == pytest.approx(found.sd[0], rel=1e-12)


def test_repeated_features_count_once() -> None:
    x, y = np.array([1.0, 2, 3, 4, 5]), np.array([1.0, 3, 2, 5, 4])
    found = classical(problem(np.column_stack([x, x]), y))
    assert found.dof == 3.0
    np.testing.assert_allclose(found.sd, math.sqrt(0.12) / 2, rtol=1e-10)
    np.testing.assert_allclose(found.factor @ found.factor.T, found.covariance, atol=1e-12)


def test_weights_tell_how_exact_a_row_is() -> None:
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(20, 2)), draw.normal(size=20)
    plain, tripled = (classical(problem(X, y, weights=s)) for s in (None, np.full(20, 3.0)))
    np.testing.assert_allclose(tripled.sd, plain.sd, rtol=1e-12)
    assert tripled.sigma == pytest.approx(plain.sigma * math.sqrt(3), rel=1e-12)
    dropped = classical(problem(X, y, weights=np.where(np.arange(20) < 5, 0.0, 1.0)))
    assert dropped.dof == 12.0


def test_draws_have_the_posterior_s_mean_and_covariance() -> None:
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(30, 3)) + 2, draw.normal(size=30)
    found = gaussian_posterior(Moments.from_problem(problem(X, y)), np.ones(3), 1.0)
    W, b = found.sample(200_000, seed=1)
    drawn = np.cov(np.column_stack([W, b]).T)
    np.testing.assert_allclose(drawn[:3, :3], found.covariance, atol=0.02 * found.covariance.max())
    np.testing.assert_allclose(drawn[3, :3], found.intercept_covariance, atol=0.02 * drawn[3, 3])
    assert math.sqrt(drawn[3, 3]) == pytest.approx(found.intercept_sd, rel=0.02)
    np.testing.assert_array_equal(W, found.sample(200_000, seed=1)[0])
    loose, _ = classical(problem(X[:7], y[:7])).sample(200_000)
    known = classical(problem(X[:7], y[:7]))
    # Student's variance on 3 degrees of freedom settles slowly; its quartiles do not.
    quartile = np.quantile(loose[:, 0], 0.75)
    assert quartile == pytest.approx(known.mean[0] + t.ppf(0.75, 3) * known.sd[0], abs=0.02 * known.sd[0])


def test_what_cannot_be_told_is_refused() -> None:
    X = np.random.default_rng(0).normal(size=(3, 2))
    with pytest.raises(DataError, match="3 rows were given, which determine 3 weights"):
        classical(problem(X, np.arange(3.0)))
    found = gaussian_posterior(Moments.from_problem(problem(X, np.arange(3.0))), np.ones(2), 1.0)
    with pytest.raises(ParameterError, match=r"level must be a number between 0 and 1, got 95"):
        found.interval(95)


def test_features_without_a_penalty_that_repeat_each_other_have_a_pseudo_inverse() -> None:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(12, 2))
    Z = np.column_stack([X, X[:, 0], np.full(12, 0.1)])
    y = draw.normal(size=12)
    found = gaussian_posterior(Moments.from_problem(problem(Z, y)), np.array([0.0, 1.0, 0.0, 0.0]), 1.0)
    single = gaussian_posterior(Moments.from_problem(problem(X, y)), np.array([0.0, 1.0]), 1.0)
    assert found.mean[0] + found.mean[2] == pytest.approx(single.mean[0], rel=1e-9)
    np.testing.assert_allclose(found.predictive_sd(Z), single.predictive_sd(X), rtol=1e-9)
